r"""Coupled constraints with a tolerance: a primal-dual interior-point method on the dual.

.. math:: \max_{u, v > 0} \; \lambda\cdot b - Z(A^\top\lambda) - \varepsilon\, W\cdot(u + v)
          + \tau\, W\cdot(\log u + \log v), \qquad \lambda = u - v, \quad \tau \to 0

Let g be what each mean lacks of its target. At the maximum u (ε − g) = v (ε + g) = τ: every mean is
inside its band, and the duality gap is at most 2τ per weight. Newton's method on these equations
keeps the slacks ε ∓ g as variables of their own. Whatever their values, its step is a direction of
ascent of the concave function above, so the derivative along the step tells how far to go. With a
free target Wλ sums to 0 over each block, and the target is the multiplier of that condition.
"""

from typing import NamedTuple

import numpy as np

from linkparity.projection.solver.coupled import explain, find_infeasible
from linkparity.projection.solver.problem import Problem, Solution, nearest_target
from linkparity.projection.sums import Sums, SumSource

MAX_STEPS = 600
#: After this many steps, a linear program tells whether the constraints can hold at all.
PATIENCE = 60
#: Initial u and v of a multiplier of 0, without and with initial tilts.
COLD, WARM = 10.0, 0.1
#: Largest change of a tilt in the first step.
RADIUS = 8.0
#: τ is multiplied by SHRINK when a step would gain less than CENTRED · τ per weight.
SHRINK, CENTRED = 0.02, 3.0
#: How far a step may go towards a u, v or slack of 0.
TOWARDS_ZERO = 0.99
#: A step shorter than this sets the slacks to τ / u and τ / v.
SHORT = 0.1
#: Accuracy of a mean in floating point.
ROUNDING = 1e-14

SIGN = np.array([[1.0], [-1.0]])


class _Point(NamedTuple):
    """A point of the dual, and the means there.

    ``parts (2, C)`` are u and v, ``slack (2, C)`` their slacks, ``now`` the sums, ``goal (C,)``
    the logits of the targets, and ``lack (C,)`` each target minus its mean.
    """

    parts: np.ndarray
    slack: np.ndarray
    now: Sums
    goal: np.ndarray
    lack: np.ndarray

    @property
    def multiplier(self) -> np.ndarray:
        return np.asarray(self.parts[0] - self.parts[1])


class _Step(NamedTuple):
    """Changes of a point's parts and slacks, the derivative of the dual along them, and τ."""

    parts: np.ndarray
    slack: np.ndarray
    slope: float
    tau: float


def solve_coupled_tolerance(
    sums: SumSource, problem: Problem, start: np.ndarray, tol: float, base: Sums
) -> Solution:
    """As :func:`~linkparity.projection.solver.coupled.solve_coupled`, for a tolerance above 0."""
    dual = _BarrierDual(sums, problem, base)
    here = dual.begin(np.zeros_like(start))
    if dual.error(here).max() <= tol:
        return Solution(np.zeros_like(start), np.zeros_like(here.goal), 0, here.goal)
    here = dual.begin(start) if start.any() else here
    tau, radius = problem.tolerance * here.parts.min(), RADIUS
    for steps in range(MAX_STEPS):
        if dual.has_arrived(here, tol):
            return Solution(dual.tilt(here.parts), here.multiplier, steps, here.goal)
        if steps == PATIENCE and (infeasible := find_infeasible(problem)):
            raise infeasible
        move = dual.step(here, tau)
        if move is None:
            break
        tau, reach = move.tau, np.abs(dual.tilt(move.parts)).max()
        length = _room(here.parts, move.parts)
        if limited := length * reach >= radius:
            length = radius / reach
        there = dual.moved(here, move, length)
        after = dual.slope(there, move.parts, tau)
        if after < -0.5 * move.slope:
            radius = length * reach * max(0.1, min(0.5, move.slope / (move.slope - after)))
            continue
        if limited and after > 0.1 * move.slope:
            radius *= 3
        here = there
    raise explain(problem, dual.error(here), tol, steps)


def _room(values: np.ndarray, change: np.ndarray) -> float:
    """The largest step ≤ 1 along ``change`` that keeps positive values positive."""
    falling = change < 0
    shortest = np.min(-values[falling] / change[falling], initial=np.inf)
    return min(1.0, TOWARDS_ZERO * float(shortest))


