import copy
import inspect
import json
import os
import re
import subprocess
import sys
import warnings
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from oracles import group_pair, shared_tilts
from planted import all_index, planted, planted_bipartite, suited
from scipy.special import expit
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

import linkparity as lp
from linkparity import (
    Diverged,
    FairnessRegularizer,
    Graph,
    LinkModel,
    LinkPredictor,
    Pairs,
    TrainingWarning,
    evaluate,
    i_project,
    split_links,
    train,
)
from linkparity.datasets import load
from linkparity.experiments.train import train_run
from linkparity.models import MODELS
from linkparity.models.prediction import predictor as module
from linkparity.models.prediction.postprocess import withhold_links
from linkparity.models.training import Adam
from linkparity.models.training.objective import Settings, pair_weights
from linkparity.pairs.arrays import array_pairs
from linkparity.pairs.fit import fit_pairs
from linkparity.pairs.totals import Totals
from linkparity.reading.groups import GraphWarning

#: Nodes without a link to some group are nothing unusual in small graphs.
pytestmark = pytest.mark.filterwarnings("ignore:debayes:linkparity.GraphWarning")

GRAPHS = [planted, planted_bipartite]


@pytest.fixture(params=sorted(MODELS))
def name(request):
    return request.param


@pytest.fixture(params=GRAPHS)
def graph(request):
    return request.param()


class Own(LinkModel):
    """A decoder that is no inner product."""

    epochs, lr = 5, 0.3

    def __init__(self, graph, dimension=3, *, generator, scale=1.0):
        super().__init__()
        self.z = torch.nn.Parameter(torch.randn(graph.num_nodes, dimension, generator=generator))
        self.scale = scale

    def forward(self, index):
        return -self.scale * (self.z[index[:, 0]] - self.z[index[:, 1]]).abs().sum(dim=1)


def quick(model="cne", **params):
    return LinkPredictor(model, epochs=8, **params)


def test_it_has_the_manners_of_scikit_learn():
    predictor = LinkPredictor("gae", criterion="eo", gamma=3, options={"hidden": 8})
    copy = clone(predictor)
    assert copy is not predictor
    assert copy.get_params() == predictor.get_params()
    assert clone(LinkPredictor(Own)).model is Own
    assert predictor.set_params(gamma=5, seed=2) is predictor
    assert (predictor.gamma, predictor.seed) == (5, 2)
    assert repr(predictor) == (
        "LinkPredictor(model='gae', criterion='eo', gamma=5, seed=2, options={'hidden': 8})"
    )
    with pytest.raises(ValueError, match="unknown parameter 'gama'; known: model, criterion"):
        predictor.set_params(gama=1)
    with pytest.raises(RuntimeError, match=r"not fitted yet; call fit\(graph\) first"):
        predictor.predict_proba([[0, 1]])


@pytest.mark.filterwarnings("ignore:.*learned nothing")  # in one epoch
def test_a_fit_reads_its_parameters_once(monkeypatch, graph):
    read = []
    for kind, name in ((Settings, "__post_init__"), (FairnessRegularizer, "__init__")):
        real = getattr(kind, name)

        def counted(self, *args, real=real, **options):
            read.append(type(self))
            real(self, *args, **options)

        monkeypatch.setattr(kind, name, counted)
    LinkPredictor("dot-product", "dp", epochs=1, dimension=2).fit(graph)
    assert read == [Settings, FairnessRegularizer]


@pytest.mark.filterwarnings("ignore:.*learned nothing")  # in eight epochs
def test_predictions_of_every_model(name, graph):
    graph = suited(name, graph)
    predictor = quick(name, criterion="dp").fit(graph)
    index = all_index(graph)
    logits, prob = predictor.predict_logits(index), predictor.predict_proba(index.numpy())
    assert isinstance(logits, np.ndarray)
    assert logits.shape == prob.shape == (len(index),)
    assert np.allclose(prob, expit(logits))
    pairs = Pairs(index, graph.is_link(index).long())
    assert np.array_equal(predictor.predict_logits(pairs), logits)
    assert predictor.predict_proba([]).shape == (0,)
    again = quick(name, criterion="dp").fit(graph)
    assert np.array_equal(again.predict_logits(index), logits)
    if name == "maxent":
        assert predictor.embedding_ is None
    else:
        assert predictor.embedding_.shape == (graph.num_nodes, MODELS[name].dimension)
        assert len(predictor.history_) == 8


