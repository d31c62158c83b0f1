"""Anything array-like → a tensor; the logistic function of a few numbers without scipy's weight."""

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


def expit(x: np.ndarray) -> np.ndarray:
    """σ(x), to the last digits at both ends.

    >>> expit(np.array([-40.0, 0.0]))
    array([4.24835426e-18, 5.00000000e-01])
    """
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(np.asarray(x) >= 0, 1.0, small) / (1.0 + small))


def logit(p: np.ndarray) -> np.ndarray:
    """The inverse of :func:`expit`; infinite at 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p) - np.log1p(-np.asarray(p)))
