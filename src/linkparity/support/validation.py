"""Checks of arguments: numbers, seeds, integer arrays, unique names."""

import operator
from collections import Counter
from collections.abc import Hashable, Sequence
from numbers import Real

import torch
from torch import Tensor

from linkparity.support.arrays import tensor


def integers(value: object, name: str) -> Tensor:
    """``value`` as an int64 CPU tensor of its own, so that changing ``value`` changes nothing."""
    try:
        found = tensor(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be integers, got {value!r:.60}; number nodes and groups 0, 1, 2 …"
        ) from None
    whole = not (found.is_floating_point() or found.is_complex() or found.dtype == torch.bool)
    if found.numel() and not whole:
        raise ValueError(
            f"{name} must be integers, got {found.dtype}; number nodes and groups 0, 1, 2 …"
        )
    return found.to("cpu", torch.int64, copy=True)


def whole_number(value: object, name: str) -> int:
    """``value`` as an int, for anything that is one: 3, ``numpy.int64(3)``, ``torch.tensor(3)``."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{name} must be a whole number, got {value!r}") from None


def check_seed(value: object, name: str) -> int:
    """A seed that every generator takes."""
    seed = whole_number(value, name)
    if not 0 <= seed < 2**32:
        raise ValueError(f"{name} must be at least 0 and below 2^32, got {seed}")
    return seed


def real_number(value: object, name: str) -> float:
    """``value`` as a float, for anything that is a number; text and None are none."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ValueError(f"{name} must be a number, got {value!r}")
    return float(value)


def check_unique(names: Sequence[Hashable], where: str) -> None:
    """Refuse names of which one stands twice, naming it."""
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"{where}: {twice!r} stands more than once; let it stand once")
