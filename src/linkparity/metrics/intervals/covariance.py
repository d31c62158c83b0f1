"""Covariance of weighted means over cells whose pairs share nodes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkparity.pairs import nodes as node_sums
from linkparity.support.arrays import filled

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: A variance of a sum below this fraction of those of its parts is 0 but for rounding.
EQUAL = 1e-14
#: A variance is larger than another by more than rounding if it is so by this fraction.
LARGER = 1e-9


class CellCovariance:
    r"""Dyadic cluster-robust covariance of M weighted means, from sums per node and per dyad.

    .. math:: \mathrm{Cov}_{cc'} = \frac{1}{1 - \kappa_{cc'}} \cdot
              \frac{\sum_i U_{ic} U_{ic'} - \sum_d D_{dc} D_{dc'}}{W_c W_{c'}}, \qquad
              \kappa_{cc'} = \frac{\sum_i B_{ic} B_{ic'} - \sum_d B_{dc} B_{dc'}}{W_c W_{c'}}

    with U and D the sums of :math:`w (h - \bar h_c)` over the pairs of a node and of a dyad, and
    B the sums of w. Two pairs that share a node may covary in any way; a pair counts once although
    it has two nodes. κ is the weight of two pairs that share a node among all two pairs: the
    correction makes the variance unbiased where all pairs covary alike with the mean, such as
    for all pairs of one group (κ ≈ 4/n for n nodes) or of two. The matrix is projected to a
    positive semi-definite one, and a variance, also that of a difference, is not less than that of
    independent pairs: the effects of nodes that are in both cells cancel in a difference, and what
    is left of its estimate is mostly noise. Nodes and dyads may be added in batches, all sums of
    one at a time. With ``by_node=False`` pairs are independent, only dyads are added, and

    .. math:: \mathrm{Cov}_{cc'} = \frac{\sum_d D_{dc} D_{dc'}}{W_c W_{c'} (1 - \kappa_{cc'})},
              \qquad \kappa_{cc'} = \frac{\sum_d B_{dc} B_{dc'}}{W_c W_{c'}}

    Many such covariances of few means each are computed at once with leading dimensions.

    Args:
        mean: ``(…, M)``, ``nan`` for an empty cell.
        total: ``(…, M)`` the weights W.
        by_node: Whether pairs that share a node covary.
    """

    def __init__(self, mean: np.ndarray, total: np.ndarray, by_node: bool = True) -> None:
        self.mean = np.where(np.isnan(mean), 0.0, mean)
        self.total = np.asarray(total, dtype=np.float64)
        self.by_node = by_node
        size = mean.shape[-1]
        self.pairwise = size <= node_sums.MAX_PAIRWISE
        shape = (*mean.shape, size) if self.pairwise else mean.shape
        self.nodes, self.dyads = np.zeros((2, *shape)), np.zeros((2, *shape))
        self.fourth = np.zeros(mean.shape)

    def add_counted(
        self, count: np.ndarray, mean: np.ndarray, square: np.ndarray, member: "csr_array"
    ) -> None:
        """Dyads of one pair each, from K classes of them.

        ``count``, ``mean`` and ``square`` are the sum of w² of each class, the mean of h with these
        weights and the sum of w² times the squared distance from it; ``member (K, M)`` is how often
        a class counts in a cell.
        """
        within, weight = member * np.sqrt(square)[:, None], member * np.sqrt(count)[:, None]
        self.dyads += self._products(weight * mean[:, None], weight)
        self.dyads[0] += self.squares(within)

    def add_products(
        self,
        nodes: np.ndarray | None = None,
        dyads: np.ndarray | None = None,
        fourth: np.ndarray | None = None,
    ) -> None:
        """Products that were summed elsewhere: of U and of B over nodes or dyads, and Σ B⁴.

        ``nodes`` and ``dyads`` have the shape ``(2, …, M, M)``, or ``(2, …, M)`` for more than 300
        cells.
        """
        for name, more in (("nodes", nodes), ("dyads", dyads), ("fourth", fourth)):
            if more is not None:
                setattr(self, name, getattr(self, name) + more)

    def result(self) -> "Spread":
        """The covariance, corrected and projected to a positive semi-definite matrix."""
        alone = self._corrected(self.dyads)
        pair_variance, pair_kappa = map(self._diagonal, alone)
        if not self.by_node:
            covariance = alone[0]
            endless = np.full(pair_kappa.shape, np.inf)
            return self._spread(covariance, pair_variance, 1 / pair_kappa, endless, alone[0])
        covariance, kappa = self._corrected(self.nodes - self.dyads)
        variance = self._diagonal(covariance)
        with np.errstate(divide="ignore", invalid="ignore"):
            nodes = self._diagonal(self.nodes[1]) ** 2 / self.fourth
            freedom = _freedom(nodes, self._diagonal(kappa), pair_variance / variance)
            shared = variance > (1 + LARGER) * pair_variance
            freedom = np.where(shared, freedom, 1 / pair_kappa - 1)
        least = np.fmax(variance, pair_variance)
        return self._spread(covariance, least, nodes, freedom, alone[0])

    def _corrected(self, sums: np.ndarray) -> np.ndarray:
        """Covariances from products of U and of B, and κ; ``nan`` where κ is 1 or more."""
        scale = _outer(self.total) if self.pairwise else self.total**2
        with np.errstate(divide="ignore", invalid="ignore"):
            square, kappa = sums / scale
            return np.array([np.where(kappa < 1 - 1e-9, square / (1 - kappa), np.nan), kappa])

    def _spread(
        self,
        covariance: np.ndarray,
        least: np.ndarray,
        nodes: np.ndarray,
        freedom: np.ndarray,
        alone: np.ndarray,
    ) -> "Spread":
        """``covariance`` made positive semi-definite, each variance at least ``least``.

        What is added to variances has the correlations that independent pairs have, ``alone``.
        """
        least = np.where(np.isnan(self._diagonal(covariance)), np.nan, least)
        if self.pairwise:
            covariance = _semidefinite(covariance, np.isnan(least))
            covariance = covariance + _raised(least - _diagonal(covariance), alone)
            least = _diagonal(covariance)
        equal = least <= (1e-13 * self.mean) ** 2  # but for rounding
        variance = np.where(equal, 0.0, least)
        if not self.pairwise:
            return Spread(variance, None, nodes, freedom, self.by_node)
        apart = equal[..., :, None] | equal[..., None, :]
        covariance, alone = (np.where(apart, 0.0, matrix) for matrix in (covariance, alone))
        return Spread(variance, covariance, nodes, freedom, self.by_node, alone)

    def _products(self, mass: Any, weight: Any) -> np.ndarray:
        """Products of U and of B between cells; between a cell and itself alone if many."""
        off = mass - weight * self.mean[None, :]
        return np.array([self.squares(off), self.squares(weight)])

    def squares(self, sums: Any) -> np.ndarray:
        """``(M, M)`` products of the columns of ``sums (R, M)``; of many only their squares."""
        if not self.pairwise:
            return np.asarray((sums * sums).sum(axis=0)).ravel()
        sums = filled(sums)
        found = sums.T @ sums
        return np.asarray(found if isinstance(found, np.ndarray) else found.toarray())

    def _diagonal(self, values: np.ndarray) -> np.ndarray:
        return _diagonal(values) if self.pairwise else values


@dataclass(frozen=True, eq=False)
class Spread:
    """How far M means may be from those of other nodes.

    Attributes:
        variance: ``(M,)`` of the means, ``nan`` where there is nothing to estimate it from.
        covariance: ``(M, M)``, ``nan`` in the same places; None for more than 300 cells.
        nodes: ``(M,)`` effective number of nodes, or of pairs if those are independent.
        freedom: ``(M,)`` degrees of freedom of the variances.
        by_node: Whether pairs that share a node covary.
        alone: ``(M, M)`` covariance if pairs were independent, the least that a difference has;
            None where differences are not asked for.
    """

    variance: np.ndarray
    covariance: np.ndarray | None
    nodes: np.ndarray
    freedom: np.ndarray
    by_node: bool = True
    alone: np.ndarray | None = None

    @property
    def least(self) -> float | None:
        """The smallest effective number of nodes; None where pairs are independent."""
        return float(self.nodes.min()) if self.by_node else None

    @classmethod
    def independent(cls, variance: np.ndarray) -> "Spread":
        """Of quantities whose variance is known from independent pairs."""
        return cls(variance, None, variance, np.full(len(variance), np.inf), by_node=False)

    def of_sum(self, sign: np.ndarray | None = None) -> "Spread":
        """Of the sum of all M means, with the degrees of freedom of Welch and Satterthwaite.

        ``sign (M,)`` of 1 and −1 makes it a difference, 0 leaves a mean out. Leading dimensions are
        those of several sums.
        """
        assert self.covariance is not None
        sign = np.ones(self.variance.shape[-1]) if sign is None else sign
        used = np.flatnonzero(sign)
        each, square = self.variance[..., used], self.covariance[..., used[:, None], used]
        variance = np.maximum((square * _outer(sign[used])).sum(axis=(-2, -1)), 0.0)
        total = each.sum(axis=-1)
        variance = np.where(variance < EQUAL * total, 0.0, variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = total**2 / (each**2 / self.freedom[..., used]).sum(axis=-1)
        columns = (variance, self.nodes[..., used].min(axis=-1), freedom)
        variance, nodes, freedom = map(np.atleast_1d, columns)
        return Spread(variance, None, nodes, freedom, self.by_node)

    def of(self, cells: np.ndarray) -> "Spread":
        """Of some of the cells."""
        matrices = (self.covariance, self.alone)
        part, alone = (None if m is None else m[np.ix_(cells, cells)] for m in matrices)
        columns = (self.nodes[cells], self.freedom[cells])
        return Spread(self.variance[cells], part, *columns, self.by_node, alone)


def _freedom(nodes: np.ndarray, kappa: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    r"""Degrees of freedom of each variance V, after Satterthwaite.

    .. math:: \nu = \Big( \frac{q}{\sqrt{n - 1}} + \frac{T}{V} \sqrt\kappa \Big)^{-2}, \quad
              n = \frac{(\sum_i B_i^2)^2}{\sum_i B_i^4}, \quad q = \max(0, 1 - T / V)

    with T the variance if pairs were independent. Where nodes make the difference, T ≪ V and V is
    known as well as a variance of n nodes is; where they make none, T ≈ V, and V is known from the
    few pairs that share a node.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = np.maximum(1 - ratio, 0.0) / np.sqrt(nodes - 1)
        found: np.ndarray = (shared + ratio * np.sqrt(kappa)) ** -2
    return found


def of_differences(covariance: np.ndarray, alone: np.ndarray | None) -> np.ndarray:
    """``(M, M)`` variances of differences, none less than that of independent pairs, ``alone``."""

    def apart(matrix: np.ndarray) -> np.ndarray:
        each = np.diagonal(matrix)
        found: np.ndarray = np.maximum(np.add.outer(each, each) - 2 * matrix, 0.0)
        return found

    return apart(covariance) if alone is None else np.fmax(apart(covariance), apart(alone))


def _raised(more: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """A matrix with the diagonal ``more`` where positive, correlated as ``alone`` is."""
    root = np.sqrt(np.fmax(more, 0.0))
    scale = np.sqrt(_diagonal(alone))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.nan_to_num(alone / _outer(scale))
    correlation = np.where(np.eye(root.shape[-1], dtype=bool), 1.0, correlation)
    found: np.ndarray = _outer(root) * correlation
    return found


def _semidefinite(matrix: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    """The nearest positive semi-definite matrix; ``nan`` in the rows that are unknown."""
    known = ~unknown[..., :, None] & ~unknown[..., None, :]
    values, vectors = np.linalg.eigh(np.where(known, np.nan_to_num(matrix), 0.0))
    found = (vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return np.where(known, found, np.nan)


def _outer(values: np.ndarray) -> np.ndarray:
    """``(…, M, M)`` the products of ``values (…, M)``."""
    found: np.ndarray = values[..., :, None] * values[..., None, :]
    return found


def _diagonal(values: np.ndarray) -> np.ndarray:
    return np.diagonal(values, axis1=-2, axis2=-1)
