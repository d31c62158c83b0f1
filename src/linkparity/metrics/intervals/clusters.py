"""Pairs that share nodes, and the sums over them that covariances are made of."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkparity.metrics.intervals.covariance import CellCovariance

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Largest number of nodes times group pairs for which their sums are kept in a dense array.
MAX_DENSE = 20_000_000


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
        member: "csr_array",
        mean: np.ndarray,
        total: np.ndarray,
    ) -> CellCovariance:
        """Of the means of M cells, for pairs in the group pairs ``code (P,)``.

        A pair of weight 0 or code −1 does not count; ``member (G, M)`` is that of the view.
        """
        counted = (code >= 0) & (weight > 0)
        used, (both, one, many) = self._parts(counted)
        mass = weight * prob

        def sums(cluster: np.ndarray, pair: np.ndarray, values: np.ndarray) -> "csr_array":
            return _grouped(cluster, code[pair], values[pair], member.shape[0]) @ member

        node = np.append(self.ends[used, 0], self.ends[both, 1])
        pair = np.append(used, both)
        found = CellCovariance(mean, total)
        found.add_nodes(sums(node, pair, mass), sums(node, pair, weight))
        found.add_dyads(sums(self.dyad[many], many, mass), sums(self.dyad[many], many, weight))
        add_single_pairs(found, prob[one], weight[one], code[one], member)
        return found

    def sum_covariance(
        self, values: np.ndarray, weight: np.ndarray, mean: np.ndarray
    ) -> CellCovariance:
        """Of the means of few cells, ``values (P, M)`` with ``weight (P, M)``."""
        found = CellCovariance(mean, weight.sum(axis=0))
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
    member: "csr_array",
) -> None:
    """Add every pair as a dyad of its own."""
    groups = member.shape[0]
    count = np.bincount(code, weight**2, groups)
    mass = np.bincount(code, weight**2 * prob, groups)
    mean = np.divide(mass, count, out=np.zeros(groups), where=count > 0)
    square = np.bincount(code, weight**2 * (prob - mean[code]) ** 2, groups)
    found.add_counted(count, mean, square, member)


def _grouped(cluster: np.ndarray, code: np.ndarray, values: np.ndarray, groups: int) -> "csr_array":
    """Sums ``(R, G)`` per cluster and group pair."""
    from scipy.sparse import csr_array

    size = int(cluster.max(initial=-1)) + 1
    if size * groups > MAX_DENSE:
        return csr_array((values, (cluster, code)), shape=(size, groups))
    dense = np.bincount(cluster * groups + code, values, size * groups)
    return csr_array(dense.reshape(size, groups))


def _summed(cluster: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums ``(R, M)`` of ``values (E, M)`` per cluster."""
    size = int(cluster.max(initial=-1)) + 1
    return np.array([np.bincount(cluster, column, size) for column in values.T]).T
