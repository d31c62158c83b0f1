"""Constraints that do not touch each other: independent monotone roots, all at once."""

import numpy as np

from linkparity.solver.problem import MAX_STEPS, NotConverged, Problem, Solution, shift_logit
from linkparity.sums import Sums, SumSource


def solve_roots(
    sums: SumSource,
    problem: Problem,
    start: np.ndarray,
    tol: float,
    base: Sums,
    bound: float,
) -> Solution:
    """As :func:`linkparity.solver.solve`, by Newton on the logit of each mean inside a bracket."""
    assert problem.goal is not None
    given = problem.logits(base)
    goal = nearest_goal(given, problem.goal, problem.slack)
    weight = problem.weight
    count = np.maximum((problem.matrix != 0).sum(axis=1), 1)
    root = problem.matrix @ start / count
    low, high = goal - bound, goal + bound
    # a mean that is right as it stands needs no tilt, though a flat cell would bear one
    right = np.abs(given - goal) <= tol
    root = np.where((root > low) & (root < high) & ~right, root, 0.0)
    before = np.full(len(root), np.inf)
    for step in range(MAX_STEPS):
        tilt = problem.matrix.T @ root
        now = base if not tilt.any() else sums(tilt)
        hit, miss = problem.hit_miss(now)
        spread = np.abs(problem.matrix) @ now.spread
        error = problem.logits(now) - goal
        small = np.abs(error) <= tol
        if small.all():
            return Solution(tilt, root, step, problem.goal)
        low, high = np.where(error < 0, root, low), np.where(error > 0, root, high)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            newton = root - error * hit * miss / (weight * spread)
        slow = np.abs(error) > 0.5 * before
        safe = (newton > low) & (newton < high) & ~slow
        middle = low + (high - low) / 2
        before = np.where(safe, np.abs(error), np.inf)
        stuck = ~small & ~safe & ((middle == low) | (middle == high))
        if stuck.any():
            break
        root = np.where(small, root, np.where(safe, newton, middle))
    worst = int(np.argmax(np.where(small, 0.0, np.abs(error))))
    raise NotConverged(
        f"i_project: constraint {problem.rows[worst]} is {abs(error[worst]):.1e} from its target "
        f"on the logit scale after {step} steps, tol is {tol:.1e}; raise tol"
    )


def nearest_goal(now: np.ndarray, goal: np.ndarray, slack: float) -> np.ndarray:
    """The logit of the mean nearest to ``now`` within ``slack`` of each target."""
    if slack == 0:
        return goal
    low, high = shift_logit(goal, -slack), shift_logit(goal, slack)
    return np.asarray(np.minimum(np.maximum(now, low), high))
