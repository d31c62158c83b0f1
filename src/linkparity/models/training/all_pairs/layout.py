"""Every pair of a graph, laid out so that a pair of groups is one segment of memory."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria import Cells, Criterion
from linkparity.graph.graph import Graph
from linkparity.models.training.all_pairs.batch import PIECE, AllPairsBatch
from linkparity.models.training.objective import PairWeights, widen

if TYPE_CHECKING:
    from linkparity.models import LinkModel
    from linkparity.models.training.loop import Processes

#: Rows of a tile: pairs within a group are tiled so that few are computed twice.
TILE = 256


@dataclass(frozen=True)
class Tile:
    """A rectangle of pairs: rows and columns in sorted order, and where it lies in memory.

    ``square``: it begins on the diagonal, so that only what is right of the diagonal counts.
    """

    rows: slice
    columns: slice
    begin: int
    end: int
    square: bool

    def of(self, flat: Tensor) -> Tensor:
        """Its part of ``flat``, as a matrix."""
        return flat[self.begin : self.end].view(self.rows.stop - self.rows.start, -1)


@dataclass(frozen=True)
class Segment:
    """All pairs of two groups: their groups, their place in memory, their count, their links."""

    groups: tuple[int, int]
    begin: int
    end: int
    pairs: int
    links: int


@dataclass(frozen=True, eq=False)
class Blocks:
    """The pairs of a graph, group pair by group pair.

    Attributes:
        rows: ``(R,)`` nodes by group; all of them, or side 0.
        columns: ``(C,)`` nodes by group; all of them, or side 1.
        tiles: rectangles that hold every pair once.
        segments: one per pair of groups.
        link: ``(E,)`` where each link lies in memory, in that order.
        link_number: ``(E,)`` which of the graph's links each of them is.
        link_start: ``(segments + 1,)`` where the links of each segment begin.
        size: numbers to keep per quantity.
    """

    rows: Tensor
    columns: Tensor
    tiles: tuple[Tile, ...]
    segments: tuple[Segment, ...]
    link: Tensor
    link_number: Tensor
    link_start: np.ndarray
    size: int


class AllPairs:
    """Every pair of a graph with its expected weight: one batch per epoch, nothing random.

    Args:
        graph: whose pairs.
        weights: of a link and of any other pair.
        criterion: that sorts pairs into cells, or None.
        processes: the processes that share the pairs.
        parity: weights in the cells, where they are not those of the fit.
    """

    def __init__(
        self,
        graph: Graph,
        weights: PairWeights,
        criterion: Criterion | None,
        processes: "Processes",
        parity: PairWeights | None = None,
    ) -> None:
        self.weights, self.processes = weights, processes
        self.parity = weights if parity is None else parity
        self.blocks = lay_out(graph, processes.rank, processes.size)
        #: Pairs of each segment that are no links.
        self.area = np.array([s.pairs - s.links for s in self.blocks.segments], dtype=float)
        self.others = graph.num_pairs - graph.num_links
        self.total = weights.other * self.others + weights.link * graph.num_links
        #: Share of each link in the fit, in the order of memory; None when all are in it.
        self.kept: Tensor | None = None
        self.cells = None if criterion is None else self._cells(criterion)
        if self.cells is not None:
            #: The cell of each segment's other pairs, and of its links; −1 is none.
            self.other_cell, self.link_cell = self.cells.code.reshape(2, -1).astype(np.int64)
            self.used = (self.other_cell >= 0) & (self.area > 0)
        self.below = torch.ones(TILE, TILE, dtype=torch.bool).tril_()
        self.buffers: tuple[Tensor, ...] = ()

    def __len__(self) -> int:
        return 1

    def score(self, model: "LinkModel", batch: int = 0) -> AllPairsBatch:
        """The model's logits on every pair."""
        factors = model.factors()
        assert factors is not None
        dtype, size = widen(factors[0]).dtype, self.blocks.size
        if not self.buffers or self.buffers[0].dtype != dtype:
            sizes = (size, size, size, min(size, PIECE))
            self.buffers = tuple(torch.empty(count, dtype=dtype) for count in sizes)
        return AllPairsBatch(self, *factors)

    def keep_links(self, kept: Tensor) -> None:
        """Leave the links where ``kept (E,)`` is False out of the fit."""
        self.kept = kept[self.blocks.link_number].double()
        self.total = self.weights.other * self.others + self.weights.link * float(kept.sum())

    def _cells(self, criterion: Criterion) -> Cells:
        """The cell of each segment's other pairs, then of its links, with the weight of all."""
        segments = self.blocks.segments
        groups = torch.tensor([segment.groups for segment in segments]).reshape(-1, 2)
        counts = np.array([[s.pairs - s.links, s.links] for s in segments], dtype=float).T
        counts = self.processes.add(counts * [[self.parity.other], [self.parity.link]])
        label = torch.tensor([0, 1]).repeat_interleave(len(groups))
        return Cells.prepare(groups.repeat(2, 1), criterion, label, counts.reshape(-1))


