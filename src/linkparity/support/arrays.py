"""Functions of arrays: the logistic function and its inverse; sums over segments, in float64."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

#: Float32 values are added in blocks of this size before the blocks are added in float64.
BLOCK = 128
#: Largest number of values per chunk.
CHUNK_SIZE = 1 << 24
#: Number of values per part of a pass that needs intermediate arrays.
PART_SIZE = 1 << 20
#: Segments with fewer values are computed in float64, all at once.
SMALL = 4096


def expit(x: np.ndarray) -> np.ndarray:
    r"""The logistic function :math:`\sigma(x) = 1 / (1 + e^{-x})`, accurate at both ends.

    >>> expit(np.array([-40.0, 0.0]))
    array([4.24835426e-18, 5.00000000e-01])
    """
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(np.asarray(x) >= 0, 1.0, small) / (1.0 + small))


def logit(p: np.ndarray) -> np.ndarray:
    """The inverse of :func:`expit`; infinite at 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p) - np.log1p(-np.asarray(p)))


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


def sum_segments(values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """``(…, M)`` sums of values ``(…, P)`` whose m-th segment begins at ``start (M + 1,)``.

    >>> sum_segments(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 4.])
    """
    total = np.zeros((*values.shape[:-1], len(start) - 1))
    filled = np.flatnonzero(start[1:] > start[:-1])
    if len(filled):
        total[..., filled] = np.add.reduceat(values, start[filled], axis=-1)
    return total


def split_chunks(start: np.ndarray, size: int = CHUNK_SIZE) -> list[Chunk]:
    """Split segments that begin at ``start (M + 1,)`` into chunks of at most ``size`` values."""
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


def smallest_integer(size: int) -> torch.dtype:
    """The smallest integer type that holds −1 and numbers below ``size``."""
    for dtype in (torch.int8, torch.int16, torch.int32):
        if size < torch.iinfo(dtype).max:
            return dtype
    return torch.int64


def sort_segments(code: Tensor, start: np.ndarray) -> Tensor | None:
    """Positions that sort ``code (P,)`` into segments that begin at ``start (M + 1,)``.

    Negative codes are left out. None where the codes are sorted already. A stable counting sort,
    :data:`PART_SIZE` codes at a time, so that 10⁸ codes need no large intermediate.
    """
    count = len(code)
    if start[-1] == count and bool((code[1:] >= code[:-1]).all()):
        return None
    wide = torch.int32 if count < 2**31 else torch.int64
    order = torch.empty(int(start[-1]), dtype=wide, device=code.device)
    fill = torch.as_tensor(start[:-1], device=code.device).clone()
    size = len(fill)
    for low in range(0, count, PART_SIZE):
        part = code[low : low + PART_SIZE]
        local = _argsort(part)
        segment = part[local].long()
        local, segment = local[segment >= 0], segment[segment >= 0]
        sizes = torch.bincount(segment, minlength=size)
        begin = fill - (sizes.cumsum(0) - sizes)
        place = begin[segment] + torch.arange(len(segment), device=code.device)
        order[place] = (local + low).to(wide)
        fill += sizes
    return order


def _argsort(part: Tensor) -> Tensor:
    if part.device.type == "cpu":  # numpy sorts small integers by radix
        return torch.from_numpy(np.argsort(part.numpy(), kind="stable"))
    return torch.argsort(part, stable=True)
