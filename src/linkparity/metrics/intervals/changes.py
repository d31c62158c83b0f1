"""Intervals of changes: of a difference of AUCs, of the largest gap, of the largest AUC.

Two measurements of the same pairs share their nodes, so a change is known better than its two ends.
"""

from collections.abc import Sequence

import numpy as np

from linkparity.metrics.intervals.covariance import EQUAL, Spread, of_differences
from linkparity.metrics.intervals.estimates import critical, difference_halves

Ends = tuple[float, float]
#: Share of the error that is left to choosing the cells that may have the largest value.
CHOICE = 0.1


def difference_interval(change: float, spread: Spread, confidence: float) -> Ends:
    """Interval of one difference, whose spread has one entry: change ± t s."""
    half = float(critical((1 - confidence) / 2, spread.freedom)[0] * np.sqrt(spread.variance[0]))
    return max(change - half, -1.0), min(change + half, 1.0)


def gap_change_interval(
    now: np.ndarray, was: np.ndarray, spread: Spread, confidence: float, seed: int = 0
) -> Ends:
    r"""Interval of the change of the largest gap between M means.

    With :math:`d_{cc'}` the difference of two means now and :math:`d^0_{cc'}` before, the change is
    at most :math:`d - |d^0|` at the pair of cells with the largest difference now, and at least
    :math:`|d| - d^0` at the one with the largest before:

    .. math:: [\min_{cc' \in C^0} \max(\delta, -\sigma)_{cc'} - t s,\
               \max_{cc' \in C} \min(\delta, \sigma)_{cc'} + t s], \quad
              \delta = d - d^0, \quad \sigma = d + d^0

    where C are the pairs of cells that may have the largest difference: the first may have the
    highest mean, since no interval of d says that it is below another, the second the lowest. The
    intervals of all d and of all d⁰ hold simultaneously, with a tenth of the error. Only one pair
    of cells has the largest difference, so t is the quantile of a single difference, with the rest
    of the error. The change is also between the differences of the ends of the two gaps.

    Args:
        now: ``(M,)`` means now.
        was: ``(M,)`` means before.
        spread: of the 2 M means, those now first.
        confidence: confidence level.
        seed: random seed of the draws.
    """
    size = len(now)
    chosen, tail = _shared_error(confidence)
    parts = [spread.of(np.arange(size)), spread.of(np.arange(size, 2 * size))]
    half, half0 = (difference_halves(part, 1 - chosen / 2, seed) for part in parts)
    less, more = (
        np.where(error > 0, critical(tail, freedom), 0.0) * error
        for error, freedom in (_joint_errors(spread, size, sign) for sign in (-1, 1))
    )
    apart, before = np.subtract.outer(now, now), np.subtract.outer(was, was)
    change, total = apart - before, apart + before
    tops = np.minimum(change + less, total + more)[_may_be_apart(apart, half)]
    bottoms = np.maximum(change - less, -total - more)[_may_be_apart(before, half0)]
    ends = float(bottoms.min()), float(tops.max())
    return _within(ends, _largest(apart, half), _largest(before, half0))


def largest_change_interval(
    now: np.ndarray, was: np.ndarray, spreads: Sequence[Spread], confidence: float
) -> Ends:
    """The same for the largest of C AUCs, which are chosen by Bonferroni.

    Args:
        now: ``(C,)`` AUCs now.
        was: ``(C,)`` AUCs before.
        spreads: three, of the AUCs now, before, and of their changes.
        confidence: confidence level.
    """
    chosen, tail = _shared_error(confidence)
    tails = (chosen / (4 * len(now)), chosen / (4 * len(now)), tail)
    half, half0, less = (
        critical(part, each.freedom) * np.sqrt(each.variance)
        for part, each in zip(tails, spreads, strict=True)
    )
    change = now - was
    high = (change + less)[_may_be_largest(now, half)].max()
    low = (change - less)[_may_be_largest(was, half0)].min()
    first, second = _largest(now, half), _largest(was, half0)
    least = 0.5  # of the AUCs of every cell against the rest, the largest is at least that
    first, second = (max(first[0], least), first[1]), (max(second[0], least), second[1])
    return _within((float(low), float(high)), first, second)


def _shared_error(confidence: float) -> tuple[float, float]:
    """The error left to choosing cells, and the tail left to either end of the change."""
    error = 1 - confidence
    return CHOICE * error, (1 - CHOICE) * error / 2


def _may_be_apart(apart: np.ndarray, half: np.ndarray) -> np.ndarray:
    """``(M, M)`` whether two cells may have the highest and the lowest mean."""
    highest, lowest = (apart >= -half).all(axis=1), (apart <= half).all(axis=1)
    found: np.ndarray = np.logical_and.outer(highest, lowest) & ~np.eye(len(half), dtype=bool)
    return found


def _may_be_largest(value: np.ndarray, half: np.ndarray) -> np.ndarray:
    found: np.ndarray = value + half >= (value - half).max()
    return found


def _largest(value: np.ndarray, half: np.ndarray) -> Ends:
    """The interval of the largest of some values."""
    return max(float((value - half).max()), 0.0), min(float((value + half).max()), 1.0)


def _within(ends: Ends, now: Ends, was: Ends) -> Ends:
    """The ends of a change, no wider than the differences of the ends of its two values."""
    return max(ends[0], now[0] - was[1]), min(ends[1], now[1] - was[0])


def _joint_errors(spread: Spread, size: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
    """``(M, M)`` standard errors of d + sign · d⁰, and their degrees of freedom."""
    assert spread.covariance is not None

    def joint(matrix: np.ndarray) -> np.ndarray:
        across = matrix[:size, size:]
        each = matrix[:size, :size] + matrix[size:, size:]
        found: np.ndarray = each + sign * (across + across.T)
        return found

    alone = None if spread.alone is None else joint(spread.alone)
    square = of_differences(joint(spread.covariance), alone)
    total = spread.variance.reshape(2, size).sum(axis=0)
    error = np.sqrt(np.where(square > EQUAL * np.add.outer(total, total), square, 0.0))
    fourth = (spread.variance**2 / spread.freedom).reshape(2, size).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return error, np.add.outer(total, total) ** 2 / np.add.outer(fourth, fourth)
