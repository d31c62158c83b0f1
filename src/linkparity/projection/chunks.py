"""The constrained pairs of cells as tensors, and the chunks in which they are computed."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria.cells import Cells

#: Float32 values are added in blocks of this size before the blocks are added in float64.
BLOCK = 128
#: Largest number of values per chunk.
CHUNK_SIZE = 1 << 24


class Placed(NamedTuple):
    """Order and weights of the constrained pairs on the device of the logits."""

    order: Tensor | None
    weight: Tensor | None


def placed(cells: Cells, device: torch.device) -> Placed:
    """The order and weights of cells as tensors; without a copy on the processor."""
    found = cells.kept.get(device)
    if found is None:
        parts = (cells.order, cells.weight)
        found = Placed(*(None if p is None else torch.from_numpy(p).to(device) for p in parts))
        cells.kept[device] = found
    return found


def in_order_of_pairs(cells: Cells, values: Tensor) -> Tensor:
    """``(P,)`` values given in cell order, in memory of their own; 0 for unconstrained pairs.

    From the second time on by the inverse order, which is faster but takes time to make.
    """
    order, _ = placed(cells, values.device)
    if order is None:
        return values.clone()
    if len(order) < len(cells):
        return values.new_zeros(len(cells)).index_copy_(0, order.long(), values)
    again = ("inverse", values.device)
    if again not in cells.kept:
        cells.kept[again] = None
        return torch.empty_like(values).index_copy_(0, order.long(), values)
    if cells.kept[again] is None:
        cells.kept[again] = torch.empty_like(order)
        places = torch.arange(len(order), dtype=order.dtype, device=order.device)
        cells.kept[again].index_copy_(0, order.long(), places)
    return values.index_select(0, cells.kept[again])


@dataclass(frozen=True, eq=False)
class Chunk:
    """A range of the values that is computed at once.

    Attributes:
        low: where it begins.
        high: where it ends.
        count: number M of segments in all.
        segments: ``(m, begin, end)`` of every segment in it, relative to ``low``.
    """

    low: int
    high: int
    count: int
    segments: tuple[tuple[int, int, int], ...]

    @cached_property
    def sizes(self) -> list[int]:
        """Number of values of every segment in the chunk."""
        return [end - begin for _, begin, end in self.segments]

    def split(self, values: Tensor) -> tuple[Tensor, ...]:
        """The chunk's values by segment, as views."""
        return torch.split_with_sizes(values, self.sizes)

    def sum(self, values: Tensor) -> np.ndarray:
        """``(M,)`` sums of the chunk's values per segment.

        Blocks within one segment are summed first, the other values one by one.
        """
        whole, bounds, edge, owner = self._plan
        total = np.zeros(self.count)
        if len(whole):
            blocks = values[: len(values) // BLOCK * BLOCK].view(-1, BLOCK).sum(dim=1)
            found = np.zeros(len(blocks) + 1)
            found[:-1] = blocks.cpu().numpy()
            total[whole] = np.add.reduceat(found, bounds)[::2]
        ends = values[edge.to(values.device)].cpu().numpy()
        return total + np.bincount(owner, weights=ends, minlength=self.count)

    @cached_property
    def _plan(self) -> tuple[np.ndarray, np.ndarray, Tensor, np.ndarray]:
        """Segments with whole blocks, their bounds; positions and segments of other values."""
        whole, bounds, edge, owner = [], [], [], []
        for m, begin, end in self.segments:
            first, last = -(-begin // BLOCK), end // BLOCK
            if first < last:
                whole.append(m)
                bounds += [first, last]
                single = [np.arange(begin, first * BLOCK), np.arange(last * BLOCK, end)]
            else:
                single = [np.arange(begin, end)]
            edge += single
            owner += [np.full(len(part), m) for part in single]
        places = np.concatenate(edge) if edge else np.empty(0, dtype=np.int64)
        owners = np.concatenate(owner) if owner else np.empty(0, dtype=np.int64)
        return np.array(whole, dtype=np.int64), np.array(bounds), torch.as_tensor(places), owners


def split_chunks(start: np.ndarray) -> list[Chunk]:
    """Split segments that begin at ``start (M + 1,)``, at most :data:`CHUNK_SIZE` values each."""
    end = int(start[-1])
    found = []
    for low in range(0, end, CHUNK_SIZE):
        high = min(low + CHUNK_SIZE, end)
        first = int(np.searchsorted(start, low, side="right")) - 1
        last = int(np.searchsorted(start, high, side="left"))
        inside = [
            (m, max(int(start[m]), low) - low, min(int(start[m + 1]), high) - low)
            for m in range(first, last)
        ]
        found.append(Chunk(low, high, len(start) - 1, tuple(c for c in inside if c[1] < c[2])))
    return found
