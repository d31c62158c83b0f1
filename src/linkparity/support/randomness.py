"""Random choices out of whole numbers only, so that a seed means the same on every machine."""

import hashlib
import operator

import numpy as np
import torch
from torch import Tensor


def stream(seed: int, purpose: str) -> torch.Generator:
    """A generator for one purpose: one seed for split and model must not tie their numbers."""
    digest = hashlib.sha256(f"{purpose} {operator.index(seed)}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))


def random_order(size: int, generator: torch.Generator) -> Tensor:
    """``(size,)`` the numbers 0 … size − 1 in random order."""
    return torch.argsort(_raw(size, generator), stable=True)


def random_distinct(count: int, size: int, generator: torch.Generator) -> Tensor:
    """``(count,)`` distinct numbers out of 0 … size − 1, every choice equally likely.

    >>> sorted(random_distinct(3, 3, torch.Generator().manual_seed(0)).tolist())
    [0, 1, 2]
    """
    if count > size:
        raise ValueError(f"random_distinct: {size} numbers hold no {count} distinct ones")
    if 2 * count >= size:
        return random_order(size, generator)[:count]
    fair = 2**63 // size * size  # above it some numbers would come up once too often
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        raw = _raw(count - len(drawn) + 16, generator).numpy()
        drawn = np.concatenate([drawn, raw[raw < fair] % size])
        _, first = np.unique(drawn, return_index=True)
        drawn = drawn[np.sort(first)]
    return torch.from_numpy(drawn[:count])


def _raw(count: int, generator: torch.Generator) -> Tensor:
    # Plain 63-bit integers: unlike floats and permutations these have had one recipe throughout.
    return torch.empty(count, dtype=torch.int64).random_(generator=generator)
