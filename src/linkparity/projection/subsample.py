"""A stratified sample of the pairs: some of every cell, with the weight of the whole cell."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linkparity.criteria.cells import Cells
from linkparity.support.arrays import pytorch, whole_number
from linkparity.support.errors import InputError

if TYPE_CHECKING:
    from torch import Generator


def subsample(
    cells: Cells, size: int, generator: "Generator | np.random.Generator | None" = None
) -> Cells:
    """About ``size`` of the constrained pairs, at least one of each cell that has any.

    Each cell contributes in proportion to its size, one pair from each of as many equal segments
    of its pairs, and the sampled pairs of a cell have the weight of the whole cell.
    """
    size = whole_number(size, "sample_size", "i_project")
    if size < 1:
        fix = "None uses every pair"
        raise InputError(f"must be at least 1, got {size}", fix, argument="sample_size")
    cells = _without_weightless(cells)
    sizes = np.diff(cells.start)
    share = size / max(int(sizes.sum()), 1)
    take = np.minimum(sizes, np.maximum(np.ceil(sizes * share), 1)).astype(np.int64)
    cell = np.repeat(np.arange(len(take)), take)
    new_start = np.concatenate([[0], np.cumsum(take)])
    rank = np.arange(len(cell)) - new_start[cell] + _uniform(len(cell), generator)
    place = (rank * (sizes / np.maximum(take, 1))[cell]).astype(np.int64) + cells.start[cell]
    drawn = np.ones(len(cell))
    if cells.weight is not None:
        drawn = cells.weight[place].astype(np.float64)
    total = np.bincount(cell, drawn, len(take))
    weight = drawn * (cells.mass / np.where(total == 0, 1.0, total))[cell]
    order = place if cells.order is None else cells.order[place]
    return replace(cells, order=order, start=new_start, weight=weight)


def _uniform(count: int, generator: "Generator | np.random.Generator | None") -> np.ndarray:
    """Numbers in [0, 1)."""
    torch = pytorch()
    if isinstance(generator, np.random.Generator) or torch is None:
        source = np.random.default_rng(0) if generator is None else generator
        return np.asarray(source.random(count))  # type: ignore[union-attr]
    source = torch.Generator().manual_seed(0) if generator is None else generator
    return np.asarray(torch.rand(count, generator=source, dtype=torch.float64))


def _without_weightless(cells: Cells) -> Cells:
    """The same cells without the pairs of weight 0, which must not be sampled."""
    if cells.weight is None or (cells.weight > 0).all():
        return cells
    positive = cells.weight > 0
    sizes = cells.sum(positive).astype(np.int64)
    places = np.arange(len(positive))
    order = (places if cells.order is None else cells.order)[positive]
    start = np.concatenate([[0], np.cumsum(sizes)])
    return replace(cells, order=order, start=start, weight=cells.weight[positive])
