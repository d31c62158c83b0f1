"""Intervals of changes: of a difference of AUCs, of the largest gap, of the largest AUC.

Two measurements of the same pairs share their nodes, so a change is known better than its two ends.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from linkparity.metrics.intervals.covariance import EQUAL, Spread, of_differences
from linkparity.metrics.intervals.estimates import (
    critical,
    difference_errors,
    normal_draws,
    tail_probability,
)

Ends = tuple[float, float]


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

    where C are the pairs of cells that may have the largest difference, those whose
    :math:`d + t s` reaches the largest :math:`d - t s`. The intervals of all d, d⁰, δ and σ hold
    simultaneously. The change is also between the differences of the ends of the two gaps.

    Args:
        now: ``(M,)`` means now.
        was: ``(M,)`` means before.
        spread: of the 2 M means, those now first.
        confidence: confidence level.
        seed: random seed of the draws.
    """
    size = len(now)
    families = _families(spread, size)
    drawn = [error for error, _ in _families(replace(spread, alone=None), size)]
    tail = _simultaneous_tail(spread, drawn, confidence, seed)
    half, half0, less, more = (
        np.where(error > 0, critical(tail, freedom), 0.0) * error for error, freedom in families
    )
    apart, before = np.subtract.outer(now, now), np.subtract.outer(was, was)
    change, total = apart - before, apart + before
    tops = np.minimum(change + less, total + more)[_may_be_largest(apart, half)]
    bottoms = np.maximum(change - less, -total - more)[_may_be_largest(before, half0)]
    ends = float(bottoms.min()), float(tops.max())
    return _within(ends, _largest(apart, half), _largest(before, half0))


def largest_change_interval(
    now: np.ndarray, was: np.ndarray, spreads: Sequence[Spread], confidence: float
) -> Ends:
    """The same for the largest of C AUCs, by Bonferroni.

    Args:
        now: ``(C,)`` AUCs now.
        was: ``(C,)`` AUCs before.
        spreads: three, of the AUCs now, before, and of their changes.
        confidence: confidence level.
    """
    tail = (1 - confidence) / (2 * 3 * len(now))
    half, half0, less = (critical(tail, each.freedom) * np.sqrt(each.variance) for each in spreads)
    change = now - was
    high = (change + less)[_may_be_largest(now, half)].max()
    low = (change - less)[_may_be_largest(was, half0)].min()
    first, second = _largest(now, half), _largest(was, half0)
    least = 0.5  # of the AUCs of every cell against the rest, the largest is at least that
    first, second = (max(first[0], least), first[1]), (max(second[0], least), second[1])
    return _within((float(low), float(high)), first, second)


def _may_be_largest(value: np.ndarray, half: np.ndarray) -> np.ndarray:
    found: np.ndarray = value + half >= (value - half).max()
    return found


def _largest(value: np.ndarray, half: np.ndarray) -> Ends:
    """The interval of the largest of some values."""
    return max(float((value - half).max()), 0.0), min(float((value + half).max()), 1.0)


def _within(ends: Ends, now: Ends, was: Ends) -> Ends:
    """The ends of a change, no wider than the differences of the ends of its two values."""
    return max(ends[0], now[0] - was[1]), min(ends[1], now[1] - was[0])


def _families(spread: Spread, size: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Standard errors of all d, d⁰, δ and σ, and their degrees of freedom."""
    parts = [spread.of(np.arange(size)), spread.of(np.arange(size, 2 * size))]
    return [*map(difference_errors, parts), *(_joint_errors(spread, size, s) for s in (-1, 1))]


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


def _simultaneous_tail(
    spread: Spread, errors: Sequence[np.ndarray], confidence: float, seed: int
) -> float:
    """The tail probability at which d, d⁰, δ and σ of all pairs hold with ``confidence``."""
    assert spread.covariance is not None
    off = normal_draws(spread.covariance, seed)
    size = off.shape[1] // 2
    largest = np.zeros(len(off))
    for c in range(size - 1):
        now = off[:, c + 1 : size] - off[:, c, None]
        was = off[:, size + c + 1 :] - off[:, size + c, None]
        for apart, error in zip((now, was, now - was, now + was), errors, strict=True):
            s = error[c, c + 1 :]
            ratio = np.divide(np.abs(apart), s, out=np.zeros_like(apart), where=s > 0)
            largest = np.maximum(largest, ratio.max(axis=1))
    return tail_probability(largest, confidence, len(errors) * size * (size - 1))
