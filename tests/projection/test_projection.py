"""The I-projection against other ways to the same numbers."""

import math
from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import constraints_of, group_pair, logit_of_mean, pair_cells, primal, scalar_tilt
from problems import Drawn, problems
from scipy.optimize import OptimizeResult

import linkparity as lp
from linkparity import Cells, Infeasible, NotConverged, i_project
from linkparity.projection.tensor_sums import tensor_sums

CRITERIA = list(lp.criteria.CRITERIA)
NO_DATA_TARGET = [name for name, c in lp.criteria.CRITERIA.items() if not c.data_target]


def random_problem(seed=0, count=60, groups=3, reach=4.0):
    rng = np.random.default_rng(seed)
    return Drawn(
        rng.uniform(-reach, reach, count),
        rng.integers(0, groups, (count, 2)),
        10 ** rng.uniform(-1, 1, count),
        rng.integers(0, 2, count),
    )


def divergence(x, z, weight=1.0):
    """Σ w KL(σ(z) ‖ σ(x)), term by term."""
    h = 1 / (1 + np.exp(-z))
    each = h * (np.logaddexp(0, -x) - np.logaddexp(0, -z))
    each += (1 - h) * (np.logaddexp(0, x) - np.logaddexp(0, z))
    return float((weight * each).sum())


def project(drawn, **options):
    return i_project(
        torch.from_numpy(drawn.logits),
        groups=drawn.groups,
        labels=drawn.labels,
        weight=drawn.weight,
        **options,
    )


# ---------------------------------------------------------------- tilts


@settings(max_examples=300)
@given(problems())
def test_tilts_agree_with_scalar_root_finding(drawn):
    keys = [group_pair(pair) for pair in drawn.groups]
    known = np.array([key is not None for key in keys])
    assume(known.any())
    p = project(drawn)
    goal = logit_of_mean(drawn.logits[known], drawn.weight[known])
    for key in set(keys) - {None}:
        mine = np.array([k == key for k in keys])
        expected = scalar_tilt(drawn.logits[mine], drawn.weight[mine], goal)
        got = p.tilt[p.cell[np.flatnonzero(mine)[0]]].item()
        # the same mean: a flat cell may have it at many tilts
        error = logit_of_mean(drawn.logits[mine] + got, drawn.weight[mine]) - goal
        assert abs(error) <= 1e-8
        slope = logit_of_mean(drawn.logits[mine] + got + 1e-4, drawn.weight[mine]) - goal - error
        if slope > 1e-6:
            assert got == pytest.approx(expected, abs=1e-6, rel=1e-6)
        if slope > 0.5e-4:
            assert got == pytest.approx(expected, abs=1e-8, rel=1e-8)


def test_cell_near_one_with_a_small_target():
    """Plain Newton diverges here."""
    p = i_project(torch.tensor([9.0, 30.0, 14.0], dtype=torch.float64), [0, 0, 0], target=1e-4)
    mean = torch.sigmoid(p.logits).mean().item()
    assert mean == pytest.approx(1e-4, rel=1e-8)


def test_gap_of_1e_20_is_a_real_tilt():
    x = torch.tensor([45.0, 45.0, 50.0], dtype=torch.float64)
    p = i_project(x, [0, 1, 2], target="model")
    goal = logit_of_mean(x.numpy(), np.ones(3))
    assert p.tilt.numpy() == pytest.approx(goal - x.numpy(), abs=1e-9)


@given(problems(none=False))
def test_cells_stand_in_the_documented_order(drawn):
    size = drawn.groups.max() + 1
    p = project(drawn)
    order = pair_cells(size)
    assert p.cell_names == tuple(f"{a}-{b}" for a, b in order)
    assert [order[c] for c in p.cell] == [tuple(sorted(pair)) for pair in drawn.groups.tolist()]


def test_groups_of_minus_one():
    groups = [[0, -1], [-1, 1], [2, 1], [-1, -1], [2, -1]]
    p = i_project(torch.tensor([1.0, -2.0, 0.5, 3.0, 0.0], dtype=torch.float64), groups)
    assert p.cell_names[6:] == ("0", "1", "2")
    assert p.cell.tolist() == [6, 7, 4, -1, 8]
    assert p.logits[3] == 3.0
    assert torch.sigmoid(p.logits[[0, 1, 2, 4]]).numpy() == pytest.approx(p.target)


def test_bipartite_groups_equal_groups_of_instances():
    x = torch.linspace(-3, 2, 30, dtype=torch.float64)
    group = torch.arange(30) % 3
    pairs = torch.stack([group, torch.full_like(group, -1)], dim=1)
    one, two = i_project(x, group), i_project(x, pairs)
    assert one.cell_names == two.cell_names
    assert torch.equal(one.tilt, two.tilt)


def test_directed_tells_the_ends_apart():
    x = torch.tensor([1.0, -1.0, 2.0], dtype=torch.float64)
    p = i_project(x, [[0, 1], [1, 0], [2, 1]], directed=True, target=0.5)
    assert p.cell_names[1] == "0-1"
    assert p.tilt[[1, 3, 7]].tolist() == pytest.approx([-1.0, 1.0, -2.0])


# ---------------------------------------------------------------- KL against the primal


