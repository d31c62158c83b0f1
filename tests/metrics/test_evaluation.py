"""From a model and a split to scores: who is asked what, and how the result reads."""

import copy
import json
import math
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from linkparity.metrics import VIEWS, Estimate, fairlearn_frame
from linkparity.metrics.evaluation import evaluate, score_pairs
from linkparity.metrics.intervals.estimates import INDEPENDENCE, SHARED_NODES, few_nodes
from linkparity.metrics.measures import MEASURES
from linkparity.metrics.results import CellScore

NAMES = ("left", "right", "green")

ON_TEST_PAIRS = [name for name, each in MEASURES.items() if "candidates" not in each.needs]


@pytest.fixture(autouse=True)
def _project(monkeypatch):
    """These tests are about the flow; the divergence has its own."""

    def stand_in(scored, criterion, kinds):
        return Estimate(len(criterion.name) / 8, scored.source.size)

    monkeypatch.setattr("linkparity.metrics.kl._project", stand_in)


class Model:
    def __init__(self, logits, criterion=None, embedding=None):
        self.logits, self.criterion, self.embedding_ = logits, criterion, embedding
        self.asked = None

    def predict_logits(self, pairs):
        self.asked = pairs
        return self.logits


@pytest.fixture
def split():
    rng = np.random.default_rng(0)
    group = torch.from_numpy(rng.integers(-1, 3, size=60))
    index = torch.from_numpy(rng.integers(0, 60, size=(500, 2)))
    label = torch.from_numpy(rng.integers(0, 2, size=500)).float()
    weight = torch.where(label == 1, 1.0, 12.0)
    train = SimpleNamespace(num_nodes=60, group=group, group_names=NAMES)
    return SimpleNamespace(
        train=train, test=SimpleNamespace(index=index, label=label, weight=weight)
    )


@pytest.fixture
def logits():
    return np.random.default_rng(1).normal(size=500)


def test_evaluate_scores_the_test_pairs_with_their_groups_and_weights(split, logits):
    model = Model(logits)
    scores = evaluate(model, split, seed=4)
    assert model.asked.shape == (500, 2)
    assert np.array_equal(model.asked, split.test.index)
    groups = split.train.group.numpy()[split.test.index.numpy()]
    direct = score_pairs(
        logits,
        groups,
        split.test.label.numpy(),
        split.test.weight.numpy(),
        seed=4,
        nodes=split.test.index.numpy(),
    )
    for name in ("auc", "ap", "dp", "eo", "rdp"):
        assert getattr(scores, name) == getattr(direct, name)
        assert isinstance(getattr(scores, name), float)
    assert scores.intervals == direct.intervals
    assert (scores.pairs, scores.links) == (500, int(split.test.label.sum()))


def test_without_nodes_or_when_told_pairs_are_independent_and_a_note_says_so(split, logits):
    groups, nodes = split.train.group[split.test.index], split.test.index
    given = {"logits": logits, "groups": groups, "labels": split.test.label}
    without = score_pairs(**given)
    told = score_pairs(**given, nodes=nodes, intervals="pairs")
    by_node = score_pairs(**given, nodes=nodes)
    assert without.intervals == told.intervals != by_node.intervals
    assert without.notes[0] == told.notes[0] == INDEPENDENCE
    assert by_node.notes[0] == SHARED_NODES
    assert by_node.values == pytest.approx(without.values, nan_ok=True)
    with pytest.raises(ValueError, match="unknown kind of intervals 'node'; did you mean 'nodes'"):
        score_pairs(**given, nodes=nodes, intervals="node")
    with pytest.raises(ValueError, match=r"nodes must have the shape \(500, 2\), got \(500,\)"):
        score_pairs(**given, nodes=nodes[:, 0])


def test_ids_of_nodes_may_be_text(split, logits):
    groups, nodes = split.train.group[split.test.index], split.test.index.numpy()
    names = np.array([f"node {i}" for i in range(60)], dtype=object)
    given = {"logits": logits, "groups": groups, "labels": split.test.label}
    expected = score_pairs(**given, nodes=nodes).intervals
    found = score_pairs(**given, nodes=names[nodes]).intervals
    for name, ends in expected.items():
        assert found[name] == pytest.approx(ends)


def test_cells_have_intervals_that_go_to_json_and_back(split, logits):
    scores = evaluate(Model(logits), split)
    for cell in scores.cells:
        if cell.pairs > 30:
            assert cell.interval[0] < cell.mean < cell.interval[1]
            assert cell.link_interval[0] < cell.link_mean < cell.link_interval[1]
        told = json.loads(json.dumps(cell.to_dict(), allow_nan=False))
        assert CellScore.from_dict(told).to_dict() == cell.to_dict()
    bare = evaluate(Model(logits), split, confidence=None)
    assert bare.cells[0].interval is None
    assert CellScore.from_dict(bare.cells[0].to_dict()) == bare.cells[0]


