"""How well means of cells are known, from sums over the rows, their nodes and their dyads."""

from collections.abc import Sequence

import numpy as np

from linkparity.metrics.intervals.covariance import CellCovariance, Spread
from linkparity.pairs.nodes import CellSet, CrossedSums, dyad_products, node_products
from linkparity.pairs.source import Chunk, PairSource
from linkparity.pairs.totals import Moments, Totals


def mean_spreads(
    source: PairSource,
    totals: Sequence[Totals],
    sets: Sequence[CellSet],
    by_weight: bool,
    by_node: bool,
) -> list[Spread]:
    """How well the means of several sets of cells are known, from :func:`mean_covariances`."""
    found = mean_covariances(source, totals, sets, by_weight, by_node)
    return [covariance.result() for covariance in found]


def mean_covariances(
    source: PairSource,
    totals: Sequence[Totals],
    sets: Sequence[CellSet],
    by_weight: bool,
    by_node: bool,
) -> list[CellCovariance]:
    """Covariances of the means of several sets of cells.

    Args:
        source: the rows.
        totals: their sums, and those by the scores that are compared with, where sets have these.
        sets: cells that count rows alike.
        by_weight: whether rows count by weight, in units of the mean weight.
        by_node: whether pairs that share a node covary; else pairs are independent.
    """
    unit = totals[0].mean_weight if by_weight else 1.0
    squares = [each.squared if by_weight else each.plain for each in totals]
    found = [
        CellCovariance(np.concatenate(each.means), np.tile(each.total, len(each.means)), by_node)
        for each in sets
    ]
    for cells, covariance in zip(sets, found, strict=True):
        _add_alone(covariance, cells, squares[: len(cells.means)], unit)
    if by_node and source.nodes is not None and source.nodes.loops:
        loops = LoopMoments(len(source.kinds), by_weight)
        source.run(loops)
        for cells, covariance in zip(sets, found, strict=True):
            alone = CellCovariance(cells.mean, cells.total)
            _add_alone(alone, cells, [loops.moments], unit)
            covariance.dyads -= alone.dyads
    if len(totals) > 1:
        mean = np.array([each.mean for each in squares])
        crossed = CrossedSums(by_weight, mean)
        source.run(crossed)
        for cells, covariance in zip(sets, found, strict=True):
            _add_crossed(covariance, cells, squares[0].count, mean, crossed.sums, unit)
    if by_node:
        nodes = node_products(source, sets, by_weight, len(totals) > 1)
        dyads = dyad_products(source, sets, by_weight)
        for covariance, of_nodes, of_dyads in zip(found, nodes, dyads, strict=True):
            covariance.nodes += np.array([of_nodes.square, of_nodes.weight]) / unit**2
            covariance.fourth += of_nodes.fourth / unit**4
            covariance.dyads += np.array([of_dyads.square, of_dyads.weight]) / unit**2
    return found


class LoopMoments:
    """Moments of the rows that pair a node with itself, which are in no dyad."""

    def __init__(self, size: int, by_weight: bool) -> None:
        self.moments, self.by_weight = Moments(*np.zeros((3, size))), by_weight

    def add(self, chunk: Chunk) -> None:
        """Add some rows."""
        rows = np.flatnonzero(chunk.first == chunk.second)
        weight = chunk.weight[rows] ** 2 if self.by_weight and chunk.weight is not None else None
        size = len(self.moments.count)
        self.moments.merge(Moments.of(chunk.kind[rows], chunk.prob[rows], weight, size))

    def merge(self, other: "LoopMoments") -> None:
        """Add other rows."""
        self.moments.merge(other.moments)


def _add_alone(
    covariance: CellCovariance, cells: CellSet, squares: Sequence[Moments], unit: float
) -> None:
    """Add every row, or every row now and before, as a dyad of its own."""
    from scipy.sparse import block_diag

    count, mean, square = (
        np.concatenate([getattr(each, name) for each in squares])
        for name in ("count", "mean", "square")
    )
    member = cells.member
    if len(squares) > 1:
        member = block_diag([member] * len(squares), format="csr")
    covariance.add_counted(count / unit**2, mean, square / unit**2, member)


def _add_crossed(
    covariance: CellCovariance,
    cells: CellSet,
    count: np.ndarray,
    mean: np.ndarray,
    crossed: np.ndarray,
    unit: float,
) -> None:
    """Add the products of a row's two distances from means, now and before."""
    if not covariance.pairwise:
        return
    member, size = cells.member.toarray().astype(np.float64), len(cells.mean)
    now, was = (
        member * (each[:, None] - middle) for each, middle in zip(mean, cells.means, strict=True)
    )
    products = (
        member.T @ (crossed[:, None] * member) + now.T @ (count[:, None] * was),
        member.T @ (count[:, None] * member),
    )
    for number, block in enumerate(products):
        covariance.dyads[number][:size, size:] += block / unit**2
        covariance.dyads[number][size:, :size] += block.T / unit**2
