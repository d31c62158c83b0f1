"""What a criterion changed: the plain twin, the two gaps, and the warning."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import expit
from table_cases import exit_code

import linkparity as lp
from linkparity.experiments.compare_with_plain import (
    Comparison,
    _advice,
    compare_with_plain,
    criterion_gap,
)
from linkparity.experiments.train import train_run
from linkparity.metrics.evaluation import scored_sets
from linkparity.models.prediction import TrainingInterrupted
from linkparity.models.training.objective import trained_criterion

EPOCHS = 40


@pytest.fixture(scope="module")
def graph():
    return lp.load("polbooks")


@pytest.fixture(scope="module")
def run(graph):
    predictor = lp.LinkPredictor("dot-product", "dp", epochs=EPOCHS, dimension=8)
    return train_run(graph, predictor, test_pairs="candidates")


def test_the_twin_is_the_same_model_without_the_criterion(graph, run):
    found = compare_with_plain(graph, run)
    split = lp.split_links(graph, test=0.2, seed=0)
    plain = lp.LinkPredictor("dot-product", epochs=EPOCHS, dimension=8).fit(split.train)
    known = lp.evaluate(plain, split, None, over="candidates")
    assert found.gap == pytest.approx((known.dp, run.scores.dp), abs=1e-12)
    assert found.auc == pytest.approx((known.auc, run.scores.auc), abs=1e-12)
    assert found.training_gap[1] == run.predictor.history_[-1].gap
    assert found.fit_seconds[1] == run.predictor.fit_seconds_
    assert found.training_gap[0] > 5 * found.training_gap[1]
    assert (found.reached, found.where) == (True, "candidates")
    assert "dp gap on candidates" in str(found)


def test_other_criteria_have_a_gap_on_held_out_pairs_too(graph):
    split = lp.split_links(graph, test=0.2, seed=0)
    predictor = lp.LinkPredictor("dot-product", epochs=EPOCHS, dimension=8).fit(split.train)
    scores = lp.evaluate(predictor, split, None)
    scored = scored_sets(predictor, split, None)["test"]
    for name in ("dp", "eo"):
        known = criterion_gap(scored, trained_criterion(name))
        assert known == pytest.approx(scores.values[name], abs=1e-9)
    mixed = lp.evaluate(predictor, split, None, view="mixed")
    weak = criterion_gap(scored, trained_criterion("weak-dp"))
    assert weak == pytest.approx(mixed.dp, abs=1e-9)


def test_pairs_of_an_unknown_group_are_in_no_gap(graph):
    group = torch.where(torch.arange(graph.num_nodes) % 4 == 0, -1, graph.group)
    split = lp.split_links(replace(graph, group=group, unknown_kept=True), seed=0)
    predictor = lp.LinkPredictor("dot-product", epochs=EPOCHS, dimension=8).fit(split.train)
    test = split.test
    known = (group[test.index] >= 0).all(dim=1)
    right = expit(predictor.predict_logits(test.index))
    right = np.where(test.label == 1, right, 1 - right)
    code = group[test.index].sort(dim=1).values @ torch.tensor([3, 1])
    means = [
        np.average(right[(code == each) & known], weights=test.weight[(code == each) & known])
        for each in torch.unique(code[known])
    ]
    scored = scored_sets(predictor, split, None)["test"]
    found = criterion_gap(scored, trained_criterion("accuracy"))
    assert found == pytest.approx(np.ptp(means), abs=1e-9)


def test_a_criterion_that_is_not_reached_is_said(graph):
    predictor = lp.LinkPredictor("dot-product", "dp", gamma=0.0, epochs=2, dimension=8)
    run = train_run(graph, predictor, test_pairs="candidates")
    with pytest.warns(lp.TrainingWarning, match="dp was not reached: its gap on candidates is"):
        found = compare_with_plain(graph, run)
    assert found.reached is False
    unknown = (float("nan"), float("nan"))
    assert Comparison("dp", "candidates", unknown, unknown, unknown, unknown).reached is None


def test_ctrl_c_in_the_fit_of_the_twin_leaves_the_run_uncompared(graph, run, monkeypatch):
    def interrupted(self, graph, y=None, on_epoch=None):
        warnings.warn("stopped", TrainingInterrupted, stacklevel=1)
        return self

    monkeypatch.setattr(lp.LinkPredictor, "fit", interrupted)
    with pytest.warns(TrainingInterrupted, match="interrupted; the run is not compared"):
        assert compare_with_plain(graph, run) is None


def test_advice_names_only_what_is_left_to_do(graph):
    own, known = trained_criterion("equalized-odds"), trained_criterion("dp")
    assert _advice(own, tilted=True) == "choose other pairs or another gamma"
    assert _advice(known, tilted=False).endswith("postprocess by i-projection, or let tune choose")


def test_tilts_and_small_pairs_of_groups_are_compared_as_the_run_measures_them(graph):
    predictor = lp.LinkPredictor("maxent", "dp", gamma=0.0, postprocess="i-projection")
    run = train_run(graph, predictor, test_pairs="candidates", min_pairs=300)
    found = compare_with_plain(graph, run)
    assert found.gap[1] == run.scores.dp
    assert np.isnan(found.training_gap[1])


def test_the_command_compares_when_told_to(capfd):
    args = ("train", "polbooks", "--model", "maxent", "--json")
    assert exit_code(*args, "--criterion", "dp", "--compare-plain") == 0
    found = json.loads(capfd.readouterr().out)
    compared = found["compared_with_plain"]
    assert compared["gap"][1] == found["dp"]
    assert compared["gap"][1] < compared["gap"][0]
    assert compared["fit_seconds"][1] == found["fit_seconds"]
    assert found["settings"]["pairs"] == "all"
    assert exit_code(*args, "--criterion", "dp") == 0
    assert "compared_with_plain" not in json.loads(capfd.readouterr().out)
    assert exit_code(*args, "--compare-plain") == 2
    assert "--compare-plain goes with --criterion" in capfd.readouterr().err


def test_a_terminal_gets_the_comparison_where_it_is_quick(capfd, monkeypatch):
    args = ("train", "polbooks", "--model", "maxent", "--criterion", "dp")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert exit_code(*args) == 0
    assert "What dp changed" in capfd.readouterr().out
    monkeypatch.setattr("linkparity.experiments.compare_with_plain.QUICK", 0.0)
    assert exit_code(*args) == 0
    assert "What dp changed" not in capfd.readouterr().out
