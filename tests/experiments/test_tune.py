"""tune: the search, what it chooses, and that test pairs stay out of it."""

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from table_cases import exit_code

import linkparity as lp
from linkparity.experiments import tune_search
from linkparity.experiments.steady_eo import validation_splits
from linkparity.experiments.train import hold_out
from linkparity.experiments.tune import check_models, limits, tune
from linkparity.experiments.tune_search import Search
from linkparity.experiments.tune_trials import Trial, best_trial, chosen_trial, next_strength
from linkparity.models.prediction import TrainingInterrupted, TrainingWarning
from linkparity.models.training.loop import Diverged
from linkparity.pairs.candidates import Candidates
from linkparity.report.tune_page import tuning_html
from linkparity.support.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore::linkparity.SplitWarning")
EPOCHS = 30


def trial(gamma, auc, excess, error=0.0):
    return Trial("cne", gamma, None, auc, {"dp": excess / 100}, excess, excess + error, 0.1)


def test_the_best_auc_within_the_limits_is_chosen_else_the_nearest():
    curve = [trial(0, 0.9, 5.0), trial(1, 0.8, 0.9), trial(10, 0.85, 1.0), trial(100, 0.7, 0.1)]
    assert best_trial(curve) is curve[2]
    assert best_trial(curve[:1]) is curve[0]
    assert best_trial([trial(0, 0.9, 3.0), trial(1, 0.2, 2.0)]).gamma == 1


def test_an_estimate_stays_within_the_limit_by_its_error_where_that_costs_next_to_no_auc():
    curve = [
        trial(0, 0.95, 5.0, 0.3), trial(1, 0.9, 0.99, 0.3), trial(10, 0.8995, 0.6, 0.3),
        trial(30, 0.8991, 0.4, 0.3), trial(100, 0.8, 0.1, 0.3),
    ]  # fmt: skip
    assert chosen_trial(curve) is curve[2]
    assert chosen_trial([curve[0], curve[1], curve[4]]) is curve[1]
    assert chosen_trial(curve[:1]) is curve[0]
    unsafe = [replace(each, cautious_excess=each.excess + 1) for each in curve]
    assert chosen_trial(unsafe) is unsafe[3]
    assert chosen_trial([replace(each, cautious_excess=each.excess) for each in curve]).gamma == 1


@pytest.mark.parametrize("limit", ["eo", "dp"])
def test_the_first_strengths_are_compared_before_the_search_ends(limit):
    graph = lp.load("polbooks")
    split = lp.split_links(graph, test=0.1, seed=0)
    search = Search([split], {limit: 0.01}, False, {"epochs": 1})

    def judge(predictor, began, steady):
        plain = predictor.criterion is None
        return trial(predictor.gamma, 0.9, 5.0 if plain else 1.0)

    object.__setattr__(search, "judge", judge)
    assert len(list(search.trials("dot-product"))) == 5


@pytest.mark.parametrize(
    ("weakest", "combined"),
    [(10.0, [10.0]), (30.0, [10.0, 10**1.5]), (1e9, [10.0, 10**1.5, 1e5 / 10**0.5])],
)
@pytest.mark.filterwarnings("ignore:.*learned nothing")
def test_tilts_for_links_are_combined_with_the_weakest_strength_that_keeps_the_limit(
    weakest, combined
):
    graph = lp.load("polbooks")
    search = Search([lp.split_links(graph, test=0.1, seed=0)], {"eo": 0.01}, False, {"epochs": 1})

    def judge(predictor, began, steady):
        gamma = 0.0 if predictor.criterion is None else predictor.gamma
        within = predictor.postprocess and gamma >= weakest
        return trial(gamma, 0.9 - gamma / 1e6, 1.0 if within else 5.0 - gamma / 1e5)

    object.__setattr__(search, "judge", judge)
    alone = [0, 0, 1, 10, 100, 1e3, 1e4, 1e5]
    tried = [each.gamma for each in search.trials("dot-product")]
    assert tried == pytest.approx([*alone, *combined])