def test_wrong_pairs_get_a_sentence():
    predictor = LinkPredictor("maxent").fit(planted())
    with pytest.raises(ValueError, match=r"must be a \(P, 2\) array of node numbers"):
        predictor.predict_proba([1, 2])
    with pytest.raises(ValueError, match="no node 999 was trained on; nodes are 0 …"):
        predictor.predict_proba([[1, 999]])
    with pytest.raises(ValueError, match="no node -1 was trained on"):
        predictor.predict_proba([[1, -1]])


def test_evaluate_takes_it_as_it_is():
    split = split_links(planted(), seed=0)
    scores = evaluate(quick(criterion="eo").fit(split.train), split, confidence=None)
    assert 0 <= scores.auc <= 1
    assert scores.criterion == "eo"
    assert np.isfinite(scores.rb)


@pytest.mark.parametrize("pairs", ["candidates", "all", "sampled"])
@pytest.mark.parametrize("criterion", ["dp", "weak-dp"])
@pytest.mark.parametrize(("gamma", "target"), [(0.0, "data"), (10.0, "model")])
def test_postprocessing_is_the_projection_over_pairs(criterion, gamma, target, pairs):
    graph = planted()
    asked = {"criterion": criterion, "gamma": gamma, "pairs": pairs, "target": target}
    plain = quick(**asked).fit(graph)
    tilted = quick(**asked, postprocess="i-projection").fit(graph)
    index = all_index(graph)
    linked = graph.is_link(index)
    link, other = {"candidates": (0, 1), "all": (1, 1)}.get(pairs, pair_weights(graph, 100))
    weight = torch.where(linked, float(link), float(other))
    if target == "data":
        target = float((linked * weight).sum() / weight.sum())
        if pairs == "candidates":
            target = graph.num_links / graph.num_pairs
    logits = torch.from_numpy(plain.predict_logits(index))
    wanted = i_project(logits, graph.group[index], criterion, weight=weight, target=target)
    assert np.allclose(tilted.predict_logits(index), wanted.logits, atol=1e-5)


def test_maxent_is_tilted_to_parity_over_candidates_though_it_is_trained_over_all_pairs():
    split = lp.split_links(planted(), seed=0)
    for gamma in (0, 10):
        model = LinkPredictor("maxent", "dp", gamma, postprocess="i-projection").fit(split.train)
        found = lp.evaluate(model, split, None, over="candidates", measures=["dp"])
        assert found.dp < 1e-6


def test_postprocessing_of_two_sides_and_of_nodes_without_a_group():
    graph = planted_bipartite()
    tilted = quick(criterion="dp", pairs="all", postprocess="i-projection").fit(graph)
    index = all_index(graph)
    means = [tilted.predict_proba(index[graph.group[index[:, 0]] == g]).mean() for g in range(3)]
    assert max(means) - min(means) < 1e-6
    turned = tilted.predict_logits(index.flip(1))
    assert np.allclose(tilted.predict_logits(index), turned, atol=1e-5)
    group = graph.group.clone()
    group[:5] = -1
    graph = Graph(graph.num_nodes, graph.links, group, graph.group_names, graph.side)
    plain = quick(criterion="dp").fit(graph)
    tilted = quick(criterion="dp", postprocess="i-projection").fit(graph)
    none = index[index[:, 0] < 5]
    assert np.array_equal(plain.predict_logits(none), tilted.predict_logits(none))


@pytest.mark.parametrize("make", GRAPHS)
@pytest.mark.parametrize("criterion", ["eo", "equalized-odds", "accuracy"])
def test_tilts_for_links_are_fitted_to_links_that_a_twin_has_not_seen(make, criterion):
    graph = make()
    asked = {"criterion": criterion, "gamma": 0.0, "pairs": "all"}
    plain = quick(**asked).fit(graph)
    tilted = quick(**asked, postprocess="i-projection").fit(graph)
    index = all_index(graph)
    tilt = tilted.tilts_.of(graph.group[index]).numpy()
    assert np.array_equal(tilted.predict_logits(index), plain.predict_logits(index) + tilt)
    assert len(tilted.history_) == len(plain.history_)
    part = withhold_links(graph, 0)
    unseen, seen = part.test.index[part.test.label == 1], part.train.links
    assert not part.train.is_link(unseen).any()
    assert len(unseen) == graph.num_links - int(0.9 * graph.num_links)
    twin = quick(**asked).fit(part.train)
    keys = [[tuple(sorted(ends)) for ends in graph.group[p].tolist()] for p in (unseen, seen)]
    fresh, known = map(Counter, keys)
    others = index[~graph.is_link(index)]
    pairs = torch.cat([unseen, others])
    label = torch.arange(len(pairs)) < len(unseen)
    weight = [1 + known[k] / fresh[k] for k in keys[0]] + [1.0] * len(others)
    logits = torch.from_numpy(twin.predict_logits(pairs))
    source = array_pairs(
        logits.numpy(), graph.group[pairs].numpy(), True, label.double().numpy(), np.array(weight)
    )
    totals = Totals(source.kinds)
    source.run(totals)
    wanted = fit_pairs(source, totals, criterion, tilt_by="groups")
    cells = wanted.cells
    for (a, b), value, mass in zip(cells.layout.key, wanted.tilt, cells.mass, strict=True):
        links = fresh[tuple(sorted((int(a), int(b))))]
        steady = value * links / (links + 10)  # the tilt of a few links is mostly chance
        assert not mass or float(tilted.tilts_.table[a, b]) == pytest.approx(steady, abs=1e-6)
    assert wanted.residual <= 1e-6 or criterion != "eo"
    if criterion != "eo":
        groups = graph.group[pairs].numpy()
        alone = shared_tilts(logits.numpy(), groups, criterion, label.numpy(), np.array(weight))
        for (a, b), value, mass in zip(cells.layout.key, wanted.tilt, cells.mass, strict=True):
            if mass:
                assert alone[group_pair((a, b))] == pytest.approx(value, abs=1e-5)


