import hashlib
import time
import warnings
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import torch
from graph_strategies import admissible, graphs, linked
from hypothesis import given, settings
from hypothesis import strategies as st

from linkparity.datasets import block_model, load
from linkparity.graph.graph import Graph
from linkparity.graph.split import SplitWarning, _cover, _spanning_forest, split_links
from linkparity.support.randomness import random_order


def components(links: set[frozenset], nodes: set[int]) -> int:
    """How many components, by spreading from node to node."""
    left, count = set(nodes), 0
    while left:
        count, front = count + 1, {left.pop()}
        while front:
            reached = {n for link in links if link & front for n in link}
            front = reached & left
            left -= front
    return count


def seen(links: set[frozenset]) -> set[int]:
    return {node for link in links for node in link}


def most_held_out(links: set[frozenset]) -> int:
    """The largest number of links whose removal leaves every node one, by trying all sets."""
    for count in range(len(links), 0, -1):
        for held in combinations(links, count):
            if seen(links - set(held)) == seen(links):
                return count
    return 0


@settings(max_examples=300, deadline=None)
@given(graphs(most=10), st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.integers(0, 5))
def test_splits_are_disjoint_complete_and_cover_nodes(graph, test, seed):
    links = linked(graph)
    pairs = {frozenset(p) for p in admissible(graph) if set(p) <= seen(links)}
    wanted = len(links) - int((1 - Fraction(str(test))) * len(links))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            split = split_links(graph, test, seed)
        except ValueError:
            split = None
    if split is None:
        degree = Counter(node for link in links for node in link)
        stars = all(min(degree[node] for node in link) == 1 for link in links)
        assert len(links) < 2 or len(pairs - links) < wanted or stars
        return
    train = linked(split.train)
    index, label = split.test.index.tolist(), split.test.label.tolist()
    held = {frozenset(p) for p, y in zip(index, label, strict=True) if y}
    none = {frozenset(p) for p, y in zip(index, label, strict=True) if not y}
    assert train | held == links
    assert not train & held
    assert seen(train) == seen(links)
    assert len(held) == len(none) == len(index) // 2
    assert none <= pairs - links
    forest = len(seen(links)) - components(links, seen(links))
    if len(links) - forest >= wanted:
        assert not said
        assert len(held) == wanted
        assert components(train, seen(links)) == components(links, seen(links))
    else:
        assert [w.category for w in said] == [SplitWarning]
        assert len(held) <= wanted
    weight = split.test.weight[split.test.label == 0]
    assert weight.tolist() == pytest.approx([len(pairs - links) / len(none)] * len(none))
    assert (split.test.weight[split.test.label == 1] == 1).all()
    if graph.side is not None:
        assert (graph.side[split.test.index] == torch.tensor([0, 1])).all()
    assert split.train.num_nodes == graph.num_nodes
    assert split.train.group.equal(graph.group)


@st.composite
def trees(draw) -> Graph:
    n = draw(st.integers(5, 11))
    links = [[draw(st.integers(0, node - 1)), node] for node in range(1, n)]
    return Graph(n, links, [node % 3 for node in range(n)])


@settings(deadline=None)
@given(trees(), st.integers(0, 3))
def test_trees_hold_out_as_many_as_leave_one_link_per_node(graph, seed):
    most = most_held_out(linked(graph))
    if not most:
        with pytest.raises(ValueError, match="can be held out without a node unseen in training"):
            split_links(graph, 0.8, seed)
        return
    wanted = graph.num_links - int(Fraction(1, 5) * graph.num_links)
    with pytest.warns(SplitWarning, match=f"of the {wanted:,} wanted links are held out"):
        split = split_links(graph, 0.8, seed)
    assert int(split.test.label.sum()) == min(wanted, most)


