"""Rows in the order of their scores, at once and in buckets, against a sorted list."""

import numpy as np
import pytest

from linkparity.pairs import arrays, sorting
from linkparity.pairs.arrays import array_pairs
from linkparity.pairs.sorting import bucket_edges, sorted_rows


@pytest.mark.parametrize("bucket", [7, 40, 1000])
@pytest.mark.parametrize("levels", [1, 3, 10**6])
def test_rows_in_buckets_are_those_of_a_sorted_list(levels, bucket, monkeypatch, tmp_path):
    for name, value in (("AT_ONCE", 50), ("BUCKET", bucket), ("PIECE", 9), ("SAMPLE", 5)):
        monkeypatch.setattr(sorting, name, value)
    monkeypatch.setattr(arrays, "CHUNK", 30)
    rng = np.random.default_rng(levels)
    score = rng.integers(0, levels, 200) / 8
    pairs, weight = rng.integers(0, 9, (200, 2)), rng.random(200)
    for size in (200, 50, 1):
        groups = pairs[:size] % 2
        source = array_pairs(score[:size], groups, True, None, weight[:size], (), pairs[:size])
        source.scratch = tmp_path
        parts = list(sorted_rows(source, ("row", "weight", "first", "kind")))
        assert max(len(part[0]) for part in parts) <= 9
        found, row, mass, first, kind = (np.concatenate(each) for each in zip(*parts, strict=True))
        assert found.tolist() == sorted(score[:size].tolist())
        assert sorted(row.tolist()) == list(range(size))
        rows = source.gather()
        for column, known in (
            (found, score), (mass, weight), (first, rows.first), (kind, rows.kind),
        ):  # fmt: skip
            assert column.tolist() == known[row].tolist()
    assert not list(tmp_path.iterdir())


def test_buckets_hold_about_as_many_rows_each():
    score = np.random.default_rng(0).permutation(1000).astype(float)
    edges = bucket_edges([score[:400], score[400:]], 8)
    assert edges.tolist() == [125, 250, 375, 500, 625, 750, 875]
    assert len(bucket_edges([score[:0]], 8)) == 0


def test_a_frequent_score_has_a_bucket_of_its_own():
    score = np.concatenate([np.arange(10.0), np.full(80, 10.0), np.arange(11.0, 21.0)])
    edges = bucket_edges([score], 5)
    sizes = np.bincount(np.searchsorted(edges, score, "right"), minlength=len(edges) + 1)
    assert sizes.tolist() == [10, 80, 10]