def test_too_few_links_to_withhold_any_is_a_warning():
    ring = torch.arange(6)
    path = Graph(6, torch.stack([ring[:-1], ring[1:]], dim=1)[::2], [0, 1, 2, 0, 1, 2])
    asked = LinkPredictor("dot-product", "eo", epochs=3, postprocess="i-projection")
    with pytest.warns(TrainingWarning, match="fitted to links that the model was trained on"):
        asked.fit(path)
    assert asked.tilts_ is not None


def test_postprocessing_that_makes_no_sense_is_refused():
    class OneMean(lp.criteria.DemographicParity):
        name = "one-mean"
        tilts_by_group = by_group_pair = False

    for criterion, said in (
        (None, "postprocess 'i-projection' needs a criterion; add criterion='dp'"),
        (OneMean(), "postprocess 'i-projection' needs a criterion about pairs of groups"),
    ):
        with pytest.raises(ValueError, match=said):
            LinkPredictor(criterion=criterion, postprocess="i-projection").fit(planted())
    with pytest.raises(ValueError, match="must be None or 'i-projection', got 'threshold'"):
        LinkPredictor(criterion="dp", postprocess="threshold").fit(planted())


def brute_top(predictor, graph, k):
    for node in range(graph.num_nodes):
        others = [o for o in range(graph.num_nodes) if o != node]
        if graph.side is not None:
            others = [o for o in others if graph.side[o] != graph.side[node]]
        others = [o for o in others if not graph.is_link(torch.tensor([[node, o]]))]
        score = predictor.predict_logits([[node, o] for o in others])
        ranked = sorted(zip(-np.round(score, 9), others, strict=True))
        yield from ((node, other) for _, other in ranked[:k])


@pytest.mark.parametrize("model", ["maxent", Own])
@pytest.mark.parametrize("postprocess", [None, "i-projection"])
def test_top_is_what_a_loop_finds(model, postprocess, graph, monkeypatch):
    monkeypatch.setattr("linkparity.models.prediction.ranking.BLOCK", 1000)
    monkeypatch.setattr("linkparity.models.degrees.ACCURACY", 1e-13)
    predictor = LinkPredictor(model, criterion="dp", postprocess=postprocess).fit(graph)
    ranking = predictor.top(4)
    pairs = list(zip(ranking.node.tolist(), ranking.partner.tolist(), strict=True))
    assert pairs == list(brute_top(predictor, graph, 4))
    index = np.stack([ranking.node, ranking.partner], axis=1)
    assert np.allclose(ranking.logit, predictor.predict_logits(index), atol=1e-5)
    some = predictor.top(4, nodes=[7, 3])
    assert set(some.node.tolist()) == {7, 3}
    assert some.node[0] == 7


def test_top_breaks_ties_by_number_and_runs_out_in_peace():
    graph = Graph(5, [[0, 1], [1, 2]], [0, 1, 2, 0, 1])

    class Flat(LinkModel):
        epochs = 1

        def __init__(self, graph, dimension=1, *, generator):
            super().__init__()
            self.a = torch.nn.Parameter(torch.zeros(graph.num_nodes, 1))

        def factors(self):
            return self.a, self.a

    with pytest.warns(TrainingWarning, match="the model learned nothing: links have a mean"):
        ranking = LinkPredictor(Flat, lr=0.0).fit(graph).top(10)
    wanted = [(0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 0), (2, 3), (2, 4)]
    wanted += [(3, 0), (3, 1), (3, 2), (3, 4), (4, 0), (4, 1), (4, 2), (4, 3)]
    assert list(zip(ranking.node.tolist(), ranking.partner.tolist(), strict=True)) == wanted
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        LinkPredictor("maxent").fit(planted()).top(0)
    with pytest.raises(ValueError, match="top: no node -1 was trained on; nodes are 0 …"):
        LinkPredictor("maxent").fit(planted()).top(1, nodes=[-1])


