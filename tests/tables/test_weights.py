"""Weights of rows, codes that mean unknown and pairs of groups with few pairs, in tables."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from table_cases import exit_code

import linkparity as lp
from linkparity.datasets.synthetic import block_model

pytestmark = pytest.mark.filterwarnings(
    "ignore::linkparity.SplitWarning", "ignore::linkparity.GraphWarning"
)
NAMES = ("amber", "blue", "coral")


def make_table(seed=0, count=1500, ones=0):
    """Scores with weights, some of them 0, between 60 nodes of three groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 60)
    every = np.stack(np.triu_indices(60, 1), axis=1)
    index = every[rng.permutation(len(every))[:count]]
    logit = rng.normal(-1, 1.2, count) + 0.5 * group[index].sum(axis=1)
    score = 1 / (1 + np.exp(-logit))
    score[:ones] = 1.0
    scores = pd.DataFrame(
        {
            "source": [f"n{i}" for i in index[:, 0]],
            "target": [f"n{i}" for i in index[:, 1]],
            "score": score,
            "label": rng.integers(0, 2, count),
            "w": rng.exponential(2, count) * (rng.random(count) > 0.1),
        }
    )
    nodes = pd.DataFrame({"node": [f"n{i}" for i in range(60)], "kind": np.array(NAMES)[group]})
    return scores, nodes, group[index]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("criterion", ["dp", "eo", "equalized-odds"])
def test_an_audit_with_weights_is_that_of_arrays(criterion, seed):
    scores, nodes, groups = make_table(seed)
    found = lp.audit(scores, "kind", nodes, weight="w", criterion=criterion)
    known = lp.score_pairs(
        prob=scores.score, groups=groups, labels=scores.label, weight=scores.w,
        criterion=criterion, confidence=None,
    )  # fmt: skip
    for name in ("auc", "dp", "eo", "rdp", "kl"):
        assert found.values[name] == pytest.approx(known.values[name], abs=1e-9), name
    assert found.gaps["dp"].weighted == pytest.approx(known.gaps["dp"].weighted)
    unweighted = lp.audit(scores, "kind", nodes, criterion=criterion)
    assert found.intervals["eo"] == pytest.approx(unweighted.intervals["eo"])
    assert abs(unweighted.dp - found.dp) > 1e-4
    assert unweighted.eo == pytest.approx(found.eo)


def test_equal_weights_change_nothing():
    scores, nodes, _ = make_table()
    plain = lp.audit(scores, "kind", nodes)
    for weight in (1.0, 1e-120, 1e120):
        found = lp.audit(scores.assign(w=weight), "kind", nodes, weight="w")
        for name, value in plain.values.items():
            assert found.values[name] == pytest.approx(value, abs=1e-10)
        for name, ends in plain.intervals.items():
            assert found.intervals[name] == pytest.approx(ends, abs=1e-10)


@pytest.mark.parametrize("criterion", ["dp", "weak-dp", "eo"])
@pytest.mark.parametrize("target", ["model", "free", 0.3])
def test_a_projection_with_weights_is_that_of_arrays(criterion, target):
    scores, nodes, groups = make_table()
    fair, report = lp.project(
        scores,
        "kind",
        nodes,
        weight="w",
        criterion=criterion,
        target=target,
        tilt_by="labels",
        report=True,
    )
    logits = torch.special.logit(torch.tensor(scores.score.to_numpy().copy()))
    known = lp.i_project(
        logits, groups=groups, criterion=criterion, labels=scores.label.to_numpy(),
        weight=scores.w.to_numpy(), target=target,
    )  # fmt: skip
    assert np.abs(fair.fair_score - torch.sigmoid(known.logits).numpy()).max() < 1e-8
    constrained = scores.w.to_numpy()[known.cell.numpy() >= 0].sum()
    assert report.kl == pytest.approx(float(known.kl) / constrained, abs=1e-10)
    after = lp.score_pairs(
        prob=fair.fair_score, groups=groups, labels=scores.label, weight=scores.w, confidence=None
    )
    for name in ("dp", "eo", "rdp"):
        assert report.after[name] == pytest.approx(after.values[name], abs=1e-9)
    low = report.gaps["before"]["dp"].low
    assert low.count == sum(
        set(pair) == {NAMES.index(name) for name in low.groups} for pair in groups.tolist()
    )


def test_scores_of_exactly_one_with_weights():
    scores, nodes, groups = make_table(ones=40)
    fair, report = lp.project(scores, "kind", nodes, weight="w", report=True)
    assert (fair.fair_score[:40] == 1).all()
    assert report.kept == 40
    found = lp.score_pairs(
        prob=fair.fair_score, groups=groups, weight=scores.w, confidence=None, measures=["dp"]
    )
    assert found.dp < 1e-8


@pytest.mark.parametrize(("value", "said"), [(-1, "holds"), (None, "missing"), ("x", "holds 'x'")])
def test_a_weight_that_is_none_is_one_line(tmp_path, monkeypatch, capfd, value, said):
    monkeypatch.chdir(tmp_path)
    scores, nodes, _ = make_table(count=50)
    scores = scores.astype({"w": object})
    scores.loc[3, "w"] = value
    scores.to_csv("s.csv", index=False)
    nodes.to_csv("n.csv", index=False)
    common = ("s.csv", "--nodes", "n.csv", "--sensitive", "kind")
    assert exit_code("audit", *common, "--weight", "w") == 2
    err = capfd.readouterr().err
    assert err.startswith("Error: s.csv: row 4, column 'w': ")
    assert said in err
    assert exit_code("audit", *common, "--weight", "W") == 2
    assert "--weight 'W' is not a column; did you mean 'w'?" in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["paper", "candidates"])
