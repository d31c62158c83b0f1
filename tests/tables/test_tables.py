"""Tables of scores: the same numbers as in memory, whatever they are stored in."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from array_intervals import delong, levels
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from table_cases import exit_code, make_scores, read, write

import linkparity as lp
from linkparity.cli import command as cli
from linkparity.pairs.rank_sums import RankSums

pl = pytest.importorskip("polars")
FORMATS = ("csv", "csv.gz", "tsv", "parquet")
MEASURES = ("auc", "dp", "eo", "rdp", "kl")


@pytest.fixture
def case(tmp_path):
    scores, people, groups = make_scores()
    return scores, people, groups, tmp_path


def command(capfd, *args):
    code = exit_code(*args)
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.parametrize("shape", FORMATS)
def test_audit_of_a_file_equals_the_measures_in_memory(case, capfd, shape):
    scores, people, groups, place = case
    file = write(scores, place / f"scores.{shape}")
    nodes = write(people, place / f"people.{shape}")
    code, out, _ = command(capfd, "audit", file, "--nodes", nodes, "--sensitive", "kind", "--json")
    found = json.loads(out)
    given = {"prob": scores.score, "groups": groups, "labels": scores.label}
    given["nodes"] = scores[["source", "target"]].to_numpy()
    known = lp.score_pairs(**given)
    assert code == 0
    assert found["pairs"] == len(scores)
    assert found["links"] == int(scores.label.sum())
    for name in MEASURES:
        assert found[name] == pytest.approx(known.values[name], abs=1e-9)
    for name in ("auc", "rdp", "dp", "eo"):
        assert found["intervals"][name] == pytest.approx(known.intervals[name], abs=1e-9)
    named = {tuple(cell["groups"]): cell for cell in found["cells"]}
    colours = ("blue", "green", "red")
    for cell, same in zip(known.cells, code_names(colours), strict=True):
        assert named[same]["pairs"] == cell.pairs
        assert named[same]["links"] == cell.links
        assert named[same]["mean"] == pytest.approx(cell.mean, abs=1e-9)
        assert named[same]["link_mean"] == pytest.approx(cell.link_mean, abs=1e-9)
    for view in ("subgroup", "mixed", "group"):
        other = lp.score_pairs(**given, view=view)
        assert found["views"][view]["dp"] == pytest.approx(other.dp, abs=1e-9)
        assert found["views"][view]["eo"] == pytest.approx(other.eo, abs=1e-9)
        ends = found["views"][view]["intervals"]["dp"]
        assert ends == pytest.approx(other.intervals["dp"], abs=1e-9)


def code_names(names):
    return [(a, b) for i, a in enumerate(names) for b in names[i:]]


@pytest.mark.parametrize("criterion", ["dp", "weak-dp", "eo", "equalized-odds", "accuracy"])
@pytest.mark.parametrize("target", ["model", "free", 0.3])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_projection_equals_i_project(case, criterion, target, tolerance):
    scores, people, groups, _ = case
    asked = {"criterion": criterion, "target": target, "tolerance": tolerance}
    fair = lp.project(scores, "kind", people, **asked, tilt_by="labels")
    known = lp.i_project(
        logit(scores.score.to_numpy()),
        groups=groups,
        labels=scores.label.to_numpy(copy=True),
        **asked,
    )
    assert np.abs(fair.fair_score - known.logits.sigmoid().numpy()).max() < 1e-9
    pd.testing.assert_frame_equal(fair[scores.columns], scores)


@pytest.mark.parametrize("out", FORMATS)
@pytest.mark.parametrize("shape", FORMATS)
def test_project_keeps_rows_ids_and_order_in_every_format(case, capfd, shape, out):
    scores, people, _, place = case
    file, nodes = write(scores, place / f"s.{shape}"), write(people, place / "people.csv")
    fair = place / f"fair.{out}"
    args = ("project", file, "--nodes", nodes, "--sensitive", "kind", "--out", fair, "--json")
    code, told, err = command(capfd, *args)
    assert code == 0, err
    back = read(fair)
    assert list(back.columns) == ["source", "target", "score", "label", "fair_score"]
    for column in ("source", "target"):
        assert back[column].tolist() == scores[column].tolist()
    assert back.score.tolist() == scores.score.tolist()
    assert back.label.tolist() == scores.label.tolist()
    memory = lp.project(scores, "kind", people)
    assert np.abs(back.fair_score - memory.fair_score).max() < 1e-9
    report = json.loads(told)
    assert set(report) >= {
        "criterion", "target", "kl", "tilts", "before", "after", "kept", "rows",
    }  # fmt: skip
    assert report["after"]["dp"] < 1e-9 < report["before"]["dp"]
    code, again, _ = command(
        capfd, "audit", fair, "--score", "fair_score", "--nodes", nodes, "--sensitive", "kind",
        "--json",
    )  # fmt: skip
    assert json.loads(again)["dp"] <= 1e-6
    assert json.loads(again)["auc"] == pytest.approx(report["after"]["auc"], abs=1e-9)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.Table.from_pydict])
def test_frames_come_back_as_they_came(case, frame):
    scores, people, _, _ = case
    given = frame(scores.to_dict("list"))
    fair = lp.project(given, "kind", frame(people.to_dict("list")), explain=True)
    assert type(fair) is type(given)
    if isinstance(fair, pa.Table):
        fair = fair.to_pandas()
    expected = lp.project(scores, "kind", people)
    assert np.asarray(fair["fair_score"]) == pytest.approx(expected.fair_score, abs=1e-12)
    tilted = expit(logit(scores.score) + np.asarray(fair["tilt"]))
    assert np.asarray(fair["fair_score"]) == pytest.approx(tilted, abs=1e-12)
    assert lp.audit(given, "kind", frame(people.to_dict("list"))).dp == pytest.approx(
        lp.audit(scores, "kind", people).dp, abs=1e-12
    )


def test_a_frame_keeps_its_index(case):
    scores, people, _, _ = case
    given = scores.set_index(np.arange(len(scores))[::-1])
    fair = lp.project(given, "kind", people)
    assert (fair.index == given.index).all()
    assert (fair.fair_score.to_numpy() == lp.project(scores, "kind", people).fair_score).all()


def test_groups_may_stand_in_the_score_table(case, capfd):
    scores, people, _, place = case
    kind = people.set_index("node").kind
    wide = scores.assign(
        source_kind=kind[scores.source].to_numpy(), target_kind=kind[scores.target].to_numpy()
    )
    file = write(wide, place / "wide.csv")
    _, out, err = command(capfd, "audit", file, "--sensitive", "kind", "--json")
    known = lp.audit(scores, "kind", people)
    assert not err.startswith("Error")
    assert {name: json.loads(out)[name] for name in MEASURES} == pytest.approx(known.values)
    assert json.loads(out)["exposure"] == json.loads(json.dumps(known.to_dict()["exposure"]))


def test_several_attributes_are_crossed(case):
    scores, people, _, _ = case
    people = people.assign(old=np.arange(len(people)) % 2)
    found = lp.audit(scores, ["kind", "old"], people)
    assert set(found.groups) == {f"{k} & {o}" for k in ("blue", "green", "red") for o in (0, 1)}


def test_directed_tables_tell_the_two_ways_apart(case):
    scores, people, groups, _ = case
    both = pd.concat([scores, scores.rename(columns={"source": "target", "target": "source"})])
    both["score"] = np.linspace(0.1, 0.9, len(both))
    found = lp.audit(both, "kind", people, directed=True)
    ordered = np.concatenate([groups, groups[:, ::-1]])
    means = {}
    for a in range(3):
        for b in range(3):
            inside = (ordered[:, 0] == a) & (ordered[:, 1] == b)
            means[a, b] = both.score.to_numpy()[inside].mean()
    assert len(found.cells) == 9
    assert found.dp == pytest.approx(max(means.values()) - min(means.values()), abs=1e-12)
    fair = lp.project(both, "kind", people, directed=True)
    after = lp.audit(fair, "kind", people, directed=True, score="fair_score")
    assert after.dp < 1e-9


def test_bipartite_tables_have_groups_on_one_side(case):
    _, people, _, _ = case
    rng = np.random.default_rng(1)
    jobs = [f"job {k}" for k in range(12)]
    scores = pd.DataFrame(
        [(s, j, rng.random()) for s in people.node for j in jobs],
        columns=["source", "target", "score"],
    )
    found = lp.audit(scores, "kind", people, bipartite=True, top=5)
    means = scores.groupby(people.set_index("node").kind[scores.source].to_numpy()).score.mean()
    assert found.dp == pytest.approx(means.max() - means.min(), abs=1e-12)
    assert [cell.groups for cell in found.cells] == [("blue",), ("green",), ("red",)]
    assert sum(part.slots for part in found.exposure) == 5 * len(jobs)
    fair = lp.project(scores, "kind", people, bipartite=True)
    assert lp.audit(fair, "kind", people, bipartite=True, score="fair_score").dp < 1e-9
    # an id that is a source and a target stands for two nodes: the node table describes sources
    same = scores.assign(target=scores.target.replace({"job 0": people.node[3]}))
    assert lp.audit(same, "kind", people, bipartite=True).dp == pytest.approx(found.dp)


@pytest.mark.parametrize("kept", [1.0, 0.15])
def test_exposure_counts_the_first_places_of_every_list(case, kept):
    """Of all pairs, and of few, where many lists are shorter than the number of places."""
    scores, people, _, _ = case
    scores = scores[np.random.default_rng(3).random(len(scores)) < kept]
    rough = scores.assign(score=scores.score.round(1).clip(0.1, 0.9))  # ties for the last places
    lengths = pd.concat([rough.source, rough.target]).value_counts()
    assert (lengths.min() < 4 < lengths.max()) == (kept < 1)
    found = lp.audit(rough, "kind", people, top=4)
    kind = people.set_index("node").kind
    have, got = dict.fromkeys(found.groups, 0), dict.fromkeys(found.groups, 0.0)
    for node in people.node:
        onward, back = rough[rough.source == node], rough[rough.target == node]
        others = [*onward.target, *back.source]
        points = np.array([*onward.score, *back.score])
        for other, own in zip(others, points, strict=True):
            above, tied = (points > own).sum(), (points == own).sum()
            have[kind[other]] += 1
            got[kind[other]] += np.clip((4 - above) / tied, 0, 1)
    for part in found.exposure:
        assert part.candidates == have[part.group]
        assert part.slots == pytest.approx(got[part.group])
        assert part.ratio == pytest.approx(part.slot_share / part.share)


def test_saved_tilts_serve_later_tables(case, capfd):
    scores, people, _, place = case
    half = len(scores) // 2
    first = write(scores[:half], place / "a.csv")
    later = write(scores[half:], place / "b.csv")
    nodes = write(people, place / "people.csv")
    tilts = place / "tilts.json"
    common = ("--nodes", nodes, "--sensitive", "kind")
    assert (
        exit_code("project", first, *common, "--out", place / "fa.csv", "--save-tilts", tilts) == 0
    )
    assert exit_code("project", later, *common, "--out", place / "fb.csv", "--apply", tilts) == 0
    saved = {tuple(sorted(c["groups"])): c["tilt"] for c in json.loads(tilts.read_text())["cells"]}
    back = read(place / "fb.csv")
    kind = people.set_index("node").kind
    pairs = zip(kind[back.source], kind[back.target], strict=True)
    added = np.array([saved[tuple(sorted(pair))] for pair in pairs])
    assert np.abs(back.fair_score - expit(logit(back.score) + added)).max() < 1e-12
    capfd.readouterr()
    nodes2 = write(people.assign(kind=people.kind.replace("red", "pink")), place / "p2.csv")
    code, _, err = command(
        capfd, "project", later, "--nodes", nodes2, "--sensitive", "kind", "--out",
        place / "fc.csv", "--apply", tilts,
    )  # fmt: skip
    assert code == 2
    assert "tilts.json: has no tilt for blue – pink" in err
    assert not (place / "fc.csv").exists()


def test_label_tilting_criteria_say_that_they_are_no_predictor(case, capfd):
    scores, people, _, place = case
    file, nodes = write(scores, place / "s.csv"), write(people, place / "p.csv")
    common = ("project", file, "--nodes", nodes, "--sensitive", "kind")
    for criterion in ("eo", "equalized-odds", "accuracy"):
        _, out, _ = command(
            capfd, *common, "--out", place / f"{criterion}.csv", "--criterion", criterion, "--json",
            "--tilt-by", "labels",
        )  # fmt: skip
        assert json.loads(out)["after"]["auc"] is None
        assert "cannot be used as predictions" in " ".join(json.loads(out)["notes"])
    _, out, _ = command(capfd, *common, "--out", place / "dp.csv", "--json")
    assert json.loads(out)["after"]["auc"] > 0.5
    assert "order of the scores is kept" in " ".join(json.loads(out)["notes"])


def test_order_within_a_group_pair_is_kept(case):
    scores, people, groups, _ = case
    fair = lp.project(scores, "kind", people, criterion="weak-dp")
    low, high = groups.min(axis=1), groups.max(axis=1)
    for code in np.unique(low * 3 + high):
        mine = low * 3 + high == code
        order = np.argsort(scores.score[mine].to_numpy(), kind="stable")
        assert (np.diff(fair.fair_score[mine].to_numpy()[order]) >= 0).all()


def test_logits_far_out_are_tilted_too():
    scores, people, groups = make_scores()
    x = logit(scores.score.to_numpy()) * 30
    given = scores.drop(columns="score").assign(logit=x)
    fair = lp.project(given, "kind", people)
    known = lp.i_project(x, groups=groups)
    assert np.abs(fair.fair_logit - known.logits.numpy()).max() < 1e-8
    assert lp.audit(given, "kind", people).kl == pytest.approx(float(known.kl) / len(x), rel=1e-9)


def test_tolerance_stops_at_the_band(case):
    scores, people, _, _ = case
    fair = lp.project(scores, "kind", people, tolerance=0.01)
    found = lp.audit(fair, "kind", people, score="fair_score")
    assert found.dp == pytest.approx(0.02, abs=1e-9)


def test_untidy_rows_leave_when_told_to(case):
    scores, people, _, _ = case
    loop = pd.DataFrame([("7", "7", 0.5, 0)], columns=scores.columns)
    back = scores[:3].rename(columns={"source": "target", "target": "source"})
    stranger = pd.DataFrame([("7", "who", 0.5, 0)], columns=scores.columns)
    untidy = pd.concat([scores[:50], loop, back, stranger, scores[50:]], ignore_index=True)
    options = {"self_loops": "drop", "duplicates": "first", "unknown": "drop"}
    found = lp.audit(untidy, "kind", people, **options)
    clean = lp.audit(scores, "kind", people)
    assert found.values == pytest.approx(clean.values)
    assert found.dropped == {"self-loops": 1, "unknown": 1, "duplicates": 3}
    fair = lp.project(untidy, "kind", people, **options)
    assert fair.source.tolist() == scores.source.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lp.GraphWarning)
        options["unknown"] = "group"
        assert lp.audit(untidy, "kind", people, **options).groups["unknown"] == 1


def test_a_group_of_one_warns(case):
    scores, people, _, _ = case
    people.loc[4, "kind"] = "lone"
    with pytest.warns(lp.GraphWarning, match="group 'lone' has a single node"):
        found = lp.audit(scores, "kind", people)
    assert any("lone – lone" in name for name in found.small) or found.groups["lone"] == 1


ids = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\x00\r"), min_size=1, max_size=8
)


@settings(max_examples=25)
@given(
    st.lists(ids, min_size=4, max_size=8, unique=True), st.sampled_from(["csv", "tsv", "parquet"])
)
def test_ids_come_back_exactly(tmp_path_factory, names, shape):
    place = tmp_path_factory.mktemp("ids")
    import csv

    pairs = [(a, b) for i, a in enumerate(names) for b in names[:i]]
    delimiter = "\t" if shape == "tsv" else ","
    rows = [(a, b, f"{(k + 1) / (len(pairs) + 2):.6f}") for k, (a, b) in enumerate(pairs)]
    people = place / "p.csv"
    with people.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [("node", "g"), *((name, "abc"[i % 3]) for i, name in enumerate(names))]
        )
    file = place / f"s.{shape}"
    if shape == "parquet":
        frame = pd.DataFrame(rows, columns=["source", "target", "score"])
        frame.assign(score=frame.score.astype(float)).to_parquet(file)
    else:
        with file.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(
                [("source", "target", "score"), *rows]
            )
    fair = place / f"f.{shape}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = exit_code("project", file, "--nodes", people, "--sensitive", "g", "--out", fair)
    assert code == 0
    if shape == "parquet":
        back = list(pd.read_parquet(fair)[["source", "target"]].itertuples(index=False, name=None))
    else:
        with fair.open(newline="", encoding="utf-8") as written:
            back = [tuple(row[:2]) for row in csv.reader(written, delimiter=delimiter)][1:]
    assert back == pairs


def test_integers_beyond_2_to_53_stay_apart(tmp_path):
    big = 2**53
    pairs = [(big + a, big + b) for a in range(6) for b in range(a)]
    scores = pd.DataFrame(pairs, columns=["source", "target"])
    scores["score"] = np.linspace(0.1, 0.9, len(pairs))
    nodes = pd.DataFrame({"node": [big + a for a in range(6)], "g": list("abcabc")})
    file, people = write(scores, tmp_path / "s.parquet"), write(nodes, tmp_path / "n.csv")
    out = tmp_path / "f.parquet"
    assert exit_code("project", file, "--nodes", people, "--sensitive", "g", "--out", out) == 0
    back = pd.read_parquet(out)
    assert (back.source == scores.source).all()
    assert back.source.dtype == scores.source.dtype


def test_stdin_and_stdout(case):
    scores, people, _, place = case
    nodes = write(people, place / "p.csv")
    args = [sys.executable, "-m", "linkparity", "project", "-", "--nodes", str(nodes)]
    done = subprocess.run(
        [*args, "--sensitive", "kind", "--out", "-"],
        input=scores.to_csv(index=False).encode(),
        capture_output=True,
        check=True,
    )
    (place / "out.csv").write_bytes(done.stdout)
    back = read(place / "out.csv")
    assert back.source.tolist() == scores.source.tolist()
    assert np.abs(back.fair_score - lp.project(scores, "kind", people).fair_score).max() < 1e-9
    assert b"scans" in done.stderr


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [
        ("dp>0.05", 1, "Gate failed: dp is 0."),
        ("dp>0.9", 0, ""),
        ("auc<0.99,dp>0.9", 1, "Gate failed: auc is 0."),
        ("group.eo>0.001", 1, "Gate failed: group.eo is 0."),
        ("dpp>0.1", 2, "unknown measure 'dpp'; did you mean 'dp'?"),
        ("dp=0.1", 2, "--fail-if cannot be parsed: 'dp=0.1'"),
        ("grup.dp>0.1", 2, "unknown view 'grup'; did you mean 'group'?"),
    ],
)
def test_fail_if_makes_a_gate(case, capfd, gate, code, said):
    scores, people, _, place = case
    file, nodes = write(scores, place / "s.csv"), write(people, place / "p.csv")
    args = ("audit", file, "--nodes", nodes, "--sensitive", "kind", "--fail-if", gate)
    got, _, err = command(capfd, *args)
    assert got == code
    assert said in err


def test_an_undefined_measure_does_not_pass_a_gate(case, capfd):
    scores, people, _, place = case
    file = write(scores.drop(columns="label"), place / "s.csv")
    nodes = write(people, place / "p.csv")
    args = ("audit", file, "--nodes", nodes, "--sensitive", "kind", "--fail-if", "eo>0.5", "--json")
    code, out, err = command(capfd, *args)
    assert code == 1
    assert "eo is undefined (no labels were given)" in err
    assert json.loads(out)["links"] is None
    assert json.loads(out)["auc"] is None


def test_the_solver_needs_no_more_than_two_scans():
    scores, people, _ = make_scores(nodes=150)
    assert lp.audit(scores, "kind", people, intervals="pairs").scans <= 14
    assert lp.audit(scores, "kind", people).scans <= 18


def test_nodes_that_are_not_listed_are_told_from_each_other():
    scores, people, _ = make_scores()
    found = lp.audit(scores, "kind", people[:-3], unknown="group")
    assert found.pairs == len(scores)
    assert found.groups["unknown"] == 3


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 5), st.sampled_from([2, 6, 999])
)
def test_rank_sums_equal_delong(seed, count, classes, distinct):
    rng = np.random.default_rng(seed)
    score = np.sort(rng.integers(0, distinct, count) / 7)
    member = rng.integers(0, classes, count)
    ranks = RankSums(np.bincount(member, minlength=classes))
    start = 0
    while start < count:
        stop = start + int(rng.integers(1, 12))
        ranks.add(score[start:stop], member[start:stop])
        start = stop
    area, variance = ranks.result()
    for c in range(classes):
        known = delong(levels(score), (member == c) * 1.0, (member != c) * 1.0)
        assert [area[c], variance[c]] == pytest.approx(known, abs=1e-10, nan_ok=True)


def test_options_that_contradict_each_other_are_refused(tmp_path, capfd):
    scores = tmp_path / "s.csv"
    rows = ["source,target,score,source_g,target_g"]
    rows += [f"a{i},b{i},0.{1 + i % 8},{'xyz'[i % 3]},{'xyz'[i % 2]}" for i in range(30)]
    scores.write_text("\n".join(rows) + "\n")
    out, tilts = str(tmp_path / "o.csv"), str(tmp_path / "t.json")
    base = ["project", str(scores), "--sensitive", "g"]
    for args, said in (
        ([*base, "--out", "-", "--json"], "both write to stdout"),
        ([*base, "--out", "x.csv", "--save-tilts", "-", "--json"], "both write to stdout"),
        ([*base, "--out", "x.csv", "--save-tilts", "./x.csv"], "choose two different files"),
        ([*base, "--out", out, "--save-tilts", out], "choose two different files"),
    ):
        with pytest.raises(SystemExit) as stop:
            cli.main(args)
        assert stop.value.code == 2
        assert said in capfd.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.csv"]
    with pytest.raises(SystemExit) as stop:
        cli.main([*base, "--out", out, "--save-tilts", tilts])
    assert not stop.value.code
    with pytest.raises(SystemExit) as stop:
        cli.main([*base, "--out", str(tmp_path / "p.csv"), "--apply", tilts, "--criterion", "eo"])
    assert stop.value.code == 2
    assert "holds tilts for dp, not for eo" in capfd.readouterr().err