def test_ctrl_c_leaves_a_usable_model():
    graph = planted()

    def stop(row):
        if row.epoch == 3:
            raise KeyboardInterrupt

    with pytest.warns(TrainingWarning, match="stopped after 3 epochs; usable as it is"):
        predictor = LinkPredictor("cne").fit(graph, on_epoch=stop)
    assert np.isfinite(predictor.predict_logits(all_index(graph))).all()
    assert predictor.embedding_ is not None


def interrupt_step(monkeypatch, number):
    """Have the optimizer's step of this number, from 1, end by Ctrl-C."""
    steps = []

    def step(*args, **kwargs):
        steps.append(1)
        if len(steps) == number:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    original = Adam.step
    monkeypatch.setattr(Adam, "step", step)


def test_ctrl_c_within_a_step_leaves_a_usable_model(monkeypatch):
    graph = planted()
    interrupt_step(monkeypatch, 4)
    with pytest.warns(TrainingWarning, match="stopped after 3 epochs"):
        predictor = LinkPredictor("gae", criterion="dp").fit(graph)
    assert np.isfinite(predictor.predict_logits(all_index(graph))).all()


def test_ctrl_c_while_a_twin_is_trained_is_raised(monkeypatch):
    interrupt_step(monkeypatch, 8)
    predictor = LinkPredictor("gae", "eo", gamma=0, postprocess="i-projection", epochs=5)
    with pytest.raises(KeyboardInterrupt):
        predictor.fit(planted())
    assert not hasattr(predictor, "model_")


def test_rows_reach_the_caller_as_they_come():
    seen = []
    predictor = quick(criterion="dp").fit(planted(), on_epoch=seen.append)
    assert seen == predictor.history_
    assert [row.epoch for row in seen] == list(range(1, 9))
    assert all(a.seconds <= b.seconds for a, b in pairwise(seen))
    assert predictor.fit_seconds_ >= seen[-1].seconds


def test_the_page_on_own_models_works():
    page = (Path(__file__).parents[2] / "docs" / "own-model.md").read_text()
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    assert len(code.split("class Popular")[1].split("split =")[0].splitlines()) <= 22
    names: dict = {}
    exec(code, names)
    assert names["scores"].auc > 0.7


@pytest.mark.filterwarnings("ignore:.*learned nothing")  # in eight epochs
def test_nothing_touches_the_global_generator(name):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quick(name, criterion="dp").fit(planted())
    assert torch.get_rng_state().equal(before)
    assert module.LinkPredictor is LinkPredictor


def test_a_failed_fit_leaves_the_last_one():
    predictor = LinkPredictor("cne", epochs=1).fit(load("polbooks"))
    predictor.set_params(model="no such model")
    with pytest.raises(ValueError, match="unknown model"):
        predictor.fit(load("polblogs"))
    assert predictor.graph_.num_nodes == 105


