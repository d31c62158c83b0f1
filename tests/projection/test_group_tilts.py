"""One tilt per pair of groups, against brute force over all tilts, pair by pair."""

import numpy as np
import pytest
import torch
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from oracles import constraints_of, group_pair
from problems import Drawn, problems
from scipy.special import expit

import linkparity as lp
from linkparity import Cells
from linkparity.criteria import CRITERIA
from linkparity.projection.fit import FitGoal, fit_tilts
from linkparity.projection.group_tilts import fit_group_tilts, group_criterion, project_by_group
from linkparity.projection.solver import shared_tilt
from linkparity.projection.sums import binned_sums, tensor_sums


def group_tilts(drawn, criterion, target="model", tolerance=0.0, **options):
    """Group tilts of a problem in memory, and the targets they are for."""
    logits = torch.from_numpy(drawn.logits)
    given_ = {"weight": drawn.weight, **options}
    cells = Cells.prepare(drawn.groups, criterion, drawn.labels, **given_)
    groups = Cells.prepare(drawn.groups, group_criterion(cells.criterion), **given_)
    exact = tensor_sums(logits, cells, exact=True)
    bound = float(np.abs(drawn.logits).max()) + 1
    fit = fit_tilts(exact, cells, FitGoal.of(cells, target, tolerance), 1e-10, bound)
    found = fit_group_tilts(fit, groups, exact, lambda: binned_sums(logits, cells), bound)
    return found, groups, fit.targets


def distances(drawn, criterion, targets, key, tilts):
    """(tilts, constraints) |mean − target| of one pair of groups when all its pairs are tilted."""
    mine = [k for k, pair in enumerate(drawn.groups) if group_pair(np.atleast_1d(pair)) == key]
    rows = constraints_of(drawn.groups[mine], criterion, drawn.labels[mine])
    found = []
    for target, members in rows:
        which = np.array([mine[k] for k, _ in members])
        p = expit(drawn.logits[which] + tilts[:, None])
        p = np.where([sign for _, sign in members], p, 1 - p)
        weight = drawn.weight[which]
        found.append(np.abs(p @ weight / weight.sum() - targets[target]))
    return np.stack(found, axis=1) if found else np.zeros((len(tilts), 0))


def loss(distance, tolerance=0.0):
    return (np.maximum(distance - tolerance, 0) ** 2).sum(axis=1)


def pair_keys(drawn):
    return sorted({key for pair in drawn.groups if (key := group_pair(pair)) is not None})


def named(key):
    return "-".join(map(str, key))


#: Whose best tilt for accuracy lies midway between two points of the search.
BETWEEN_POINTS = Drawn(
    np.array([
        0.97130009, -1.25704377, 0.22925693, -0.87973706, -0.75768625, -1.34849644, 1.79397898,
        1.77576358, -0.09636215, 0.16337441, -0.03998057, -0.24851259, -0.71409347, 1.61687436,
        -0.25392528, 1.88830643, 1.32640695, -1.9377865, -1.47567137,
    ]),
    np.array([
        [1, 0], [0, -1], [2, -1], [2, -1], [1, 1], [0, 1], [0, 1], [1, 0], [1, 2], [-1, -1],
        [1, 1], [2, 1], [0, -1], [-1, 0], [1, -1], [-1, 1], [1, 0], [0, -1], [1, 2],
    ]),
    np.array([
        1.14131488e-02, 2.76658979e01, 2.27090172e-03, 1.71942318e-03, 1.20218897e01,
        2.13993854, 8.48777231e01, 1.91998831e-03, 3.70744002, 1.34408676, 5.90861357e01,
        2.73626834e-03, 1.52860670e-02, 4.77329925e02, 2.02403266e01, 5.84064484e-03,
        4.50174099e01, 1.35697962e02, 8.32026898,
    ]),
    np.array([1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0]),
)  # fmt: skip


@settings(max_examples=150)
@example(BETWEEN_POINTS, "accuracy", 0.0)
@given(
    problems(reach=8.0, groups=3),
    st.sampled_from(["eo", "equalized-odds", "accuracy", "churn"]),
    st.sampled_from([0.0, 0.05]),
)
def test_no_tilt_on_a_grid_comes_nearer_to_the_targets(drawn, criterion, tolerance):
    keys = pair_keys(drawn)
    assume(keys and (criterion != "eo" or Cells.prepare(drawn.groups, "eo", drawn.labels).total))
    found, groups, targets = group_tilts(drawn, criterion, tolerance=tolerance)
    grid = np.linspace(-30, 30, 6001)
    for key in keys:
        mine = groups.layout.names.index(named(key))
        tilt = found.tilt[mine]
        every = distances(drawn, criterion, targets, key, grid)
        here = distances(drawn, criterion, targets, key, np.array([tilt]))
        if not every.shape[1]:
            assert tilt == 0
            assert not found.constrained[mine]
            continue
        assert found.constrained[mine]
        best, got = np.sqrt(loss(every, tolerance)), np.sqrt(loss(here, tolerance))[0]
        assert got <= best.min() + 2e-6 + 1e-4 * (criterion in ("accuracy", "churn"))
        assert here.max() <= found.residual + 1e-9
        met = np.abs(grid[best <= 1e-9])
        if len(met):  # the nearest tilt to 0 that meets the targets
            assert abs(tilt) <= met.min() + 1e-6