def test_few_nodes_behind_an_interval_are_told_with_the_coverage_measured_for_so_many():
    rng = np.random.default_rng(3)
    nodes = np.array([(i, j) for i in range(24) for j in range(i)])
    groups = nodes % 3
    scores = score_pairs(rng.normal(size=len(nodes)), groups, nodes=nodes)
    (note,) = [each for each in scores.notes if "in effect" in each]
    assert note.startswith("dp, rdp: an interval has in effect 8 nodes behind it.")
    assert "with 7 nodes per group" in note


def test_fewer_nodes_than_any_coverage_was_measured_with_are_told_so():
    found = {"dp": Estimate(0.1, 9, interval=(0.0, 0.9), nodes=2.4)}
    (note,) = few_nodes(found)
    assert note.startswith("dp: an interval has in effect 2 nodes behind it, fewer than")
    assert "%" not in note


def test_a_model_may_index_the_pairs_and_may_give_probabilities_alone(split):
    points = np.random.default_rng(2).normal(size=(60, 4))

    class Dot:
        def predict_logits(self, pairs):
            return (points[pairs[:, 0]] * points[pairs[:, 1]]).sum(axis=1)

    class Chance:
        def predict_proba(self, pairs):
            return 1 / (1 + np.exp(-Dot().predict_logits(pairs)))

    one, two = evaluate(Dot(), split), evaluate(Chance(), split)
    assert one.dp == pytest.approx(two.dp)
    assert one.auc == pytest.approx(two.auc)
    with pytest.raises(TypeError, match="object has neither predict_logits nor predict_proba"):
        evaluate(object(), split)


@pytest.mark.parametrize("criterion", [torch.nn.BCEWithLogitsLoss(), "log_loss", ["eo"]])
def test_a_criterion_of_somebody_else_is_none_of_ours(split, logits, criterion):
    assert evaluate(Model(logits, criterion), split, confidence=None).criterion == "dp"


def test_logits_of_half_precision_are_taken(split, logits):
    groups = split.train.group[split.test.index]
    half = torch.from_numpy(logits).bfloat16()
    scores = score_pairs(half, groups, split.test.label.bfloat16())
    assert scores.auc == score_pairs(half.double(), groups, split.test.label).auc


def test_only_dp_and_kl_may_change_with_the_weights(split, logits):
    before = evaluate(Model(logits), split)
    split.test.weight = split.test.weight * torch.linspace(1, 5, 500)
    after = evaluate(Model(logits), split)
    changed = {
        name
        for name in ("auc", "ap", "dp", "eo", "rdp")
        if before.values[name] != after.values[name]
    }
    assert changed == {"dp"}


@pytest.mark.parametrize(
    ("criterion", "measured"), [(None, "dp"), ("eo", "eo"), ("weak-dp", "weak-dp")]
)
def test_kl_is_for_the_trained_criterion_and_dp_if_plain(split, logits, criterion, measured):
    scores = evaluate(Model(logits, criterion), split, confidence=None)
    assert scores.kl == len(measured) / 8
    assert scores.criterion == measured
    assert f"kl ({measured})" in str(scores)


def test_rb_reads_the_embeddings_of_nodes_with_a_group(split, logits):
    plain = evaluate(Model(logits), split, confidence=None)
    assert math.isnan(plain.rb)
    assert plain.reasons["rb"] == "the model has no embeddings"
    group = split.train.group
    telling = torch.eye(3)[group] + 0.01 * torch.randn(
        60, 3, generator=torch.Generator().manual_seed(0)
    )
    scores = evaluate(Model(logits, embedding=telling.requires_grad_()), split, confidence=None)
    assert scores.rb == 1.0
    assert scores.counts["rb"] == (int((group >= 0).sum()), "nodes")


def test_every_measure_of_the_table_is_an_attribute_and_has_a_count(split, logits):
    scores = evaluate(Model(logits), split)
    assert set(scores.values) == set(ON_TEST_PAIRS) == set(scores.counts)
    assert set(scores.intervals) == {"auc", "dp", "eo", "rdp"}
    with pytest.raises(AttributeError, match="Scores has no 'aux'; did you mean 'auc'"):
        _ = scores.aux


def test_every_nan_has_a_reason_and_nothing_undefined_is_zero():
    scores = score_pairs([0.1, 0.2], [[0, 0], [0, 0]])
    undefined = {name for name, value in scores.values.items() if math.isnan(value)}
    assert undefined == {"auc", "ap", "dp", "eo", "rdp", "rb"} == set(scores.reasons)
    assert all(np.isnan(ends).all() for ends in scores.intervals.values())


