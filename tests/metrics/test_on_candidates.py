"""Measures over all candidates: exact where all are scored, close where a sample is."""

import numpy as np
import pytest
import torch

import linkparity as lp
from linkparity.metrics.candidates import (
    SampledCandidates,
    _with_links,
    sample_candidates,
)
from linkparity.metrics.evaluation import scored_sets
from linkparity.pairs.candidates import candidates_of
from linkparity.support.arrays import expit
from linkparity.support.errors import InputError


@pytest.fixture
def graph():
    return lp.datasets.block_model(sizes=(40, 30, 20), degree=12, homophily=3, seed=0)


def logits_of(pairs):
    """Any function of the two nodes, the same in both directions."""
    a, b = np.asarray(pairs, dtype=np.float64).T
    return np.sin(a * b) + (a + b) / 50 - 2


def every_candidate(graph):
    """``(P, 2)`` all candidates."""
    columns = candidates_of(graph).columns
    return np.stack([columns.first, columns.second], axis=1)


def test_all_candidates_are_scored_once(graph):
    split = lp.split_links(graph, seed=0)
    sets = scored_sets(Model(), split, over="candidates")
    assert sets["means"] is sets["ranks"] is sets["links"]
    rows = sets["means"].rows
    assert len(rows) == split.train.num_pairs - split.train.num_links
    index = np.stack([rows.first, rows.second], axis=1)
    assert not split.train.is_link(torch.from_numpy(index).long()).any()
    assert rows.weight is None
    assert rows.score.tolist() == logits_of(index).tolist()


def test_a_sample_gives_the_means_of_all_within_its_standard_error(graph, monkeypatch):
    monkeypatch.setattr("linkparity.metrics.candidates.PILOT", 20)
    every = every_candidate(graph)
    group = np.sort(graph.group.numpy()[every], axis=1) @ [3, 1]
    exact = np.bincount(group, expit(logits_of(every))) / np.maximum(np.bincount(group), 1)
    off = []
    for seed in range(40):
        means, ranks = sample_candidates(logits_of, graph, seed, most=600)
        assert len(means.index) < means.count
        assert len(ranks.index) == 600
        assert means.weight.sum() == pytest.approx(means.count)
        assert ranks.count == means.count == len(every)
        assert ranks.weight.sum() == pytest.approx(len(every))
        mine = np.sort(graph.group.numpy()[means.index], axis=1) @ [3, 1]
        found = np.bincount(mine, expit(means.logits)) / np.maximum(np.bincount(mine), 1)
        off.append((found - exact) / means.standard_error)
    assert np.abs(np.mean(off, axis=0)).max() < 0.5
    assert 0.1 < np.std(off, axis=0)[np.unique(group)].max() < 1.5


class Model:
    """Any model: logits by formula, no embedding."""

    criterion = "eo"

    def predict_logits(self, pairs):
        return logits_of(pairs)


def test_measures_over_candidates_are_those_of_a_loop_over_all_pairs(graph):
    split = lp.split_links(graph, seed=0)
    held_out = {frozenset(p) for p in split.test.index[split.test.label == 1].tolist()}
    train = {frozenset(p) for p in split.train.links.tolist()}
    every = [
        (i, j) for i in range(graph.num_nodes) for j in range(i) if frozenset((i, j)) not in train
    ]
    logits = logits_of(every)
    is_link = np.array([frozenset(pair) in held_out for pair in every])
    ends = [tuple(sorted(graph.group[list(pair)].tolist())) for pair in every]
    means = [
        np.mean([x for x, end in zip(expit(logits), ends, strict=True) if end == key])
        for key in sorted(set(ends))
    ]
    found = lp.evaluate(Model(), split, over="candidates")
    assert found.dp == pytest.approx(max(means) - min(means), abs=1e-12)
    assert [cell.mean for cell in found.cells] == pytest.approx(means, abs=1e-12)
    assert sum(cell.links for cell in found.cells) == found.links == len(held_out)
    wins = [
        (x > logits[~is_link]).mean() + (x == logits[~is_link]).mean() / 2 for x in logits[is_link]
    ]
    assert found.auc_candidates == pytest.approx(np.mean(wins), abs=1e-12)
    direct = lp.score_pairs(logits, graph.group[np.array(every)], is_link, criterion="eo")
    assert (found.rdp, found.kl) == pytest.approx((direct.rdp, direct.kl), abs=1e-12)
    on_test = lp.evaluate(Model(), split)
    assert (found.auc, found.eo, found.pairs) == (on_test.auc, on_test.eo, on_test.pairs)
    assert not hasattr(on_test, "auc_candidates")


