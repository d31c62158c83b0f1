"""The I-projection after training: one number per pair of groups, added to every logit."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria import Cells, Criterion
from linkparity.criteria.constrained_group_pairs import (
    cell_table,
    group_pair_sizes,
    possible_kinds,
    possible_pairs,
)
from linkparity.graph.candidate_samples import stratified_candidates
from linkparity.graph.graph import Graph
from linkparity.graph.split import Split, SplitWarning, split_links
from linkparity.models import LinkModel
from linkparity.models.training.loop import TrainingWarning
from linkparity.models.training.objective import PairWeights, link_density
from linkparity.pairs.arrays import ArrayPairs, Columns, listed_pairs
from linkparity.pairs.candidates import Candidates, Predict, candidates_of, score_candidates
from linkparity.pairs.fit import cells_of, fit_pairs
from linkparity.pairs.source import JoinedPairs, Kinds, PairSource
from linkparity.pairs.totals import Totals
from linkparity.projection.logits import check_logits
from linkparity.reading.groups import NO_GROUP
from linkparity.support.errors import InputError, warn

#: Other pairs that tilts are fitted to, all of them; of more, equally many of every pair of groups.
MAX_PAIRS = 1 << 30
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
    pairs = possible_pairs(graph.group, graph.side)
    links = graph.links if unseen is None else unseen
    count = torch.from_numpy(group_pair_sizes(replace(graph, links=links), links=True))
    each = torch.from_numpy(group_pair_sizes(graph, links=True)) / count
    weighted = links, weights.link * Tilts(each).of(graph.group[links])
    source, kind = _scored_pairs(model, graph, weighted, criterion, weights.other, generator)
    if target == "data" and criterion.data_target and weights.link in (0, weights.other):
        target = link_density(graph, criterion)
    totals = Totals(source.kinds)
    source.run(totals)
    tilts = np.zeros(len(source.kinds))
    if cells_of(source.kinds, totals, criterion).total:
        found = fit_pairs(
            source, totals, criterion, target, tolerance, tilt_by="groups", divergence=False
        )
        tilts = found.each
    kinds, labels = possible_kinds(graph.group, graph.side)
    inside = (Cells.prepare(kinds, criterion, labels).cell >= 0).view(2, -1).any(dim=0)
    cell = torch.where(inside, torch.from_numpy(kind), NO_GROUP)
    table = cell_table(pairs, cell, graph.num_groups)
    tilt = torch.where(table < 0, 0.0, torch.from_numpy(tilts)[table])
    if unseen is None:
        return Tilts(tilt)
    share = torch.triu(torch.where(table < 0, 0.0, count))
    common = 0.0 if target == "model" else float((tilt * share).sum() / share.sum())
    return Tilts(torch.where(table < 0, 0.0, common + (tilt - common) * count / (count + STEADY)))


def _scored_pairs(
    model: LinkModel,
    graph: Graph,
    links: tuple[Tensor, Tensor],
    criterion: Criterion,
    other: float,
    generator: torch.Generator,
) -> tuple[PairSource, np.ndarray]:
    """Links of some weight and all other pairs, as far as the criterion is about them.

    Returns:
        The pairs; and the kind of a pair that is no link, by its possible pair of groups.
    """
    from linkparity.models.prediction.ranking import pair_scorer

    score = pair_scorer(model)

    def predict(index: np.ndarray) -> np.ndarray:
        logits = score(torch.from_numpy(index))
        check_logits(logits)
        return logits.numpy()

    candidates = candidates_of(graph)
    key, pair = listed_pairs(candidates.groups)
    kinds, kind = Kinds.all(key, 2), 2 * (pair + 1)
    parts: list[tuple[PairSource, float]] = []
    index, weight = links
    if weight.any():
        label = kind[candidates.code(index.numpy())] + 1
        rows = Columns(label, predict(index.numpy()), True, None, weight.double().numpy())
        parts.append((ArrayPairs(rows, kinds), 1.0))
    if _sees_others(graph, criterion):
        many = candidates.size > MAX_PAIRS
        rest = (
            _sample(graph, predict, candidates, kinds, kind, generator) if many
            else score_candidates(candidates, predict, kinds, kind)
        )  # fmt: skip
        parts.append((rest, other))
    return JoinedPairs(kinds, parts), kind


def _sees_others(graph: Graph, criterion: Criterion) -> bool:
    """Whether a criterion constrains any pair that is no link."""
    pairs = possible_pairs(graph.group, graph.side)
    return Cells.prepare(pairs, criterion, torch.zeros(len(pairs), dtype=torch.int64)).total > 0


def _sample(
    graph: Graph,
    predict: Predict,
    candidates: Candidates,
    kinds: Kinds,
    kind: np.ndarray,
    generator: torch.Generator,
) -> PairSource:
    """Equally many candidates of every pair of groups, by how many each of them stands for."""
    most = MAX_PAIRS // len(candidates.groups)
    drawn = list(stratified_candidates(graph, most, generator))
    index = torch.cat([part for part, _ in drawn]).numpy()
    weight = np.repeat([count / len(part) for part, count in drawn], [len(p) for p, _ in drawn])
    rows = Columns(kind[candidates.code(index)], predict(index), True, None, weight)
    return ArrayPairs(rows, kinds)
