"""Files that a reader may mistake: names with stars, foreign types, damaged tilts, closed pipes."""

import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from table_cases import exit_code, make_scores, read, write

import linkparity as lp
from linkparity.cli import command as cli
from linkparity.metrics.tables.fail_if import read_gates

COMMON = ("--nodes", "n.csv", "--sensitive", "kind")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scores, people, _ = make_scores()
    write(scores, Path("s.csv"))
    write(people, Path("n.csv"))
    return scores, people


def refused(capfd, *args):
    before = set(os.listdir())
    assert exit_code(*args) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in err
    assert set(os.listdir()) == before
    return err.splitlines()[-1].removeprefix("Error: ")


def found(capfd, *args):
    assert exit_code(*args, "--json") == 0, capfd.readouterr().err
    return json.loads(capfd.readouterr().out)


@pytest.mark.parametrize("shape", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["s[1]", "s*", "s?", "s[!a]"])
def test_a_name_is_no_pattern(here, capfd, shape, name):
    scores, people = here
    for other in ("s1", "sX", "s[2]"):
        write(scores.assign(score=0.5), Path(f"{other}.{shape}"))
    write(scores, Path(f"{name}.{shape}"))
    told = found(capfd, "audit", f"{name}.{shape}", *COMMON)
    assert told["dp"] == pytest.approx(lp.audit(scores, "kind", people).dp)
    assert exit_code("project", f"{name}.{shape}", *COMMON, "--out", f"{name} fair.csv") == 0
    assert np.allclose(read(Path(f"{name} fair.csv")).score, scores.score)


def test_a_directory_is_no_column(here, capfd):
    scores, people = here
    for name in ("date=2024", "kind=9", "score=9"):
        os.mkdir(name)
        write(scores, Path(name) / "s.parquet")
        write(people, Path(name) / "n.parquet")
        args = (f"{name}/s.parquet", "--nodes", f"{name}/n.parquet", "--sensitive", "kind")
        assert exit_code("project", *args, "--out", f"{name}/f.parquet") == 0
        assert list(read(Path(name) / "f.parquet").columns) == [*scores.columns, "fair_score"]
    capfd.readouterr()


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("source,targt,score", "no column 'target'; did you mean 'targt'? name both with --source"),
        ("sorce,target,score", "no column 'source'; did you mean 'sorce'? name both with --source"),
        ("Source,dest,score", "no column 'target'; name both with --source and --target-column, or "
         "call the columns source and target; columns: Source, dest, score"),
        ("dest,TARGET,score", "no column 'source'; name both with --source and --target-column, or "
         "call the columns source and target; columns: dest, TARGET, score"),
        ("who,score,whom", "no column 'target'; name both with --source and --target-column, or "
         "call the columns source and target; columns: who, score, whom"),
        ("label,who,score", "no column 'source'; name both with --source and --target-column, or"),
    ],
)  # fmt: skip
def test_columns_of_nodes_are_not_guessed_from_others(here, capfd, columns, said):
    rows = "\n".join(["a", "b", "0.5"][i] for i in range(3))
    Path("m.csv").write_text(f"{columns}\n" + rows.replace("\n", ",") + "\n")
    assert f"m.csv: has {said}" in refused(capfd, "audit", "m.csv", *COMMON)


def test_the_first_two_columns_stand_in_where_no_name_is_usual(here, capfd):
    scores, _ = here
    other = scores.rename(columns={"source": "who", "target": "whom"})
    write(other, Path("m.csv"))
    assert found(capfd, "audit", "m.csv", *COMMON)["pairs"] == len(scores)


def test_the_usual_names_count_in_any_case(here, capfd):
    scores, people = here
    usual = found(capfd, "audit", "s.csv", *COMMON, "--directed")
    columns = {"source": "SOURCE", "target": "Target"}
    write(scores[["label", "score", "target", "source"]].rename(columns=columns), Path("m.csv"))
    write(people[["kind", "node"]].rename(columns={"node": "Node"}), Path("p.csv"))
    asked = ("--nodes", "p.csv", *COMMON[2:], "--directed")
    other = found(capfd, "audit", "m.csv", *asked)
    for mine, cell in zip(other["cells"], usual["cells"], strict=True):
        assert (mine["groups"], mine["pairs"]) == (cell["groups"], cell["pairs"])
        assert mine["mean"] == pytest.approx(cell["mean"], rel=1e-12)


