"""Sums over the rows of a table: statistics from one scan, sums at a tilt, scores as tilted."""

from dataclasses import dataclass
from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from linkparity.criteria import Cells
from linkparity.projection.sums import BINS, Sums
from linkparity.support.arrays import expit
from linkparity.tables.reading.score_table import ScoreTable, movable, sigmoid

#: With more groups the bins are wider, or there would be millions.
MANY_GROUPS = 30
#: Number of the bin of probabilities of 1; minus it is that of 0.
EDGE = 10**6
#: Tilts beyond this lose digits in the short formula for the KL-divergence.
STEEP = 30.0


@dataclass(frozen=True, eq=False)
class Statistics:
    """Sums per combination of groups and label, K of them, and a histogram of their logits.

    Attributes:
        code: ``(K,)`` as in the classified rows.
        key: ``(K, 2)`` groups, −1 for none.
        label: ``(K,)`` 0 or 1, −1 where it is missing; 0 throughout without labels.
        count: ``(K,)`` pairs.
        mean: ``(K,)`` mean probability.
        square: ``(K,)`` sum of squared distances from that mean.
        weight: ``(K,)`` weight of the pairs, their number without weights.
        weighted_mean: ``(K,)`` mean probability by weight, 0 without weight.
        yes: ``(K,)`` weighted sum of p over the scores that can be tilted.
        no: ``(K,)`` that of 1 − p.
        spread: ``(K,)`` that of p(1 − p).
        zeros: ``(K,)`` weight of scores of exactly 0, which no tilt can change.
        ones: ``(K,)`` weight of scores of exactly 1.
        kept: number of scores of exactly 0 or 1.
        bin_of: ``(2 B,)`` combination of each bin of finite logits, twice.
        bin_count: ``(2 B,)`` half the weight in it.
        bin_logit: ``(2 B,)`` mean logit in it less, then plus the standard deviation.
        bound: a number that no finite logit exceeds in absolute value.
    """

    code: np.ndarray
    key: np.ndarray
    label: np.ndarray
    count: np.ndarray
    mean: np.ndarray
    square: np.ndarray
    weight: np.ndarray
    weighted_mean: np.ndarray
    yes: np.ndarray
    no: np.ndarray
    spread: np.ndarray
    zeros: np.ndarray
    ones: np.ndarray
    kept: int
    bin_of: np.ndarray
    bin_count: np.ndarray
    bin_logit: np.ndarray
    bound: float

    @property
    def unknown(self) -> int:
        """Number of rows in no pair of groups, because a group is unknown."""
        return int(self.count[(self.key < 0).all(axis=1)].sum())


def measure(table: ScoreTable) -> Statistics:
    """Scan the good rows once."""
    rows = table.good
    finite = movable(rows)
    near = ibis.ifelse(finite, rows.x, 0.0)
    fine = BINS if len(table.names) <= MANY_GROUPS else BINS // 8
    floor = (near * fine).floor()
    bin_ = ibis.ifelse(finite, floor, ibis.ifelse(rows.x > 0, EDGE, -EDGE))
    q = sigmoid(-rows.x) if table.columns.logits else 1 - rows.p
    weight = {"w": rows.w} if table.weighted else {}
    cut = rows.select(
        code=rows.code, bin=bin_.cast("int32"), p=rows.p, q=q, x=rows.x, d=near - floor / fine,
        **weight,
    )  # fmt: skip
    w = cut.w if table.weighted else 1.0
    plain = {"n": cut.count(), "s": cut.p.sum(), "ss": (cut.p * cut.p).sum()}
    found = table.engine.small(
        cut.group_by("code", "bin").aggregate(
            **plain, q=(w * cut.q).sum(), pq=(w * cut.p * cut.q).sum(), d=(w * cut.d).sum(),
            dd=(w * cut.d * cut.d).sum(), far=cut.x.abs().max(),
            **({"w": cut.w.sum(), "ws": (cut.w * cut.p).sum()} if table.weighted else {}),
        )
    )  # fmt: skip
    return _statistics(table, found, fine)


