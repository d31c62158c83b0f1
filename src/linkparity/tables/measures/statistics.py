"""One scan of the rows: counts, means, variances and a histogram of logits per combination."""

from dataclasses import dataclass
from typing import Any

import ibis
import numpy as np

from linkparity.metrics.cell_sums import CellMeans, cell_means
from linkparity.tables.reading.score_table import ScoreTable, movable, sigmoid

#: Bins per unit of logit; tilts fitted to the histogram have about ten correct digits.
BINS = 64
#: With more groups the bins are wider, or there would be millions.
MANY_GROUPS = 30
#: Number of the bin of probabilities of 1; minus it is that of 0.
EDGE = 10**6


@dataclass(frozen=True, eq=False)
class Statistics:
    """Sums per combination of groups and label, K of them, and a histogram of their logits.

    Attributes:
        code: ``(K,)`` as in the classified rows.
        key: ``(K, 2)`` groups, −1 for none.
        label: ``(K,)`` 0 or 1; 0 throughout without labels.
        count: ``(K,)`` pairs.
        mean: ``(K,)`` mean probability.
        square: ``(K,)`` sum of squared distances from that mean.
        yes: ``(K,)`` sum of p over the scores that can be tilted.
        no: ``(K,)`` sum of 1 − p over them.
        spread: ``(K,)`` sum of p(1 − p) over them.
        zeros: ``(K,)`` number of scores of exactly 0, which no tilt can change.
        ones: ``(K,)`` number of scores of exactly 1.
        bin_of: ``(2 B,)`` combination of each bin of finite logits, twice.
        bin_count: ``(2 B,)`` half the pairs in it.
        bin_logit: ``(2 B,)`` mean logit in it less, then plus the standard deviation.
        bound: a number that no finite logit exceeds in absolute value.
    """

    code: np.ndarray
    key: np.ndarray
    label: np.ndarray
    count: np.ndarray
    mean: np.ndarray
    square: np.ndarray
    yes: np.ndarray
    no: np.ndarray
    spread: np.ndarray
    zeros: np.ndarray
    ones: np.ndarray
    bin_of: np.ndarray
    bin_count: np.ndarray
    bin_logit: np.ndarray
    bound: float

    @property
    def kept(self) -> int:
        """Number of scores of exactly 0 or 1."""
        return int((self.zeros + self.ones).sum())


def measure(table: ScoreTable) -> Statistics:
    """Scan the good rows once."""
    rows = table.good
    finite = movable(rows)
    near = ibis.ifelse(finite, rows.x, 0.0)
    fine = BINS if len(table.names) <= MANY_GROUPS else BINS // 8
    floor = (near * fine).floor()
    bin_ = ibis.ifelse(finite, floor, ibis.ifelse(rows.x > 0, EDGE, -EDGE))
    q = sigmoid(-rows.x) if table.columns.logits else 1 - rows.p
    cut = rows.select(
        code=rows.code, bin=bin_.cast("int32"), p=rows.p, q=q, x=rows.x, d=near - floor / fine
    )
    found = table.engine.small(
        cut.group_by("code", "bin").aggregate(
            n=cut.count(), s=cut.p.sum(), ss=(cut.p * cut.p).sum(), q=cut.q.sum(),
            pq=(cut.p * cut.q).sum(), d=cut.d.sum(), dd=(cut.d * cut.d).sum(),
            far=cut.x.abs().max(),
        )
    )  # fmt: skip
    return _statistics(table, found, fine)


def _statistics(table: ScoreTable, found: dict[str, Any], fine: int) -> Statistics:
    order = np.lexsort((found["bin"], found["code"]))
    names = ("code", "bin", "n", "s", "ss", "q", "pq", "d", "dd", "far")
    code, bins, n, s, ss, q, pq, d, dd, far = (found[name][order] for name in names)
    codes, of = np.unique(code, return_inverse=True)
    size = len(codes)
    key, label = table.keys(codes)
    count = np.bincount(of, n, size)
    mean = np.bincount(of, s, size) / count
    inside = np.maximum(ss - s * s / n, 0.0) + n * (s / n - mean[of]) ** 2
    finite = np.abs(bins) < EDGE
    middle, wide = bins / fine + d / n, np.sqrt(np.maximum(dd / n - (d / n) ** 2, 0.0))
    return Statistics(
        codes, key, label, count, mean, np.bincount(of, inside, size),
        yes=np.bincount(of, s * finite, size),
        no=np.bincount(of, q * finite, size),
        spread=np.bincount(of, pq, size),
        zeros=np.bincount(of, n * (bins == -EDGE), size),
        ones=np.bincount(of, n * (bins == EDGE), size),
        bin_of=np.tile(of[finite], 2),
        bin_count=np.tile(n[finite] / 2, 2),
        bin_logit=np.concatenate([(middle - wide)[finite], (middle + wide)[finite]]),
        bound=float(far[finite].max(initial=0.0)) + 1.0,
    )  # fmt: skip


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
