"""Measures of a table with intervals: gaps between cells in any view, and AUC and rank parity."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkparity.graph.groups import NO_GROUP
from linkparity.metrics.cell_means import (
    CellMeans,
    cell_labels,
    cell_means,
    membership,
    view_cells,
)
from linkparity.metrics.intervals.covariance import Spread
from linkparity.metrics.intervals.estimates import (
    NAN,
    Estimate,
    IntervalOptions,
    auc_estimate,
    gap_estimate,
    no_interval,
    rdp_estimate,
)
from linkparity.tables.measures.node_sums import CellSet, counted_rows, mean_spreads
from linkparity.tables.measures.rank_spreads import Classes, rank_spreads, with_class
from linkparity.tables.measures.rank_sums import RankSums
from linkparity.tables.measures.table_sums import RowScores, Statistics, mean_weight


def gap_measures(
    scores: RowScores, views: Sequence[str], options: IntervalOptions
) -> dict[str, dict[str, Estimate]]:
    """``dp`` and ``eo`` in some views, with intervals."""
    units = ("pairs", "links") if scores.table.labelled else ("pairs",)
    asked = [(view, unit) for view in views for unit in units]
    sets = [cell_set(scores, view, unit) for view, unit in asked]
    spreads: list[Spread | None] = [None] * len(sets)
    if options.confidence is not None:
        for by_weight, chosen in ways_to_count(scores, [unit for _, unit in asked]):
            rows = counted_rows(scores, by_weight)
            known = mean_spreads(rows, [sets[i] for i in chosen], options.by_node)
            for i, each in zip(chosen, known, strict=True):
                spreads[i] = each
    none = no_interval(options.confidence)
    unknown = Estimate(NAN, 0, "links", none, "no labels were given")
    found = {view: {"dp": unknown, "eo": unknown} for view in views}
    for (view, unit), cells, spread in zip(asked, sets, spreads, strict=True):
        name = "dp" if unit == "pairs" else "eo"
        found[view][name] = _gap(scores, cells, spread, view, unit, options)
    return found


def ways_to_count(scores: RowScores, units: Sequence[str]) -> list[tuple[bool, list[int]]]:
    """Which of several sets of cells count rows by weight, and which count every row once."""
    ways = [scores.weighted and unit == "pairs" for unit in units]
    return [(way, [i for i, each in enumerate(ways) if each == way]) for way in sorted(set(ways))]


def cell_set(scores: RowScores, view: str, unit: str) -> CellSet:
    """The cells of a view, over all pairs or over links."""
    stats, table = scores.stats, scores.table
    pairs, of = pair_keys(stats)
    member = membership(of[:, None], len(pairs)) @ view_cells(pairs, view, table.names).member
    means = score_means(scores, view)
    if unit == "pairs":
        return CellSet(member, means.mean, means.weight / mean_weight(stats))
    return CellSet(member * (stats.label == 1)[:, None], means.link_mean, means.links)


def _gap(
    scores: RowScores,
    cells: CellSet,
    spread: Spread | None,
    view: str,
    unit: str,
    options: IntervalOptions,
) -> Estimate:
    means = score_means(scores, view)
    small = means.small(options.min_pairs, links=unit == "links")
    counted = cells.member @ (~small).astype(np.int64) > 0
    size = (int(scores.stats.count[counted].sum()), unit)
    labels, draws = cell_labels(means.groups), (options.confidence, options.seed)
    return gap_estimate(cells.mean, spread, labels, size, view, *draws, small)


def pair_keys(stats: Statistics) -> tuple[np.ndarray, np.ndarray]:
    """``(G, 2)`` distinct group pairs in reading order, and ``(K,)`` which one each K is or −1."""
    known = (stats.key >= 0).any(axis=1)
    keys = np.column_stack([stats.key[:, 1] < 0, stats.key])
    pairs, inverse = np.unique(keys[known], axis=0, return_inverse=True)
    of = np.full(len(keys), NO_GROUP)
    of[known] = inverse.reshape(-1)
    return pairs[:, 1:], of


def five_sums(scores: RowScores) -> np.ndarray:
    """``(G, 5)`` of :class:`~linkparity.metrics.CellSums` per group pair."""
    stats, labelled = scores.stats, scores.table.labelled
    pairs, of = pair_keys(stats)
    links = stats.count * (stats.label == 1) if labelled else np.full(len(of), np.nan)
    weight = stats.weight
    values = (stats.count, links, weight, weight * scores.weighted_mean, links * scores.mean)
    return np.asarray(membership(of[:, None], len(pairs)).T @ np.stack(values, axis=1))


def score_means(scores: RowScores, view: str = "subgroup") -> CellMeans:
    """Means per cell of a view: by weight over all pairs, without weights over links."""
    pairs, _ = pair_keys(scores.stats)
    return cell_means(pairs, five_sums(scores), view, scores.table.names)


@dataclass(frozen=True)
class Ranks:
    """``auc`` of telling links from other pairs, ``rdp`` of telling a group pair from the rest."""

    auc: Estimate
    rdp: Estimate


def rank_measures(scores: RowScores, options: IntervalOptions) -> Ranks:
    """Both measures from sorted passes over the rows."""
    table, stats, confidence = scores.table, scores.stats, options.confidence
    pairs, _ = pair_keys(stats)
    problems = rank_problems(scores)
    by_node = confidence is not None and options.by_node
    found = rank_spreads(scores, problems) if by_node else _independent(scores, problems)
    total = int(stats.count.sum()) - stats.unknown
    names = cell_labels(view_cells(pairs, "subgroup", table.names).groups)
    rdp = rdp_estimate(found[0][0], total, names, found[0][1], confidence)
    return Ranks(_auc(found[1:], stats, confidence), rdp)


def rank_problems(scores: RowScores) -> list[Classes]:
    """Every group pair against the rest and, where there are labels, links against the rest."""
    stats = scores.stats
    pairs, of_pair = pair_keys(stats)
    problems = [_classes(of_pair, stats, len(pairs))]
    if scores.table.labelled:
        problems.append(_classes(stats.label, stats, 2, wanted=np.array([False, True])))
    return problems


def _classes(
    member: np.ndarray, stats: Statistics, size: int, wanted: np.ndarray | None = None
) -> Classes:
    known = member >= 0
    count = np.bincount(member[known], stats.count[known], size)
    return Classes(member, count, np.ones(size, dtype=bool) if wanted is None else wanted)


def _independent(scores: RowScores, problems: Sequence[Classes]) -> list[tuple[np.ndarray, Spread]]:
    """AUCs ``(C,)`` of each problem, and their spread if pairs are independent."""
    code = scores.stats.code
    place = np.zeros(int(code.max()) + 1, dtype=np.int64)
    place[code] = np.arange(len(code))
    sums = [(RankSums(each.count), each.member[place]) for each in problems]
    rows = scores.rows.select("score", "code").order_by("score")
    for score, codes in scores.table.engine.batches(rows):
        for ranks, member in sums:
            ranks.add(*with_class(member[codes], score))
    found = []
    for each, (ranks, _) in zip(problems, sums, strict=True):
        area, variance = ranks.result()
        found.append((area, Spread.independent(variance[each.wanted])))
    return found


def _auc(
    found: Sequence[tuple[np.ndarray, Spread]], stats: Statistics, confidence: float | None
) -> Estimate:
    count = int(stats.count[stats.label >= 0].sum())
    reason, links = "no labels were given", int(stats.count[stats.label == 1].sum())
    if found and links in (0, count):
        reason = f"needs links and non-links, got {links:,} links among {count:,} pairs"
    if not found or links in (0, count):
        return Estimate(NAN, count, interval=no_interval(confidence), reason=reason)
    [(area, spread)] = found
    return auc_estimate(float(area[1]), count, spread, confidence)
