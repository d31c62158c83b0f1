"""AUC and rank parity of a table: its scores pass by once, in the engine's order."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkparity.metrics.intervals.delong import largest_interval
from linkparity.metrics.rank_sums import RankSums
from linkparity.metrics.scored_pairs import NAN, Estimate
from linkparity.tables.measures.row_sums import moved_rows
from linkparity.tables.measures.statistics import Statistics, pair_keys
from linkparity.tables.reading.score_table import ScoreTable


@dataclass(frozen=True)
class Ranks:
    """``auc`` of telling links from other pairs, ``rdp`` of telling a group pair from the rest."""

    auc: Estimate
    rdp: Estimate


def rank_measures(
    table: ScoreTable,
    stats: Statistics,
    tilt: np.ndarray | None = None,
    confidence: float | None = 0.95,
) -> Ranks:
    """Both measures from one sorted pass; with ``tilt (K,)`` of the tilted scores."""
    pairs, of_pair = pair_keys(stats)
    by_label = RankSums(np.bincount(stats.label, stats.count, 2))
    by_pair = RankSums(np.bincount(of_pair, stats.count, len(pairs)))
    place = np.zeros(int(stats.code.max()) + 1, dtype=np.int64)
    place[stats.code] = np.arange(len(stats.code))
    label, pair = stats.label[place], of_pair[place]
    for score, code in table.engine.batches(_sorted(table, stats, tilt)):
        by_pair.add(score, pair[code])
        if table.labelled:
            by_label.add(score, label[code])
    names = ["-".join(table.names[g] for g in key if g >= 0) for key in pairs.tolist()]
    total = int(stats.count.sum())
    return Ranks(
        _auc(by_label, total, table.labelled, confidence), _rdp(by_pair, total, names, confidence)
    )


def _sorted(table: ScoreTable, stats: Statistics, tilt: np.ndarray | None) -> Any:
    if tilt is not None:
        rows = moved_rows(table, stats, tilt)
        return rows.select(score=rows.x + rows.t, code=rows.code).order_by("score")
    rows = table.good
    score = rows.x if table.columns.logits else rows.p
    return rows.select(score=score, code=rows.code).order_by("score")


def _auc(ranks: RankSums, count: int, labelled: bool, confidence: float | None) -> Estimate:
    unknown = (NAN, NAN) if confidence is not None else None
    if not labelled:
        return Estimate(NAN, count, interval=unknown, reason="no labels were given")
    area, variance = (float(part[1]) for part in ranks.result())
    if np.isnan(area):
        links = int(ranks.count[1])
        reason = f"needs links and non-links, got {links:,} links among {count:,} pairs"
        return Estimate(NAN, count, interval=unknown, reason=reason)
    if confidence is None:
        return Estimate(area, count)
    if not variance > 0:
        reason = "DeLong's variance is 0 or unknown, which says nothing about certainty"
        return Estimate(area, count, interval=unknown, reason=reason)
    ends = largest_interval(np.array([area]), np.array([variance]), confidence)
    return Estimate(area, count, interval=ends)


def _rdp(ranks: RankSums, count: int, names: list[str], confidence: float | None) -> Estimate:
    unknown = (NAN, NAN) if confidence is not None else None
    area, variance = ranks.result()
    if len(area) < 2:
        reason = f"needs pairs in two cells of the view 'subgroup', got {len(area)}"
        return Estimate(NAN, count, interval=unknown, reason=reason)
    value = float(area.max())
    if confidence is None:
        return Estimate(value, count)
    known = variance > 0
    if not known[area.argmax()]:
        name = names[int(area.argmax())]
        reason = f"DeLong's variance is 0 or unknown for {name}, where the AUC is largest"
        return Estimate(value, count, interval=unknown, reason=reason)
    left = [name for name, some in zip(names, known, strict=True) if not some]
    note = f"the interval leaves out {', '.join(left)}, without a variance" if left else ""
    ends = largest_interval(area[known], variance[known], confidence, 0.5)
    return Estimate(value, count, interval=ends, note=note)
