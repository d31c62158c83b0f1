"""The loss term in a training loop."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from oracles import constraints_of
from scipy.special import expit

import linkparity as lp
from linkparity import Cells, FairnessRegularizer, i_project
from linkparity.projection.tensor_sums import tensor_sums


def batch(seed=0, count=300, groups=3):
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.randint(0, groups, (count, 2), generator=generator)
    logits = torch.randn(count, generator=generator, dtype=torch.float64) + pairs.sum(dim=1)
    labels = (torch.rand(count, generator=generator) < 0.3).long()
    return logits, pairs, labels


@pytest.mark.parametrize("criterion", list(lp.criteria.CRITERIA))
def test_loss_is_the_mean_divergence_of_the_constrained_pairs(criterion):
    logits, groups, labels = batch()
    loss = FairnessRegularizer(criterion)(logits, groups, labels)
    p = i_project(logits, groups, criterion, labels)
    assert loss.item() == pytest.approx(p.kl.item() / (p.cell >= 0).sum().item())


def test_gradient_passes_gradcheck_for_a_fixed_target():
    logits, groups, _ = batch(count=30)
    regularizer = FairnessRegularizer("dp", target=0.3)
    assert torch.autograd.gradcheck(lambda x: regularizer(x, groups), logits.requires_grad_())


def test_second_call_starts_from_the_last_tilts():
    logits, groups, _ = batch(count=5000)
    regularizer = FairnessRegularizer("dp")
    regularizer(logits, groups)
    assert regularizer.tilt.any()
    moved = logits + 1e-3 * torch.randn(5000, generator=torch.Generator().manual_seed(1))
    cells = lp.Cells.prepare(groups)
    cold = i_project(moved, cells=cells).steps
    warm = i_project(moved, cells=cells, start=regularizer.warm_start.start(cells)).steps
    assert warm < cold


def test_warm_start_is_matched_by_group_pair():
    """A batch without group 0 or with a new group numbers its cells otherwise."""
    regularizer = FairnessRegularizer("dp", target=0.3)
    logits, groups, _ = batch(groups=3)
    regularizer(logits, groups)
    first = dict(zip(map(tuple, regularizer.key.tolist()), regularizer.tilt.tolist(), strict=True))
    fewer = groups.clamp(max=1)
    assert regularizer.warm_start.start(lp.Cells.prepare(fewer)).tolist() == [
        first[0, 0],
        first[0, 1],
        first[1, 1],
    ]
    more = torch.tensor([[3, 3], [0, 2], [1, 3]])
    cells = lp.Cells.prepare(more)
    recalled = dict(zip(cells.layout.names, regularizer.warm_start.start(cells), strict=True))
    assert recalled["0-2"] == first[0, 2]
    assert recalled["3-3"] == 0
    for seed in range(5):
        logits, groups, _ = batch(seed, count=20, groups=2 + seed)
        loss = regularizer(logits, groups)
        assert loss.item() == pytest.approx(i_project(logits, groups, target=0.3).kl.item() / 20)


def test_batch_without_constrained_pairs_is_zero():
    logits = torch.randn(4, requires_grad=True)
    loss = FairnessRegularizer("eo")(logits, [[0, 1], [1, 1], [2, 0], [2, 2]], [0, 0, 0, 0])
    assert loss.item() == 0
    loss.backward()
    assert not logits.grad.any()


def test_state_travels_to_a_fresh_module():
    logits, groups, _ = batch()
    one = torch.nn.ModuleDict({"loss": FairnessRegularizer("dp")})
    one["loss"](logits, groups)
    two = torch.nn.ModuleDict({"loss": FairnessRegularizer("dp")})
    two.load_state_dict(one.state_dict())
    assert torch.equal(two["loss"].tilt, one["loss"].tilt)
    assert torch.equal(two["loss"].key, one["loss"].key)
    assert two["loss"](logits, groups).item() == pytest.approx(one["loss"](logits, groups).item())


def test_cells_may_be_given():
    logits, groups, labels = batch()
    cells = lp.Cells.prepare(groups, criterion="eo", labels=labels)
    loss = FairnessRegularizer("eo")(logits, cells=cells)
    assert loss.item() == FairnessRegularizer("eo")(logits, groups, labels).item()
    with pytest.raises(ValueError, match="either cells"):
        FairnessRegularizer("eo")(logits, groups, cells=cells)
    with pytest.raises(ValueError, match="prepared for 'eo'"):
        FairnessRegularizer("dp")(logits, cells=cells)


class Banded(lp.criteria.DemographicParity):
    """A criterion with settings of its own, of several kinds."""

    def __init__(self, width, table=(0, 1)):
        self.width, self.tables = width, [torch.tensor(table), np.array(table)]


@pytest.mark.parametrize(
    "make",
    [
        lambda k: lp.criteria.Custom([0, 1, 2, k], np.eye(3), np.ones(3) / 2),
        lambda k: lp.criteria.Custom([0, 1, 2, 1], np.eye(3) / k, np.ones(3) / 2),
        lambda k: lp.criteria.Custom([0, 1, 2, 1], np.eye(3), np.ones(3) / (k + 1)),
        Banded,
        lambda k: Banded(1, (0, k)),
    ],
)
def test_prepared_cells_are_those_of_one_criterion_and_no_other_of_its_name(make):
    logits, groups = torch.tensor([0.5, -1.0, 2.0, 0.1]), [0, 1, 2, 1]
    cells = lp.Cells.prepare(groups, make(1))
    p = i_project(logits, cells=cells, criterion=make(1))
    assert p.kl == i_project(logits, groups, make(1)).kl
    name = make(1).name
    with pytest.raises(ValueError, match=f"prepared for '{name}', not for another of that name"):
        i_project(logits, cells=cells, criterion=make(2))
    with pytest.raises(ValueError, match=f"prepared for '{name}', not for 'weak-dp'"):
        i_project(logits, cells=cells, criterion="weak-dp")


class Unhappy:
    """Something whose comparison fails."""

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    __hash__ = None


NAN = float("nan")


@pytest.mark.parametrize(
    ("make", "same"),
    [
        (lambda: pd.DataFrame({"a": [1, None], "b": ["x", None]}), True),
        (lambda: {"b": pd.Series([NAN, 2.0]), "a": 1}, True),
        (lambda: float("nan"), True),
        (lambda: [np.array([1.0, np.nan]), np.array(["x", float("nan")], dtype=object)], True),
        (lambda: torch.tensor([1.0, NAN]), True),
        (lambda: torch.tensor([1.0, NAN], dtype=torch.bfloat16), True),
        (lambda: np.array([1, 2]), True),
        (Unhappy, False),
        (lambda: np.array([object()]), False),
    ],
)
def test_any_attribute_of_a_criterion_is_compared(make, same):
    logits, groups = torch.tensor([0.5, -1.0, 2.0, 0.1]), [0, 1, 2, 1]
    mine, other, different = Banded(make()), Banded(make()), Banded(0.5)
    cells = lp.Cells.prepare(groups, mine)
    assert i_project(logits, cells=cells, criterion=mine).kl > 0
    for unequal in [different] if same else [other, different]:
        with pytest.raises(ValueError, match="another of that name"):
            i_project(logits, cells=cells, criterion=unequal)
    if same:
        assert i_project(logits, cells=cells, criterion=other).kl > 0


def test_frames_with_other_values_are_other_settings():
    frames = [pd.DataFrame({"a": [1, None, k]}) for k in (1, 2)]
    cells = lp.Cells.prepare([0, 1, 2], Banded(frames[0]))
    with pytest.raises(ValueError, match="another of that name"):
        i_project(torch.zeros(3), cells=cells, criterion=Banded(frames[1]))


def test_tilts_are_remembered_in_double_precision():
    logits, groups, _ = batch(count=60)
    single = FairnessRegularizer("dp", target=0.123)
    single(logits.float(), groups)
    exact = i_project(logits.float().double(), groups, target=0.123).tilt
    assert torch.allclose(single.tilt, exact, rtol=0, atol=1e-9)
    assert not single.tilt.equal(single.tilt.float().double())


@pytest.mark.parametrize("criterion", list(lp.criteria.CRITERIA))
def test_measure_says_how_far_the_pairs_are_from_parity(criterion):
    """The gap is the largest between two means that share a target, from the pairs one by one."""
    logits, groups, labels = batch(count=80)
    weight = 1 + torch.arange(80) % 7
    cells = lp.Cells.prepare(groups, criterion, labels, weight)
    found = FairnessRegularizer(criterion).measure(tensor_sums(logits, cells), cells, 20.0, 1e-10)
    p, means = expit(logits.numpy()), {}
    for key, members in constraints_of(groups.numpy(), criterion, labels.numpy()):
        each = [p[k] if sign else 1 - p[k] for k, sign in members]
        share = [int(weight[k]) for k, _ in members]
        means.setdefault(key, []).append(np.average(each, weights=share))
    assert found.gap == pytest.approx(max(np.ptp(values) for values in means.values()))
    loss = FairnessRegularizer(criterion)(logits, groups, labels, weight)
    assert found.kl == pytest.approx(loss.item())


def test_a_gap_takes_two_means_that_share_a_target():
    """Cells without weight have no mean; one pair of groups alone has no gap."""
    x, weight = torch.tensor([1.0, -1.0, 3.0, 0.5]), [1.0, 1.0, 1.0, 0.0]

    def gap(groups, criterion, labels=None):
        cells = lp.Cells.prepare(groups, criterion, labels, weight)
        source = tensor_sums(x, cells)
        return FairnessRegularizer(criterion).measure(source, cells, 5.0, 1e-9).gap

    assert np.isnan(gap([2, 2, 2, 0], "dp"))
    assert np.isnan(gap([0, 0, 1, 2], "eo", [1, 1, 0, 1]))
    assert gap([0, 1, 1, 2], "equalized-odds", [1, 1, 0, 0]) == pytest.approx(expit(1) - expit(-1))
    assert gap([0, 2, 2, 1], "dp") == pytest.approx(expit(1) - (expit(-1) + expit(3)) / 2)


def test_samples_come_from_the_generator_that_is_given():
    logits, groups, _ = batch()

    def losses(*seed):
        given = {"generator": torch.Generator().manual_seed(*seed)} if seed else {}
        regularizer = FairnessRegularizer("dp", target=0.3, sample_size=40, **given)
        return [regularizer(logits, groups).item() for _ in range(2)]

    assert losses(5) == losses(5) != losses(6)
    assert losses() == losses(0)
    assert len(set(losses())) == 2  # each call draws again


def test_unknown_option_gets_a_sentence():
    with pytest.raises(TypeError, match="unknown option 'sampel_size'"):
        FairnessRegularizer("dp", sampel_size=3)


def test_training_with_the_regularizer_closes_the_gap():
    logits, groups, labels = batch(count=2000)
    for gamma, largest in ((0.0, 1.0), (100.0, 0.02)):
        x = torch.nn.Parameter(logits.clone())
        regularizer = FairnessRegularizer("dp")
        optimizer = torch.optim.Adam([x], lr=0.05)
        for _ in range(200):
            optimizer.zero_grad()
            bce = torch.nn.functional.binary_cross_entropy_with_logits(x, labels.double())
            loss = bce + gamma * regularizer(x, groups)
            loss.backward()
            optimizer.step()
        assert i_project(x.detach(), groups).kl.item() / 2000 < largest
        if gamma:
            cell = lp.Cells.prepare(groups).cell
            means = [torch.sigmoid(x[cell == m]).mean().item() for m in range(6)]
            assert max(means) - min(means) < 0.05


def test_works_after_inference_mode():
    """As when a framework validates once before it trains."""
    regularizer = FairnessRegularizer("dp")
    cells = lp.Cells.prepare(torch.arange(30_000) % 3)
    with torch.inference_mode():
        regularizer(torch.randn(6), [0, 1, 2] * 2)
        regularizer(torch.randn(30_000), cells=cells)
    for x, given in ((torch.randn(6), {"groups": [0, 1, 2] * 2}), (torch.randn(30_000), {})):
        x.requires_grad_()
        regularizer(x, **(given or {"cells": cells})).backward()
        assert x.grad.any()


def test_half_precision_module_keeps_working():
    regularizer = FairnessRegularizer("dp")
    logits, groups, _ = batch()
    regularizer(logits, groups)
    regularizer.to(torch.bfloat16)
    assert regularizer(logits, groups).item() == pytest.approx(
        i_project(logits, groups).kl.item() / 300
    )


def test_warm_start_of_crossed_attributes_is_matched_by_combination():
    regularizer = FairnessRegularizer("dp", target=0.3, combine="cross")
    x = torch.tensor([1.0, 2.0, 3.0, -1.0], dtype=torch.float64)
    regularizer(x, {"a": [0, 0, 1, 1], "b": [0, 2, 0, 2]})
    cells = lp.Cells.prepare({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, combine="cross")
    recalled = dict(zip(cells.layout.names, regularizer.warm_start.start(cells), strict=True))
    logit = torch.logit(torch.tensor(0.3)).item()
    assert recalled["1+0"] == pytest.approx(logit - 3)
    assert recalled["0+1"] == 0


def test_prepared_cells_travel_without_what_they_lent():
    import pickle

    cells = lp.Cells.prepare(torch.arange(30_000) % 3)
    before = len(pickle.dumps(cells))
    i_project(torch.randn(30_000), cells=cells)
    assert len(pickle.dumps(cells)) <= before + 4096


def count_preparations(monkeypatch):
    made = []
    prepare = Cells.prepare

    def counted(*arguments, **options):
        made.append(options)
        return prepare(*arguments, **options)

    monkeypatch.setattr(Cells, "prepare", counted)
    return made


def test_cells_of_the_same_tensors_are_sorted_once(monkeypatch):
    made, x = count_preparations(monkeypatch), torch.linspace(-2, 2, 60)
    groups, labels = torch.arange(60).view(30, 2).repeat(2, 1) % 3, torch.arange(60) % 2
    weight = torch.linspace(1, 2, 60)
    regularizer = FairnessRegularizer("eo", target=0.4)
    values = [regularizer(x, groups, labels, weight) for _ in range(3)]
    assert len(made) == 1
    assert len(set(map(float, values))) == 1
    for change in (groups, labels, weight):
        change[:4] = change[4:8].clone()
        fresh = FairnessRegularizer("eo", target=0.4)(x, groups, labels, weight)
        assert regularizer(x, groups, labels, weight).item() == pytest.approx(fresh.item())
    assert len(made) == 1 + 2 * 3
    regularizer(x, groups.clone(), labels, weight)
    regularizer(x, groups, labels)
    assert len(made) == 9


@pytest.mark.parametrize("how", ["arrays", "inference", "named", "gone"])
def test_which_groups_are_remembered(how, monkeypatch):
    made, x = count_preparations(monkeypatch), torch.linspace(-2, 2, 40)
    groups, regularizer = torch.arange(40) % 3, FairnessRegularizer(target=0.4)
    if how == "arrays":
        groups = groups.numpy()
    if how == "inference":
        with torch.inference_mode():
            groups = groups.clone()
    if how == "named":
        groups = {"sex": groups}
    for _ in range(2):
        regularizer(x, groups.clone() if how == "gone" else groups)
    assert len(made) == (1 if how == "named" else 2)


def test_a_copied_or_saved_module_has_no_cells_of_its_last_batch():
    regularizer = FairnessRegularizer(target=0.4)
    regularizer(torch.linspace(-2, 2, 40), torch.arange(40) % 3)
    assert regularizer.last_cells.cells is not None
    for again in (copy.deepcopy(regularizer), pickle.loads(pickle.dumps(regularizer))):
        assert again.last_cells.cells is None
        assert torch.equal(again.tilt, regularizer.tilt)


@pytest.mark.parametrize("unconstrained", [False, True])
def test_gradients_are_the_same_at_every_use_of_cells(unconstrained):
    x = torch.linspace(-2, 2, 15_000, requires_grad=True)
    groups = (torch.arange(15_000) * 7) % 3 - int(unconstrained)
    cells, found = Cells.prepare(groups), []
    for _ in range(4):
        (gradient,) = torch.autograd.grad(i_project(x, cells=cells, target=0.4).kl, x)
        found.append(gradient)
    p = i_project(x, groups, target=0.4)
    closed = torch.sigmoid(x) - torch.sigmoid(p.logits)
    for gradient in found:
        assert torch.equal(gradient, found[0])
        assert torch.allclose(gradient, closed, atol=1e-6)
