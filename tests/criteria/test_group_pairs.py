"""The numbering of pairs of groups: one order everywhere, written here as a person would."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from linkparity.criteria.group_pairs import (
    cell_table,
    number_group_pairs,
    occurring_pairs,
    possible_pairs,
    reading_order,
    unordered_pairs,
)

GROUPS = st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 5)), min_size=1, max_size=40)


def written_out(pairs):
    """Keys of the pairs in reading order: both groups known, then one alone."""
    keys = {tuple(sorted(pair)) if min(pair) >= 0 else (max(pair), -1) for pair in pairs}
    return sorted(keys - {(-1, -1)}, key=lambda key: (key[1] < 0, key))


@pytest.mark.parametrize("size", [0, 1, 3, 7])
def test_every_unordered_pair_is_numbered_in_reading_order(size):
    expected = list(combinations_with_replacement(range(size), 2))
    assert [tuple(row) for row in unordered_pairs(size).tolist()] == expected
    codes = number_group_pairs(np.array(expected, dtype=np.int64).reshape(-1, 2)).code
    assert codes.tolist() == list(range(len(expected)))


@given(GROUPS)
def test_pairs_that_occur_agree_with_the_full_numbering(pairs):
    key, code = occurring_pairs(np.array(pairs))
    assert [tuple(row) for row in key.tolist()] == written_out(pairs)
    numbered = number_group_pairs(pairs)
    for pair, own, full in zip(pairs, code.tolist(), numbered.code.tolist(), strict=True):
        assert (own == -1) == (full == -1) == (max(pair) == -1)
        if own >= 0:
            assert key[own].tolist() == numbered.key[full].tolist()


@given(GROUPS, st.randoms())
def test_reading_order_sorts_any_keys(pairs, random):
    keys = written_out(pairs)
    shuffled = random.sample(keys, len(keys))
    array = np.array(shuffled, dtype=np.int64).reshape(-1, 2)
    assert [tuple(row) for row in array[reading_order(array)].tolist()] == keys


@given(GROUPS)
def test_table_of_cells_finds_the_cell_of_either_order(pairs):
    numbered = number_group_pairs(pairs)
    table = cell_table(torch.tensor(pairs), numbered.code, 6)
    first, second = torch.tensor(pairs).T
    assert torch.equal(table[first, second], numbered.code)
    assert torch.equal(table[second, first], numbered.code)
    assert table.shape == (7, 7)


def test_possible_pairs_of_a_bipartite_graph_join_the_sides():
    group, side = torch.tensor([0, 2, -1, 1, 1]), torch.tensor([0, 0, 1, 1, 1])
    assert possible_pairs(group, side).tolist() == [[0, -1], [0, 1], [2, -1], [2, 1]]
    assert len(possible_pairs(group)) == 16