@pytest.mark.parametrize("criterion", ["accuracy", "churn"])
def test_of_two_roots_the_nearer_to_0_is_taken(criterion):
    # links low, other pairs high: accuracy falls and rises again with the tilt
    rng = np.random.default_rng(4)
    groups = np.repeat([[0, 0], [0, 1], [1, 2]], 60, axis=0)
    labels = np.tile([0, 1], 90)
    logits = rng.normal(np.where(labels, -1.5, 2.0), 1.0)
    logits[:60] += 0.8
    drawn = Drawn(logits, groups, np.ones(180), labels)
    found, cells, targets = group_tilts(drawn, criterion)
    grid = np.linspace(-20, 20, 40001)
    several = 0
    for key in pair_keys(drawn):
        error = distances(drawn, criterion, targets, key, grid)[:, 0]
        dips = (error[1:-1] < error[:-2]) & (error[1:-1] < error[2:]) & (error[1:-1] < 5e-4)
        roots = grid[1:-1][dips]
        several += len(roots) > 1
        tilt = found.tilt[cells.layout.names.index(named(key))]
        assert abs(abs(tilt) - np.abs(roots).min()) < 2e-3
    assert several
    assert found.residual < 1e-9


@pytest.mark.parametrize("target", ["model", "free", 0.3])
@pytest.mark.parametrize("criterion", ["dp", "weak-dp", "eo"])
def test_where_a_pair_of_groups_has_one_cell_the_tilts_are_those_of_i_project(criterion, target):
    rng = np.random.default_rng(7)
    drawn = Drawn(
        rng.uniform(-4, 4, 400), rng.integers(-1, 4, (400, 2)), 10 ** rng.uniform(-1, 1, 400),
        rng.integers(0, 2, 400),
    )  # fmt: skip
    found, _, _ = group_tilts(drawn, criterion, target)
    p = lp.i_project(
        torch.from_numpy(drawn.logits), drawn.groups, criterion, drawn.labels, drawn.weight, target
    )
    assert np.abs(found.tilt - p.tilt.numpy()).max() < 1e-8
    assert found.residual < 1e-9


def test_equalized_odds_is_between_the_tilts_of_both_labels_and_residuals_are_true():
    rng = np.random.default_rng(3)
    count = 600
    labels = rng.integers(0, 2, count)
    groups = rng.integers(0, 3, (count, 2))
    logits = rng.normal(2.0 * labels - 1 + groups.sum(axis=1), 1.5)
    drawn = Drawn(logits, groups, np.ones(count), labels)
    found, cells, targets = group_tilts(drawn, "equalized-odds")
    p = lp.i_project(torch.from_numpy(logits), groups, "equalized-odds", labels)
    both = p.tilt.numpy().reshape(2, -1)
    assert (both.min(axis=0) <= found.tilt).all()
    assert (found.tilt <= both.max(axis=0)).all()
    worst = [
        distances(drawn, "equalized-odds", targets, key, found.tilt[[m]]).max()
        for key in pair_keys(drawn)
        for m in [cells.layout.names.index(named(key))]
    ]
    assert found.residual == pytest.approx(max(worst), abs=1e-12)
    assert found.residual > 0.01  # one tilt cannot meet two targets


def test_a_weight_is_a_number_of_copies():
    rng = np.random.default_rng(5)
    drawn = Drawn(
        rng.normal(size=120), rng.integers(0, 3, (120, 2)), rng.integers(1, 4, 120).astype(float),
        rng.integers(0, 2, 120),
    )  # fmt: skip
    times = drawn.weight.astype(int)
    copies = Drawn(
        *(np.repeat(part, times, axis=0) for part in (drawn.logits, drawn.groups, np.ones(120))),
        np.repeat(drawn.labels, times),
    )
    for criterion in ("eo", "equalized-odds", "accuracy", "churn"):
        first, second = (group_tilts(each, criterion)[0].tilt for each in (drawn, copies))
        assert np.abs(first - second).max() < 1e-8


def test_extreme_logits_and_a_target_out_of_reach():
    groups = np.repeat([[0, 0], [0, 1], [2, 2]], 4, axis=0)
    labels = np.array([0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1])
    logits = np.array([-80, 70, 3, -2, -60, 50, 4, 1, -90, -1, 2, 3.0])
    drawn = Drawn(logits, groups, np.ones(12), labels)
    for criterion in ("equalized-odds", "accuracy"):
        found, cells, targets = group_tilts(drawn, criterion)
        grid = np.linspace(-120, 120, 24001)
        for key in pair_keys(drawn):
            tilt = found.tilt[[cells.layout.names.index(named(key))]]
            best = np.sqrt(loss(distances(drawn, criterion, targets, key, grid))).min()
            here = np.sqrt(loss(distances(drawn, criterion, targets, key, tilt)))[0]
            assert here <= best + 2e-6 + 1e-4 * (criterion == "accuracy")


