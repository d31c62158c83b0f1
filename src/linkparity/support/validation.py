"""Arguments, converted and checked: tensors, numbers, seeds, labels, weights, unique names."""

import operator
from collections import Counter
from collections.abc import Hashable, Sequence
from numbers import Real

import numpy as np
import torch
from torch import Tensor

from linkparity.support.errors import InputError


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
    """``value`` as an int, for anything that is one: 3, ``numpy.int64(3)``, ``torch.tensor(3)``."""
    try:
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
    return float(value)


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
