"""Where the solvers stop: at once, at the accuracy asked for, or with a sentence."""

import re

import numpy as np
import pytest
import torch
from scipy.special import expit

from linkparity import Cells, Infeasible, NotConverged, i_project
from linkparity.projection import fit
from linkparity.projection.fit import FitGoal, fit_tilts
from linkparity.projection.regularizer import WarmStart
from linkparity.projection.solver.shared_tilt import search
from linkparity.projection.sums import Sums
from linkparity.projection.tensor_sums import tensor_sums


def two_attributes(count=60, seed=0):
    """Logits and the groups of instances by two attributes that overlap."""
    rng = np.random.default_rng(seed)
    groups = {"a": rng.integers(0, 3, count), "b": rng.integers(0, 2, count)}
    return torch.from_numpy(rng.normal(size=count)), groups


@pytest.mark.parametrize("target", [1e-7, 0.5, 1 - 1e-7])
def test_overlapping_means_are_as_accurate_near_0_and_1_as_between(target):
    """On the logit scale, so that 1 minus the mean has as many digits as the mean."""
    x, groups = two_attributes()
    found = i_project(x, groups, combine="each", target=target)
    logits = found.logits.numpy()
    for group in groups.values():
        for g in np.unique(group):
            yes, no = (expit(sign * logits[group == g]).mean() for sign in (1, -1))
            assert np.log(yes / no) == pytest.approx(np.log(target / (1 - target)), abs=1e-8)


@pytest.mark.parametrize("start", [None, 0.1])
@pytest.mark.parametrize("tol", [0.0, 1e-9])
def test_means_within_their_bands_are_left_as_they_are_without_a_step(tol, start):
    x, groups = two_attributes()
    cells = Cells.prepare(groups, combine="each")
    begin = None if start is None else np.full(len(cells.mass), start)
    goal = FitGoal.of(cells, "free", 0.5, begin)
    found = fit_tilts(tensor_sums(x, cells), cells, goal, tol, 9.0)
    assert not found.tilt.any()
    assert found.steps == 0


def test_constraints_that_cannot_agree_are_told_before_what_helps():
    x = torch.tensor([0.0, 2.0, 3.0, -1.0])
    groups = {"a": torch.tensor([0, 0, 1, 2]), "b": torch.tensor([0, -1, -1, -1])}
    with pytest.raises(Infeasible) as caught:
        i_project(x, groups, combine="each", target={"a": 0.9, "b": 1e-4})
    said = r"i_project: constraint [ab]: . cannot hold together .* away\); drop it, change its"
    assert re.match(said, str(caught.value))


def test_constraints_that_contradict_each_other_are_given_up_when_no_step_is_left():
    """Two targets of the same pairs: the first step that gains nothing is the last."""
    x, groups = torch.linspace(-1, 1, 12, dtype=torch.float64), np.arange(12) // 4
    cells, asked = Cells.prepare({"a": groups, "b": groups}, combine="each"), []
    sums = tensor_sums(x, cells)

    def counted(tilt):
        asked.append(tilt)
        return sums(tilt)

    with pytest.raises(Infeasible, match=r"constraint [ab]: . cannot hold together"):
        fit_tilts(counted, cells, FitGoal.of(cells, {"a": 0.3, "b": 0.6}), 1e-10, 9.0)
    assert len(asked) < 50


@pytest.mark.parametrize("many", [1, 1000])
@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_a_free_target_of_a_single_mean_is_that_mean(many, tolerance, monkeypatch):
    """Of two targets by label, one is about a single pair of groups."""
    monkeypatch.setattr(fit, "MANY", many)
    rng = np.random.default_rng(2)
    groups, labels = np.repeat([0, 1, 2], 20), np.repeat([0, 0, 1], 20)
    x = torch.from_numpy(rng.normal(groups, 1.0))
    found = i_project(x, groups, "equalized-odds", labels, target="free", tolerance=tolerance)
    lone = expit(x.numpy())[groups == 2].mean()
    assert found.target[1] == pytest.approx(lone, abs=1e-9)
    assert found.tilt[found.cell.numpy()[groups == 2]].numpy() == pytest.approx(0.0, abs=1e-9)
    p = expit(found.logits.numpy())
    apart = abs(p[groups == 0].mean() - p[groups == 1].mean())
    assert apart == pytest.approx(2 * tolerance, abs=1e-6)


def test_a_mean_that_jumps_past_its_target_is_named_once_its_bracket_is_empty():
    """Not the other, which is met."""

    def jumping(tilt):
        yes = np.array([expit(tilt[0] - 1), 0.45 if tilt[1] < 0.3 else 0.55])
        return Sums(yes, 1 - yes, yes * (1 - yes))

    cells = Cells.prepare([0, 1])
    said = (
        r"^i_project: constraint 1 is 2.0e-01 from its target on the logit scale after (\d+) steps"
    )
    with pytest.raises(NotConverged, match=said) as caught:
        fit_tilts(jumping, cells, FitGoal.of(cells, 0.5), 1e-9, 10.0)
    assert int(re.match(said, str(caught.value))[1]) < 100


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("kind", [np.array, torch.tensor])
def test_a_logit_that_is_not_finite_is_refused(wrong, kind):
    with pytest.raises(ValueError, match=rf"must be finite, got {wrong:g} at position 1 \(1 in"):
        i_project(kind([0.5, wrong, 1.0]), [0, 1, 1])


def test_initial_tilts_do_not_depend_on_the_unit_of_the_weights():
    for unit in (1.0, 1e-3):
        known = WarmStart()
        cells = Cells.prepare([0, 0, 1, 2], weight=unit * np.array([1.0, 2.0, 1.0, 0.0]))
        assert known.start(cells).tolist() == [0, 0, 0]
        known.remember(cells, np.array([0.5, -1.0, 4.0]))
        assert known.start(cells).tolist() == [0.5, -1.0, 0]
        known.remember(cells, np.array([0.75, -3.0, 4.0]))
        assert known.start(cells).tolist() == [1.0, -5.0, 0]


class Means:
    """Means that rise with tilts of their own, each met between two tilts."""

    def __init__(self, low, high):
        self.middle, self.half = (low + high) / 2, (high - low) / 2
        self.size, self.owner = len(low), np.arange(len(low))

    def at(self, tilt):
        return np.asarray(tilt - self.middle), np.ones(self.size)

    def excess(self, error):
        return np.sign(error) * np.maximum(np.abs(error) - self.half, 0.0)

    def total(self, values):
        return values


def test_the_search_takes_a_tilt_of_0_where_that_meets_all_targets():
    """Also where 0 is between points of the grid; else the end of the interval that is nearer."""
    means = Means(np.array([-0.013, 0.4, -0.9]), np.array([0.017, 0.6, -0.2]))
    found = search(means, np.array([-1.03, 0.0, -1.0]), np.array([0.94, 1.0, -0.3]))
    assert (found.distance == 0).all()
    assert (found.low[0], found.high[0]) == (0, 0)
    assert found.low[1] <= 0.4 <= found.high[1]
    assert (found.low[2], found.high[2]) == (-0.3, -0.3)