def test_strengths_are_halved_toward_accuracy_or_extended_toward_parity():
    good = {g: trial(g, 1 - g / 1000, 2.0 if g < 10 else 0.5) for g in (1.0, 10.0, 100.0)}
    assert next_strength(good) == pytest.approx(10**0.5)
    all_good = {g: trial(g, 1 - g / 1000, 0.5) for g in (1.0, 10.0, 100.0)}
    assert next_strength(all_good) == pytest.approx(0.1)
    none = {g: trial(g, 0.9, 50 / g) for g in (1.0, 10.0)}
    assert next_strength(none) == pytest.approx(100)
    turned = {1.0: trial(1.0, 0.9, 3.0), 10.0: trial(10.0, 0.9, 2.0), 100.0: trial(100.0, 0.9, 4.0)}
    assert next_strength(turned) == pytest.approx(1000**0.5)


@pytest.fixture(scope="module")
def found():
    graph = lp.load("polbooks")
    return tune(graph, {"dp": 0.01}, "dot-product", seed=0, epochs=EPOCHS, dimension=8)


def test_the_choice_keeps_the_limit_and_is_the_best_that_does(found):
    assert found.qualified
    assert found.chosen.gaps["dp"] <= 0.01
    assert all(t.auc <= found.chosen.auc for t in found.curve if t.qualified)
    assert not found.curve[0].qualified
    assert {t.postprocess for t in found.curve} == {None, "i-projection"}


def test_trials_are_fits_without_validation_and_test_links(found):
    graph = lp.load("polbooks")
    split = lp.split_links(graph, test=0.2, seed=0)
    inner = lp.split_links(split.train, test=0.2, seed=1)
    plain = lp.LinkPredictor("dot-product", seed=0, epochs=EPOCHS, dimension=8).fit(inner.train)
    known = lp.evaluate(plain, inner, None, over="candidates")
    assert found.curve[0].auc == pytest.approx(known.auc, abs=1e-12)
    assert found.curve[0].gaps["dp"] == pytest.approx(known.dp, abs=1e-12)
    assert found.predictor.graph_.num_links == split.train.num_links
    again = lp.evaluate(found.predictor, split, over="candidates")
    assert found.scores.values == pytest.approx(again.values, nan_ok=True)


def test_a_limit_that_nothing_keeps_is_said_with_the_nearest(capfd):
    graph = lp.load("polbooks")
    found = tune(graph, {"eo": 0.0}, "maxent", seed=0)
    assert not found.qualified
    assert found.chosen.excess == min(t.excess for t in found.curve)
    assert found.chosen.gaps["eo"] == min(t.gaps["eo"] for t in found.curve)
    assert "Nothing tried keeps eo ≤ 0" in found.finding()
    assert "Nothing tried keeps eo ≤ 0" in str(found)


def test_a_projection_keeps_a_limit_of_0_on_dp():
    found = tune(lp.load("polbooks"), {"dp": 0.0}, "maxent", seed=0)
    assert found.qualified
    assert found.chosen.postprocess == "i-projection"
    assert found.chosen.gaps["dp"] < 1e-7


@pytest.mark.filterwarnings("ignore:.*learned nothing")
def test_a_limit_on_eo_tries_the_projection_by_pair_of_groups():
    asked = {"epochs": EPOCHS, "dimension": 8, "seed": 1}
    found = tune(lp.load("polbooks"), {"eo": 0.001}, "dot-product", **asked)
    plain, projected = found.curve[:2]
    assert (projected.gamma, projected.postprocess) == (0.0, "i-projection")
    assert projected.gaps["eo"] != plain.gaps["eo"]


