"""Sums by key: rows per node and kind, and rows that join the same two nodes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linkparity.pairs.source import Chunk, Kinds, Nodes, PairSource
from linkparity.support.arrays import add_at, filled

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Cells up to which all their covariances are kept.
MAX_PAIRWISE = 300
#: Bytes of sums per node that are kept at once; with more there are several passes.
PART_BYTES = 600_000_000
#: Sums of nodes and cells that are multiplied at once.
SLICE = 1 << 22
#: Rows whose dyads are compared at once.
ROWS_AT_ONCE = 1 << 24


@dataclass(frozen=True, eq=False)
class CellSet:
    """M cells whose means are compared.

    Attributes:
        member: sparse ``(K, M)``, how often a row of a kind counts in a cell.
        mean: ``(M,)``, ``nan`` for an empty cell.
        total: ``(M,)`` sum of the weights.
        before: ``(M,)`` means by the scores that these are compared with, if there are any.
    """

    member: "csr_array"
    mean: np.ndarray
    total: np.ndarray
    before: np.ndarray | None = None

    @property
    def means(self) -> list[np.ndarray]:
        """The means now and, if there are any, those before; 0 for an empty cell."""
        both = (self.mean,) if self.before is None else (self.mean, self.before)
        return [np.nan_to_num(each) for each in both]

    @property
    def pairwise(self) -> bool:
        """Whether covariances between cells are kept."""
        return len(self.mean) * len(self.means) <= MAX_PAIRWISE


@dataclass(eq=False)
class Products:
    """Sums over clusters of rows of products between cells, with each cell's own if many.

    Attributes:
        square: of the weighted distances from the means, ``(M, M)`` or ``(M,)``.
        weight: of the weights.
        fourth: ``(M,)`` of the fourth powers of the weights.
    """

    square: np.ndarray
    weight: np.ndarray
    fourth: np.ndarray

    @classmethod
    def zero(cls, cells: CellSet) -> "Products":
        """Of no clusters."""
        size = len(cells.mean) * len(cells.means)
        shape = (size, size) if cells.pairwise else (size,)
        return cls(np.zeros(shape), np.zeros(shape), np.zeros(size))

    def merge(self, other: "Products", sign: float = 1.0) -> None:
        """Add the clusters of other products, or take them away."""
        self.square += sign * other.square
        self.weight += sign * other.weight
        self.fourth += sign * other.fourth


def products(cells: CellSet, sums: "KindSums") -> Products:
    """Products over R clusters from their sums per kind."""
    weight = sums.of(0) @ cells.member
    off = []
    for number, mean in enumerate(cells.means, 1):
        expected = weight.copy()
        expected.data *= mean[expected.indices]
        off.append((sums.of(number) @ cells.member - expected).tocsr())
    size, found = len(cells.mean), Products.zero(cells)
    for i, one in enumerate(off):
        at = slice(i * size, (i + 1) * size)
        fourth = (weight.data * weight.data) ** 2
        found.fourth[at] = np.bincount(weight.indices, fourth, size)
        if not cells.pairwise:
            found.square[at] = np.bincount(one.indices, one.data**2, size)
            found.weight[at] = np.bincount(weight.indices, weight.data**2, size)
            continue
        for j, two in enumerate(off):
            here = (at, slice(j * size, (j + 1) * size))
            found.square[here], found.weight[here] = _gram(one, two), _gram(weight, weight)
    return found


def _gram(one: "csr_array", two: "csr_array") -> np.ndarray:
    """``(M, M)`` products of the columns of two matrices ``(R, M)``."""
    total = np.zeros((one.shape[1], two.shape[1]))
    step = max(SLICE // max(one.shape[1], 1), 1)
    for low in range(0, one.shape[0], step):
        left, right = (filled(each[low : low + step]) for each in (one, two))
        part = left.T @ right
        total += part if isinstance(part, np.ndarray) else part.toarray()
    return total


@dataclass(frozen=True, eq=False)
class KindSums:
    """Sums of R clusters per kind of row, sparse.

    Attributes:
        start: ``(R + 1,)`` where the entries of each cluster begin.
        kind: ``(N,)`` kind of each entry; an entry may lack.
        values: ``(V, N)`` weight, and weight times probability, now and before.
        kinds: number K of kinds.
    """

    start: np.ndarray
    kind: np.ndarray
    values: np.ndarray
    kinds: int

    def of(self, number: int) -> "csr_array":
        """``(R, K)`` one of the sums."""
        from scipy.sparse import csr_array

        shape = (len(self.start) - 1, self.kinds)
        return csr_array((self.values[number], self.kind, self.start), shape=shape)


class NodeSums:
    """Rows per node and kind: how many, and the sum of their probabilities.

    A node has one group, so that only the kinds of that group have a place beside it.

    Args:
        kinds: the kinds of the rows.
        nodes: the nodes.
        by_weight: whether rows count by weight.
        before: whether the scores that are compared with are summed too.
        part: of the nodes, from the first to before the second.
    """

    def __init__(
        self, kinds: Kinds, nodes: Nodes, by_weight: bool, before: bool, part: tuple[int, int]
    ) -> None:
        self.group, self.by_weight, self.part = nodes.group, by_weight, part
        self.kinds, self.place = _places(kinds, nodes)
        self.width = max((len(each) for each in self.kinds), default=1)
        self.sums = np.zeros((3 if before else 2, (part[1] - part[0]) * self.width))

    def add(self, chunk: Chunk) -> None:
        """Add some rows."""
        first, second = chunk.ends
        weight = chunk.weight if self.by_weight else None
        values = [weight, *_masses(chunk, weight)][: len(self.sums)]
        low, high = self.part
        for end, other in ((first, None), (second, first)):
            mine = (end >= low) & (end < high)
            if other is not None:
                mine &= end != other  # a node paired with itself counts once
            rows: Any = slice(None) if mine.all() else np.flatnonzero(mine)
            node, kind = end[rows], chunk.kind[rows]
            group = 0 if self.group is None else self.group[node]
            at = (node.astype(np.int64) - low) * self.width + self.place[group, kind]
            for total, value in zip(self.sums, values, strict=True):
                add_at(total, at, None if value is None else value[rows])

    def merge(self, other: "NodeSums") -> None:
        """Add other rows of the same nodes."""
        self.sums += other.sums

    def products(self, sets: Sequence[CellSet]) -> list[Products]:
        """Products over the nodes, for sets of cells that count rows alike."""
        found = [Products.zero(each) for each in sets]
        low, high = self.part
        kinds = np.full((len(self.kinds), self.width), -1)
        for g, each in enumerate(self.kinds):
            kinds[g, : len(each)] = each
        step = max(SLICE // self.width, 1)
        for begin in range(low, high, step):
            end = min(begin + step, high)
            part = self.sums[:, (begin - low) * self.width : (end - low) * self.width]
            entry = np.flatnonzero(part[0])
            node, place = np.divmod(entry, self.width)
            group = 0 if self.group is None else self.group[begin + node]
            start = np.searchsorted(node, np.arange(end - begin + 1))
            sums = KindSums(start, kinds[group, place], part[:, entry], self.place.shape[1])
            for cells, total in zip(sets, found, strict=True):
                total.merge(products(cells, sums))
        return found


def _places(kinds: Kinds, nodes: Nodes) -> tuple[list[np.ndarray], np.ndarray]:
    """The kinds that rows of a node of each group may have, and their places beside the node.

    The last is for nodes without a group. Without groups of nodes, every kind has its own place.
    """
    if nodes.group is None:
        return [np.arange(len(kinds))], np.arange(len(kinds))[None]
    ends, size = kinds.groups, int(nodes.group.max(initial=-1)) + 1
    known = [np.flatnonzero((ends == g).any(axis=1) | (kinds.pair < 0)) for g in range(size)]
    known.append(np.flatnonzero((ends < 0).any(axis=1)))
    place = np.zeros((size + 1, len(kinds)), dtype=np.int64)
    for g, each in enumerate(known):
        place[g, each] = np.arange(len(each))
    return known, place


def node_products(
    source: PairSource, sets: Sequence[CellSet], by_weight: bool, before: bool = False
) -> list[Products]:
    """Products over all nodes, in as many passes as memory allows."""
    assert source.nodes is not None
    width = max((len(each) for each in _places(source.kinds, source.nodes)[0]), default=1)
    step = max(PART_BYTES // (8 * (3 if before else 2) * width), 1)
    make = partial(NodeSums, source.kinds, source.nodes, by_weight, before)
    return _merged(sets, source.by_nodes(make, lambda sums: sums.products(sets), step))


def _merged(sets: Sequence[CellSet], parts: Iterator[list[Products]]) -> list[Products]:
    """The sums of the products of some parts of the clusters."""
    found = [Products.zero(each) for each in sets]
    for part in parts:
        for total, each in zip(found, part, strict=True):
            total.merge(each)
    return found


def _masses(chunk: Chunk, weight: np.ndarray | None) -> list[np.ndarray]:
    """Probabilities, now and before, times weights."""
    values = [chunk.prob] if chunk.before is None else [chunk.prob, chunk.before]
    return values if weight is None else [weight * each for each in values]


class CrossedSums:
    """How two probabilities of a row vary together, per kind.

    Args:
        by_weight: whether rows count by the square of their weight.
        mean: ``(2, K)`` means of the two, so weighted.
    """

    def __init__(self, by_weight: bool, mean: np.ndarray) -> None:
        self.by_weight, self.mean = by_weight, mean
        self.sums = np.zeros(mean.shape[1])

    def add(self, chunk: Chunk) -> None:
        """Add some rows."""
        assert chunk.before is not None
        kind, (now, was) = chunk.kind, self.mean
        value = (chunk.prob - now[kind]) * (chunk.before - was[kind])
        if self.by_weight and chunk.weight is not None:
            value *= chunk.weight**2
        self.sums += np.bincount(kind, value, len(self.sums))

    def merge(self, other: "CrossedSums") -> None:
        """Add other rows."""
        self.sums += other.sums


@dataclass(frozen=True, eq=False)
class Dyads:
    """Rows that are not alone in joining their two nodes, ordered by dyad.

    Attributes:
        number: ``(n,)`` of the dyad of each row, from 0.
        row: ``(n,)`` number of the row.
        kind: ``(n,)``.
        weight: ``(n,)`` or None.
        values: probabilities, now and before.
    """

    number: np.ndarray
    row: np.ndarray
    kind: np.ndarray
    weight: np.ndarray | None
    values: list[np.ndarray]


def shared_dyads(source: PairSource) -> Iterator[Dyads]:
    """The rows of every dyad that has several, some dyads at a time."""
    nodes = source.nodes
    assert nodes is not None
    if not nodes.twice:
        return
    parts = -(-source.size // ROWS_AT_ONCE)
    for part in range(parts):
        source.count_pass()
        columns, begin = [], 0
        for chunk in source.chunks():
            low, high = np.divmod(dyad_keys(chunk, nodes.count), nodes.count)
            rows = np.flatnonzero((low % parts == part) & (low != high))
            columns.append(dyad_rows(chunk, begin, rows, nodes.count))
            begin += len(chunk)
        parted = [np.concatenate(each) for each in zip(*columns, strict=True)]
        if (dyads := dyads_of(parted, source.weighted)) is not None:
            yield dyads


def dyad_rows(chunk: Chunk, begin: int, rows: np.ndarray, count: int) -> tuple[np.ndarray, ...]:
    """Key of the dyad, number, kind, weight if there is one, and probabilities of some rows.

    Args:
        chunk: where the rows are.
        begin: number of its first row.
        rows: which of its rows.
        count: number of nodes.
    """
    optional = [] if chunk.weight is None else [chunk.weight]
    optional += _masses(chunk, None)
    rest = (each[rows] for each in optional)
    return (dyad_keys(chunk, count)[rows], begin + rows, chunk.kind[rows], *rest)


def dyad_keys(chunk: Chunk, count: int) -> np.ndarray:
    """``(n,)`` a number for the two nodes of each row, of ``count`` nodes."""
    low = np.minimum(*chunk.ends).astype(np.int64)
    keys: np.ndarray = low * count + np.maximum(*chunk.ends)
    return keys


def dyads_of(columns: Sequence[np.ndarray], weighted: bool) -> Dyads | None:
    """The rows of dyads that have several, of the columns of :func:`dyad_rows`; None for none."""
    key, row, kind, *rest = columns
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.append(True, key[1:] != key[:-1])[: len(key)]
    number = np.cumsum(new) - 1
    shared = np.flatnonzero((np.bincount(number) > 1)[number])
    if not len(shared):
        return None
    order, (_, number) = order[shared], np.unique(number[shared], return_inverse=True)
    rest = [each[order] for each in rest]
    weight = rest.pop(0) if weighted else None
    return Dyads(number, row[order], kind[order], weight, rest)


def dyad_products(source: PairSource, sets: Sequence[CellSet], by_weight: bool) -> list[Products]:
    """Products of two different rows of a dyad, over all dyads."""
    kinds = len(source.kinds)
    return _merged(sets, source.by_dyads(partial(_of_dyads, sets, by_weight, kinds)))


def _of_dyads(sets: Sequence[CellSet], by_weight: bool, size: int, dyads: Dyads) -> list[Products]:
    """Products of two different rows of a dyad, over some dyads; there are ``size`` kinds."""
    found = [Products.zero(each) for each in sets]
    weight = dyads.weight if by_weight else None
    values = [np.ones(len(dyads.kind)) if weight is None else weight]
    values += [each if weight is None else each * weight for each in dyads.values]
    for sign, number in ((1.0, dyads.number), (-1.0, np.arange(len(dyads.number)))):
        for low, high in _slices(number, SLICE):
            key = (number[low:high] - number[low]) * size + dyads.kind[low:high]
            entry, at = np.unique(key, return_inverse=True)
            cluster, kind = np.divmod(entry, size)
            start = np.searchsorted(cluster, np.arange(int(cluster[-1]) + 2))
            sums = np.array([np.bincount(at, each[low:high]) for each in values])
            part = KindSums(start, kind, sums, size)
            for cells, total in zip(sets, found, strict=True):
                total.merge(products(cells, part), sign)
    return found


def _slices(number: np.ndarray, clusters: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows that hold at most so many whole clusters; ``number (n,)`` ascends."""
    bounds = np.arange(0, int(number[-1]) + 1 + clusters, clusters)
    cuts = np.searchsorted(number, bounds)
    return ((int(a), int(b)) for a, b in pairwise(cuts) if a < b)


def dyad_numbers(source: PairSource) -> tuple[np.ndarray, int]:
    """``(P,)`` number of the dyad of each row, −1 for a node paired with itself; and how many."""
    number = np.full(source.size, -2)
    begin = 0
    if source.nodes is not None and source.nodes.loops:
        row = 0
        for chunk in source.chunks():
            number[row : row + len(chunk)][chunk.first == chunk.second] = -1
            row += len(chunk)
    for dyads in shared_dyads(source):
        number[dyads.row] = dyads.number + begin
        begin += int(dyads.number[-1]) + 1
    alone = np.flatnonzero(number == -2)
    number[alone] = begin + np.arange(len(alone))
    return number, begin + len(alone)
