r"""The joint case: overlapping constraints, a free mean, a tolerance. Trust-region Newton.

.. math:: \max_\mu \; -Z(B^\top\mu) + \mu\cdot\beta - \varepsilon\|\mu\|_1, \qquad
          g = \beta - B S, \quad H = B\,\mathrm{diag}(V)\,B^\top

B holds the constraints as means. For a free target, each mean less its block's; with a tolerance,
where the common mean need not be the block's own, μ sums to 0 over a block instead. The logistic
function bends by at most a factor e per unit of tilt, so the radius bounds the change of tilt.
"""

from dataclasses import dataclass

import numpy as np

from linkparity.projection.solver.feasibility import explain
from linkparity.projection.solver.problem import MAX_STEPS, Problem, Solution
from linkparity.projection.sums import Sums, SumSource
from linkparity.support.arrays import expit

#: With a tolerance, a solver that comes to a halt this near on the logit scale has arrived.
BAND_TOL = 1e-5


@dataclass(frozen=True)
class _State:
    """Where the solver stands: multipliers, derivatives of the dual, distance from the targets."""

    mu: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray
    error: np.ndarray
    goal: np.ndarray


def solve_coupled(
    sums: SumSource, problem: Problem, start: np.ndarray, tol: float, base: Sums
) -> Solution:
    """As :func:`linkparity.projection.solver.solve`, for constraints that depend on each other."""
    weight, centre = problem.weight, problem.centring
    rows = centre @ (problem.dense / weight[:, None])
    scale = (rows**2) @ (problem.mass / 4)
    used = np.arange(len(rows)) if problem.tolerance else _independent(rows, problem.mass)
    centre, rows, scale = centre[used], rows[used], scale[used]

    def state(mu: np.ndarray) -> _State:
        tilt = rows.T @ mu
        now = sums(tilt) if tilt.any() else base
        goal = (
            problem.target_logit if problem.target_logit is not None else _common(problem, now, mu)
        )
        lack, unit = _lack(problem, goal, now)
        unmet = _unmet(lack, mu, weight, problem.tolerance) if problem.tolerance else lack
        return _State(mu, centre @ lack, (rows * now.variance) @ rows.T, unmet / unit, goal)

    here = state(_begin(rows, start, problem))
    radius, steps = 4.0, 0
    for _ in range(MAX_STEPS):
        if np.abs(here.error).max() <= tol:
            break
        steps += 1
        with np.errstate(over="ignore", invalid="ignore"):
            move = _step(here, rows, scale, problem, radius)
        if not np.isfinite(move).all():
            break
        there = state(here.mu + move)
        before = _along(here.gradient, move, here.mu, here.mu, problem.tolerance)
        after = _along(there.gradient, move, there.mu, here.mu, problem.tolerance)
        reach = np.abs(rows.T @ move).max()
        if not before > 0 or reach == 0:
            break
        if after < -0.5 * before:
            radius = reach * max(0.1, min(0.5, before / (before - after)))
            continue
        if after > 0.25 * before:
            radius = max(radius, reach) * 3
        here = there
    # which of several redundant constraints binds is a matter of rounding, their means are not
    if np.abs(here.error).max() <= (max(tol, BAND_TOL) if problem.tolerance else tol):
        return Solution(rows.T @ here.mu, centre.T @ here.mu / weight, steps, here.goal)
    raise explain(problem, here.error, tol, steps)


def _begin(rows: np.ndarray, start: np.ndarray, problem: Problem) -> np.ndarray:
    """Multipliers that give the tilts to start from, as nearly as they can."""
    if not start.any():
        return np.zeros(len(rows))
    mu = np.linalg.lstsq(rows.T, start, rcond=None)[0]
    if problem.target_logit is None and problem.tolerance:
        mu -= (problem.same_block @ mu) / problem.same_block.sum(axis=1)
    return np.asarray(mu)


def _common(problem: Problem, now: Sums, mu: np.ndarray) -> np.ndarray:
    """Logit of the common mean of each block: its own, or what its active constraints agree on."""
    together = problem.same_block
    hit, miss = problem.statistic_sums(now)
    if not problem.tolerance:
        return np.asarray(np.log(together @ hit) - np.log(together @ miss))
    active = together * (mu != 0)
    count = active.sum(axis=1)
    shift = problem.tolerance * np.sign(mu)

    def agreed(mean: np.ndarray, shift: np.ndarray) -> np.ndarray:
        low = np.array([mean[mine].min() for mine in together])
        high = np.array([mean[mine].max() for mine in together])
        value = active @ (mean + shift) / np.maximum(count, 1)
        inside = (count > 0) & (low < value) & (value < high)
        return np.asarray(np.where(inside, value, (low + high) / 2))

    yes, no = agreed(hit / problem.weight, shift), agreed(miss / problem.weight, -shift)
    return np.asarray(np.log(yes) - np.log(no))


def _lack(problem: Problem, goal: np.ndarray, now: Sums) -> tuple[np.ndarray, np.ndarray]:
    """What each mean lacks, and d(1 − d), by which a small lack becomes one of the logit."""
    hit, miss = problem.statistic_sums(now)
    yes, no, weight = expit(goal), expit(-goal), problem.weight
    lack: np.ndarray = np.where(yes < no, yes - hit / weight, miss / weight - no)
    return lack, np.asarray(yes * no)


def _unmet(lack: np.ndarray, mu: np.ndarray, weight: np.ndarray, slack: float) -> np.ndarray:
    """What is lacking beyond the slack, or the share of each constraint in the duality gap."""
    beyond = np.maximum(np.abs(lack) - slack, 0.0)
    gap = np.maximum(slack * np.abs(mu) - mu * lack, 0.0)
    return np.asarray(np.maximum(beyond, gap / weight))