@pytest.mark.parametrize("options", [{}, {"target": "data"}, {"tolerance": 0.02}, {"gamma": 1.0}])
def test_maxent_with_empty_cells_targets_and_tolerance(options):
    links = [[i, (i * 7 + 3) % 40] for i in range(40) if i != (i * 7 + 3) % 40]
    links += [[i, (i + 1) % 40] for i in range(39)]
    links = sorted({tuple(sorted(link)) for link in links})
    for group in ([0] * 20 + [2] * 20, [-1] * 40, [0] * 40):
        predictor = LinkPredictor("maxent", "dp", **({"gamma": 10.0} | options))
        if options.get("target") == "data" and group[0] == -1:
            continue
        predictor.fit(Graph(40, links, group))
        assert np.isfinite(predictor.predict_logits([[0, 1], [5, 39]])).all()


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"epochs": -1}, "epochs must be at least 0, got -1"),
        ({"epochs": 2.5}, "epochs must be a whole number, got 2.5"),
        ({"patience": 0}, "patience must be at least 1, got 0"),
        ({"negatives": 0}, "negatives must be at least 1, got 0"),
        ({"negatives": None}, "negatives must be a whole number, got None"),
        ({"lr": -0.1}, "lr must lie between 0 and 1e.30, got -0.1"),
        ({"lr": np.nan}, "lr must lie between"),
        ({"lr": 1e300}, "lr must lie between"),
        ({"pairs": "some"}, "pairs must be one of 'candidates', 'all', 'sampled', got 'some'"),
        ({"gamma": -1.0}, "gamma must lie between 0 and 1e.30, got -1.0"),
        ({"gamma": np.inf}, "gamma must lie between"),
        ({"tolerance": 2.0}, r"tolerance must lie in \[0, 1\)"),
        ({"seed": -1}, "seed must be at least 0 and below 2.32, got -1"),
        ({"dimension": 0}, "dimension must lie between 1 and 10,000, got 0"),
        ({"dimension": 10**12}, "between 1 and 10,000, got 1,000,000,000,000"),
        ({"dimension": 10_001}, "between 1 and 10,000, got 10,001"),
        ({"dimension": 10**20 - 1}, "between 1 and 10,000, got 99,999,999,999,999,999,999"),
        ({"criterion": "fair"}, "known: accuracy, dp, eo, equalized-odds, weak-dp$"),
        ({"criterion": "churn"}, "'churn' belongs to given pairs"),
    ],
)  # fmt: skip
def test_arguments_are_checked_for_every_model(name, params, said):
    with pytest.raises(ValueError, match=said):
        LinkPredictor(name, **params).fit(planted())


def test_the_width_of_a_hidden_layer_has_the_bound_of_a_dimension(name):
    if "hidden" in inspect.signature(MODELS[name]).parameters:
        with pytest.raises(ValueError, match="must give hidden at most 10,000, got 1,000,000,000"):
            LinkPredictor(name, options={"hidden": 10**12}).fit(planted())


def test_what_is_no_graph_or_has_no_pair_gets_a_sentence(name):
    with pytest.raises(TypeError, match="fit takes a Graph, got str; make one with"):
        LinkPredictor(name).fit("polblogs")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        with pytest.raises(ValueError, match="has no pair of nodes that could be a link"):
            LinkPredictor(name).fit(Graph(1, np.empty((0, 2), dtype=int), [0]))


def test_a_save_writes_the_arguments_of_the_fit(tmp_path):
    graph = planted()
    predictor = quick("cne", dimension=4).fit(graph)
    predictor.set_params(model="gae", dimension=9, options={"hidden": 3})
    predictor.save(tmp_path / "run")
    loaded = LinkPredictor.load(tmp_path / "run")
    assert loaded.get_params() == predictor.params_
    assert (loaded.model, loaded.dimension) == ("cne", 4)
    index = all_index(graph)
    assert np.array_equal(loaded.predict_logits(index), predictor.predict_logits(index))


def test_saved_text_is_plain_json(tmp_path):
    quick().fit(planted()).save(tmp_path / "run")
    text = (tmp_path / "run" / "model.json").read_text()

    def refuse(word):
        raise AssertionError(word)

    json.loads(text, parse_constant=refuse)
    loaded = LinkPredictor.load(tmp_path / "run")
    assert np.isnan(loaded.history_[0].kl)


@pytest.mark.parametrize("kind", ["int8", "uint8", "uint16", "uint32", "uint64", "int64"])
def test_node_numbers_of_every_kind(kind):
    predictor = quick().fit(planted())
    pairs = np.array([[0, 1], [5, 99]])
    wanted = predictor.predict_logits(pairs)
    assert np.array_equal(predictor.predict_logits(pairs.astype(kind)), wanted)
    assert np.array_equal(predictor.top(2, pairs[0].astype(kind)).node, [0, 0, 1, 1])


@pytest.mark.parametrize("wrong", [[True, False], [3.7], ["3"], [[3, 4]]])
def test_nodes_that_are_no_numbers_are_refused(wrong):
    predictor = quick().fit(planted())
    with pytest.raises(ValueError, match="top"):
        predictor.top(2, wrong)
    with pytest.raises(ValueError, match="pairs"):
        predictor.predict_proba([["a", "b"]])
    with pytest.raises(ValueError, match="k must be a whole number, got"):
        predictor.top(1.5)


def test_equal_nodes_have_equal_logits_and_rank_by_number():
    graph = planted()
    predictor = quick("dot-product").fit(graph)
    with torch.no_grad():
        predictor.model_.z[40:] = predictor.model_.z[39].clone()
    ranking = predictor.top(30, list(range(40)) * 2)
    half = len(ranking.node) // 2
    assert np.array_equal(ranking.logit[:half], ranking.logit[half:])
    assert np.array_equal(ranking.partner[:half], ranking.partner[half:])
    index = np.stack([ranking.node, ranking.partner], axis=1)
    assert np.array_equal(ranking.logit, predictor.predict_logits(index))
    tied = (np.diff(ranking.logit) == 0) & (np.diff(ranking.node) == 0)
    assert tied.sum() > 100
    assert (np.diff(ranking.partner)[tied] > 0).all()


