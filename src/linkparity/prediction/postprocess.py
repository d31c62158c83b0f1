"""The I-projection after training: one number per pair of groups, added to every logit."""

from dataclasses import dataclass

import torch
from torch import Tensor

from linkparity.criteria import Cells, Criterion
from linkparity.draws import random_distinct
from linkparity.graph import Graph
from linkparity.models import LinkModel
from linkparity.pairs import PairSpace
from linkparity.projection import i_project

#: Pairs that tilts are fitted on at most; of more, so many are drawn.
MOST = 1 << 24
PIECE = 1 << 20


@dataclass(frozen=True, eq=False)
class Tilts:
    """What is added to the logit of a pair: a table by the groups of its ends, −1 last.

    Attributes:
        table: ``(S + 1, S + 1)`` float64, symmetric.
    """

    table: Tensor

    def of(self, groups: Tensor) -> Tensor:
        """``(P, 2)`` groups → ``(P,)`` tilts."""
        return self.table[groups[:, 0], groups[:, 1]]

    def between(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(R,)`` and ``(C,)`` groups → ``(R, C)`` tilts."""
        return self.table[rows][:, columns]


@torch.no_grad()
def fit_group_tilts(
    model: LinkModel,
    graph: Graph,
    criterion: Criterion,
    target: object,
    tolerance: float,
    generator: torch.Generator,
) -> Tilts:
    """Tilts that bring the model to parity over all pairs of the graph, each counted once."""
    from linkparity.prediction.ranking import pair_logits

    space = PairSpace(graph)
    number = torch.arange(space.size)
    if space.size > MOST:
        number = random_distinct(MOST, space.size, generator)
    index = space.pair(number)
    logits = pair_logits(model, index)
    labels = graph.is_link(index).long() if target == "data" else None
    cells = Cells.prepare(graph.group[index], criterion, labels)
    found = i_project(logits, cells=cells, target=target, tolerance=tolerance)
    return Tilts(_table(graph, criterion, found.tilt.double()))


def _table(graph: Graph, criterion: Criterion, tilt: Tensor) -> Tensor:
    """The tilt of every pair of groups that the graph's pairs may have."""
    size = graph.num_groups
    sides = [graph.group, graph.group]
    if graph.side is not None:
        sides = [graph.group[graph.side == s] for s in (0, 1)]
    pairs = torch.cartesian_prod(*(torch.unique(side) for side in sides))
    cell = Cells.prepare(pairs, criterion).cell
    table = torch.zeros(size + 1, size + 1, dtype=torch.float64)
    inside = cell >= 0
    first, second = pairs[inside].T
    table[first, second] = table[second, first] = tilt[cell[inside]]
    return table