def test_where_the_best_tilt_is_infinite_it_is_the_first_that_is_nearly_as_good():
    # a pair of groups without a link: the accuracy rises to 1 as the tilt falls
    groups = np.repeat([[0, 0], [0, 1], [2, 2]], 50, axis=0)
    labels = np.repeat([0, 0, 1], 50)
    labels[:5] = 1
    logits = np.random.default_rng(0).normal(-1, 1, 150)
    drawn = Drawn(logits, groups, np.ones(150), labels)
    found, cells, _ = group_tilts(drawn, "accuracy", target=0.97)
    tilt = found.tilt[cells.layout.names.index("0-0")]
    assert -15 < tilt < -5
    assert found.residual == pytest.approx(0.97 - 0.9 + 1e-4, abs=1e-6)


def test_binned_sums_are_nearly_exact():
    rng = np.random.default_rng(0)
    logits = torch.from_numpy(rng.normal(0, 3, 5000))
    weight = rng.uniform(0, 2, 5000)
    cells = Cells.prepare(rng.integers(0, 3, (5000, 2)), "dp", weight=weight)
    exact, binned = tensor_sums(logits, cells, exact=True), binned_sums(logits, cells)
    for tilt in (np.zeros(6), rng.normal(0, 2, 6)):
        for first, second in zip(exact(tilt), binned(tilt), strict=True):
            assert (np.abs(first - second) < 1e-8 * first).all()
    assert len(binned.x) < 2 * len(logits)


def test_custom_cells_and_overlapping_attributes_are_refused_in_one_line():
    custom = lp.criteria.Custom([0, 1], np.eye(2), [0.5, 0.5])
    with pytest.raises(ValueError, match="tilt_by 'groups' needs a criterion about pairs of group"):
        group_criterion(custom)
    rng = np.random.default_rng(0)
    logits = rng.normal(size=50)
    both = {name: rng.integers(0, 3, 50) for name in ("sex", "age")}
    drawn = Drawn(logits, both, np.ones(50), rng.integers(0, 2, 50))
    with pytest.raises(ValueError, match="tilt_by 'groups' needs one attribute, or several that"):
        group_tilts(drawn, "eo", combine="each")
    crossed, _, _ = group_tilts(drawn, "eo", combine="cross")
    assert crossed.residual < 1e-9


def test_every_criterion_of_the_table_has_group_tilts():
    rng = np.random.default_rng(1)
    drawn = Drawn(
        rng.normal(size=90), rng.integers(0, 3, (90, 2)), np.ones(90), rng.integers(0, 2, 90)
    )
    for name, criterion in CRITERIA.items():
        wanted, groups, _ = group_tilts(drawn, name)
        assert wanted.tilt.shape == groups.mass.shape
        found, cells = project_by_group(
            torch.from_numpy(drawn.logits), torch.from_numpy(drawn.groups), criterion,
            labels=drawn.labels,
        )  # fmt: skip
        assert np.abs(found.tilt - wanted.tilt).max() < 1e-8
        assert cells.layout.names == groups.layout.names


def test_without_a_constrained_pair_nothing_is_tilted():
    logits, groups = torch.zeros(4), torch.tensor([[0, 1], [1, 2], [2, 2], [0, 0]])
    found, _ = project_by_group(logits, groups, CRITERIA["eo"], labels=[0, 0, 0, 0])
    assert not found.tilt.any()
    assert not found.constrained.any()


def test_shared_tilts_are_found_or_said_not_to_be(monkeypatch):
    """Secants crawl along a mean that is flat on one side of its root; halves do not."""
    edge = np.array([0.3, -0.7, 0.11])

    def value(tilt):
        return np.where(tilt < edge, np.array([1.0, 1e-2, 1e-4]) * (tilt - edge), 1.0)

    ends = np.full(3, -1.0), np.zeros(3), np.ones(3)
    found = shared_tilt._roots(value, *ends)
    assert np.abs(found - edge).max() < 1e-10
    monkeypatch.setattr(shared_tilt, "MAX_STEPS", 3)
    with pytest.raises(lp.NotConverged, match="only after 3 steps"):
        shared_tilt._roots(value, *ends)
    logits, groups, labels = torch.linspace(-2, 3, 12), torch.arange(12) % 3, torch.arange(12) % 2
    with pytest.raises(lp.NotConverged, match="i_project: a tilt shared by several cells"):
        project_by_group(logits, groups, CRITERIA["equalized-odds"], labels=labels)