def _along(
    gradient: np.ndarray, move: np.ndarray, mu: np.ndarray, origin: np.ndarray, slack: float
) -> float:
    """Directional derivative of the dual at ``mu`` along ``move``, on the side of ``origin``."""
    sign = np.where(mu != 0, np.sign(mu), np.where(origin != 0, np.sign(origin), np.sign(move)))
    return float(gradient @ move - slack * (sign @ move))


def _step(
    here: _State, rows: np.ndarray, scale: np.ndarray, problem: Problem, radius: float
) -> np.ndarray:
    """The Newton step, or the damped one whose largest change of tilt fits the radius."""
    if problem.tolerance:
        return _banded_step(here, rows, scale, problem, radius)
    root = np.sqrt(np.diag(here.hessian))
    root = np.where(root > 1e-15 * np.sqrt(scale), root, np.sqrt(scale))
    move = _damped(here, root, 0.0)
    for damping in 1e-16 * 4.0 ** np.arange(200):
        if np.isfinite(move).all() and np.abs(rows.T @ move).max() <= radius:
            break
        move = _damped(here, np.sqrt(scale), damping)
    return move


def _damped(here: _State, root: np.ndarray, damping: float) -> np.ndarray:
    """(H + damping)⁻¹ g, in units of ``root`` for each constraint."""
    values, vectors = np.linalg.eigh(here.hessian / np.outer(root, root))
    force = vectors.T @ (here.gradient / root)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(vectors @ (force / (np.maximum(values, 0.0) + damping)) / root)


def _independent(rows: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Constraints that do not follow from others: two attributes' rows have the same sum."""
    from scipy.linalg import qr

    scaled = (rows * np.sqrt(mass)).T
    scaled = scaled / np.maximum(np.linalg.norm(scaled, axis=0), np.finfo(float).tiny)
    triangle, order = qr(scaled, mode="r", pivoting=True)
    size = np.abs(np.diag(triangle))
    return np.sort(order[: np.count_nonzero(size > 1e-9)])


def _banded_step(
    here: _State, rows: np.ndarray, scale: np.ndarray, problem: Problem, radius: float
) -> np.ndarray:
    """The step with kinks: from a damped model which constraints bind, then their Newton step."""
    if not (np.isfinite(here.hessian).all() and np.isfinite(here.gradient).all()):
        return np.full(len(here.mu), np.nan)
    damping = max(1e-9 * (np.diag(here.hessian) / scale).max(), 1e-20)
    extra = 0.0
    for _ in range(200):
        rough, pull = _proximal(here, here.hessian + (damping + extra) * np.diag(scale), problem)
        if not np.isfinite(rough).all():
            return rough
        sharp = _bound_step(here, here.hessian + extra * np.diag(scale), problem, scale, pull)
        for move in (sharp, rough):
            rises = _along(here.gradient, move, here.mu, here.mu, problem.tolerance) > 0
            if rises and np.abs(rows.T @ move).max() <= radius:
                return move
        if not np.abs(rows.T @ rough).max() > radius:
            return rough
        extra = max(extra, damping) * 8
    return rough


def _proximal(here: _State, hessian: np.ndarray, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    r"""The step to where the quadratic model with its kinks is largest; which constraints bind.

    .. math:: \max_\nu c\cdot\nu - \tfrac12 \nu^\top H \nu - \varepsilon\|\nu\|_1
              \;=\; \min_{|u| \le \varepsilon,\, d} \tfrac12 \|H^{-1/2}(c - u - E^\top d)\|^2

    with d only for a free target: bounded least squares, :math:`\nu = H^{-1}(c - u - E^\top d)`,
    and a constraint binds where |u| = ε.
    """
    from scipy.optimize import lsq_linear

    count, slack = len(here.mu), problem.tolerance
    root = np.linalg.cholesky(hessian)
    force = here.gradient + hessian @ here.mu
    free = _free_columns(problem)
    design = np.linalg.solve(root, np.hstack([np.eye(count), free]))
    bound = np.concatenate([np.full(count, slack), np.full(free.shape[1], np.inf)])
    aim = np.linalg.solve(root, force)
    found = lsq_linear(design, aim, (-bound, bound), method="bvls", tol=1e-14)
    pull = found.x[:count]
    pull = np.where(np.abs(pull) < slack * (1 - 1e-9), 0.0, np.sign(pull))
    rest = aim - design @ found.x
    nu = np.where(pull == 0, 0.0, np.linalg.solve(root.T, rest))
    return nu - here.mu, pull


def _bound_step(
    here: _State, hessian: np.ndarray, problem: Problem, scale: np.ndarray, pull: np.ndarray
) -> np.ndarray:
    """The step that meets the binding constraints exactly in the quadratic model."""
    bound = np.flatnonzero(pull)
    root = np.sqrt(scale[bound])
    force = (here.gradient + hessian @ here.mu - problem.tolerance * pull)[bound] / root
    inner = hessian[np.ix_(bound, bound)] / np.outer(root, root)
    free = _free_columns(problem)[bound] / root[:, None]
    none = np.zeros((free.shape[1], free.shape[1]))
    system = np.block([[inner, free], [free.T, none]])
    found = np.linalg.lstsq(system, np.append(force, np.zeros(len(none))), rcond=1e-13)[0]
    nu = np.zeros(len(pull))
    nu[bound] = found[: len(bound)] / root
    return np.asarray(nu - here.mu)


def _free_columns(problem: Problem) -> np.ndarray:
    """``(C, blocks)`` membership of each constraint in the blocks whose mean is free; else none."""
    if problem.target_logit is not None:
        return np.empty((len(problem.block), 0))
    blocks = np.unique(problem.block)
    return np.array(problem.block[:, None] == blocks[None, :], dtype=float)
