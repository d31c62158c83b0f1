"""Why the joint solver stopped: two linear programs in the cells' means."""

import numpy as np
from scipy.special import expit

from linkparity.solver.problem import Infeasible, NotConverged, Problem

#: A constraint unmet by more than this, or a cell this near 0 and 1, is beyond rounding.
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
    if _margin(problem) < MARGIN:
        row = problem.rows[int(np.argmax(np.abs(error)))]
        return Infeasible(
            f"i_project: constraint {row} holds only with probabilities of 0 or 1, which "
            "no finite tilt gives; change its target, or allow a tolerance"
        )
    return NotConverged(
        f"i_project: {np.abs(error).max():.1e} from the target on the logit scale after {step} "
        f"steps, tol is {tol:.1e}; raise tol, or use float64 logits"
    )


def _constraints(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Matrix and right side of the constraints on the means of the cells that have weight."""
    weight, centre = problem.weight, problem.centre
    means = centre @ (problem.matrix * problem.mass / weight[:, None])
    minus = centre @ (np.maximum(-problem.matrix, 0) @ problem.mass / weight)
    goal = np.zeros(len(minus)) if problem.goal is None else expit(problem.goal)
    return means[:, problem.mass > 0], goal - minus


def _unmet(problem: Problem) -> np.ndarray:
    """``(C,)`` how far each mean stays from its target when they are met as well as can be."""
    from scipy.optimize import linprog

    means, right = _constraints(problem)
    count, cells = means.shape
    eye = np.eye(count)
    found = linprog(
        np.concatenate([np.zeros(cells), np.ones(count)]),
        A_ub=np.block([[means, -eye], [-means, -eye]]),
        b_ub=np.concatenate([right, -right]) + problem.slack,
        bounds=[(0, 1)] * cells + [(0, None)] * count,
    )
    return np.asarray(found.x[cells:])


def _margin(problem: Problem) -> float:
    """How far from 0 and 1 all cells can stay while every constraint holds."""
    from scipy.optimize import linprog

    means, right = _constraints(problem)
    count, cells = means.shape
    one, eye, none = np.ones((cells, 1)), np.eye(cells), np.zeros((count, 1))
    found = linprog(
        np.append(np.zeros(cells), -1.0),
        A_ub=np.block([[eye, one], [-eye, one], [means, none], [-means, none]]),
        b_ub=np.concatenate(
            [np.ones(cells), np.zeros(cells), right + problem.slack, problem.slack - right]
        ),
        bounds=[(0, 1)] * cells + [(None, 0.5)],
    )
    return float(found.x[-1]) if found.success else 0.0
