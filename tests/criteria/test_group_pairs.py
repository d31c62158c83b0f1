"""The numbering of pairs of groups: one order everywhere, written here as a person would."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from linkparity.criteria.constrained_group_pairs import cell_table, possible_kinds, possible_pairs
from linkparity.criteria.group_pairs import (
    check_groups,
    number_group_pairs,
    occurring_pairs,
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


@given(GROUPS, st.booleans())
def test_numbers_are_places_in_the_list_of_all_pairs_of_groups(pairs, directed):
    """Those with two groups, where a pair has two or none has one; then those with one."""
    size = max(map(max, pairs)) + 1
    two = (
        product(range(size), repeat=2)
        if directed
        else combinations_with_replacement(range(size), 2)
    )
    lone = any(min(pair) == -1 < max(pair) for pair in pairs)
    listed = list(two) if not lone or any(min(pair) >= 0 for pair in pairs) else []
    listed += [(group, -1) for group in range(size)] if lone else []
    numbered = number_group_pairs(pairs, directed)
    assert [tuple(key) for key in numbered.key.tolist()] == listed
    names = ["-".join(str(group) for group in key if group >= 0) for key in listed]
    assert list(numbered.names) == names
    for (first, second), code in zip(pairs, numbered.code.tolist(), strict=True):
        known = first, second
        if not directed or min(known) < 0:
            known = (max(known), -1) if min(known) < 0 else tuple(sorted(known))
        assert code == (-1 if max(known) < 0 else listed.index(known))


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
    code = torch.from_numpy(numbered.code)
    table = cell_table(torch.tensor(pairs), code, 6)
    first, second = torch.tensor(pairs).T
    assert torch.equal(table[first, second], code)
    assert torch.equal(table[second, first], code)
    assert table.shape == (7, 7)


def test_possible_pairs_of_a_bipartite_graph_join_the_sides():
    group, side = torch.tensor([0, 2, -1, 1, 1]), torch.tensor([0, 0, 1, 1, 1])
    assert possible_pairs(group, side).tolist() == [[0, -1], [0, 1], [2, -1], [2, 1]]
    assert len(possible_pairs(group)) == 16


@pytest.mark.parametrize("sided", [False, True])
def test_possible_kinds_are_the_possible_pairs_without_and_with_a_link(sided):
    group = torch.tensor([0, 2, -1, 1, 1])
    side = torch.tensor([0, 0, 1, 1, 1]) if sided else None
    pairs, label = possible_kinds(group, side)
    every = [tuple(pair) for pair in possible_pairs(group, side).tolist()]
    found = list(zip(map(tuple, pairs.tolist()), label.tolist(), strict=True))
    assert found == [(pair, y) for y in (0, 1) for pair in every]


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, bool])
def test_groups_are_integers_of_any_kind(kind):
    array = np.array([[1, 0], [1, 1], [0, 0]]).astype(kind)
    assert number_group_pairs(array).code.tolist() == [1, 2, 0]
    assert number_group_pairs(array[:, 0]).code.tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (torch.tensor([0.0, 1.0]), "must be integers"),
        (torch.tensor([1 + 1j, 0j]), "must be integers"),
        ([3, -2, 5], "got -2"),
        ([[3, 0], [-2, 5]], "got -2"),
        (torch.tensor(3), "shape"),
        (torch.zeros(2, 3, dtype=torch.int64), "shape"),
        (torch.zeros(2, 2, 2, dtype=torch.int64), "shape"),
    ],
)
def test_other_groups_are_refused(groups, said):
    with pytest.raises(ValueError, match=said):
        check_groups(groups)


def test_so_many_groups_that_their_pairs_are_too_many_are_refused():
    assert number_group_pairs([1_999, 5_000]).size == 5_001  # each alone is a cell
    with pytest.raises(ValueError, match=r"got 4,999: they would form 12,502,500 pairs of groups"):
        number_group_pairs([[0, 4_999], [1, 2]])