def _statistics(table: ScoreTable, found: dict[str, Any], fine: int) -> Statistics:
    order = np.lexsort((found["bin"], found["code"]))
    names = ("code", "bin", "n", "s", "ss", "q", "pq", "d", "dd", "far")
    code, bins, n, s, ss, q, pq, d, dd, far = (found[name][order] for name in names)
    w, ws = (found[name][order] for name in (("w", "ws") if table.weighted else ("n", "s")))
    codes, of = np.unique(code, return_inverse=True)
    size = len(codes)
    key, label = table.keys(codes)
    count = np.bincount(of, n, size)
    mean = np.bincount(of, s, size) / count
    inside = np.maximum(ss - s * s / n, 0.0) + n * (s / n - mean[of]) ** 2
    finite = np.abs(bins) < EDGE
    used = np.where(w > 0, w, 1.0)
    middle, wide = bins / fine + d / used, np.sqrt(np.maximum(dd / used - (d / used) ** 2, 0.0))
    weight = np.bincount(of, w, size)
    return Statistics(
        codes, key, label, count, mean, np.bincount(of, inside, size), weight,
        weighted_mean=np.bincount(of, ws, size) / np.where(weight > 0, weight, 1.0),
        yes=np.bincount(of, ws * finite, size),
        no=np.bincount(of, q * finite, size),
        spread=np.bincount(of, pq, size),
        zeros=np.bincount(of, w * (bins == -EDGE), size),
        ones=np.bincount(of, w * (bins == EDGE), size),
        kept=int(n[~finite].sum()),
        bin_of=np.tile(of[finite], 2),
        bin_count=np.tile(w[finite] / 2, 2),
        bin_logit=np.concatenate([(middle - wide)[finite], (middle + wide)[finite]]),
        bound=float(far[finite].max(initial=0.0)) + 1.0,
    )  # fmt: skip


