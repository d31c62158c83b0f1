"""Values and ids that are easily taken for something else: −1, true, blanks, both sides."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from table_cases import exit_code, make_scores, read, write

import linkparity as lp

GROUPS = {"red": -1, "green": 9, "blue": 10}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capfd, *args, code=0):
    assert exit_code(*args) == code, capfd.readouterr().err
    return capfd.readouterr()


@pytest.mark.parametrize("shape", ["csv", "parquet"])
def test_minus_one_is_a_group_like_any_other(here, capfd, shape):
    scores, people, _ = make_scores()
    coded = people.assign(kind=people.kind.map(GROUPS))
    file, nodes = write(scores, here / f"s.{shape}"), write(coded, here / f"n.{shape}")
    found = said(capfd, "audit", file, "--nodes", nodes, "--sensitive", "kind", "--json")
    plain = lp.audit(scores, "kind", people)
    assert list(json.loads(found.out)["groups"]) == ["-1", "9", "10"]
    assert json.loads(found.out)["dp"] == pytest.approx(plain.dp, abs=1e-12)
    links = write(scores[scores.label == 1], here / f"l.{shape}")
    args = ("--links", links, "--nodes", nodes, "--sensitive", "kind", "--model", "maxent")
    trained = json.loads(said(capfd, "train", *args, "--json").out)
    named = {group for cell in trained["cells"] for group in cell["groups"]}
    assert named == {"-1", "9", "10"}


@pytest.mark.filterwarnings("always")
def test_training_warns_of_a_group_of_one(here, capfd):
    scores, people, _ = make_scores()
    people.loc[4, "kind"] = "violet"
    links, nodes = write(scores[scores.label == 1], here / "l.csv"), write(people, here / "n.csv")
    args = ("--links", links, "--nodes", nodes, "--sensitive", "kind", "--model", "maxent")
    err = said(capfd, "train", *args).err
    assert f"Warning: {nodes}: group 'violet' has a single node" in err


@pytest.mark.parametrize("option", ["--nodes=n.csv", "--bipartite", "--unknown=drop", "--node=a"])
def test_options_for_files_need_files(here, capfd, option):
    err = said(capfd, "train", "polbooks", option, code=2).err
    assert err == f"Error: {option.split('=')[0]} goes with --links; leave it out\n"
    args = ("--links", "l.csv", "--nodes", "n.csv", "--sensitive", "kind", "--data", ".")
    assert "--data goes with the NAME of a data set" in said(capfd, "train", *args, code=2).err


@pytest.mark.parametrize("shape", ["csv", "parquet"])
def test_labels_may_be_true_and_false(here, capfd, shape):
    scores, people, _ = make_scores()
    truth = scores.assign(label=scores.label == 1)
    file, nodes = write(truth, here / f"s.{shape}"), write(people, here / "n.csv")
    common = ("--nodes", nodes, "--sensitive", "kind")
    for out in ("f.csv", "f.parquet"):
        said(capfd, "project", file, *common, "--out", out, "--criterion", "eo")
        args = ("audit", out, *common, "--score", "fair_score", "--json")
        found = json.loads(said(capfd, *args).out)
        assert found["eo"] < 1e-9
        assert found["links"] == scores.label.sum()
    kinds = read(Path("f.parquet")).dtypes
    assert kinds["score"] == np.float64
    assert kinds["label"] in (np.int8, np.bool_)


@pytest.mark.filterwarnings("always")
def test_a_column_that_looks_like_labels_is_told(here, capfd):
    scores, people, _ = make_scores()
    file = write(scores.rename(columns={"label": "lable"}), here / "s.csv")
    nodes = write(people, here / "n.csv")
    err = said(capfd, "audit", file, "--nodes", nodes, "--sensitive", "kind").err
    assert "s.csv: no column 'label'; if 'lable' holds the labels, use --label lable\n" in err


def test_blank_lines_are_no_rows(here, capfd):
    Path("n.csv").write_text("node,kind\na,x\nb,y\nc,z\n")
    for row, problem in (("b,c,7", "'score': holds '7'"), ("b,c", "has 2 columns where")):
        Path("s.csv").write_text(f'source,target,score\n"a\nq",b,0.5\n\n\n{row}\n')
        args = ("audit", "s.csv", "--nodes", "n.csv", "--sensitive", "kind")
        err = said(capfd, *args, code=2).err
        assert "s.csv: row 2" in err
        assert problem in err


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning")
def test_an_id_of_blanks_is_an_id_everywhere(here, capfd):
    scores, people, _ = make_scores()
    blank = {"007": " ", "7": "\u00a0"}
    scores = scores.replace({"source": blank, "target": blank})
    file, links = write(scores, here / "s.csv"), write(scores[scores.label == 1], here / "l.csv")
    nodes = write(people.replace({"node": blank}), here / "n.csv")
    common = ("--nodes", nodes, "--sensitive", "kind")
    said(capfd, "audit", file, *common)
    said(capfd, "train", "--links", links, *common, "--model", "maxent", "--out", "run")
    said(capfd, "predict", "run", "--top", "2", "--for", " ", "--out", "t.csv")
    assert read(Path("t.csv")).source.tolist() == [" ", " "]


@pytest.fixture
def two_kinds(here):
    """People and jobs, each with a kind; every person scored with every job."""
    rng = np.random.default_rng(0)
    names = [f"p{i}" for i in range(9)], [f"job {i}" for i in range(6)]
    people = pd.DataFrame(
        {"node": [*names[0], *names[1]], "kind": ["xyz"[i % 3] for i in range(15)]}
    )
    pairs = [(a, b) for a in names[0] for b in names[1]]
    scores = pd.DataFrame(pairs, columns=["source", "target"])
    return scores.assign(score=rng.random(len(pairs)), label=rng.integers(0, 2, len(pairs))), people


def test_a_row_that_hides_the_groups_of_targets_is_told(two_kinds):
    scores, people = two_kinds
    found = lp.audit(scores, "kind", people, bipartite=True)
    assert len(found.cells) == 9 - 3
    stray = pd.DataFrame([("p1", "p2", 0.5, 0)], columns=scores.columns)
    match = r"1 id is both a source and a target \('p2'\), so nodes .* of 6 targets in it"
    with pytest.warns(lp.GraphWarning, match=match):
        found = lp.audit(pd.concat([scores, stray]), "kind", people, bipartite=True)
    assert len(found.cells) == 3
    assert "Targets have no group, so a cell is a group of sources." in found.notes


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning", "ignore::linkparity.GraphWarning")
def test_the_best_of_a_bipartite_run_are_targets_of_sources(two_kinds, capfd):
    scores, people = two_kinds
    links = write(scores[scores.label == 1], Path("l.csv"))
    nodes = write(people, Path("n.csv"))
    common = ("--nodes", nodes, "--sensitive", "kind", "--bipartite")
    said(capfd, "train", "--links", links, *common, "--model", "maxent", "--out", "run")
    said(capfd, "predict", "run", "--top", "2", "--out", "t.csv")
    best = read(Path("t.csv"))
    assert set(best.source) <= set(scores.source)
    assert set(best.target) <= set(scores.target)
    said(capfd, "audit", "t.csv", *common)
    args = ("predict", "run", "--top", "2", "--for", "job 1,p3,job 1", "--out", "u.csv")
    said(capfd, *args)
    best = read(Path("u.csv"))
    assert (best.target[:-2] == "job 1").all() or (best.target[:2] == "job 1").all()
    assert best.source.str.startswith("p").all()
    assert not best.duplicated(["source", "target"]).any()


WHILE_LOADING = """
import os, signal, sys, time

class Stop:
    def find_spec(self, name, *rest):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)

sys.meta_path.insert(0, Stop())
from linkparity.cli.command import main
main(sys.argv[2:])
"""


@pytest.mark.parametrize(
    "command", ["numpy audit s.csv --sensitive kind", "torch train polbooks", "torch demo"]
)
def test_an_interruption_while_a_library_loads_is_one_line(here, command):
    command = [sys.executable, "-c", WHILE_LOADING, *command.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == "Error: interrupted; nothing was written\n"
    assert done.returncode == 2
    assert os.listdir(here) == []
