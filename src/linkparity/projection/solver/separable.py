"""Constraints that share no cell: independent roots of increasing functions, all at once."""

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


def solve_separable(
    sums: SumSource,
    problem: Problem,
    start: np.ndarray,
    tol: float,
    base: Sums,
    bound: float,
) -> Solution:
    """Find every multiplier from its last two points, within a bracket.

    Args:
        sums: the sums per cell at given tilts, computed once per step.
        problem: the constraints; each must have some weight.
        start: ``(M,)`` initial tilts.
        tol: accuracy of ``logit(mean_c) − logit(d_c)``.
        base: the sums at tilt 0.
        bound: a number that no logit exceeds in absolute value.
    """
    assert problem.target_logit is not None
    given, slope = _logits(problem, base)
    target = nearest_target(given, problem.target_logit, problem.tolerance)
    root = problem.entries.times(start) / np.maximum(problem.entries.counts, 1)
    low, high = target - bound, target + bound
    # a mean that meets its target needs no tilt, though a flat cell would allow one
    right = np.abs(given - target) <= tol
    root = np.where((root > low) & (root < high) & ~right, root, 0.0)
    before = np.full(len(root), np.inf)
    last = plain = _Point(np.zeros(len(root)), given - target, slope)
    for step in range(MAX_STEPS):
        tilt = problem.entries.transpose_times(root)
        here = plain
        if tilt.any():
            now, slope = _logits(problem, sums(tilt))
            here = _Point(root, now - target, slope)
        error = here.error
        small = np.abs(error) <= tol
        if small.all():
            return Solution(tilt, root, step, problem.target_logit)
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
        f"constraint {problem.rows[worst]} is {abs(error[worst]):.1e} from its target on the "
        f"logit scale after {step} steps, tol is {tol:.1e}",
        "raise tol",
        caller="i_project",
    )


class _Point(NamedTuple):
    """Multipliers, each mean's distance from its target on the logit scale, and its derivative."""

    root: np.ndarray
    error: np.ndarray
    slope: np.ndarray


def _logits(problem: Problem, now: Sums) -> tuple[np.ndarray, np.ndarray]:
    """``(C,)`` logit of each mean, and its derivative by its own multiplier."""
    total, complement = problem.statistic_sums(now)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        slope = problem.weight * problem.entries.absolute_times(now.variance) / (total * complement)
        return np.log(total) - np.log(complement), np.asarray(slope)


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


def nearest_target(now: np.ndarray, target: np.ndarray, tolerance: float) -> np.ndarray:
    """The logit of the mean nearest to ``now`` within ``tolerance`` of each target."""
    if tolerance == 0:
        return target
    low, high = shift_logit(target, -tolerance), shift_logit(target, tolerance)
    return np.asarray(np.minimum(np.maximum(now, low), high))
