"""DeBayes: CNE trained with a prior that knows the groups, used with one that does not."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.models.cne import CNE
from linkparity.models.degrees import (
    DECIDE_PAIRS,
    Classes,
    degree_classes,
    half_inside,
    has_finite_solution,
    solve_classes,
)
from linkparity.models.own_losses import ParityInUse
from linkparity.models.training.loop import adam_steps, training_pairs
from linkparity.models.training.objective import Epoch, Objective, Settings
from linkparity.reading.groups import GraphWarning
from linkparity.support.errors import warn

#: Links that a node may gain or lose because the other side has degrees of 0, or full ones.
TRACE = 1e-7


class DeBayes(CNE):
    r"""What the groups explain needs no embedding either.

    .. math:: x_{ij} = P_{ij} + \log\frac{s_2}{s_1}
              - \Big(\frac{1}{s_1^2} - \frac{1}{s_2^2}\Big) \|z_i - z_j\|^2, \qquad
              P_{ij} = \begin{cases} a_i^{g(j)} + a_j^{g(i)} & \text{in training} \\
              a_i + a_j & \text{in use} \end{cases}

    The prior of training expects every node's degree to each group
    (:func:`solve_group_degrees`), that of use is CNE's. Nodes without a group are one more group of
    the prior. With one group (on each side) this is CNE. A regularizer acts on the logits in use.

    Buyl & De Bie (2020), *DeBayes: a Bayesian Method for Debiasing Network Embeddings*.
    """

    category: Tensor
    group_prior: Tensor

    def __init__(
        self,
        graph: Graph,
        dimension: int = 8,
        *,
        generator: torch.Generator,
        s1: float = 1.0,
        s2: float = 16.0,
        sides: bool = True,
    ) -> None:
        super().__init__(graph, dimension, generator=generator, s1=s1, s2=s2, sides=sides)
        groups, category = torch.unique(graph.group, return_inverse=True)
        self.register_buffer("category", category)
        parts = (
            [graph.group] if graph.side is None else [graph.group[graph.side == s] for s in (0, 1)]
        )
        one = sides and all(len(torch.unique(part)) <= 1 for part in parts)
        own = self.prior[:, None].double().repeat(1, len(groups))
        prior = own if one else solve_group_degrees(graph)
        self.register_buffer("group_prior", prior)

    def factors(self) -> tuple[Tensor, Tensor]:
        """In training ``(n, dimension + 2S)``: twice the embedding, one number per group, groups.

        Otherwise those of CNE.
        """
        if not self.training:
            return super().factors()
        square = self.z.square().sum(dim=1, keepdim=True)
        own = self.group_prior.to(square.dtype) + self.shift / 2 - self.rate * square
        group = torch.zeros_like(own).scatter_(1, self.category[:, None], 1.0)
        left = torch.cat([2 * self.rate * self.z, own, group], dim=1)
        return left, torch.cat([self.z, group, own], dim=1)

    def steps(self, graph: Graph, objective: Objective, settings: Settings) -> Iterator[Epoch]:
        """Adam on the cross-entropy under one prior and the divergence under the other."""
        pairs = training_pairs(self.train(), graph, Objective(), settings)
        if objective.regularizer is not None:
            pairs = ParityInUse(pairs, training_pairs(self, graph, objective, settings))
        return adam_steps(self, pairs, objective, settings)


def solve_group_degrees(graph: Graph) -> Tensor:
    r"""``(n, S)`` float64 parameters under which expected degrees to each group are the observed.

    .. math:: \sum_{j: g(j) = t} \sigma(a_i^t + a_j^{g(i)}) = d_i^t

    A parameter occurs in the pairs of two groups only, so that every pair of groups is a model of
    degrees by itself. S counts the groups that nodes have, those without a group being the first.
    Degrees of 0 and of every possible link have no finite parameter: see :func:`block_classes`.
    """
    category = torch.unique(graph.group, return_inverse=True)[1].numpy()
    size = int(category.max(initial=-1)) + 1
    degree = np.zeros((graph.num_nodes, size), dtype=np.int64)
    for end, other in (graph.links.numpy().T, graph.links.numpy().T[::-1]):
        np.add.at(degree, (end, category[other]), 1)
    prior, pulled = np.zeros(degree.shape), np.zeros(2, dtype=np.int64)
    decided = []
    for rows, columns in _blocks(category, size, graph.side):
        same = columns is rows
        nodes = rows if same else np.concatenate([rows, columns])
        to = np.repeat(
            [category[columns[0]], category[rows[0]]], [len(rows), len(nodes) - len(rows)]
        )
        side = (np.arange(len(nodes)) >= len(rows)).astype(np.int64)
        asked = degree[nodes, to]
        pull = half_inside(asked, side, not same)
        pulled += [(pull > 0).sum(), (pull < 0).sum()]
        found = block_classes(asked, side, not same)
        decided.append(not has_finite_solution(found))
        prior[nodes, to] = solve_classes(found)[found.of]
    if pulled.any():
        warn(
            GraphWarning,
            f"{pulled[0]:,} times a node has no link to a group, and {pulled[1]:,} times all of "
            "them, which no finite parameter gives; its degree is taken up to half a link inside",
            caller="debayes",
        )
    if any(decided):
        where = f"of {sum(decided):,} of {len(decided):,} pairs of groups"
        warn(GraphWarning, f"the degrees {where} {DECIDE_PAIRS}", caller="debayes")
    return torch.from_numpy(prior)


def _blocks(
    category: np.ndarray, size: int, side: Tensor | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes of two groups whose pairs may be links; the same array twice within a group."""
    if side is None:
        nodes = [np.flatnonzero(category == g) for g in range(size)]
        yield from (
            (nodes[g], nodes[h])
            for g in range(size)
            for h in range(g, size)
            if h > g or len(nodes[g]) > 1
        )
        return
    sides = [
        [np.flatnonzero((category == g) & (side.numpy() == s)) for g in range(size)] for s in (0, 1)
    ]
    yield from (
        (rows, columns) for rows in sides[0] for columns in sides[1] if len(rows) and len(columns)
    )


def block_classes(degree: np.ndarray, side: np.ndarray, bipartite: bool) -> Classes:
    """Nodes of two groups by their degree ``(m,)`` to the other, and side ``(m,)``.

    A degree of 0, or of every possible link, is taken half a link inside and the others stay as
    they are. Between two groups both sides have equally many links, so what such nodes gain and
    lose must cancel: two kinds of them (no link on one side and on the other, or no link and every
    link on one) do, where each node of the larger kind takes less than half a link. A single kind
    has nothing to cancel with, and takes no more than :data:`TRACE` per node of the other side.
    """
    pull = half_inside(degree, side, bipartite)
    asked = degree + pull
    if bipartite and pull.any():
        kind = np.where(pull != 0, 2 * side + (pull < 0), 4)
        count = np.bincount(kind, minlength=5)[:4]
        total = 0.5 * count[count > 0].min()
        trace = np.zeros(len(degree))
        if (count > 0).sum() == 1:
            other = side != side[np.argmax(pull != 0)]
            total = min(total, TRACE * other.sum())
            trace = np.where(other, np.sign(pull.sum()) * total / other.sum(), 0.0)
        share = np.append(total / np.maximum(count, 1), 0.0)
        asked = degree + np.sign(pull) * share[kind] + trace
    return degree_classes(degree, asked, side, bipartite)