def test_a_failed_training_leaves_the_last_one():
    graph = planted()
    predictor = quick("cne").fit(graph)
    before = predictor.predict_logits(all_index(graph))
    predictor.set_params(lr=1e30)
    with pytest.raises(Diverged):
        predictor.fit(graph)
    assert np.array_equal(predictor.predict_logits(all_index(graph)), before)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"gamma": "100"}, "gamma must be a number, got '100'"),
        ({"lr": "0.1"}, "lr must be a number, got '0.1'"),
        ({"gamma": 1e300}, "gamma must lie between 0 and"),
        ({"criterion": 5}, "criterion must be a name, a Criterion or None, got 5"),
        ({"model": None}, f"model must be one of {', '.join(MODELS)}, or a subclass"),
        ({"options": 5}, "options must be a dict, got 5"),
        (
            {"model": "gae", "options": {"features": [[1.0, 2.0]]}},
            "options must give features of the shape",
        ),
    ],
)
def test_odd_arguments_get_a_sentence(params, said):
    with pytest.raises(ValueError, match=said):
        LinkPredictor(**params).fit(planted())


def test_numbers_of_numpy_and_torch_are_numbers():
    graph = planted()
    plain = quick(criterion="dp", gamma=10.0, tolerance=0.125).fit(graph)
    some = {"gamma": np.float32(10), "tolerance": np.float32(0.125), "seed": np.int8(0)}
    other = quick(criterion="dp", **some)
    assert other.fit(graph).history_[-1][1:5] == plain.history_[-1][1:5]
    assert len(plain.top(torch.tensor(2), np.int32([4])).node) == 2


class Wrong(Own):
    """A model that breaks its contract in a way of its own."""

    how = staticmethod(lambda logits: logits)

    def forward(self, index):
        return self.how(super().forward(index))


@pytest.mark.parametrize("criterion", [None, "dp"])
@pytest.mark.parametrize(
    ("how", "said"),
    [
        (
            lambda logits: logits[:, None],
            r"one logit per pair, .* \(8,\) .* got \(8, 1\) of",
        ),
        (lambda logits: logits[1:], r"got \(7,\) of float32"),
        (lambda logits: None, "got NoneType"),
        (lambda logits: logits.sum(), r"got \(\) of float32"),
    ],
)
def test_a_model_of_the_wrong_shape_gets_a_sentence(criterion, how, said, monkeypatch):
    monkeypatch.setattr(Wrong, "how", staticmethod(how))
    with pytest.raises(ValueError, match=said):
        LinkPredictor(Wrong, criterion).fit(planted())


class Factored(LinkModel):
    """Factors as a test wants them."""

    made = staticmethod(lambda z: (z, z))

    dimension = 3

    def __init__(self, graph, dimension=3, *, generator):
        super().__init__()
        self.z = torch.nn.Parameter(torch.randn(graph.num_nodes, dimension, generator=generator))

    def factors(self):
        return self.made(self.z)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda z: (z, z[:, :2]), r"two tensors of the shape \(146, D\) and of one type, got"),
        (lambda z: (z, z.double()), r"\(146, 3\) of float32 and \(146, 3\) of float64"),
        (lambda z: (z[:9], z[:9]), r"got \(9, 3\) of float32"),
        (lambda z: (z, z.roll(1, dims=1)), r"logits of \(i, j\) and \(j, i\) differ by"),
    ],
)
def test_factors_of_the_wrong_shape_get_a_sentence(made, said, monkeypatch):
    monkeypatch.setattr(Factored, "made", staticmethod(made))
    with pytest.raises(ValueError, match=said):
        LinkPredictor(Factored).fit(planted())


@pytest.mark.parametrize("method", ["blocks", "samples"])
def test_a_factor_may_be_fixed(method, monkeypatch):
    monkeypatch.setattr(Factored, "made", staticmethod(lambda z: (z[:, :1], torch.ones(146, 1))))
    graph = planted()
    model = Factored(graph, generator=torch.Generator())
    with torch.no_grad():
        model.z[:, 0] = 0.5
    before = model.z.detach().clone()
    list(train(model, graph, "dp", epochs=3, method=method))
    assert not torch.equal(model.z, before)


