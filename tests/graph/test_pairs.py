import re
from collections import Counter

import numpy as np
import pytest
import torch
from graph_strategies import admissible, graphs, linked
from hypothesis import given, settings
from hypothesis import strategies as st

from linkparity.graph.graph import Graph
from linkparity.graph.pairs import Pairs, PairSpace, all_pairs, sample_nonlinks, sample_pairs
from linkparity.support.randomness import random_distinct, random_order


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(graphs())
def test_numbers_of_pairs_count_them_row_by_row(graph):
    space = PairSpace(graph)
    pairs = admissible(graph)
    assert space.size == len(pairs) == graph.num_pairs
    numbers = torch.arange(len(pairs))
    index = space.pair(numbers)
    assert [tuple(pair) for pair in index.tolist()] == pairs
    assert space.number(index).tolist() == numbers.tolist()


@given(graphs())
def test_ranks_of_nonlinks_reach_each_of_them_once(graph):
    space = PairSpace(graph)
    links = linked(graph)
    expected = [pair for pair in admissible(graph) if frozenset(pair) not in links]
    got = space.nonlink(torch.arange(space.num_nonlinks)).tolist()
    assert [tuple(pair) for pair in got] == expected


@given(graphs(), st.integers(1, 7))
def test_blocks_hold_every_pair_once_with_its_label(graph, block):
    blocks = list(all_pairs(graph, block))
    assert all(len(pairs) == block for pairs in blocks[:-1])
    got = [
        (tuple(p), int(y)) for b in blocks for p, y in zip(b.index.tolist(), b.label, strict=True)
    ]
    links = linked(graph)
    assert got == [(pair, int(frozenset(pair) in links)) for pair in admissible(graph)]
    assert all((pairs.weight == 1).all() for pairs in blocks)


@given(graphs(), st.integers(0, 99), st.floats(0, 1))
def test_sampled_nonlinks_are_distinct_admissible_and_no_links(graph, seed, share):
    space = PairSpace(graph)
    count = int(share * space.num_nonlinks)
    drawn = [tuple(pair) for pair in sample_nonlinks(space, count, seeded(seed)).tolist()]
    assert len(drawn) == len(set(drawn)) == count
    assert set(drawn) <= set(admissible(graph))
    assert not {frozenset(pair) for pair in drawn} & linked(graph)


@settings(max_examples=30)
@given(graphs(), st.lists(st.booleans(), min_size=9, max_size=9))
def test_pairs_among_some_nodes_only(graph, keep):
    keep = keep[: graph.num_nodes]
    space = PairSpace(graph, torch.tensor(keep))
    expected = [(a, b) for a, b in admissible(graph) if keep[a] and keep[b]]
    assert [tuple(p) for p in space.pair(torch.arange(space.size)).tolist()] == expected
    assert len(space.links) == sum(all(keep[n] for n in link) for link in graph.links.tolist())


def test_every_nonlink_comes_up_equally_often():
    graph = Graph(5, [[0, 1], [1, 2], [3, 4]], [0, 1, 2, 2, 1])
    space, generator = PairSpace(graph), seeded()
    seen = Counter()
    for _ in range(3500):
        seen.update(tuple(p) for p in sample_nonlinks(space, 2, generator).tolist())
    assert len(seen) == 7
    chi2 = sum((n - 1000) ** 2 / 1000 for n in seen.values())
    assert chi2 < 22  # 99.9 % of 6 degrees of freedom


def mersenne(seed: int, count: int) -> list[int]:
    """63-bit numbers of the published Mersenne Twister, as numpy has it."""
    words = np.random.MT19937()
    words._legacy_seeding(seed)
    raw = [int(word) for word in words.random_raw(2 * count)]
    return [(high << 32 | low) % 2**63 for high, low in zip(raw[::2], raw[1::2], strict=True)]


def test_draws_are_the_same_on_every_machine():
    raw = mersenne(1, 30)
    order = sorted(range(8), key=raw[:8].__getitem__)
    assert random_order(8, seeded(1)).tolist() == order == [2, 5, 4, 6, 1, 3, 7, 0]
    distinct = [word % 10**12 for word in raw[:3]]
    assert random_distinct(3, 10**12, seeded(1)).tolist() == distinct


def test_large_spaces_are_exact():
    space = PairSpace(Graph(3_000_000, [[0, 1], [2_999_998, 2_999_999]], [0] * 3_000_000))
    last = torch.tensor([0, 1, space.size - 2, space.size - 1])
    assert space.pair(last)[[0, 1, 3]].tolist() == [[0, 1], [0, 2], [2_999_998, 2_999_999]]
    assert space.number(space.pair(last)).tolist() == last.tolist()
    assert space.nonlink(torch.tensor([0])).tolist() == [[0, 2]]


def test_weights_of_a_sample_stand_for_all_pairs():
    graph = Graph(30, [[0, n] for n in range(1, 20)], [n % 3 for n in range(30)])
    pairs = sample_pairs(graph, 40, seeded())
    assert len(pairs) == 59
    assert float(pairs.weight.sum()) == pytest.approx(graph.num_pairs)
    assert graph.is_link(pairs.index).long().equal(pairs.label)


def test_more_nonlinks_than_there_are_is_said():
    graph = Graph(4, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3]], [0, 1, 2, 2])
    with pytest.raises(ValueError, match="2 distinct non-links wanted, but of 6 pairs only 1 are"):
        sample_pairs(graph, 2, seeded())


def test_pairs_do_not_change_with_what_they_were_made_from():
    index, label = torch.tensor([[0, 1], [2, 0]]), np.array([1, 0])
    weight = torch.ones(2, dtype=torch.float64)
    pairs = Pairs(index, label, weight)
    index[0, 0], label[0], weight[0] = 5, 0, 9.0
    assert pairs.index.tolist() == [[0, 1], [2, 0]]
    assert pairs.label.tolist() == [1, 0]
    assert pairs.weight.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([[0, 1]], [2]), "label must be 0 or 1, got 2 at position 0"),
        (([[0, 1], [3, 3]], [1, 0]), "row 1 holds [3, 3]; give two different nodes"),
        (([[0, 1]], [1], [-0.5]), "weight must be finite and not negative, got -0.5 at position 0"),
        (([[0, 1]], [1], [float("nan")]), "weight must be finite and not negative, got nan"),
        (([[0, 1]], [1, 0]), "label must have the shape (1,), got (2,); give one per pair"),
        (([0, 1], [1, 0]), "index must have the shape (P, 2), got (2,)"),
    ],
)
def test_what_no_pairs_can_hold_is_refused(given, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        Pairs(*given)


def test_a_pair_may_weigh_nothing():
    pairs = Pairs([[0, 1], [1, 2], [0, 2]], [1, 0, 0], [1.0, 0.0, 2.5])
    assert pairs.weight.tolist() == [1.0, 0.0, 2.5]