class _BarrierDual:
    """The function above: what it needs of the pairs, its derivatives and its Newton steps."""

    def __init__(self, sums: SumSource, problem: Problem, base: Sums) -> None:
        self.sums, self.problem, self.base = sums, problem, base
        self.matrix, self.weight, self.width = problem.dense, problem.weight, problem.tolerance
        self.root = np.sqrt(self.weight)
        free = np.unique(problem.block) if problem.target_logit is None else np.empty(0)
        self.member = problem.block[:, None] == free

    def begin(self, start: np.ndarray) -> _Point:
        """The point whose tilts are as near to ``start (M,)`` as they can be."""
        multiplier, extra = np.zeros(len(self.weight)), COLD
        if start.any():
            multiplier, extra = np.linalg.lstsq(self.matrix.T, start, rcond=None)[0], WARM
        if self.problem.target_logit is None:
            excess = self.problem.block_sum(self.weight * multiplier)
            multiplier = multiplier - excess / self.problem.block_sum(self.weight)
        point = self._at(np.maximum(SIGN * multiplier, 0.0) + extra)
        inside = np.clip(point.lack, -0.9 * self.width, 0.9 * self.width)
        return point._replace(slack=self.width - SIGN * inside)

    def moved(self, here: _Point, move: _Step, length: float) -> _Point:
        """The point after a step of this length."""
        there = self._at(here.parts + length * move.parts)
        slack = here.slack + min(length, _room(here.slack, move.slack)) * move.slack
        slack = move.tau / there.parts if length < SHORT else slack
        return there._replace(slack=np.maximum(slack, 1e-16 * there.parts))

    def _at(self, parts: np.ndarray) -> _Point:
        """Sums, targets and lacks at u and v; a free target is amid the means of its block."""
        tilt = self.tilt(parts)
        now = self.sums(tilt) if tilt.any() else self.base
        goal = self.problem.target_logit
        if goal is None:
            yes, no = map(self._middle, self.problem.statistic_sums(now))
            goal = np.log(yes) - np.log(no)
        return _Point(parts, parts, now, goal, self.problem.lack(now, goal))

    def _middle(self, total: np.ndarray) -> np.ndarray:
        """``(C,)`` the middle between the smallest and the largest mean of each block."""
        means, middle = total / self.weight, np.empty(len(total))
        for mine in self.member.T:
            middle[mine] = (means[mine].min() + means[mine].max()) / 2
        return middle

    def tilt(self, parts: np.ndarray) -> np.ndarray:
        """``(M,)`` the tilts at, or their change along, u and v."""
        return np.asarray(self.matrix.T @ (parts[0] - parts[1]))

    def error(self, point: _Point) -> np.ndarray:
        """``(C,)`` distance of each mean from its band on the logit scale."""
        mean = self.problem.logits(point.now)
        nearest = nearest_target(mean, point.goal, self.width)
        outside = np.abs(point.lack) > self.width + ROUNDING
        return np.abs(np.where(outside, mean - np.where(outside, nearest, 0.0), 0.0))

    def has_arrived(self, point: _Point, tol: float) -> bool:
        """Whether every mean is in its band, and the duality gap small beside the divergence.

        The gap is compared with KL(h_t ‖ h) + KL(h ‖ h_t) = Σ t (S(t) − S(0)).
        """
        multiplier = point.multiplier
        gap = self.weight @ (self.width * np.abs(multiplier) - multiplier * point.lack)
        divergence = self.tilt(point.parts) @ (point.now.yes - self.base.yes)
        rounding = ROUNDING * self.weight @ np.abs(multiplier)
        small = abs(gap) <= max(tol * divergence, rounding)
        return bool(small and self.error(point).max() <= tol)

    def slope(self, point: _Point, change: np.ndarray, tau: float) -> float:
        """Derivative of the function at a point along a change ``(2, C)`` of u and v."""
        return float((self.weight * self._gradient(point, tau) * change).sum())

    def _gradient(self, point: _Point, tau: float) -> np.ndarray:
        """``(2, C)`` derivatives by u and v, divided by W."""
        return np.asarray(SIGN * point.lack - self.width + tau / point.parts)

    def step(self, here: _Point, tau: float) -> _Step | None:
        """The step at τ, or at a smaller one if this one is centred; None where none ascends."""
        rows = self.matrix / self.root[:, None]
        hessian = (rows * here.now.variance) @ rows.T
        while tau > 0:
            try:
                parts, slack = self._newton(here, hessian, tau)
            except np.linalg.LinAlgError:
                return None
            slope = self.slope(here, parts, tau)
            if not slope <= CENTRED * tau * self.weight.sum():
                return _Step(parts, slack, slope, tau) if slope > 0 else None
            tau *= SHRINK
        return None

    def _newton(
        self, here: _Point, hessian: np.ndarray, tau: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Changes of u and v and of the slacks that solve the linearized equations."""
        gradient, each = self._gradient(here, tau), here.parts / here.slack
        ratio, rest = each.sum(axis=0), (SIGN * each * gradient).sum(axis=0)
        member = self.member * self.root[:, None]
        none = np.zeros((member.shape[1], member.shape[1]))
        system = np.block([[hessian + np.diag(1 / ratio), -member], [member.T, none]])
        force = np.append(self.root * rest / ratio, -member.T @ (self.root * here.multiplier))
        multiplier = np.linalg.solve(system, force)[: len(ratio)] / self.root
        lack = (multiplier - rest) / ratio
        slack = self.width - SIGN * (here.lack + lack)
        return each * (gradient + SIGN * lack), slack - here.slack
