"""Why the joint solver stopped: a linear program in the cells' means."""

import numpy as np

from linkparity.projection.solver.problem import Infeasible, NotConverged, Problem
from linkparity.support.arrays import expit

#: A constraint unmet by more than this is beyond rounding.
MARGIN = 1e-6


def explain(problem: Problem, error: np.ndarray, tol: float, step: int) -> Exception:
    """The constraint that cannot hold, or how far the solver came."""
    lacking = _unmet(problem)
    worst = int(np.argmax(lacking))
    if lacking[worst] > MARGIN:
        return Infeasible(
            f"i_project: constraint {problem.rows[worst]} cannot hold together with the others "
            f"(its mean stays {lacking[worst]:.2g} away); drop it, change its target, "
            "or allow a tolerance"
        )
    return NotConverged(
        f"i_project: {np.abs(error).max():.1e} from the target on the logit scale after {step} "
        f"steps, tol is {tol:.1e}; raise tol"
    )


def _unmet(problem: Problem) -> np.ndarray:
    """``(C,)`` how far each mean stays from its target when they are met as well as can be."""
    from scipy.optimize import linprog

    weight, centre = problem.weight, problem.centre
    means = centre @ (problem.matrix * problem.mass / weight[:, None])
    minus = centre @ (np.maximum(-problem.matrix, 0) @ problem.mass / weight)
    right = -minus if problem.goal is None else expit(problem.goal) - minus
    count, cells = means.shape
    eye = np.eye(count)
    found = linprog(
        np.concatenate([np.zeros(cells), np.ones(count)]),
        A_ub=np.block([[means, -eye], [-means, -eye]]),
        b_ub=np.concatenate([right, -right]) + problem.slack,
        bounds=[(0, 1)] * cells + [(0, None)] * count,
    )
    return np.asarray(found.x[cells:])
