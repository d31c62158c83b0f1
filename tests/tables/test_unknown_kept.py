"""Rows with a node of unknown group that are kept: in auc and lists, in no gap, not tilted."""

import itertools
import json

import numpy as np
import pytest
from scipy.special import expit, logit
from table_cases import exit_code, make_scores, read, write

import linkparity as lp

pl = pytest.importorskip("polars")
COLOURS = ("blue", "green", "red")


@pytest.fixture(scope="module")
def case():
    """Scores, people without the values of some and the rows of others, groups ``(P, 2)``."""
    scores, people, _ = make_scores(nodes=18)
    people.loc[3:5, "kind"] = None
    people = people.drop(index=[6, 7])
    number = {name: COLOURS.index(kind) for name, kind in people.dropna().itertuples(index=False)}
    ends = scores[["source", "target"]].map(lambda name: number.get(name, -1)).to_numpy()
    assert set(map(int, (ends < 0).sum(axis=1))) == {0, 1, 2}
    return scores, people, ends


def plain_measures(score, label, ends):
    """``auc``, ``dp`` and ``eo`` by loops over the rows."""
    means = {"dp": {}, "eo": {}}
    wins, pairs = 0.0, list(zip(score, label, strict=True))
    for (one, y), (two, z) in itertools.product(pairs, pairs):
        wins += (y > z) * ((one > two) + 0.5 * (one == two))
    for value, y, (a, b) in zip(score, label, ends, strict=True):
        if a >= 0 and b >= 0:
            for name in ("dp", "eo") if y else ("dp",):
                means[name].setdefault((min(a, b), max(a, b)), []).append(value)
    links = int(label.sum())
    gaps = {name: np.ptp([np.mean(v) for v in found.values()]) for name, found in means.items()}
    return {"auc": wins / links / (len(score) - links)} | gaps


def places(score, scores, ends, k):
    """Places among the first ``k`` of every list, and candidates, by group; no score is tied."""
    lists, filled, candidates = {}, np.zeros(4), np.zeros(4)
    for value, names, groups in zip(score, scores.to_numpy(), ends, strict=True):
        lists.setdefault(names[0], []).append((value, groups[1]))
        lists.setdefault(names[1], []).append((value, groups[0]))
    for each in lists.values():
        for place, (_, group) in enumerate(sorted(each, reverse=True)):
            candidates[group] += 1
            filled[group] += place < k
    return filled, candidates


def test_an_audit_keeps_rows_of_unknown_group(case):
    scores, people, ends = case
    found = lp.audit(scores, "kind", people, unknown="keep", top=3)
    lost = (ends < 0).any(axis=1)
    known = plain_measures(scores.score, scores.label, ends)
    assert {name: found.values[name] for name in known} == pytest.approx(known, abs=1e-9)
    assert (found.unknown, found.pairs) == (lost.sum(), len(scores))
    assert f"{lost.sum():,} rows with a node of unknown group: in auc" in str(found)
    assert found.to_dict()["unknown"] == lost.sum()
    assert sum(cell.pairs for cell in found.cells) == found.counts["rdp"][0] == (~lost).sum()
    filled, candidates = places(scores.score, scores, ends, 3)
    for part in found.exposure:
        group = COLOURS.index(part.group)
        assert part.slots == pytest.approx(filled[group], abs=1e-9)
        assert part.slot_share == pytest.approx(filled[group] / filled.sum(), abs=1e-9)
        assert part.share == pytest.approx(candidates[group] / candidates.sum(), abs=1e-9)
    groups = np.where(lost[:, None], -1, ends)
    nodes = scores[["source", "target"]].to_numpy()
    same = lp.score_pairs(prob=scores.score, groups=groups, labels=scores.label, nodes=nodes)
    assert found.values == pytest.approx({name: same.values[name] for name in found.values})
    for name, interval in found.intervals.items():
        assert interval == pytest.approx(same.intervals[name], abs=1e-9)