@pytest.mark.parametrize("tolerance", [0.0, 0.03])
@pytest.mark.parametrize("target", ["model", "free", 0.3, "data"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_value_agrees_with_the_primal(criterion, target, tolerance):
    if target == "data" and criterion in NO_DATA_TARGET:
        pytest.skip("no such target")
    drawn = random_problem(seed=crc32(f"{criterion} {target}".encode()), count=40)
    p = project(drawn, criterion=criterion, target=target, tolerance=tolerance)
    rows = constraints_of(drawn.groups, criterion, drawn.labels)
    value, _ = primal(drawn.logits, rows, drawn.weight, target, tolerance, drawn.labels)
    assert p.kl.item() == pytest.approx(value, abs=1e-6, rel=1e-6)
    assert p.residual <= tolerance + 1e-8


@settings(max_examples=25)
@given(problems(reach=12.0, most=20, decades=1.0), st.sampled_from(CRITERIA), st.data())
def test_value_agrees_with_the_primal_on_drawn_problems(drawn, criterion, data):
    targets = ["model", "free", 0.2] + (["data"] if criterion not in NO_DATA_TARGET else [])
    target = data.draw(st.sampled_from(targets))
    rows = constraints_of(drawn.groups, criterion, drawn.labels)
    assume(rows)
    try:
        p = project(drawn, criterion=criterion, target=target)
    except ValueError as error:
        assume(not ("one end only" in str(error) or "no finite" in str(error)))
        raise
    assert p.residual <= 1e-6
    value, _ = primal(drawn.logits, rows, drawn.weight, target, 0.0, drawn.labels)
    assume(np.isfinite(value))  # else the interior-point solver gave up
    assert p.kl.item() == pytest.approx(value, abs=1e-6 * drawn.weight.sum(), rel=1e-6)


@pytest.mark.parametrize("tolerance", [0.0, 0.02])
@pytest.mark.parametrize("target", ["model", "free", 0.3])
@pytest.mark.parametrize("criterion", ["dp", "eo", "equalized-odds", "accuracy"])
def test_overlapping_attributes_agree_with_the_primal(criterion, target, tolerance):
    drawn = random_problem(seed=3, count=60)
    second = random_problem(seed=4, count=60).groups
    p = i_project(
        torch.from_numpy(drawn.logits),
        groups={"sex": drawn.groups, "age": second},
        combine="each",
        criterion=criterion,
        labels=drawn.labels,
        weight=drawn.weight,
        target=target,
        tolerance=tolerance,
    )
    rows = [
        ((name, key), members)
        for name, groups in (("sex", drawn.groups), ("age", second))
        for key, members in constraints_of(groups, criterion, drawn.labels)
    ]
    value, _ = primal(drawn.logits, rows, drawn.weight, target, tolerance)
    assert p.kl.item() == pytest.approx(value, abs=1e-6, rel=1e-6)
    assert p.residual <= tolerance + 1e-8
    assert set(p.target) >= ({"sex", "age"} if criterion != "equalized-odds" else {("sex", 0)})


def test_crossed_attributes_are_one_attribute_of_combinations():
    drawn = random_problem(seed=5)
    second = random_problem(seed=6).groups
    x = torch.from_numpy(drawn.logits)
    crossed = i_project(x, {"sex": drawn.groups, "age": second}, combine="cross")
    single = i_project(x, drawn.groups * 3 + second)
    assert crossed.kl.item() == pytest.approx(single.kl.item())
    assert torch.equal(crossed.cell, single.cell)


def test_custom_rows_agree_with_the_named_criterion_and_the_primal():
    drawn = random_problem(seed=7)
    cells = Cells.prepare(drawn.groups, weight=drawn.weight)
    custom = lp.criteria.Custom(cells.cell, np.eye(6), 0.3 * cells.mass)
    named = project(drawn, target=0.3)
    p = i_project(torch.from_numpy(drawn.logits), criterion=custom, weight=drawn.weight)
    assert p.kl.item() == pytest.approx(named.kl.item(), rel=1e-10)
    overlapping = np.array([[1.0, 2.0, 0, 0, -1.0, 0], [0, 1.0, 0.5, 0, 0, 0]])
    custom = lp.criteria.Custom(cells.cell, overlapping, overlapping @ (0.4 * cells.mass))
    p = i_project(torch.from_numpy(drawn.logits), criterion=custom, weight=drawn.weight)
    sums = [
        (torch.sigmoid(p.logits).numpy() * drawn.weight)[cells.cell == m].sum() for m in range(6)
    ]
    assert overlapping @ sums == pytest.approx(overlapping @ (0.4 * cells.mass), rel=1e-8)
    direction = p.tilt.numpy()
    assert np.linalg.lstsq(overlapping.T, direction, rcond=None)[1] == pytest.approx(0, abs=1e-12)


# ---------------------------------------------------------------- identities


@settings(max_examples=100)
@given(
    problems(),
    st.sampled_from(CRITERIA),
    st.sampled_from(["model", "free", 0.2]),
    st.sampled_from([0.0, 0.2]),
)
def test_the_value_is_the_divergence_of_the_projection(drawn, criterion, target, tolerance):
    try:
        p = project(drawn, criterion=criterion, target=target, tolerance=tolerance)
    except ValueError:
        assume(False)
    expected = divergence(drawn.logits, p.logits.numpy(), drawn.weight)
    assert p.kl.item() == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert p.kl.item() >= 0


@settings(max_examples=100)
@given(problems(), st.sampled_from(CRITERIA))
def test_projecting_twice_changes_nothing(drawn, criterion):
    try:
        p = project(drawn, criterion=criterion, target=0.3)
    except ValueError:
        assume(False)
    again = i_project(p.logits, drawn.groups, criterion, drawn.labels, drawn.weight, target=0.3)
    assert again.kl.item() == pytest.approx(0, abs=1e-9 * drawn.weight.sum())
    assert again.steps == 0


@settings(max_examples=100)
@given(problems(reach=12.0), st.randoms(use_true_random=False))
def test_order_and_scale_of_weights_do_not_matter(drawn, random):
    p = project(drawn)
    order = list(range(len(drawn.logits)))
    random.shuffle(order)
    shuffled = Drawn(
        drawn.logits[order], drawn.groups[order], 1000 * drawn.weight[order], drawn.labels[order]
    )
    q = project(shuffled)
    assert q.kl.item() == pytest.approx(1000 * p.kl.item(), rel=1e-8, abs=1e-9)
    assert torch.sigmoid(q.logits).numpy() == pytest.approx(
        torch.sigmoid(p.logits).numpy()[order], abs=1e-8
    )


@pytest.mark.parametrize("size", [1e-7, 1e7])
@pytest.mark.parametrize("tolerance", [0.0, 0.02])
@pytest.mark.parametrize("target", ["model", "free"])
def test_scale_of_weights_does_not_matter_to_overlapping_attributes(target, tolerance, size):
    drawn = random_problem(seed=2, count=120, groups=3, reach=8.0)
    groups = {"sex": drawn.groups, "age": random_problem(seed=3, count=120).groups}
    plain, scaled = (
        i_project(
            torch.from_numpy(drawn.logits), groups, combine="each", target=target,
            tolerance=tolerance, weight=drawn.weight * times,
        )
        for times in (1.0, size)
    )  # fmt: skip
    assert scaled.tilt.numpy() == pytest.approx(plain.tilt.numpy(), abs=1e-4)
    assert scaled.kl.item() == pytest.approx(size * plain.kl.item(), rel=1e-8)
    assert scaled.steps <= plain.steps + 2


def test_a_model_at_parity_has_no_divergence():
    values = torch.tensor([-3.0, 0.5, 2.0], dtype=torch.float64)
    x = values.repeat(6)
    groups = torch.tensor(pair_cells(3)).repeat_interleave(3, dim=0)
    p = i_project(x, groups)
    assert p.kl.item() == 0
    assert p.steps == 0
    assert not p.tilt.any()


def test_warm_start_gives_the_same_in_fewer_steps():
    drawn = random_problem(seed=1, count=500)
    cold = project(drawn)
    moved = drawn.logits + np.random.default_rng(0).normal(0, 0.01, 500)
    warm = i_project(torch.from_numpy(moved), drawn.groups, weight=drawn.weight, start=cold.tilt)
    fresh = i_project(torch.from_numpy(moved), drawn.groups, weight=drawn.weight)
    assert warm.steps < fresh.steps
    assert warm.tilt.numpy() == pytest.approx(fresh.tilt.numpy(), abs=1e-8)
    assert warm.kl.item() == pytest.approx(fresh.kl.item(), rel=1e-9)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("tolerance", [0.0, 0.02])
@pytest.mark.parametrize("target", ["model", "free", 0.3])
def test_a_warm_start_serves_though_a_cell_is_new(target, tolerance, overlapping):
    """On average; the new cell starts at 0, as one that a batch of training meets first."""
    steps = []
    for seed in range(6):
        drawn = random_problem(seed, count=200, groups=4)
        options = {"target": target, "tolerance": tolerance, "weight": drawn.weight}
        groups = drawn.groups
        if overlapping:
            groups = {"sex": groups, "age": random_problem(seed + 100, count=200).groups}
            options["combine"] = "each"
        before, x = torch.from_numpy(drawn.logits), torch.from_numpy(drawn.logits * 1.001)
        start = i_project(before, groups, **options).tilt
        start[seed] = 0
        warm = i_project(x, groups, start=start, **options)
        cold = i_project(x, groups, **options)
        assert warm.logits.numpy() == pytest.approx(cold.logits.numpy(), abs=1e-5)
        steps.append((warm.steps, cold.steps))
    warm, cold = np.mean(steps, axis=0)
    assert warm < cold


@pytest.mark.parametrize("start", [1e3, -1e3])
@pytest.mark.parametrize("options", [{}, {"tolerance": 0.02}, {"target": "free"}], ids=str)
@pytest.mark.parametrize("criterion", ["dp", "accuracy", "equalized-odds"])
def test_initial_tilts_beyond_any_solution_do_no_harm(criterion, options, start):
    drawn = random_problem(seed=1, count=80)
    cold = project(drawn, criterion=criterion, **options)
    far = np.full(len(cold.tilt), start)
    far[::2] *= -1
    warm = project(drawn, criterion=criterion, start=far, **options)
    assert warm.logits.numpy() == pytest.approx(cold.logits.numpy(), abs=1e-6)
    assert warm.steps <= (60 if "target" in options else cold.steps + 2)


@pytest.mark.parametrize(
    ("groups", "target", "tolerance", "most"),
    [
        ("one", "model", 0.0, 6),
        ("one", 0.3, 0.02, 6),
        ("one", "free", 0.0, 8),
        ("one", "free", 0.02, 26),
        ("overlapping", "model", 0.0, 9),
        ("overlapping", "free", 0.0, 9),
        ("overlapping", "model", 0.02, 14),
        ("overlapping", 0.3, 0.02, 14),
        ("overlapping", "free", 0.02, 14),
    ],
)
def test_a_solution_takes_few_steps(groups, target, tolerance, most):
    """On average; each is a pass over the pairs, and a step that is not Newton's takes many."""
    steps = []
    for seed in range(10):
        drawn = random_problem(seed, count=300, groups=4, reach=12.0)
        options = {"target": target, "tolerance": tolerance, "weight": drawn.weight}
        known = drawn.groups
        if groups == "overlapping":
            known = {"sex": known, "age": random_problem(seed + 100, count=300).groups}
            options["combine"] = "each"
        steps.append(i_project(torch.from_numpy(drawn.logits), known, **options).steps)
    assert np.mean(steps) <= most


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("target", [0.4, "free"])
def test_a_tolerance_below_the_accuracy_is_still_used(target, overlapping):
    """A coarse accuracy takes at most half of the tolerance away."""
    drawn = random_problem(seed=3, count=80)
    groups, options = drawn.groups, {"weight": drawn.weight, "target": target}
    if overlapping:
        groups = {"sex": groups, "age": random_problem(seed=4, count=80).groups}
        options["combine"] = "each"
    x = torch.from_numpy(drawn.logits)
    half, whole = (
        i_project(x, groups, tolerance=tolerance, **options).kl for tolerance in (0.002, 0.004)
    )
    coarse = i_project(x, groups, tolerance=0.004, tol=0.01, **options)
    assert coarse.residual <= 0.004 + 0.01 / 4
    assert whole * (1 - 0.02) <= coarse.kl <= half * (1 + 0.02)
    assert half > 1.02 * whole


def test_free_is_never_farther_than_a_given_target():
    drawn = random_problem(seed=8)
    for tolerance in (0.0, 0.02):
        free = project(drawn, target="free", tolerance=tolerance)
        for target in ("model", free.target - 0.05, free.target + 0.05):
            assert free.kl <= project(drawn, target=target, tolerance=tolerance).kl + 1e-9
        at = project(drawn, target=free.target, tolerance=tolerance)
        assert free.kl.item() == pytest.approx(at.kl.item(), rel=1e-8)


def test_equalized_odds_takes_a_target_per_label():
    drawn = random_problem(seed=9)
    p = project(drawn, criterion="equalized-odds", target=(0.1, 0.6))
    assert p.target == pytest.approx({0: 0.1, 1: 0.6})
    for label, mean in p.target.items():
        mine = drawn.labels == label
        got = np.average(torch.sigmoid(p.logits).numpy()[mine], weights=drawn.weight[mine])
        assert got == pytest.approx(mean)


# ---------------------------------------------------------------- gradients


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "options",
    [
        {"target": 0.4},
        {"target": "free"},
        {"target": "model", "through_target": True},
        {"target": 0.4, "tolerance": 0.02},
        {"target": "free", "tolerance": 0.02},
        {"target": "model", "through_target": True, "tolerance": 0.02},
    ],
    ids=str,
)
def test_gradient_is_h_minus_its_projection(criterion, options):
    drawn = random_problem(seed=2, count=25)
    x = torch.from_numpy(drawn.logits).requires_grad_()

    def kl(logits):
        return i_project(logits, drawn.groups, criterion, drawn.labels, drawn.weight, **options).kl

    assert torch.autograd.gradcheck(kl, x, atol=1e-5)


@pytest.mark.parametrize("options", [{"target": "free"}, {"through_target": True}], ids=str)
def test_gradient_of_overlapping_attributes(options):
    drawn, second = random_problem(seed=2, count=40), random_problem(seed=12, count=40).groups
    x = torch.from_numpy(drawn.logits).requires_grad_()
    groups = {"sex": drawn.groups, "age": second}

    def kl(logits):
        return i_project(logits, groups, combine="each", weight=drawn.weight, **options).kl

    assert torch.autograd.gradcheck(kl, x, atol=1e-5)


def test_closed_form_leaves_out_the_path_through_the_target():
    drawn = random_problem(seed=2)
    x = torch.from_numpy(drawn.logits).requires_grad_()
    p = i_project(x, drawn.groups, weight=drawn.weight)
    p.kl.backward()
    closed = drawn.weight * (torch.sigmoid(x) - torch.sigmoid(p.logits)).detach().numpy()
    assert x.grad.numpy() == pytest.approx(closed, abs=1e-12)


def test_unconstrained_pairs_get_no_gradient():
    x = torch.tensor([1.0, 2.0, -1.0, 0.3], requires_grad=True)
    i_project(x, [0, 1, 2, -1]).kl.backward()
    assert x.grad[3] == 0
    assert (x.grad[:3] != 0).all()


# ---------------------------------------------------------------- large cells, float32, samples


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("ordered", [False, True])
def test_large_cells_agree_with_small_ones(dtype, ordered, weighted):
    """Cells summed slice by slice give what scattered float64 sums give."""
    generator = torch.Generator().manual_seed(0)
    count = 200_000
    groups = torch.randint(0, 3, (count, 2), generator=generator)
    if ordered:
        groups = groups[torch.argsort(Cells.prepare(groups).cell)]
    x = torch.randn(count, generator=generator, dtype=dtype) * 2 - 3
    x += groups.sum(dim=1)
    weight = torch.rand(count, generator=generator) + 0.1 if weighted else None
    x.requires_grad_()
    p = i_project(x, groups, weight=weight)
    p.kl.backward()
    exact = _small(x.detach().double(), groups, weight)
    tolerance = 1e-6 if dtype == torch.float32 else 1e-9
    assert p.tilt.double().numpy() == pytest.approx(exact.tilt.numpy(), abs=tolerance)
    assert p.kl.item() == pytest.approx(exact.kl.item(), rel=tolerance)
    expected = torch.sigmoid(x.detach().double()) - torch.sigmoid(exact.logits)
    expected = expected if weight is None else expected * weight
    assert x.grad.double().numpy() == pytest.approx(expected.numpy(), abs=tolerance)


def _small(x, groups, weight):
    from linkparity.projection import tensor_sums as sums

    before = sums.SMALL
    sums.SMALL = 10**9
    try:
        return i_project(x, groups, weight=weight)
    finally:
        sums.SMALL = before


@pytest.mark.parametrize("shift", [-30.0, 0.0, 30.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_cells_with_extreme_logits(dtype, shift):
    count = 60_000
    generator = torch.Generator().manual_seed(1)
    groups = torch.arange(count) % 3
    x = torch.randn(count, generator=generator, dtype=dtype) * 10 + shift
    for target in ("model", 0.01, 0.99):
        p = i_project(x, groups, target=target)
        exact = _small(x.double(), groups, None)
        exact = exact if target == "model" else i_project(x.double(), groups, target=target)
        assert p.residual <= 1e-6 * min(p.target, 1 - p.target) + 1e-12
        assert p.kl.item() == pytest.approx(exact.kl.item(), rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("tilt", [[7.0, 8.0, 12.0], [-7.0, -8.0, -12.0]])
def test_divergence_of_steep_tilts_keeps_its_digits_in_float32(tilt):
    """Most pairs are far from where the tilt matters, and their terms cancel."""
    count = 45_000
    groups = torch.arange(count) % 3
    x = torch.full((count,), 16.0) * torch.sign(torch.tensor(tilt))[groups]
    x[::7] = -20.0 * torch.sign(torch.tensor(tilt))[groups[::7]]
    x += torch.rand(count, generator=torch.Generator().manual_seed(0))
    found = tensor_sums(x, Cells.prepare(groups)).divergence(np.array(tilt))
    for g, t in enumerate(tilt):
        mine = x[groups == g].double().numpy()
        assert found[g] == pytest.approx(divergence(mine, mine + t), rel=1e-4)


def test_constant_float32_logits_converge():
    """A step of the float32 grid at 20 is coarser than the tolerance."""
    x = torch.full((30_000,), 20.0)
    p = i_project(x, torch.arange(30_000) % 3, target=0.3)
    assert p.residual < 1e-7


def test_sample_meets_every_group_and_reports_its_residual():
    generator = torch.Generator().manual_seed(0)
    count = 50_000
    groups = torch.zeros(count, dtype=torch.int64)
    groups[:20_000] = 1
    groups[7] = 2
    x = torch.randn(count, generator=generator, dtype=torch.float64) + groups
    full = i_project(x, groups)
    p = i_project(x, groups, sample_size=2000, generator=torch.Generator().manual_seed(1))
    assert p.tilt[2].item() == pytest.approx(full.tilt[2].item(), abs=1e-6)
    assert 1e-9 < p.residual < 0.02
    assert p.kl.item() == pytest.approx(full.kl.item(), rel=0.15)
    assert p.kl.item() <= full.kl.item()
    same = i_project(x, groups, sample_size=2000, generator=torch.Generator().manual_seed(1))
    assert torch.equal(p.tilt, same.tilt)
    every = i_project(x, groups, sample_size=count)
    assert every.tilt.numpy() == pytest.approx(full.tilt.numpy(), abs=1e-8)


def dual_value(x, p, weight, target, tolerance=0.0):
    """L at the tilts of a projection for dp, pair by pair: a function of the logits alone."""
    t = p.tilt[p.cell]
    penalty = tolerance * (weight * t.abs()).sum()
    softplus = torch.nn.functional.softplus
    return (weight * (softplus(x) - softplus(x + t) + t * target)).sum() - penalty


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(5))
def test_sample_gradient_is_that_of_its_value(seed, tolerance):
    """Value and gradient are those of the dual of all pairs, the sample's tilts held fixed."""
    drawn = random_problem(seed=seed, count=60)
    x = torch.from_numpy(drawn.logits).requires_grad_()
    weight = torch.from_numpy(drawn.weight)
    options = {"weight": weight, "target": 0.4, "tolerance": tolerance, "sample_size": 20}
    generator = torch.Generator().manual_seed(seed)
    p = i_project(x, drawn.groups, **options, generator=generator)
    p.kl.backward()
    closed = weight * (torch.sigmoid(x) - torch.sigmoid(p.logits)).detach()
    assert x.grad.numpy() == pytest.approx(closed.numpy(), abs=1e-12)
    assert p.kl.item() == pytest.approx(dual_value(x, p, weight, 0.4, tolerance).item(), abs=1e-7)

    class Projected(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits):
            return dual_value(logits, p, weight, 0.4, tolerance)

        @staticmethod
        def backward(ctx, upstream):
            return upstream * x.grad

    assert torch.autograd.gradcheck(Projected.apply, x)


def test_sample_gradient_through_the_models_mean():
    drawn = random_problem(seed=3, count=60)
    x = torch.from_numpy(drawn.logits).requires_grad_()
    weight = torch.from_numpy(drawn.weight)
    p = i_project(x, drawn.groups, weight=weight, sample_size=20, through_target=True)
    p.kl.backward()
    again = x.detach().clone().requires_grad_()
    target = (weight * torch.sigmoid(again)).sum() / weight.sum()
    value = dual_value(again, p, weight, target)
    value.backward()
    assert p.kl.item() == pytest.approx(value.item(), abs=1e-9)
    assert x.grad.numpy() == pytest.approx(again.grad.numpy(), abs=1e-12)


@pytest.mark.parametrize("target", [0.3, "model", "free"])
@pytest.mark.parametrize("tolerance", [0.0, 0.02])
def test_value_of_a_sample_never_exceeds_the_exact_one(target, tolerance):
    for seed in range(12):
        drawn = random_problem(seed=seed, count=200, groups=4)
        options = {"weight": drawn.weight, "target": target, "tolerance": tolerance}
        x = torch.from_numpy(drawn.logits)
        exact = i_project(x, drawn.groups, **options).kl.item()
        for size in (20, 60):
            generator = torch.Generator().manual_seed(seed)
            options |= {"sample_size": size, "generator": generator}
            assert i_project(x, drawn.groups, **options).kl.item() <= exact * (1 + 1e-9) + 1e-9


def test_value_of_a_sample_tends_to_the_exact_one():
    generator = torch.Generator().manual_seed(0)
    groups = torch.randint(0, 3, (40_000, 2), generator=generator)
    x = torch.randn(40_000, generator=generator, dtype=torch.float64) + 0.3 * groups.sum(dim=1)
    exact = i_project(x, groups, target=0.4).kl.item()

    def shortfall(size, seed):
        generator = torch.Generator().manual_seed(seed)
        return exact - i_project(x, groups, target=0.4, sample_size=size, generator=generator).kl

    means = [np.mean([shortfall(size, s) for s in range(8)]) for size in (250, 1000, 4000, 16_000)]
    assert all(before > 2 * after > 0 for before, after in pairwise(means))
    assert means[-1] < 1e-3 * exact


# ---------------------------------------------------------------- results and refusals


def test_result_has_the_promised_shapes():
    x = torch.tensor([0.1, 0.2, -3.0, 1.0], requires_grad=True)
    p = i_project(x, [[0, 1], [1, 0], [2, 2], [-1, -1]])
    assert p.tilt.shape == (6,)
    assert not p.logits.requires_grad
    assert p.logits.dtype == p.tilt.dtype == p.kl.dtype == torch.float32
    known = p.cell >= 0
    assert torch.equal(p.logits[known], (x + p.tilt[p.cell])[known].detach())
    assert p.kl.ndim == 0
    assert isinstance(p.target, float)
    assert isinstance(p.residual, float)
    assert isinstance(p.steps, int)
    assert p.empty == ("0-0", "0-2", "1-1", "1-2")
    assert (p.tilt[[0, 2, 3, 4]] == 0).all()


def test_cells_prepared_once_serve_many_logits():
    drawn = random_problem(seed=3)
    cells = Cells.prepare(drawn.groups, criterion="eo", labels=drawn.labels, weight=drawn.weight)
    p = i_project(torch.from_numpy(drawn.logits), cells=cells)
    assert p.kl.item() == project(drawn, criterion="eo").kl.item()
    with pytest.raises(ValueError, match="either cells"):
        i_project(torch.from_numpy(drawn.logits), drawn.groups, cells=cells)


@pytest.mark.parametrize("weight", [1.0, 0.01])
@pytest.mark.parametrize("labels", [[0, 1, 0], [1, 0, 1]])
def test_one_link_or_one_other_pair_makes_a_target_of_the_data(labels, weight):
    p = i_project(X, G, labels=labels, weight=[weight] * 3, target="data")
    assert p.target == pytest.approx(sum(labels) / 3)
    assert torch.sigmoid(p.logits).tolist() == pytest.approx([p.target] * 3, rel=1e-5)


def test_nothing_constrained_is_no_divergence():
    x = torch.randn(3, requires_grad=True)
    p = i_project(x, [-1, -1, -1])
    assert p.kl.item() == 0
    assert math.isnan(p.target)
    p.kl.backward()
    assert not x.grad.any()


X = torch.tensor([0.5, -1.0, 2.0])
G = [[0, 1], [1, 2], [2, 2]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"logits": [0.5, float("nan"), 1.0]}, "must be finite, got nan at position 1"),
        ({"logits": [0.5, 1.0, float("inf")]}, "must be finite, got inf at position 2"),
        ({"logits": [[0.5, 1.0, 2.0]]}, r"shape \(P,\), got \(1, 3\)"),
        ({"logits": [1, 2, 3]}, "floating-point"),
        ({"logits": [0.5, 1.0]}, "2 logits do not fit groups of 3 pairs"),
        ({"groups": None}, "groups are missing"),
        ({"groups": [[0, 1, 2]] * 3}, r"\(P,\) or \(P, 2\), got \(3, 3\)"),
        ({"groups": [[0, 1], [1, -2], [2, 2]]}, "got -2; use −1"),
        ({"groups": [0.0, 1.0, 2.0]}, "must be integers"),
        ({"weight": [1.0, -1.0, 1.0]}, "got -1 at position 1"),
        ({"weight": [1.0, 1.0]}, r"weight must have the shape \(3,\)"),
        ({"labels": [0, 2, 1], "criterion": "eo"}, "labels must be 0 or 1, got 2 at position 1"),
        ({"labels": [0, 1], "criterion": "eo"}, r"labels must have the shape \(3,\)"),
        ({"criterion": "eo"}, "eo: labels are missing"),
        ({"criterion": "eoo"}, "unknown criterion 'eoo'; did you mean 'eo'"),
        ({"criterion": "weak-dp", "groups": [0, 1, 2]}, "weak-dp: groups must have the shape"),
        ({"criterion": "weak-dp", "groups": [[0, -1]] * 3}, "one end only"),
        ({"target": 0}, "strictly between 0 and 1, got 0; a mean of 0 or 1 has no finite"),
        ({"target": 1.0}, "strictly between 0 and 1, got 1"),
        (
            {"target": "modle"},
            "target must be model, data, free or a number, got 'modle'; did you mean",
        ),
        ({"target": "data"}, "give labels"),
        ({"target": "data", "criterion": "eo", "labels": [0, 1, 1]}, "does not exist"),
        (
            {"target": (0.1, 0.2)},
            "one number, or for equalized-odds a pair, label 0 first, got 2 for criterion 'dp'",
        ),
        ({"target": None}, "or a number, got None"),
        ({"tolerance": -0.1}, r"tolerance must lie in \[0, 1\)"),
        ({"start": [0.0]}, "6 finite tilts"),
        ({"sample_size": 0}, "at least 1, got 0"),
        ({"groups": {"a": G, "b": G}}, "combine must be 'cross' or 'each' with 2"),
        ({"groups": {"a": G, "b": [0, 1, 2]}}, "must have one shape"),
        ({"groups": {}}, "at least one attribute"),
        ({"target": "data", "labels": [0, 0, 0]}, "a mean over no link"),
        ({"target": "data", "labels": [1, 1, 1]}, "a mean over only links"),
        (
            {"target": "data", "labels": [0, 1, 0], "combine": "each"}
            | {"groups": {"a": G, "b": [[0, 1], [-1, -1], [1, 2]]}},
            "a mean over no link",
        ),
        (
            {"target": "data", "labels": [0, 1, 1], "combine": "each"}
            | {"groups": {"a": G, "b": [[-1, -1], [0, 1], [1, 2]]}},
            "a mean over only links",
        ),
        ({"criterion": 3}, "criterion must be a name"),
        ({"target": np.array(1.5)}, "strictly between 0 and 1"),
        (
            {"target": torch.tensor([0.1, 0.2])},
            "one number, or for equalized-odds a pair, label 0 first, got 2 for criterion 'dp'",
        ),
        ({"tolerance": "x"}, "tolerance must be a number"),
        ({"sample_size": "3"}, "sample_size must be a whole number"),
        ({"start": "abc"}, "expected numbers, got 'abc'"),
        ({"start": [0.0, float("nan"), 0, 0, 0, 0]}, "6 of which 5 are finite"),
        ({"groups": {"a": None, "b": G}, "combine": "each"}, "expected numbers, got None"),
        ({"combine": "bogus"}, "combine must be 'cross' or 'each', got 'bogus'"),
        ({"tol": -1.0}, "tol must be a number ≥ 0"),
    ],
)
def test_bad_input_gets_a_sentence(options, message):
    arguments = {"logits": X, "groups": G} | options
    logits = torch.as_tensor(arguments.pop("logits"))
    with pytest.raises(ValueError, match=message) as caught:
        i_project(logits, **arguments)
    assert "\n" not in str(caught.value)


