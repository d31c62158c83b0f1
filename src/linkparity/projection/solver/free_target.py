r"""A free target by a search over its value: slower than the coupled solver, and more robust.

.. math:: \min_d F(d), \quad
          F(d) = \min_{|\bar p_c - d| \le \varepsilon} \mathrm{KL}(p \,\|\, h), \qquad
          F'(d) = \sum_c W_c \lambda_c

For constraints that share no cell. F is convex, so the best d is the root of F' between the
smallest and the largest mean.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from linkparity.projection.solver.problem import Problem, Solution, shift_logit, solve_separable
from linkparity.projection.sums import Sums, SumSource

#: First step from a target that is nearly right, on the logit scale; further steps grow.
NEAR = 1e-6
GROWTH = 30.0


def solve_free_target(
    sums: SumSource, problem: Problem, start: np.ndarray, tol: float, base: Sums, bound: float
) -> Solution:
    """Find the best target of each block, then the tilts; arguments as in ``solve_separable``."""
    now = problem.logits(base)
    low, high = _range(problem, now)
    warm = bool(start.any())
    target = np.clip(_guess(problem, sums(start) if warm else base, start), low, high)
    best = Solution(start, np.zeros(len(target)), 0, target)
    steps = 0

    def solve_at(tried: np.ndarray) -> Solution:
        nonlocal best, steps
        best = solve_separable(
            sums, replace(problem, target_logit=tried), best.tilt, tol, base, bound
        )
        steps += best.steps
        return best

    for block in np.unique(problem.block):
        mine = problem.block == block
        first, last = float(low[mine][0]), float(high[mine][0])
        derivative = _derivative(solve_at, problem, mine, target)
        root = _root(
            derivative, float(target[mine][0]), first, last, NEAR if warm else (last - first) / 4
        )
        target = np.where(mine, root, target)
    return replace(solve_at(target), steps=steps)


def _guess(problem: Problem, now: Sums, start: np.ndarray) -> np.ndarray:
    """``(C,)`` initial logits of targets, the same in a block.

    A mean that initial tilts move is at the tolerance from the target; else the median mean.
    """
    mean = problem.logits(now)
    pushed = np.sign(problem.entries.times(start))
    aim = shift_logit(mean, problem.tolerance * pushed)
    guess = np.empty(len(mean))
    for block in np.unique(problem.block):
        mine = problem.block == block
        moved = mine & (pushed != 0) & np.isfinite(aim)
        guess[mine] = np.median(aim[moved]) if moved.any() else np.median(mean[mine])
    return guess


def _range(problem: Problem, now: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``(C,)`` logits between which each constraint's best target lies, the same in a block."""
    low, high = np.empty(len(now)), np.empty(len(now))
    for block in np.unique(problem.block):
        mine = problem.block == block
        low[mine], high[mine] = now[mine].min(), now[mine].max()
    if problem.limits is None:
        return low, high
    with np.errstate(divide="ignore"):
        ends = np.clip(problem.limits, 0.0, 1.0)
        least, most = np.log(ends) - np.log1p(-ends)
    return np.clip(low, least, most), np.clip(high, least, most)


def _derivative(
    solve_at: Callable[[np.ndarray], Solution],
    problem: Problem,
    mine: np.ndarray,
    target: np.ndarray,
) -> Callable[[float], float]:
    """F' of one block as a function of its target's logit."""

    @cache
    def derivative(logit: float) -> float:
        found = solve_at(np.where(mine, logit, target))
        return float((problem.weight * found.multiplier)[mine].sum())

    return derivative


def _root(
    derivative: Callable[[float], float], guess: float, low: float, high: float, step: float
) -> float:
    """Root of an increasing function, bracketed in growing steps from a guess; else an end."""
    from scipy.optimize import brentq

    here = derivative(guess)
    while here:
        last, end = guess, low if here > 0 else high
        if last == end:
            break
        guess = max(low, last - step) if here > 0 else min(high, last + step)
        step *= GROWTH
        there = derivative(guess)
        if there * here <= 0:
            return float(brentq(derivative, *sorted((last, guess)), xtol=1e-10))
    return guess
