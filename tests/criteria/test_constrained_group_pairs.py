"""Which pairs of groups of a graph count, against loops over all its pairs of nodes."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
import torch

import linkparity as lp
from linkparity import Cells
from linkparity.criteria import CRITERIA, constrained_group_pairs
from linkparity.criteria.constrained_group_pairs import (
    Restricted,
    graph_criterion,
    group_pair_sizes,
    known_group_pairs,
)


def random_graph(sided, lowest=0, kept=False, seed=0):
    """17 nodes of groups 0 to 3; with ``lowest`` −1 some have none. Side 0 has 9 nodes."""
    rng = np.random.default_rng(seed)
    group, side = rng.integers(lowest, 4, 17), (np.arange(17) >= 9).astype(int)
    rng.shuffle(side)
    side = side if sided else None
    given = {"group_names": tuple("abcd"), "side": side, "unknown_kept": kept}
    pairs = list(pairs_of_nodes(lp.Graph(17, [], group, **given)))
    links = [pair for pair in pairs if rng.random() < 0.4]
    return lp.Graph(17, links, group, **given)


def pairs_of_nodes(graph):
    if graph.side is None:
        return combinations(range(graph.num_nodes), 2)
    sides = [np.flatnonzero(graph.side.numpy() == side).tolist() for side in (0, 1)]
    return product(*sides)


def counted(graph, pairs):
    """``(S + 1, S + 1)`` pairs by the groups of their ends, one by one."""
    found = np.zeros((graph.num_groups + 1,) * 2)
    for key, count in Counter(tuple(sorted(graph.group[list(p)].tolist())) for p in pairs).items():
        found[key] = found[key[::-1]] = count
    return found


@pytest.mark.parametrize("lowest", [0, -1])
@pytest.mark.parametrize("sided", [False, True])
def test_sizes_of_pairs_of_groups_are_counts_of_pairs_of_nodes(sided, lowest):
    graph = random_graph(sided, lowest)
    every = counted(graph, pairs_of_nodes(graph))
    assert group_pair_sizes(graph) == pytest.approx(every)
    assert every.sum() > every.trace() > 0
    links = counted(graph, graph.links.tolist())
    assert group_pair_sizes(graph, links=True) == pytest.approx(links)
    empty = lp.Graph(17, [], graph.group, graph.group_names, graph.side)
    assert not group_pair_sizes(empty, links=True).any()


@pytest.mark.parametrize("sided", [False, True])
def test_pairs_with_a_node_of_unknown_group_do_not_count(sided):
    graph = random_graph(sided, lowest=-1, kept=True)
    known = known_group_pairs(graph)
    for a, b in product(range(-1, 4), repeat=2):
        assert known[a, b] == (min(a, b) >= 0)
    criterion = graph_criterion(CRITERIA["dp"], graph)
    pairs = torch.tensor(list(pairs_of_nodes(graph)))
    ends = graph.group[pairs]
    assert torch.equal(Cells.prepare(ends, criterion).cell >= 0, (ends >= 0).all(dim=1))
    assert graph_criterion(CRITERIA["dp"], random_graph(sided, lowest=-1)) is CRITERIA["dp"]


def test_a_side_without_groups_leaves_the_groups_of_the_other():
    graph = random_graph(sided=True)
    group = torch.where(graph.side == 0, graph.group, -1)
    graph = lp.Graph(17, graph.links, group, graph.group_names, graph.side, unknown_kept=True)
    assert known_group_pairs(graph).all()
    assert graph_criterion(CRITERIA["dp"], graph) is CRITERIA["dp"]


@pytest.mark.parametrize("name", ["dp", "eo"])
@pytest.mark.parametrize("unknown", [False, True])
def test_of_many_pairs_of_groups_the_large_ones_count(name, unknown, monkeypatch):
    graph = random_graph(sided=False, lowest=-1 if unknown else 0, kept=unknown, seed=2)
    pairs = graph.links.tolist() if name == "eo" else pairs_of_nodes(graph)
    sizes = counted(graph, pairs)
    occur, median = np.count_nonzero(np.triu(sizes)), int(np.median(sizes[sizes > 0]))
    assert (sizes == median).any()
    assert (np.triu(sizes) >= median).sum() > 1
    monkeypatch.setattr(constrained_group_pairs, "MIN_PAIRS", median)
    monkeypatch.setattr(constrained_group_pairs, "MAX_SMALL", occur - 1)
    wanted = sizes >= median
    if unknown:
        wanted[-1] = wanted[:, -1] = False
    found = graph_criterion(CRITERIA[name], graph)
    assert np.array_equal(found.counted, wanted)
    monkeypatch.setattr(constrained_group_pairs, "MAX_SMALL", occur)
    few = graph_criterion(CRITERIA[name], graph)
    if unknown:
        assert np.array_equal(few.counted, np.pad(np.ones((4, 4), dtype=bool), (0, 1)))
    else:
        assert few is CRITERIA[name]


@pytest.mark.parametrize("name", [n for n, each in CRITERIA.items() if each.by_group_pair])
def test_a_restricted_criterion_leaves_out_the_pairs_that_do_not_count(name):
    rng = np.random.default_rng(0)
    ends, label = rng.integers(-1, 3, (80, 2)), rng.integers(0, 2, 80)
    allowed = rng.random((4, 4)) < 0.6
    allowed |= allowed.T
    allowed[-1, -1] = False
    restricted = Cells.prepare(ends, Restricted(CRITERIA[name], allowed), label)
    plain = Cells.prepare(ends, name, label)
    expected = [
        cell if allowed[tuple(pair)] else -1
        for pair, cell in zip(ends, plain.cell.tolist(), strict=True)
    ]
    assert restricted.cell.tolist() == expected
    assert len(set(expected)) > 2
    assert restricted.layout.names == plain.layout.names
