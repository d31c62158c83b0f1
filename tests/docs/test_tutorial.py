"""The tutorial's commands, run as printed; train and predict from own files."""

import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from table_cases import exit_code, read

import linkparity as lp

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
DATA = ROOT / "docs" / "tutorial"
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [line[2:] for block in BLOCKS for line in block.splitlines()]
WRITING = ("--out", "--html", "--save-test", "--save-tilts")
TRAIN = ("--links", "links.csv", "--nodes", "people.csv", "--node", "person")
TRAIN += ("--sensitive", "gender")


@pytest.fixture
def here(tmp_path, monkeypatch):
    for file in DATA.glob("*.csv"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_file_that_is_read_is_there_or_was_written_before():
    there = {path.name for path in DATA.iterdir()}
    for command in COMMANDS:
        words = shlex.split(command.partition("  #")[0])
        written = {words[i + 1] for i, word in enumerate(words) if word in WRITING}
        named = {word for word in words if re.fullmatch(r"[\w-]+\.\w+", word)}
        assert not written & there, f"{command}: replaces a file"
        assert named <= there | written, command
        there |= written


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning")
def test_every_command_of_the_tutorial_runs(here, capfd):
    assert len(COMMANDS) == 14
    assert all(command.startswith("linkparity ") for command in COMMANDS)
    for command in COMMANDS:
        text, _, expected = command.partition("  # exit ")
        code = exit_code(*shlex.split(text)[1:])
        out, err = capfd.readouterr()
        assert code == int(expected or 0), f"{text}\n{out}\n{err}"
    fair = read(here / "fair.csv")
    assert fair.source.str.len().eq(5).all()
    assert list(fair.columns) == ["source", "target", "score", "fair_score", "tilt"]
    later = pd.read_parquet(here / "later.parquet")
    assert np.abs(later.fair_score - fair.fair_score).max() < 1e-12


def test_documented_lines_are_those_of_the_files():
    for line in ("01000,men", "01007,men"):
        assert line in PAGE
        assert line in (DATA / "people.csv").read_text()
    for line in ("01000,01007", "01000,01014"):
        assert line in PAGE
        assert line in (DATA / "links.csv").read_text()


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning")
def test_train_from_files_equals_the_same_graph_in_memory(here, capfd):
    args = ("--model", "maxent", "--criterion", "dp", "--seed", "3", "--out", "run", "--json")
    assert exit_code("train", *TRAIN, *args) == 0
    found = json.loads(capfd.readouterr().out)
    links = pd.read_csv("links.csv", dtype=str)
    graph = lp.Graph.from_frames(links, pd.read_csv("people.csv", dtype=str), "gender")
    split = lp.split_links(graph, seed=3)
    model = lp.LinkPredictor("maxent", "dp", seed=3).fit(split.train)
    known = lp.evaluate(model, split, over="candidates")
    assert set(found) >= {
        "dataset", "model", "criterion", "gamma", "seed", "auc", "dp", "eo", "rdp", "rb", "kl",
        "fit_seconds", "intervals",
    }  # fmt: skip
    assert found["dataset"] is None
    assert found["rb"] is None
    assert found["criterion"] == "dp"
    for name in ("auc", "dp", "eo", "rdp", "kl"):
        assert found[name] == pytest.approx(known.values[name], abs=1e-12)
    assert exit_code("predict", "run", "--pairs", "candidates.csv", "--out", "s.csv.gz") == 0
    rows = pd.read_csv("s.csv.gz", dtype={"source": str, "target": str})
    number = {name: i for i, name in enumerate(graph.names)}
    index = np.array(
        [[number[a], number[b]] for a, b in zip(rows.source, rows.target, strict=True)]
    )
    assert np.abs(rows.score - model.predict_proba(index)).max() < 1e-12
    assert exit_code("predict", "run", "--top", "3", "--for", "01007,01000", "--out", "t.tsv") == 0
    best = pd.read_csv("t.tsv", sep="\t", dtype={"source": str, "target": str})
    ranked = model.top(3, [number["01007"], number["01000"]])
    assert best.source.tolist() == [graph.names[i] for i in ranked.node]
    assert best.target.tolist() == [graph.names[i] for i in ranked.partner]


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning")
def test_train_by_name_plain(capfd):
    assert exit_code("train", "polbooks", "--model", "maxent", "--json") == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["dataset"], found["criterion"], found["gamma"]) == ("polbooks", "none", 0)


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning", "ignore::linkparity.SplitWarning")
def test_bipartite_files(here, capfd):
    rng = np.random.default_rng(0)
    people = pd.read_csv("people.csv", dtype=str)
    pairs = {(p, f"job {j}") for p in people.person for j in rng.choice(12, 3, replace=False)}
    pd.DataFrame(sorted(pairs), columns=["follower", "followed"]).to_csv("links.csv", index=False)
    args = ("--model", "maxent", "--bipartite", "--out", "run", "--json")
    assert exit_code("train", *TRAIN, *args) == 0
    assert len(json.loads(capfd.readouterr().out)["cells"]) == 3
    assert exit_code("train", *TRAIN, "--model", "maxent") == 2
    assert "is not in people.csv" in capfd.readouterr().err


