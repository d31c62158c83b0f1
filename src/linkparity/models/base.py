"""What a link model is: a logit for every pair of nodes, and how fast it can say it."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from linkparity.graph import Graph
from linkparity.training.loop import gradient_steps
from linkparity.training.objective import Epoch, Objective
from linkparity.training.settings import Settings


class LinkModel(nn.Module):
    r"""A logit for every pair of nodes.

    .. math:: x_{ij} = l_i \cdot r_j \qquad \text{or anything else that is symmetric}

    A subclass takes ``(graph, dimension, generator=…)`` and defines :meth:`factors`, or
    :meth:`forward` where its logits are no inner products. With factors, training works on whole
    blocks of pairs by matrix products; without, on sampled pairs through autograd.

    Attributes:
        dimension: of the embedding, unless told otherwise.
        lr: step size of Adam, unless told otherwise.
        epochs: how many steps over all pairs, unless told otherwise.
        strength: default of a method's own strength; None for a model that has none. One that has
            it takes ``strength=…`` and keeps it as an attribute; 0 is the plain form.
    """

    dimension: int = 16
    lr: float = 0.01
    epochs: int = 100
    strength: float | None = None

    def factors(self) -> tuple[Tensor, Tensor] | None:
        """``(n, D)`` left and right vectors of the nodes, or None when there are none.

        The logit of i and j is the inner product of left i and right j, and of left j and right i.
        """
        return None

    def forward(self, index: Tensor) -> Tensor:
        """``(P, 2)`` pairs of nodes → ``(P,)`` logits."""
        factors = self.factors()
        if factors is None:
            raise NotImplementedError(
                f"{type(self).__name__}: define factors(), or forward(index) from (P, 2) pairs "
                "to (P,) logits"
            )
        left, right = factors
        return (left[index[:, 0]] * right[index[:, 1]]).sum(dim=1)

    def embedding(self) -> Tensor | None:
        """``(n, d)`` what the model knows of each node, or None."""
        return None

    def steps(self, graph: Graph, objective: Objective, settings: Settings) -> Iterator[Epoch]:
        """Train on ``graph``, one :class:`~linkparity.Epoch` per step; Adam unless overridden.

        A model that is trained otherwise, with two optimizers or with none, overrides this: it
        reads what it needs of ``settings`` (epochs, lr, generator …) and must leave the model
        ready for use whenever the caller stops asking for steps.
        """
        return gradient_steps(self, graph, objective, settings)

    @torch.no_grad()
    def constrain(self) -> None:
        """Bring the parameters back where they are allowed to be; called before each step."""


def standard_normal(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    """``(rows, columns)`` independent normal numbers to start from."""
    return nn.Parameter(torch.randn(rows, columns, generator=generator, dtype=torch.float32))
