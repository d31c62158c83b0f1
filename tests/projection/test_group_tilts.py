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
from linkparity.pairs.arrays import array_pairs
from linkparity.pairs.fit import cells_of, fit_pairs
from linkparity.pairs.totals import BinnedSums, SourceSums, Totals
from linkparity.projection.fit import FitGoal, fit_tilts
from linkparity.projection.group_tilts import fit_group_tilts, group_criterion
from linkparity.projection.solver import shared_tilt
from linkparity.projection.tensor_sums import tensor_sums


def rows_of(drawn):
    """The pairs of a problem as a source, and their sums."""
    labels = np.asarray(drawn.labels, dtype=np.float64)
    source = array_pairs(drawn.logits, np.asarray(drawn.groups), True, labels, drawn.weight)
    totals = Totals(source.kinds)
    source.run(totals)
    return source, totals


def group_tilts(drawn, criterion, target="model", tolerance=0.0):
    """Group tilts of a problem in memory, and the targets they are for."""
    found = fit_pairs(*rows_of(drawn), criterion, target, tolerance, tilt_by="groups")
    targets = found.target if isinstance(found.target, dict) else {None: found.target}
    return found, found.cells, targets


def tensor_tilts(logits, cells, groups):
    """Group tilts from exact sums alone."""
    exact = tensor_sums(logits, cells, exact=True)
    fit = fit_tilts(exact, cells, FitGoal.of(cells, "model", 0.0), 1e-10, 10.0)
    return fit_group_tilts(fit, groups, exact, lambda: exact, 10.0)


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
            assert not groups.mass[mine] or mine in found.free
            continue
        assert mine not in found.free
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
    drawn = Drawn(
        rng.normal(0, 3, 5000), rng.integers(0, 3, (5000, 2)), rng.uniform(0, 2, 5000),
        rng.integers(0, 2, 5000),
    )  # fmt: skip
    source, totals = rows_of(drawn)
    cells = cells_of(source.kinds, totals, "dp")
    exact = SourceSums(source, totals, cells.cell.numpy(), len(cells.mass))
    binned = BinnedSums(totals, cells)
    for tilt in (np.zeros(6), rng.normal(0, 2, 6)):
        for first, second in zip(exact(tilt), binned(tilt), strict=True):
            assert (np.abs(first - second) < 1e-8 * first).all()
    assert len(binned.logit) < 2 * len(drawn.logits)


def test_custom_cells_and_overlapping_attributes_are_refused_in_one_line():
    custom = lp.criteria.Custom([0, 1], np.eye(2), [0.5, 0.5])
    with pytest.raises(ValueError, match="tilt_by 'groups' needs a criterion about pairs of group"):
        group_criterion(custom)
    rng = np.random.default_rng(0)
    logits, labels = torch.from_numpy(rng.normal(size=50)), rng.integers(0, 2, 50)
    both = {name: rng.integers(0, 3, 50) for name in ("sex", "age")}
    crossed = Cells.prepare(both, "eo", labels, combine="cross")
    assert tensor_tilts(logits, crossed, Cells.prepare(both, combine="cross")).residual < 1e-9
    each = Cells.prepare(both, "eo", labels, combine="each")
    with pytest.raises(ValueError, match="tilt_by 'groups' needs one attribute, or several that"):
        tensor_tilts(logits, each, Cells.prepare(both, combine="each"))


def test_every_criterion_of_the_table_has_group_tilts():
    rng = np.random.default_rng(1)
    drawn = Drawn(
        rng.normal(size=90), rng.integers(0, 3, (90, 2)), np.ones(90), rng.integers(0, 2, 90)
    )
    for name in CRITERIA:
        found, groups, _ = group_tilts(drawn, name)
        assert found.tilt.shape == groups.mass.shape
        cells = Cells.prepare(drawn.groups, name, drawn.labels)
        by = Cells.prepare(drawn.groups, group_criterion(cells.criterion))
        wanted = tensor_tilts(torch.from_numpy(drawn.logits), cells, by)
        assert np.abs(found.tilt - wanted.tilt).max() < 1e-8
        assert by.layout.names == groups.layout.names


