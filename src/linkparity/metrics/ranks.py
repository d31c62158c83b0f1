"""Measures of the order of scores: ``auc`` and ``ap`` of links, ``rdp`` between cells."""

from dataclasses import replace

import numpy as np

from linkparity.metrics.cell_means import cell_labels
from linkparity.metrics.intervals.covariance import Spread
from linkparity.metrics.intervals.estimates import (
    NAN,
    Estimate,
    auc_estimate,
    no_interval,
    rdp_estimate,
)
from linkparity.metrics.intervals.placements import Classes, rank_spreads
from linkparity.metrics.scored_pairs import ScoredPairs


def auc(scored: ScoredPairs) -> Estimate:
    r"""Probability that a link scores higher than a non-link, ties counting half.

    .. math:: P(x^+ > x^-) + \tfrac12 P(x^+ = x^-)

    0.5 is chance, 1 the best. Unweighted, over all pairs with a label, with or without groups. The
    interval is DeLong's where pairs are independent. ``nan`` unless there are links and non-links.
    """
    count, reason = _labels(scored)
    if reason:
        return Estimate(NAN, count, interval=no_interval(scored.confidence), reason=reason)
    area, spread = _areas(scored)["auc"]
    return auc_estimate(float(area[1]), count, spread, scored.confidence)


def ap(scored: ScoredPairs) -> Estimate:
    r"""Average precision: precision at each score that adds links, weighted by the links it adds.

    .. math:: \sum_t (R_t - R_{t-1}) P_t

    over the distinct scores t from the highest down. The fraction of links is chance, 1 the best.
    Unweighted. ``nan`` unless there are links and non-links: without non-links it is always 1.
    """
    count, reason = _labels(scored)
    if reason:
        return Estimate(NAN, count, reason=reason)
    return Estimate(scored.once("ap", lambda: _average_precision(scored, count)), count)


def rdp(scored: ScoredPairs) -> Estimate:
    r"""Largest AUC of the scores as a classifier of one cell against all others.

    .. math:: \max_c \; P(x_c > x_{\bar c}) + \tfrac12 P(x_c = x_{\bar c})

    0.5 is parity of ranks, 1 the worst: a cell scores above all others. Unlike ``dp`` it does not
    change when the scores are rescaled. Unweighted, over pairs with a group; the interval is
    simultaneous for all cells. ``nan`` with fewer than two cells.
    """
    area, spread, names = cell_areas(scored)
    in_cells = np.asarray(scored.member.sum(axis=1)).ravel() > 0
    count = int(scored.totals.plain.count[in_cells].sum())
    return rdp_estimate(area, count, names, spread, scored.confidence, scored.view)


def cell_areas(scored: ScoredPairs) -> tuple[np.ndarray, Spread, list[str]]:
    """The AUC of each cell that has a pair against the rest, how well it is known, its name."""
    area, spread = _areas(scored)["rdp", scored.view]
    occupied = np.flatnonzero(scored.means.pairs)
    labels = cell_labels(scored.cells.groups)
    return area[occupied], spread, [labels[c] for c in occupied]


def link_classes(scored: ScoredPairs) -> Classes:
    """Other pairs and links, of which links are compared with the rest."""
    member = scored.source.kinds.label[:, None]
    found = Classes.of(member, scored.totals.plain.count, 2)
    return replace(found, wanted=np.array([False, True]))


def cell_classes(scored: ScoredPairs) -> Classes:
    """The cells of the view that have a pair, each of which is compared with the rest."""
    member = scored.member
    times = np.asarray(member.sum(axis=1)).ravel()
    cells = np.full((len(times), max(int(times.max(initial=1)), 1)), -1)
    for kind in np.flatnonzero(times):
        row = slice(*member.indptr[kind : kind + 2])
        cells[kind, : times[kind]] = np.repeat(member.indices[row], member.data[row])
    found = Classes.of(cells, scored.totals.plain.count, member.shape[1])
    return replace(found, wanted=found.count > 0)


def _areas(scored: ScoredPairs) -> dict[object, tuple[np.ndarray, Spread]]:
    """AUCs of links and of cells with their spreads, from the same sorted passes."""
    by_node = None if scored.confidence is None else scored.shares_nodes
    return scored.once(("areas", scored.view, by_node), lambda: _find_areas(scored, by_node))


def _find_areas(
    scored: ScoredPairs, by_node: bool | None
) -> dict[object, tuple[np.ndarray, Spread]]:
    problems: dict[object, Classes] = {("rdp", scored.view): cell_classes(scored)}
    if not unranked(scored):
        problems["auc"] = link_classes(scored)
    found = rank_spreads(scored.source, list(problems.values()), by_node)
    return dict(zip(problems, found, strict=True))


def _average_precision(scored: ScoredPairs, count: int) -> float:
    """In one pass over the sorted rows, from the lowest score up."""
    label = scored.source.kinds.label
    links = int(scored.totals.plain.count[label == 1].sum())
    total, last, tied = 0.0, None, np.zeros(2)
    above = np.array([links, count], dtype=np.float64)  # links and rows not below the level
    for scores, kind in scored.source.ordered(("kind",)):
        known = label[kind]
        score, known = scores[known >= 0], known[known >= 0]
        if not len(score):
            continue
        start = np.flatnonzero(np.append(True, score[1:] != score[:-1]))
        sizes = np.diff(start, append=len(score))
        hits = np.add.reduceat(known, start)
        levels = np.stack([hits, sizes], axis=1).astype(np.float64)
        if last == score[0]:
            levels[0] += tied
        elif last is not None:
            levels = np.concatenate([tied[None], levels])
        ends = above - np.cumsum(levels, axis=0) + levels  # including the level itself
        total += float((levels[:-1, 0] * ends[:-1, 0] / ends[:-1, 1]).sum())
        above = ends[-1]
        last, tied = score[-1], levels[-1]
    if last is not None:
        total += float(tied[0] * above[0] / above[1])
    return total / links


def unranked(scored: ScoredPairs) -> str:
    """Why there is no ranking of links above others, or nothing."""
    return _labels(scored)[1]


def _labels(scored: ScoredPairs) -> tuple[int, str]:
    """The number of pairs with a label, and why there is no ranking of links above others."""
    label, counts = scored.source.kinds.label, scored.totals.plain.count
    if not scored.labelled:
        return scored.totals.rows, "no labels were given"
    count, links = int(counts[label >= 0].sum()), int(counts[label == 1].sum())
    if links in (0, count):
        return count, f"needs links and non-links, got {links:,} links among {count:,} pairs"
    return count, ""