BAD = {
    "missing": (("links.csv", None), "links.csv: no such file"),
    "no links": (("links.csv", "a,b\n"), "links.csv: has column names but no links"),
    "loop": (
        ("links.csv", "a,b\n01000,01000\n"),
        "links.csv: row 1, column 'b': node '01000' is paired with itself; leave such rows out",
    ),
    "twice": (
        ("links.csv", "a,b\n01000,01007\n01007,01000\n"),
        "links.csv: row 2, column 'a': the pair ('01007', '01000') repeats row 1; keep the",
    ),
    "stranger": (
        ("links.csv", "a,b\n01000,x\n"),
        "links.csv: row 1, column 'b': node 'x' is not in people.csv; use --bipartite if "
        "targets have no groups; write ids alike, or use --unknown group (a group of their own) "
        "or --unknown drop (leave them out)",
    ),
    "mistyped": (
        ("links.csv", "a,b\n01000,01007\n01007,01014\n01000,01014x\n"),
        "links.csv: row 3, column 'b': node '01014x' is not in people.csv; did you mean '01014'? "
        "write ids alike, or use --unknown group (a group of their own) or --unknown drop (",
    ),
    "no value": (
        ("people.csv", (DATA / "people.csv").read_text().replace("01007,men", "01007,")),
        "people.csv: row 2, column 'gender': node '01007' has no gender; fill it in, or use --unk",
    ),
    "no nodes": (("people.csv", "person,gender\n"), "people.csv: has column names but no nodes"),
    "no id": (("links.csv", "a,b\n01000,\n"), "links.csv: row 1, column 'b': the id is missing"),
    "ragged": (("links.csv", "a,b\n01000\n"), "links.csv: row 1: has 1 column where the header"),
    "column": (("people.csv", "person,gander\n01000,x\n"), "no column 'gender'; did you mean"),
    "two groups": (
        ("people.csv", "person,gender\n01000,x\n01007,y\n01000,y\n"),
        "people.csv: row 1, column 'person': node '01000' is listed twice with two groups, 'x' and",
    ),
    "one group": (
        ("people.csv", (DATA / "people.csv").read_text().replace("women", "x").replace("men", "x")
         .replace("non-binary", "x")),
        "people.csv: only one group has nodes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files_for_train_are_one_line(here, capfd, name):
    (file, content), said = BAD[name]
    Path(file).unlink()
    if content is not None:
        Path(file).write_text(content)
    assert exit_code("train", *TRAIN, "--model", "maxent", "--out", "run") == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert said in err
    assert not Path("run").exists()


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning")
def test_bad_runs_and_pairs_for_predict(here, capfd):
    assert exit_code("train", *TRAIN, "--model", "maxent", "--out", "run") == 0
    Path("other").mkdir()
    Path("strange.csv").write_text("source,target\n01000,nobody\n")
    Path("scored.csv").write_text("source,target,score\n01000,01007,0.5\n")
    capfd.readouterr()
    for args, said in (
        (("none", "--pairs", "candidates.csv"), "none: holds no model.json"),
        (("other", "--pairs", "candidates.csv"), "other: holds no model.json"),
        (("run", "--pairs", "strange.csv"), "strange.csv: row 1, column 'target': node 'nobody'"),
        (("run", "--pairs", "scored.csv"), "scored.csv: has a column 'score' already"),
        (("run", "--top", "3", "--for", "0100"), "node '0100' was not trained on; did you mean"),
        (("run",), "give either --pairs, or --top"),
    ):
        assert exit_code("predict", *args, "--out", "x.csv") == 2
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert said in err
        assert not Path("x.csv").exists()
    assert exit_code("train", *TRAIN, "--model", "maxent", "--out", "run") == 2
    assert "run: exists already" in capfd.readouterr().err
    for args, said in (((), "give either the NAME"), (("--links", "links.csv"), "needs --nodes")):
        assert exit_code("train", *args) == 2
        assert said in capfd.readouterr().err
