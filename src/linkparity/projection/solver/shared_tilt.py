r"""One tilt for several cells: the least distance of their means from targets, by a global search.

.. math:: t_g = \arg\min_t \sum_{c \in g} \max(0, |\bar u_c(t) - d_c| - \varepsilon)^2

The means are smooth on the scale of 1, so their values and derivatives on a grid of tilts, with
cubics between its points, show every minimum. Of several the one nearest 0 is taken and refined.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkparity.projection.solver.problem import NotConverged, Problem
from linkparity.projection.sums import SumSource

#: Steps of the grid on the logit scale, and points of the cubic per step: at most 2e-6 off.
STEP, POINTS = 0.25, 8
#: Means, and tilts, that differ by less are equal.
ROUNDING = 1e-12
#: Sums in float64 are no more exact than this.
TINY = 1e-15
MAX_STEPS = 80
#: Steps after which a root is searched for by halving its interval.
SECANTS = 30


class SharedTilts:
    """Distance of every constrained mean from its target, and its derivative, at given tilts.

    Args:
        problem: the constraints, with their targets.
        member: ``(M,)`` which of the G tilts each cell has.
        size: G.
        sums: per cell.

    Attributes:
        owner: ``(C,)`` the tilt that each constraint is about.
        mixed: ``(G,)`` whether a mean that the tilt is about need not rise or fall throughout.
        tolerance: ``(C,)`` allowed distance of each mean from its target.
    """

    def __init__(self, problem: Problem, member: np.ndarray, size: int, sums: SumSource) -> None:
        self.problem, self.member, self.size, self.sums = problem, member, size, sums
        entries = problem.entries
        self.owner = np.zeros(entries.shape[0], dtype=np.int64)
        self.owner[entries.row] = member[entries.cell]
        rises, falls = np.zeros((2, entries.shape[0]), dtype=bool)
        rises[entries.row[entries.value > 0]] = falls[entries.row[entries.value < 0]] = True
        self.mixed = np.bincount(self.owner[rises & falls], minlength=size) > 0
        self.tolerance = np.full(entries.shape[0], problem.tolerance)

    def at(self, tilt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``(C,)`` mean − target of each constraint and its derivative, at ``tilt (G,)``."""
        problem = self.problem
        assert problem.target_logit is not None
        now = self.sums(tilt[self.member])
        slope = problem.entries.times(now.variance) / problem.weight
        return -problem.lack(now, problem.target_logit), slope

    def ranges(self, tilt: np.ndarray, widest: float) -> tuple[np.ndarray, np.ndarray]:
        """``(G,)`` ends of the interval in which each shared tilt is.

        Where every mean rises with the tilt, or every one falls, it is between the tilts ``(M,)``
        at which each cell alone meets its target; else it may be anywhere.
        """
        entries = self.problem.entries
        place = self.owner[entries.row]
        low, high = np.full(self.size, np.inf), np.full(self.size, -np.inf)
        np.minimum.at(low, place, tilt[entries.cell])
        np.maximum.at(high, place, tilt[entries.cell])
        low, high = np.where(self.mixed, -widest, low), np.where(self.mixed, widest, high)
        none = low > high
        return np.where(none, 0.0, low), np.where(none, 0.0, high)

    def excess(self, error: np.ndarray) -> np.ndarray:
        """How far distances ``(…, C)`` are beyond the tolerance, with their signs."""
        beyond = np.abs(error) - self.tolerance - ROUNDING
        return np.asarray(np.sign(error) * np.maximum(beyond, 0.0))

    def total(self, values: np.ndarray) -> np.ndarray:
        """``(…, G)`` sums of values ``(…, C)`` over the constraints of each pair of groups."""
        flat = values.reshape(-1, values.shape[-1])
        found = [np.bincount(self.owner, row, self.size) for row in flat]
        return np.stack(found).reshape(*values.shape[:-1], self.size)

    def distance(self, tilt: np.ndarray) -> np.ndarray:
        """``(G,)`` root of the sum of squares beyond the tolerance, at tilts ``(G,)``."""
        return np.asarray(np.sqrt(self.total(self.excess(self.at(tilt)[0]) ** 2)))

    def largest(self, values: np.ndarray) -> np.ndarray:
        """``(G,)`` largest of values ``(C,)`` over the constraints of each pair of groups."""
        found = np.full(self.size, -np.inf)
        np.maximum.at(found, self.owner, values)
        return np.where(np.isfinite(found), found, 0.0)


@dataclass(frozen=True, eq=False)
class Interval:
    """Where the best tilts are.

    Attributes:
        low: ``(G,)`` lower end of the interval with the best tilt.
        high: ``(G,)`` upper end.
        distance: ``(G,)`` root of the least sum of squares; 0 where all targets are met.
        sign: ``(C,)`` sign of each mean's distance at the end of the interval nearer 0.
    """

    low: np.ndarray
    high: np.ndarray
    distance: np.ndarray
    sign: np.ndarray


def search(means: SharedTilts, low: np.ndarray, high: np.ndarray) -> Interval:
    """Find the interval of the best tilt nearest 0, from cubics between the points of a grid."""
    count = 2 * int(np.ceil((high - low).max() / STEP / 2))  # even, so that 0 is a point
    step = (high - low) / count
    at = low
    last = means.at(at)
    best = _Best(means)
    best.offer_first(np.clip(0.0, low, high))
    for number in range(1, count + 1):
        here = means.at(low + number * step)
        error = _cubic(last, here, step[means.owner])
        points = at + step * np.linspace(0, 1, POINTS + 1)[:, None]
        best.offer_crossings(error, points)
        for each, point in zip(error, points, strict=True):
            best.offer(each, point, step / POINTS)
        at, last = low + number * step, here
    return best.found(low, high)