def test_a_measure_of_candidates_needs_candidates(graph):
    split = lp.split_links(graph, seed=0)
    found = lp.evaluate(Model(), split, over="candidates", measures=["auc_candidates"])
    assert found.auc_candidates > 0.5
    said = "measures names auc_candidates, which needs candidates; use over='candidates'"
    with pytest.raises(InputError, match=f"^evaluate: {said}$"):
        lp.evaluate(Model(), split, measures=["auc_candidates"])
    with pytest.raises(InputError, match=r"^score_pairs: .* use evaluate with over='candidates'$"):
        lp.score_pairs([0.0, 1.0], [0, 1], measures=["dp", "auc_candidates"])


def test_measures_can_be_chosen(graph):
    split = lp.split_links(graph, seed=0)
    found = lp.evaluate(Model(), split, None, measures=["auc", "dp"])
    every = lp.evaluate(Model(), split, None)
    assert (found.auc, found.dp) == (every.auc, every.dp)
    assert np.isnan([found.eo, found.rdp, found.kl]).all()
    with pytest.raises(KeyError, match="unknown measure 'dpp'; did you mean 'dp'"):
        lp.evaluate(Model(), split, measures=["dpp"])
    with pytest.raises(KeyError, match="unknown kind of pairs 'all'"):
        lp.evaluate(Model(), split, over="all")


def test_the_old_name_of_over_warns(graph):
    split = lp.split_links(graph, seed=0)
    with pytest.warns(DeprecationWarning, match="pairs='candidates' is now called over=") as told:
        found = lp.evaluate(Model(), split, None, pairs="candidates", measures=["dp"])
    assert told[0].filename == __file__
    assert found.dp == lp.evaluate(Model(), split, None, over="candidates", measures=["dp"]).dp


def test_samples_are_near_the_measures_of_all_candidates(graph, monkeypatch):
    split = lp.split_links(graph, seed=0)
    exact = lp.evaluate(Model(), split, None, over="candidates")
    monkeypatch.setattr("linkparity.metrics.candidates.MAX_PAIRS", 2000)
    found = lp.evaluate(Model(), split, None, over="candidates")
    for name in ("dp", "rdp", "auc_candidates"):
        assert found.values[name] != exact.values[name]
        assert found.values[name] == pytest.approx(exact.values[name], abs=0.03)


