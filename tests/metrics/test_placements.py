"""Placements of rows that pass by, that are in several places, and of some classes at a time."""

from itertools import pairwise

import numpy as np
import pytest

from linkparity.metrics.intervals import placements
from linkparity.metrics.intervals.placements import Classes, PlacementPass, PlacementTask
from linkparity.pairs.cluster_sums import ClusterSums

NODES, KINDS, CLASSES = 7, 4, 3
#: Cuts between stretches of scores, and the place of each stretch: one place has no rows.
CUTS, PLACES = np.array([-0.9, -0.1, 0.4]), [(0, 2), (1, 3), ()]


def placement_loops(score, member, node, wanted):
    """Rows, rows by class, placements and rows of a class below, per node, row by row."""
    rows, own, pairs, below = np.zeros((4, NODES, CLASSES))
    for x, c, n in zip(score, member, node, strict=True):
        beats = (score < x) + (score == x) / 2
        rows[n] += 1
        pairs[n, c] += 1
        own[n, c] += beats[member != c].mean()
        for other in range(CLASSES):
            if other != c:
                below[n, other] += beats[member == other].sum()
    return np.concatenate([rows[:, :1], *(each[:, wanted] for each in (pairs, own, below))], axis=1)


@pytest.mark.parametrize("chunk", [1, 2, 4, 9, 1000])
@pytest.mark.parametrize("levels", [2, 6, 30])
def test_rows_that_pass_by_in_any_batches_have_the_placements_of_loops(chunk, levels, monkeypatch):
    """One score in many batches, scores that end within a batch, and few rows that wait."""
    monkeypatch.setattr(placements, "CHUNK", chunk)
    rng = np.random.default_rng(levels)
    score = np.sort(rng.integers(0, levels, 60)).astype(float)
    score[-1] = levels  # one row alone after many of a score
    member, node = rng.integers(0, CLASSES, 60), rng.integers(0, NODES, 60)
    wanted = np.array([True, False, True])
    sums = ClusterSums(wanted, (0,), 0, NODES)
    passed = PlacementPass(np.bincount(member, minlength=CLASSES), [sums])
    cuts = [0, *np.sort(rng.choice(np.arange(1, 59), 20, replace=False)), 59, 60]
    most = 0
    for low, high in pairwise(cuts):
        passed.add(score[low:high], member[low:high], node[low:high])
        most = max(most, sum(len(batch[0]) for batch in passed.waiting))
    passed.finish()
    assert sums.state == pytest.approx(placement_loops(score, member, node, wanted))
    assert most < chunk


class Rows:
    """Rows in one place, in order."""

    def __init__(self, columns):
        self.columns = columns

    def in_order(self, task, columns):
        rows = tuple(self.columns[name] for name in ("score", *columns))
        yield task([(np.zeros(KINDS), iter([rows]))])


def made_up_rows(rng, loops):
    """Sorted rows with ties, some of which pair a node with itself; those are in no dyad."""
    score = np.sort(np.round(rng.normal(size=80), 1))
    first, second = rng.integers(0, NODES, (2, 80))
    if loops:
        second[::9] = first[::9]
    else:
        second = (first + rng.integers(1, NODES, 80)) % NODES
    dyad = np.minimum(first, second) * NODES + np.maximum(first, second)
    dyad[first == second] = -1
    kind = rng.integers(0, KINDS, 80)
    return {
        "score": score, "kind": kind, "first": first, "second": second, "dyad": dyad,
        "row": rng.permutation(80),
    }  # fmt: skip


def in_places(task, ways):
    """The result as Spark finds it: sums by key of each place, then added by key."""
    summaries = [[] for _ in ways]
    keyed = [[] for _ in task.clusters]
    for number, way in enumerate(ways):
        rows = way.columns
        stretch = np.searchsorted(CUTS, rows["score"], "right")
        for place in PLACES:
            stretches = [
                (
                    np.bincount(rows["kind"][stretch < s], minlength=KINDS).astype(float),
                    iter([tuple(rows[n][stretch == s] for n in ("score", *task.columns))]),
                )
                for s in place
            ]
            summary, every = task.keyed(stretches)
            if summaries[number]:
                for one, other in zip(summaries[number], summary, strict=True):
                    one.merge(other)
            else:
                summaries[number] = summary
            for found, (keys, sums) in zip(keyed, every, strict=True):
                assert len(np.unique(keys)) == len(keys) == len(sums)
                assert (keys >= 0).all()
                found.append((np.full(len(keys), number), keys, sums))
    reduced = []
    for number, found in enumerate(keyed):
        way, key, sums = (np.concatenate(each) for each in zip(*found, strict=True))
        keys, place = np.unique(key, return_inverse=True)
        totals = np.zeros((len(ways), len(keys), sums.shape[1]))
        np.add.at(totals, (way, place), sums)
        halves = (keys % 2 == 0, keys % 2 == 1)
        reduced.append([task.reduced(number, list(totals[:, h]), summaries) for h in halves])
    return task.result(summaries, reduced)


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_sums_by_key_of_several_places_are_those_of_one(loops, count):
    rng = np.random.default_rng(count)
    rows = made_up_rows(rng, loops)
    ways = [Rows(rows)]
    if count == 2:
        order = rng.permutation(80)
        scores = {name: values[order] for name, values in rows.items()}
        ways.append(Rows({**scores, "score": np.sort(np.round(rng.normal(size=80), 1))}))
    sizes = np.bincount(rows["kind"], minlength=KINDS)
    single, double = np.array([[0], [1], [2], [-1]]), np.array([[0, 1], [1, 1], [1, 2], [2, 0]])
    problems = (
        Classes.of(single, sizes, 3).only([0, 2]),
        Classes.of(double, sizes, 3),
    )
    task = PlacementTask(problems, ((0, 1), (2,)), loops, loops, (NODES, 80 if not loops else 49))
    found, expected = in_places(task, ways), task.here(ways)
    for mine, other in zip(found[0], expected[0], strict=True):
        for one, whole in zip(mine, other, strict=True):
            assert np.array(one.result()) == pytest.approx(np.array(whole.result()))
    for mine, other in zip(found[1], expected[1], strict=True):
        for one, whole in zip(mine, other, strict=True):
            for part, total in zip(one, whole, strict=True):
                assert part == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize(
    ("needed", "sizes"), [(0, [5, 2]), (1, [5, 2]), (2, [2, 2, 2, 1]), (3, [1] * 7), (9, [1] * 7)]
)
def test_classes_summed_together_fit_into_memory(needed, sizes, monkeypatch):
    """Five bytes: five classes of one byte, two of two, and one where none would fit."""
    monkeypatch.setattr(placements, "MAX_BYTES", 5)
    count = np.arange(1, 5)
    problems = [
        Classes.of(np.arange(4)[:, None], count, 4),
        Classes.of(np.array([[0], [1], [2], [2]]), count, 3),
    ]
    blocks = list(placements.class_blocks(problems, needed))
    assert [sum(len(each.chosen) for each in block.values()) for block in blocks] == sizes
    for number, each in enumerate(problems):
        found = [c for block in blocks if number in block for c in block[number].chosen]
        assert found == each.chosen
