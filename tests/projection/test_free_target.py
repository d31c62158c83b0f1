"""A free target against a search over its value by the problems with a given target."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from linkparity import Cells, i_project
from linkparity.projection import fit
from linkparity.projection.fit import FitGoal, fit_tilts
from linkparity.projection.tensor_sums import tensor_sums


def drawn_cells(criterion, seed=0, count=120):
    rng = np.random.default_rng(seed)
    ends, labels = rng.integers(0, 3, (count, 2)), rng.integers(0, 2, count)
    x = torch.from_numpy(rng.normal(ends.sum(axis=1) - 1.5 - labels, 1.0))
    return x, Cells.prepare(ends, criterion, labels, rng.uniform(0.2, 3, count))


def fitted(x, cells, target, tolerance, limits=None, start=None):
    """Targets by block and the tilts, with limits ``(2, blocks)`` of the targets."""
    goal = FitGoal.of(cells, target, tolerance, start)
    if limits is not None:
        goal = replace(goal, limits=np.asarray(limits)[:, cells.layout.block])
    return fit_tilts(tensor_sums(x, cells), cells, goal, 1e-10, float(x.abs().max()) + 1)


def best_target(x, cells, key, others, tolerance, low, high):
    """The target of one block, between two limits, at which the projection is nearest."""

    def distance(target):
        target = others | {key: float(target)}
        return i_project(x, cells=cells, target=target, tolerance=tolerance).kl.item()

    found = minimize_scalar(distance, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
    return found.x


@pytest.mark.parametrize("tolerance", [0.0, 0.03])
@pytest.mark.parametrize("criterion", ["dp", "accuracy", "equalized-odds"])
def test_the_free_target_within_limits_is_the_best_of_those(criterion, tolerance):
    x, cells = drawn_cells(criterion)
    blocks = cells.layout.blocks
    free = fitted(x, cells, "free", tolerance).targets
    for shift, width in [(0.1, 0.05), (-0.1, 0.05), (0.02, 0.15), (-0.05, 0.15)]:
        shifts = shift * np.array([1, -1])[: len(blocks)]  # of two blocks, one up and one down
        middle = np.array([free[key] for key in blocks]) + shifts
        limits = [middle - width, middle + width]
        found = fitted(x, cells, "free", tolerance, limits).targets
        for key, low, high in zip(blocks, *limits, strict=True):
            if low < free[key] < high:
                assert found[key] == pytest.approx(free[key], abs=1e-6)
            others = {other: value for other, value in found.items() if other != key}
            expected = best_target(x, cells, key, others, tolerance, low, high)
            assert found[key] == pytest.approx(expected, abs=1e-4)
            assert low - 1e-9 <= found[key] <= high + 1e-9


def test_limits_may_lie_beyond_0_and_1_and_beyond_all_means():
    x, cells = drawn_cells("dp")
    free = fitted(x, cells, "free", 0.02).targets[None]
    wide = fitted(x, cells, "free", 0.02, [[-0.3], [1.4]]).targets[None]
    assert wide == pytest.approx(free, abs=1e-6)
    for low, high, end in [(0.97, 1.2, 0.97), (-0.2, 0.02, 0.02)]:
        assert fitted(x, cells, "free", 0.02, [[low], [high]]).targets[None] == pytest.approx(end)


@pytest.mark.parametrize("criterion", ["dp", "accuracy", "equalized-odds", "weak-dp"])
@pytest.mark.parametrize("started", [False, True])
def test_target_by_target_and_all_at_once_agree(criterion, started, monkeypatch):
    """Many constraints are solved one way, few the other."""
    x, cells = drawn_cells(criterion, seed=1)
    start = np.linspace(-1, 1, len(cells.mass)) if started else None
    once = fitted(x, cells, "free", 0.0, start=start)
    monkeypatch.setattr(fit, "MANY", 1)
    each = fitted(x, cells, "free", 0.0, start=start)
    assert each.targets == pytest.approx(once.targets, abs=1e-7)
    assert each.tilt == pytest.approx(once.tilt, abs=1e-6)
    again = fitted(x, cells, "free", 0.0, start=each.tilt)
    assert again.steps < each.steps


@pytest.mark.parametrize("tolerance", [0.3, 0.9])
def test_means_within_the_tolerance_of_one_target_stay(tolerance):
    x, cells = drawn_cells("dp", seed=2)
    x = x / 10
    found = fitted(x, cells, "free", tolerance)
    assert not found.tilt.any()
    means = [torch.sigmoid(x[cells.cell == m]).mean().item() for m in range(6)]
    assert max(abs(mean - found.target) for mean in means) <= tolerance + 0.02


@pytest.mark.parametrize("criterion", ["dp", "accuracy", "equalized-odds"])
def test_initial_tilts_tell_where_the_target_is_too(criterion):
    """Of a few problems, each with a cell that starts at 0, as one that is new does."""
    warm, cold = [], []
    for seed in range(6):
        x, cells = drawn_cells(criterion, seed, count=300)
        start = fitted(x, cells, "free", 0.02).tilt
        start[seed % len(start)] = 0
        found = fitted(1.001 * x, cells, "free", 0.02, start=start)
        fresh = fitted(1.001 * x, cells, "free", 0.02)
        assert found.targets == pytest.approx(fresh.targets, abs=1e-6)
        warm.append(found.steps)
        cold.append(fresh.steps)
    assert np.mean(warm) < 0.8 * np.mean(cold)
