"""Small sums over rows: counts, means and a histogram per kind, and sums at tilts."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from linkparity.criteria import Cells
from linkparity.pairs.source import Chunk, Kinds, PairSource, movable
from linkparity.projection.sums import Sums
from linkparity.support.arrays import add_at, expit

#: Bins per unit of logit; tilts fitted to them have about ten correct digits.
BINS = 64
#: Up to this distance from 0, bins of logits are narrow; beyond, this many times wider.
NEAR, WIDER = 32, 64
#: Largest number of bins; with many kinds they are wider.
MAX_BINS = 4_000_000
#: Largest distance of a logit from 0 that is binned; no other can be tilted.
FAR = 701
#: Tilts beyond this lose digits in the short formula for the KL-divergence.
STEEP = 30.0


@dataclass(eq=False)
class Moments:
    """Weight, mean, and sum of squared distances from the mean, per kind ``(K,)``.

    Parts are merged without loss of digits (Chan, Golub and LeVeque, 1979).
    """

    count: np.ndarray
    mean: np.ndarray
    square: np.ndarray

    @classmethod
    def of(cls, kind: np.ndarray, value: np.ndarray, weight: np.ndarray | None, size: int) -> Self:
        """Of the rows of ``size`` kinds."""
        mass = value if weight is None else value * weight
        count = np.bincount(kind, weight, size).astype(np.float64)
        total = np.bincount(kind, mass, size)
        mean = np.divide(total, count, out=np.zeros(size), where=count > 0)
        off = value - mean[kind]
        off *= off
        return cls(count, mean, np.bincount(kind, off if weight is None else off * weight, size))

    def merge(self, other: "Moments") -> None:
        """Add the rows of other moments."""
        total = self.count + other.count
        share = np.divide(other.count, total, out=np.zeros_like(total), where=total > 0)
        apart = other.mean - self.mean
        self.square = self.square + other.square + apart * apart * self.count * share
        self.mean, self.count = self.mean + apart * share, total


class Totals:
    """Counts, means, scores of exactly 0 and 1, and a histogram of the logits, per kind.

    Attributes:
        plain: moments of the probabilities, every row once.
        weighted: moments by weight; ``plain`` without weights.
        squared: moments by the square of the weight; ``plain`` without weights.
        heavy: ``(K,)`` number of rows with a weight above 0.
        yes: ``(K,)`` weighted sum of p over the scores that can be tilted.
        no: ``(K,)`` that of 1 − p.
        spread: ``(K,)`` that of p(1 − p).
        zeros: ``(K,)`` weight of scores of exactly 0, which no tilt can change.
        ones: ``(K,)`` weight of scores of exactly 1.
        kept: number of scores of exactly 0 or 1, or next to it.
        certain: number of scores of exactly 0 or 1.
        bound: a number that no finite logit exceeds in absolute value.
    """

    def __init__(self, kinds: Kinds) -> None:
        size = len(kinds)
        self.kinds = kinds
        self.plain = Moments(*np.zeros((3, size)))
        self.weighted = self.squared = self.plain
        self.heavy, self.yes, self.no, self.spread, self.zeros, self.ones = np.zeros((6, size))
        self.kept, self.certain, self.bound = 0, 0, 1.0
        self.fine = float(BINS)
        while size * self._bins > MAX_BINS and self.fine > 1 / 64:
            self.fine /= 4
        self.histogram = np.zeros((3, size * self._bins))

    def add(self, chunk: Chunk) -> None:
        """Add some rows."""
        kind, size, w = chunk.kind, len(self.kinds), chunk.weight
        if self.weighted is self.plain and w is not None:
            self.weighted, self.squared = (Moments(*np.zeros((3, size))) for _ in range(2))
        self.plain.merge(Moments.of(kind, chunk.prob, None, size))
        if w is not None:
            self.weighted.merge(Moments.of(kind, chunk.prob, w, size))
            self.squared.merge(Moments.of(kind, chunk.prob, w * w, size))
        self.heavy += np.bincount(kind if w is None else kind[w > 0], minlength=size)
        logit, prob = chunk.logit, chunk.prob
        inside = movable(logit)
        if not inside.all():
            at = ~inside
            self.kept += int(np.count_nonzero(at))
            self.certain += int(np.count_nonzero(np.isinf(logit)))
            up = at & (logit > 0)
            for name, rows in (("ones", up), ("zeros", at & ~up)):
                weight = None if w is None else w[rows]
                setattr(self, name, getattr(self, name) + np.bincount(kind[rows], weight, size))
            kind, logit, prob = kind[inside], logit[inside], prob[inside]
            w = None if w is None else w[inside]
        if not len(kind):
            return
        other = expit(-logit) if chunk.logits else 1 - prob
        for name, value in (("yes", prob), ("no", other), ("spread", prob * other)):
            mass = np.bincount(kind, value if w is None else value * w, size)
            setattr(self, name, getattr(self, name) + mass)
        self.bound = max(self.bound, float(np.abs(logit).max()) + 1.0)
        self._bin(kind, logit, w)

    def merge(self, other: "Totals") -> None:
        """Add the rows of other totals of the same kinds."""
        if self.weighted is self.plain and other.weighted is not other.plain:
            self.weighted, self.squared = (
                Moments(*np.zeros((3, len(self.kinds)))) for _ in range(2)
            )
        names = ["plain"] if self.weighted is self.plain else ["plain", "weighted", "squared"]
        for name in names:
            getattr(self, name).merge(getattr(other, name))
        for name in (
            "heavy",
            "yes",
            "no",
            "spread",
            "zeros",
            "ones",
            "kept",
            "certain",
            "histogram",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.bound = max(self.bound, other.bound)

    @property
    def _bins(self) -> int:
        """Number of bins of a kind."""
        return 2 * (int(NEAR * self.fine) + 1) + 2 * (int(FAR * self.fine / WIDER) + 2)

    def _bin(self, kind: np.ndarray, logit: np.ndarray, weight: np.ndarray | None) -> None:
        """Add logits to their bins: weight, and weighted distances from the edge, and squares."""
        near = int(NEAR * self.fine) + 1
        scaled = logit * self.fine
        edge = np.floor(scaled)
        place = edge.astype(np.int64) + near
        if self.bound > NEAR:
            wide = np.abs(logit) >= NEAR
            coarse = np.floor(scaled[wide] / WIDER)
            edge[wide] = coarse * WIDER
            place[wide] = coarse.astype(np.int64) + 2 * near + int(FAR * self.fine / WIDER) + 2
        place += kind.astype(np.int64) * self._bins
        off = (scaled - edge) / self.fine
        for total, value in zip(self.histogram, (None, off, off * off), strict=True):
            add_at(total, place, _product(value, weight))

    @property
    def binned(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``(2 B,)`` kind, weight and logit of two points per bin, mean ± standard deviation."""
        filled = np.flatnonzero(self.histogram[0] > 0)
        weight, off, square = self.histogram[:, filled]
        kind, place = np.divmod(filled, self._bins)
        near = int(NEAR * self.fine) + 1
        coarse = place - (2 * near + int(FAR * self.fine / WIDER) + 2)
        edge = np.where(place < 2 * near, place - near, coarse * WIDER) / self.fine
        off, square = off / weight, square / weight
        middle, wide = edge + off, np.sqrt(np.maximum(square - off * off, 0.0))
        return (
            np.tile(kind, 2),
            np.tile(weight / 2, 2),
            np.concatenate([middle - wide, middle + wide]),
        )

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.plain.count.sum())

    @property
    def unknown(self) -> int:
        """Number of rows in no pair of groups, because a group is unknown."""
        return int(self.plain.count[self.kinds.pair < 0].sum())

    @property
    def mean_weight(self) -> float:
        """Mean weight of the rows; powers of weights in this unit are finite."""
        total = float(self.weighted.count.sum())
        return total / self.rows if total > 0 else 1.0


