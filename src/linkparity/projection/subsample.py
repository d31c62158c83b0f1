"""A stratified sample of the pairs: some of every cell, with the weight of the whole cell."""

from dataclasses import replace

import numpy as np
import torch

from linkparity.criteria.cells import Cells
from linkparity.support.arrays import whole_number
from linkparity.support.errors import InputError


def subsample(cells: Cells, size: int, generator: torch.Generator | None = None) -> Cells:
    """About ``size`` of the constrained pairs, at least one of each cell that has any.

    Each cell contributes in proportion to its size, one pair from each of as many equal segments
    of its pairs, and the sampled pairs of a cell have the weight of the whole cell.
    """
    size = whole_number(size, "sample_size", "i_project")
    if size < 1:
        fix = "None uses every pair"
        raise InputError(f"must be at least 1, got {size}", fix, argument="sample_size")
    if generator is None:
        generator = torch.Generator().manual_seed(0)
    cells = _without_weightless(cells)
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
    mass = torch.as_tensor(cells.mass, device=device)
    weight = drawn * (mass / torch.where(total == 0, 1.0, total))[cell]
    order = place if cells.order is None else cells.order[place]
    return replace(cells, order=order, start=new_start, weight=weight)


def _without_weightless(cells: Cells) -> Cells:
    """The same cells without the pairs of weight 0, which must not be sampled."""
    if cells.weight is None or bool((cells.weight > 0).all()):
        return cells
    positive = cells.weight > 0
    sizes = cells.sum(positive.double()).astype(np.int64)
    places = torch.arange(len(positive), device=positive.device)
    order = (places if cells.order is None else cells.order)[positive]
    start = np.concatenate([[0], np.cumsum(sizes)])
    return replace(cells, order=order, start=start, weight=cells.weight[positive])