def _cubic(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], step: np.ndarray
) -> np.ndarray:
    """``(POINTS + 1, C)`` values between two points, from their values and derivatives."""
    s = np.linspace(0, 1, POINTS + 1)[:, None]
    start = (1 + 2 * s) * (1 - s) ** 2 * first[0] + s * (1 - s) ** 2 * step * first[1]
    return np.asarray(start + s * s * (3 - 2 * s) * second[0] + s * s * (s - 1) * step * second[1])


class _Best:
    """The least total of squared distances so far, nearest 0, and the interval around it."""

    def __init__(self, means: SharedTilts) -> None:
        self.means = means
        self.loss = np.full(means.size, np.inf)
        self.low, self.high, self.near = np.zeros((3, means.size))
        self.alone = np.bincount(means.owner, minlength=means.size) == 1

    def offer_first(self, tilt: np.ndarray) -> None:
        """Take ``tilt (G,)``, than which none is nearer 0, where it meets all targets."""
        loss = self.means.total(self.means.excess(self.means.at(tilt)[0]) ** 2)
        self._take(np.where(loss == 0, 0.0, np.inf), tilt, tilt, tilt)

    def offer(self, error: np.ndarray, tilt: np.ndarray, width: np.ndarray) -> None:
        """Take ``tilt (G,)`` where it is better."""
        loss = self.means.total(self.means.excess(error) ** 2)
        inward = tilt - np.sign(tilt) * np.minimum(width, np.abs(tilt))
        met = loss == 0
        low = np.where(met, np.minimum(inward, tilt), tilt - 2 * width)
        self._take(loss, tilt, low, np.where(met, np.maximum(inward, tilt), tilt + 2 * width))

    def offer_crossings(self, error: np.ndarray, tilt: np.ndarray) -> None:
        """Take intervals between tilts ``(N, G)`` in which a pair of groups' only mean is met."""
        sign = self.means.total(np.sign(error))
        for number in np.flatnonzero((sign[1:] * sign[:-1] < 0).any(axis=1)).tolist():
            low, high = tilt[number], tilt[number + 1]
            near = np.where(np.abs(low) < np.abs(high), low, high)
            loss = np.where(self.alone & (sign[number] * sign[number + 1] < 0), 0.0, np.inf)
            self._take(loss, near, low, high)

    def _take(self, loss: np.ndarray, tilt: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        nearer = np.abs(tilt) < np.abs(self.near)
        better = (loss < self.loss) | ((loss == self.loss) & nearer)
        self.loss = np.where(better, loss, self.loss)
        self.near = np.where(better, tilt, self.near)
        self.low, self.high = np.where(better, low, self.low), np.where(better, high, self.high)

    def found(self, low: np.ndarray, high: np.ndarray) -> Interval:
        """The intervals, within ``low (G,)`` and ``high (G,)``."""
        low, high = np.maximum(low, self.low), np.minimum(high, self.high)
        outer = np.where(np.abs(low) < np.abs(high), low, high)
        return Interval(low, high, np.sqrt(self.loss), np.sign(self.means.at(outer)[0]))


def refine(
    means: SharedTilts, found: Interval, low: np.ndarray, guess: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """``(G,)`` where the targets are first met, or where the distance from them is least.

    There half the derivative of the sum of squares is 0.
    """

    def value(tilt: np.ndarray) -> np.ndarray:
        error, slope = means.at(tilt)
        outside = means.largest(found.sign * error - means.tolerance)
        return np.where(found.distance == 0, outside, means.total(means.excess(error) * slope))

    return _roots(value, low, guess, high)


def _roots(
    value: Callable[[np.ndarray], np.ndarray],
    low: np.ndarray,
    guess: np.ndarray,
    high: np.ndarray,
) -> np.ndarray:
    """``(G,)`` roots in intervals; where there is none, the better end.

    By the Illinois method; by halves what that has not found in :data:`SECANTS` steps.
    """
    left, right = value(low), value(high)
    better = np.abs(left) <= np.abs(right)
    best, least = np.where(better, low, high), np.where(better, left, right)
    tilt, kept = guess, np.zeros(len(low))
    for number in range(MAX_STEPS):
        here = value(tilt)
        better = np.abs(here) < np.abs(least)
        best, least = np.where(better, tilt, best), np.where(better, here, least)
        up = here * left > 0  # the root is above
        left, right = (
            np.where(up, here, np.where(kept > 0, left / 2, left)),
            np.where(up, np.where(kept < 0, right / 2, right), here),
        )
        low, high = np.where(up, tilt, low), np.where(up, high, tilt)
        kept = np.where(up, -1.0, 1.0)  # which end stayed: the upper, or the lower
        wide = high - low > ROUNDING * np.maximum(1.0, np.abs(tilt))
        if not ((left * right < 0) & wide & (np.abs(least) > TINY)).any():
            return best
        with np.errstate(invalid="ignore", divide="ignore"):
            secant = (low * right - high * left) / (right - left)
        inside = (secant > low) & (secant < high) & (number < SECANTS)
        tilt = np.where(inside, secant, low + (high - low) / 2)
    raise NotConverged(
        f"a tilt shared by several cells is known to {(high - low).max():.1e} only after "
        f"{MAX_STEPS} steps",
        caller="i_project",
    )
