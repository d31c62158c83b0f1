"""Why the coupled solver stopped: a linear program in the cells' means."""

import numpy as np

from linkparity.projection.solver.problem import Infeasible, NotConverged, Problem
from linkparity.support.arrays import expit

#: A constraint unmet by more than this is beyond rounding.
MARGIN = 1e-6


def explain(problem: Problem, error: np.ndarray, tol: float, step: int) -> Exception:
    """The constraint that cannot hold, or how far the solver came."""
    unmet = _unmet(problem)
    worst = int(np.argmax(unmet))
    if unmet[worst] > MARGIN:
        return Infeasible(
            f"constraint {problem.rows[worst]} cannot hold together with the others "
            f"(its mean stays {unmet[worst]:.2g} away)",
            "drop it, change its target, or allow a tolerance",
            caller="i_project",
        )
    return NotConverged(
        f"{np.abs(error).max():.1e} from the target on the logit scale after {step} steps, tol is "
        f"{tol:.1e}",
        "raise tol",
        caller="i_project",
    )


def _unmet(problem: Problem) -> np.ndarray:
    """``(C,)`` how far each mean stays from its target when they are met as well as can be."""
    from scipy.optimize import linprog

    weight, centre = problem.weight, problem.centring
    means = centre @ (problem.dense * problem.mass / weight[:, None])
    minus = centre @ (np.maximum(-problem.dense, 0) @ problem.mass / weight)
    right = -minus if problem.target_logit is None else expit(problem.target_logit) - minus
    count, cells = means.shape
    eye = np.eye(count)
    found = linprog(
        np.concatenate([np.zeros(cells), np.ones(count)]),
        A_ub=np.block([[means, -eye], [-means, -eye]]),
        b_ub=np.concatenate([right, -right]) + problem.tolerance,
        bounds=[(0, 1)] * cells + [(0, None)] * count,
    )
    return np.asarray(found.x[cells:])
