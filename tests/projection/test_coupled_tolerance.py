"""Several attributes with a tolerance: random problems against an interior-point solver."""

import numpy as np
import pytest
import torch
from oracles import constraints_of, primal

from linkparity import Infeasible, i_project


def random_attributes(seed, reach):
    """Logits, weights, two to four attributes of tiny cells, a target and a tolerance."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(8, 40))
    groups = {
        f"attribute {i}": rng.integers(0, rng.integers(2, 5), (count, 2))
        for i in range(rng.integers(2, 5))
    }
    logits = rng.uniform(-reach, reach, count)
    weight = rng.choice([1.0, 0.5, 3.0], count)
    target = ("model", "free", 0.3)[rng.integers(3)]
    return logits, weight, groups, target, float(rng.choice([0.005, 0.02, 0.1]))


def solve(logits, weight, groups, target, tolerance):
    given = torch.from_numpy(logits)
    return i_project(
        given, groups, combine="each", weight=weight, target=target, tolerance=tolerance
    )


def rows_of(groups):
    return [
        ((name, key), members)
        for name, group in groups.items()
        for key, members in constraints_of(group, "dp", None)
    ]


def agrees_with_the_primal(seed):
    logits, weight, groups, target, tolerance = problem = random_attributes(seed, 20.0)
    value, _ = primal(logits, rows_of(groups), weight, target, tolerance)
    try:
        found = solve(*problem)
    except Infeasible:
        assert value is None or not np.isfinite(value), seed
        return
    assert found.residual <= tolerance + 1e-6, seed
    if value is not None and np.isfinite(value):
        assert found.kl.item() == pytest.approx(value, rel=1e-6, abs=1e-6), seed


def test_random_problems_agree_with_the_primal():
    for seed in range(60):
        agrees_with_the_primal(seed)


@pytest.mark.standing
def test_five_hundred_random_problems_agree_with_the_primal():
    for seed in range(60, 560):
        agrees_with_the_primal(seed)


def test_far_logits_stay_within_the_tolerance():
    for seed in range(60):
        logits, weight, groups, target, tolerance = random_attributes(seed, 60.0)
        try:
            found = solve(logits, weight, groups, target, tolerance)
        except Infeasible:
            assert target != "free"
            continue
        assert found.residual <= tolerance + 1e-6, seed
