"""The synthetic job board: drawn by its script, true to its plan, written whole."""

import csv
import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from table_cases import exit_code

import linkparity as lp
from linkparity.datasets import examples
from linkparity.datasets.cache import packaged
from linkparity.support.registry import UnknownName

ROOT = Path(__file__).parents[2]
OUT = ("datasets", "jobs", "--out", "board")


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import job_board
    finally:
        sys.path.pop(0)
    return job_board


@pytest.fixture(scope="module")
def board():
    """One row per score with the seeker's gender and age and the vacancy's sector."""
    scores, nodes = (table.to_pandas() for table in lp.example("jobs"))
    seekers = nodes[nodes.gender.notna()].drop(columns="sector")
    vacancies = nodes[nodes.sector.notna()][["node", "sector"]]
    both = scores.merge(seekers, left_on="source", right_on="node")
    return both.merge(vacancies, left_on="target", right_on="node")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_script_draws_the_packaged_files_byte_for_byte(script):
    tables = examples.EXAMPLES["jobs"]
    for rows, name in zip(script.draw(), tables, strict=True):
        assert script.as_csv(rows) == gzip.decompress(packaged(name))
    assert sum(len(packaged(name)) for name in tables) < 300_000


def test_links_do_not_depend_on_groups_and_scores_do_as_planted(script, board):
    assert len(board) == 300 * script.CANDIDATES == 18_000
    assert not board.duplicated(["source", "target"]).any()
    assert board.groupby("source").gender.first().value_counts().to_dict() == {
        name: count for name, (count, _) in script.GENDERS.items()
    }
    assert board.groupby("target").sector.first().value_counts().to_dict() == script.SECTORS
    for column, plan in (("gender", script.GENDERS), ("age", script.AGES)):
        groups = board.groupby(column)
        links = groups.label.mean()
        assert links.max() - links.min() < 0.01
        added = pd.Series({name: logit for name, (_, logit) in plan.items()})
        means = groups.score.mean()[added.index]
        assert means.rank().equals(added.rank())
        assert means.max() - means.min() > 0.05
    logit = np.log(board.score / (1 - board.score))
    mean = logit.groupby([board.gender, board.sector]).mean().unstack()
    for (gender, sector), added in script.STEREOTYPES.items():
        others = [s for s in script.SECTORS if (gender, s) not in script.STEREOTYPES]
        assert mean[sector][gender] - mean.loc[gender, others].mean() == pytest.approx(
            added, abs=0.15
        )
    assert abs(mean.loc["non-binary"] - mean.loc["non-binary"].mean()).max() < 0.2


def test_the_audit_shows_what_was_planted_and_the_projection_closes_it(board):
    scores, nodes = lp.example("jobs")
    fair = lp.project(scores, "gender", nodes, bipartite=True)
    before, after = (
        lp.audit(table, "gender", nodes, bipartite=True, score=name, confidence=confidence)
        for table, name, confidence in ((scores, "score", 0.95), (fair, "fair_score", None))
    )
    means = board.groupby("gender").score.mean()
    assert {cell.groups[0]: cell.mean for cell in before.cells} == pytest.approx(means.to_dict())
    assert before.intervals["dp"][0] > 0.05
    assert after.dp < 1e-6
    assert after.eo < 0.25 * before.eo


def test_the_graph_has_the_links_of_the_table(board):
    graph = lp.load("jobs")
    named = {(graph.names[a], graph.names[b]) for a, b in graph.links.tolist()}
    linked = board[board.label == 1]
    assert named == set(zip(linked.source, linked.target, strict=True))
    group = dict(zip(graph.names, graph.group.tolist(), strict=True))
    for node, gender in zip(board.source, board.gender, strict=True):
        assert graph.group_names[group[node]] == gender
    assert all(group[node] == -1 for node in board.target)
    assert graph.side.tolist() == [0] * 300 + [1] * 80


def test_an_unknown_example_suggests_the_nearest(here, capfd):
    with pytest.raises(UnknownName, match="unknown example 'job'; did you mean 'jobs'"):
        lp.example("job")
    assert exit_code("datasets", "polbooks", "--out", "board") == 2
    assert capfd.readouterr().err == "Error: unknown example 'polbooks'; known: jobs\n"
    assert exit_code("datasets", "--out", "board") == 2
    assert "--out goes with the NAME of an example" in capfd.readouterr().err
    assert not os.listdir(here)


def test_files_are_written_whole_and_replaced_only_by_force(here, capfd):
    assert exit_code(*OUT, "--json") == 0
    out, err = capfd.readouterr()
    written = [str(Path("board") / name) for name in ("scores.csv", "people.csv")]
    assert json.loads(out)["written"] == written
    assert err == f"wrote {' and '.join(written)}\n"
    assert sorted(os.listdir("board")) == ["people.csv", "scores.csv"]
    with open("board/scores.csv") as file:
        rows = list(csv.DictReader(file))
    assert rows[0].keys() == {"source", "target", "score", "label"}
    whole = Path("board/scores.csv").read_bytes()
    Path("board/people.csv").unlink()
    Path("board/scores.csv").write_text("mine")
    assert exit_code(*OUT) == 2
    assert "board/scores.csv: exists already" in capfd.readouterr().err
    assert os.listdir("board") == ["scores.csv"]
    assert Path("board/scores.csv").read_text() == "mine"
    assert exit_code(*OUT, "--force") == 0
    assert Path("board/scores.csv").read_bytes() == whole
    assert exit_code("datasets", "jobs", "--out", "board/scores.csv") == 2
    assert "board/scores.csv: is not a directory" in capfd.readouterr().err
    assert exit_code("datasets", "jobs", "--out", "none/board") == 2
    assert "none/board: its directory does not exist" in capfd.readouterr().err


def test_a_folder_made_for_files_that_fail_is_removed(here, monkeypatch):
    def fail(name):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(examples, "packaged", fail)
    assert exit_code(*OUT) == 2
    assert not os.listdir(here)