WRONG_TYPES = {
    "date": [datetime.date(2024, 1, 1)],
    "list": [[0.5]],
    "record": [{"p": 0.5}],
    "bytes": [b"0.5"],
}


@pytest.mark.parametrize("kind", WRONG_TYPES)
def test_scores_of_a_foreign_type(here, capfd, kind):
    scores, _ = here
    write(scores.assign(score=WRONG_TYPES[kind] * len(scores)), Path("s.parquet"))
    said = refused(capfd, "audit", "s.parquet", *COMMON)
    assert said.startswith("s.parquet: column 'score' holds values of the type ")


def test_groups_that_are_lists(here, capfd):
    scores, people = here
    write(people.assign(kind=[[1, 2]] * len(people)), Path("n.parquet"))
    nodes = ("--nodes", "n.parquet", "--sensitive", "kind")
    write(scores[scores.label == 1], Path("l.csv"))
    assert "holds lists or records" in refused(capfd, "audit", "s.csv", *nodes)
    assert "holds lists or records" in refused(capfd, "train", "--links", "l.csv", *nodes)


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning")
@pytest.mark.parametrize("kind", ["uint64", "bytes", "float"])
def test_ids_of_other_types_train_and_predict(here, capfd, kind):
    scores, people = here
    make = {
        "uint64": lambda i: np.uint64(2**63 + 5 + i),
        "bytes": lambda i: f"id {i}".encode(),
        "float": float,
    }[kind]
    number = {node: make(i) for i, node in enumerate(people.node)}
    turned = scores.assign(source=scores.source.map(number), target=scores.target.map(number))
    write(turned[turned.label == 1], Path("l.parquet"))
    write(people.assign(node=people.node.map(number)), Path("n.parquet"))
    nodes = ("--nodes", "n.parquet", "--sensitive", "kind")
    train = ("train", "--links", "l.parquet", *nodes, "--model", "maxent", "--out", "run")
    assert exit_code(*train) == 0, capfd.readouterr().err
    assert exit_code("predict", "run", "--top", "1", "--out", "t.csv") == 0
    want = {"uint64": str(2**63 + 5), "bytes": "id 0", "float": "0"}[kind]
    assert want in set(read(Path("t.csv")).source)
    write(turned[["source", "target"]], Path("p.parquet"))
    assert exit_code("predict", "run", "--pairs", "p.parquet", "--out", "o.csv") == 0
    assert len(read(Path("o.csv"))) == len(scores)


def test_a_node_with_a_group_in_one_row_only(here, capfd):
    Path("u.csv").write_text(
        "source,target,score,source_kind,target_kind\n1,2,.5,x,y\n2,3,.4,y,\n3,4,.2,z,x\n"
    )
    said = refused(capfd, "audit", "u.csv", "--sensitive", "kind", "--unknown", "group")
    assert "u.csv: row 2, column 'target': node '3' has two groups" in said
    assert "'z' and 'no value'" in said
    said = refused(capfd, "audit", "u.csv", "--sensitive", "kind")
    assert "u.csv: row 2, column 'target_kind': node '3' has no kind" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a,b,0.5\r\nb,c,0.2\n", "row 1: has a CR, unlike the header"),
        (b"a,b,0.5\na\rx,c,0.2\n", "row 2: has a CR, unlike the header"),
    ],
)
def test_lines_must_end_alike(here, capfd, content, said):
    Path("e.csv").write_bytes(b"source,target,score\n" + content)
    told = refused(capfd, "audit", "e.csv", *COMMON)
    assert told == f"e.csv: {said}; end all lines with LF, or all with CR LF"


def test_lines_must_end_with_cr_lf_where_the_first_does(here, capfd):
    Path("e.csv").write_bytes(b"source,target,score\r\na,b,0.5\r\nb,c,0.2\n")
    told = refused(capfd, "audit", "e.csv", *COMMON)
    assert "row 2: ends with LF, but the header ends with CR LF" in told


