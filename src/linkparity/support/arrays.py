"""Array-likes as tensors; the logistic function and its inverse."""

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
