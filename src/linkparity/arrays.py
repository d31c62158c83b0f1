"""Anything array-like → a tensor."""

import numpy as np
import torch
from torch import Tensor


def tensor(values: object) -> Tensor:
    """As ``torch.as_tensor``, which balks at arrays that are read-only or turned around.

    >>> tensor(np.arange(3)[::-1])
    tensor([2, 1, 0])
    """
    if isinstance(values, Tensor):
        return values
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"expected numbers, got {array.dtype}; convert them first")
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    return torch.as_tensor(array)
