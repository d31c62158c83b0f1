"""FairAdj: a variational graph auto-encoder whose adjacency matrix is learned toward parity."""

from collections.abc import Iterator
from typing import Literal

import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.models.base import LinkModel, group_cells
from linkparity.models.gae import checked_features, glorot
from linkparity.models.learned_adjacency import Support
from linkparity.models.own_losses import VariationalPairs
from linkparity.models.training.loop import adam_steps
from linkparity.models.training.objective import Epoch, Objective, Settings
from linkparity.support.errors import InputError

#: Steps on the weights between the steps on the adjacency matrix.
ROUND = 50
#: Steps on the adjacency matrix at a time, at most.
MOST_STEPS = 10_000


class FairAdj(LinkModel):
    r"""VGAE with a row-stochastic matrix Ã in place of the normalised adjacency, learned too.

    .. math:: H = \mathrm{relu}(\tilde A F W_0), \quad \mu = \tilde A H W_1, \quad
              \log\sigma = \tilde A H W_2, \quad x_{ij} = z_i \cdot z_j, \quad
              z = \mu + \varepsilon \circ \sigma \text{ in training, } \mu \text{ in use}

    After every 50 steps on W, and after the last, ``strength`` steps on Ã lower the differences of
    the cells' mean logits:

    .. math:: \tilde A \leftarrow \Pi\big(\tilde A - \eta\, \partial L / \partial \tilde A\big),
              \qquad L = \tfrac{2}{M - 1} \sum_c (\bar x_c - \bar x)^2

    with Π the projection of each row onto the probability simplex over A + I, where Ã starts as
    D⁻¹(A + I). With two cells, L is the squared difference of their means. ``strength`` 0 is VGAE
    with this matrix. F is the identity unless features are given.

    Li et al. (2021), *On Dyadic Fairness: Exploring and Mitigating Bias in Graph Connections*.

    Args:
        graph: to learn from.
        dimension: of z.
        generator: source of randomness.
        hidden: columns of H.
        features: ``(n, F)`` numbers of the nodes.
        step: η.
        cells: ``"weak-dp"``, pairs within groups and between groups, or ``"dp"``, the pairs of
            groups; by default the former where there are both.
        strength: steps on Ã.
    """

    dimension = 16
    lr = 0.01
    epochs = 200
    strength = 20
    adjacency: Tensor

    def __init__(
        self,
        graph: Graph,
        dimension: int = 16,
        *,
        generator: torch.Generator,
        hidden: int = 32,
        features: object = None,
        step: float = 0.2,
        cells: Literal["dp", "weak-dp", None] = None,
        strength: float = 20,
    ) -> None:
        super().__init__()
        self.check_strength(strength)
        self.features = None if features is None else checked_features(features, graph)
        width = graph.num_nodes if self.features is None else self.features.shape[1]
        self.first = glorot(width, hidden, generator)
        self.mean = glorot(hidden, dimension, generator)
        self.log_deviation = glorot(hidden, dimension, generator)
        self.support = Support.of(graph)
        self.register_buffer("adjacency", self.support.even())
        self.generator, self.step, self.strength = generator, step, int(strength)
        self.cells = cells

    @classmethod
    def check_strength(cls, strength: float) -> None:
        """A number of steps."""
        if not 0 <= strength <= MOST_STEPS or strength != int(strength):
            problem = f"must be a whole number of steps up to {MOST_STEPS:,} for fairadj, got "
            problem += f"{strength:g}"
            raise InputError(problem, argument="strength", caller="fairadj")

    def factors(self) -> tuple[Tensor, Tensor]:
        """The embeddings, twice."""
        z = self.embedding()
        return z, z

    def embedding(self) -> Tensor:
        """``(n, dimension)``: μ in use, a draw in training."""
        if self.training:
            return self.draw()[0]
        return self._spread(self.adjacency, self._hidden(self.adjacency) @ self.mean)

    def draw(self) -> tuple[Tensor, Tensor, Tensor]:
        """``(n, dimension)`` z, μ and log σ."""
        hidden = self._hidden(self.adjacency)
        mean = self._spread(self.adjacency, hidden @ self.mean)
        log = self._spread(self.adjacency, hidden @ self.log_deviation)
        drawn = torch.randn(mean.shape, generator=self.generator, dtype=torch.float32)
        return mean + drawn * log.exp(), mean, log

    def _hidden(self, adjacency: Tensor) -> Tensor:
        given = self.first if self.features is None else self.features @ self.first
        return self._spread(adjacency, given).relu()

    def _spread(self, adjacency: Tensor, dense: Tensor) -> Tensor:
        return self.support.multiply(adjacency, dense)

    def steps(self, graph: Graph, objective: Objective, settings: Settings) -> Iterator[Epoch]:
        """Adam on the weights and projected gradient steps on the matrix, in turns."""
        means = CellMeans(graph, self.cells, self.strength or 0)
        pairs = VariationalPairs(graph, objective, settings, self.draw)
        last = None
        try:
            for row in adam_steps(self, pairs, objective, settings):
                if row.epoch % ROUND == 0:
                    self.learn_adjacency(means)
                last = Epoch(*row, extra=self._difference(means))
                yield last
        finally:
            if last is not None and last.epoch % ROUND != 0:
                self.learn_adjacency(means)
                last.extra = self._difference(means)  # of the delivered model

    @torch.no_grad()
    def _difference(self, means: "CellMeans") -> dict[str, float]:
        return {"difference": float(means.difference(self.embedding()))}

    def learn_adjacency(self, means: "CellMeans") -> None:
        """Take ``strength`` steps on Ã toward equal mean logits, the weights as they are."""
        first, second = self.first.detach(), self.mean.detach()
        given = first if self.features is None else self.features @ first
        for _ in range(int(self.strength or 0)):
            values = self.adjacency.clone().requires_grad_()
            hidden = self._spread(values, given).relu()
            difference = means.difference(self._spread(values, hidden @ second))
            if not difference.requires_grad:
                return
            (gradient,) = torch.autograd.grad(difference, values)
            self.adjacency.copy_(self.support.project(values.detach() - self.step * gradient))