DAMAGES = [
    ('"tilt": ', '"tilt": NaN, "was": '),
    ('"tilt": ', '"tilt": Infinity, "was": '),
    ('"tilt": ', '"tilt": "1", "was": '),
    ('"target": ', '"target": "x", "was": '),
    ('"target": ', '"target": null, "was": '),
    ('"target": ', '"target": {}, "was": '),
    ('"criterion": "dp"', '"criterion": ["dp"]'),
    ('"criterion": "dp"', '"criterion": "pd"'),
    ('"attribute": "kind"', '"attribute": 3'),
    ('"blue"', "1"),
    ('"green"', '"blue"'),
]


@pytest.mark.parametrize("damage", DAMAGES, ids=[b for _, b in DAMAGES])
def test_damaged_tilts_are_refused(here, capfd, damage):
    args = ("project", "s.csv", *COMMON)
    assert exit_code(*args, "--out", "f.csv", "--save-tilts", "t.json") == 0
    text = Path("t.json").read_text()
    assert damage[0] in text
    Path("t.json").write_text(text.replace(*damage))
    capfd.readouterr()
    said = refused(capfd, *args, "--out", "g.csv", "--apply", "t.json")
    problems = r"is damaged: not valid JSON|is not a tilt file|.*key '.*' (cannot hold|has) "
    assert re.match(rf"t\.json: ({problems})", said)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tilt", 1e308),
        ("tilt", -1e5),
        ("tilt", 1501),
        ("tilt", True),
        ("tilt", 10**400),
        ("groups", "red"),
    ],
)
def test_tilts_that_nobody_fitted_are_refused_with_the_key(here, capfd, key, value):
    args = ("project", "s.csv", *COMMON)
    assert exit_code(*args, "--out", "f.csv", "--save-tilts", "t.json") == 0
    saved = json.loads(Path("t.json").read_text())
    saved["cells"][2][key] = value
    Path("t.json").write_text(json.dumps(saved))
    capfd.readouterr()
    said = refused(capfd, *args, "--out", "g.csv", "--apply", "t.json")
    assert said.startswith(f"t.json: key 'cells', entry 3: key '{key}' cannot hold {value!r:.10}")
    assert not Path("g.csv").exists()


@pytest.mark.parametrize("change", [{"label": True}, {"directed": 0}, {"target": True}])
def test_true_is_not_1_in_a_file_of_tilts(here, capfd, change):
    args = ("project", "s.csv", *COMMON)
    assert exit_code(*args, "--out", "f.csv", "--save-tilts", "t.json") == 0
    saved = json.loads(Path("t.json").read_text())
    (saved["cells"][0] if "label" in change else saved).update(change)
    Path("t.json").write_text(json.dumps(saved))
    capfd.readouterr()
    said = refused(capfd, *args, "--out", "g.csv", "--apply", "t.json")
    assert f"key {next(iter(change))!r} cannot hold {next(iter(change.values()))!r}; make" in said


def test_tilts_know_their_criterion(here, capfd):
    args = ("project", "s.csv", *COMMON)
    assert exit_code(*args, "--out", "f.csv", "--save-tilts", "t.json", "--criterion", "eo") == 0
    capfd.readouterr()
    said = refused(capfd, *args, "--out", "g.csv", "--apply", "t.json", "--criterion", "dp")
    assert "t.json: holds tilts for eo, not for dp" in said
    assert exit_code(*args, "--out", "g.csv", "--apply", "t.json") == 0
    assert Path("g.csv").read_text() == Path("f.csv").read_text()


def test_one_label_has_one_target(here, capfd):
    scores, _ = here
    write(scores.assign(label=1), Path("s.csv"))
    args = ("project", "s.csv", *COMMON, "--criterion", "equalized-odds")
    told = found(capfd, *args, "--out", "f.csv", "--save-tilts", "t.json")
    assert told["target"]["0"] is None
    assert exit_code(*args, "--out", "g.csv", "--apply", "t.json") == 0
    assert Path("g.csv").read_text() == Path("f.csv").read_text()


@pytest.mark.parametrize(
    ("verb", "more"),
    [("audit", ("--html", "-")), ("project", ("--out", "f.csv", "--save-tilts", "-"))],
)
def test_stdout_holds_one_result(here, capfd, verb, more):
    assert exit_code(verb, "s.csv", *COMMON, *more) == 0
    out, err = capfd.readouterr()
    assert out.startswith(("<!doctype html>", "{"))
    assert out.rstrip().endswith(("</html>", "}"))
    assert "dp" in err


