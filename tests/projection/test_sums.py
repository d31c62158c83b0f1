"""Sums per cell against sums pair by pair, in every way they are computed.

Cells count as large from 64 pairs here, not from 4,096, and chunks hold 700, not 16 million.
"""

import numpy as np
import pytest
import torch
from scipy.special import expit

from linkparity import Cells, FairnessRegularizer, i_project
from linkparity.projection import chunks
from linkparity.projection import tensor_sums as sums
from linkparity.projection.sums import RememberedSums, Sums
from linkparity.projection.tensor_sums import SegmentSums, pair_divergence, tensor_sums

#: Logits of each cell: low, high, far apart, few, none, around 0, few of little weight, few.
CENTRES = [
    (-4.0, 500), (5.0, 900), (30.0, 400), (1.0, 20), (0.0, 0), (0.0, 600), (-1.0, 3), (6.0, 40)
]  # fmt: skip
FEW = [3, 6, 7]
TILTS = [
    np.zeros(8),
    np.array([0.3, -0.5, 0.2, 0.7, 0.0, -1.5, 2.0, -0.1]),
    np.array([9.0, -8.0, 5.0, 1.0, 0.0, 4.0, -7.5, 30.0]),
    np.array([-7.0, 3.0, -11.0, -40.0, 0.0, 25.0, 8.0, -24.0]),
    np.array([0.0, 1e-3, 1e-3, 0.0, 0.0, -1e-3, 1e-3, 0.0]),
]


@pytest.fixture(params=[700, 1 << 24], ids=["chunks", "one chunk"])
def small_sizes(monkeypatch, request):
    monkeypatch.setattr(sums, "SMALL", 64)
    monkeypatch.setattr(chunks, "CHUNK_SIZE", request.param)


def given_pairs(dtype, largest):
    """Logits, cells, and logits and weights by cell in float64; ``largest`` weight or None."""
    rng = np.random.default_rng(0)
    cell = np.repeat(np.arange(8), [count for _, count in CENTRES])
    x = rng.normal(0, 1.5, len(cell)) + np.array([centre for centre, _ in CENTRES])[cell]
    x[cell == 2] *= rng.choice([-1, 1], (cell == 2).sum())
    weight = rng.uniform(0.1, 1, len(cell)) * np.where(cell == 6, 1e-3, 1.0)
    weight[0], weight[5], x[5] = 1.0, 0.0, 20.0
    order = rng.permutation(len(cell))
    logits = torch.from_numpy(x[order]).to(dtype)
    used = None if largest is None else largest * weight[order]
    cells = Cells.prepare(cell[order], weight=used)
    x, weight = logits.double().numpy(), np.ones(len(cell)) if used is None else used
    by_cell = [(x[cell[order] == m], weight[cell[order] == m]) for m in range(8)]
    return logits, cells, by_cell


def divergence(x, tilt):
    """KL(σ(x + t) ‖ σ(x)) as the integral of s σ'(x + s) over s from 0 to t, by quadrature."""
    node, share = np.polynomial.legendre.leggauss(24)
    steps = max(1, int(np.ceil(abs(tilt))))
    s = (np.arange(steps)[:, None] + (node + 1) / 2).ravel() * tilt / steps
    z = np.asarray(x)[..., None] + s
    return (s * expit(z) * expit(-z)) @ np.tile(share, steps) * tilt / steps / 2


way = pytest.mark.parametrize(
    ("dtype", "largest"),
    [(torch.float64, None), (torch.float64, 5.0), (torch.float32, None), (torch.float32, 2.0)],
)


def digits(dtype, m):
    """Relative error of a cell's sum: those of few pairs are in float64."""
    return 1e-12 if dtype == torch.float64 or m in FEW else 1e-6


@way
def test_sums_per_cell_are_those_of_its_pairs(small_sizes, dtype, largest):
    logits, cells, by_cell = given_pairs(dtype, largest)
    source = tensor_sums(logits, cells)
    assert not isinstance(source, SegmentSums)
    if dtype == torch.float32:
        assert len(source.rest.x) == sum(CENTRES[m][1] for m in FEW)
    for tilt in [*TILTS, *TILTS[::-1]]:
        yes, no, variance = source(tilt)
        for m, (x, weight) in enumerate(by_cell):
            p, q = expit(x + tilt[m]), expit(-x - tilt[m])
            assert yes[m] == pytest.approx(weight @ p, rel=digits(dtype, m))
            assert no[m] == pytest.approx(weight @ q, rel=digits(dtype, m))
            assert variance[m] == pytest.approx(weight @ (p * q), rel=1e3 * digits(dtype, m))


@way
def test_divergence_per_cell_is_that_of_its_pairs(small_sizes, dtype, largest):
    logits, cells, by_cell = given_pairs(dtype, largest)
    source = tensor_sums(logits, cells)
    for tilt in [*TILTS, *TILTS[::-1]]:
        found = source.divergence(tilt)
        for m, (x, weight) in enumerate(by_cell):
            expected = weight @ divergence(x, tilt[m])
            error = digits(dtype, m) * (weight.sum() + expected)
            assert found[m] == pytest.approx(expected, abs=error)


