"""Rows in arrays and what is known of their nodes and kinds, against lists of rows."""

import numpy as np
import pytest

from linkparity.pairs import arrays
from linkparity.pairs.arrays import ArrayPairs, Columns, array_pairs, nodes_of
from linkparity.pairs.source import Kinds

GROUPS = np.array([[0, 1], [1, 1], [0, 0], [1, -1], [0, 1], [0, 0], [1, 1]])


@pytest.mark.parametrize("length", [2, 100])
def test_all_rows_at_once_are_those_that_count(length, monkeypatch):
    monkeypatch.setattr(arrays, "CHUNK", length)
    rng = np.random.default_rng(0)
    used = np.array([True, False, True, True, False, True, True])
    whole = {
        "kind": np.array([0, 2, 1, 1, 2, 0, 2]), "score": rng.random(7),
        "weight": rng.random(7), "first": np.arange(7), "second": np.arange(7)[::-1].copy(),
    }  # fmt: skip
    kinds = Kinds.all(np.array([[0, 0], [0, 1], [1, 1]]), 1)
    recode = np.array([3, 1, 2])
    for used_rows, codes in ((used, recode), (used, None), (None, recode), (None, None)):
        source = ArrayPairs(Columns(logits=False, **whole, used=used_rows, recode=codes), kinds)
        found = source.gather()
        kept = range(7) if used_rows is None else np.flatnonzero(used_rows)
        assert source.size == len(found) == len(kept)
        for name, column in whole.items():
            known = [column[row] for row in kept]
            if name == "kind" and codes is not None:
                known = [codes[kind] for kind in known]
            assert getattr(found, name).tolist() == known, name


def test_rows_at_once_that_count_are_as_many_as_in_passes():
    source = array_pairs(np.linspace(0, 1, 7), GROUPS, False)
    source.gather()
    assert source.passes == 0  # the arrays are there


@pytest.mark.parametrize("ids", [[[3, 1], [1, 2], [3, 2]], [["d", "b"], ["b", "c"], ["d", "c"]]])
def test_nodes_are_as_many_as_their_numbers_need(ids):
    source = array_pairs(np.zeros(3), np.array([[1, 0], [0, 0], [1, 0]]), True, ids=np.array(ids))
    assert source.nodes.count == (4 if ids[0][0] == 3 else 3)
    rows = source.gather()
    assert len({*rows.first.tolist(), *rows.second.tolist()}) == 3
    for known, column in zip(np.transpose(ids), (rows.first, rows.second), strict=True):
        assert np.unique(column, return_inverse=True)[1].tolist() == (
            np.unique(known, return_inverse=True)[1].tolist()
        )


@pytest.mark.parametrize(
    ("pairs", "twice", "loops"),
    [
        ([(0, 1), (1, 2), (2, 0)], False, False),
        ([(0, 1), (1, 2), (1, 0)], True, False),
        ([(0, 1), (2, 2), (2, 2)], False, True),
        ([(0, 1), (2, 2), (1, 0)], True, True),
    ],
)
def test_dyads_with_several_rows_and_loops_are_told_apart(pairs, twice, loops):
    first, second = np.array(pairs).T
    group = np.array([4, 0, 2])
    found = nodes_of(3, first, second, group[np.array(pairs)])
    assert (found.count, found.twice, found.loops) == (3, twice, loops)
    assert found.group.tolist() == group.tolist()
    assert nodes_of(3, first, second, np.zeros(3, dtype=int)).group is None


def test_a_node_of_two_groups_has_none():
    first, second = np.array([[0, 1], [1, 2]]).T
    assert nodes_of(3, first, second, np.array([[0, 1], [0, 1]])).group is None


def test_kinds_are_pairs_of_groups_by_label():
    key = np.array([[0, 0], [0, 1]])
    for labels, known in ((1, [0]), (2, [0, 1]), (3, [0, 1, -1])):
        kinds = Kinds.all(key, labels)
        rows = [(pair, label) for pair in (-1, 0, 1) for label in known]
        assert list(zip(kinds.pair.tolist(), kinds.label.tolist(), strict=True)) == rows
        assert kinds.labelled == (labels > 1)
        assert kinds.groups[-1].tolist() == [0, 1]
        assert kinds.groups[0].tolist() == [-1, -1]