def test_a_model_that_cannot_be_built_is_refused_before_the_first_fit(monkeypatch):
    monkeypatch.setattr("linkparity.experiments.tune_search.fit_uninterrupted", pytest.fail)
    with pytest.raises(InputError, match="dimension must be 1 for MaxEnt"):
        tune(lp.load("polbooks"), {"dp": 0.01}, "cne,maxent", dimension=16)


def test_a_fit_that_fails_ends_the_trials_of_its_model_alone(monkeypatch):
    def fit(predictor, graph):
        if (predictor.model, predictor.criterion) in broken:
            raise Diverged("the loss is not finite")
        return original(predictor, graph)

    original = tune_search.fit_uninterrupted
    monkeypatch.setattr(tune_search, "fit_uninterrupted", fit)
    broken = {("dot-product", "dp")}
    said = "a fit failed, no further trials of dot-product: the loss is not finite"
    with pytest.warns(TrainingWarning, match=said):
        found = tune(lp.load("polbooks"), {"dp": 0.001}, "dot-product,maxent", epochs=5)
    models = [trial.model for trial in found.curve]
    assert models.count("dot-product") == 2
    assert models.count("maxent") > 2
    assert found.complete
    broken = {("dot-product", None)}
    with pytest.raises(Diverged, match="the loss is not finite"):
        tune(lp.load("polbooks"), {"dp": 0.001}, "dot-product", epochs=5)


def test_an_interrupted_search_keeps_the_best_so_far():
    graph = lp.load("polbooks")

    def stop(trial):
        if trial.postprocess:
            raise KeyboardInterrupt

    with pytest.warns(TrainingInterrupted, match="interrupted after 2 trials; the best so far"):
        found = tune(graph, {"dp": 0.001}, "dot-product", epochs=5, on_trial=stop)
    assert not found.complete
    assert len(found.curve) == 2
    assert found.finding().startswith("Interrupted after 2 trials. ")


def test_limits_have_the_names_of_the_literature_too():
    assert limits(["equal-opportunity=0.1", "dp=0.2"]) == {"eo": 0.1, "dp": 0.2}
    assert limits(["demographic-parity=0.05, eo=1"]) == {"dp": 0.05, "eo": 1.0}
    with pytest.raises(InputError, match="has two limits on dp"):
        limits(["dp=0.1", "demographic-parity=0.1"])
    with pytest.raises(InputError, match="max_gap limits a measure under two names, dp, demo"):
        lp.tune(lp.load("polbooks"), {"dp": 0.1, "demographic-parity": 0.1})
    found = lp.tune(lp.load("polbooks"), {"demographic-parity": 1.0}, "maxent")
    assert found.max_gap == {"dp": 1.0}
    assert found.to_dict()["max_gap"] == {"dp": 1.0}


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["dp"], "must be a measure and a number, got 'dp'"),
        (["dq=1"], "cannot limit 'dq'; use one of dp, eo"),
        (["auc=0.5"], "cannot limit 'auc'; use one of dp, eo"),
        (["dp=2"], "must lie between 0 and 1, got dp=2"),
        (["dp=0.1,dp=0.2"], "has two limits on dp"),
    ],
)
def test_bad_limits_are_refused(texts, said):
    with pytest.raises(ValueError, match=said):
        limits(texts)