def test_errors_of_both_labels_that_cancel_are_not_targets_met():
    """At tilt 0 one label's mean is as far above its target as the other's below."""
    flat, steep = [0.0] * 4, [-4.0, 4.0, -4.0, 4.0]
    drawn = Drawn(
        np.array([*flat, *steep, *flat, *steep, *flat, *flat]),
        np.repeat([[0, 0], [0, 1], [2, 2]], 8, axis=0),
        np.ones(24),
        np.tile(np.repeat([0, 1], 4), 3),
    )
    found, cells, targets = group_tilts(drawn, "equalized-odds", (0.25, 0.75))
    grid = np.linspace(-3, 3, 6001)
    for key, moves in (((0, 0), True), ((0, 1), True), ((2, 2), False)):
        best = grid[loss(distances(drawn, "equalized-odds", targets, key, grid)).argmin()]
        assert found.tilt[cells.layout.names.index(named(key))] == pytest.approx(best, abs=1e-3)
        assert (abs(best) > 0.1) == moves


def test_a_mean_that_hardly_moves_leaves_the_tilt_to_the_other():
    """The best tilt is then at one end of the interval between the tilts of both labels."""
    near, far = [0.0] * 4, [-9.0, 9.0, -9.0, 9.0]
    drawn = Drawn(
        np.array([*far, *near, *near, *far, *near, *near]),
        np.repeat([[0, 0], [0, 1], [2, 2]], 8, axis=0),
        np.ones(24),
        np.tile(np.repeat([0, 1], 4), 3),
    )
    found, cells, targets = group_tilts(drawn, "equalized-odds", (0.25, 0.75))
    for key, middle in (((0, 0), np.log(3)), ((0, 1), -np.log(3)), ((2, 2), 0.0)):
        grid = middle + np.linspace(-0.1, 0.1, 20001)
        best = grid[loss(distances(drawn, "equalized-odds", targets, key, grid)).argmin()]
        assert found.tilt[cells.layout.names.index(named(key))] == pytest.approx(best, abs=2e-5)
        assert abs(best - middle) < 0.01


@pytest.mark.parametrize("criterion", ["equalized-odds", "accuracy", "churn"])
def test_a_pair_of_groups_that_meets_its_targets_is_not_tilted(criterion):
    """Of all the tilts that do, 0 is the nearest; the others stop where they first do."""
    rng = np.random.default_rng(2)
    labels, groups = rng.integers(0, 2, 400), rng.integers(0, 3, (400, 2))
    near = (groups == groups[:, ::-1]).all(axis=1) | (groups.sum(axis=1) == 1)
    middle = np.where(near, labels, 2.5 - labels)  # elsewhere high, and higher without a link
    drawn = Drawn(rng.normal(middle, 1.0), groups, np.ones(400), labels)
    found, cells, targets = group_tilts(drawn, criterion, tolerance=0.08)
    none = []
    for key in pair_keys(drawn):
        tilt = found.tilt[cells.layout.names.index(named(key))]
        met = distances(drawn, criterion, targets, key, np.zeros(1)).max() <= 0.08
        assert (tilt == 0) == met
        none.append(met)
        if not met and found.residual <= 0.08 + 1e-9:
            nearer = distances(drawn, criterion, targets, key, np.array([0.99 * tilt]))
            assert nearer.max() > 0.08
    assert 0 < sum(none) < len(none)


@pytest.mark.parametrize("name", CRITERIA)
def test_float32_logits_have_the_shared_tilts_of_the_same_numbers_in_float64(name):
    generator = torch.Generator().manual_seed(0)
    groups = torch.randint(0, 3, (60_000, 2), generator=generator)
    labels = (torch.rand(60_000, generator=generator) < 0.4).long()
    x = torch.randn(60_000, generator=generator) + groups.sum(dim=1) - 2 + labels
    target = (0.3, 0.6) if name == "equalized-odds" else 0.55
    more = groups.numpy(), np.ones(60_000), labels.numpy()
    one, two = (group_tilts(Drawn(each.numpy(), *more), name, target) for each in (x, x.double()))
    assert one[0].tilt == pytest.approx(two[0].tilt, abs=1e-10)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("sign", [1, -1])
def test_curved_means_are_solved_in_few_steps_from_either_side(side, sign):
    """Secants alone keep one end of the interval for ever."""
    edge, asked = np.array([0.3, -0.5, 0.8]), []

    def value(tilt):
        asked.append(tilt)
        return sign * (np.exp(6 * side * tilt) - np.exp(6 * side * edge))

    found = shared_tilt._roots(value, np.full(3, -1.0), np.zeros(3), np.ones(3))
    assert np.abs(found - edge).max() < 1e-11
    assert len(asked) <= 20


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
    drawn = Drawn(np.linspace(-2, 3, 12), np.arange(12) % 3, np.ones(12), np.arange(12) % 2)
    with pytest.raises(lp.NotConverged, match="i_project: a tilt shared by several cells"):
        group_tilts(drawn, "equalized-odds")