def test_contradicting_constraints_are_named():
    custom = lp.criteria.Custom([0, 1, 2], A=[[1, 1, 0], [1, 1, 0], [0, 0, 1]], b=[0.5, 1.5, 0.5])
    with pytest.raises(Infeasible, match=r"constraint row [01] cannot hold together"):
        i_project(X, criterion=custom)
    custom = lp.criteria.Custom([0, 1, 2], A=[[1, 1, 0], [0, 0, 1]], b=[0.5, 1.5])
    with pytest.raises(Infeasible, match="row 1 must have a right side strictly between"):
        i_project(X, criterion=custom)
    custom = lp.criteria.Custom([0, 0, 0], A=[[1, 0], [0, 1]], b=[0.5, 1.5])
    with pytest.raises(Infeasible, match="row 1 has no pair under it"):
        i_project(X, criterion=custom)


def test_attributes_that_cannot_agree_are_named():
    x = torch.tensor([0.0, 2.0, 3.0, -1.0])
    groups = {"a": torch.tensor([0, 0, 1, 2]), "b": torch.tensor([0, -1, -1, -1])}
    with pytest.raises(Infeasible, match=r"constraint [ab]: . cannot hold together"):
        i_project(x, groups, combine="each", target={"a": 0.9, "b": 1e-4}, tolerance=0.0)


