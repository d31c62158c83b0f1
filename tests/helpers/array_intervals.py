"""The intervals of arrays in memory, written another way: all pairs at once, cell by cell.

Sparse sums over the pairs of every node and dyad, placements from one sort per cell.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from linkparity.metrics.intervals.covariance import CellCovariance, Spread

#: Largest number of nodes times group pairs for which their sums are kept in a dense array.
MAX_DENSE = 20_000_000


class RowCovariance(CellCovariance):
    """Covariances from one row of sums per node, and one per dyad."""

    def add_nodes(self, mass: Any, weight: Any) -> None:
        """Sums of w h and of w per node and cell, ``(R, M)``, dense or sparse."""
        self.nodes += self._products(mass, weight)
        self.fourth += np.asarray((weight**2 * weight**2).sum(axis=0)).ravel()

    def add_dyads(self, mass: Any, weight: Any) -> None:
        """The same per dyad."""
        self.dyads += self._products(mass, weight)


@dataclass(frozen=True, eq=False)
class PairClusters:
    """Which of P pairs share a node, and which join the same two nodes.

    Attributes:
        ends: ``(P, 2)`` numbers of the two nodes; the second is −1 for a node paired with itself,
            which counts once.
        dyad: ``(P,)`` number of the two nodes, the direction left aside; −1 where no other pair
            joins them.
    """

    ends: np.ndarray
    dyad: np.ndarray

    @classmethod
    def of(cls, nodes: np.ndarray) -> "PairClusters":
        """The clusters of pairs ``nodes (P, 2)``, ids of any kind that can be sorted."""
        size, number = _numbered(nodes)
        first, second = number.T
        ends = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)
        key = ends[:, 0] * size + ends[:, 1]
        ends[ends[:, 0] == ends[:, 1], 1] = -1
        ordered = np.sort(key)
        if (ordered[1:] != ordered[:-1]).all():
            return cls(ends, np.full(len(key), -1))
        _, dyad, count = np.unique(key, return_inverse=True, return_counts=True)
        return cls(ends, np.where(count[dyad] > 1, dyad, -1))

    def among(self, pairs: np.ndarray) -> "PairClusters":
        """The clusters of some of the pairs."""
        return PairClusters(self.ends[pairs], self.dyad[pairs])

    def cell_covariance(
        self,
        prob: np.ndarray,
        weight: np.ndarray,
        code: np.ndarray,
        member: csr_array,
        mean: np.ndarray,
        total: np.ndarray,
    ) -> CellCovariance:
        """Of the means of M cells, for pairs in the group pairs ``code (P,)``.

        A pair of weight 0 or code −1 does not count; ``member (G, M)`` is that of the view.
        """
        counted = (code >= 0) & (weight > 0)
        used, (both, one, many) = self._parts(counted)
        mass = weight * prob

        def sums(cluster: np.ndarray, pair: np.ndarray, values: np.ndarray) -> csr_array:
            return _grouped(cluster, code[pair], values[pair], member.shape[0]) @ member

        node = np.append(self.ends[used, 0], self.ends[both, 1])
        pair = np.append(used, both)
        found = RowCovariance(mean, total)
        found.add_nodes(sums(node, pair, mass), sums(node, pair, weight))
        found.add_dyads(sums(self.dyad[many], many, mass), sums(self.dyad[many], many, weight))
        add_single_pairs(found, prob[one], weight[one], code[one], member)
        return found

    def sum_covariance(
        self, values: np.ndarray, weight: np.ndarray, mean: np.ndarray
    ) -> CellCovariance:
        """Of the means of few cells, ``values (P, M)`` with ``weight (P, M)``."""
        found = RowCovariance(mean, weight.sum(axis=0))
        mass = values * weight
        found.add_nodes(self._node_sums(mass), self._node_sums(weight))
        _, (_, one, many) = self._parts(np.ones(len(weight), dtype=bool))
        if len(one) == len(weight):
            found.add_dyads(mass, weight)
        else:
            found.add_dyads(mass[one], weight[one])
            found.add_dyads(*(_summed(self.dyad[many], each[many]) for each in (mass, weight)))
        return found

    def _parts(self, counted: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """Pairs that count; those with two nodes: all, alone in their dyad, and the others."""
        two, alone = counted & (self.ends[:, 1] >= 0), self.dyad < 0
        return np.flatnonzero(counted), [
            np.flatnonzero(part) for part in (two, two & alone, two & ~alone)
        ]

    def _node_sums(self, values: np.ndarray) -> np.ndarray:
        """Sums ``(N, M)`` of ``values (P, M)`` over the pairs of each node."""
        size = int(self.ends.max(initial=-1)) + 1
        columns = []
        for column in values.T:
            rows = np.flatnonzero(column)
            first, second = self.ends[rows].T
            sums = np.bincount(first, column[rows], size)
            columns.append(sums + np.bincount(second + 1, column[rows], size + 1)[1:])
        return np.array(columns).T


def _numbered(nodes: np.ndarray) -> tuple[int, np.ndarray]:
    """How many numbers there are, and ``nodes (P, 2)`` as numbers from 0."""
    whole = np.issubdtype(nodes.dtype, np.integer)
    if whole and nodes.size and nodes.min() >= 0 and nodes.max() < nodes.size:
        return int(nodes.max()) + 1, nodes.astype(np.int64)
    ids, number = np.unique(nodes, return_inverse=True)
    return len(ids), number.reshape(-1, 2)


def add_single_pairs(
    found: CellCovariance,
    prob: np.ndarray,
    weight: np.ndarray,
    code: np.ndarray,
    member: csr_array,
) -> None:
    """Add every pair as a dyad of its own."""
    groups = member.shape[0]
    count = np.bincount(code, weight**2, groups)
    mass = np.bincount(code, weight**2 * prob, groups)
    mean = np.divide(mass, count, out=np.zeros(groups), where=count > 0)
    square = np.bincount(code, weight**2 * (prob - mean[code]) ** 2, groups)
    found.add_counted(count, mean, square, member)


def _grouped(cluster: np.ndarray, code: np.ndarray, values: np.ndarray, groups: int) -> csr_array:
    """Sums ``(R, G)`` per cluster and group pair."""
    size = int(cluster.max(initial=-1)) + 1
    if size * groups > MAX_DENSE:
        return csr_array((values, (cluster, code)), shape=(size, groups))
    dense = np.bincount(cluster * groups + code, values, size * groups)
    return csr_array(dense.reshape(size, groups))


def _summed(cluster: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums ``(R, M)`` of ``values (E, M)`` per cluster."""
    size = int(cluster.max(initial=-1)) + 1
    return np.array([np.bincount(cluster, column, size) for column in values.T]).T


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
    columns = (
        np.concatenate([getattr(spread, name) for spread in spreads])
        for name in ("variance", "nodes", "freedom")
    )
    variance, nodes, freedom = columns
    by_node = all(spread.by_node for spread in spreads)
    return np.array(areas), Spread(variance, None, nodes, freedom, by_node)


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
