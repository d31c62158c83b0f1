"""What a link model is: a logit for every pair of nodes, and how it is trained."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from linkparity.criteria import Cells
from linkparity.criteria.constrained_group_pairs import group_pair_sizes, known_group_pairs
from linkparity.graph import Graph
from linkparity.models.training.loop import Diverged, TrainingWarning, gradient_steps
from linkparity.models.training.objective import Epoch, Objective, Settings
from linkparity.reading.groups import NO_GROUP
from linkparity.support.errors import InputError, warn

#: Number of pairs that a model is tried on.
TRIED_PAIRS = 8
#: Links, and about as many random pairs, on which a model is compared with a constant one.
CHECKED_PAIRS = 10_000
#: Relative difference of two means that rounding may cause.
ROUNDING = 1e-9


class LinkModel(nn.Module):
    r"""A logit for every pair of nodes.

    .. math:: x_{ij} = l_i \cdot r_j \qquad \text{or anything else that is symmetric}

    A subclass takes ``(graph, dimension, generator=…)`` and defines :meth:`factors`, or
    :meth:`forward` where its logits are no inner products. With factors, training works on whole
    blocks of pairs by matrix products; without, on sampled pairs through autograd.

    Attributes:
        dimension: default dimension of the embedding.
        lr: default step size of Adam.
        epochs: default number of steps over all pairs.
        pairs: what parity is about by default, see :func:`~linkparity.train`.
        strength: default of a method's own strength; None for a model that has none. One that has
            it takes ``strength=…`` and keeps it as an attribute; 0 is the plain form.
    """

    dimension: int = 16
    lr: float = 0.01
    epochs: int = 100
    pairs: str = "candidates"
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
        """``(n, d)`` one vector per node, or None."""
        return None

    def steps(self, graph: Graph, objective: Objective, settings: Settings) -> Iterator[Epoch]:
        """Train on ``graph``, one :class:`~linkparity.Epoch` per step; Adam unless overridden.

        A model that is trained otherwise, with two optimizers or with none, overrides this: it
        reads what it needs of ``settings`` (epochs, lr, generator …) and must leave the model
        ready for use whenever the caller stops asking for steps.
        """
        return gradient_steps(self, graph, objective, settings)

    @classmethod
    def check_strength(cls, strength: float) -> None:
        """Refuse a strength that the method does not take; overridden where it has a range."""

    @torch.no_grad()
    def constrain(self) -> None:
        """Project the parameters onto their domain; called before each step."""

    @torch.no_grad()
    def checked_factors(self, graph: Graph) -> tuple[Tensor, Tensor] | None:
        """The factors, or None; an error where they or the logits break the contract above."""
        if not any(parameter.requires_grad for parameter in self.parameters()):
            raise self._broken("has no parameter to train", "make them torch.nn.Parameter")
        index, factors = _some_pairs(graph), self.factors()
        if factors is None:
            training = self.training
            self.eval()  # no dropout, so that nothing random is drawn
            try:
                self._check_logits(self(index), self(index.flip(1)), len(index))
            finally:
                self.train(training)
            return None
        left, right = factors
        shape = (graph.num_nodes, left.shape[-1])
        if left.shape != shape or right.shape != shape or left.dtype != right.dtype:
            raise self._broken(
                f"factors() must give two tensors of the shape ({graph.num_nodes}, D) and of one "
                f"type, got {_described(left)} and {_described(right)}"
            )
        first, second = index.T
        there, back = left[first] * right[second], left[second] * right[first]
        self._check_logits(there.sum(dim=1), back.sum(dim=1), len(index))
        return factors

    def _check_logits(self, logits: object, turned: object, count: int) -> None:
        for found in (logits, turned):
            if not isinstance(found, Tensor) or found.shape != (count,):
                raise self._broken(
                    f"forward must give one logit per pair, the shape ({count},) for {count} "
                    f"pairs, got {_described(found)}"
                )
        assert isinstance(logits, Tensor)
        assert isinstance(turned, Tensor)
        near = max(1e-3, 4 * torch.finfo(logits.dtype).eps)
        if not torch.allclose(logits, turned, rtol=near, atol=near, equal_nan=True):
            worst = float((logits - turned).abs().max())
            raise self._broken(
                f"a link has no direction, and the logits of (i, j) and (j, i) differ by "
                f"{worst:.3g}",
                "make them the same",
            )

    def _broken(self, problem: str, fix: str = "") -> InputError:
        return InputError(problem, fix, where=type(self).__name__)


def _some_pairs(graph: Graph) -> Tensor:
    """``(P, 2)`` pairs that may be links."""
    if graph.side is None:
        others = torch.arange(1, min(TRIED_PAIRS, graph.num_nodes - 1) + 1)
        return torch.stack([torch.zeros_like(others), others], dim=1)
    others = torch.nonzero(graph.side == 1)[:TRIED_PAIRS, 0]
    first = torch.nonzero(graph.side == 0)[0, 0]
    return torch.stack([first.expand_as(others), others], dim=1)


def _described(found: object) -> str:
    if isinstance(found, Tensor):
        return f"{tuple(found.shape)} of {str(found.dtype).removeprefix('torch.')}"
    return type(found).__name__


def standard_normal(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    """``(rows, columns)`` independent standard normal numbers."""
    return nn.Parameter(torch.randn(rows, columns, generator=generator, dtype=torch.float32))


@torch.no_grad()
def check_learned(model: LinkModel, graph: Graph, generator: torch.Generator) -> None:
    """Warn of a model that tells links from other pairs no better than a constant does.

    Its cross-entropy, at the best scale and shift of the logits, is below that of a constant
    if and only if the mean logit of links is above that of all pairs, here by three standard
    errors.
    """
    if graph.num_links in (0, graph.num_pairs):
        return
    ends = [torch.arange(graph.num_nodes)] * 2
    if graph.side is not None:
        ends = [torch.nonzero(graph.side == side)[:, 0] for side in (0, 1)]
    size = (CHECKED_PAIRS,)
    drawn = [end[torch.randint(len(end), size, generator=generator)] for end in ends]
    index = torch.stack(drawn, dim=1)
    others = index[index[:, 0] != index[:, 1]]
    links = graph.links[torch.randint(graph.num_links, size, generator=generator)]
    logits = model(torch.cat([links, others])).double()
    if not logits.isfinite().all():
        fix = "take a smaller lr"
        raise Diverged("the model's logits are not finite", fix, caller="LinkPredictor")
    parts = logits[: len(links)], logits[len(links) :]
    mean = [float(part.mean()) for part in parts]
    error = sum(float(part.var(correction=0)) / len(part) for part in parts) ** 0.5
    if mean[0] - mean[1] <= 3 * error + ROUNDING * abs(mean[0]):
        warn(
            TrainingWarning,
            f"the model learned nothing: links have a mean logit of {mean[0]:.3g}, all pairs "
            f"{mean[1]:.3g}, so that its cross-entropy is not below that of a constant",
            "try another lr, number of epochs, or strength of what it is trained with",
            caller="LinkPredictor",
        )


def group_cells(
    graph: Graph, groups: Tensor, cells: str | None, model: str, strength: float
) -> Tensor:
    """``(K, 2)`` groups → ``(K,)`` cells that a method compares, −1 for none.

    Pairs of groups without a pair of nodes have none, nor have those with an end whose group is not
    known. Cells are numbered without gaps.

    Args:
        graph: whose pairs.
        groups: of the ends of pairs.
        cells: ``"dp"``, ``"weak-dp"``, or None for the latter where it tells pairs apart.
        model: that has the argument.
        strength: of the method, which needs two cells unless it is 0.
    """
    if cells not in (None, "dp", "weak-dp"):
        problem = f"must give cells 'dp' or 'weak-dp', got {cells!r:.60}"
        raise InputError(problem, argument="options", caller=model)
    exist = group_pair_sizes(graph) > 0
    if graph.unknown_kept:
        exist &= known_group_pairs(graph)
    counted = torch.from_numpy(exist)[groups[:, 0], groups[:, 1]]
    two = groups[counted & (groups != NO_GROUP).all(dim=1)]
    within = two[:, 0] == two[:, 1]
    default = "weak-dp" if within.any() and not within.all() else "dp"
    cell = torch.where(counted, Cells.prepare(groups, cells or default).cell, -1)
    used, number = torch.unique(cell[cell >= 0], return_inverse=True)
    cell[cell >= 0] = number
    if strength and len(used) < 2:
        raise InputError(
            "compares pairs of different groups, and this graph has fewer than two kinds of them",
            "take a strength of 0, or another model",
            where=model,
        )
    return cell