@pytest.mark.parametrize(("status", "x"), [(1, np.ones(9)), (4, None)])
@pytest.mark.parametrize("tolerance", [0.0, 1e-3])
def test_a_linear_program_without_solution_accuses_no_constraint(status, x, tolerance, monkeypatch):
    """Attributes that cannot agree, and a linear program that stops before it can tell."""
    monkeypatch.setattr(
        "scipy.optimize.linprog", lambda *_, **__: OptimizeResult(status=status, x=x)
    )
    logits = torch.tensor([0.0, 2.0, 3.0, -1.0])
    groups = {"a": torch.tensor([0, 0, 1, 2]), "b": torch.tensor([0, -1, -1, -1])}
    with pytest.raises(NotConverged, match="from the target on the logit scale"):
        i_project(logits, groups, combine="each", target={"a": 0.9, "b": 1e-4}, tolerance=tolerance)


def test_not_converged_raises():
    drawn = random_problem(seed=1)
    with pytest.raises(NotConverged, match="raise tol"):
        project(drawn, tol=0.0)


@pytest.mark.parametrize("size", [np.int64(40), np.array(40), torch.tensor(40)])
def test_sizes_are_whole_numbers_of_any_kind(size):
    x, groups = torch.linspace(-2, 2, 300), torch.arange(300) % 3
    p = i_project(x, groups, sample_size=size)
    assert p.kl == i_project(x, groups, sample_size=40).kl


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_logits_are_accepted(dtype):
    x = torch.linspace(-3, 3, 30, dtype=dtype, requires_grad=True)
    p = i_project(x, torch.arange(30) % 3)
    p.kl.backward()
    assert x.grad.dtype == p.tilt.dtype == p.logits.dtype == dtype
    assert p.kl.dtype == torch.float32
    many = torch.where(torch.arange(300_000) % 3 == 0, 6.0, -6.0).to(dtype)
    assert 65504 < i_project(many, torch.arange(300_000) % 3).kl.item() < math.inf


