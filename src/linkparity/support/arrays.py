"""Numbers and arrays: checks of arguments, the logistic function, sums over segments."""

import operator
import sys
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import cache
from importlib import import_module
from numbers import Real
from types import ModuleType
from typing import Any

import numpy as np

from linkparity.support.errors import InputError

#: Number of values per part of a pass that needs intermediate arrays.
PART_SIZE = 1 << 20
#: Segments with fewer values are computed in float64, all at once.
SMALL = 4096
#: Up to this many segments are found one by one, which is faster than sorting.
FEW = 4
#: More segments than this are filled all at once, fewer one by one.
MANY = 1000
#: A sparse matrix with a larger share of entries is multiplied faster as an array.
SPARSE = 0.1


@cache
def pytorch() -> ModuleType | None:
    """PyTorch where it can be imported, else None."""
    try:
        return import_module("torch")
    except ImportError:
        return None


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor of PyTorch, which is not imported for this."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def plain(value: Any) -> Any:
    """A tensor as an array, without graph and device and without a copy; anything else as it is.

    Numbers of the type bfloat16, which numpy does not have, become float32.
    """
    if not is_tensor(value):
        return value
    value = value.detach()
    wide = value.is_floating_point() and value.itemsize == 2
    return (value.float() if wide else value).numpy(force=True)


def array(values: object) -> "np.ndarray[Any, Any]":
    """Numbers as an array, without a copy where that is possible.

    >>> array([2, -1]).dtype
    dtype('int64')
    """
    found = np.asarray(plain(values))
    if found.dtype.kind not in "biuf" + "c" * is_tensor(values):
        raise InputError(f"expected numbers, got {values!r:.60}", "convert them first")
    return found


def as_result(values: np.ndarray) -> Any:
    """An array as results hold it: a tensor where PyTorch can be imported."""
    torch = pytorch()
    return values if torch is None else torch.from_numpy(values)


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
    value = plain(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
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


def integers(value: object, argument: str, caller: str) -> np.ndarray:
    """``value`` as an int64 array that shares no memory with it."""
    fix = "number nodes and groups 0, 1, 2 …"
    try:
        found = array(value)
    except (TypeError, ValueError):
        problem = f"must be integers, got {value!r:.60}"
        raise InputError(problem, fix, argument=argument, caller=caller) from None
    if found.size and found.dtype.kind not in "iu":
        problem = f"must be integers, got {found.dtype}"
        raise InputError(problem, fix, argument=argument, caller=caller)
    return found.astype(np.int64)


def check_shape(values: Any, count: int, argument: str, caller: str = "") -> None:
    """Refuse anything but one value for each of ``count`` pairs."""
    if values.shape != (count,):
        problem = f"must have the shape ({count},), got {tuple(values.shape)}"
        raise InputError(problem, "give one per pair", argument=argument, caller=caller)


def check_labels(values: object, count: int, argument: str, caller: str = "") -> np.ndarray:
    """``(count,)`` labels, each 0 or 1; the dtype stays."""
    label = array(values)
    check_shape(label, count, argument, caller)
    wrong = (label != 0) & (label != 1)
    if wrong.any():
        position = int(wrong.argmax())
        raise InputError(
            f"must be 0 or 1, got {label[position].item():g} at position {position}",
            "use 1 for a link and 0 for a pair without one",
            argument=argument,
            caller=caller,
        )
    return label


def check_weights(values: object, count: int, argument: str, caller: str = "") -> np.ndarray:
    """``(count,)`` finite weights ≥ 0; floats keep their dtype, the rest is float64."""
    weight = array(values)
    weight = weight if weight.dtype.kind == "f" else weight.astype(np.float64)
    check_shape(weight, count, argument, caller)
    good = (weight >= 0) & (weight < np.inf)
    if not good.all():
        position = int((~good).argmax())
        raise InputError(
            "must be finite and not negative, "
            f"got {weight[position].item():g} at position {position}",
            "use 0 to leave a pair out",
            argument=argument,
            caller=caller,
        )
    with np.errstate(over="ignore"):
        total = weight.sum(dtype=np.float64)
    if not np.isfinite(total):
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


def smallest_integer(size: int) -> "np.dtype[Any]":
    """The smallest integer type that holds −1 and numbers below ``size``."""
    return np.min_scalar_type(-max(size, 1))


def sort_segments(code: np.ndarray, start: np.ndarray) -> np.ndarray | None:
    """Positions that sort ``code (P,)`` into segments that begin at ``start (M + 1,)``.

    Negative codes are left out. None where the codes are sorted already. A stable counting sort,
    :data:`PART_SIZE` codes at a time, so that 10⁸ codes need no large intermediate.
    """
    count, size = len(code), len(start) - 1
    if start[-1] == count and bool((code[1:] >= code[:-1]).all()):
        return None
    if count <= PART_SIZE and 0 < size <= FEW:
        return np.concatenate([np.flatnonzero(code == m) for m in range(size)])
    if count <= PART_SIZE:
        return np.argsort(code, kind="stable")[count - start[-1] :]
    order = np.empty(start[-1], dtype=np.int32 if count < 2**31 else np.int64)
    fill = np.array(start[:-1])
    for low in range(0, count, PART_SIZE):
        part = code[low : low + PART_SIZE]
        if size <= FEW:
            for m in range(size):
                found = np.flatnonzero(part == m)
                order[fill[m] : fill[m] + len(found)] = found + low
                fill[m] += len(found)
            continue
        local = np.argsort(part, kind="stable")  # of small integers by radix
        sizes = np.bincount(part + np.int64(1), minlength=size + 1)
        local, sizes = local[sizes[0] :] + low, sizes[1:]
        begin = np.cumsum(sizes) - sizes
        if size > MANY:
            order[np.repeat(fill - begin, sizes) + np.arange(len(local))] = local
        else:
            for m in np.flatnonzero(sizes).tolist():
                to, end = fill[m], fill[m] + sizes[m]
                order[to:end] = local[begin[m] : begin[m] + sizes[m]]
        fill += sizes
    return order