class TableSums:
    r"""Sums over the rows of a score table; finite logits only.

    .. math:: e = \exp(-|x + t|), \quad s = 1 / (1 + e), \qquad
              \sigma = s \text{ or } e s, \quad 1 - \sigma = e s \text{ or } s

    Args:
        table: classified rows.
        stats: their combinations of groups and label.
        cell: ``(K,)`` cell of each combination, −1 for none.
        size: number of cells.
    """

    def __init__(self, table: ScoreTable, stats: Statistics, cell: np.ndarray, size: int) -> None:
        self.table = table
        self.stats = stats
        self.cell = cell
        self.size = size
        self.known = [(np.zeros(size), np.stack([stats.yes, stats.no, stats.spread]))]

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        return Sums(*(self._gather(part) for part in self.combined(tilt)))

    def combined(self, tilt: np.ndarray) -> np.ndarray:
        """``(3, K)`` sums of p, 1 − p and p(1 − p); those at 0 and the last ones are kept."""
        for known, found in self.known:
            if np.array_equal(known, tilt):
                return found
        rows = self._tilted(tilt)
        z = rows.mutate(z=rows.x + rows.tilt)
        small = z.mutate(e=(-z.z.abs()).exp())
        part = small.mutate(s=1 / (1 + small.e))
        near, far = part.s, part.e * part.s
        w = part.w if self.table.weighted else 1.0
        sums = part.group_by("code").aggregate(
            yes=(w * ibis.ifelse(part.z > 0, near, far)).sum(),
            no=(w * ibis.ifelse(part.z > 0, far, near)).sum(),
            spread=(w * near * far).sum(),
        )
        found = self._by_code(sums, ("yes", "no", "spread"))
        self.known = [self.known[0], (tilt.copy(), found)]
        return found

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        r"""``(M,)`` KL-divergence of the tilted rows to the rows, in nats.

        With :math:`y = -|x|` and τ the tilt seen from that side,
        :math:`\tau\,\sigma(y + \tau) - \log(1 + \sigma(y)(e^\tau - 1))` per row; the first terms
        add up to :math:`t\,(\sum\sigma(x + t) - \#\{x > 0\})`, so only the logarithm is scanned.
        """
        each = self._each(tilt)
        rows = self._tilted(tilt, up=_expm1(each), down=_expm1(-each))
        right = rows.x > 0
        small = (-rows.x.abs()).exp()
        log = _log1p(small / (1 + small) * ibis.ifelse(right, rows.down, rows.up))
        if np.abs(each).max(initial=0.0) > STEEP:
            turned = ibis.ifelse(right, -rows.tilt, rows.tilt)
            steep = _softplus(turned - rows.x.abs()) - _softplus(-rows.x.abs())
            log = ibis.ifelse(turned > STEEP, steep, log)
        w = rows.w if self.table.weighted else 1.0
        rows = rows.mutate(log=w * log, right=w * right.cast("int64"))
        sums = rows.group_by("code").aggregate(log=rows.log.sum(), right=rows.right.sum())
        logs, rights = self._by_code(sums, ("log", "right"))
        return self._gather(each * (self.combined(tilt)[0] - rights) - logs)

    def _each(self, tilt: np.ndarray) -> np.ndarray:
        """``(K,)`` the tilt of each combination, 0 where it is unconstrained."""
        each: np.ndarray = np.append(tilt, 0.0)[self.cell]
        return each

    def _tilted(self, tilt: np.ndarray, **more: np.ndarray) -> Any:
        """Rows with finite logits, and the values of their combination beside them."""
        return tilted_rows(self.table, self.stats, self._each(tilt), **more)

    def _by_code(self, expression: Any, names: tuple[str, ...]) -> np.ndarray:
        found = self.table.engine.small(expression)
        at = np.searchsorted(self.stats.code, found["code"])
        out = np.zeros((len(names), len(self.stats.code)))
        for i, name in enumerate(names):
            out[i, at] = found[name]
        return out

    def _gather(self, values: np.ndarray) -> np.ndarray:
        inside = self.cell >= 0
        return np.bincount(self.cell[inside], values[inside], self.size)


class HistogramSums:
    """The same sums over the histogram of the logits, which is in memory.

    Args:
        stats: with the histogram.
        cells: the cells of its combinations of groups and label.
    """

    def __init__(self, stats: Statistics, cells: Cells) -> None:
        cell = cells.cell.numpy()[stats.bin_of]
        inside = cell >= 0
        self.cell, self.size = cell[inside], len(cells.mass)
        self.logit, self.count = stats.bin_logit[inside], stats.bin_count[inside]

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        z = self.logit + tilt[self.cell]
        yes, no = expit(z), expit(-z)
        parts = (yes, no, yes * no)
        return Sums(*(np.bincount(self.cell, self.count * part, self.size) for part in parts))


def tilted_rows(table: ScoreTable, stats: Statistics, each: np.ndarray, **more: np.ndarray) -> Any:
    """Rows with a finite logit and the ``tilt`` of their combination, ``each (K,)``."""
    rows = table.good
    if stats.kept:
        rows = rows.filter(movable(rows))
    return beside(table, rows, stats, tilt=each, **more)


def moved_rows(table: ScoreTable, stats: Statistics, each: np.ndarray) -> Any:
    """All rows that count, and what is added to their logits as ``t``: 0 for scores of 0 and 1."""
    rows = beside(table, table.good, stats, t=each)
    return rows.mutate(t=ibis.ifelse(movable(rows), rows.t, 0.0)) if stats.kept else rows


def beside(table: ScoreTable, rows: Any, stats: Statistics, **columns: np.ndarray) -> Any:
    """Rows with values per combination ``(K,)`` beside them."""
    data = {"k": pa.array(stats.code.astype(np.int32))}
    data |= {name: pa.array(np.asarray(value)) for name, value in columns.items()}
    small = table.engine.lookup(pa.table(data))
    joined = rows.inner_join(small, rows.code == small.k)
    return joined.select(*[joined[c] for c in rows.columns], *[joined[c] for c in columns])


