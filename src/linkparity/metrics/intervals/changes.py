"""Intervals of changes: of a difference of AUCs, of the largest gap, of the largest AUC.

Two measurements of the same pairs share their nodes, so a change is known better than its two ends.
"""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from linkparity.metrics.intervals.covariance import EQUAL, Spread
from linkparity.metrics.intervals.estimates import critical, difference_errors, normal_draws

Ends = tuple[float, float]


def difference_interval(change: float, spread: Spread, confidence: float) -> Ends:
    """Interval of one difference, whose spread has one entry: change ± t s."""
    half = float(critical((1 - confidence) / 2, spread.freedom)[0] * np.sqrt(spread.variance[0]))
    return max(change - half, -1.0), min(change + half, 1.0)


def gap_change_interval(
    now: np.ndarray, was: np.ndarray, spread: Spread, confidence: float, seed: int = 0
) -> Ends:
    r"""Interval of the change of the largest gap between M means.

    With :math:`d_{cc'}` the difference of two means now, :math:`d^0_{cc'}` before and
    :math:`\delta = d - d^0`, the change of the largest is at most δ at the pair of cells with the
    largest difference now, and at least δ at the one with the largest before. Each may be
    any whose interval reaches the largest lower end:

    .. math:: [\min_{cc' \in C^0} (\delta_{cc'} - t s_{cc'}),\
               \max_{cc' \in C} (\delta_{cc'} + t s_{cc'})],
              \quad C = \{cc': d_{cc'} + t s \ge \max (d - t s)\}

    The intervals of all d, d⁰ and δ hold simultaneously.

    Args:
        now: ``(M,)`` means now.
        was: ``(M,)`` means before.
        spread: of the 2 M means, those now first.
        confidence: confidence level.
        seed: random seed of the draws.
    """
    size = len(now)
    first, second = spread.of(np.arange(size)), spread.of(np.arange(size, 2 * size))
    families = [difference_errors(first), difference_errors(second), _change_errors(spread, size)]
    tail = _simultaneous_tail(spread, [error for error, _ in families], confidence, seed)
    halves = [
        np.where(error > 0, critical(tail, freedom), 0.0) * error for error, freedom in families
    ]
    apart, before = np.subtract.outer(now, now), np.subtract.outer(was, was)
    change = apart - before
    high = (change + halves[2])[_may_be_largest(apart, halves[0])].max()
    low = (change - halves[2])[_may_be_largest(before, halves[1])].min()
    return max(float(low), -1.0), min(float(high), 1.0)


def largest_change_interval(
    now: np.ndarray,
    was: np.ndarray,
    spreads: Sequence[Spread],
    confidence: float,
) -> Ends:
    """The same for the largest of C AUCs, by Bonferroni.

    Args:
        now: ``(C,)`` AUCs now.
        was: ``(C,)`` AUCs before.
        spreads: three, of the AUCs now, before, and of their changes.
        confidence: confidence level.
    """
    tail = (1 - confidence) / (2 * 3 * len(now))
    halves = [critical(tail, each.freedom) * np.sqrt(each.variance) for each in spreads]
    change = now - was
    high = (change + halves[2])[_may_be_largest(now, halves[0])].max()
    low = (change - halves[2])[_may_be_largest(was, halves[1])].min()
    return max(float(low), -1.0), min(float(high), 1.0)


def _may_be_largest(value: np.ndarray, half: np.ndarray) -> np.ndarray:
    found: np.ndarray = value + half >= (value - half).max()
    return found


def _change_errors(spread: Spread, size: int) -> tuple[np.ndarray, np.ndarray]:
    """``(M, M)`` standard errors of changes of differences, and their degrees of freedom."""
    assert spread.covariance is not None
    covariance = spread.covariance
    across = covariance[:size, size:]
    change = covariance[:size, :size] + covariance[size:, size:] - across - across.T
    each = np.diagonal(change)
    square = np.add.outer(each, each) - 2 * change
    total = spread.variance.reshape(2, size).sum(axis=0)
    error = np.sqrt(np.where(square > EQUAL * np.add.outer(total, total), square, 0.0))
    fourth = (spread.variance**2 / spread.freedom).reshape(2, size).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return error, np.add.outer(total, total) ** 2 / np.add.outer(fourth, fourth)


def _simultaneous_tail(
    spread: Spread, errors: list[np.ndarray], confidence: float, seed: int
) -> float:
    """The tail probability at which all differences and changes hold with ``confidence``."""
    assert spread.covariance is not None
    off = normal_draws(spread.covariance, seed)
    size = off.shape[1] // 2
    largest = np.zeros(len(off))
    for c in range(size - 1):
        now = np.abs(off[:, c + 1 : size] - off[:, c, None])
        was = np.abs(off[:, size + c + 1 :] - off[:, size + c, None])
        change = (off[:, c + 1 : size] - off[:, c, None]) - (
            off[:, size + c + 1 :] - off[:, size + c, None]
        )
        for apart, error in zip((now, was, np.abs(change)), errors, strict=True):
            s = error[c, c + 1 :]
            ratio = np.divide(apart, s, out=np.zeros_like(apart), where=s > 0)
            largest = np.maximum(largest, ratio.max(axis=1))
    return NormalDist().cdf(-float(np.quantile(largest, confidence)))