def _product(value: np.ndarray | None, weight: np.ndarray | None) -> np.ndarray | None:
    if value is None or weight is None:
        return weight if value is None else value
    return np.asarray(value * weight)


class TiltedSums:
    """Sums of p, 1 − p and p(1 − p) per kind at tilts, over the scores that can be tilted.

    Args:
        tilt: ``(K,)`` tilt of each kind.
    """

    def __init__(self, tilt: np.ndarray) -> None:
        self.tilt = tilt
        self.sums = np.zeros((3, len(tilt)))

    def add(self, chunk: Chunk) -> None:
        """Add some rows."""
        kind, z, w = _tiltable(chunk)
        z = z + self.tilt[kind]
        small = np.exp(-np.abs(z))
        near = 1.0 / (1.0 + small)
        far = small * near
        up = z > 0
        yes, no = np.where(up, near, far), np.where(up, far, near)
        near *= far
        for row, value in enumerate((yes, no, near)):
            self.sums[row] += np.bincount(kind, value if w is None else value * w, len(self.tilt))

    def merge(self, other: "TiltedSums") -> None:
        """Add the rows of other sums at the same tilts."""
        self.sums += other.sums


class DivergenceSums:
    r"""KL-divergence of the tilted rows to the rows, per kind, in nats.

    With :math:`y = -|x|` and τ the tilt seen from that side, it is
    :math:`\tau\,\sigma(y + \tau) - \log(1 + \sigma(y)(e^\tau - 1))` per row.

    Args:
        tilt: ``(K,)`` tilt of each kind.
    """

    def __init__(self, tilt: np.ndarray) -> None:
        self.tilt = tilt
        self.sums = np.zeros(len(tilt))
        self.factors = [np.expm1(np.minimum(each, STEEP + 1)) for each in (tilt, -tilt)]
        self.steep = bool(np.abs(tilt).max(initial=0.0) > STEEP)

    def add(self, chunk: Chunk) -> None:
        """Add some rows."""
        kind, x, w = _tiltable(chunk)
        right, y = x > 0, -np.abs(x)
        turned = self.tilt[kind]
        turned[right] *= -1.0
        up, down = self.factors
        small = np.exp(y)
        log = np.log1p(small / (1 + small) * np.where(right, down[kind], up[kind]))
        if self.steep:
            exact = np.logaddexp(0.0, y + turned) - np.logaddexp(0.0, y)
            log = np.where(turned > STEEP, exact, log)
        value = turned * expit(y + turned) - log
        self.sums += np.bincount(kind, value if w is None else value * w, len(self.sums))

    def merge(self, other: "DivergenceSums") -> None:
        """Add the rows of other sums at the same tilts."""
        self.sums += other.sums