@pytest.mark.filterwarnings("ignore:.*learned nothing")  # in eight epochs
def test_a_deep_copy_predicts_the_same(name):
    graph = planted()
    predictor = quick(name).fit(graph)
    index = all_index(graph)
    copied = copy.deepcopy(predictor)
    assert np.array_equal(copied.predict_logits(index), predictor.predict_logits(index))


def test_postprocessing_of_many_pairs_reaches_the_smallest_cells(monkeypatch):
    graph = planted()
    group = graph.group.clone()
    group[:2], group[2:5] = 3, 4
    graph = Graph(graph.num_nodes, graph.links, group)
    given = {"criterion": "dp", "postprocess": "i-projection", "pairs": "all"}
    whole = quick(**given).fit(graph).tilts_.table
    monkeypatch.setattr("linkparity.models.prediction.postprocess.MAX_PAIRS", 9000)
    drawn = quick(**given).fit(graph).tilts_.table
    assert bool((drawn[3:5, 3:5] != 0).all())
    assert torch.allclose(drawn, whole, atol=0.2)
    assert not torch.equal(drawn, whole)


def test_top_of_a_run_leaves_out_the_links_that_were_held_out(tmp_path):
    graph = planted()
    run = train_run(graph, quick(), tmp_path / "run")
    for predictor in (run.predictor, LinkPredictor.load(tmp_path / "run")):
        ranking = predictor.top(10)
        index = np.stack([ranking.node, ranking.partner], axis=1)
        assert not graph.is_link(torch.from_numpy(index)).any()
    plain = quick().fit(split_links(graph, seed=0).train).top(10)
    index = torch.from_numpy(np.stack([plain.node, plain.partner], axis=1))
    assert graph.is_link(index).any()


def test_strength_reaches_methods_that_have_one_and_no_others():
    class Firm(Own):
        strength = 2.0

        def __init__(self, graph, dimension=3, *, generator, strength=2.0):
            super().__init__(graph, dimension, generator=generator)
            self.strength = strength

    graph = planted()
    assert LinkPredictor(Firm, epochs=1).fit(graph).model_.strength == 2.0
    assert LinkPredictor(Firm, epochs=1, strength=0).fit(graph).model_.strength == 0
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"strength must lie between 0 and 1e\+30, got"):
            LinkPredictor(Firm, strength=wrong).fit(graph)
    with pytest.raises(ValueError, match="strength does not apply to the model 'cne'"):
        LinkPredictor("cne", strength=1).fit(graph)
    with pytest.raises(ValueError, match="strength does not apply to the model 'Own'"):
        LinkPredictor(Own, strength=1).fit(graph)


def test_it_works_in_a_pipeline_of_scikit_learn():
    graph = planted()
    pipeline = Pipeline([("predictor", LinkPredictor("maxent"))])
    pipeline.set_params(predictor__criterion="dp", predictor__gamma=3.0)
    copied = clone(pipeline).fit(graph)
    alone = LinkPredictor("maxent", "dp", 3.0).fit(graph)
    index = all_index(graph)
    assert np.array_equal(copied.predict_proba(index), alone.predict_proba(index))
    assert not hasattr(pipeline[-1], "model_")
    tags = get_tags(alone)
    assert not tags.target_tags.required
    assert tags.no_validation
    assert "criterion='dp'" in repr(copied)


@pytest.mark.parametrize("kind", [np.array, torch.tensor, np.float64, np.float32])
def test_numbers_may_be_arrays_of_no_dimension(kind):
    graph = planted()
    given = {"gamma": 10.0, "lr": 0.0625, "tolerance": 0.125}
    whole = {"epochs": 3, "negatives": 50, "dimension": 4, "seed": 1, "patience": 2}
    counts = {name: np.int64(value) for name, value in whole.items()}
    if kind in (np.array, torch.tensor):
        counts = {name: kind(value) for name, value in whole.items()}
    numbers = {name: kind(value) for name, value in given.items()}
    other = LinkPredictor("cne", "dp", **numbers, **counts).fit(graph)
    plain = LinkPredictor("cne", "dp", **given, **whole).fit(graph)
    index = all_index(graph)
    assert np.array_equal(other.predict_logits(index), plain.predict_logits(index))