def test_what_came_as_text_in_parquet_stays_text(here, capfd):
    scores, _ = here
    text = scores.assign(
        score=scores.score.map(repr), label=scores.label.map({0: "FALSE", 1: "True"})
    )
    write(text, Path("s.parquet"))
    assert exit_code("project", "s.parquet", *COMMON, "--out", "f.parquet") == 0
    assert read(Path("f.parquet")).drop(columns="fair_score").equals(text)
    pd.DataFrame({"source": ["a"], "target": ["b"], "score": [0.5], "": [1]}).to_parquet(
        "e.parquet"
    )
    capfd.readouterr()
    assert "e.parquet: has a column without a name" in refused(capfd, "audit", "e.parquet", *COMMON)


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning")
def test_a_side_where_some_have_no_group(here, capfd):
    people = [f"p{i}" for i in range(9)]
    links = [(a, f"job {(i * k) % 5}") for i, a in enumerate(people) for k in (1, 2)]
    pd.DataFrame(sorted(set(links)), columns=["source", "target"]).to_csv("l.csv", index=False)
    kinds = ["x", "y", "", *"xyzxyz"]
    pd.DataFrame({"node": people, "kind": kinds}).to_csv("n.csv", index=False)
    args = ("train", "--links", "l.csv", *COMMON, "--bipartite", "--model", "maxent")
    said = refused(capfd, *args)
    assert said.startswith("n.csv: row 3, column 'kind': node 'p2' has no kind; fill it in, or use")


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_a_node_twice_without_a_value_has_one_group(here, capfd):
    scores, people = here
    twice = pd.concat([people, pd.DataFrame({"node": ["zz", "zz"], "kind": [np.nan, np.nan]})])
    twice.to_parquet("n.parquet")
    write(scores[scores.label == 1], Path("l.csv"))
    args = ("train", "--links", "l.csv", "--nodes", "n.parquet", "--sensitive", "kind")
    assert exit_code(*args, "--unknown", "group", "--model", "maxent") == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ("audit", "-", "--nodes", "-", "--sensitive", "kind"),
            "--nodes and the scores cannot both be read from stdin",
        ),
        (("audit", "s.csv", *COMMON, "--top", "9" * 20), "--top must be at least 1 place"),
        (("project", "s.csv", *COMMON, "--out", "to.csv"), "to.csv: is a symbolic link to nothing"),
        (("train", "polbooks", "--seed", "9" * 20), "--seed must be at least 0 and below 2^32"),
        (
            ("project", "s.csv", *COMMON, "--out", "f.csv", "--target", "0.3,0.4,0.5"),
            "--target must be one number, or for equalized-odds a pair, label 0 first, got 3",
        ),
    ],
)
def test_odd_options(here, capfd, args, said):
    os.symlink("nowhere", "to.csv")
    assert said in refused(capfd, *args)


@pytest.mark.parametrize("told", ["xlsx", "CSV"])
def test_an_unknown_format_of_stdin(here, capfd, told):
    said = refused(capfd, "audit", "-", *COMMON, "--format", told)
    assert said.startswith(f"unknown format {told!r};")
    assert said.endswith("known: csv, parquet, tsv")


def run_with(redirection, *args):
    command = [sys.executable, "-m", "linkparity", *args]
    quoted = " ".join(map(str, command)) + redirection
    env = os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[2])}
    bash = ["bash", "-c", quoted]
    return subprocess.run(bash, env=env, capture_output=True, text=True, check=False)


def test_closed_streams(here):
    done = run_with(" >&-", "audit", "s.csv", *COMMON)
    assert done.returncode == 0, done.stderr
    for args in (("audit", "s.csv", *COMMON), ("project", "s.csv", *COMMON, "--out", "-")):
        done = run_with(" | true; exit ${PIPESTATUS[0]}", *args)
        assert done.returncode == 2  # 1 is a gate that failed
        assert done.stderr.splitlines()[-1] == "Error: stdout was closed before all was written"
    done = run_with(" <&-", "audit", "-", *COMMON)
    assert done.returncode == 2
    assert done.stderr == "Error: stdin: is closed; give a file, or a table by a pipe\n"


