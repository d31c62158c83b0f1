"""Measures of the order of scores: ``auc`` and ``ap`` of links, ``rdp`` between cells."""

import numpy as np

from linkparity.metrics.intervals.covariance import Spread
from linkparity.metrics.intervals.delong import (
    against_rest,
    clustered,
    clustered_against_rest,
    delong,
    levels,
)
from linkparity.metrics.intervals.simultaneous import largest_interval
from linkparity.metrics.scored_pairs import NAN, Estimate, ScoredPairs, no_interval
from linkparity.metrics.views import cell_labels


def auc(scored: ScoredPairs) -> Estimate:
    r"""Probability that a link scores higher than a non-link, ties counting half.

    .. math:: P(x^+ > x^-) + \tfrac12 P(x^+ = x^-)

    0.5 is chance, 1 the best. Unweighted, over all pairs, with or without groups. The interval is
    DeLong's where pairs are independent. ``nan`` unless there are links and non-links.
    """
    count = len(scored.rank)
    reason = _one_sided(scored)
    if reason or scored.label is None:
        return Estimate(NAN, count, interval=no_interval(scored.confidence), reason=reason)
    level, links, others = levels(scored.rank), scored.label, 1 - scored.label
    if scored.clusters is not None and scored.confidence is not None:
        area, spread = clustered(scored.clusters, level, links, others)
    else:
        area, variance = delong(level, links, others)
        spread = Spread.independent(np.array([variance]))
    return auc_estimate(area, count, spread, scored.confidence)


def auc_estimate(area: float, count: int, spread: Spread, confidence: float | None) -> Estimate:
    """``auc`` with its interval, or with the reason why it has none."""
    if confidence is None:
        return Estimate(area, count)
    if not spread.variance[0] > 0:
        reason = "the variance needs two links, two non-links and some nodes"
        if spread.variance[0] == 0:
            reason = "the scores separate or tie all pairs, so that the variance is 0"
        return Estimate(area, count, interval=(NAN, NAN), reason=reason)
    ends = largest_interval(np.array([area]), spread, confidence)
    return Estimate(area, count, interval=ends, nodes=spread.least)


def ap(scored: ScoredPairs) -> Estimate:
    r"""Average precision: precision at each score that adds links, weighted by the links it adds.

    .. math:: \sum_t (R_t - R_{t-1}) P_t

    over the distinct scores t from the highest down. The fraction of links is chance, 1 the best.
    Unweighted. ``nan`` unless there are links and non-links: without non-links it is always 1.
    """
    count = len(scored.rank)
    reason = _one_sided(scored)
    if reason or scored.label is None:
        return Estimate(NAN, count, reason=reason)
    level = levels(-scored.rank)
    links, pairs = np.bincount(level, scored.label), np.bincount(level)
    precision = np.cumsum(links) / np.cumsum(pairs)
    return Estimate(float(links @ precision / links.sum()), count)


def rdp(scored: ScoredPairs) -> Estimate:
    r"""Largest AUC of the scores as a classifier of one cell against all others.

    .. math:: \max_c \; P(x_c > x_{\bar c}) + \tfrac12 P(x_c = x_{\bar c})

    0.5 is parity of ranks, 1 the worst: a cell scores above all others. Unlike ``dp`` it does not
    change when the scores are rescaled. Unweighted, over pairs with a group; the interval is
    simultaneous for all cells. ``nan`` with fewer than two cells.
    """
    area, spread, names = cell_areas(scored)
    count = len(scored.in_cells)
    return rdp_estimate(area, count, names, spread, scored.confidence, scored.view)


def cell_areas(scored: ScoredPairs) -> tuple[np.ndarray, Spread, list[str]]:
    """The AUC of each cell that has a pair against the rest, how well it is known, its name."""
    used, occupied = scored.in_cells, np.flatnonzero(scored.means.pairs)
    labels = cell_labels(scored.cells.groups)
    names = [labels[c] for c in occupied]
    level = levels(scored.rank[used])
    member = scored.cells.member[scored.code[used]].tocsc()[:, occupied]
    times = member.sum(axis=1)
    bounds = [slice(*member.indptr[c : c + 2]) for c in range(len(occupied))]
    cells = ((member.indices[part], member.data[part]) for part in bounds)
    if len(occupied) > 1 and scored.clusters is not None and scored.confidence is not None:
        clusters = scored.clusters.among(used)
        return *clustered_against_rest(clusters, level, times, cells), names
    found = np.array(list(against_rest(level, times, cells))).reshape(-1, 2)
    return found[:, 0], Spread.independent(found[:, 1]), names


def rdp_estimate(
    area: np.ndarray,
    count: int,
    names: list[str],
    spread: Spread,
    confidence: float | None,
    view: str = "subgroup",
) -> Estimate:
    """``rdp`` from the AUCs of all cells, with its interval or with the reason why it has none."""
    if len(area) < 2:
        reason = f"needs pairs in two cells of the view {view!r}, got {len(area)}"
        return Estimate(NAN, count, interval=no_interval(confidence), reason=reason)
    value = float(area.max())
    if confidence is None:
        return Estimate(value, count)
    known = spread.variance > 0
    if not known[area.argmax()]:
        reason = (
            f"the variance is 0 or unknown for {names[area.argmax()]}, where the AUC is largest"
        )
        return Estimate(value, count, interval=(NAN, NAN), reason=reason)
    spread = spread.of(np.flatnonzero(known))
    ends = largest_interval(area[known], spread, confidence, 0.5)
    left = ", ".join(name for name, some in zip(names, known, strict=True) if not some)
    note = f"the interval leaves out {left}, without a variance" if left else ""
    return Estimate(value, count, interval=ends, note=note, nodes=spread.least)


def _one_sided(scored: ScoredPairs) -> str:
    """Why there is no ranking of links above non-links, or nothing."""
    if scored.label is None:
        return "no labels were given"
    links = int(scored.label.sum())
    if links in (0, len(scored.label)):
        return f"needs links and non-links, got {links:,} links among {len(scored.label):,} pairs"
    return ""
