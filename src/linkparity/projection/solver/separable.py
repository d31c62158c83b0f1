"""Constraints that do not touch each other: independent monotone roots, all at once."""

from typing import NamedTuple

import numpy as np

from linkparity.projection.solver.problem import (
    MAX_STEPS,
    NotConverged,
    Problem,
    Solution,
    shift_logit,
)
from linkparity.projection.sums import Sums, SumSource


def solve_roots(
    sums: SumSource,
    problem: Problem,
    start: np.ndarray,
    tol: float,
    base: Sums,
    bound: float,
) -> Solution:
    """As :func:`linkparity.projection.solver.solve`, each from its last two points in a bracket."""
    assert problem.goal is not None
    given, slope = _logits(problem, base)
    goal = nearest_goal(given, problem.goal, problem.slack)
    root = problem.entries.times(start) / np.maximum(problem.entries.counts, 1)
    low, high = goal - bound, goal + bound
    # a mean that is right as it stands needs no tilt, though a flat cell would bear one
    right = np.abs(given - goal) <= tol
    root = np.where((root > low) & (root < high) & ~right, root, 0.0)
    before = np.full(len(root), np.inf)
    last = plain = _Point(np.zeros(len(root)), given - goal, slope)
    for step in range(MAX_STEPS):
        tilt = problem.entries.spread(root)
        here = plain
        if tilt.any():
            now, slope = _logits(problem, sums(tilt))
            here = _Point(root, now - goal, slope)
        error = here.error
        small = np.abs(error) <= tol
        if small.all():
            return Solution(tilt, root, step, problem.goal)
        low, high = np.where(error < 0, root, low), np.where(error > 0, root, high)
        better = _better(last, here)
        slow = np.abs(error) > 0.5 * before
        safe = (better > low) & (better < high) & ~slow
        middle = low + (high - low) / 2
        before = np.where(safe, np.abs(error), np.inf)
        stuck = ~small & ~safe & ((middle == low) | (middle == high))
        if stuck.any():
            break
        root, last = np.where(small, root, np.where(safe, better, middle)), here
    worst = int(np.argmax(np.where(small, 0.0, np.abs(error))))
    raise NotConverged(
        f"i_project: constraint {problem.rows[worst]} is {abs(error[worst]):.1e} from its target "
        f"on the logit scale after {step} steps, tol is {tol:.1e}; raise tol"
    )


class _Point(NamedTuple):
    """Multipliers, how far each mean's logit is from its goal there, and how fast that grows."""

    root: np.ndarray
    error: np.ndarray
    slope: np.ndarray


def _logits(problem: Problem, now: Sums) -> tuple[np.ndarray, np.ndarray]:
    """``(C,)`` logit of each mean, and its derivative by its own multiplier."""
    hit, miss = problem.hit_miss(now)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        slope = problem.weight * problem.entries.weigh(now.spread) / (hit * miss)
        return np.log(hit) - np.log(miss), np.asarray(slope)


def _better(last: _Point, here: _Point) -> np.ndarray:
    """Where the error is 0 on the cubic that has both points' roots and slopes, as root by error.

    Newton's step where the points are too far apart for the cubic to say more.
    """
    with np.errstate(all="ignore"):
        newton = here.root - here.error / here.slope
        span = here.error - last.error
        u = -last.error / span
        curved = last.root * (1 + 2 * u) * (1 - u) ** 2 + here.root * u * u * (3 - 2 * u)
        curved += u * (1 - u) * span * ((1 - u) / last.slope - u / here.slope)
        near = np.abs(curved - newton) < 0.5 * np.abs(newton - here.root)
    return np.asarray(np.where(near, curved, newton))


def nearest_goal(now: np.ndarray, goal: np.ndarray, slack: float) -> np.ndarray:
    """The logit of the mean nearest to ``now`` within ``slack`` of each target."""
    if slack == 0:
        return goal
    low, high = shift_logit(goal, -slack), shift_logit(goal, slack)
    return np.asarray(np.minimum(np.maximum(now, low), high))