@dataclass(frozen=True, eq=False)
class RowScores:
    """The scores of a table's rows, as given or tilted.

    Attributes:
        table: classified rows.
        stats: their combinations of groups and label, K of them.
        rows: Ibis table of the rows that count: nodes ``a, b``, ``code``, probability ``p``,
            ``score``, which orders them, and with weights ``w``, in units of the mean weight.
        mean: ``(K,)`` mean probability of each combination.
        square: ``(K,)`` sum of squared distances from that mean.
        weighted_mean: ``(K,)`` mean probability by weight, the same without weights.
    """

    table: ScoreTable
    stats: Statistics
    rows: Any
    mean: np.ndarray
    square: np.ndarray
    weighted_mean: np.ndarray

    @property
    def weighted(self) -> bool:
        """Whether rows have weights, for dp and kl."""
        return self.table.weighted


def mean_weight(stats: Statistics) -> float:
    """Mean weight of the rows, 1 without weights; powers of weights in this unit are finite."""
    total = float(stats.weight.sum())
    return total / float(stats.count.sum()) if total > 0 else 1.0


def _unit_weights(table: ScoreTable, rows: Any, stats: Statistics) -> dict[str, Any]:
    return {"w": rows.w / mean_weight(stats)} if table.weighted else {}


def given_scores(table: ScoreTable, stats: Statistics) -> RowScores:
    """The scores of a table as they are."""
    rows = table.good
    score = rows.x if table.columns.logits else rows.p
    weight = _unit_weights(table, rows, stats)
    rows = rows.select(a=rows.a, b=rows.b, code=rows.code, p=rows.p, score=score, **weight)
    return RowScores(table, stats, rows, stats.mean, stats.square, stats.weighted_mean)


def tilted_scores(
    table: ScoreTable, stats: Statistics, tilt: np.ndarray, weighted_mean: np.ndarray
) -> RowScores:
    """The scores with ``tilt (K,)`` added to their logits, whose means are those given ``(K,)``."""
    moved = moved_rows(table, stats, tilt)
    mean = _plain_means(table, stats, moved) if table.weighted else weighted_mean
    rows = beside(table, moved, stats, middle=mean)
    score = rows.x + rows.t
    p = moved_prob(rows)
    more = {"middle": rows.middle, **_unit_weights(table, rows, stats)}
    rows = rows.select(a=rows.a, b=rows.b, code=rows.code, p=p, score=score, **more)
    off = rows.p - rows.middle
    found = table.engine.small(rows.group_by("code").aggregate(square=(off * off).sum()))
    square = np.zeros(len(stats.code))
    square[np.searchsorted(stats.code, found["code"])] = found["square"]
    return RowScores(table, stats, rows, mean, square, weighted_mean)


def moved_prob(rows: Any) -> Any:
    """Probability of rows from :func:`moved_rows`, to the last digit where nothing is added."""
    return ibis.ifelse(rows.t == 0, rows.p, sigmoid(rows.x + rows.t))


def _plain_means(table: ScoreTable, stats: Statistics, moved: Any) -> np.ndarray:
    """``(K,)`` mean probability of tilted rows, without weights."""
    rows = moved.select(code=moved.code, p=moved_prob(moved))
    found = table.engine.small(rows.group_by("code").aggregate(p=rows.p.mean()))
    mean = np.zeros(len(stats.code))
    mean[np.searchsorted(stats.code, found["code"])] = found["p"]
    return mean


def _expm1(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.expm1(np.minimum(values, STEEP + 1)))


def _log1p(u: Any) -> Any:
    """log(1 + u) to the last digits from log alone, by Kahan's correction."""
    one = u + 1
    safe = ibis.ifelse(one == 1, 2.0, one)
    return ibis.ifelse(one == 1, u, safe.ln() * (u / (safe - 1)))


def _softplus(z: Any) -> Any:
    return ibis.greatest(z, 0.0) + _log1p((-z.abs()).exp())