def test_the_command_prints_the_choice_and_saves_it(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    args = ("--model", "maxent", "--max-gap", "dp=0.05", "--out", "run", "--html", "t.html")
    assert exit_code("tune", "polbooks", *args, "--json") == 0
    out, err = capfd.readouterr()
    found = json.loads(out)
    keys = "dataset model criterion gamma seed auc dp eo rdp rb kl fit_seconds"
    assert set(found) >= {*keys.split(), "postprocess", "max_gap", "qualified", "curve"}
    assert found["max_gap"] == {"dp": 0.05}
    assert "trial 1 of at most 14" in err
    assert lp.LinkPredictor.load("run").graph_.num_nodes == 105
    page = Path("t.html").read_text()
    assert "<svg" in page
    assert "<script" not in page
    assert exit_code("tune", "polbooks", "--max-gap", "dp=x") == 2
    assert "--max-gap must be a measure and a number, got 'dp=x'" in capfd.readouterr().err


def test_the_page_marks_the_choice_and_escapes_names(found):
    page = tuning_html(found)
    assert page.count("<circle") == len(found.curve)
    assert page.count('class="chosen"') == 1
    assert "http" not in page.replace("http-equiv", "")


def test_train_measures_candidates_unless_pairs_are_sampled_or_it_is_told_otherwise(capfd):
    args = ("train", "polbooks", "--model", "maxent", "--json")
    assert exit_code(*args) == 0
    found = json.loads(capfd.readouterr().out)
    assert exit_code(*args, "--measures", "auc,dp", "--test-pairs", "paper") == 0
    paper = json.loads(capfd.readouterr().out)
    assert exit_code(*args, "--pairs", "sampled") == 0
    sampled = json.loads(capfd.readouterr().out)
    assert exit_code(*args, "--pairs", "sampled", "--test-pairs", "candidates") == 0
    both = json.loads(capfd.readouterr().out)
    assert [each["test_pairs"] for each in (sampled, both)] == ["paper", "candidates"]
    assert sampled["dp"] == paper["dp"]
    assert both["dp"] == found["dp"]
    assert sampled["auc_candidates"] is None
    assert sampled["reasons"]["auc_candidates"] == "measured over candidates"
    split = lp.split_links(lp.load("polbooks"), seed=0)
    known = lp.evaluate(lp.LinkPredictor("maxent").fit(split.train), split, over="candidates")
    assert found["dp"] == pytest.approx(known.dp, abs=1e-12)
    assert found["auc_candidates"] == pytest.approx(known.auc_candidates, abs=1e-12)
    assert (found["test_pairs"], paper["test_pairs"]) == ("candidates", "paper")
    assert paper["dp"] != found["dp"]
    assert paper["auc"] == found["auc"]
    assert paper["eo"] is None
    assert exit_code("train", "polbooks", "--measures", "auc,dpp") == 2
    assert "unknown measure 'dpp'; did you mean 'dp'?" in capfd.readouterr().err


def test_a_projection_within_the_limit_is_the_fit_of_its_settings(found):
    projected = [t for t in found.curve if t.postprocess]
    assert projected[0].gamma == 0
    assert projected[0].tolerance == 0.005
    assert projected[0].gaps["dp"] == pytest.approx(0.01, abs=1e-6)
    assert all(t.gaps["dp"] <= 0.01 * (1 + 1e-6) for t in projected)
    inner = lp.split_links(lp.split_links(lp.load("polbooks"), seed=0).train, test=0.2, seed=1)
    again = lp.LinkPredictor(
        "dot-product", "dp", 0, 0, epochs=EPOCHS, dimension=8, postprocess="i-projection",
        tolerance=0.005,
    ).fit(inner.train)  # fmt: skip
    scores = lp.evaluate(again, inner, None, over="candidates")
    assert projected[0].auc == pytest.approx(scores.auc, abs=1e-12)
    assert projected[0].gaps["dp"] == pytest.approx(scores.dp, abs=1e-9)


def test_tilts_of_a_regularized_model_go_to_the_limit_and_no_further(found):
    gammas = [t.gamma for t in found.curve]
    beyond = [k for k in found.curve if k.gamma and not k.postprocess and not k.qualified]
    assert beyond
    for trained in beyond:
        tilted = found.curve[gammas.index(trained.gamma) + 1]
        assert tilted.postprocess == "i-projection"
        assert tilted.gaps["dp"] == pytest.approx(0.01, abs=1e-6)
        assert tilted.tolerance == 0.005


@pytest.mark.parametrize("pairs", ["sampled", "all"])
def test_a_limit_is_about_candidates_whatever_the_training_is_about(pairs):
    graph = lp.load("polbooks")
    found = tune(graph, {"dp": 0.03}, "dot-product", pairs=pairs, epochs=EPOCHS, dimension=8)
    tilted = [t for t in found.curve if t.postprocess]
    assert all(t.gaps["dp"] <= 0.03 * (1 + 1e-6) for t in tilted)
    assert found.scores.dp <= 0.03 * (1 + 1e-6)
    assert not found.exceeded
    assert found.predictor.pairs == pairs


def test_a_dp_beyond_its_limit_beside_one_on_eo_is_said(found):
    over = replace(found, max_gap={"eo": 0.9, "dp": found.scores.dp / 2})
    assert over.exceeded
    assert over.to_dict()["exceeded"]
    assert "above the limit" in over.finding()
    assert not found.exceeded


def test_the_choice_fitted_on_all_links_keeps_the_limit_and_is_what_is_saved(tmp_path, capfd):
    run, pairs = tmp_path / "run", tmp_path / "pairs.csv"
    asked = ["--max-gap", "dp=0.03", "--model", "maxent", "--seed", "1", "--measures", "auc,rdp"]
    given = [*asked, "--refit", "--save-test", str(pairs), "--out", str(run), "--json"]
    assert exit_code("tune", "polbooks", *given) == 0
    said = json.loads(capfd.readouterr().out)
    assert {name for name in ("auc", "ap", "dp", "eo", "rdp") if said[name] is not None} == {
        "auc",
        "dp",
        "rdp",
    }
    graph = lp.load("polbooks")
    saved = lp.LinkPredictor.load(run)
    assert saved.held_out_ is None
    assert saved.graph_.num_links == graph.num_links
    everything = hold_out(graph, 0, 1)
    assert lp.evaluate(saved, everything, over="candidates", measures=["dp"]).dp <= 0.03 + 1e-6
    command = ["audit", str(pairs), "--sensitive", "leaning", "--weight", "weight", "--json"]
    assert exit_code(*command) == 0
    audited = json.loads(capfd.readouterr().out)
    assert audited["dp"] == pytest.approx(said["dp"], abs=1e-9)


def test_what_goes_to_stdout_twice_is_refused_by_tune(capfd):
    given = ["--max-gap", "dp=0.1", "--model", "maxent"]
    assert exit_code("tune", "polbooks", *given, "--save-test", "-", "--html", "-") == 2
    assert "--save-test - and --html - both write to stdout" in capfd.readouterr().err
    assert exit_code("tune", "polbooks", *given, "--measures", "auk") == 2
    assert "auk" in capfd.readouterr().err


def test_another_target_is_kept_by_the_choice():
    found = tune(lp.load("polbooks"), {"dp": 0.01}, "maxent", target=0.2)
    means = [cell["mean"] for cell in found.to_dict()["cells"]]
    assert found.predictor.target == 0.2
    assert means == pytest.approx([0.2] * len(means), abs=0.006)


def test_small_pairs_of_groups_can_be_left_out():
    graph = lp.load("polbooks")
    asked = {"epochs": 30, "dimension": 8}
    every = tune(graph, {"dp": 0.9}, "dot-product", **asked)
    some = tune(graph, {"dp": 0.9}, "dot-product", min_pairs=1000, **asked)
    split = lp.split_links(lp.split_links(graph, seed=0).train, test=0.2, seed=1)
    plain = lp.LinkPredictor("dot-product", **asked).fit(split.train)
    known = lp.evaluate(plain, split, None, over="candidates", min_pairs=1000)
    assert some.curve[0].gaps["dp"] == pytest.approx(known.dp, abs=1e-12)
    assert some.curve[0].gaps["dp"] != every.curve[0].gaps["dp"]
    assert some.scores.scored.min_pairs == 1000


def test_ctrl_c_in_the_last_fit_says_what_was_chosen(monkeypatch):
    def interrupted(self, chosen, graph):
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "refit", interrupted)
    with (
        pytest.warns(TrainingInterrupted, match="no model; the choice was maxent, plain"),
        pytest.raises(KeyboardInterrupt),
    ):
        tune(lp.load("polbooks"), {"dp": 0.9}, "maxent")