def test_polblogs_is_split_as_the_paper_splits_it():
    split = split_links(load("polblogs"), test=0.2, seed=0)
    assert split.train.num_links == 13371
    assert int(split.test.label.sum()) == 3343
    assert float(split.test.weight.max()) == pytest.approx(218.16, abs=0.005)
    assert float(split.test.weight.max()) == (1222 * 1221 // 2 - 16714) / 3343
    assert int(split.train.degree().min()) > 0


def test_a_seed_gives_one_split_on_every_machine():
    split = split_links(load("polbooks"), test=0.2, seed=0)
    digest = hashlib.sha256(split.test.index.numpy().astype("<i8").tobytes()).hexdigest()
    assert digest == "d633130fc7bb0b1ac943cd64f4cdda22d2632ccbf4d3a6770f5931d1502b0ebf"
    other = split_links(load("polbooks"), test=0.2, seed=1)
    assert not split.test.index.equal(other.test.index)


@given(graphs(most=10), st.integers(0, 5))
def test_the_forest_is_depth_first(graph, seed):
    """In a depth-first forest, and in no other, every other link joins a node to an ancestor."""
    order = torch.randperm(graph.num_links, generator=torch.Generator().manual_seed(seed))
    if not graph.num_links:
        return
    kept = {
        frozenset(link)
        for link in graph.links[_spanning_forest(graph.links, order, graph.num_nodes)].tolist()
    }
    links = linked(graph)
    assert len(kept) == len(seen(links)) - components(links, seen(links))
    met = list(dict.fromkeys(graph.links[order].reshape(-1).tolist()))
    ancestors: dict[int, set[int]] = {}
    for root in met:
        front = [] if root in ancestors else [(root, set())]
        while front:
            node, above = front.pop()
            ancestors[node] = above
            near = {n for link in kept if node in link for n in link - {node}} - above
            front += [(n, above | {node}) for n in near if n not in ancestors]
    for a, b in map(sorted, links):
        assert a in ancestors[b] or b in ancestors[a]


def test_the_order_of_links_does_not_matter():
    graph = load("polbooks")
    turned = Graph(105, graph.links.flip(0).flip(1), graph.group, graph.group_names)
    one, two = split_links(graph, seed=3), split_links(turned, seed=3)
    assert one.test.index.equal(two.test.index)
    assert one.train.links.equal(two.train.links)


def test_the_global_generators_are_left_alone():
    state = torch.random.get_rng_state()
    split_links(load("polbooks"))
    assert torch.random.get_rng_state().equal(state)


def test_shares_are_decimal_fractions():
    """1 − 0.9 is a little under a tenth in floating point, and would leave no link in train."""
    ring = Graph(10, [[n, (n + 1) % 10] for n in range(10)], [n % 3 for n in range(10)])
    with pytest.warns(SplitWarning, match="5 of the 9 wanted links are held out"):
        split = split_links(ring, test=0.9)
    assert split.train.num_links == 5


def test_isolated_nodes_stay_in_the_graph_and_out_of_the_test():
    links = [[a, b] for a, b in combinations(range(8), 2) if (a + b) % 3]
    graph = Graph(50, links, [n % 3 for n in range(50)])
    split = split_links(graph, test=0.3)
    assert split.train.num_nodes == 50
    assert int(split.test.index.max()) < 8


@pytest.mark.parametrize(
    ("graph", "test", "said"),
    [
        (Graph(3, [], [0, 1, 2]), 0.2, "a graph of 0 links is too small to split"),
        (Graph(3, [[0, 1]], [0, 1, 2]), 0.2, "a graph of 1 link is too small to split"),
        (Graph(4, [[0, 1], [0, 2], [0, 3]], [0, 1, 2, 2]), 0.2, "none of the 3 links can be held"),
        (
            Graph(5, list(combinations(range(5), 2)), [0, 1, 2, 2, 1]),
            0.2,
            "only 0 of 10 pairs are non-links, so the graph is too dense",
        ),
        (load("polbooks"), 0, "test must lie strictly between 0 and 1, got 0"),
        (load("polbooks"), "0.2", "test must lie strictly between 0 and 1, got '0.2'"),
        (load("polbooks"), torch.tensor(0.2), "between 0 and 1, got tensor"),
        (load("polbooks"), 1.0, "test must lie strictly between 0 and 1, got 1.0"),
        (load("polbooks"), float("nan"), "test must lie strictly between 0 and 1, got nan"),
    ],
)
def test_what_cannot_be_split_gets_a_sentence(graph, test, said):
    with pytest.raises(ValueError, match=said):
        split_links(graph, test)


@pytest.mark.parametrize("seed", [None, 1.5, "3"])
def test_seeds_are_whole_numbers_of_any_kind(seed):
    graph = load("polbooks")
    expected = split_links(graph, seed=3).test.index
    assert split_links(graph, seed=np.int64(3)).test.index.equal(expected)
    assert split_links(graph, seed=torch.tensor(3)).test.index.equal(expected)
    with pytest.raises(ValueError, match=f"seed must be a whole number, got {seed!r}"):
        split_links(graph, seed=seed)


@settings(max_examples=300, deadline=None)
@given(graphs(most=10), st.integers(0, 5))
def test_a_cover_reaches_every_node_and_can_spare_no_link(graph, seed):
    order = random_order(graph.num_links, torch.Generator().manual_seed(seed))
    kept = {frozenset(link) for link in graph.links[_cover(graph.links, order, 10)].tolist()}
    assert seen(kept) == seen(linked(graph))
    assert all(seen(kept - {link}) != seen(kept) for link in kept)


def test_the_cover_of_a_million_links_takes_seconds():
    graph = block_model((400_000, 400_000, 200_000), degree=2, spread=0.5)
    order = random_order(graph.num_links, torch.Generator().manual_seed(0))
    start = time.process_time()
    kept = _cover(graph.links, order, graph.num_nodes)
    assert time.process_time() - start < 40
    assert int((graph.degree() > 0).sum()) / 2 < int(kept.sum()) < 446_000


def test_all_that_was_wanted_is_not_called_a_shortfall():
    links = [[n, n + 1] for n in range(11)] + [[0, 11]] + [[12 + n, 13 + n] for n in range(0, 8, 2)]
    graph = Graph(20, links, [n % 3 for n in range(20)])
    with pytest.warns(SplitWarning, match="one train link per node is kept; components may become"):
        split = split_links(graph, test=0.3)
    assert int(split.test.label.sum()) == 5


@pytest.mark.data
def test_movies_are_split_between_the_sides_and_facebook_within_a_second(real_data):
    graph = load("ml100k", real_data)
    split = split_links(graph)
    assert int(split.test.label.sum()) == 20_000
    assert (graph.side[split.test.index] == torch.tensor([0, 1])).all()
    assert float(split.test.weight.max()) == (943 * 1682 - 100_000) / 20_000
    graph = load("facebook", real_data)
    start = time.process_time()
    split_links(graph)
    assert time.process_time() - start < 1


@pytest.mark.standing
def test_ten_million_links_are_drawn_and_split_within_a_minute_each():
    start = time.process_time()
    graph = block_model((400_000, 350_000, 250_000), degree=20, spread=0.8)
    drawn = time.process_time()
    split = split_links(graph)
    assert drawn - start < 60
    assert time.process_time() - drawn < 60
    assert graph.num_links == pytest.approx(1e7, rel=0.01)
    assert split.train.num_links + int(split.test.label.sum()) == graph.num_links


@pytest.fixture
def real_data():
    import os

    root = os.environ.get("LINKPARITY_DATA")
    if not root:
        pytest.skip("LINKPARITY_DATA does not say where the data sets lie")
    return root