def test_reason_for_an_interval_alone_stands_under_its_own_name():
    scores = score_pairs([0.0, 1, 2, 3], [[0, 0], [0, 1], [1, 2], [2, 2]], [0, 0, 1, 1])
    assert scores.auc == 1.0
    assert "auc" not in scores.reasons
    assert "separate" in scores.reasons["auc interval"]


def test_a_measure_that_is_not_wanted_is_about_nothing(logits):
    known = score_pairs(logits[:6], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 1, 0])
    found = score_pairs(logits[:6], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 1, 0], measures=["dp"])
    assert found.counts.pop("dp") == known.counts["dp"] == (6, "pairs")
    assert (found.pairs, found.links) == (6, 3)
    assert found.counts == {
        name: (0, unit) for name, (_, unit) in known.counts.items() if name != "dp"
    }
    assert {unit for _, unit in found.counts.values()} == {"pairs", "links", "nodes"}


def test_cells_carry_names_counts_and_means(split, logits):
    scores = evaluate(Model(logits), split)
    groups = split.train.group.numpy()[split.test.index.numpy()]
    label, weight = split.test.label.numpy(), split.test.weight.numpy()
    inside = (np.sort(groups, axis=1) == [1, 2]).all(axis=1)
    prob = 1 / (1 + np.exp(-logits))
    cell = next(c for c in scores.cells if c.groups == ("right", "green"))
    assert (cell.pairs, cell.links) == (inside.sum(), label[inside].sum())
    assert cell.mean == pytest.approx(np.average(prob[inside], weights=weight[inside]))
    assert cell.link_mean == pytest.approx(prob[inside & (label == 1)].mean())
    means = [c.mean for c in scores.cells]
    assert scores.dp == pytest.approx(max(means) - min(means))


def test_empty_cells_are_kept_as_nan_and_named_in_print():
    scores = score_pairs([0.0, 1.0], [[0, 0], [2, 2]], [1, 1], group_names=NAMES)
    assert [c.pairs for c in scores.cells] == [1, 0, 0, 0, 0, 1]
    assert scores.to_dict()["cells"][1]["mean"] is None
    assert "Without a pair (4): left – right, left – green, right – right, right – green." in str(
        scores
    )


def test_dict_is_json_with_null_for_undefined(split, logits):
    found = json.loads(json.dumps(evaluate(Model(logits), split).to_dict(), allow_nan=False))
    assert found["rb"] is None
    assert found["pairs"] == 500
    assert len(found["intervals"]["dp"]) == 2
    assert set(found["cells"][0]) >= {"groups", "pairs", "links", "mean"}
    assert found["cells"][0]["groups"] == ["left", "left"]
    undefined = score_pairs([0.1], [[0, 0]]).to_dict()
    assert undefined["intervals"]["dp"] == [None, None]
    assert undefined["links"] is None


def test_printed_table_has_counts_and_the_sentence_beside_the_intervals(split, logits):
    scores = evaluate(Model(logits), split)
    text = str(scores)
    assert " ".join(text.split()).count(SHARED_NODES) == 1
    assert SHARED_NODES in scores.notes
    assert "too narrow" in INDEPENDENCE
    for name in ON_TEST_PAIRS:
        count, unit = scores.counts[name]
        assert f"{count:,} {unit}" in text
    assert f"{scores.dp:.4f}" in text
    assert "left – green" in text
    bare = evaluate(Model(logits), split, confidence=None)
    assert bare.intervals == {}
    assert SHARED_NODES not in bare.notes
    assert INDEPENDENCE in str(evaluate(Model(logits), split, intervals="pairs"))


def test_group_names_that_look_like_markup_print_as_they_are():
    scores = score_pairs([0.0, 1.0, 2.0], [[0, 0], [1, 1], [1, 1]], group_names=("[red]", "[/b]"))
    assert "[red] – [red]" in str(scores)
    assert "[/b] – [/b]" in str(scores)


def test_scores_are_html_in_a_notebook_with_every_name_escaped():
    names = ("<script>alert(1)</script>", "a & b", "c")
    problem = {"groups": [[0, 1], [1, 2], [0, 0], [2, 2]], "group_names": names}
    html = score_pairs([0.0, 1.0, 2.0, 3.0], **problem)._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; – a &amp; b" in html
    assert "<td>0.8808</td>" in html
    assert INDEPENDENCE in html


