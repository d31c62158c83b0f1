"""Gaps of a table in any view, with intervals from counts, means and variances."""

import numpy as np

from linkparity.metrics.gaps import gap_estimate
from linkparity.metrics.intervals.covariance import CellCovariance
from linkparity.metrics.scored_pairs import NAN, Estimate
from linkparity.metrics.views import cell_labels, view_cells
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
    cells = view_cells(pairs, view, table.names)
    means = view_means(stats, stats.mean, table, view)
    mean, total = (means.link_mean, means.links) if links else (means.mean, means.weight)
    spread = None
    if confidence is not None:
        sums = CellCovariance(mean, total, by_node=False)
        sums.add_counted(part, stats.mean, stats.square * (part > 0), cells.member[of])
        spread = sums.result()
    inside = int(count[np.asarray(cells.member.sum(axis=1)) > 0].sum())
    size = (inside, "links" if links else "pairs")
    return gap_estimate(mean, spread, cell_labels(cells.groups), size, view, confidence, seed)
