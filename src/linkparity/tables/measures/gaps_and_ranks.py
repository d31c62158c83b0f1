"""Measures of a table with intervals: gaps between cells in any view, and AUC and rank parity."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkparity.metrics.cell_means import CellMeans, cell_labels, cell_means, view_cells
from linkparity.metrics.intervals.covariance import CellCovariance, Spread
from linkparity.metrics.intervals.estimates import (
    NAN,
    Estimate,
    auc_estimate,
    gap_estimate,
    no_interval,
    rdp_estimate,
)
from linkparity.tables.measures.sums import Statistics, moved_rows
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


def pair_keys(stats: Statistics) -> tuple[np.ndarray, np.ndarray]:
    """``(G, 2)`` distinct group pairs in reading order, and ``(K,)`` which one each K is."""
    keys = np.column_stack([stats.key[:, 1] < 0, stats.key])
    pairs, of = np.unique(keys, axis=0, return_inverse=True)
    return pairs[:, 1:], of.reshape(-1)


def five_sums(stats: Statistics, mean: np.ndarray, labelled: bool) -> np.ndarray:
    """``(G, 5)`` of :class:`~linkparity.metrics.CellSums` per group pair, at means ``(K,)``."""
    pairs, of = pair_keys(stats)
    size = len(pairs)
    links = stats.count * stats.label
    mass = stats.count * mean
    unknown = np.full(size, np.nan)
    return np.stack(
        [
            np.bincount(of, stats.count, size),
            np.bincount(of, links, size) if labelled else unknown,
            np.bincount(of, stats.count, size),
            np.bincount(of, mass, size),
            np.bincount(of, mass * stats.label, size) if labelled else unknown,
        ],
        axis=1,
    )


def view_means(
    stats: Statistics, mean: np.ndarray, table: ScoreTable, view: str = "subgroup"
) -> CellMeans:
    """Means per cell of a view, at means ``(K,)`` of the combinations."""
    pairs, _ = pair_keys(stats)
    return cell_means(pairs, five_sums(stats, mean, table.labelled), view, table.names)


@dataclass(frozen=True)
class Ranks:
    """``auc`` of telling links from other pairs, ``rdp`` of telling a group pair from the rest."""

    auc: Estimate
    rdp: Estimate


class RankSums:
    r"""For each of C classes, the AUC of one against the rest and its variance.

    .. math:: A_c = \frac{1}{m n} \sum_{i \in c} B_i, \qquad
              B_i = \#\{j \notin c : x_j < x_i\} + \tfrac12 \#\{j \notin c : x_j = x_i\}

    The variance needs :math:`\sum_{i \in c} B_i^2` and, over the others, the sum of
    :math:`(L_j + \tfrac12 E_j)^2` with L the members of c below j and E those tied with it. Both
    are sums over the members of c alone: a member with L members below adds
    :math:`(L + 1)^2 - L^2` for every other above. One pass over sorted scores computes them, with
    the memory of one batch. The result is that of :func:`delong`.

    Args:
        count: ``(C,)`` size of each class.

    >>> ranks = RankSums(np.array([2, 2]))
    >>> ranks.add(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 1, 0, 1]))
    >>> [part.tolist() for part in ranks.result()]
    [[0.25, 0.75], [0.125, 0.125]]
    """

    def __init__(self, count: np.ndarray) -> None:
        self.count = np.asarray(count, dtype=np.float64)
        self.total = self.count.sum()
        size = len(self.count)
        self.seen = np.zeros(size)
        self.first = np.zeros(size)
        self.second = np.zeros(size)
        self.others = np.zeros(size)
        self.value: float | None = None
        self.tied = np.zeros(size)

    def add(self, score: np.ndarray, member: np.ndarray) -> None:
        """Add scores in ascending order, not below earlier batches, with the class of each."""
        if not len(score):
            return
        size = len(self.count)
        head = int(np.searchsorted(score, self.value, "right")) if self.value is not None else 0
        self.tied += np.bincount(member[:head], minlength=size)
        if head == len(score):
            return
        self._flush()
        tail = int(np.searchsorted(score, score[-1], "left"))
        tail = max(tail, head)
        self._add_levels(score[head:tail], member[head:tail])
        self.value = float(score[-1])
        self.tied = np.bincount(member[tail:], minlength=size).astype(np.float64)

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """``(C,)`` AUC and ``(C,)`` variance; ``nan`` where they are undefined."""
        self._flush()
        m, n = self.count, self.total - self.count
        with np.errstate(divide="ignore", invalid="ignore"):
            area = np.where((m > 0) & (n > 0), self.first / (m * n), np.nan)
            own = np.maximum(self.second / n**2 - m * area**2, 0.0)
            rest = np.maximum(self.others / m**2 - n * (1 - area) ** 2, 0.0)
            variance = own / (m * (m - 1)) + rest / (n * (n - 1))
        return area, np.where((m > 1) & (n > 1), variance, np.nan)

    def _flush(self) -> None:
        """Count the scores that tied with the last value."""
        used = np.flatnonzero(self.tied)
        if len(used):
            here = float(self.tied.sum())
            self._add_entries(used, self.tied[used], np.full(len(used), self.seen.sum()), here)
        self.tied = np.zeros(len(self.count))

    def _add_levels(self, score: np.ndarray, member: np.ndarray) -> None:
        """Count all ties of these scores: entries of (class, level) with their multiplicity."""
        if not len(score):
            return
        level = np.concatenate([[0], np.cumsum(score[1:] != score[:-1])])
        sizes = np.bincount(level)
        below = self.seen.sum() + np.cumsum(sizes) - sizes
        narrow = member.astype(np.int16) if len(self.count) < 2**15 else member
        order = np.argsort(narrow, kind="stable")  # by radix, where narrow
        member, level = member[order], level[order]
        new = (member[1:] != member[:-1]) | (level[1:] != level[:-1])
        start = np.concatenate([[0], np.flatnonzero(new) + 1])
        times = np.diff(start, append=len(order)).astype(np.float64)
        at = level[start]
        self._add_entries(member[start], times, below[at], sizes[at])

    def _add_entries(
        self, member: np.ndarray, times: np.ndarray, below: np.ndarray, level: np.ndarray | float
    ) -> None:
        """Add entries sorted by class and level: multiplicity, pairs below, pairs at the level."""
        sizes = np.bincount(member)
        here = np.flatnonzero(sizes)
        start, length = (np.cumsum(sizes) - sizes)[here], sizes[here]
        running = np.cumsum(times) - times
        own = running + np.repeat(self.seen[here] - running[start], length)
        outside, tied = below - own, level - times
        beats = outside + tied / 2
        above = np.repeat((self.total - self.count)[here], length) - outside - tied
        squares = above * (2 * own + times) + tied * (own + times / 4)
        self.first[here] += np.add.reduceat(times * beats, start)
        self.second[here] += np.add.reduceat(times * beats**2, start)
        self.others[here] += np.add.reduceat(times * squares, start)
        self.seen[here] += np.add.reduceat(times, start)


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
