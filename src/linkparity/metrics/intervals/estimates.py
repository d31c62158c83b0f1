"""Estimates: a value with its interval, of one or of the largest of several, or with a reason."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from linkparity.metrics.cell_means import check_min_pairs, gap
from linkparity.metrics.intervals.covariance import Spread, of_differences
from linkparity.support.arrays import check_seed, expit, logit
from linkparity.support.display import shortened
from linkparity.support.errors import InputError
from linkparity.support.registry import Registry

NAN = float("nan")

#: Draws from the normal distribution that find out how far the largest of many differences goes.
DRAWS = 2000
#: Eigenvalues below this fraction of the largest are rounding errors, whose roots are not small.
NOISE = 1e-12
#: Printed with every table of intervals, according to what they are based on.
INDEPENDENCE = (
    "Intervals treat pairs as independent, though pairs share nodes: they are too narrow."
)
SHARED_NODES = (
    "Intervals allow for pairs that share nodes. They are about other nodes of the same kind: "
    "over all pairs of these nodes, a gap is exact."
)
INTERVALS = Registry("kind of intervals", {"nodes": SHARED_NODES, "pairs": INDEPENDENCE})
#: With fewer nodes behind an interval, in effect, its coverage is told: the lowest that 95 %
#: intervals had with so many nodes in every group, by `coverage.py --small --runs 1000`.
FEW_NODES = 50
MEASURED_COVERAGE = {4: 0.917, 5: 0.919, 7: 0.924, 10: 0.930, 15: 0.931, 20: 0.938, 30: 0.942}


@dataclass(frozen=True)
class Estimate:
    """The value of one measure, with its interval and the number of pairs behind it.

    Attributes:
        value: ``nan`` where undefined, with the ``reason``.
        count: Number of ``unit`` that the value is computed from.
        interval: ``(low, high)``; ``(nan, nan)`` where undefined, None for a measure without one.
        reason: Why the value or its interval is undefined; empty otherwise.
        note: What to know about a value that is defined.
        nodes: Smallest effective number of nodes behind the interval; None where it is not based
            on nodes.
        cell_intervals: ``(M, 2)`` intervals of the means of the cells that a gap is between.
    """

    value: float
    count: int
    unit: str = "pairs"
    interval: tuple[float, float] | None = None
    reason: str = ""
    note: str = ""
    nodes: float | None = None
    cell_intervals: np.ndarray | None = None


@dataclass(frozen=True)
class IntervalOptions:
    """Which intervals are computed.

    Attributes:
        confidence: confidence level; None for no intervals.
        kind: ``nodes`` allows for pairs that share nodes, ``pairs`` treats pairs as independent.
        seed: random seed of the draws for the largest gap.
        min_pairs: pairs that a cell must have to count in dp, links in eo.
    """

    confidence: float | None = 0.95
    kind: str = "nodes"
    seed: int = 0
    min_pairs: int = 0

    def check(self, caller: str) -> None:
        """Refuse what cannot be computed."""
        if self.confidence is not None and not 0 < self.confidence < 1:
            problem = f"must lie strictly between 0 and 1, got {self.confidence:g}"
            raise InputError(problem, argument="confidence", caller=caller)
        INTERVALS[self.kind]
        check_seed(self.seed, "seed", caller)
        check_min_pairs(self.min_pairs, caller)

    @property
    def by_node(self) -> bool:
        """Whether pairs that share a node covary."""
        return self.kind == "nodes"


def no_interval(confidence: float | None) -> tuple[float, float] | None:
    """The interval of an undefined measure; None where no intervals are asked for."""
    return None if confidence is None else (NAN, NAN)


def gap_estimate(
    mean: np.ndarray,
    spread: Spread | None,
    labels: list[str],
    size: tuple[int, str],
    view: str,
    confidence: float | None,
    seed: int,
    small: np.ndarray | None = None,
) -> Estimate:
    """The gap of ``mean (M,)`` with its interval, or with the reason why either is undefined.

    Args:
        mean: ``nan`` for an empty cell.
        spread: Of the means; needed with ``confidence``.
        labels: Of the cells.
        size: Number of pairs or links in all cells, and which of the two.
        view: Name of the view.
        confidence: Confidence level; None for no interval.
        seed: Random seed of the draws.
        small: ``(M,)`` cells that are left out of the gap.
    """
    ends = None
    if confidence is not None and spread is not None:
        ends = mean_intervals(mean, spread, confidence)
    mean = mean if small is None else np.where(small, np.nan, mean)
    value, (count, unit) = gap(mean), size
    filled = ~np.isnan(mean)
    if np.isnan(value):
        reason = f"needs {unit} in two cells of the view {view!r}, got {int(filled.sum())}"
        return Estimate(value, count, unit, no_interval(confidence), reason)
    if confidence is None or spread is None:
        return Estimate(value, count, unit)
    missing = filled & (
        np.isnan(spread.variance) | (not spread.by_node) & (spread.nodes < 2 - 1e-9)
    )
    names = shortened([labels[c] for c in np.flatnonzero(missing)])
    few = "too few nodes for a variance" if spread.by_node else f"a single pair's worth of {unit}"
    if missing[np.nanargmax(mean)] or missing[np.nanargmin(mean)]:
        reason = f"an end of the gap has {few} ({names})"
        return Estimate(value, count, unit, (NAN, NAN), reason, cell_intervals=ends)
    used = np.flatnonzero(filled & ~missing)
    kept = spread.of(used)
    interval = gap_interval(mean[used], kept, confidence, seed)
    note = f"the interval leaves out {names}: {few}" if names else ""
    return Estimate(value, count, unit, interval, note=note, nodes=kept.least, cell_intervals=ends)


def auc_estimate(area: float, count: int, spread: Spread, confidence: float | None) -> Estimate:
    """``auc`` with its interval, or with the reason why it has none."""
    if confidence is None:
        return Estimate(area, count)
    if not spread.variance[0] > 0:
        reason = "the variance needs two links, two non-links and some nodes"
        if spread.variance[0] == 0:
            reason = "the scores separate or tie all pairs, so that the variance is 0"
        return Estimate(area, count, interval=(NAN, NAN), reason=reason)
    ends = largest_interval(np.array([area]), spread, confidence)
    return Estimate(area, count, interval=ends, nodes=spread.least)


def rdp_estimate(
    area: np.ndarray,
    count: int,
    names: list[str],
    spread: Spread,
    confidence: float | None,
    view: str = "subgroup",
) -> Estimate:
    """``rdp`` from the AUCs of all cells, with its interval or with the reason why it has none."""
    if len(area) < 2:
        reason = f"needs pairs in two cells of the view {view!r}, got {len(area)}"
        return Estimate(NAN, count, interval=no_interval(confidence), reason=reason)
    value = float(area.max())
    if confidence is None:
        return Estimate(value, count)
    known = spread.variance > 0
    if not known[area.argmax()]:
        reason = (
            f"the variance is 0 or unknown for {names[area.argmax()]}, where the AUC is largest"
        )
        return Estimate(value, count, interval=(NAN, NAN), reason=reason)
    spread = spread.of(np.flatnonzero(known))
    ends = largest_interval(area[known], spread, confidence, 0.5)
    left = shortened([name for name, some in zip(names, known, strict=True) if not some])
    note = f"the interval leaves out {left}, without a variance" if left else ""
    return Estimate(value, count, interval=ends, note=note, nodes=spread.least)


def critical(tail: float, freedom: np.ndarray) -> np.ndarray:
    """``(M,)`` the values that Student's t exceeds with probability ``tail``.

    >>> critical(0.025, np.array([10.0, np.inf])).round(3).tolist()
    [2.228, 1.96]
    """
    from scipy.special import stdtrit

    with np.errstate(all="ignore"):
        finite = -stdtrit(np.where(freedom < np.inf, freedom, 1.0), tail)
    finite = np.where(np.isnan(finite), np.inf, finite)
    return np.where(freedom < np.inf, finite, -NormalDist().inv_cdf(tail))


def mean_intervals(
    mean: np.ndarray, spread: Spread, confidence: float, together: int = 1
) -> np.ndarray:
    r"""``(M, 2)`` interval of each mean or AUC, on the logit scale so that it stays in [0, 1].

    .. math:: \sigma\Big( \operatorname{logit} \bar h \pm
              t_\nu \frac{s}{\bar h (1 - \bar h)} \Big)

    ``nan`` without a variance. With ``together`` means, all intervals hold simultaneously
    (Bonferroni).
    """
    t = critical((1 - confidence) / (2 * together), spread.freedom)
    error = np.sqrt(spread.variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        half = t * error / (mean * (1 - mean))
        ends = np.stack([expit(logit(mean) - half), expit(logit(mean) + half)], axis=1)
    exact = (error == 0) | (mean == 0) | (mean == 1)  # all scores are equal, but for rounding
    ends[exact] = mean[exact, None]
    return ends


def largest_interval(
    area: np.ndarray, spread: Spread, confidence: float, least: float = 0.0
) -> tuple[float, float]:
    r"""Interval for the largest of several AUCs.

    .. math:: [\max_c \mathrm{low}_c,\ \max_c \mathrm{high}_c]

    The intervals of all M hold simultaneously (Bonferroni), so the largest of their lower and of
    their upper ends hold the largest AUC. They are those of :func:`mean_intervals`, or
    :math:`A_c \pm z s_c` where pairs are independent. The largest of the AUCs of every
    cell against the rest is at least 0.5, which is then ``least``.
    """
    if spread.by_node:
        ends = mean_intervals(area, spread, confidence, len(area))
    else:
        half = critical((1 - confidence) / (2 * len(area)), spread.freedom)
        half = half * np.sqrt(spread.variance)
        ends = np.stack([area - half, area + half], axis=1)
    low, high = ends.max(axis=0)
    return max(float(low), least), min(float(high), 1.0)


def gap_interval(
    mean: np.ndarray, spread: Spread, confidence: float, seed: int = 0
) -> tuple[float, float]:
    r"""Interval for the largest gap between ``mean (M,)``, all of which have a variance.

    .. math:: [\max_{c,c'} (\bar h_c - \bar h_{c'} - t_{cc'} s_{cc'}),\
               \max_{c,c'} (\bar h_c - \bar h_{c'} + t_{cc'} s_{cc'})]

    with s the standard error of a difference and t the quantile of Student's distribution at which
    the intervals of all differences hold simultaneously, and so does that of the largest. Its tail
    is that of the largest :math:`|\Delta_c - \Delta_{c'}| / s_{cc'}` over draws of Δ from the
    normal distribution with the covariance of the means. Quantiles of drawn gaps would not
    do: a gap between noisy means is biased upwards, and at parity they would never include 0. With
    more than 300 cells the intervals of all means are used in place of all differences, which is a
    little wider and linear in the number of cells.
    """
    if spread.covariance is None:
        half = critical((1 - confidence) / (2 * len(mean)), spread.freedom)
        half = half * np.sqrt(spread.variance)
        low = (mean - half).max() - (mean + half).min()
        high = (mean + half).max() - (mean - half).min()
        return max(float(low), 0.0), min(float(high), 1.0)
    half = difference_halves(spread, confidence, seed)
    apart = np.subtract.outer(mean, mean)
    return max(float((apart - half).max()), 0.0), min(float((apart + half).max()), 1.0)


def difference_halves(spread: Spread, confidence: float, seed: int = 0) -> np.ndarray:
    """``(M, M)`` half the lengths of intervals of differences, all of which hold simultaneously."""
    assert spread.covariance is not None
    error, freedom = difference_errors(spread)
    drawn = np.sqrt(of_differences(spread.covariance, None))
    tail = _simultaneous_tail(spread.covariance, drawn, confidence, seed)
    found: np.ndarray = np.where(error > 0, critical(tail, freedom), 0.0) * error
    return found


def difference_errors(spread: Spread) -> tuple[np.ndarray, np.ndarray]:
    r"""``(M, M)`` standard errors of the differences of means, and their degrees of freedom.

    .. math:: \nu_{cc'} = \frac{(s_c^2 + s_{c'}^2)^2}{s_c^4 / \nu_c + s_{c'}^4 / \nu_{c'}}
    """
    assert spread.covariance is not None
    variance = np.add.outer(spread.variance, spread.variance)
    error = np.sqrt(of_differences(spread.covariance, spread.alone))
    fourth = spread.variance**2 / spread.freedom
    with np.errstate(divide="ignore", invalid="ignore"):
        return error, variance**2 / np.add.outer(fourth, fourth)


def _simultaneous_tail(
    covariance: np.ndarray, error: np.ndarray, confidence: float, seed: int
) -> float:
    """The tail probability at which all differences hold with ``confidence``."""
    size = len(error)
    if size <= 2:
        return (1 - confidence) / 2
    off = normal_draws(covariance, seed)
    largest = np.zeros(DRAWS)
    for c in range(size - 1):
        s = error[c, c + 1 :]
        apart = np.abs(off[:, c + 1 :] - off[:, c, None])
        ratio = np.divide(apart, s, out=np.zeros_like(apart), where=s > 0)
        largest = np.maximum(largest, ratio.max(axis=1))
    return tail_probability(largest, confidence, size * (size - 1))


def tail_probability(largest: np.ndarray, confidence: float, tails: int) -> float:
    """The tail that draws of the largest standardised difference leave beyond ``confidence``.

    It is never below that of Bonferroni for so many tails: where a difference has next to no
    variance, rounding makes its draws as large as can be.
    """
    drawn = NormalDist().cdf(-float(np.quantile(largest, confidence)))
    return max(drawn, (1 - confidence) / max(tails, 1))


def normal_draws(covariance: np.ndarray, seed: int) -> np.ndarray:
    """``(2000, M)`` draws from the normal distribution around 0 with this covariance."""
    values, vectors = np.linalg.eigh(covariance)
    values = np.where(values > NOISE * values.max(), values, 0.0)
    root = (vectors * np.sqrt(values)) @ vectors.T
    draws: np.ndarray = np.random.default_rng(seed).standard_normal((DRAWS, len(root))) @ root
    return draws


def few_nodes(found: dict[str, Estimate]) -> list[str]:
    """A sentence about measures whose intervals have few nodes behind them, if there are any."""
    few = {name: e.nodes for name, e in found.items() if e.nodes and e.nodes < FEW_NODES}
    if not few:
        return []
    least = min(few.values())
    behind = f"{', '.join(few)}: an interval has in effect {least:.0f} nodes behind it"
    known = max((n for n in MEASURED_COVERAGE if n <= round(least)), default=None)
    if known is None:
        return [f"{behind}, fewer than its coverage was measured with: read it with care."]
    return [
        f"{behind}. In simulations with {known} nodes per group, intervals of 95 % covered the "
        f"truth {100 * MEASURED_COVERAGE[known]:.0f} % of the time."
    ]
