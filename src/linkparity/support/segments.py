"""Sums over consecutive segments of sorted values, in chunks, accumulated in float64."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

#: Number of float32 values that are added before the sum continues in float64.
BLOCK = 128
#: Maximum number of pairs in a chunk.
CHUNK_SIZE = 1 << 24
#: Cells with fewer pairs than this are computed in float64, all at once.
SMALL = 4096


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive pairs, sorted by cell.

    Attributes:
        low: position of the first pair.
        high: position after the last pair.
        count: number M of cells.
        cells: ``(m, begin, end)`` of every cell in the chunk, relative to ``low``.
    """

    low: int
    high: int
    count: int
    cells: tuple[tuple[int, int, int], ...]

    @cached_property
    def sizes(self) -> list[int]:
        """Number of pairs of every cell in the chunk."""
        return [end - begin for _, begin, end in self.cells]

    def split(self, values: Tensor) -> tuple[Tensor, ...]:
        """The chunk's values by cell, as views."""
        return torch.split_with_sizes(values, self.sizes)

    def sum(self, values: Tensor) -> np.ndarray:
        """``(M,)`` sums of the chunk's values per cell.

        Blocks within one cell are summed as blocks, the remaining values one by one.
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
        """Cells with whole blocks, the bounds of these, other positions, and the cell of each."""
        whole, bounds, edge, owner = [], [], [], []
        for m, begin, end in self.cells:
            first, last = -(-begin // BLOCK), end // BLOCK
            if first < last:
                whole.append(m)
                bounds += [first, last]
                loose = [np.arange(begin, first * BLOCK), np.arange(last * BLOCK, end)]
            else:
                loose = [np.arange(begin, end)]
            edge += loose
            owner += [np.full(len(part), m) for part in loose]
        places = np.concatenate(edge) if edge else np.empty(0, dtype=np.int64)
        owners = np.concatenate(owner) if owner else np.empty(0, dtype=np.int64)
        return np.array(whole, dtype=np.int64), np.array(bounds), torch.as_tensor(places), owners


def sum_segments(values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """``(…, M)`` sums of ``values (…, P)``; segment m is ``start[m]:start[m + 1]``.

    >>> sum_segments(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 4.])
    """
    total = np.zeros((*values.shape[:-1], len(start) - 1))
    filled = np.flatnonzero(start[1:] > start[:-1])
    if len(filled):
        total[..., filled] = np.add.reduceat(values, start[filled], axis=-1)
    return total


def split_chunks(start: np.ndarray, size: int = CHUNK_SIZE) -> list[Chunk]:
    """Chunks of at most ``size`` pairs; cell m is ``start[m]:start[m + 1]``."""
    end = int(start[-1])
    found = []
    for low in range(0, end, size):
        high = min(low + size, end)
        first = int(np.searchsorted(start, low, side="right")) - 1
        last = int(np.searchsorted(start, high, side="left"))
        inside = [
            (m, max(int(start[m]), low) - low, min(int(start[m + 1]), high) - low)
            for m in range(first, last)
        ]
        found.append(Chunk(low, high, len(start) - 1, tuple(c for c in inside if c[1] < c[2])))
    return found
