"""Sums of placements of rows of one score that are held back, and of very many rows below."""

import numpy as np
import pytest

from linkparity.pairs.cluster_sums import ClusterSums, SortedRows

WANTED = np.array([True, False, True])


def test_rows_of_several_scores_are_released_once_each():
    rng = np.random.default_rng(0)
    sums, nodes = ClusterSums(WANTED, (0, 1), 1, 4), 6
    rows, (pairs, own, below) = np.zeros(nodes), np.zeros((3, nodes, 3))
    for _ in range(3):
        under, beats = rng.random((2, 3))
        for size in (5, 3):  # one score may come in several parts
            member, ends = rng.integers(0, 3, size), rng.integers(0, nodes, (2, size))
            sums.hold(member, ends)
            for c, node in zip(np.tile(member, 2), ends.reshape(-1), strict=True):
                rows[node] += 1
                pairs[node, c] += 1
                own[node, c] += beats[c]
                below[node, np.arange(3) != c] += under[np.arange(3) != c]
        sums.release(under, beats)
    mine = slice(1, 5)
    known = [rows[mine, None], *(each[mine][:, WANTED] for each in (pairs, own, below))]
    assert sums.state == pytest.approx(np.concatenate(known, axis=1), abs=1e-12)
    again = ClusterSums.of_state(WANTED, sums.state)
    assert again.state.tolist() == sums.state.tolist()


@pytest.mark.parametrize("seen", [3, 8_000_001, 2**40 + 1])
def test_counts_of_rows_below_are_exact_however_many_there_are(seen):
    """Nine rows of one node; those of no class have all earlier rows of each class below."""
    member = np.array([1, 0, 1, 1, 2, 1, 1, 0, 1])
    under = np.array([seen, 5, seen])
    score, ends = np.arange(9.0), np.zeros((1, 9), dtype=int)
    sums = ClusterSums(WANTED, (0,), 0, 1)
    total = under + np.bincount(member, minlength=3)
    sums.add(SortedRows.of(score, member, under.astype(float), total), ends, under)
    known = [
        sum(seen + (member[:row] == c).sum() for row in range(9) if member[row] != c)
        for c in np.flatnonzero(WANTED)
    ]
    assert sums.below[0].tolist() == known