class CellMeans:
    r"""Mean logits of cells from sums of embeddings by group: no pair is formed.

    .. math:: \sum_{i \in s, j \in t} z_i \cdot z_j = Z_s \cdot Z_t, \qquad
              \sum_{i < j \in s} z_i \cdot z_j
              = \tfrac12 \Big(\|Z_s\|^2 - \sum_{i \in s} \|z_i\|^2\Big), \qquad
              Z_s = \sum_{i \in s} z_i

    Args:
        graph: whose pairs.
        cells: ``"dp"``, ``"weak-dp"``, or None for the latter where it tells pairs apart.
        strength: of the method, which needs two cells unless it is 0.
    """

    def __init__(self, graph: Graph, cells: str | None, strength: float = 0) -> None:
        side = torch.zeros_like(graph.group) if graph.side is None else graph.side
        both = torch.stack([side, graph.group], dim=1)
        kinds, self.kind = torch.unique(both, dim=0, return_inverse=True)
        count = torch.bincount(self.kind, minlength=len(kinds)).double()
        first, second = torch.triu_indices(len(kinds), len(kinds))
        pairs = count[first] * torch.where(first == second, (count[second] - 1) / 2, count[second])
        if graph.side is not None:
            pairs *= kinds[first, 0] != kinds[second, 0]
        first, second, pairs = first[pairs > 0], second[pairs > 0], pairs[pairs > 0]
        groups = torch.stack([kinds[first, 1], kinds[second, 1]], dim=1)
        cell = group_cells(graph, groups, cells, "fairadj", strength)
        known = cell >= 0
        self.size, self.first, self.second = len(kinds), first[known], second[known]
        #: The cell of each pair of kinds, and the pairs of each cell.
        self.cell = cell[known]
        self.mass = torch.bincount(self.cell, pairs[known])

    def means(self, z: Tensor) -> Tensor:
        """``(M,)`` mean logit of every cell that has a pair, for embeddings ``(n, d)``."""
        total = z.new_zeros(self.size, z.shape[1]).index_add(0, self.kind, z)
        square = z.new_zeros(self.size).index_add(0, self.kind, z.square().sum(dim=1))
        sums = (total[self.first] * total[self.second]).sum(dim=1)
        same = self.first == self.second
        sums = torch.where(same, (sums - square[self.first]) / 2, sums)
        return sums.new_zeros(len(self.mass)).index_add(0, self.cell, sums) / self.mass.to(z.dtype)

    def difference(self, z: Tensor) -> Tensor:
        """Mean squared difference of two cells' means; 0 where there are fewer than two."""
        means = self.means(z)
        if len(means) < 2:
            return z.new_zeros(())
        return 2 * (means - means.mean()).square().sum() / (len(means) - 1)
