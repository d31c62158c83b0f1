"""The I-projection after training: one number per pair of groups, added to every logit."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria import Cells, Criterion
from linkparity.criteria.constrained_group_pairs import group_pair_sizes
from linkparity.criteria.group_pairs import cell_table, possible_kinds, possible_pairs
from linkparity.graph.candidates import candidate_pairs, stratified_candidates
from linkparity.graph.graph import Graph
from linkparity.graph.groups import NO_GROUP
from linkparity.graph.split import Split, SplitWarning, split_links
from linkparity.models import LinkModel
from linkparity.projection.group_tilts import project_by_group
from linkparity.support.errors import InputError, warn
from linkparity.training.loop import TrainingWarning
from linkparity.training.objective import PairWeights, link_density

#: Number of pairs that tilts are fitted on at most; of more, equally many of every pair of groups.
MAX_PAIRS = 1 << 24
#: Share of the links that tilts are fitted to, where a criterion looks at links.
WITHHELD = 0.1
#: K below: so many links of a pair of groups halve its tilt.
STEADY = 10.0


@dataclass(frozen=True, eq=False)
class Tilts:
    """What is added to the logit of a pair: a table by the groups of its ends, −1 last.

    Attributes:
        table: ``(S + 1, S + 1)`` float64, symmetric.
    """

    table: Tensor

    @classmethod
    def mean(cls, several: Sequence["Tilts"]) -> "Tilts":
        """Mean tilts of several models of one graph."""
        return cls(torch.stack([each.table for each in several]).mean(dim=0))

    def of(self, groups: Tensor) -> Tensor:
        """``(P, 2)`` groups → ``(P,)`` tilts."""
        return self.table[groups[:, 0], groups[:, 1]]

    def between(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(R,)`` and ``(C,)`` groups → ``(R, C)`` tilts."""
        return self.table[rows][:, columns]


def withhold_links(graph: Graph, seed: int) -> Split | None:
    """A tenth of the links apart, for tilts; with a warning, None where that is impossible.

    A model knows the links it was trained on better than others, so that their means say little
    about new ones.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SplitWarning)
        try:
            return split_links(graph, test=WITHHELD, seed=seed)
        except InputError as error:
            problem = f"the tilts are fitted to links that the model was trained on: {error}"
            warn(TrainingWarning, problem, caller="LinkPredictor")
            return None


@torch.no_grad()
def fit_tilt_table(
    model: LinkModel,
    graph: Graph,
    criterion: Criterion,
    target: object,
    tolerance: float,
    weights: PairWeights,
    generator: torch.Generator,
    unseen: Tensor | None = None,
) -> Tilts:
    r"""Tilts by pair of groups that bring the model to parity over pairs of the graph.

    .. math:: t_g = \bar t + \frac{n_g}{n_g + K}\, (\hat t_g - \bar t)
              \quad \text{with n unseen links}

    The tilt of a few links is mostly chance: its standard error is about :math:`2.5 / \sqrt{n}`.
    :math:`\bar t` is what all pairs have in common: 0 where the target is the model's own mean,
    else the mean tilt of a link. Pairs that the criterion leaves out are not tilted.

    Args:
        model: whose logits are tilted.
        graph: its pairs that are no links are the other pairs.
        criterion: which parity.
        target: mean that it asks for.
        tolerance: how far a mean may stay from it.
        weights: of a link, and of any other pair.
        generator: source of randomness where there are too many pairs.
        unseen: ``(E, 2)`` links of ``graph`` that the model was not trained on, which stand for all
            links; None for all of them.
    """
    from linkparity.prediction.ranking import pair_logits

    pairs = possible_pairs(graph.group, graph.side)
    links = graph.links if unseen is None else unseen
    count = torch.from_numpy(group_pair_sizes(replace(graph, links=links), links=True))
    each = torch.from_numpy(group_pair_sizes(graph, links=True)) / count
    weighted = links, weights.link * Tilts(each).of(graph.group[links])
    index, label, weight = _pairs(graph, weighted, criterion, weights.other, generator)
    if target == "data" and criterion.data_target and weights.link in (0, weights.other):
        target = link_density(graph, criterion)
    logits = pair_logits(model, index)
    # every possible pair of groups, without weight, so that each has its cell
    found, cells = project_by_group(
        torch.cat([logits, logits.new_zeros(len(pairs))]),
        torch.cat([graph.group[index], pairs]),
        criterion,
        labels=torch.cat([label, label.new_zeros(len(pairs))]),
        weight=torch.cat([weight, weight.new_zeros(len(pairs))]),
        target=target,
        tolerance=tolerance,
    )
    kinds, labels = possible_kinds(graph.group, graph.side)
    inside = (Cells.prepare(kinds, criterion, labels).cell >= 0).view(2, -1).any(dim=0)
    cell = torch.where(inside, cells.cell[len(index) :], NO_GROUP)
    table = cell_table(pairs, cell, graph.num_groups)
    tilt = torch.from_numpy(np.append(found.tilt, 0.0))[table]
    if unseen is None:
        return Tilts(tilt)
    share = torch.triu(torch.where(table < 0, 0.0, count))
    common = 0.0 if target == "model" else float((tilt * share).sum() / share.sum())
    return Tilts(torch.where(table < 0, 0.0, common + (tilt - common) * count / (count + STEADY)))


def _pairs(
    graph: Graph,
    links: tuple[Tensor, Tensor],
    criterion: Criterion,
    other: float,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs ``(P, 2)`` with labels ``(P,)`` and weights ``(P,)``: links, then other pairs."""
    index, weight = _others(graph, generator) if _sees_others(graph, criterion) else _no_pairs()
    label = torch.zeros(len(index), dtype=torch.int64)
    weight = weight * other
    if links[1].any():
        index = torch.cat([links[0], index])
        label = torch.cat([torch.ones(len(links[0]), dtype=torch.int64), label])
        weight = torch.cat([links[1].double(), weight])
    return index, label, weight


def _sees_others(graph: Graph, criterion: Criterion) -> bool:
    """Whether a criterion constrains any pair that is no link."""
    pairs = possible_pairs(graph.group, graph.side)
    return Cells.prepare(pairs, criterion, torch.zeros(len(pairs), dtype=torch.int64)).total > 0


def _no_pairs() -> tuple[Tensor, Tensor]:
    return torch.empty((0, 2), dtype=torch.int64), torch.empty(0, dtype=torch.float64)


def _others(graph: Graph, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """``(P, 2)`` pairs that are no links, and ``(P,)`` how many of them each stands for."""
    if graph.num_pairs <= MAX_PAIRS:
        index = candidate_pairs(graph)
        return index, torch.ones(len(index), dtype=torch.float64)
    most = MAX_PAIRS // len(possible_pairs(graph.group, graph.side))
    drawn = list(stratified_candidates(graph, most, generator))
    weight = [torch.full((len(part),), count / len(part)).double() for part, count in drawn]
    return torch.cat([part for part, _ in drawn]), torch.cat(weight)