@pytest.fixture
def films(here):
    """Films with scores for people, in that order; people have groups, films have none."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"node": [f"{i:04d}" for i in range(30)], "kind": list("xyz") * 10})
    pairs = [(f"m{j}", user) for user in people.node for j in range(8)]
    scores = pd.DataFrame(pairs, columns=["film", "user"]).assign(score=rng.random(240))
    write(people, Path("n.csv"))
    write(scores, Path("films.csv"))
    return scores, people


def test_groups_may_stand_on_the_side_of_targets(films, capfd):
    scores, people = films
    kinds = people.set_index("node").kind[scores.user].to_numpy()
    means = scores.groupby(kinds).score.mean()
    told = found(capfd, "audit", "films.csv", *COMMON, "--bipartite")
    turned = ("--source", "user", "--target-column", "film")
    other = found(capfd, "audit", "films.csv", *COMMON, "--bipartite", *turned)
    write(scores.assign(target_kind=kinds), Path("own.csv"))
    own = found(capfd, "audit", "own.csv", "--sensitive", "kind", "--bipartite")
    assert told["dp"] == other["dp"] == own["dp"] == pytest.approx(means.max() - means.min())
    assert told["exposure"] == other["exposure"] == own["exposure"]
    assert "Sources have no group, so a cell is a group of targets." in told["notes"]
    assert exit_code("project", "films.csv", *COMMON, "--bipartite", "--out", "f.csv") == 0
    fair = pd.read_csv("f.csv", dtype={"user": str})
    assert fair[["film", "user"]].equals(scores[["film", "user"]])
    after = fair.groupby(kinds).fair_score.mean()
    assert after.max() - after.min() < 1e-9


def test_a_listed_side_without_values_has_no_groups(films, capfd):
    _, people = films
    plain = found(capfd, "audit", "films.csv", *COMMON, "--bipartite")
    listed = pd.DataFrame({"node": [f"m{j}" for j in range(8)], "kind": ""})
    write(pd.concat([people, listed]), Path("n.csv"))
    told = found(capfd, "audit", "films.csv", *COMMON, "--bipartite")
    assert len(told["cells"]) == len(plain["cells"])
    for cell, known in zip(told["cells"], plain["cells"], strict=True):  # sums in any order
        assert (cell["groups"], cell["pairs"]) == (known["groups"], known["pairs"])
        assert cell["mean"] == pytest.approx(known["mean"], rel=1e-12)
        assert cell["interval"] == pytest.approx(known["interval"], rel=1e-9)
    assert told["exposure"] == plain["exposure"]


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning", "ignore::linkparity.GraphWarning")
def test_training_takes_groups_on_the_side_of_targets(films, capfd):
    scores, _ = films
    write(scores.sample(120, random_state=0)[["film", "user"]], Path("l.csv"))
    args = ("train", "--links", "l.csv", *COMMON, "--bipartite", "--model", "maxent")
    cells = found(capfd, *args)["cells"]
    assert [cell["groups"] for cell in cells] == [["x"], ["y"], ["z"]]


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_tilts_apply_to_a_table_of_one_group(films, capfd):
    scores, people = films
    args = (*COMMON, "--bipartite", "--explain")
    assert exit_code("project", "films.csv", *args, "--out", "f.csv", "--save-tilts", "t.json") == 0
    write(scores[scores.user == "0000"], Path("one.csv"))
    assert exit_code("project", "one.csv", *args, "--apply", "t.json", "--out", "g.csv") == 0
    every, one = (pd.read_csv(name, dtype={"user": str}) for name in ("f.csv", "g.csv"))
    assert one.equals(every[every.user == "0000"].reset_index(drop=True))
    fair = lp.project(scores[:8], "kind", people, bipartite=True, apply="t.json")
    assert np.allclose(fair.fair_score, every.fair_score[:8])


def test_a_gate_at_twice_the_tolerance_passes(here, capfd):
    for tolerance in (0.02, 0.05, 0.001):
        args = ("--tolerance", str(tolerance), "--out", "f.csv", "--force")
        assert exit_code("project", "s.csv", *COMMON, *args) == 0
        gate = ("--score", "fair_score", "--fail-if", f"dp>{2 * tolerance}")
        assert exit_code("audit", "f.csv", *COMMON, *gate) == 0
    capfd.readouterr()


def test_a_gate_shows_the_digits_that_fail_it(here):
    scores, people = here
    audit = lp.audit(scores, "kind", people)
    limit = float(f"{audit.dp:.6g}") if float(f"{audit.dp:.6g}") < audit.dp else audit.dp - 1e-9
    (gate,) = read_gates([f"dp>{limit!r}"])
    assert f"dp is {limit!r}," not in gate.judge(audit)
    assert repr(audit.dp)[:9] in gate.judge(audit)


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning")
def test_a_table_without_a_header_is_refused(here, capfd):
    scores, _ = here
    links = scores[scores.label == 1]
    write(links, Path("l.csv"))
    links[["source", "target"]].to_csv("bare.csv", header=False, index=False)
    train = ("train", *COMMON, "--model", "maxent", "--links")
    said = refused(capfd, *train, "bare.csv")
    assert said.startswith("bare.csv: the first line, ")
    assert said.endswith(
        "is a pair of nodes, not the column names; "
        "add a line of column names, such as source,target"
    )
    assert exit_code(*train, "l.csv", "--out", "run") == 0
    capfd.readouterr()
    assert "bare.csv: the first line" in refused(
        capfd, "predict", "run", "--pairs", "bare.csv", "--out", "o.csv"
    )
    Path("half.csv").write_text("source,target\n007,7\n9999,\n")
    args = ("predict", "run", "--pairs", "half.csv", "--unknown", "drop", "--out", "o.csv")
    assert "row 2, column 'target': the id is missing" in refused(capfd, *args)


def test_the_column_of_ids_is_named_where_it_was_guessed(here, capfd):
    scores, people = here
    write(scores[scores.label == 1], Path("l.csv"))
    named = people.rename(columns={"node": "id"})
    write(named.assign(name=[f"z{i}" for i in range(30)])[["name", "id", "kind"]], Path("m.csv"))
    write(named[["kind", "id"]], Path("rev.csv"))
    write(named[["kind"]], Path("none.csv"))
    for verb in (("audit", "s.csv"), ("train", "--model", "maxent", "--links", "l.csv")):
        nodes = ("--sensitive", "kind", "--nodes")
        said = refused(capfd, *verb, *nodes, "m.csv")
        assert "is not in m.csv, column 'name'" in said
        assert "or name another column of ids with --node, or use --unknown group" in said
        assert exit_code(*verb, *nodes, "rev.csv") == 0
        capfd.readouterr()
        assert "none.csv: has no column of ids" in refused(capfd, *verb, *nodes, "none.csv")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("train", "--links", "-", "--nodes", "-", "--sensitive", "kind"), "only one of --links"),
        (
            ("train", "polbooks", "--criterion", "dpp"),
            "known: accuracy, dp, eo, equalized-odds, no",
        ),
        (("train", "polbooks", "--target", "free"), "--target goes with --criterion"),
        (("train", "polbooks", "--tolerance", "0.1"), "--tolerance goes with --criterion"),
        (
            ("audit", "s.csv", *COMMON, "--criterion", "dpp"),
            "known: accuracy, dp, eo, equalized-od",
        ),
    ],
)
def test_advice_holds_where_it_is_given(here, capfd, args, said):
    told = refused(capfd, *args)
    assert said in told
    assert "churn" not in told


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_audit_does_not_advise_options_of_project(here):
    scores, people = here
    alone = people.assign(kind=people.kind.where(people.node != "007", "violet"))
    ends = (scores.source == "007") | (scores.target == "007")
    told = lp.audit(scores.assign(score=scores.score.where(~ends, 0.0)), "kind", alone)
    assert "out of reach" in told.reasons["kl"]
    assert "--" not in told.reasons["kl"]


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_a_cut_table_says_so(here, capfd):
    scores, people, _ = make_scores(40)
    write(scores, Path("s.csv"))
    write(people.assign(kind=[f"g{i:02d}" for i in range(40)]), Path("n.csv"))
    assert exit_code("audit", "s.csv", *COMMON) == 0
    out = capfd.readouterr().out
    assert "10 more groups are in the JSON output." in out
    assert "more rows are in the attribute cells and in the JSON output" in out