def test_ctrl_c_within_a_fit_ends_the_search(monkeypatch):
    """``LinkPredictor.fit`` alone would go on with a model half trained."""
    fit, fits = lp.LinkPredictor.fit, []

    def interrupted(self, graph, y=None, on_epoch=None):
        fits.append(self.gamma)

        def stop(epoch):
            if len(fits) == 2 and epoch.epoch == 2:
                raise KeyboardInterrupt

        return fit(self, graph, y, stop)

    monkeypatch.setattr(lp.LinkPredictor, "fit", interrupted)
    with pytest.warns(TrainingInterrupted, match="interrupted after 2 trials"):
        found = tune(lp.load("polbooks"), {"dp": 0.001}, "dot-product", epochs=5)
    assert not found.complete
    assert [t.gamma for t in found.curve] == [0.0, 0.0]
    assert len(fits) == 3  # plain, the interrupted one, and the choice on all training links


def test_a_limit_on_eo_tries_every_kind_of_setting():
    found = tune(lp.load("polbooks"), {"eo": 0.001}, "maxent", seed=0)
    kinds = {(t.gamma > 0, t.postprocess) for t in found.curve}
    assert kinds == {(False, None), (False, "i-projection"), (True, None), (True, "i-projection")}


@pytest.mark.parametrize(("loss", "trials"), [(0.0009, 5), (0.002, 8)])
def test_the_search_ends_where_a_setting_within_the_limits_costs_next_to_nothing(loss, trials):
    graph = lp.load("polbooks")
    search = Search([lp.split_links(graph, test=0.1, seed=0)], {"dp": 0.01}, False, {"epochs": 1})

    def judge(predictor, began, steady):
        plain = predictor.criterion is None
        found = trial(predictor.gamma, 0.9 if plain else 0.9 - loss, 5.0 if plain else 1.0)
        return replace(found, postprocess=predictor.postprocess)

    object.__setattr__(search, "judge", judge)
    assert len(list(search.trials("dot-product"))) == trials


