"""Why a coupled solver stopped: a linear program in the cells' means."""

import numpy as np

from linkparity.projection.solver.problem import Infeasible, NotConverged, Problem
from linkparity.support.arrays import expit

#: A constraint unmet by more than this is beyond rounding.
MARGIN = 1e-6


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

    With a free target there is none: probabilities of ½ meet any constraint.
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
