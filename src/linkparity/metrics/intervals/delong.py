"""The area under the ROC curve and its variance, from counts per distinct score."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from linkparity.metrics.intervals.clusters import PairClusters
from linkparity.metrics.intervals.covariance import Spread


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
    m, n = positive.sum(), negative.sum()
    if m == 0 or n == 0:
        return float("nan"), float("nan")
    beats, beaten = placements(level, positive, negative)
    area = float(positive @ beats[level] / m)
    x, y = positive * (beats - area)[level], negative * (beaten - area)[level]
    clusters = (np.count_nonzero(positive), np.count_nonzero(negative), len(level))
    return area, _variance((x @ x, y @ y, x @ y), clusters, m, n)


def placements(
    level: np.ndarray, positive: np.ndarray, negative: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of each level ``(L,)``: negatives that a positive beats, positives that beat a negative.

    Both are fractions of all negatives and of all positives; ties count half.
    """
    above, below = np.bincount(level, positive), np.bincount(level, negative)
    beats = (np.cumsum(below) - below / 2) / below.sum()
    return beats, 1 - (np.cumsum(above) - above / 2) / above.sum()


def clustered(
    clusters: PairClusters, level: np.ndarray, positive: np.ndarray, negative: np.ndarray
) -> tuple[float, Spread]:
    r"""AUC when pairs share nodes: the sum of two mean placements less a constant.

    Its residuals are (placement − A) / m for positives and (placement − A) / n for negatives, so
    its variance is that of the sum of the means of two cells.
    """
    beats, beaten = placements(level, positive, negative)
    weight = np.array([positive, negative], dtype=np.float64).T
    placement = np.array([beats[level], beaten[level]]).T
    area = float(weight[:, 0] @ placement[:, 0] / weight[:, 0].sum())
    return area, clusters.sum_covariance(placement, weight, np.full(2, area)).result().of_sum()


def clustered_against_rest(
    clusters: PairClusters,
    level: np.ndarray,
    times: np.ndarray,
    cells: Iterable[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, Spread]:
    """The AUCs ``(M,)`` of :func:`against_rest` when pairs share nodes."""
    areas, spreads = [], []
    for rows, inside in cells:
        positive = np.zeros(len(level))
        positive[rows] = inside
        area, spread = clustered(clusters, level, positive, times - positive)
        areas.append(area)
        spreads.append(spread)
    return np.array(areas), Spread.joined(spreads)


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