def test_a_choice_that_exceeds_the_limit_once_refitted_is_tilted_within_it():
    found = tune(lp.load("polbooks"), {"dp": 0.03}, "maxent", seed=1)
    assert found.qualified
    assert found.tilted
    assert found.chosen.postprocess is None
    assert found.predictor.postprocess == found.to_dict()["postprocess"] == "i-projection"
    assert found.scores.dp <= 0.03 * (1 + 1e-6)
    assert "exceeded the limit on dp, and was tilted" in found.finding()
    again = lp.evaluate(found.predictor, lp.split_links(lp.load("polbooks"), seed=1))
    assert again.auc == pytest.approx(found.scores.auc)


def test_without_an_interval_nothing_can_be_confident():
    asked = {"epochs": 20, "seed": 3}
    graph = lp.load("polbooks")
    with pytest.raises(InputError, match="confident cannot judge eo, which has no interval on the"):
        tune(graph, {"eo": 0.25}, "cne", confident=True, **asked)
    assert tune(graph, {"eo": 0.25}, "cne", **asked).curve[0].gaps["eo"] < 0.25


def test_a_setting_without_an_interval_keeps_no_confident_limit(monkeypatch):
    real = lp.evaluate

    def evaluate(predictor, *args, **more):
        scores = real(predictor, *args, **more)
        none = {"eo": (np.nan, np.nan)} if predictor.gamma == 10 else {}
        return replace(scores, intervals=scores.intervals | none)

    monkeypatch.setattr("linkparity.experiments.tune_search.evaluate", evaluate)
    graph = lp.datasets.block_model(sizes=(150, 120, 90), degree=12, homophily=4, seed=0)
    found = tune(graph, {"eo": 0.001}, "maxent", confident=True)
    without = [each for each in found.curve if each.gamma == 10]
    assert without
    assert not any(each.qualified for each in without)
    assert all(each.to_dict()["gaps"]["eo"] is None for each in without)
    assert len(found.curve) > 6


