"""Several attributes with a tolerance: random problems against an interior-point solver.

``LINKPARITY_COUPLED`` is the number of problems of the standing test, and
``LINKPARITY_COUPLED_FROM`` the first seed.
"""

import os

import numpy as np
import pytest
import torch
from cvxpy import SolverError
from oracles import constraints_of, primal, suboptimality

from linkparity import Infeasible, i_project

#: Logits up to here are compared with cvxpy, which does not converge far beyond.
NEAR, FAR = 20.0, 60.0
FEW = 60
MANY = int(os.environ.get("LINKPARITY_COUPLED", "500"))
FIRST = int(os.environ.get("LINKPARITY_COUPLED_FROM", str(FEW)))


def random_attributes(seed):
    """Logits, weights, two to four attributes of tiny cells, a target and a tolerance."""
    rng = np.random.default_rng(seed)
    reach = NEAR if seed % 2 else FAR
    count = int(rng.integers(8, 40))
    groups = {
        f"attribute {i}": rng.integers(0, rng.integers(2, 5), (count, 2))
        for i in range(rng.integers(2, 5))
    }
    logits = (
        rng.uniform(-reach, reach, count),
        np.clip(rng.normal(-reach / 3, reach / 6, count), -reach, reach),
        rng.choice([-reach, -1.0, 0.0, reach], count),
    )[rng.integers(3)]
    weight = rng.choice([1.0, 0.5, 3.0], count)
    target = ("model", "free", 0.3)[rng.integers(3)]
    return logits, weight, groups, target, float(rng.choice([1e-4, 0.005, 0.02, 0.1]))


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


def check(seed):
    """Compare with a linear program, and with cvxpy where that finds a solution; whether it did."""
    logits, weight, groups, target, tolerance = problem = random_attributes(seed)
    rows = rows_of(groups)
    try:
        found = solve(*problem)
    except Infeasible:
        assert suboptimality(logits, 0 * logits, rows, weight, target, tolerance) is None, seed
        return False
    kl = found.kl.item()
    assert found.residual <= tolerance + 1e-9, seed
    tilt = found.tilt.numpy()[found.cell.numpy()]
    above = suboptimality(logits, tilt, rows, weight, target, tolerance)
    assert above is not None, seed
    assert above <= 1e-6 * max(kl, 1.0), seed
    if np.abs(logits).max() > NEAR:
        return False
    try:
        value, _ = primal(logits, rows, weight, target, tolerance)
    except SolverError:
        return False
    if value is None or np.isinf(value):  # wrong, as the linear program has shown
        return False
    assert kl == pytest.approx(value, rel=1e-6, abs=1e-6), seed
    return True


def test_random_problems_agree_with_the_primal():
    assert sum(map(check, range(FEW))) > FEW / 3


@pytest.mark.standing
def test_many_random_problems_agree_with_the_primal():
    assert sum(map(check, range(FIRST, FIRST + MANY))) > MANY / 3