@pytest.mark.parametrize("criterion", ["none", "dp"])
def test_audit_recomputes_the_measures_of_train(tmp_path, monkeypatch, capfd, kind, criterion):
    monkeypatch.chdir(tmp_path)
    graph = block_model((30, 25, 20), degree=8, seed=3)
    ids = [f"n{i}" for i in range(graph.num_nodes)]
    links = [(ids[a], ids[b]) for a, b in graph.links.tolist()]
    pd.DataFrame(links, columns=["source", "target"]).to_csv("l.csv", index=False)
    names = [NAMES[g] for g in graph.group.tolist()]
    pd.DataFrame({"node": ids, "kind": names}).to_csv("n.csv", index=False)
    common = ("--nodes", "n.csv", "--sensitive", "kind", "--json")
    args = ("--links", "l.csv", "--test-pairs", kind, "--criterion", criterion, "--epochs", "20")
    assert exit_code("train", *args, *common, "--save-test", "t.csv") == 0
    train = json.loads(capfd.readouterr().out)
    assert exit_code("audit", "t.csv", "--weight", "weight", *common) == 0
    audit = json.loads(capfd.readouterr().out)
    if kind == "candidates":
        train["auc"] = train["auc_candidates"]
    for name in ("auc", "dp", "eo", "rdp", "kl"):
        assert audit[name] == pytest.approx(train[name], abs=1e-9), name
    for name in ("dp", "eo"):
        for end in ("high", "low"):
            assert audit["gaps"][name][end]["groups"] == train["gaps"][name][end]["groups"]
        assert audit["gaps"][name]["weighted"] == pytest.approx(train["gaps"][name]["weighted"])
    out = ("--weight", "weight", "--out", "fair.csv", *common)
    assert exit_code("project", "t.csv", *out) == 0
    project = json.loads(capfd.readouterr().out)
    assert project["before"]["dp"] == pytest.approx(train["dp"], abs=1e-9)
    assert project["after"]["dp"] < 1e-8
    if criterion == "dp":
        assert project["kl"] == pytest.approx(train["kl"], abs=1e-9)


def test_codes_that_mean_unknown(tmp_path, monkeypatch, capfd):
    scores, nodes, _ = make_table(count=600)
    coded = nodes.assign(kind=np.where(np.arange(60) % 6 == 0, "0", nodes.kind))
    empty = nodes.assign(kind=np.where(np.arange(60) % 6 == 0, None, nodes.kind))
    found = lp.audit(scores, "kind", coded, missing=["0"], unknown="drop")
    known = lp.audit(scores, "kind", empty, unknown="drop")
    assert found.values == pytest.approx(known.values)
    assert list(found.groups) == list(NAMES)
    with pytest.raises(ValueError, match="has no kind"):
        lp.audit(scores, "kind", coded, missing=["0"])
    monkeypatch.chdir(tmp_path)
    numbers = coded.assign(kind=coded.kind.map({"0": 0, "amber": 1, "blue": 2, "coral": 3}))
    scores.to_csv("s.csv", index=False)
    numbers.to_parquet("n.parquet")
    common = ("s.csv", "--nodes", "n.parquet", "--sensitive", "kind", "--unknown", "drop")
    for command in (("audit",), ("project", "--out", "f.csv")):
        assert exit_code(*command, *common, "--missing", "0", "--json") == 0
        plain = json.loads(capfd.readouterr().out)
        assert plain.get("dp", plain.get("before", {}).get("dp")) == pytest.approx(known.dp)


def test_pairs_of_groups_with_few_pairs_are_left_out(tmp_path, monkeypatch, capfd):
    scores, nodes, groups = make_table()
    rare = nodes.assign(kind=["rare" if i < 2 else kind for i, kind in enumerate(nodes.kind)])
    found = lp.audit(scores, "kind", rare, min_pairs=60)
    number = {name: i for i, name in enumerate([*NAMES, "rare"])}
    of = dict(zip(rare.node, rare.kind.map(number), strict=True))
    groups = np.array([scores.source.map(of), scores.target.map(of)]).T
    known = lp.score_pairs(
        prob=scores.score, groups=groups, labels=scores.label, min_pairs=60, nodes=groups * 0,
        confidence=None,
    )  # fmt: skip
    for name in ("dp", "eo"):
        assert found.values[name] == pytest.approx(known.values[name], abs=1e-10)
        assert found.counts[name] == known.counts[name]
        assert "rare" not in found.gaps[name].high.groups
    assert lp.audit(scores, "kind", rare).dp > found.dp
    monkeypatch.chdir(tmp_path)
    scores.to_csv("s.csv", index=False)
    rare.to_csv("n.csv", index=False)
    common = ("s.csv", "--nodes", "n.csv", "--sensitive", "kind", "--min-pairs", "60")
    assert exit_code("audit", *common) == 0
    printed = capfd.readouterr().out
    assert "what makes each gap" in printed
    assert "among pairs of groups with at least" not in printed  # the table has the same gap
    assert exit_code("project", *common, "--out", "f.csv", "--json") == 0
    report = json.loads(capfd.readouterr().out)
    assert report["before"]["dp"] == pytest.approx(found.dp, abs=1e-10)
    first = report["gaps"][0]
    assert (first["measure"], first["when"]) == ("dp", "before")
    assert first["high"]["groups"] == list(found.gaps["dp"].high.groups)
