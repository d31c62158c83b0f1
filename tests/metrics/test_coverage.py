"""Intervals cover the truth as often as they say, in a small version of benchmarks/coverage.py."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from linkparity.metrics import ScoredPairs
from linkparity.metrics.measures import MEASURES

PATH = Path(__file__).parents[2] / "benchmarks" / "coverage.py"


@pytest.fixture(scope="module")
def coverage():
    spec = importlib.util.spec_from_file_location("coverage_benchmark", PATH)
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def covered(coverage, scenario, runs):
    """Of means, differences and the largest gap, at the three levels; the last by pairs too."""
    rng = np.random.default_rng(1)
    found = {}
    for _ in range(runs):
        scored = ScoredPairs.of(**scenario.draw(rng))
        truth, _ = scenario.truth(scored.source.kinds.key)
        for name, value in coverage.mean_coverage(scored, truth).items():
            found.setdefault(name, []).append(np.mean(value))
        filled = scored.means.pairs > 0
        for by_node in (True, False):
            other = coverage.replace(scored, by_node=by_node, known={})
            low, high = MEASURES["dp"].function(other).interval
            name = "dp" if by_node else "dp, pairs"
            held = low - 1e-12 <= np.ptp(truth[filled]) <= high
            found.setdefault((name, 0.95), []).append(held)
    return {name: np.mean(each) for name, each in found.items()}


@pytest.mark.standing
@pytest.mark.parametrize(
    "options",
    [
        {"sizes": (50, 50, 50), "effect": 1.0, "density": 0.3},
        {"sizes": (50, 60, 150), "effect": 0.7, "density": 0.1, "hubs": 0.5},
        {"sizes": (50, 70, 50, 90), "effect": 0.8, "density": 0.3, "bipartite": True},
        {"sizes": (60, 60, 60), "effect": 1.0, "density": 0.3, "equal": True},
    ],
    ids=["random effects", "sparse with hubs", "bipartite", "at parity"],
)
def test_intervals_cover_where_nodes_matter(coverage, options):
    found = covered(coverage, coverage.Scenario("", **options), runs=150)
    for level, slack in zip(coverage.LEVELS, (0.04, 0.03, 0.02), strict=True):
        assert found["mean", level] == pytest.approx(level, abs=slack)
        assert found["difference", level] == pytest.approx(level, abs=slack)
    assert found["dp", 0.95] >= 0.9
    assert found["dp, pairs", 0.95] < 0.8


def test_few_nodes_are_covered_nearly_as_often(coverage):
    found = covered(coverage, coverage.Scenario("", (10, 10, 10), 1.0), runs=300)
    assert found["mean", 0.95] >= 0.92
    assert found["difference", 0.95] >= 0.92


@pytest.mark.parametrize(("size", "noise"), [(8, 0.3), (30, 0.0)])
def test_within_and_between_groups_is_covered_where_effects_of_nodes_cancel(size, noise):
    """Every node is within and between equally often, so that its effect cancels in the gap."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(3), size)
    nodes = np.stack(np.triu_indices(len(group), 1), axis=1)
    level = -1 + 0.5 * (group[nodes[:, 0]] == group[nodes[:, 1]])
    x, w = np.polynomial.hermite_e.hermegauss(80)
    spread = np.sqrt(2 * 0.7**2 + noise**2)
    inside, across = (expit(mean + spread * x) @ w / w.sum() for mean in (-0.5, -1.0))
    held = []
    for _ in range(150):
        logits = level + 0.7 * rng.normal(size=len(group))[nodes].sum(axis=1)
        logits = logits + noise * rng.normal(size=len(nodes))
        scored = ScoredPairs.of(logits=logits, groups=group[nodes], nodes=nodes, view="mixed")
        low, high = MEASURES["dp"].function(scored).interval
        held.append(low <= inside - across <= high)
    assert np.mean(held) >= 0.93