def _tiltable(chunk: Chunk) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Kind, logit and weight of the rows that a tilt can change."""
    inside = movable(chunk.logit)
    if inside.all():
        return chunk.kind, chunk.logit, chunk.weight
    w = None if chunk.weight is None else chunk.weight[inside]
    return chunk.kind[inside], chunk.logit[inside], w


class SourceSums:
    """The sums that a solver asks for, of cells of kinds; those at 0 and the last are kept.

    Args:
        source: the rows.
        totals: their sums.
        cell: ``(K,)`` cell of each kind, −1 for none.
        size: number M of cells.
    """

    def __init__(self, source: PairSource, totals: Totals, cell: np.ndarray, size: int) -> None:
        self.source, self.totals, self.cell, self.size = source, totals, cell, size
        begin = np.stack([totals.yes, totals.no, totals.spread])
        self.known = [(np.zeros(size), begin)]

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        return Sums(*(gather(self.cell, part, self.size) for part in self.combined(tilt)))

    def combined(self, tilt: np.ndarray) -> np.ndarray:
        """``(3, K)`` sums of p, 1 − p and p(1 − p) at ``tilt (M,)``."""
        for known, sums in self.known:
            if np.array_equal(known, tilt):
                return sums
        tilted = TiltedSums(self.of_kinds(tilt))
        self.source.run(tilted)
        self.known = [self.known[0], (tilt.copy(), tilted.sums)]
        return tilted.sums

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence of the tilted rows to the rows, in nats."""
        sums = DivergenceSums(self.of_kinds(tilt))
        self.source.run(sums)
        return gather(self.cell, sums.sums, self.size)

    def of_kinds(self, tilt: np.ndarray) -> np.ndarray:
        """``(K,)`` the tilt of each kind, 0 where it is unconstrained."""
        each: np.ndarray = np.append(tilt, 0.0)[self.cell]
        return each


def sums_as_given(totals: Totals, cells: Cells) -> Sums:
    """The sums per cell of all scores, without tilts."""
    yes, no = totals.yes + totals.ones, totals.no + totals.zeros
    cell, size = cells.code, len(cells.mass)
    return Sums(*(gather(cell, part, size) for part in (yes, no, totals.spread)))


class BinnedSums:
    """Nearly the same sums, from the histogram.

    Args:
        totals: with the histogram.
        cells: the cells of the kinds.
    """

    def __init__(self, totals: Totals, cells: Cells) -> None:
        kind, count, logit = totals.binned
        cell = cells.code[kind]
        inside = cell >= 0
        self.cell, self.size = cell[inside], len(cells.mass)
        self.logit, self.count = logit[inside], count[inside]

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        z = self.logit + tilt[self.cell]
        yes, no = expit(z), expit(-z)
        parts = (yes, no, yes * no)
        return Sums(*(np.bincount(self.cell, self.count * part, self.size) for part in parts))


def gather(cell: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """``(M,)`` sums of values ``(K,)`` per cell; −1 is none."""
    inside = cell >= 0
    return np.bincount(cell[inside], values[inside], size)
