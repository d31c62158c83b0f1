"""Sums over rows, against loops over the rows."""

import numpy as np
import pytest

from linkparity.pairs.source import Chunk, Kinds
from linkparity.pairs.totals import NEAR, Moments, Totals
from linkparity.support.arrays import expit

KINDS = Kinds.all(np.array([[0, 0], [0, 1], [1, 1]]), 1)


def make_rows(weighted, seed=0, size=300):
    """Logits near 0 and far out, and two that no tilt can change."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(size=size) * rng.choice([1, 20, 200], size=size)
    logit = np.clip(logit, -690, 690)
    logit[:2] = -np.inf, np.inf
    weight = rng.integers(0, 4, size) * 0.5 if weighted else None
    return Chunk(rng.integers(0, len(KINDS), size), logit, True, None, weight)


def part_of(chunk, rows):
    """Some of the rows."""
    weight = None if chunk.weight is None else chunk.weight[rows]
    return Chunk(chunk.kind[rows], chunk.score[rows], True, None, weight)


def totals_of(*chunks):
    """Of rows added one after another."""
    totals = Totals(KINDS)
    for chunk in chunks:
        totals.add(chunk)
    return totals


@pytest.mark.parametrize("weighted", [False, True])
def test_the_histogram_keeps_weight_mean_and_square_of_the_logits(weighted):
    chunk = make_rows(weighted)
    kind, weight, logit = totals_of(chunk).binned
    assert len(kind) < 2 * len(chunk)
    rows = np.isfinite(chunk.score)
    mass = np.ones(len(chunk)) if chunk.weight is None else chunk.weight
    for k in range(len(KINDS)):
        mine, at = rows & (chunk.kind == k), kind == k
        for power in range(3):
            known = (mass[mine] * chunk.score[mine] ** power).sum()
            assert (weight[at] * logit[at] ** power).sum() == pytest.approx(known, rel=1e-9)


def test_a_bin_has_its_two_points_where_its_logits_are():
    for where in (0.3, -0.3, NEAR - 0.01, NEAR, -NEAR, NEAR + 5.2, -NEAR - 5.2, 699.0, -699.0):
        totals = totals_of(Chunk(np.array([2, 2]), np.array([where, where]), True))
        kind, weight, logit = totals.binned
        assert kind.tolist() == [2, 2]
        assert weight.tolist() == [1, 1]
        assert logit == pytest.approx([where, where], abs=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cuts", [[0], [100], [50, 100, 150]])
def test_parts_are_merged_to_the_sums_of_all(weighted, cuts):
    chunk = make_rows(weighted)
    known = totals_of(chunk)
    parts = [totals_of(part_of(chunk, rows)) for rows in np.split(np.arange(len(chunk)), cuts)]
    found = Totals(KINDS)
    for part in parts:
        found.merge(part)
    for each in (found, totals_of(*(part_of(chunk, r) for r in np.split(np.arange(300), cuts)))):
        assert (each.weighted is each.plain) == (not weighted)
        for name in ("plain", "weighted", "squared"):
            one, two = getattr(each, name), getattr(known, name)
            for column in ("count", "mean", "square"):
                assert getattr(one, column) == pytest.approx(getattr(two, column), abs=1e-9)
        for name in ("heavy", "yes", "no", "spread", "zeros", "ones", "kept", "certain", "bound"):
            assert getattr(each, name) == pytest.approx(getattr(known, name), abs=1e-9), name
        assert np.abs(each.histogram - known.histogram).max() < 1e-9


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_a_loop(weighted):
    chunk = make_rows(weighted)
    totals = totals_of(chunk)
    mass = np.ones(len(chunk)) if chunk.weight is None else chunk.weight
    for k in range(len(KINDS)):
        mine = chunk.kind == k
        p, w = expit(chunk.score[mine]), mass[mine]
        inside = np.isfinite(chunk.score[mine])
        assert totals.plain.count[k] == mine.sum()
        assert totals.weighted.count[k] == pytest.approx(w.sum())
        assert totals.weighted.mean[k] == pytest.approx(np.average(p, weights=w))
        assert totals.squared.mean[k] == pytest.approx(np.average(p, weights=w**2))
        assert totals.plain.square[k] == pytest.approx(((p - p.mean()) ** 2).sum())
        assert totals.heavy[k] == (w > 0).sum()
        assert totals.yes[k] == pytest.approx((w * p)[inside].sum())
        assert totals.no[k] == pytest.approx((w * (1 - p))[inside].sum())
        assert totals.spread[k] == pytest.approx((w * p * (1 - p))[inside].sum())
        assert totals.ones[k] == w[~inside & (p == 1)].sum()
        assert totals.zeros[k] == w[~inside & (p == 0)].sum()
    assert totals.kept == totals.certain == 2


def test_moments_of_no_rows_are_zero():
    found = Moments.of(np.zeros(0, dtype=int), np.zeros(0), None, 2)
    assert (found.count.tolist(), found.mean.tolist()) == ([0, 0], [0, 0])