@pytest.mark.parametrize(
    ("models", "more", "said"),
    [
        ("flip,cne", {"strength": 0.5}, "strength does not apply to the model 'cne'"),
        ("cne,gae", {"options": {"s1": 1.5}}, "the model 'gae' does not take"),
        ("maxent", {"target": 7}, "target must lie"),
        ("maxent", {"target": "data"}, "target"),
        ("maxent", {"min_pairs": -3}, "min_pairs must be at least 0"),
    ],
)
def test_what_some_fit_would_refuse_is_refused_before_the_first(monkeypatch, models, more, said):
    fits = []
    monkeypatch.setattr(lp.LinkPredictor, "fit", lambda *_, **__: fits.append(1))
    with pytest.raises(ValueError, match=said):
        tune(lp.load("polbooks"), {"eo": 0.9}, models, **more)
    assert not fits


@pytest.mark.parametrize(
    ("graph", "models", "more", "said"),
    [
        ("polbooks", "cne", {}, "graph must be a Graph, got 'polbooks'"),
        (None, None, {}, "models must name models, got None"),
        (None, "cne", {"tolerance": 0.1}, "tolerance is what tune chooses"),
    ],
)
def test_arguments_of_the_wrong_kind_are_one_line(graph, models, more, said):
    with pytest.raises(InputError, match=said):
        tune(lp.load("polbooks") if graph is None else graph, {"dp": 0.1}, models, **more)


def test_ctrl_c_in_the_fits_of_further_splits_keeps_the_plain_model(monkeypatch):
    fits = []
    fit = lp.LinkPredictor.fit

    def interrupted(self, *args, **kwargs):
        fits.append(self)
        if len(fits) == 3:
            raise KeyboardInterrupt
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(lp.LinkPredictor, "fit", interrupted)
    with pytest.warns(TrainingInterrupted, match="interrupted after 1 trial"):
        found = tune(lp.load("polbooks"), {"eo": 0.01}, "dot-product", epochs=5, seed=1)
    assert [trial.gamma for trial in found.curve] == [0.0]
    assert not found.complete


def test_a_gap_that_is_undefined_is_refused_with_the_reason():
    graph = lp.load("polbooks")
    alone = lp.Graph(graph.num_nodes, graph.links, [0] * graph.num_nodes)
    with pytest.raises(InputError, match="eo cannot be judged on the validation pairs: needs"):
        tune(alone, {"eo": 0.05}, "maxent")


@pytest.mark.parametrize(
    ("limit", "models", "more", "said"),
    [
        ({"dp": "0.1"}, "cne", {}, "must be a number, got '0.1'"),
        ({"dp": None}, "cne", {}, "must be a number, got None"),
        ({"dp": 0.1}, [], {}, "must name a model"),
        ({"dp": 0.1}, "cne", {"gamma": 1.0}, "gamma is what tune chooses"),
    ],
)
def test_what_cannot_be_searched_is_refused(limit, models, more, said):
    with pytest.raises(InputError, match=said):
        tune(lp.load("polbooks"), limit, models, **more)


def test_names_of_models_may_have_blanks_and_repeat_and_the_largest_seed_works():
    assert check_models("cne, gae,cne") == ["cne", "gae"]
    found = tune(lp.load("polbooks"), {"eo": 0.9}, "maxent", seed=2**32 - 1)
    assert found.qualified


