"""The area under the ROC curve and its variance, from counts per distinct score."""

from statistics import NormalDist

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
    of Obuchowski (1997) with the pair as the cluster, which is the same thing otherwise. 0.5 says
    the order tells nothing. Without positives or negatives both are ``nan``; with a single one of
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
    clusters = np.array([np.count_nonzero(positive), np.count_nonzero(negative), len(level)])
    if clusters.min() < 2:
        return area, float("nan")
    s10, s01, s11 = np.array([x @ x, y @ y, x @ y]) * clusters / (clusters - 1)
    return area, max(float(s10 / m**2 + s01 / n**2 + 2 * s11 / (m * n)), 0.0)


def largest_interval(
    area: np.ndarray, variance: np.ndarray, confidence: float
) -> tuple[float, float]:
    r"""Interval for the largest of several AUCs, wherever that largest lies.

    .. math:: [\max_c (A_c - z s_c),\ \max_c (A_c + z s_c)], \quad
       z = \Phi^{-1}\!\big(1 - \tfrac{\alpha}{2 M}\big)

    All M intervals hold at once with the given confidence (Bonferroni), so the largest of their
    lower and upper ends hold the largest AUC. With M = 1 it is the plain interval.
    """
    z = float(NormalDist().inv_cdf(1 - (1 - confidence) / (2 * len(area))))
    half = z * np.sqrt(variance)
    return max(float((area - half).max()), 0.0), min(float((area + half).max()), 1.0)
