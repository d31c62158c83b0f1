"""The I-projection after training: one number per pair of groups, added to every logit."""

from dataclasses import dataclass

import torch
from torch import Tensor

from linkparity.criteria import Cells, Criterion
from linkparity.criteria.group_pairs import cell_table, possible_pairs
from linkparity.graph.graph import Graph
from linkparity.graph.pairs import PairSpace
from linkparity.models import LinkModel
from linkparity.projection.i_projection import i_project
from linkparity.support.randomness import random_distinct

#: Pairs that tilts are fitted on at most; of more, so many are drawn, alike of all group pairs.
MOST = 1 << 24


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

    if graph.num_pairs <= MOST:
        index, weight = PairSpace(graph).pair(torch.arange(graph.num_pairs)), None
    else:
        index, weight = _drawn(graph, generator)
    logits = pair_logits(model, index)
    labels = graph.is_link(index).long() if target == "data" else None
    cells = Cells.prepare(graph.group[index], criterion, labels, weight)
    found = i_project(logits, cells=cells, target=target, tolerance=tolerance)
    return Tilts(_table(graph, criterion, found.tilt.double()))


def _drawn(graph: Graph, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """``(P, 2)`` pairs, as many of every pair of groups, and ``(P,)`` how many each stands for."""
    every = torch.arange(graph.num_nodes)
    nodes = [graph.group == g for g in torch.unique(graph.group)]
    sides = [nodes, nodes]
    if graph.side is not None:
        sides = [[mine & (graph.side == s) for mine in nodes] for s in (0, 1)]
    rows, columns = ([every[mine] for mine in side] for side in sides)
    most = MOST // len(nodes) ** 2
    index, weight = [], []
    for g, row in enumerate(rows):
        for h, column in enumerate(columns):
            if graph.side is None and h < g:
                continue
            size = len(row) * len(column)
            number = torch.arange(size)
            if size > most:
                number = random_distinct(most, size, generator)
            pairs = torch.stack([row[number // len(column)], column[number % len(column)]], dim=1)
            if graph.side is None and g == h:  # each pair of a group stands here twice
                pairs, size = pairs[pairs[:, 0] < pairs[:, 1]], len(row) * (len(row) - 1) // 2
            index.append(pairs)
            weight.append(torch.full((len(pairs),), size / max(len(pairs), 1), dtype=torch.float64))
    return torch.cat(index), torch.cat(weight)


def _table(graph: Graph, criterion: Criterion, tilt: Tensor) -> Tensor:
    """The tilt of every pair of groups that the graph's pairs may have."""
    pairs = possible_pairs(graph.group, graph.side)
    table = cell_table(pairs, Cells.prepare(pairs, criterion).cell, graph.num_groups)
    return torch.cat([tilt, tilt.new_zeros(1)])[table]