@way
def test_changes_and_slopes_of_the_pairs_stand_in_the_order_of_the_cells(
    small_sizes, dtype, largest
):
    logits, cells, by_cell = given_pairs(dtype, largest)
    source = tensor_sums(logits, cells)
    x, weight = (np.concatenate(part) for part in zip(*by_cell, strict=True))
    sizes = [count for _, count in CENTRES]
    error = 1e-14 if dtype == torch.float64 else 2e-7
    for tilt in TILTS:
        source(tilt)  # which chooses the side that each cell is summed from
        change = weight * (expit(x) - expit(x + np.repeat(tilt, sizes)))
        found = source.shift(tilt)
        assert found.dtype == dtype
        assert found.double().numpy() == pytest.approx(change, abs=error * weight.max())
    slope = weight * expit(x) * expit(-x)
    assert source.slope().double().numpy() == pytest.approx(slope, abs=error * weight.max())


@pytest.mark.parametrize("largest", [None, 5.0])
def test_many_small_cells_are_summed_at_once_in_float64(largest):
    logits, cells, by_cell = given_pairs(torch.float32, largest)
    source = tensor_sums(logits, cells)
    assert isinstance(source, SegmentSums)
    x, weight = (np.concatenate(part) for part in zip(*by_cell, strict=True))
    for tilt in TILTS:
        each = np.repeat(tilt, [count for _, count in CENTRES])
        found = [*source(tilt), source.divergence(tilt)]
        for m, (mine, share) in enumerate(by_cell):
            p, q = expit(mine + tilt[m]), expit(-mine - tilt[m])
            expected = [p, q, p * q, divergence(mine, tilt[m])]
            for total, values in zip(found, expected, strict=True):
                assert total[m] == pytest.approx(share @ values, rel=1e-10)
        change = weight * (expit(x) - expit(x + each))
        assert source.shift(tilt).numpy() == pytest.approx(change, abs=1e-13)
    slope = weight * expit(x) * expit(-x)
    assert source.slope().numpy() == pytest.approx(slope, abs=1e-13)
    assert [len(part) for part in source.split(source.x)] == [count for _, count in CENTRES]


def test_divergence_of_a_pair_keeps_its_digits():
    x = np.array([-700.0, -40.0, -3.0, 0.0, 1e-9, 2.0, 35.0, 700.0])
    for tilt in (1e-6, -1e-6, 0.5, -3.0, 29.0, 31.0, -31.0, 80.0, -80.0, 745.0, -745.0):
        found = pair_divergence(torch.from_numpy(x), torch.tensor(tilt, dtype=torch.float64))
        assert found.numpy() == pytest.approx(divergence(x, tilt), rel=1e-8, abs=1e-15)
    assert not pair_divergence(torch.from_numpy(x), torch.zeros(8)).any()


def test_no_pair_has_no_sum():
    none = Cells.prepare(torch.empty(0, 2, dtype=torch.int64))
    no_link = Cells.prepare([[0, 1], [1, 2], [2, 2]], "eo", labels=[0, 0, 0])
    for cells in (none, no_link):
        logits, nothing = torch.zeros(len(cells)), np.zeros(len(cells.mass))
        assert all(np.array_equal(part, nothing) for part in tensor_sums(logits, cells)(nothing))


def test_a_pass_over_the_pairs_is_made_once_for_tilt_0_and_once_for_the_last():
    passes = []

    class Counted(RememberedSums):
        def compute(self, tilt):
            passes.append(tilt.tolist())
            return Sums(tilt + 1, tilt + 2, tilt + 3)

    source, tilt = Counted(), np.array([1.0, 0.0, 2.0])
    for asked in (np.zeros(3), tilt, np.zeros(3), tilt):
        assert np.array_equal(source(asked).yes, asked + 1)
    assert passes == [[0, 0, 0], [1, 0, 2]]
    tilt[1] = 5  # the caller's array, written to after the call
    assert source(tilt).no.tolist() == [3, 7, 4]
    assert len(passes) == 3


def test_working_memory_goes_from_one_projection_to_the_next():
    groups, x = torch.arange(15_000) % 3, torch.linspace(-2, 1, 15_000)
    cells = Cells.prepare(groups)
    i_project(x, cells=cells)
    (lent,) = cells.pool
    for again in (x + 1, -x):
        i_project(again, cells=cells)
        assert [buffer.data_ptr() for buffer in cells.pool] == [lent.data_ptr()]
    i_project(x.double(), cells=cells)  # of another type
    assert cells.pool[0].dtype == torch.float64


@pytest.mark.parametrize("shift", [-3.0, 3.0])
def test_few_float32_logits_are_projected_in_float64(shift):
    x = torch.linspace(-2, 2, 90) + shift
    groups = torch.arange(90) % 3
    single, double = (FairnessRegularizer(target=0.3) for _ in "ab")
    single(x, groups)
    double(x.double(), groups)
    assert single.tilt.numpy() == pytest.approx(double.tilt.numpy(), abs=1e-9)
