"""A sample of the pairs: how many of each cell, which, and with what weight."""

import math

import numpy as np
import pytest
import torch

from linkparity import Cells
from linkparity.projection.subsample import subsample

SIZES = [200, 0, 1, 37, 500]


def cells_with(weighted, ordered=False, seed=0):
    """Cells of :data:`SIZES` pairs and some pairs in none; a third of the weights are 0."""
    rng = np.random.default_rng(seed)
    cell = np.repeat([-1, 0, 1, 2, 3, 4], [60, *SIZES])
    if ordered:
        cell = cell[60:]
    else:
        rng.shuffle(cell)
    weight = rng.uniform(0.5, 4, len(cell)) * (rng.random(len(cell)) < 0.67)
    weight[cell == 2] = 3.0
    return cell, weight, Cells.prepare(cell, weight=weight if weighted else None)


def positions(cells, sample):
    """The position of every sampled pair, cell by cell."""
    order = np.arange(int(sample.start[-1])) if sample.order is None else sample.order
    return [order[a:b].tolist() for a, b in zip(sample.start[:-1], sample.start[1:], strict=True)]


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [1, 40, 150, 5000])
def test_every_cell_has_its_share_and_its_whole_weight(size, weighted, ordered):
    cell, weight, cells = cells_with(weighted, ordered)
    sample = subsample(cells, size)
    useful = weight > 0 if weighted else cell >= 0
    total = (useful & (cell >= 0)).sum()
    for m, mine in enumerate(positions(cells, sample)):
        known = np.flatnonzero((cell == m) & useful)
        assert len(mine) == min(len(known), max(1, math.ceil(len(known) * size / total)))
        assert set(mine) <= set(known.tolist())
        if len(mine) == len(known):
            assert set(mine) == set(known.tolist())
        own = sample.weight[sample.start[m] : sample.start[m + 1]]
        full = weight[cell == m] if weighted else np.ones(SIZES[m])
        assert own.sum() == pytest.approx(full.sum())
        if weighted and mine:
            assert own / own[0] == pytest.approx(weight[mine] / weight[mine[0]])
    assert np.array_equal(sample.mass, cells.mass)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_pair_of_a_cell_is_drawn_as_often_as_any_other(weighted):
    cell, weight, cells = cells_with(weighted)
    drawn, generator = np.zeros(len(cell)), torch.Generator().manual_seed(0)
    for _ in range(400):
        for mine in positions(cells, subsample(cells, 90, generator)):
            drawn[mine] += 1
    useful = weight > 0 if weighted else cell >= 0
    for m in (0, 3, 4):
        known = (cell == m) & useful
        mean = drawn[known].mean()
        assert 20 < mean < 150
        assert (np.abs(drawn[known] - mean) < 5 * math.sqrt(mean)).all()
    assert (drawn[cell == 2] == 400).all()


def test_one_pair_comes_from_each_of_as_many_equal_segments():
    _, _, cells = cells_with(weighted=False)
    place = np.empty(len(cells), dtype=np.int64)
    place[cells.order] = np.arange(len(cells.order))
    for mine, begin, count in zip(
        positions(cells, subsample(cells, 70)), cells.start, SIZES, strict=False
    ):
        length = max(count, 1) / max(len(mine), 1)
        middle = (np.arange(len(mine)) + 0.5) * length
        assert (np.abs((place[mine] - begin) - middle) < length / 2 + 1).all()


def test_the_generator_decides_which_pairs():
    _, _, cells = cells_with(weighted=True)

    def drawn(seed=None):
        generator = None if seed is None else torch.Generator().manual_seed(seed)
        return subsample(cells, 60, generator).order.tolist()

    assert drawn(1) == drawn(1) != drawn(2)
    assert drawn() == drawn(0)
