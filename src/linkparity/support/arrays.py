"""Numbers and arrays: checks of arguments, the logistic function, sums over segments."""

import operator
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from linkparity.support.errors import InputError

#: Float32 values are added in blocks of this size before the blocks are added in float64.
BLOCK = 128
#: Largest number of values per chunk.
CHUNK_SIZE = 1 << 24
#: Number of values per part of a pass that needs intermediate arrays.
PART_SIZE = 1 << 20
#: Segments with fewer values are computed in float64, all at once.
SMALL = 4096
#: A sparse matrix with a larger share of entries is multiplied faster as an array.
SPARSE = 0.1


def tensor(values: object) -> Tensor:
    """As ``torch.as_tensor``, but always a copy of an array, which may be read-only or reversed.

    >>> tensor(np.arange(3)[::-1])
    tensor([2, 1, 0])
    """
    if isinstance(values, Tensor):
        return values
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise InputError(f"expected numbers, got {values!r:.60}", "convert them first")
    return torch.from_numpy(array.copy())


def whole_number(value: object, argument: str, caller: str) -> int:
    """``value`` as an int, for anything that is one: 3, ``numpy.int64(3)``, ``torch.tensor(3)``.

    Booleans are refused.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        problem = f"must be a whole number, got {value!r}"
        raise InputError(problem, argument=argument, caller=caller) from None


def real_number(value: object, argument: str, caller: str) -> float:
    """``value`` as a float, for any real number, 0-d too; text, booleans and None are refused."""
    if isinstance(value, np.ndarray | Tensor) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InputError(f"must be a number, got {value!r}", argument=argument, caller=caller)
    try:
        return float(value)
    except OverflowError:
        problem = f"must be a number below 1e308, got {value!s:.40} …"
        raise InputError(problem, argument=argument, caller=caller) from None


def check_seed(value: object, argument: str, caller: str) -> int:
    """A seed that every generator accepts: 0 ≤ seed < 2³²."""
    seed = whole_number(value, argument, caller)
    if not 0 <= seed < 2**32:
        problem = f"must be at least 0 and below 2^32, got {seed}"
        raise InputError(problem, argument=argument, caller=caller)
    return seed


def integers(value: object, argument: str, caller: str) -> Tensor:
    """``value`` as an int64 CPU tensor that shares no memory with it."""
    fix = "number nodes and groups 0, 1, 2 …"
    try:
        found = tensor(value)
    except (TypeError, ValueError):
        problem = f"must be integers, got {value!r:.60}"
        raise InputError(problem, fix, argument=argument, caller=caller) from None
    whole = not (found.is_floating_point() or found.is_complex() or found.dtype == torch.bool)
    if found.numel() and not whole:
        problem = f"must be integers, got {found.dtype}"
        raise InputError(problem, fix, argument=argument, caller=caller)
    return found.to("cpu", torch.int64, copy=True)


def check_shape(values: Tensor, count: int, argument: str, caller: str = "") -> None:
    """Refuse anything but one value for each of ``count`` pairs."""
    if values.shape != (count,):
        problem = f"must have the shape ({count},), got {tuple(values.shape)}"
        raise InputError(problem, "give one per pair", argument=argument, caller=caller)


def check_labels(values: object, count: int, argument: str, caller: str = "") -> Tensor:
    """``(count,)`` labels, each 0 or 1; the dtype and the device stay."""
    label = tensor(values)
    check_shape(label, count, argument, caller)
    wrong = (label != 0) & (label != 1)
    if wrong.any():
        position = int(wrong.nonzero()[0])
        raise InputError(
            f"must be 0 or 1, got {label[position].item():g} at position {position}",
            "use 1 for a link and 0 for a pair without one",
            argument=argument,
            caller=caller,
        )
    return label


def check_weights(values: object, count: int, argument: str, caller: str = "") -> Tensor:
    """``(count,)`` finite weights ≥ 0, detached; floats keep their dtype, the rest is float64."""
    weight = tensor(values).detach()
    weight = weight if weight.is_floating_point() else weight.double()
    check_shape(weight, count, argument, caller)
    good = (weight >= 0) & (weight < torch.inf)
    if not good.all():
        position = int((~good).nonzero()[0])
        raise InputError(
            "must be finite and not negative, "
            f"got {weight[position].item():g} at position {position}",
            "use 0 to leave a pair out",
            argument=argument,
            caller=caller,
        )
    if not torch.isfinite(weight.sum(dtype=torch.float64)):
        problem = "must have a finite sum in float64, got one that overflows"
        raise InputError(problem, "scale the weights down", argument=argument, caller=caller)
    return weight


def check_unique(names: Sequence[Hashable], argument: str, caller: str) -> None:
    """Refuse a name that occurs more than once."""
    if len(set(names)) < len(names):
        repeated = Counter(names).most_common(1)[0][0]
        problem = f"must be unique, got {repeated!r} more than once"
        raise InputError(problem, argument=argument, caller=caller)


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


def add_at(total: np.ndarray, at: np.ndarray, values: np.ndarray | None = None) -> None:
    """Add values, or 1 each, at some places of an array, which may be much longer."""
    flat = total.reshape(-1)
    if len(at) < len(flat) // 4:
        np.add.at(flat, at, 1.0 if values is None else values)
    else:
        flat += np.bincount(at, values, len(flat))


def narrow(numbers: np.ndarray, size: int) -> np.ndarray:
    """Numbers from 0 to below ``size`` in the smallest type; numpy sorts small ones by radix."""
    return numbers.astype(np.min_scalar_type(max(size - 1, 0)), copy=False)


def filled(matrix: Any) -> Any:
    """A sparse matrix, as an array where that is multiplied faster; an array as it is."""
    sparse = getattr(matrix, "nnz", np.inf) <= SPARSE * matrix.shape[0] * matrix.shape[1]
    return matrix if sparse or isinstance(matrix, np.ndarray) else matrix.toarray()


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
