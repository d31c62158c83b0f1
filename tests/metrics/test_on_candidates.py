"""Measures over all candidates: exact where all are scored, close where a sample is."""

import numpy as np
import pytest
import torch

import linkparity as lp
from linkparity.graph.candidates import candidate_pairs
from linkparity.metrics.candidates import area_under_curve, score_candidates, without_links
from linkparity.support.arrays import expit


@pytest.fixture
def graph():
    return lp.datasets.block_model(sizes=(40, 30, 20), degree=12, homophily=3, seed=0)


def logits_of(pairs):
    """Any function of the two nodes, the same in both directions."""
    a, b = np.asarray(pairs, dtype=np.float64).T
    return np.sin(a * b) + (a + b) / 50 - 2


def test_all_candidates_are_scored_once(graph):
    means, ranks = score_candidates(logits_of, graph, seed=0)
    assert means is ranks
    assert means.count == len(means.index) == graph.num_pairs - graph.num_links
    assert not graph.is_link(torch.from_numpy(means.index)).any()
    assert means.weight.tolist() == [1.0] * means.count
    assert means.standard_error == 0


def test_a_sample_gives_the_means_of_all_within_its_standard_error(graph, monkeypatch):
    monkeypatch.setattr("linkparity.metrics.candidates.PILOT", 20)
    every = candidate_pairs(graph).numpy()
    group = np.sort(graph.group.numpy()[every], axis=1) @ [3, 1]
    exact = np.bincount(group, expit(logits_of(every))) / np.maximum(np.bincount(group), 1)
    off = []
    for seed in range(40):
        means, ranks = score_candidates(logits_of, graph, seed, most=600)
        assert len(means.index) < means.count
        assert len(ranks.index) == 600
        assert means.weight.sum() == pytest.approx(means.count)
        mine = np.sort(graph.group.numpy()[means.index], axis=1) @ [3, 1]
        found = np.bincount(mine, expit(means.logits)) / np.maximum(np.bincount(mine), 1)
        off.append((found - exact) / means.standard_error)
    assert np.abs(np.mean(off, axis=0)).max() < 0.5
    assert 0.1 < np.std(off, axis=0)[np.unique(group)].max() < 1.5


def test_held_out_links_are_ranked_against_the_other_candidates(graph):
    split = lp.split_links(graph, seed=0)
    links = split.test.index[split.test.label == 1].numpy()
    scored, _ = score_candidates(logits_of, split.train, seed=0)
    others = without_links(split.train, scored, links)
    assert len(others) == scored.count - len(links)
    wins = [
        (x > others).mean() + (x == others).mean() / 2 for x in logits_of(links)
    ]  # pair by pair
    assert area_under_curve(logits_of(links), others) == pytest.approx(np.mean(wins), abs=1e-12)
    assert np.isnan(area_under_curve(np.empty(0), others))