def test_zero_weights_leave_a_pair_out():
    x = torch.tensor([1.0, -1.0, 0.0, 4.0], dtype=torch.float64)
    with_zero = i_project(x, [0, 1, 2, 2], weight=[1.0, 1.0, 1.0, 0.0])
    without = i_project(x[:3], [0, 1, 2])
    assert with_zero.tilt.numpy() == pytest.approx(without.tilt.numpy())
    assert i_project(x, [0, 1, 2, 3], weight=[1.0, 1.0, 1.0, 0.0]).empty == ("3",)


def test_free_target_with_tolerance_and_a_flat_cell():
    """A cell of −45 and 60 has mean ½ at any tilt between: none is the right one."""
    x = torch.tensor([-40.0, -45.0, 60.0], dtype=torch.float64)
    p = i_project(x, [0, 1, 1], target="free", tolerance=0.2)
    nearest = np.array([math.log(0.1 / 0.9), -45.0, 60.0])
    assert p.kl.item() == pytest.approx(divergence(x.numpy(), nearest), rel=1e-6)
    assert p.kl.item() == pytest.approx(divergence(x.numpy(), p.logits.numpy()), rel=1e-6)


def test_overlapping_attributes_with_a_tolerance_end():
    x = [7.9, 6.3, 15.5, 10.3, -13.0, -19.5, -17.2, 9.0, 1.1, 4.6, -15.8, 0.2]
    a = [[0, 4], [3, 3], [0, 2], [1, 0], [4, 3], [2, 2], [4, 4], [4, 0], [0, 3], [2, 4], [4, 0]]
    b = [[1, 2], [2, 1], [1, 0], [2, 0], [1, 1], [2, 2], [0, 0], [0, 0], [2, 0], [0, 1], [0, 1]]
    groups = {"a": [*a, [1, 0]], "b": [*b, [2, 2]]}
    labels = [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0]
    options = {"target": "free", "tolerance": 0.02, "combine": "each"}
    try:
        p = i_project(torch.tensor(x).double(), groups, "equalized-odds", labels, **options)
    except NotConverged:
        return  # said, not looped over
    assert p.residual <= 0.02 + 1e-5