@pytest.mark.parametrize("bipartite", [False, True])
def test_links_are_as_frequent_in_a_sample_as_among_all_candidates(graph, monkeypatch, bipartite):
    if bipartite:
        side = torch.arange(graph.num_nodes) % 2
        across = graph.links[side[graph.links].sum(dim=1) == 1]
        across = across.gather(1, side[across].argsort(dim=1))
        graph = lp.Graph(graph.num_nodes, across, graph.group, side=side)
    split = lp.split_links(graph, seed=0)
    exact = lp.evaluate(Model(), split, None, over="candidates")
    count = split.train.num_pairs - split.train.num_links
    monkeypatch.setattr("linkparity.metrics.candidates.PILOT", 20)
    monkeypatch.setattr("linkparity.metrics.candidates.MAX_PAIRS", count // 4)
    found = [lp.evaluate(Model(), split, None, seed=seed, over="candidates") for seed in range(30)]
    assert [each.kl for each in found] == pytest.approx([exact.kl] * 30, abs=1e-9)
    for name in ("dp", "rdp", "auc_candidates"):
        values = np.array([each.values[name] for each in found])
        error = values.std() / len(values) ** 0.5
        bias = error if name == "auc_candidates" else 3 * error  # the largest of several is larger
        assert values.mean() == pytest.approx(exact.values[name], abs=3 * error + bias), name
    sets = scored_sets(Model(), split, over="candidates")
    kinds, means = sets["means"].source.kinds, sets["means"].rows
    linked = kinds.label[means.kind] == 1
    assert linked.sum() == split.test.label.sum()
    assert means.weight.sum() == pytest.approx(count)
    assert (means.weight[linked] == 1).all()
    every = every_candidate(split.train)
    ends = np.sort(graph.group.numpy()[every], axis=1) @ [3, 1]
    mine = np.sort(graph.group.numpy()[np.stack([means.first, means.second], axis=1)], axis=1) @ [
        3,
        1,
    ]
    assert np.bincount(mine, means.weight) == pytest.approx(np.bincount(ends))


def test_a_sample_is_said_with_its_standard_error(graph, monkeypatch):
    split = lp.split_links(graph, seed=0)
    said = lp.evaluate(Model(), split, None, over="candidates", measures=["dp"]).notes
    assert not any("sample" in note for note in said)
    monkeypatch.setattr("linkparity.metrics.candidates.PILOT", 20)
    monkeypatch.setattr("linkparity.metrics.candidates.MAX_PAIRS", 600)
    found = lp.evaluate(Model(), split, None, over="candidates", measures=["dp"])
    count = split.train.num_pairs - split.train.num_links
    (note,) = [note for note in found.notes if "sample" in note]
    assert f" of {count:,} candidates" in note
    assert "the standard error of the mean of a pair of groups is at most 0.0" in note


@pytest.mark.parametrize("trained", [0, 9])
def test_cells_have_the_scores_of_test_links_beside_those_of_candidates(graph, trained):
    """Test links that are training links too are no candidates, but count in ``eo``."""
    split = lp.split_links(graph, seed=0)
    index = torch.cat([split.test.index, split.train.links[:trained]])
    label = torch.cat([split.test.label, torch.ones(trained, dtype=torch.int64)])
    split = lp.Split(split.train, lp.Pairs(index, label))
    found = lp.evaluate(Model(), split, over="candidates", measures=["dp", "eo"])
    on_test = lp.evaluate(Model(), split, measures=["eo"])
    index = split.test.index[split.test.label == 1]
    ends = [tuple(sorted(pair)) for pair in graph.group[index].tolist()]
    prob = expit(logits_of(index))
    for cell, other in zip(found.cells, on_test.cells, strict=True):
        key = tuple(sorted(graph.group_names.index(name) for name in cell.groups))
        mine = [p for p, end in zip(prob, ends, strict=True) if end == key]
        assert cell.links == len(mine)
        assert cell.link_mean == pytest.approx(np.mean(mine), abs=1e-12)
        assert cell.link_interval == other.link_interval
        assert cell.link_interval is not None
    means = [cell.link_mean for cell in found.cells]
    assert found.eo == pytest.approx(max(means) - min(means), abs=1e-12)


def test_a_sample_has_every_link_once_and_the_others_in_their_place():
    graph = lp.Graph(6, [[0, 1], [0, 2]], [0, 0, 0, 0, 1, 1])
    index = np.array([[0, 1], [0, 3], [1, 3], [0, 4], [4, 5]])
    sample = SampledCandidates(index, np.arange(5.0), np.array([2.0, 2.0, 2.0, 8.0, 1.0]), 15)
    found = _with_links(sample, graph, np.array([[0, 1], [0, 2]]), np.array([7.0, 9.0]))
    assert found.index.tolist() == [[0, 1], [0, 2], *index[1:].tolist()]
    assert found.logits.tolist() == [7, 9, 1, 2, 3, 4]
    assert found.weight.tolist() == [1, 1, 2, 2, 8, 1]  # 4 of 6 are left for 2 of the first groups


def test_of_many_groups_only_pairs_that_have_a_candidate_are_kinds():
    size = 45
    pairs = torch.stack(torch.meshgrid(*[torch.arange(size)] * 2, indexing="ij"), dim=-1)
    far = (pairs[..., 0] - pairs[..., 1]).abs() > 5
    links = pairs[far & (pairs[..., 0] < pairs[..., 1])]
    split = lp.split_links(lp.Graph(size, links, torch.arange(size)), test=0.05, seed=0)
    kinds = scored_sets(Model(), split, over="candidates")["means"].source.kinds
    trained = {tuple(sorted(pair)) for pair in split.train.links.tolist()}
    known = [(i, j) for i in range(size) for j in range(i + 1, size) if (i, j) not in trained]
    assert sorted(map(tuple, kinds.key.tolist())) == known
