"""Anything array-like → a tensor."""

import numpy as np
import torch
from torch import Tensor


def tensor(values: object) -> Tensor:
    """As ``torch.as_tensor``, but a copy, and of arrays that are read-only or turned around too.

    >>> tensor(np.arange(3)[::-1])
    tensor([2, 1, 0])
    """
    if isinstance(values, Tensor):
        return values
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"expected numbers, got {values!r:.60}; convert them first")
    return torch.from_numpy(array.copy())
