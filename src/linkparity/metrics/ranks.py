"""Measures of the order of scores: ``auc`` and ``ap`` of links, ``rdp`` between cells."""

import numpy as np

from linkparity.metrics.cell_means import cell_labels
from linkparity.metrics.intervals.covariance import Spread
from linkparity.metrics.intervals.delong import (
    against_rest,
    clustered,
    clustered_against_rest,
    delong,
    levels,
)
from linkparity.metrics.intervals.estimates import (
    NAN,
    Estimate,
    auc_estimate,
    no_interval,
    rdp_estimate,
)
from linkparity.metrics.scored_pairs import ScoredPairs


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


def _one_sided(scored: ScoredPairs) -> str:
    """Why there is no ranking of links above non-links, or nothing."""
    if scored.label is None:
        return "no labels were given"
    links = int(scored.label.sum())
    if links in (0, len(scored.label)):
        return f"needs links and non-links, got {links:,} links among {len(scored.label):,} pairs"
    return ""
