"""Sums of placements per node against counts of pairs of rows one by one, and what they cost."""

import time

import numpy as np
import pandas as pd
import pytest

import linkparity as lp
from linkparity.pairs import cluster_sums
from linkparity.pairs.cluster_sums import ClusterSums, SortedRows

CLASSES, NODES = 5, 7


def count_pairs(score, member, ends, wanted):
    """For each node: over its rows, rows of a class below less those of the row's own class."""
    found = np.zeros((NODES, CLASSES))
    for row, x in enumerate(score):
        for c in np.flatnonzero(wanted):
            if member[row] != c:
                mine = score[member == c]
                found[ends[:, row], c] += (mine < x).sum() + (mine == x).sum() / 2
    return found[:, wanted]


@pytest.mark.parametrize("cost", [0.02, 1, 1000])
@pytest.mark.parametrize("levels", [3, 40, 10**6])
def test_blocks_and_pairs_of_rows_count_the_same(levels, cost, monkeypatch):
    monkeypatch.setattr(cluster_sums, "PAIR_COST", cost)
    rng = np.random.default_rng(levels)
    score = np.sort(rng.integers(0, levels, 200)).astype(float)
    member, first = rng.integers(0, CLASSES, 200), rng.integers(0, NODES, 200)
    ends = np.stack([first, (first + rng.integers(1, NODES, 200)) % NODES])
    wanted = np.array([True, True, False, True, False])
    total = np.bincount(member, minlength=CLASSES).astype(float)
    low = 2  # the first two nodes are left out
    sums = ClusterSums(wanted, (0, 1), low, NODES - low)
    seen = np.zeros(CLASSES)
    cuts = [0, *np.searchsorted(score, score[[120, 124, 126, 160]]), 200]  # whole scores
    for part in map(slice, cuts[:-1], cuts[1:]):
        if part.start == part.stop:
            continue
        sums.add(SortedRows.of(score[part], member[part], seen, total), ends[:, part], seen)
        seen += np.bincount(member[part], minlength=CLASSES)
    known = count_pairs(score, member, ends, wanted)
    assert sums.below[:-1] == pytest.approx(known[low:], abs=1e-9)


def test_rows_between_those_of_a_class_have_them_below(monkeypatch):
    """A part of the rows may have none of the classes that are summed."""
    score = np.arange(9.0)
    member = np.array([0, 1, 0, 2, 2, 2, 2, 1, 0])
    ends = np.array([[0, 1, 2, 3, 4, 5, 6, 0, 1], [1, 2, 3, 4, 5, 6, 0, 1, 2]])
    wanted = np.array([True, True, False, False, False])
    total, seen = np.bincount(member, minlength=CLASSES).astype(float), np.zeros(CLASSES)
    sums = ClusterSums(wanted, (0, 1), 0, NODES)
    for part in (slice(0, 3), slice(3, 5), slice(5, 9)):
        sums.add(SortedRows.of(score[part], member[part], seen, total), ends[:, part], seen)
        seen += np.bincount(member[part], minlength=CLASSES)
    assert sums.below[:-1] == pytest.approx(count_pairs(score, member, ends, wanted), abs=1e-9)


def test_intervals_of_many_groups_cost_little_more_than_the_values():
    """With 100 groups, 5,050 pairs of groups; a pass per pair of groups would cost 20 times it."""
    rng = np.random.default_rng(0)
    nodes = 400
    ids = np.stack(np.triu_indices(nodes, 1), axis=1)[rng.permutation(nodes * (nodes - 1) // 2)]
    ids = ids[:30_000]
    frame = pd.DataFrame(
        {"source": ids[:, 0], "target": ids[:, 1], "score": rng.random(len(ids))}
    ).assign(label=rng.integers(0, 2, len(ids)))
    people = pd.DataFrame({"node": range(nodes), "kind": np.arange(nodes) % 100})

    def cost(confidence):
        began = time.process_time()
        lp.audit(frame, "kind", people, confidence=confidence)
        return time.process_time() - began

    cost(None)
    assert cost(0.95) < 5 * cost(None)