class Narrow(LinkModel):
    """Numbers of 16 bits, with factors or without."""

    epochs, lr, dtype, factored = 30, 0.05, torch.float16, True

    def __init__(self, graph, dimension=8, *, generator):
        super().__init__()
        drawn = torch.randn(graph.num_nodes, dimension, generator=generator)
        self.z = torch.nn.Parameter(drawn.to(self.dtype))

    def factors(self):
        return (self.z, self.z) if self.factored else None

    def forward(self, index):
        return (self.z[index[:, 0]] * self.z[index[:, 1]]).sum(dim=1)

    def embedding(self):
        return self.z


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("factored", "method"), [(True, None), (True, 1), (False, None)])
def test_models_of_16_bits_train_like_those_of_32(dtype, factored, method, monkeypatch):
    monkeypatch.setattr(Narrow, "factored", factored)
    if method:  # samples, not blocks
        monkeypatch.setattr("linkparity.models.training.loop.BLOCK_COST", (1e9, 0))
    graph = planted()
    found = []
    for kind in (dtype, torch.float32):
        monkeypatch.setattr(Narrow, "dtype", kind)
        predictor = LinkPredictor(Narrow, "dp", 10.0).fit(graph)
        assert predictor.model_.z.dtype == kind
        assert predictor.embedding_.dtype == np.float32
        assert len(predictor.top(3).node) == 3 * graph.num_nodes
        found.append(predictor.history_[-1])
    assert found[0][1:4] == pytest.approx(found[1][1:4], rel=0.05, abs=1e-3)


@pytest.mark.parametrize(("model", "lr"), [("gae", 1e3), ("dot-product", 1e30), ("cne", 1e10)])
def test_a_model_that_learned_nothing_is_said(model, lr):
    with pytest.warns(TrainingWarning, match="the model learned nothing: links have a mean logit"):
        LinkPredictor(model, lr=lr).fit(planted())


def test_logits_that_are_not_finite_after_the_last_step_are_refused():
    class Wild(Narrow):
        dtype = torch.float32

    with pytest.raises(Diverged, match="logits are not finite; take a smaller lr"):
        LinkPredictor(Wild, lr=1e30, epochs=1).fit(planted())


def test_a_fit_leaves_nothing_in_the_temporary_directory(tmp_path):
    code = """
import sys, warnings
sys.path.insert(0, sys.argv[1])
from planted import planted
from linkparity import LinkPredictor
from linkparity.models import MODELS
warnings.simplefilter("ignore")
for name in MODELS:
    LinkPredictor(name, "dp", epochs=1).fit(planted())
    assert "torch._dynamo" not in sys.modules, f"{name} imports torch's compiler"
"""
    helpers = Path(__file__).parents[1] / "helpers"
    env = os.environ | {"TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code, str(helpers)], env=env, check=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("model", "pairs"), [("cne", "candidates"), ("maxent", "all")])
def test_parity_is_about_candidates_unless_the_model_needs_all_pairs(model, pairs):
    graph = planted()
    index = all_index(graph)
    given = {"seed": 1} | ({} if model == "maxent" else {"epochs": 10, "dimension": 4})
    logits = {
        each: LinkPredictor(model, "dp", pairs=each, **given).fit(graph).predict_logits(index)
        for each in (None, "candidates", "all", "sampled")
    }
    assert np.array_equal(logits[None], logits[pairs])
    same = {"all", "sampled"} if model == "maxent" else {pairs}
    others = {"candidates", "all", "sampled"} - same
    assert not any(np.array_equal(logits[None], logits[each]) for each in others)


def test_tilts_of_few_links_go_to_the_common_tilt_of_another_target():
    graph = load("polbooks")
    asked = {"criterion": "eo", "gamma": 0, "postprocess": "i-projection", "epochs": 40}
    gaps = {}
    for target in ("model", 0.9):
        fitted = LinkPredictor("cne", target=target, **asked).fit(graph)
        prob = fitted.predict_proba(graph.links)
        code = graph.group[graph.links].sort(dim=1).values
        gaps[target] = [
            float(prob[(code == c).all(dim=1).numpy()].mean()) for c in torch.unique(code, dim=0)
        ]
    assert min(gaps[0.9]) > 0.7  # all pairs of groups move, those with few links too
    assert np.ptp(gaps[0.9]) < np.ptp(gaps["model"])


@pytest.mark.parametrize("target", ["model", 0.9, "free"])
def test_pairs_of_an_unknown_group_are_not_tilted(target):
    known = load("polbooks")
    group = torch.where(torch.arange(known.num_nodes) % 4 == 0, -1, known.group)
    graph = replace(known, group=group, unknown_kept=True)
    asked = {"criterion": "eo", "gamma": 0, "postprocess": "i-projection", "epochs": 20}
    table = LinkPredictor("cne", target=target, **asked).fit(graph).tilts_.table
    assert (table[-1] == 0).all()
    assert (table[:, -1] == 0).all()
    assert table[:-1, :-1].abs().max() > 0
