"""Intervals of a table that allow for pairs that share nodes, against those of arrays."""

import json

import numpy as np
import pandas as pd
import pytest
from table_cases import exit_code, write

import linkparity as lp
from linkparity.metrics.intervals import placements

CASES = {
    "undirected": {},
    "ties": {"ties": True},
    "no labels": {"labels": False},
    "directed": {"directed": True},
    "directed, ties": {"directed": True, "ties": True},
    "bipartite": {"bipartite": True},
}


def make(nodes=40, directed=False, bipartite=False, labels=True, ties=False, seed=0):
    """Scores that depend on nodes: frame, table of nodes, groups and ids ``(P, 2)``."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([[0, 1, 2], rng.integers(0, 3, nodes - 3)])
    effect = rng.normal(size=nodes)
    if bipartite:
        source, target = (part.ravel() for part in np.divmod(np.arange(15 * 25), 25))
        target = target + 15
    else:
        source, target = np.triu_indices(nodes, 1)
        if directed:
            source, target = np.append(source, target), np.append(target, source)
    kept = rng.random(len(source)) < 0.6
    source, target = source[kept], target[kept]
    logit = effect[source] + effect[target] + 0.5 * (group[source] == group[target])
    score = 1 / (1 + np.exp(-logit - rng.normal(size=len(source))))
    score = np.round(score, 1).clip(0.1, 0.9) if ties else score
    names = np.array([f"n{k}" for k in range(nodes)], dtype=object)
    frame = pd.DataFrame({"source": names[source], "target": names[target], "score": score})
    if labels:
        frame["label"] = (rng.random(len(score)) < score).astype(int)
    people = pd.DataFrame({"node": names, "kind": np.array(["a", "b", "c"])[group]})
    ids = np.stack([source, target], axis=1)
    return frame, people, group[ids], ids


def with_weights(frame):
    """The frame with weights, some of them 0."""
    rng = np.random.default_rng(5)
    return frame.assign(w=rng.exponential(2, len(frame)) * (rng.random(len(frame)) > 0.1))


def in_memory(frame, groups, ids, directed=False, column="score", **more):
    """The measures of arrays; the ordered pairs of groups as single groups if directed."""
    if "w" in frame:
        more["weight"] = frame.w
    cells = 3 * groups[:, 0] + groups[:, 1] if directed else groups
    labels = frame.label if "label" in frame else None
    return lp.score_pairs(prob=frame[column], groups=cells, labels=labels, nodes=ids, **more)


def assert_same(found, known):
    """Values and intervals are the same to nine digits."""
    for name, ends in known.intervals.items():
        assert found.values[name] == pytest.approx(known.values[name], abs=1e-9, nan_ok=True)
        assert found.intervals[name] == pytest.approx(ends, abs=1e-9, nan_ok=True)
    cells = [cell for cell in known.cells if cell.pairs]
    for mine, other in zip(found.cells, cells, strict=True):
        assert mine.interval == pytest.approx(other.interval, abs=1e-9)
        if other.link_interval is not None:
            assert mine.link_interval == pytest.approx(other.link_interval, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", CASES)
def test_intervals_are_those_of_arrays(name):
    case = CASES[name]
    frame, people, groups, ids = make(**case)
    options = {key: case[key] for key in ("directed", "bipartite") if key in case}
    found = lp.audit(frame, "kind", people, **options)
    directed = case.get("directed", False)
    assert_same(found, in_memory(frame, groups, ids, directed))
    assert "share nodes" in found.notes[0]
    if directed:
        return
    for view in ("mixed", "group"):
        known = in_memory(frame, groups, ids, view=view)
        for measure, estimate in found.views[view].items():
            ends = known.intervals[measure]
            assert estimate.interval == pytest.approx(ends, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("kind", ["nodes", "pairs"])
@pytest.mark.parametrize("name", ["undirected", "no labels", "directed, ties", "bipartite"])
def test_weighted_intervals_are_those_of_arrays(name, kind):
    case = CASES[name]
    frame, people, groups, ids = make(**case)
    frame = with_weights(frame)
    options = {key: case[key] for key in ("directed", "bipartite") if key in case}
    found = lp.audit(frame, "kind", people, weight="w", intervals=kind, **options)
    nodes = ids if kind == "nodes" else None
    assert_same(found, in_memory(frame, groups, nodes, case.get("directed", False)))
    for view in () if "directed" in case else ("mixed", "group"):
        known = in_memory(frame, groups, nodes, view=view)
        for measure, estimate in found.views[view].items():
            ends = known.intervals[measure]
            assert estimate.interval == pytest.approx(ends, abs=1e-9, nan_ok=True)
    plain = lp.audit(frame, "kind", people, intervals=kind, **options)
    assert abs(plain.intervals["dp"][1] - found.intervals["dp"][1]) > 1e-3


@pytest.mark.parametrize("name", ["undirected", "directed, ties", "bipartite"])
def test_groups_in_the_score_table_give_the_same(name):
    frame, people, _, _ = make(**CASES[name])
    kind = people.set_index("node").kind
    own = frame.assign(
        source_kind=frame.source.map(kind).to_numpy(), target_kind=frame.target.map(kind).to_numpy()
    )
    options = {key: True for key in ("directed", "bipartite") if key in CASES[name]}
    assert_same(lp.audit(own, "kind", **options), lp.audit(frame, "kind", people, **options))


@pytest.mark.parametrize("name", ["ties", "directed, ties"])
def test_many_nodes_take_several_passes_and_many_ties_are_counted(name, monkeypatch):
    frame, people, _, _ = make(**CASES[name])
    options = {"directed": True} if "directed" in CASES[name] else {}
    known = lp.audit(frame, "kind", people, **options)
    monkeypatch.setattr(placements, "MAX_BYTES", 4000)
    monkeypatch.setattr(placements, "CHUNK", 64)
    found = lp.audit(frame, "kind", people, **options)
    assert found.scans > known.scans
    assert_same(found, known)


def test_one_id_on_both_sides_of_a_bipartite_table_is_two_nodes():
    frame, people, _, _ = make(bipartite=True)
    sides = people[:15]
    known = lp.audit(frame, "kind", sides, bipartite=True)
    renamed = frame.assign(target=frame.target.str.replace("n15", "n3"))
    found = lp.audit(renamed, "kind", sides, bipartite=True)
    assert found.intervals["dp"] == pytest.approx(known.intervals["dp"], abs=1e-12)
    assert found.intervals["auc"] == pytest.approx(known.intervals["auc"], abs=1e-12)


@pytest.mark.parametrize("score", [0.5, 0.999])
@pytest.mark.parametrize("kind", ["nodes", "pairs"])
def test_a_pair_of_groups_without_a_variance_has_the_name_that_it_has_elsewhere(score, kind):
    frame, people, _, ids = make(20)
    names = ["non-binary"] * 2 + ["men"] * 9 + ["women"] * 9
    frame = frame[(ids > 1).any(axis=1)]
    more = {"source": ["n0"], "target": ["n1"], "score": [score], "label": [0]}
    frame = pd.concat([frame, pd.DataFrame(more)], ignore_index=True)
    found = lp.audit(frame, "kind", people.assign(kind=names), intervals=kind)
    told = [*found.reasons.values(), *found.notes]
    [rdp] = [text for text in told if "rdp: the interval leaves" in text or "AUC is" in text]
    assert "non-binary – non-binary" in rdp
    assert not any("y-n" in text for text in told)


def test_pairs_are_independent_when_asked_for():
    frame, people, groups, _ = make()
    found = lp.audit(frame, "kind", people, intervals="pairs")
    assert_same(found, lp.score_pairs(prob=frame.score, groups=groups, labels=frame.label))
    assert "too narrow" in found.notes[0]
    wide = lp.audit(frame, "kind", people)
    assert np.ptp(wide.intervals["dp"]) > 1.3 * np.ptp(found.intervals["dp"])
    with pytest.raises(ValueError, match="unknown kind of intervals 'node'"):
        lp.audit(frame, "kind", people, intervals="node")


@pytest.mark.parametrize("weight", [None, "w"])
def test_project_has_intervals_before_and_after(weight):
    frame, people, groups, ids = make()
    frame = with_weights(frame) if weight else frame
    fair, report = lp.project(frame, "kind", people, weight=weight, target=0.4, report=True)
    for when, column in (("before", "score"), ("after", "fair_score")):
        known = in_memory(fair, groups, ids, column=column)
        mixed = in_memory(fair, groups, ids, column=column, view="mixed")
        for name in ("auc", "dp", "eo", "rdp"):
            assert report.intervals[when][name] == pytest.approx(known.intervals[name], abs=1e-8)
        ends = report.intervals[when]["weak-dp"]
        assert ends == pytest.approx(mixed.intervals["dp"], abs=1e-8)
    _, plain = lp.project(frame, "kind", people, report=True, confidence=None)
    assert plain.intervals == {"before": {}, "after": {}}


def test_the_commands_take_intervals(tmp_path, capfd):
    frame, people, _, _ = make()
    scores, nodes = write(frame, tmp_path / "s.csv"), write(people, tmp_path / "n.csv")
    common = (scores, "--nodes", nodes, "--sensitive", "kind", "--json")
    found = {}
    for kind in ("nodes", "pairs"):
        assert exit_code("audit", *common, "--intervals", kind) == 0
        found[kind] = json.loads(capfd.readouterr().out)
    assert found["nodes"]["dp"] == found["pairs"]["dp"]
    assert found["nodes"]["intervals"]["dp"][1] > found["pairs"]["intervals"]["dp"][1]
    out = tmp_path / "fair.csv"
    assert exit_code("project", *common, "--out", out, "--intervals", "pairs") == 0
    corrected = json.loads(capfd.readouterr().out)
    ends = corrected["intervals"]["before"]["dp"]
    assert ends == pytest.approx(found["pairs"]["intervals"]["dp"], abs=1e-12)
    assert exit_code("audit", *common, "--intervals", "node") == 2
    assert "did you mean 'nodes'?" in capfd.readouterr().err


def test_more_cells_than_can_be_paired_have_intervals_of_their_own(monkeypatch):
    rng = np.random.default_rng(0)
    nodes = 150
    people = pd.DataFrame({"node": range(nodes), "kind": np.arange(nodes) % 25})
    ids = np.stack(np.triu_indices(nodes, 1), axis=1)
    effect = rng.normal(size=nodes)
    score = 1 / (1 + np.exp(-effect[ids].sum(axis=1) - rng.normal(size=len(ids))))
    label = (rng.random(len(ids)) < score).astype(int)
    frame = pd.DataFrame({"source": ids[:, 0], "target": ids[:, 1], "score": score, "label": label})
    found = lp.audit(frame, "kind", people)
    assert len(found.cells) == 325
    assert not np.isnan(found.intervals["rdp"]).any()
    assert_same(found, in_memory(frame, ids % 25, ids))
    monkeypatch.setattr(placements, "MAX_BYTES", placements.SUM_BYTES * nodes * 100)
    again = lp.audit(frame, "kind", people)
    assert again.scans == found.scans + 3
    assert_same(again, found)