def test_easy_overlapping_problem_with_a_tolerance():
    x = torch.tensor([-11.0, 6, 1, 5, 0], dtype=torch.float64)
    groups = {"a": [0, 1, 2, 3, 4], "b": [0, 1, 2, 3, 0]}
    p = i_project(x, groups, combine="each", target="free", tolerance=0.02)
    assert p.residual <= 0.02 + 1e-5


def test_custom_has_no_path_through_a_target():
    x = torch.tensor([0.5, -1, 2, 0.3], dtype=torch.float64, requires_grad=True)
    custom = lp.criteria.Custom([0, 0, 1, 1], [[1, 0], [0, 1]], [0.5, 1.5])
    assert torch.autograd.gradcheck(
        lambda x: i_project(x, criterion=custom, through_target=True).kl, x
    )


def test_logits_changed_in_place_are_noticed():
    x = torch.nn.Parameter(torch.tensor([0.5, -1.0, 2.0]))
    p = i_project(x, [0, 1, 2])
    with torch.no_grad():
        x += 1
    with pytest.raises(RuntimeError, match=r"read p\.logits before the change"):
        _ = p.logits
    array = np.array([0.5, -1.0, 2.0])
    p = i_project(array, [0, 1, 2])
    array += 1
    assert torch.sigmoid(p.logits).numpy() == pytest.approx(p.target)


