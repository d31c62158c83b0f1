"""Several processes that share the pairs: what is a sum over pairs is added up."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass(frozen=True)
class Processes:
    """The processes of one training; alone unless ``torch.distributed`` says otherwise."""

    rank: int = 0
    size: int = 1

    @classmethod
    def here(cls) -> "Processes":
        """The processes that ``torch.distributed`` was set up with."""
        import torch.distributed as dist

        if not (dist.is_available() and dist.is_initialized()):
            return cls()
        return cls(dist.get_rank(), dist.get_world_size())

    def add(self, values: np.ndarray) -> np.ndarray:
        """Σ over the processes, of an array that every process has in the same shape."""
        if self.size == 1:
            return values
        import torch.distributed as dist

        total = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float64))
        dist.all_reduce(total)
        return total.numpy()

    def add_gradients(self, model: nn.Module) -> None:
        """Σ over the processes of every parameter's gradient, in one message."""
        if self.size == 1:
            return
        import torch.distributed as dist

        used = [p for p in model.parameters() if p.requires_grad]
        flat = torch.cat(
            [(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in used]
        )
        dist.all_reduce(flat)
        for p, part in zip(used, torch.split(flat, [p.numel() for p in used]), strict=True):
            p.grad = part.view_as(p)


@contextmanager
def joined_processes() -> Iterator[Processes]:
    """The processes that ``torchrun`` started, joined for the time being; alone without it."""
    import torch.distributed as dist

    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or dist.is_initialized():
        yield Processes.here()
        return
    dist.init_process_group("gloo")
    try:
        yield Processes.here()
    finally:
        dist.destroy_process_group()