@pytest.mark.parametrize(
    ("shape", "criterion"), [("csv", "dp"), ("parquet", "eo"), ("polars", "dp"), ("polars", "eo")]
)
def test_a_projection_keeps_the_scores_of_unknown_groups(case, tmp_path, shape, criterion):
    scores, people, ends = case
    lost = (ends < 0).any(axis=1)
    if shape == "polars":
        asked = {"unknown": "keep", "criterion": criterion, "report": True}
        fair, found = lp.project(pl.from_pandas(scores), "kind", pl.from_pandas(people), **asked)
        found, fair = found.to_dict(), fair.to_pandas()
    else:
        files = write(scores, tmp_path / f"s.{shape}"), write(people, tmp_path / "p.csv")
        out, tilts = tmp_path / f"f.{shape}", tmp_path / "t.json"
        asked = (files[0], "--nodes", files[1], "--sensitive", "kind", "--unknown", "keep")
        saved = ("--save-tilts", tilts, "--criterion", criterion)
        assert exit_code("project", *asked, *saved, "--out", out) == 0
        again = tmp_path / f"again.{shape}"
        assert exit_code("project", *asked, "--apply", tilts, "--out", again) == 0
        assert again.read_bytes() == out.read_bytes()
        found, fair = json.loads(tilts.read_text()), read(out)
        found["tilts"] = found.pop("cells")
    assert len(fair) == len(scores)
    for name in ("source", "target"):
        assert list(fair[name]) == list(scores[name])
    assert (fair.fair_score[lost] == scores.score[lost]).all()
    tilt = {tuple(sorted(cell["groups"])): cell["tilt"] for cell in found["tilts"]}
    assert len(tilt) == 6
    for value, was, (a, b) in zip(fair.fair_score, scores.score, ends, strict=True):
        if a >= 0 and b >= 0:
            added = tilt[tuple(sorted((COLOURS[a], COLOURS[b])))]
            assert value == pytest.approx(expit(logit(was) + added), abs=1e-12)
    gaps = plain_measures(fair.fair_score, scores.label, ends)
    assert gaps[criterion] < 1e-8
    if shape == "polars":
        before = plain_measures(scores.score, scores.label, ends)
        assert {n: found["before"][n] for n in before} == pytest.approx(before, abs=1e-9)
        assert {n: found["after"][n] for n in gaps} == pytest.approx(gaps, abs=1e-9)
        assert (found["unknown"], found["rows"]) == (lost.sum(), len(scores))


@pytest.mark.parametrize(
    "options", [{"directed": True}, {"bipartite": True}, {"intervals": "pairs"}]
)
def test_rows_of_unknown_group_are_kept_in_every_kind_of_table(case, options):
    scores, people, ends = case
    if "bipartite" in options:
        scores = scores.assign(target="t" + scores.target)
        people = people.assign(node=people.node.astype(object))
        ends = np.column_stack([ends[:, 0], np.zeros(len(ends))])  # targets have no group
    lost = (ends < 0).any(axis=1)
    fair, found = lp.project(scores, "kind", people, unknown="keep", report=True, **options)
    assert found.unknown == lost.sum() > 0
    assert (fair.fair_score[lost] == scores.score[lost]).all()
    assert found.after["dp"] < 1e-8
    assert (fair.fair_score[~lost] != scores.score[~lost]).all()
    change = lp.audit(
        fair.drop(columns="fair_score").assign(score=fair.fair_score),
        "kind", people, unknown="keep", compare=scores, **options,
    ).change  # fmt: skip
    assert change.values["dp"] == pytest.approx(-found.before["dp"], abs=1e-8)


def test_groups_in_columns_and_a_table_without_a_pair_of_known_groups(case):
    scores, _, ends = case
    kinds = np.array([*COLOURS, None], dtype=object)[ends]
    wide = scores.assign(source_kind=kinds[:, 0], target_kind=kinds[:, 1])
    lost = (ends < 0).any(axis=1)
    found = lp.audit(wide, "kind", unknown="keep")
    assert found.unknown == lost.sum()
    assert found.dp == pytest.approx(plain_measures(scores.score, scores.label, ends)["dp"])
    alone = wide[(ends < 0).sum(axis=1) == 1]
    for command in (lp.audit, lp.project):
        with pytest.raises(ValueError, match="every row has a node of unknown group: fill some"):
            command(alone, "kind", unknown="keep")
