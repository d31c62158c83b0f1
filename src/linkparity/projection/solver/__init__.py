"""Newton on the dual of the I-projection, from sums per cell alone."""

import numpy as np

from linkparity.projection.solver.coupled import solve_joint
from linkparity.projection.solver.free_target import solve_band
from linkparity.projection.solver.problem import Infeasible, NotConverged, Problem, Solution
from linkparity.projection.solver.separable import solve_roots
from linkparity.projection.sums import Sums, SumSource

__all__ = ["Infeasible", "NotConverged", "Problem", "Solution", "solve"]

#: So many constraints with a free target are solved at once; more, target by target, are faster.
MANY = 1000


def solve(
    sums: SumSource,
    problem: Problem,
    start: np.ndarray,
    tol: float,
    base: Sums,
    bound: float,
) -> Solution:
    """The tilts at which every constraint holds to ``tol`` on the logit scale.

    Args:
        sums: asked for the sums per cell at given tilts, once per step.
        problem: the constraints; each must have some weight.
        start: ``(M,)`` tilts to begin with.
        tol: accuracy of ``logit(mean_c) − logit(d_c)``.
        base: the sums at tilt 0.
        bound: a number that no logit exceeds in absolute value.

    Raises:
        NotConverged: after too many steps.
        Infeasible: when the constraints contradict each other.
    """
    if problem.separable and problem.goal is not None:
        return solve_roots(sums, problem, start, tol, base, bound)
    bounded = problem.slack or problem.limits is not None
    if problem.separable and (bounded or len(problem.block) > MANY):
        return solve_band(sums, problem, start, tol, base, bound)
    try:
        return solve_joint(sums, problem, start, tol, base)
    except NotConverged:
        if not problem.separable:
            raise
        return solve_band(sums, problem, start, tol, base, bound)