def test_tilts_for_links_stay_as_they_were_judged():
    graph = lp.load("polbooks")
    split = lp.split_links(graph, seed=0)
    search = Search([split], {"eo": 0.001}, False, {"epochs": 5, "seed": 0})
    plain, projected = islice(search.trials("dot-product"), 2)
    assert plain.tilts is None
    assert projected.tilts.table.any()
    kept = search.refit(projected, graph)
    assert kept.tilts_ is projected.tilts
    assert kept.postprocess == "i-projection"
    alone = lp.LinkPredictor("dot-product", epochs=5, seed=0).fit(graph)
    index = graph.links
    tilts = projected.tilts.of(graph.group[index]).numpy()
    np.testing.assert_allclose(kept.predict_logits(index), alone.predict_logits(index) + tilts)


def links_tilt(twin, graph, links):
    """Tilts of one model by scalar root finding on links that it has not seen, and their counts."""
    logits, groups = twin.predict_logits(links), np.sort(graph.group[links].numpy(), axis=1)
    every = np.sort(graph.group[graph.links].numpy(), axis=1)
    cells = {tuple(pair): (groups == pair).all(axis=1) for pair in np.unique(groups, axis=0)}
    weight = np.zeros(len(links))
    for pair, own in cells.items():
        weight[own] = (every == pair).all(axis=1).sum() / own.sum()
    target = np.average(expit(logits), weights=weight)
    found = np.zeros((graph.num_groups,) * 2)
    for (a, b), own in cells.items():
        root = brentq(lambda t, x=logits[own]: expit(x + t).mean() - target, -50, 50, xtol=1e-12)
        found[a, b] = found[b, a] = root * own.sum() / (own.sum() + 10)
    return found


def test_tilts_of_the_plain_model_come_from_further_splits():
    graph = lp.load("polbooks")
    splits = validation_splits(graph, 0.3, 3, 7)
    told = []
    search = Search(
        splits, {"eo": 0.1}, False, {"epochs": 40, "seed": 0},
        on_plain_fit=lambda *fit: told.append(fit),
    )  # fmt: skip
    plain, projected = islice(search.trials("cne"), 2)
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert plain.gaps["eo"] > 0.1  # else the search ends
    expected = []
    for split in splits[1:]:
        twin = lp.LinkPredictor("cne", epochs=40, seed=0).fit(split.train)
        links = split.test.index[split.test.label == 1]
        unjudged = links[splits[0].train.is_link(links)]
        assert 0 < len(unjudged) < len(links)
        expected.append(links_tilt(twin, splits[0].train, unjudged))
    table = projected.tilts.table[:-1, :-1].numpy()
    np.testing.assert_allclose(table, np.mean(expected, axis=0), atol=1e-6)
    assert projected.gaps["eo"] < plain.gaps["eo"]


def test_without_further_links_tilts_come_from_a_tenth_of_the_links():
    split = lp.split_links(lp.load("polbooks"), seed=0)
    search = Search([split], {"eo": 0.001}, False, {"epochs": 5, "seed": 0})
    _, projected = islice(search.trials("dot-product"), 2)
    alone = search.predictor("dot-product", 0.0, "i-projection").fit(split.train)
    assert projected.tilts.table.equal(alone.tilts_.table)


def test_the_candidates_of_a_split_are_numbered_once_in_all_trials(monkeypatch):
    numbered, passes = [], []
    plain_init, plain_columns = Candidates.__init__, Candidates.columns.func

    def init(self, graph):
        numbered.append(graph.num_links)
        plain_init(self, graph)

    def columns(self):
        passes.append(self.size)
        return plain_columns(self)

    monkeypatch.setattr(Candidates, "__init__", init)
    monkeypatch.setattr(Candidates.columns, "func", columns)
    found = tune(lp.load("polbooks"), {"dp": 0.005}, epochs=EPOCHS)
    assert len(found.curve) > 5
    assert len(numbered) == len(passes) == 2  # of the search, and of the fit on all training links
