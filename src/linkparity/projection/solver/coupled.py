r"""Coupled constraints: attributes that overlap, or a free target. Trust-region Newton.

.. math:: \max_\mu \; \mu\cdot\beta - Z(B^\top\mu), \qquad
          g = \beta - B S, \quad H = B\,\mathrm{diag}(V)\,B^\top

B holds the constraints as means; for a free target, each mean less its block's. The logistic
function bends by at most a factor e per unit of tilt, so the radius bounds the change of tilt.
"""

from typing import NamedTuple

import numpy as np

from linkparity.projection.solver.problem import (
    MAX_STEPS,
    Infeasible,
    NotConverged,
    Problem,
    Solution,
)
from linkparity.projection.sums import Sums, SumSource
from linkparity.support.arrays import expit

#: A constraint unmet by more than this is beyond rounding.
MARGIN = 1e-6


class _Point(NamedTuple):
    """Multipliers, derivatives of the dual there, distances from the targets, target logits."""

    mu: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray
    error: np.ndarray
    goal: np.ndarray


def solve_coupled(
    sums: SumSource, problem: Problem, start: np.ndarray, tol: float, base: Sums
) -> Solution:
    """As :func:`~linkparity.projection.solver.problem.solve_separable`, for any constraints."""
    weight, centre = problem.weight, _centring(problem)
    rows = centre @ (problem.dense / weight[:, None])
    used = _independent(rows, problem.mass)
    centre, rows = centre[used], rows[used]
    scale = np.sqrt((rows**2) @ (problem.mass / 4))

    def at(mu: np.ndarray) -> _Point:
        tilt = rows.T @ mu
        now = sums(tilt) if tilt.any() else base
        goal = problem.target_logit
        if goal is None:
            yes, no = map(problem.block_sum, problem.statistic_sums(now))
            goal = np.log(yes) - np.log(no)
        lack = problem.lack(now, goal)
        error = lack / (expit(goal) * expit(-goal))
        return _Point(mu, centre @ lack, (rows * now.variance) @ rows.T, error, goal)

    mu = np.linalg.lstsq(rows.T, start, rcond=None)[0] if start.any() else np.zeros(len(rows))
    here, radius = at(mu), 4.0
    for steps in range(MAX_STEPS):
        if np.abs(here.error).max() <= tol:
            return Solution(rows.T @ here.mu, centre.T @ here.mu / weight, steps, here.goal)
        with np.errstate(over="ignore", invalid="ignore"):
            move = _step(here, rows, scale, radius)
        before, reach = here.gradient @ move, np.abs(rows.T @ move).max()
        if not (np.isfinite(move).all() and before > 0 and reach > 0):
            break
        there = at(here.mu + move)
        after = there.gradient @ move
        if after < -0.5 * before:
            radius = reach * max(0.1, min(0.5, before / (before - after)))
            continue
        if after > 0.25 * before:
            radius = max(radius, reach) * 3
        here = there
    raise explain(problem, here.error, tol, steps)


def _centring(problem: Problem) -> np.ndarray:
    """``(C, C)`` subtracts the mean of its block from each mean, where that is the target."""
    problem.check_size()
    eye = np.eye(len(problem.block))
    if problem.target_logit is not None:
        return eye
    share = problem.weight / problem.block_sum(problem.weight)
    return np.asarray(eye - (problem.block[:, None] == problem.block) * share)


def _independent(rows: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Constraints that do not follow from others: two attributes' rows have the same sum."""
    from scipy.linalg import qr

    scaled = (rows * np.sqrt(mass)).T
    scaled = scaled / np.maximum(np.linalg.norm(scaled, axis=0), np.finfo(float).tiny)
    triangle, order = qr(scaled, mode="r", pivoting=True)
    size = np.abs(np.diag(triangle))
    return np.sort(order[: np.count_nonzero(size > 1e-9)])


def _step(here: _Point, rows: np.ndarray, scale: np.ndarray, radius: float) -> np.ndarray:
    """The Newton step, or the damped one whose largest change of tilt fits the radius."""
    root = np.sqrt(np.diag(here.hessian))
    move = _damped(here, np.where(root > 1e-15 * scale, root, scale), 0.0)
    for damping in 1e-16 * 4.0 ** np.arange(200):
        if np.isfinite(move).all() and np.abs(rows.T @ move).max() <= radius:
            break
        move = _damped(here, scale, damping)
    return move


def _damped(here: _Point, root: np.ndarray, damping: float) -> np.ndarray:
    """(H + damping)⁻¹ g, in units of ``root`` for each constraint."""
    values, vectors = np.linalg.eigh(here.hessian / np.outer(root, root))
    force = vectors.T @ (here.gradient / root)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(vectors @ (force / (np.maximum(values, 0.0) + damping)) / root)


def explain(problem: Problem, error: np.ndarray, tol: float, step: int) -> Exception:
    """The constraint that cannot hold, or how far the solver came."""
    return find_infeasible(problem) or NotConverged(
        f"{np.abs(error).max():.1e} from the target on the logit scale after {step} steps, tol is "
        f"{tol:.1e}",
        "raise tol",
        caller="i_project",
    )


def find_infeasible(problem: Problem) -> Infeasible | None:
    """A constraint that cannot hold together with the others, when they are met as well as can be.

    With a free target there is none: probabilities of ½ meet any constraint. None too where the
    linear program has no solution in floating point.
    """
    if problem.target_logit is None:
        return None
    from scipy.optimize import linprog

    means = problem.dense * problem.mass / problem.weight[:, None]
    right = expit(problem.target_logit) + np.minimum(means, 0).sum(axis=1)
    count, cells = means.shape
    eye = np.eye(count)
    found = linprog(
        np.concatenate([np.zeros(cells), np.ones(count)]),
        A_ub=np.block([[means, -eye], [-means, -eye]]),
        b_ub=np.concatenate([right, -right]) + problem.tolerance,
        bounds=[(0, 1)] * cells + [(0, None)] * count,
    )
    if found.status != 0:
        return None
    unmet = found.x[cells:]
    worst = int(np.argmax(unmet))
    if unmet[worst] <= MARGIN:
        return None
    return Infeasible(
        f"constraint {problem.rows[worst]} cannot hold together with the others "
        f"(its mean stays {unmet[worst]:.2g} away)",
        "drop it, change its target, or allow a tolerance",
        caller="i_project",
    )
