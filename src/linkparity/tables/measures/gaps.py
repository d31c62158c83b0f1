"""Gaps of a table in any view, with intervals from counts, means and variances."""

import numpy as np

from linkparity.metrics.gaps import CellGap, effective_size, gap_estimate
from linkparity.metrics.intervals.bootstrap import drawn_sums
from linkparity.metrics.scored_pairs import NAN, Estimate
from linkparity.metrics.views import view_cells
from linkparity.tables.measures.statistics import Statistics, pair_keys, view_means
from linkparity.tables.reading.score_table import ScoreTable


def gap_measures(
    table: ScoreTable, stats: Statistics, view: str, confidence: float | None, seed: int
) -> dict[str, Estimate]:
    """``dp`` and ``eo`` in a view, with intervals from counts, means and variances."""
    every = _gap(table, stats, view, confidence, seed, links=False)
    if not table.labelled:
        unknown = (NAN, NAN) if confidence is not None else None
        return {"dp": every, "eo": Estimate(NAN, 0, "links", unknown, "no labels were given")}
    return {"dp": every, "eo": _gap(table, stats, view, confidence, seed, links=True)}


def _gap(
    table: ScoreTable,
    stats: Statistics,
    view: str,
    confidence: float | None,
    seed: int,
    links: bool,
) -> Estimate:
    pairs, of = pair_keys(stats)
    part = stats.count * (stats.label == 1) if links else stats.count
    count = np.bincount(of, part, len(pairs))
    mean = np.bincount(of, part * stats.mean, len(pairs)) / np.maximum(count, 1)
    off = stats.square + stats.count * (stats.mean - mean[of]) ** 2
    square = np.bincount(of, off * (part > 0), len(pairs))
    cells = view_cells(pairs, view, table.names)
    means = view_means(stats, stats.mean, table, view)
    mine = means.link_mean if links else means.mean
    unit = "links" if links else "pairs"
    inside = int(count[np.asarray(cells.member.sum(axis=1)) > 0].sum())

    def draw() -> tuple[np.ndarray, np.ndarray]:
        return drawn_sums(count, mean, square, generator=np.random.default_rng(seed))

    size = effective_size(count, count, cells.member)
    return gap_estimate(CellGap(mine, cells, size, inside, unit, view), draw, confidence)
