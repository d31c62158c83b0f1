"""Equal opportunity in validation, made steadier by plain models of other splits of the links.

A pair of groups may have a few hundred validation links, so that which links these are moves its
mean, and that of every setting alike. Plain models of several splits tell by how much.
"""

import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkparity.graph import Graph, Split, SplitWarning, split_links
from linkparity.metrics.cell_means import gap
from linkparity.metrics.scored_pairs import ScoredPairs

#: Number of seeds there are.
SEEDS = 2**32
#: Variance within a pair of groups that is none but for rounding.
ROUNDING = 1e-20
#: Degrees of freedom that the slope must have; with fewer, nothing is corrected.
MIN_FREEDOM = 30


def validation_splits(graph: Graph, share: float, count: int, seed: int) -> tuple[Split, ...]:
    """Divide the links anew, ``count`` times; only the first split may warn."""
    seeds = [(seed + k) % SEEDS for k in range(count)]
    splits = [split_links(graph, test=share, seed=seeds[0])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SplitWarning)
        splits += [split_links(graph, test=share, seed=each) for each in seeds[1:]]
    return tuple(splits)


@dataclass(frozen=True, eq=False)
class SteadyEo:
    r"""The gap between link means that are corrected for the draw of the validation links.

    .. math:: \bar h_c + b\,(\bar p_c^{\,*} - \bar p_c), \qquad
              b = \frac{\sum_c \sum_{k \in c} (h_k - \bar h_c)(p_k - \bar p_c)}
                       {\sum_c \sum_{k \in c} (p_k - \bar p_c)^2}

    with h the setting's and p the plain model's predictions for the validation links of the pair of
    groups c, and :math:`\bar p_c^{\,*}` the mean of plain models over the validation links of all
    splits, each by the model that has not seen them: a control variate. Means stay between 0 and 1.

    Attributes:
        plain: the plain model on the pairs of the first split.
        mean: :math:`\bar p_c^{\,*}` by the groups of c.
        links: number of links behind each of them.
    """

    plain: ScoredPairs
    mean: dict[tuple[str, ...], float]
    links: dict[tuple[str, ...], float]

    @classmethod
    def of(cls, scored: Sequence[ScoredPairs]) -> "SteadyEo":
        """From a plain model's scores of the validation pairs of each split, the first first."""
        links: dict[tuple[str, ...], float] = defaultdict(float)
        mass: dict[tuple[str, ...], float] = defaultdict(float)
        for each in scored:
            means = each.means
            for groups, count, mean in zip(means.groups, means.links, means.link_mean, strict=True):
                if count:
                    links[groups] += count
                    mass[groups] += count * mean
        return cls(scored[0], {groups: mass[groups] / links[groups] for groups in links}, links)

    def link_means(self, scored: ScoredPairs) -> tuple[np.ndarray, np.ndarray]:
        """``(M,)`` corrected means of a setting, scored on the first split, and their variances."""
        own, plain = scored.means.link_mean, self.plain.means.link_mean
        kinds, rows = scored.source.kinds, scored.rows
        counts = np.flatnonzero(((kinds.label == 1) & (kinds.pair >= 0))[rows.kind])
        cell, cells = kinds.pair[rows.kind[counts]], len(own)
        change = rows.prob[counts] - own[cell]
        known = self.plain.rows.prob[counts] - plain[cell]
        spread, freedom = float(known @ known), len(counts) - len(np.unique(cell))
        number = np.bincount(cell, minlength=cells)
        if freedom < MIN_FREEDOM or spread <= ROUNDING * len(counts):
            return own, _variance(change, cell, number) / number.clip(1)
        slope = float(change @ known) / spread
        over_splits = np.array([self.mean.get(groups, np.nan) for groups in scored.means.groups])
        variance = _variance(change - slope * known, cell, number) / number.clip(1)
        links = np.array([self.links.get(groups, 0.0) for groups in scored.means.groups])
        variance += slope**2 * _variance(known, cell, number) / links.clip(1)
        return (own + slope * (over_splits - plain)).clip(0.0, 1.0), variance

    def gap(self, scored: ScoredPairs) -> tuple[float, float]:
        """The largest difference between two corrected means, and its standard error."""
        small = scored.means.small(scored.min_pairs, links=True)
        means, variance = self.link_means(scored)
        means = np.where(small, np.nan, means)
        found = gap(means)
        if np.isnan(found):
            return found, np.nan
        ends = [np.nanargmin(means), np.nanargmax(means)]
        return found, float(np.sqrt(variance[ends].sum()))


def _variance(centred: np.ndarray, cell: np.ndarray, number: np.ndarray) -> np.ndarray:
    """``(M,)`` variance of values, less their mean, within each pair of groups.

    A single value has none of its own: that of all pairs of groups stands for it, and infinity
    where no pair of groups has two values.
    """
    squares = np.bincount(cell, centred**2, minlength=len(number))
    freedom = (number - 1).clip(0).sum()
    pooled = squares.sum() / freedom if freedom else np.inf
    return np.where(number > 1, squares / (number - 1).clip(1), pooled)