def test_empty_cell_of_a_two_cell_constraint_keeps_tilt_0():
    x = torch.tensor([1.0, -1.0, 0.5, 2.0], dtype=torch.float64)
    p = i_project(x, [0, 0, 1, 1], "accuracy", [1, 1, 0, 1])
    assert p.empty == ("0, label 0",)
    assert p.tilt[0] == 0


def test_pairs_of_weight_0_are_not_drawn():
    x = torch.zeros(2000, dtype=torch.float64)
    x[:1000], x[0] = 5, -3
    groups, weight = (torch.arange(2000) >= 1000).long(), torch.ones(2000)
    weight[1:1000] = 0
    p = i_project(x, groups, weight=weight, target=0.5, sample_size=40)
    assert p.tilt.tolist() == pytest.approx([3, 0], abs=1e-9)


def test_sampling_leaves_the_global_generator_alone():
    x, before = torch.randn(100), torch.get_rng_state()
    i_project(x, torch.arange(100) % 3, sample_size=10)
    assert torch.equal(before, torch.get_rng_state())


def test_second_derivatives_are_refused():
    x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(i_project(x, [0, 1, 2]).kl, x, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative"):
        gradient.sum().backward()


@pytest.mark.parametrize("size", [1e40, 1e-50])
def test_weights_beyond_float32(size):
    x = torch.randn(30_000, generator=torch.Generator().manual_seed(0))
    groups = torch.arange(30_000) % 3
    weight = torch.full((30_000,), size, dtype=torch.float64)
    p, plain = i_project(x, groups, weight=weight), i_project(x, groups)
    assert p.tilt.numpy() == pytest.approx(plain.tilt.numpy(), abs=1e-6)
    assert p.residual < 1e-6


def test_weight_of_pairs_under_no_row_does_not_count():
    custom = lp.criteria.Custom([0, 0, 1, 1], [[1.0, 0.0]], [1.5])
    x = torch.tensor([0.5, -1.0, 2.0, 0.3], dtype=torch.float64)
    loss = lp.FairnessRegularizer(custom)(x)
    assert loss.item() == pytest.approx(i_project(x, criterion=custom).kl.item() / 2)


def test_nothing_constrained_has_a_target_per_label_too():
    p = i_project(torch.zeros(2), [-1, -1], "equalized-odds", [0, 1])
    assert set(p.target) == {0, 1}


def test_many_groups_cost_what_occurs():
    groups = torch.randint(0, 150, (2000, 2), generator=torch.Generator().manual_seed(0))
    p = i_project(torch.randn(2000, dtype=torch.float64), groups, target=0.3)
    assert p.residual < 1e-9
    several = {name: torch.randint(0, 40, (50, 2)) for name in "abc"}
    assert i_project(torch.randn(50).double(), several, combine="each", target=0.3).residual < 1e-8


def many_groups():
    rng = np.random.default_rng(0)
    groups = np.minimum(rng.integers(0, 150, (4000, 2)), rng.integers(0, 150, (4000, 2)))
    x, weight = rng.normal(groups.sum(axis=1) / 60, 1.5), 10 ** rng.uniform(-1, 1, 4000)
    low, high = np.sort(groups, axis=1).T
    return groups, x, weight, low * 150 + high


def test_a_hundred_and_fifty_groups_agree_with_scalar_root_finding():
    groups, x, weight, kind = many_groups()
    p = i_project(x, groups, weight=weight)
    goal, tilt = logit_of_mean(x, weight), p.tilt[p.cell].numpy()
    for k in np.unique(kind)[::15]:
        mine = kind == k
        assert tilt[mine] == pytest.approx(scalar_tilt(x[mine], weight[mine], goal), abs=1e-7)
    assert p.target == pytest.approx(weight @ (1 / (1 + np.exp(-x))) / weight.sum())


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_the_best_of_all_targets_for_a_hundred_and_fifty_groups(tolerance):
    groups, x, weight, kind = many_groups()
    assert len(np.unique(kind)) > 1000
    free = i_project(x, groups, weight=weight, target="free", tolerance=tolerance)
    near = [
        i_project(x, groups, weight=weight, target=free.target + step, tolerance=tolerance).kl
        for step in (-1e-3, 0.0, 1e-3)
    ]
    assert near[1].item() == pytest.approx(free.kl.item(), rel=1e-9)
    assert min(near) == near[1]


def test_of_constraints_that_overlap_too_many_are_refused(monkeypatch):
    rng = np.random.default_rng(0)
    groups = {name: rng.integers(0, 40, (2000, 2)) for name in "ab"}
    monkeypatch.setattr("linkparity.projection.solver.problem.MAX_ENTRIES", 10**6)
    with pytest.raises(ValueError, match=r"1,\d+ constraints on \d,\d+ cells .* into fewer, or"):
        i_project(torch.zeros(2000), groups, combine="each", target=0.3)


def test_few_constraints_on_too_many_cells_are_refused(monkeypatch):
    custom = lp.criteria.Custom(np.arange(30), np.ones((3, 30)) + np.eye(3, 30), [15.2, 15.4, 15.6])
    monkeypatch.setattr("linkparity.projection.solver.problem.MAX_ENTRIES", 90)
    i_project(torch.zeros(30), criterion=custom, tol=1e-3)
    monkeypatch.setattr("linkparity.projection.solver.problem.MAX_ENTRIES", 89)
    with pytest.raises(ValueError, match="3 constraints on 30 cells"):
        i_project(torch.zeros(30), criterion=custom, tol=1e-3)


def test_integer_attribute_names_stay():
    groups = {0: [0, 1, 2], 1: [0, 0, 1]}
    p = i_project(torch.randn(3).double(), groups, combine="each", target={0: 0.3, 1: 0.3})
    assert set(p.target) == {0, 1}


@pytest.mark.parametrize("options", [{}, {"target": "free"}, {"tolerance": 0.03}, {"tol": 0.01}])
def test_the_certificate_is_the_divergence_less_its_bound(options):
    drawn = random_problem(seed=5)
    logits = torch.from_numpy(drawn.logits).requires_grad_()
    p = i_project(logits, drawn.groups, weight=drawn.weight, **options)
    primal = divergence(drawn.logits, p.logits.numpy(), drawn.weight)
    assert p.kl.item() + p.duality_gap == pytest.approx(primal, rel=1e-10)
    assert isinstance(p.duality_gap, float)
    assert abs(p.duality_gap) < (1.0 if "tol" in options else 1e-6)
    assert f"residual {p.residual:.2g}, duality gap {p.duality_gap:.2g} nats" in str(p)
    assert "Projection to dp, target" in str(p)
    assert f"0-1 {p.tilt[1].item():+.6g}" in str(p)


def test_a_projection_of_nothing_has_a_certificate():
    p = i_project(torch.zeros(3), [-1, -1, -1])
    assert (p.residual, p.duality_gap) == (0.0, 0.0)
    assert "residual 0, duality gap 0 nats" in str(p)
