"""The I-projection after training: one number per pair of groups, added to every logit."""

from dataclasses import dataclass

import torch
from torch import Tensor

from linkparity.criteria import Cells, Criterion
from linkparity.criteria.group_pairs import cell_table, possible_pairs
from linkparity.graph.candidates import candidate_pairs, stratified_candidates
from linkparity.graph.graph import Graph
from linkparity.models import LinkModel
from linkparity.projection.i_projection import i_project
from linkparity.training.objective import PairWeights, link_density

#: Number of pairs that tilts are fitted on at most; of more, equally many of every pair of groups.
MAX_PAIRS = 1 << 24


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
    weights: PairWeights,
    generator: torch.Generator,
) -> Tilts:
    """Tilts that bring the model to parity over the pairs of the graph, with given weights."""
    from linkparity.prediction.ranking import pair_logits

    index, weight = _others(graph, generator)
    label = torch.zeros(len(index), dtype=torch.int64)
    weight = weight * weights.other
    if weights.link:
        index = torch.cat([graph.links, index])
        label = torch.cat([torch.ones(graph.num_links, dtype=torch.int64), label])
        weight = torch.cat([torch.full((graph.num_links,), weights.link).double(), weight])
    if target == "data" and criterion.data_target and weights.link in (0, weights.other):
        target = link_density(graph, criterion)
    cells = Cells.prepare(graph.group[index], criterion, label, weight)
    found = i_project(pair_logits(model, index), cells=cells, target=target, tolerance=tolerance)
    return Tilts(_table(graph, criterion, found.tilt.double()))


def _others(graph: Graph, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """``(P, 2)`` pairs that are no links, and ``(P,)`` how many of them each stands for."""
    if graph.num_pairs <= MAX_PAIRS:
        index = candidate_pairs(graph)
        return index, torch.ones(len(index), dtype=torch.float64)
    most = MAX_PAIRS // len(possible_pairs(graph.group, graph.side))
    drawn = list(stratified_candidates(graph, most, generator))
    weight = [torch.full((len(part),), count / len(part)).double() for part, count in drawn]
    return torch.cat([part for part, _ in drawn]), torch.cat(weight)


def _table(graph: Graph, criterion: Criterion, tilt: Tensor) -> Tensor:
    """The tilt of every pair of groups that the graph's pairs may have."""
    pairs = possible_pairs(graph.group, graph.side)
    table = cell_table(pairs, Cells.prepare(pairs, criterion).cell, graph.num_groups)
    return torch.cat([tilt, tilt.new_zeros(1)])[table]
