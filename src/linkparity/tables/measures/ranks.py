"""AUC and rank parity of a table: its scores pass by once, in the engine's order."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkparity.metrics.intervals.covariance import Spread
from linkparity.metrics.rank_sums import RankSums
from linkparity.metrics.ranks import auc_estimate, rdp_estimate
from linkparity.metrics.scored_pairs import NAN, Estimate, no_interval
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
    if not labelled:
        reason = "no labels were given"
        return Estimate(NAN, count, interval=no_interval(confidence), reason=reason)
    area, variance = (part[1:] for part in ranks.result())
    if np.isnan(area[0]):
        links = int(ranks.count[1])
        reason = f"needs links and non-links, got {links:,} links among {count:,} pairs"
        return Estimate(NAN, count, interval=no_interval(confidence), reason=reason)
    return auc_estimate(float(area[0]), count, Spread.independent(variance), confidence)


def _rdp(ranks: RankSums, count: int, names: list[str], confidence: float | None) -> Estimate:
    area, variance = ranks.result()
    return rdp_estimate(area, count, names, Spread.independent(variance), confidence)