def lay_out(graph: Graph, part: int = 0, parts: int = 1) -> Blocks:
    """Lay out the pairs of ``graph``, or the ``part``-th of ``parts`` nearly equal shares."""
    rows, columns, ends = _sorted_nodes(graph)
    plan = _plan(graph, rows, columns, parts)
    tiles: list[Tile] = []
    bounds: list[tuple[tuple[int, int], int, int]] = []
    pairs: list[int] = []
    at = 0
    for groups, rectangles in plan:
        first, doubled = at, 0
        for turn, (row, column, square) in enumerate(rectangles):
            if turn % parts == part:
                height = row.stop - row.start
                size = height * (column.stop - column.start)
                tiles.append(Tile(row, column, at, at + size, square))
                doubled += height * (height + 1) // 2 if square else 0
                at += size
        bounds.append((groups, first, at))
        pairs.append(at - first - doubled)
    place = _places(tiles, ends)
    link, number = torch.sort(place[place >= 0])
    number = torch.nonzero(place >= 0)[:, 0][number]
    starts = np.array([0] + [end for _, _, end in bounds])
    link_start = np.searchsorted(link.numpy(), starts)
    links = np.diff(link_start).tolist()
    segments = tuple(
        Segment(groups, begin, end, count, linked)
        for (groups, begin, end), count, linked in zip(bounds, pairs, links, strict=True)
    )
    return Blocks(rows, columns, tuple(tiles), segments, link, number, link_start, at)


def _sorted_nodes(graph: Graph) -> tuple[Tensor, Tensor, Tensor]:
    """Nodes of rows and columns by group, and the links as (row, column) in that order."""
    order = torch.argsort(graph.group, stable=True)
    place = torch.empty_like(order)
    if graph.side is None:
        place[order] = torch.arange(len(order))
        ends = place[graph.links].sort(dim=1).values
        return order, order, ends
    rows, columns = order[graph.side[order] == 0], order[graph.side[order] == 1]
    place[rows], place[columns] = torch.arange(len(rows)), torch.arange(len(columns))
    return rows, columns, place[graph.links]


def _plan(
    graph: Graph, rows: Tensor, columns: Tensor, parts: int
) -> list[tuple[tuple[int, int], list[tuple[slice, slice, bool]]]]:
    """For each pair of groups the rectangles that hold its pairs."""
    row_bounds, column_bounds = (
        _group_bounds(graph.group[rows]),
        _group_bounds(graph.group[columns]),
    )
    plan = []
    for g, (low, high) in row_bounds.items():
        for h, (left, right) in column_bounds.items():
            if graph.side is None and h < g:
                continue
            if graph.side is None and h == g:
                starts = _cut(low, high, -(-(high - low) // TILE))
                tiles = [(slice(i, j), slice(i, high), True) for i, j in starts]
            else:
                cuts = _cut(low, high, parts)
                tiles = [(slice(i, j), slice(left, right), False) for i, j in cuts]
            plan.append(((g, h), tiles))
    return plan


def _group_bounds(group: Tensor) -> dict[int, tuple[int, int]]:
    values, counts = torch.unique_consecutive(group, return_counts=True)
    stops = counts.cumsum(0)
    rows = zip(values.tolist(), (stops - counts).tolist(), stops.tolist(), strict=True)
    return {g: (low, high) for g, low, high in rows}


def _cut(low: int, high: int, parts: int) -> list[tuple[int, int]]:
    """Nearly equal segments of low … high, none of them empty."""
    parts = max(1, min(parts, high - low))
    at = [low + (high - low) * k // parts for k in range(parts + 1)]
    return [(i, j) for i, j in pairwise(at) if j > i]


def _places(tiles: list[Tile], ends: Tensor) -> Tensor:
    """``(E,)`` where each link lies, −1 for one that lies in no tile.

    Tiles that end at the same column follow each other by rows.
    """
    if not tiles:
        return torch.full((len(ends),), -1)
    shape = [(t.columns.stop, t.rows.start, t.rows.stop, t.columns.start, t.begin) for t in tiles]
    right, top, bottom, left, begin = np.array(sorted(shape)).T
    row, column = ends.numpy().T
    high = int(max(bottom.max(), row.max(initial=0))) + 1
    stops = np.append(np.unique(right), 0)
    mine = stops[np.searchsorted(stops[:-1], column, side="right")]
    tile = np.searchsorted(right * high + top, mine * high + row, side="right") - 1
    inside = (right[tile] == mine) & (row < bottom[tile]) & (column >= left[tile])
    at = (row - top[tile]) * (right[tile] - left[tile]) + column - left[tile] + begin[tile]
    return torch.from_numpy(np.where(inside, at, -1))
