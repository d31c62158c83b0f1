"""A part of the pairs that stands for all: some of every cell, weighing as much as the cell."""

from dataclasses import replace

import numpy as np
import torch

from linkparity.criteria.cells import Cells


def subsample(cells: Cells, size: int, generator: torch.Generator | None = None) -> Cells:
    """About ``size`` of the constrained pairs, at least one of each cell that has any.

    Each cell gives its share, one pair from each of as many equal stretches of its pairs, and the
    pairs drawn weigh together what the cell weighs, so that no group is missed.
    """
    if size < 1:
        raise ValueError(f"sample_size must be at least 1, got {size}; None uses every pair")
    sizes = np.diff(cells.start)
    share = size / max(int(sizes.sum()), 1)
    take = np.minimum(sizes, np.maximum(np.ceil(sizes * share), 1)).astype(np.int64)
    device = cells.code.device
    count = torch.as_tensor(take, device=device)
    cell = torch.arange(len(take), device=device).repeat_interleave(count)
    new_start = np.concatenate([[0], np.cumsum(take)])
    first = torch.as_tensor(new_start[:-1], device=device)[cell]
    jitter = torch.rand(len(cell), generator=generator, dtype=torch.float64).to(device)
    rank = torch.arange(len(cell), device=device) - first + jitter
    stride = torch.as_tensor(sizes / np.maximum(take, 1), device=device)[cell]
    place = (rank * stride).long() + torch.as_tensor(cells.start[:-1], device=device)[cell]
    drawn = torch.ones(len(cell), device=device, dtype=torch.float64)
    if cells.weight is not None:
        drawn = cells.weight[place].double()
    total = torch.zeros(len(take), dtype=torch.float64, device=device).index_add_(0, cell, drawn)
    light = (total == 0)[cell]
    drawn = torch.where(light, 1.0, drawn)
    total = torch.where(total == 0, count.double(), total)
    mass = torch.as_tensor(cells.mass, device=device)
    weight = drawn * (mass / torch.where(total == 0, 1.0, total))[cell]
    order = place if cells.order is None else cells.order[place]
    return replace(cells, order=order, start=new_start, weight=weight)
