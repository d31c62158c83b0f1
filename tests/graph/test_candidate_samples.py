"""Samples of candidates against a loop over every pair of nodes."""

from itertools import combinations, product

import pytest
import torch
from graph_strategies import graphs
from hypothesis import given
from hypothesis import strategies as st

import linkparity as lp
from linkparity.graph.candidate_samples import stratified_candidates


def by_hand(graph):
    """Every candidate as a frozenset of its two nodes, by the two groups of its ends."""
    links = {frozenset(link) for link in graph.links.tolist()}
    nodes = range(graph.num_nodes)
    if graph.side is None:
        every = combinations(nodes, 2)
    else:
        sides = [[n for n in nodes if graph.side[n] == s] for s in (0, 1)]
        every = product(*sides)
    found = {}
    for i, j in every:
        if frozenset((i, j)) not in links:
            ends = [int(graph.group[i]), int(graph.group[j])]
            key = tuple(ends if graph.bipartite else sorted(ends))
            found.setdefault(key, set()).add(frozenset((i, j)))
    return found


def as_sets(index):
    return [frozenset(pair) for pair in index.tolist()]


@given(graphs(), st.integers(1, 30), st.integers(0, 5))
def test_every_pair_of_groups_gives_its_share_of_distinct_candidates(graph, most, seed):
    known = by_hand(graph)
    seen = {}
    for index, number in stratified_candidates(graph, most, torch.Generator().manual_seed(seed)):
        ends = graph.group[index[0]].tolist()
        key = tuple(ends if graph.bipartite else sorted(ends))
        found = as_sets(index)
        assert number == len(known[key])
        assert len(found) == len(set(found)) == min(most, number)
        assert set(found) <= known[key]
        seen[key] = True
    assert set(seen) == set(known)


def test_samples_of_a_pair_of_groups_are_uniform():
    graph = lp.Graph(7, [[0, 1], [2, 5]], [0, 0, 0, 0, 1, 1, 2])
    generator = torch.Generator().manual_seed(0)
    counts = torch.zeros(7, 7)
    rounds = 3000
    for _ in range(rounds):
        (index, number), *_ = stratified_candidates(graph, 2, generator)
        counts[index[:, 0], index[:, 1]] += 1
    assert number == 5  # group 0 with itself: 6 pairs, one of them a link
    share = counts[counts > 0] / rounds
    assert len(share) == 5
    assert share.tolist() == pytest.approx([2 / 5] * 5, abs=0.04)
