"""The area under the ROC curve and its variance, from counts per distinct score."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np


def levels(scores: np.ndarray) -> np.ndarray:
    """``(P,)`` the rank of each score among the distinct ones; ties share a rank."""
    return np.unique(scores, return_inverse=True)[1]


def delong(level: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> tuple[float, float]:
    r"""AUC and its variance when pair k counts ``positive[k]`` and ``negative[k]`` times.

    .. math:: A = P(x^+ > x^-) + \tfrac12 P(x^+ = x^-), \qquad
       \mathrm{var} = \frac{S_{10}}{m} + \frac{S_{01}}{n} + \frac{2 S_{11}}{m n}

    ``level`` orders the pairs and gives ties the same number. The variance is that of DeLong et
    al. (1988), in one pass over the levels; where a pair counts on both sides or twice, it is that
    of Obuchowski (1997) with the pair as the cluster, which is equal otherwise. 0.5 is
    chance. Without positives or negatives both are ``nan``; with a single one of
    either the variance alone is.

    >>> delong(np.array([0, 1, 2, 3]), np.array([0, 1, 0, 1]), np.array([1, 0, 1, 0]))
    (0.75, 0.125)
    """
    size = int(level.max()) + 1 if len(level) else 0
    above, below = np.bincount(level, positive, size), np.bincount(level, negative, size)
    m, n = above.sum(), below.sum()
    if m == 0 or n == 0:
        return float("nan"), float("nan")
    beats = (np.cumsum(below) - below / 2) / n
    beaten = 1 - (np.cumsum(above) - above / 2) / m
    area = float(above @ beats / m)
    x, y = positive * (beats - area)[level], negative * (beaten - area)[level]
    clusters = (np.count_nonzero(positive), np.count_nonzero(negative), len(level))
    return area, _variance((x @ x, y @ y, x @ y), clusters, m, n)


def against_rest(
    level: np.ndarray, times: np.ndarray, cells: Iterable[tuple[np.ndarray, np.ndarray]]
) -> Iterator[tuple[float, float]]:
    """AUC and variance of each cell against the rest; pair k counts ``times[k]`` times in all.

    ``cells`` are the rows of a cell's pairs and how often each counts in it. Sums over all pairs
    are computed once and then updated by the cell's own pairs, so that the cost of a cell is
    proportional to its pairs.
    """
    total = np.bincount(level, times)
    half = np.cumsum(total) - total / 2
    squares = np.append(0, np.cumsum(np.bincount(level, times**2)))
    for rows, inside in cells:
        at, where = np.unique(level[rows], return_inverse=True)
        here = np.bincount(where, inside)
        done = np.cumsum(here)
        m, n = done[-1], total.sum() - done[-1]
        if n == 0:
            yield float("nan"), float("nan")
            continue
        beats = (half[at] - done + here / 2) / n
        area = float(here @ beats / m)
        x = inside * (beats - area)[where]
        rest = times[rows] - inside
        on, between = 1 - (done - here / 2) / m - area, 1 - np.append(0, done) / m - area
        rest_on = np.diff(squares)[at] + np.bincount(where, rest**2 - times[rows] ** 2)
        rest_between = np.append(squares[at], squares[-1]) - np.append(0, squares[at + 1])
        sums = (x @ x, rest_on @ on**2 + rest_between @ between**2, (x * rest) @ on[where])
        clusters = (len(rows), len(level) - np.count_nonzero(rest == 0), len(level))
        yield area, _variance(sums, clusters, m, n)


def _variance(
    sums: Sequence[float], clusters: Sequence[float | np.integer[Any]], m: float, n: float
) -> float:
    count = np.array(clusters)
    if count.min() < 2:
        return float("nan")
    s10, s01, s11 = np.array(sums) * count / (count - 1)
    return max(float(s10 / m**2 + s01 / n**2 + 2 * s11 / (m * n)), 0.0)


def largest_interval(
    area: np.ndarray, variance: np.ndarray, confidence: float, least: float = 0.0
) -> tuple[float, float]:
    r"""Interval for the largest of several AUCs.

    .. math:: [\max_c (A_c - z s_c),\ \max_c (A_c + z s_c)], \quad
       z = \Phi^{-1}\!\big(1 - \tfrac{\alpha}{2 M}\big)

    All M intervals hold at once with the given confidence (Bonferroni), so the largest of their
    lower and upper ends hold the largest AUC. With M = 1 it is the plain interval. The largest of
    the AUCs of every cell against the rest is at least 0.5, which is then ``least``.
    """
    z = float(NormalDist().inv_cdf(1 - (1 - confidence) / (2 * len(area))))
    half = z * np.sqrt(variance)
    return max(float((area - half).max()), least), min(float((area + half).max()), 1.0)
