"""Many groups: which pairs of groups training constrains, and the gap that it reports."""

import numpy as np
import pytest

import linkparity as lp
from linkparity.criteria import CRITERIA
from linkparity.criteria.constrained_group_pairs import MIN_PAIRS, graph_criterion, group_pair_sizes
from linkparity.datasets.synthetic import block_model
from linkparity.models import MODELS
from linkparity.models.training import train
from linkparity.models.training.loop import choose
from linkparity.models.training.objective import Settings
from linkparity.support.randomness import stream


@pytest.fixture(scope="module")
def graph():
    sizes = np.maximum(2, np.round(np.exp(np.random.default_rng(0).normal(2.2, 0.9, 42))))
    return block_model(tuple(sizes.astype(int).tolist()), degree=16, homophily=30, seed=1)


@pytest.mark.parametrize("name", ["dp", "eo"])
def test_small_pairs_of_groups_are_unconstrained_among_many(graph, name):
    counted = graph_criterion(CRITERIA[name], graph).counted
    sizes = group_pair_sizes(graph, links=name == "eo")
    assert 1 < (sizes >= MIN_PAIRS).sum() < np.count_nonzero(sizes)
    assert np.array_equal(counted, sizes >= MIN_PAIRS)
    few = block_model((5, 4, 3), degree=3, seed=0)
    assert graph_criterion(CRITERIA[name], few) is CRITERIA[name]


@pytest.mark.parametrize(("alone", "pairs"), [(6, 99), (5, 100), (4, 101)])
def test_a_hundred_pairs_of_groups_are_few(alone, pairs):
    """14 groups form 105 pairs; a group of one node has none with itself."""
    sizes = [1] * alone + [12] * (14 - alone)
    group = np.repeat(np.arange(14), sizes)
    graph = lp.Graph(len(group), [[0, 1], [20, 30], [40, 50]], group)
    ends = group[np.stack(np.triu_indices(len(group), 1), axis=1)]
    occurring, count = np.unique(ends, axis=0, return_counts=True)
    assert len(occurring) == pairs
    assert (count >= MIN_PAIRS).sum() > 1
    chosen = graph_criterion(CRITERIA["dp"], graph)
    assert (chosen is CRITERIA["dp"]) == (pairs <= 100)
    if pairs > 100:
        kept = {tuple(pair) for pair in occurring[count >= MIN_PAIRS].tolist()}
        assert {(a, b) for a, b in np.argwhere(chosen.counted).tolist() if a <= b} == kept


def test_a_pair_of_groups_with_exactly_enough_pairs_counts():
    """10 nodes and 10 nodes form 100 pairs between them; 10 and 9 form 90."""
    sizes = [10, 10, *[9] * 13]
    group = np.repeat(np.arange(15), sizes)
    graph = lp.Graph(len(group), [[0, 1], [20, 30], [40, 50]], group)
    with_two = lp.Graph(len(group) + 12, graph.links, np.append(group, [15] * 12))
    counted = graph_criterion(CRITERIA["dp"], with_two).counted
    assert {(a, b) for a, b in np.argwhere(counted).tolist() if a <= b} == {
        (0, 1), (0, 15), (1, 15), *((other, 15) for other in range(2, 15)),
    }  # fmt: skip
    few = graph_criterion(CRITERIA["dp"], graph)
    assert few is CRITERIA["dp"]  # one pair of groups alone has nothing to be equal to


def test_many_groups_are_trained_on_every_pair(graph):
    model = MODELS["cne"](graph, 8, generator=stream(0, "model"))
    assert choose(model, graph, Settings()) == "samples"
    assert choose(model, graph, Settings(), parity=True) == "blocks"
    assert choose(model, graph, Settings(negatives=10), parity=True) == "samples"


@pytest.mark.slow
def test_the_training_gap_does_not_rise(graph):
    split = lp.split_links(graph, seed=0)
    generator = stream(0, "model")
    model = MODELS["cne"](split.train, 8, generator=generator)
    rows = list(train(model, split.train, "dp", pairs="candidates", generator=generator))
    gaps = [row.gap for row in rows]
    early, late = max(gaps[15:40]), max(gaps[-25:])
    assert late <= 1.05 * early
