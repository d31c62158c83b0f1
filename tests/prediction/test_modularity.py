"""Modularity against networkx, and the greedy changes of predictions against a search."""

import inspect
import math
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import torch
from planted import planted, untidy

from linkparity import Graph, Pairs, split_links
from linkparity.models.prediction.modularity import lower_modularity, modularity


def networkx_modularity(graph: Graph, added=()) -> float:
    """Over the nodes that have a group, with the links among them."""
    group = graph.group.tolist()
    known = [node for node, g in enumerate(group) if g >= 0]
    made = nx.Graph()
    made.add_nodes_from(known)
    links = [*graph.links.tolist(), *(list(pair) for pair in added)]
    made.add_edges_from((i, j) for i, j in links if group[i] >= 0 and group[j] >= 0)
    parts = [{node for node in known if group[node] == g} for g in set(group) - {-1}]
    return nx.community.modularity(made, parts)


@pytest.fixture
def graph():
    return untidy(planted())


def test_modularity_is_that_of_networkx(graph):
    assert modularity(graph) == pytest.approx(networkx_modularity(graph), rel=1e-12)
    added = split_links(graph, seed=0).test
    train = split_links(graph, seed=0).train
    linked = added.index[added.label == 1]
    assert modularity(train, linked) == pytest.approx(networkx_modularity(train, linked.tolist()))
    shuffled = Graph(graph.num_nodes, graph.links, graph.group[torch.arange(graph.num_nodes) - 5])
    assert modularity(shuffled) == pytest.approx(networkx_modularity(shuffled), rel=1e-12)
    assert modularity(shuffled) < 0.1 < modularity(graph)
    assert math.isnan(modularity(Graph(3, torch.empty(0, 2), [0, 1, 2])))


def candidates(graph: Graph, count: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    drawn = np.sort(generator.integers(graph.num_nodes, size=(4 * count, 2)), axis=1)
    drawn = np.unique(drawn[drawn[:, 0] < drawn[:, 1]], axis=0)
    drawn = drawn[~graph.is_link(torch.from_numpy(drawn)).numpy()]
    drawn = generator.permutation(drawn)[:count]
    return drawn, generator.normal(size=len(drawn))


@pytest.mark.parametrize("seed", range(3))
def test_each_change_is_the_best_of_all(graph, seed):
    index, logits = candidates(graph, seed=seed)
    known = (graph.group[torch.from_numpy(index)] >= 0).all(dim=1).numpy()
    predicted = logits > 0
    for budget in range(1, 11):
        after = []
        for k in range(len(index)):
            tried = predicted.copy()
            tried[k] = not tried[k] if tried[k] == (logits[k] > 0) and known[k] else tried[k]
            after.append(networkx_modularity(graph, index[tried].tolist()))
        now = networkx_modularity(graph, index[predicted].tolist())
        best = np.flatnonzero(np.array(after) < min(after) + 1e-12)
        if min(after) >= now - 1e-12:
            break
        nearest = best[np.argmin(np.abs(logits[best]))]
        predicted[nearest] = not predicted[nearest]
        found = lower_modularity(graph, index, logits, share=(budget + 0.5) / len(index))
        assert found.tolist() == predicted.tolist()


@pytest.mark.parametrize("logits", [[5.0, 0.1], [0.1, 5.0]])
def test_of_equal_falls_the_prediction_nearest_to_the_threshold_is_turned_over(logits):
    even = Graph(8, [[0, 1], [4, 5], [0, 4], [1, 5]], [0, 0, 0, 0, 1, 1, 1, 1])
    found = lower_modularity(even, [[2, 3], [6, 7]], logits, share=0.5)
    assert found.tolist() == [value == 5.0 for value in logits]


@pytest.mark.parametrize(
    ("pairs", "logits", "more", "said"),
    [
        ([[0, 99]], [1.0], {}, "no node 99 was trained on"),
        ([[0, -1]], [1.0], {}, "no node -1 was trained on"),
        ([[1, 2, 3]], [1.0], {}, r"pairs must be a \(P, 2\) array of node numbers"),
        ("x", [1.0], {}, "pairs must be integers"),
        ([[0, 1]], [1.0], {}, r"pairs row 0, \[0, 1\], is a link of the graph"),
        ([[2, 2]], [1.0], {}, "joins a node to itself"),
        ([[2, 3], [3, 2]], [1.0, 2.0], {}, r"row 1, \[3, 2\], occurs before"),
        ([[2, 3]], ["a"], {}, "logits must be numbers"),
        ([[2, 3]], [math.nan], {}, "logits must be numbers, got nan at position 0"),
        ([[2, 3]], [1.0, 2.0], {}, r"logits must have the shape \(1,\)"),
        ([[2, 3]], [1.0], {"share": "a"}, "share must be a number"),
    ],
)
def test_bad_input_is_one_line(pairs, logits, more, said):
    graph = Graph(4, [[0, 1], [0, 2]], [0, 0, 1, 2])
    with pytest.raises(ValueError, match=said):
        lower_modularity(graph, pairs, logits, **more)


def test_modularity_falls_and_the_budget_is_kept(graph):
    index, logits = candidates(graph, 400)
    plain = logits > 0
    levels = []
    for share in (0.0, 0.03, 0.1, 0.5):
        found = lower_modularity(graph, index, logits, share)
        assert (found != plain).sum() <= share * len(index)
        levels.append(modularity(graph, index[found]))
    assert lower_modularity(graph, index, logits, 0.0).tolist() == plain.tolist()
    assert all(one > two for one, two in pairwise(levels))
    assert (lower_modularity(graph, index, logits, 0.0, 1.0) == (logits > 1)).all()


def test_labels_play_no_part(graph):
    index, logits = candidates(graph)
    given = [Pairs(index, np.full(len(index), label)) for label in (0, 1)]
    one, two = (lower_modularity(graph, pairs, logits, 0.2) for pairs in given)
    assert one.tolist() == two.tolist() != (logits > 0).tolist()
    assert "label" not in "".join(inspect.signature(lower_modularity).parameters)


def test_mistakes_are_one_line(graph):
    index, logits = candidates(graph)
    with pytest.raises(ValueError, match=r"logits must have the shape \(40,\), got \(39,\)"):
        lower_modularity(graph, index, logits[1:])
    with pytest.raises(ValueError, match="share must lie between 0 and 1, got 3"):
        lower_modularity(graph, index, logits, 3)
