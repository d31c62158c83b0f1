"""train: nothing held out, fitting again, the table of test pairs, nodes of unknown group."""

import inspect
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from table_cases import exit_code

import linkparity as lp
from linkparity.criteria import CRITERIA, Cells
from linkparity.criteria.constrained_group_pairs import graph_criterion, group_pair_sizes
from linkparity.datasets.synthetic import block_model
from linkparity.experiments import pairs_table
from linkparity.experiments.pairs_table import sample_rows
from linkparity.experiments.train import PairsOutput, train_run
from linkparity.metrics import candidates
from linkparity.metrics.evaluation import scored_sets

pytestmark = pytest.mark.filterwarnings(
    "ignore::linkparity.SplitWarning", "ignore::linkparity.GraphWarning"
)
MEASURES = ("auc", "dp", "eo", "rdp", "kl")
NAMES = ("red", "green", "blue")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A graph of three groups in l.csv and n.csv; a fifth of the nodes has the color 0."""
    monkeypatch.chdir(tmp_path)
    graph = block_model((30, 25, 20), degree=8, seed=3)
    ids = [f"n{i:02d}" for i in range(graph.num_nodes)]
    links = [(ids[a], ids[b]) for a, b in graph.links.tolist()]
    pd.DataFrame(links, columns=["source", "target"]).to_csv("l.csv", index=False)
    color = ["0" if i % 5 == 0 else NAMES[g] for i, g in enumerate(graph.group.tolist())]
    full = [NAMES[g] for g in graph.group.tolist()]
    pd.DataFrame({"node": ids, "color": color, "full": full}).to_csv("n.csv", index=False)
    return tmp_path


FILES = ("--links", "l.csv", "--nodes", "n.csv")
FULL = (*FILES, "--sensitive", "full")
COLOR = (*FILES, "--sensitive", "color", "--missing", "0")


def run_json(capfd, *args):
    assert exit_code("train", *args, "--json") == 0, capfd.readouterr().err
    return json.loads(capfd.readouterr().out)


def whole_graph():
    return lp.Graph.from_frames(pd.read_csv("l.csv"), pd.read_csv("n.csv"), "full")


def every_pair(graph):
    return np.stack(np.triu_indices(graph.num_nodes, 1), axis=1)


def test_nothing_held_out_is_a_fit_on_every_link(here, capfd):
    found = run_json(capfd, *FULL, "--model", "cne", "--epochs", "5", "--test", "0", "--out", "r")
    graph = whole_graph()
    model = lp.LinkPredictor("cne", epochs=5).fit(graph)
    saved, index = lp.LinkPredictor.load("r"), every_pair(graph)
    assert saved.graph_.num_links == graph.num_links
    assert saved.held_out_ is None
    assert np.abs(saved.predict_logits(index) - model.predict_logits(index)).max() == 0
    assert found["test_pairs"] == "candidates"
    assert found["auc"] is None
    assert found["eo"] is None
    candidates = index[~graph.is_link(torch.from_numpy(index)).numpy()]
    prob, group = model.predict_proba(candidates), np.sort(graph.group.numpy()[candidates], axis=1)
    means = pd.Series(prob).groupby([group[:, 0], group[:, 1]]).mean()
    assert found["dp"] == pytest.approx(means.max() - means.min(), abs=1e-12)
    assert any("No link was held out" in note for note in found["notes"])


def test_a_refit_keeps_the_measures_and_saves_the_model_of_every_link(here, capfd):
    args = (*FULL, "--model", "cne", "--epochs", "5", "--criterion", "dp")
    plain = run_json(capfd, *args, "--out", "a")
    again = run_json(capfd, *args, "--refit", "--out", "b")
    assert {name: plain[name] for name in MEASURES} == {name: again[name] for name in MEASURES}
    assert ("refit" in plain, again["refit"]) == (False, True)
    graph, index = whole_graph(), every_pair(whole_graph())
    model = lp.LinkPredictor("cne", "dp", epochs=5).fit(graph)
    saved = lp.LinkPredictor.load("b")
    assert np.abs(saved.predict_logits(index) - model.predict_logits(index)).max() == 0
    held_out = lp.LinkPredictor.load("a").held_out_
    assert len(held_out) == plain["links"] > 0
    assert saved.held_out_ is None
    assert exit_code("train", *args, "--refit", "--test", "0") == 2
    assert "--refit goes with held-out links" in capfd.readouterr().err
    assert exit_code("train", *args, "--test-pairs", "paper", "--test", "0") == 2
    assert "--test-pairs goes with held-out links" in capfd.readouterr().err


@pytest.mark.parametrize("paper", [("--test-pairs", "paper"), ("--pairs", "sampled")])
def test_a_measure_of_candidates_needs_candidates(here, capfd, paper):
    args = ("train", "polbooks", "--model", "maxent", "--measures", "auc,auc_candidates")
    assert exit_code(*args, *paper) == 2
    said = "--measures names auc_candidates, which needs candidates; use --test-pairs candidates"
    assert capfd.readouterr() == ("", f"Error: {said}\n")
    assert exit_code(*args, *paper, "--test-pairs", "candidates") == 0


def recomputed(table, graph):
    """The measures from the table alone, through arrays."""
    number = {name: i for i, name in enumerate(graph.names)}
    index = np.array([table.source.map(number), table.target.map(number)]).T
    return lp.score_pairs(
        prob=table.score, groups=graph.group.numpy()[index], labels=table.label,
        weight=table.weight, confidence=None,
    )  # fmt: skip


@pytest.mark.parametrize("shape", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["paper", "candidates"])
def test_measures_can_be_recomputed_from_the_saved_pairs(here, capfd, kind, shape):
    out = f"t.{shape}"
    args = ("--model", "maxent", "--test-pairs", kind, "--save-test", out)
    found = run_json(capfd, *FULL, *args)
    table = pd.read_csv(out) if shape == "csv" else pd.read_parquet(out)
    assert list(table.columns) == ["source", "target", "label", "weight", "score"]
    scores = recomputed(table, whole_graph())
    for name in MEASURES:
        wanted = found["auc_candidates" if (kind, name) == ("candidates", "auc") else name]
        assert scores.values[name] == pytest.approx(wanted, abs=1e-9), name
    assert exit_code("train", *FULL, "--model", "maxent", "--save-test", out) == 2
    assert f"{out}: exists already" in capfd.readouterr().err


def test_a_data_set_by_name_has_its_groups_in_the_table(here, capfd):
    args = ("--model", "maxent", "--save-test", "t.csv")
    found = run_json(capfd, "polbooks", *args)
    table = pd.read_csv("t.csv")
    group = np.sort(table[["source_leaning", "target_leaning"]].to_numpy(), axis=1)
    mass = (table.weight * table.score).groupby([group[:, 0], group[:, 1]]).sum()
    means = mass / table.weight.groupby([group[:, 0], group[:, 1]]).sum()
    assert found["dp"] == pytest.approx(means.max() - means.min(), abs=1e-9)


def test_a_sample_of_candidates_has_every_held_out_link(here, monkeypatch):
    monkeypatch.setattr(candidates, "MAX_PAIRS", 600)
    graph = whole_graph()
    run = train_run(
        graph, lp.LinkPredictor("maxent"), test_pairs="candidates",
        save_test=PairsOutput("t.csv"),
    )  # fmt: skip
    table = pd.read_csv("t.csv")
    assert len(table) < graph.num_pairs - graph.num_links
    assert table.label.sum() == run.scores.links
    train_links = graph.num_links - run.scores.links
    assert table.weight.sum() == pytest.approx(graph.num_pairs - train_links)
    scores = recomputed(table, graph)
    for name in ("dp", "eo", "kl"):
        assert scores.values[name] == pytest.approx(run.scores.values[name], abs=1e-9)


def test_more_pairs_than_the_table_holds_are_sampled_by_groups_and_label(here, monkeypatch):
    graph = whole_graph()
    split = lp.split_links(graph, test=0.5)
    model = lp.LinkPredictor("maxent").fit(split.train)
    scored = scored_sets(model, split)["test"]
    found = sample_rows(scored, 60)
    assert len(found) <= 60

    def weights(rows):
        return np.bincount(rows.kind, rows.weight, 20)

    assert weights(found) == pytest.approx(weights(scored.rows))
    assert sample_rows(scored, 10**6) is scored.rows
    monkeypatch.setattr(pairs_table, "MAX_ROWS", 60)
    train_run(graph, lp.LinkPredictor("maxent"), save_test=PairsOutput("t.csv"))
    assert len(pd.read_csv("t.csv")) <= 60


def test_unknown_nodes_may_stay_without_a_group(here, capfd):
    args = (*COLOR, "--epochs", "5", "--criterion", "dp", "--test-pairs", "paper")
    assert exit_code("train", *args) == 2
    assert "(15 of 75 nodes have no color); fill it in" in capfd.readouterr().err
    found = run_json(capfd, *args, "--unknown", "keep", "--out", "r", "--save-test", "t.csv")
    assert {name for cell in found["cells"] for name in cell["groups"]} == set(NAMES)
    assert {len(cell["groups"]) for cell in found["cells"]} == {2}
    saved = lp.LinkPredictor.load("r")
    assert saved.graph_.num_nodes == 75
    assert saved.graph_.unknown_kept
    table, nodes = pd.read_csv("t.csv"), pd.read_csv("n.csv", index_col="node").color
    assert len(table) == found["pairs"]
    color = np.sort(np.array([table.source.map(nodes), table.target.map(nodes)]), axis=0)
    known = (color != "0").all(axis=0)
    assert not known.all()
    ends = [part[known] for part in color]
    mass = (table.weight * table.score)[known].groupby(ends).sum()
    means = mass / table.weight[known].groupby(ends).sum()
    assert found["dp"] == pytest.approx(means.max() - means.min(), abs=1e-9)


def kept_graph(side=None):
    """Three groups, and every fifth node of unknown group."""
    graph = block_model((12, 10, 8), degree=5, seed=1)
    group = graph.group.clone()
    group[::5] = -1
    links = graph.links
    if side is not None:
        links = links[side[links[:, 0]] != side[links[:, 1]]]
        links = torch.where((side[links[:, 0]] == 1)[:, None], links.flip(1), links)
    return lp.Graph(30, links, group, NAMES, side, unknown_kept=True)


@pytest.mark.parametrize("name", ["dp", "eo", "weak-dp", "equalized-odds"])
@pytest.mark.parametrize("sides", ["none", "both have groups", "one has groups"])
def test_training_constrains_only_pairs_whose_groups_are_known(name, sides):
    side = None if sides == "none" else torch.arange(30) % 2
    graph = kept_graph(side)
    if sides == "one has groups":
        if name == "weak-dp":
            return
        graph = lp.Graph(
            30, graph.links, torch.where(side == 1, -1, graph.group), NAMES, side, unknown_kept=True
        )
    index = every_pair(graph)
    if side is not None:
        index = index[(side[index[:, 0]] != side[index[:, 1]]).numpy()]
    index = torch.from_numpy(index)
    label = graph.is_link(index).long()
    cells = Cells.prepare(graph.group[index], graph_criterion(CRITERIA[name], graph), label)
    lost = torch.zeros(30, dtype=torch.bool)
    lost[::5] = True
    lost &= torch.ones(30, dtype=torch.bool) if sides != "one has groups" else side == 0
    lost &= graph.group < 0
    plain = Cells.prepare(graph.group[index], CRITERIA[name], label).cell
    wanted = torch.where(lost[index].any(dim=1), -1, plain)
    assert torch.equal(cells.cell, wanted)
    assert torch.equal(
        graph.pair_groups(index),
        torch.where(lost[index].any(dim=1)[:, None], -1, graph.group[index]),
    )


def test_post_processing_leaves_pairs_of_unknown_group_alone():
    graph = kept_graph()
    plain = lp.LinkPredictor("maxent").fit(graph)
    tilted = lp.LinkPredictor("maxent", "dp", gamma=0, postprocess="i-projection").fit(graph)
    index = every_pair(graph)
    change = tilted.predict_logits(index) - plain.predict_logits(index)
    known = (graph.group.numpy()[index] >= 0).all(axis=1)
    assert np.abs(change[~known]).max() < 1e-9
    assert np.abs(change[known]).min() > 1e-6


@pytest.mark.parametrize("sides", [False, True])
def test_sizes_of_group_pairs_are_those_of_counting(sides):
    graph = kept_graph(torch.arange(30) % 2 if sides else None)
    wanted = np.zeros((2, 4, 4))
    for a, b in every_pair(graph).tolist():
        if sides and a % 2 == b % 2:
            continue
        g, h = int(graph.group[a]), int(graph.group[b])
        linked = bool(graph.is_link(torch.tensor([[a, b]])))
        for kind in (0, 1) if linked else (0,):
            wanted[kind, g, h] += 1
            wanted[kind, h, g] += g != h
    assert np.array_equal(group_pair_sizes(graph), wanted[0])
    assert np.array_equal(group_pair_sizes(graph, links=True), wanted[1])


def test_the_page_of_the_block_model_names_what_it_takes():
    page = (Path(__file__).parents[2] / "docs" / "block-model.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    scope = {}
    exec(code, scope)
    assert scope["graph"].truth.dp > 0
    assert all(f"`{name}`" in page for name in inspect.signature(block_model).parameters)


def test_options_of_training_reach_the_command_line(here, capfd):
    args = ("--negatives", "7", "--patience", "2", "--options", "s2=9", "--options", "s1=0.5")
    found = run_json(capfd, *FULL, "--epochs", "3", *args, "--measures", "auc,dp")
    assert found["settings"]["negatives"] == 7
    assert found["settings"]["patience"] == 2
    assert found["settings"]["options"] == {"s2": 9, "s1": 0.5}
    assert found["eo"] is None
    assert exit_code("train", *FULL, "--options", "s3=9") == 2
    assert "--options name 's3', which the model 'cne' does not take" in capfd.readouterr().err
    assert exit_code("train", *FULL, "--options", "s3") == 2
    assert "must be a name and a value" in capfd.readouterr().err
    assert not Path("run").exists()


def test_tune_takes_the_options_of_training(here, capfd):
    args = ("--max-gap", "dp=0.9", "--negatives", "7", "--pairs", "candidates", "--options", "s2=9")
    files = (*COLOR, "--unknown", "keep")
    assert exit_code("tune", *files, "--epochs", "3", *args, "--json") == 0
    found = json.loads(capfd.readouterr().out)
    assert found["settings"]["negatives"] == 7
    assert found["settings"]["pairs"] == "candidates"
    assert found["settings"]["options"] == {"s2": 9}