def test_frame_has_a_row_per_measure(split, logits):
    table = evaluate(Model(logits), split).to_frame()
    assert list(table.index) == ON_TEST_PAIRS
    assert table.loc["dp", "low"] <= table.loc["dp", "value"] <= table.loc["dp", "high"]
    assert table.loc["rb", "reason"] == "the model has no embeddings"
    assert table.attrs["notes"] == list(evaluate(Model(logits), split).notes)
    clean = score_pairs([0.0, 1, 2, 3], [[0, 0], [0, 1], [1, 2], [2, 2]], [0, 0, 1, 1]).to_frame()
    assert "separate" in clean.loc["auc", "reason"]


@pytest.mark.parametrize("view", VIEWS)
def test_frame_without_fairlearn_has_its_shape(split, logits, view, monkeypatch):
    found = fairlearn_frame.find_spec
    monkeypatch.setattr(
        fairlearn_frame, "find_spec", lambda name: None if name == "fairlearn" else found(name)
    )
    scores = evaluate(Model(logits), split, view=view)
    assert list(scores.frame.by_group.columns) == ["pairs", "mean", "links", "link_mean"]
    assert scores.frame.overall["pairs"] == scores.frame.by_group["pairs"].sum()
    assert scores.frame.difference()["mean"] == pytest.approx(scores.dp)
    assert scores.frame.difference()["link_mean"] == pytest.approx(scores.eo)
    with pytest.raises(ValueError, match="unknown method 'ratio'; known: between_gr"):
        scores.frame.difference("ratio")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("labelled", [True, False])
def test_frame_with_fairlearn_is_a_metric_frame_with_the_same_numbers(
    split, logits, view, labelled
):
    fairlearn = pytest.importorskip("fairlearn.metrics")
    groups = split.train.group[split.test.index]
    labels = split.test.label if labelled else None
    scores = score_pairs(logits, groups, labels, split.test.weight, group_names=NAMES, view=view)
    real, plain = scores.frame, fairlearn_frame.plain_frame(scores.scored)
    assert isinstance(real, fairlearn.MetricFrame)
    for method in ("between_groups", "to_overall"):
        expected = real.difference(method=method)
        assert plain.difference(method=method).to_dict() == pytest.approx(expected.to_dict())
    assert plain.overall.to_dict() == pytest.approx(real.overall.to_dict())
    expected = real.by_group.to_dict("index")
    found = plain.by_group.to_dict("index")
    assert found.keys() == expected.keys()
    for cell, row in found.items():
        assert row == pytest.approx(expected[cell], nan_ok=True)


@pytest.mark.parametrize("real", [True, False])
def test_cells_whose_names_read_alike_stay_apart_in_frames_and_print(real, monkeypatch):
    if not real:
        monkeypatch.setattr(
            fairlearn_frame, "find_spec", lambda name: None if name == "fairlearn" else name
        )
    problem = {"prob": [0.1, 0.1, 0.9, 0.9], "groups": [[0, 0], [0, 0], [1, -1], [1, -1]]}
    for names in (("a", "a-a"), ("a", "a – a")):
        scores = score_pairs(**problem, group_names=names, confidence=None)
        assert scores.dp == pytest.approx(0.8)
        assert scores.frame.difference()["mean"] == pytest.approx(0.8)
        assert len(scores.frame.by_group) == 2
    assert "('a', 'a')" in str(scores)


@pytest.mark.parametrize("real", [True, False])
def test_frame_without_any_cell_says_so(real, monkeypatch):
    if not real:
        monkeypatch.setattr(
            fairlearn_frame, "find_spec", lambda name: None if name == "fairlearn" else name
        )
    with pytest.raises(ValueError, match="no pair is in a cell of the view 'mixed'"):
        _ = score_pairs([0.0, 1.0], [[0, -1], [1, -1]], view="mixed").frame


def test_scores_are_frozen_and_travel(split, logits):
    scores = evaluate(Model(logits), split)
    with pytest.raises(AttributeError):
        scores.view = "mixed"
    for other in (copy.copy(scores), copy.deepcopy(scores), pickle.loads(pickle.dumps(scores))):
        assert other.dp == scores.dp
        assert str(other) == str(scores)
    assert repr(scores).startswith("Scores(auc=")


def test_probabilities_and_logits_of_the_same_model_score_alike(split, logits):
    groups = split.train.group[split.test.index]
    one = score_pairs(logits, groups, split.test.label)
    two = score_pairs(prob=1 / (1 + np.exp(-logits)), groups=groups, labels=split.test.label)
    for name in ("auc", "ap", "dp", "eo", "rdp"):
        assert one.values[name] == pytest.approx(two.values[name])


def test_read_only_and_reversed_arrays_are_taken(split, logits):
    groups = split.train.group.numpy()[split.test.index.numpy()]
    expected = score_pairs(logits, groups).dp
    logits.flags.writeable = groups.flags.writeable = False
    assert score_pairs(logits[::-1], groups[::-1, ::-1]).dp == pytest.approx(expected)
