"""Random choices from integers only, so that a seed gives the same result on every machine."""

import hashlib
import operator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch
    from torch import Tensor


def stream(seed: int, purpose: str) -> "torch.Generator":
    """A generator for one purpose, so that equal seeds of split and model are independent."""
    import torch

    digest = hashlib.sha256(f"{purpose} {operator.index(seed)}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))


def random_order(size: int, generator: "torch.Generator") -> "Tensor":
    """``(size,)`` a random permutation of 0 … size − 1."""
    import torch

    return torch.argsort(_raw(size, generator), stable=True)


def random_distinct(count: int, size: int, generator: "torch.Generator") -> "Tensor":
    """``(count,)`` distinct numbers from 0 … size − 1, drawn uniformly.

    >>> import torch
    >>> sorted(random_distinct(3, 3, torch.Generator().manual_seed(0)).tolist())
    [0, 1, 2]
    """
    import torch

    if count > size:
        raise ValueError(f"random_distinct: cannot draw {count} distinct numbers from {size}")
    if 2 * count >= size:
        return random_order(size, generator)[:count]
    limit = 2**63 // size * size  # larger values would make some numbers more likely
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        raw = _raw(count - len(drawn) + 16, generator).numpy()
        drawn = np.concatenate([drawn, raw[raw < limit] % size])
        _, first = np.unique(drawn, return_index=True)
        drawn = drawn[np.sort(first)]
    return torch.from_numpy(drawn[:count])


def _raw(count: int, generator: "torch.Generator") -> "Tensor":
    import torch

    # 63-bit integers: unlike floats and permutations, they are the same in every torch version.
    return torch.empty(count, dtype=torch.int64).random_(generator=generator)
