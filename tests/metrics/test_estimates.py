"""Estimates with their reasons, draws, and covariances of means now and before, by loops."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from linkparity.metrics.intervals import estimates
from linkparity.metrics.intervals.covariance import Spread
from linkparity.metrics.intervals.estimates import (
    IntervalOptions,
    few_nodes,
    gap_estimate,
    mean_intervals,
    no_interval,
    normal_draws,
)
from linkparity.metrics.intervals.spreads import mean_covariances
from linkparity.pairs.arrays import ArrayPairs, array_pairs
from linkparity.pairs.nodes import CellSet
from linkparity.pairs.totals import Totals
from linkparity.support.errors import InputError


def test_interval_options_are_checked_and_the_usual_ones_accepted():
    usual = IntervalOptions()
    usual.check("audit")
    assert usual.confidence == 0.95
    with pytest.raises(InputError, match=r"^audit: seed must be .* got -1"):
        IntervalOptions(seed=-1).check("audit")
    with pytest.raises(InputError, match=r"^audit: confidence must lie strictly between 0 and 1"):
        IntervalOptions(confidence=1.9).check("audit")


def test_an_undefined_measure_has_an_undefined_interval_where_one_is_asked_for():
    assert no_interval(None) is None
    assert np.isnan(no_interval(0.95)).all()
    assert len(no_interval(0.95)) == 2
    names = (["a", "b"], (7, "links"), "mixed")
    for confidence, interval in ((None, None), (0.9, (pytest.approx(np.nan, nan_ok=True),) * 2)):
        found = gap_estimate(np.array([0.3, np.nan]), None, *names, confidence, 0)
        assert (found.count, found.unit, found.interval) == (7, "links", interval)
        assert found.reason == "needs links in two cells of the view 'mixed', got 1"


def test_a_gap_without_intervals_has_its_value_and_what_it_is_from():
    found = gap_estimate(np.array([0.3, 0.7]), None, ["a", "b"], (7, "links"), "mixed", None, 0)
    assert (found.value, found.count, found.unit) == (pytest.approx(0.4), 7, "links")
    assert found.interval is None


def test_a_gap_whose_end_has_no_variance_keeps_the_intervals_of_its_cells():
    mean = np.array([0.2, 0.5, 0.9])
    variance = np.array([0.01, 0.02, np.nan])
    spread = Spread(variance, None, np.full(3, 9.0), np.full(3, 8.0))
    found = gap_estimate(mean, spread, ["a", "b", "c"], (7, "pairs"), "subgroup", 0.9, 0)
    assert found.reason == "an end of the gap has too few nodes for a variance (c)"
    assert np.isnan(found.interval).all()
    expected = mean_intervals(mean, spread, 0.9)
    assert np.isfinite(expected[:2]).all()
    assert found.cell_intervals == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("size", [3, 4, 7])
def test_draws_have_the_covariance_also_where_its_eigenvalues_are_equal(size):
    """The draws are those of independent normals by a root of the covariance."""
    rng = np.random.default_rng(size)
    turn = np.linalg.qr(rng.normal(size=(size, size)))[0]
    values = np.array([1.0, 1.0, *np.full(size - 2, 3.0)])
    plain = np.random.default_rng(5).standard_normal((estimates.DRAWS, size))
    for covariance in ((turn * values) @ turn.T, np.eye(size) + 1.0):
        root = np.linalg.lstsq(plain, normal_draws(covariance, 5), rcond=None)[0]
        assert root @ root.T == pytest.approx(covariance, abs=1e-9)


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        (3.4, "fewer than its coverage was measured with"),
        (3.6, "In simulations with 4 nodes per group"),
        (4.4, "In simulations with 4 nodes per group"),
        (6.0, "In simulations with 5 nodes per group"),
        (49.0, "In simulations with 30 nodes per group"),
    ],
)
def test_few_nodes_are_told_with_the_coverage_measured_for_so_many(nodes, told):
    found = few_nodes({"dp": SimpleNamespace(nodes=nodes), "auc": SimpleNamespace(nodes=80.0)})
    assert len(found) == 1
    assert told in found[0]
    assert found[0].startswith("dp: ")


@pytest.mark.parametrize("by_node", [False, True])
def test_means_now_and_before_covary_as_loops_over_dyads_and_nodes_say(by_node):
    """Weights whose mean is not 1, a unit of its own; dyads with several rows."""
    rng = np.random.default_rng(3)
    ids = rng.integers(0, 6, 40)[:, None] + rng.integers(1, 6, (40, 2)) * [[0, 1]]
    groups, weight = np.sort(ids % 2, axis=1), rng.uniform(2, 9, 40)
    now, was = rng.random((2, 40))
    rows = array_pairs(now, groups, False, None, weight, ids=ids)
    source = ArrayPairs(replace(rows.columns, before=was), rows.kinds, rows.nodes)
    totals = [Totals(source.kinds), Totals(source.kinds)]
    source.run(totals[0])
    source.before().run(totals[1])
    cell = np.unique(groups, axis=0, return_inverse=True)[1].reshape(-1)
    inside = (cell == np.arange(3)[:, None]) * weight
    means = [inside @ values / inside.sum(axis=1) for values in (now, was)]
    unit = weight.mean()
    cells = CellSet(source.kinds.of_pair, means[0], inside.sum(axis=1) / unit, means[1])
    [found] = mean_covariances(source, totals, [cells], True, by_node)
    off = np.concatenate(
        [inside * (values - mean[:, None]) for values, mean in zip((now, was), means, strict=True)]
    )
    each, key = np.concatenate([inside, inside]), np.sort(ids, axis=1) @ [100, 1]
    dyads = (key if by_node else np.arange(40)) == np.unique(key if by_node else np.arange(40))[
        :, None
    ]
    assert len(dyads) < 40 or not by_node
    nodes = (ids == np.unique(ids)[:, None, None]).any(axis=2)
    for number, values in enumerate((off / unit, each / unit)):
        sums = values @ dyads.T
        assert found.dyads[number] == pytest.approx(sums @ sums.T)
        sums = values @ nodes.T
        assert found.nodes[number] == pytest.approx(by_node * (sums @ sums.T))
