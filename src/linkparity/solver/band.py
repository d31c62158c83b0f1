r"""A free target, sought from outside: slower than the joint solver, and surer.

.. math:: \min_d F(d), \quad
          F(d) = \min_{|\bar p_c - d| \le \varepsilon} \mathrm{KL}(p \,\|\, h), \qquad
          F'(d) = \sum_c W_c \lambda_c

For constraints that do not touch each other. F is convex, so the best d is the root of F' between
the smallest and the largest mean.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from linkparity.solver.problem import Problem, Solution
from linkparity.solver.roots import solve_roots
from linkparity.sums import Sums, SumSource


def solve_band(
    sums: SumSource, problem: Problem, start: np.ndarray, tol: float, base: Sums, bound: float
) -> Solution:
    """As :func:`linkparity.solver.solve`: the best target of each block, then its tilts."""
    now = problem.logits(base)
    low, high = _range(problem, now)
    goal = np.empty(len(now))
    for block in np.unique(problem.block):
        mine = problem.block == block
        goal[mine] = np.clip(np.median(now[mine]), low[mine][0], high[mine][0])
    best = Solution(start, np.zeros(len(goal)), 0, goal)
    steps = 0

    def solve_at(tried: np.ndarray) -> Solution:
        nonlocal best, steps
        best = solve_roots(sums, replace(problem, goal=tried), best.tilt, tol, base, bound)
        steps += best.steps
        return best

    for block in np.unique(problem.block):
        mine = problem.block == block
        pull = _pull(solve_at, problem, mine, goal)
        goal = np.where(mine, _root(pull, float(low[mine][0]), float(high[mine][0])), goal)
    return replace(solve_at(goal), steps=steps)


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


def _pull(
    solve_at: Callable[[np.ndarray], Solution],
    problem: Problem,
    mine: np.ndarray,
    goal: np.ndarray,
) -> Callable[[float], float]:
    """F' of one block as a function of its target's logit."""

    @cache
    def pull(logit: float) -> float:
        found = solve_at(np.where(mine, logit, goal))
        return float((problem.weight * found.multiplier)[mine].sum())

    return pull


def _root(pull: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    if low == high or pull(low) >= 0:
        return low
    if pull(high) <= 0:
        return high
    return float(brentq(pull, low, high, xtol=1e-10))
