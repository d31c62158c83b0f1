"""Arguments as checked tensors: the checks of :mod:`linkparity.support.arrays`, for graphs."""

import torch
from torch import Tensor

from linkparity.support import arrays


def tensor(values: object) -> Tensor:
    """As ``torch.as_tensor``, but always a copy of an array, which may be read-only or reversed.

    >>> import numpy as np
    >>> tensor(np.arange(3)[::-1])
    tensor([2, 1, 0])
    """
    return values if isinstance(values, Tensor) else torch.from_numpy(arrays.array(values).copy())


def integers(value: object, argument: str, caller: str) -> Tensor:
    """``value`` as an int64 CPU tensor that shares no memory with it."""
    return torch.from_numpy(arrays.integers(value, argument, caller))


def check_labels(values: object, count: int, argument: str, caller: str = "") -> Tensor:
    """``(count,)`` labels, each 0 or 1; the dtype and the device stay."""
    label = tensor(values)
    arrays.check_labels(label, count, argument, caller)
    return label


def check_weights(values: object, count: int, argument: str, caller: str = "") -> Tensor:
    """``(count,)`` finite weights ≥ 0, detached; floats keep their dtype, the rest is float64."""
    weight = tensor(values).detach()
    weight = weight if weight.is_floating_point() else weight.double()
    arrays.check_weights(weight, count, argument, caller)
    return weight
