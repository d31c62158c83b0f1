r"""The problem, its solution, and the solver for constraints that share no cell.

Every constraint c is about the mean of a statistic: ``p`` over cells where A is positive, ``1 − p``
where it is negative. With U the weighted sum of the statistic and U' that of one minus it,

.. math:: U_c = d_c W_c, \qquad U = A^+ S + A^- R, \quad U' = A^+ R + A^- S, \quad W = U + U'

Means are kept as logits, log U − log U', so that 10⁻²⁰ and 1 − 10⁻²⁰ are ordinary numbers.
Constraints that share no cell are independent roots of increasing functions, found all at once.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from linkparity.criteria import Cells
from linkparity.criteria.base import ConstraintMatrix
from linkparity.projection.sums import Sums, SumSource
from linkparity.support.arrays import expit, logit
from linkparity.support.errors import InputError, PlainError

#: A name, or a mean per block of constraints.
Target = str | dict[Hashable, float]
MAX_STEPS = 200
#: Largest number of entries of a dense matrix.
MAX_ENTRIES = 10**8


class NotConverged(PlainError):
    """The solver stopped before it reached its accuracy."""


class Infeasible(InputError):
    """No model satisfies the constraints, or only one with probabilities of 0 and 1."""


@dataclass(frozen=True)
class Problem:
    """Constraints on the means of cells.

    Attributes:
        entries: the sparse A above, ``(C, M)``.
        mass: ``(M,)`` weight of each cell.
        target_logit: ``(C,)`` logit of each target; None for a free common mean per block.
        block: ``(C,)`` constraints with the same number share a target.
        tolerance: how far a mean may stay from its target.
        rows: C names of constraints, for messages.
        limits: ``(2, C)`` lowest and highest free target of each; None for any.
    """

    entries: ConstraintMatrix
    mass: np.ndarray
    target_logit: np.ndarray | None
    block: np.ndarray
    tolerance: float
    rows: tuple[str, ...]
    limits: np.ndarray | None = None

    @cached_property
    def weight(self) -> np.ndarray:
        """``(C,)`` W: weight under each constraint."""
        return self.entries.absolute_times(self.mass)

    def statistic_sums(self, sums: Sums) -> tuple[np.ndarray, np.ndarray]:
        """``(C,)`` U and U': weighted sums of each constraint's statistic, and of 1 − it."""
        return self.entries.statistic_sums(sums.yes, sums.no)

    def logits(self, sums: Sums) -> np.ndarray:
        """``(C,)`` logit of the mean of each constraint's statistic; infinite at 0 and 1."""
        total, complement = self.statistic_sums(sums)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(total) - np.log(complement))

    def means(self, sums: Sums) -> np.ndarray:
        """``(C,)`` mean of each constraint's statistic."""
        return np.asarray(self.statistic_sums(sums)[0] / self.weight)

    def lack(self, sums: Sums, target_logit: np.ndarray) -> np.ndarray:
        """``(C,)`` target minus mean, from the smaller of p and 1 − p."""
        total, complement = self.statistic_sums(sums)
        yes, no = expit(target_logit), expit(-target_logit)
        low = target_logit < 0
        return np.asarray(np.where(low, yes - total / self.weight, complement / self.weight - no))

    def block_sum(self, values: np.ndarray) -> np.ndarray:
        """``(C,)`` sum of ``values (C,)`` over the constraints that share each one's target."""
        return np.asarray(np.bincount(self.block, weights=values)[self.block])

    @property
    def dense(self) -> np.ndarray:
        """``(C, M)`` A with its zeros; refused when these are too many."""
        self.check_size()
        return self.entries.dense

    def check_size(self) -> None:
        """Refuse more constraints than a dense matrix can hold."""
        rows, cells = self.entries.shape
        if rows * max(rows, cells) > MAX_ENTRIES:
            raise InputError(
                f"{rows:,} constraints on {cells:,} cells are solved at once and need a matrix of "
                f"more than {MAX_ENTRIES:,} numbers",
                "merge groups into fewer, or constrain one attribute",
                caller="i_project",
            )

    @property
    def separable(self) -> bool:
        """Whether each cell is under at most one constraint, with coefficient 1 or −1."""
        return self.entries.separable


@dataclass(frozen=True)
class Solution:
    """Tilts ``(M,)``, multipliers ``(C,)`` with ``tilt = Aᵀ multiplier``, number of steps.

    ``target_logit (C,)`` holds the logit of each constraint's target, also of one that was free.
    """

    tilt: np.ndarray
    multiplier: np.ndarray
    steps: int
    target_logit: np.ndarray


def shift_logit(logit: np.ndarray, by: float | np.ndarray) -> np.ndarray:
    """logit(σ(logit) + by), infinite where that leaves (0, 1)."""
    if not np.any(by):
        return logit
    yes, no = expit(logit) + by, expit(-logit) - by
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.log(yes) - np.log(no)
    return np.where(yes <= 0, -np.inf, np.where(no <= 0, np.inf, inside))


def target_logit(problem: Problem, target: Target, base: Sums, cells: Cells) -> np.ndarray | None:
    """``(C,)`` logit of each constraint's target; None when it is free."""
    if cells.layout.right is not None:
        return _own_target(problem, cells)
    if target == "free":
        return None
    if isinstance(target, dict):
        return logit(np.array([target[cells.layout.blocks[b]] for b in problem.block]))
    if target == "model":
        yes, no = map(problem.block_sum, problem.statistic_sums(base))
    else:
        assert cells.label_mass is not None
        yes = problem.block_sum(problem.entries.times(cells.label_mass[cells.mass > 0]))
        no = problem.block_sum(problem.weight) - yes
        if (yes <= 0).any() or (no <= 0).any():
            which = "no link" if (yes <= 0).any() else "only links"
            raise Infeasible(
                f"'data' is a mean over {which}, and a mean of 0 or 1 has no finite I-projection",
                "use 'model', 'free' or a number",
                argument="target",
                caller="i_project",
            )
    return np.asarray(np.log(yes) - np.log(no))


def _own_target(problem: Problem, cells: Cells) -> np.ndarray:
    """The right sides of a Custom criterion as logits of means."""
    right = cells.layout.right
    assert right is not None
    empty = cells.layout.weight(cells.mass) == 0
    if (right[empty] != 0).any():
        row = cells.layout.rows[int(np.flatnonzero(empty & (right != 0))[0])]
        raise Infeasible(
            f"{row} has no pair under it and a right side that is not 0", caller="i_project"
        )
    high, low = problem.entries.statistic_sums(problem.mass, np.zeros_like(problem.mass))
    yes = right[~empty] + low
    no = problem.weight - yes
    outside = (yes <= 0) | (no <= 0)
    if outside.any():
        worst = int(np.flatnonzero(outside)[0])
        raise Infeasible(
            f"{problem.rows[worst]} must have a right side strictly between {-low[worst]:g} and "
            f"{high[worst]:g}, the sums at probabilities of 0 and 1, got {right[~empty][worst]:g}",
            caller="i_project",
        )
    return np.asarray(np.log(yes) - np.log(no))


def solve_separable(
    sums: SumSource,
    problem: Problem,
    start: np.ndarray,
    tol: float,
    base: Sums,
    bound: float,
) -> Solution:
    """Find every multiplier from its last two points, within a bracket.

    Args:
        sums: the sums per cell at given tilts, computed once per step.
        problem: the constraints; each must have some weight.
        start: ``(M,)`` initial tilts.
        tol: accuracy of ``logit(mean_c) − logit(d_c)``.
        base: the sums at tilt 0.
        bound: a number that no logit exceeds in absolute value.
    """
    assert problem.target_logit is not None
    given, slope = _logits(problem, base)
    target = nearest_target(given, problem.target_logit, problem.tolerance)
    root = problem.entries.times(start) / np.maximum(problem.entries.counts, 1)
    low, high = target - bound, target + bound
    # a mean that meets its target needs no tilt, though a flat cell would allow one
    right = np.abs(given - target) <= tol
    root = np.where((root > low) & (root < high) & ~right, root, 0.0)
    before = np.full(len(root), np.inf)
    last = plain = _Point(np.zeros(len(root)), given - target, slope)
    for step in range(MAX_STEPS):
        tilt = problem.entries.transpose_times(root)
        here = plain
        if tilt.any():
            now, slope = _logits(problem, sums(tilt))
            here = _Point(root, now - target, slope)
        error = here.error
        small = np.abs(error) <= tol
        if small.all():
            return Solution(tilt, root, step, problem.target_logit)
        low, high = np.where(error < 0, root, low), np.where(error > 0, root, high)
        better = _better(last, here)
        slow = np.abs(error) > 0.5 * before
        safe = (better > low) & (better < high) & ~slow
        middle = low + (high - low) / 2
        before = np.where(safe, np.abs(error), np.inf)
        stuck = ~small & ~safe & ((middle == low) | (middle == high))
        if stuck.any():
            break
        root, last = np.where(small, root, np.where(safe, better, middle)), here
    worst = int(np.argmax(np.where(small, 0.0, np.abs(error))))
    raise NotConverged(
        f"constraint {problem.rows[worst]} is {abs(error[worst]):.1e} from its target on the "
        f"logit scale after {step} steps, tol is {tol:.1e}",
        "raise tol",
        caller="i_project",
    )


class _Point(NamedTuple):
    """Multipliers, each mean's distance from its target on the logit scale, and its derivative."""

    root: np.ndarray
    error: np.ndarray
    slope: np.ndarray


def _logits(problem: Problem, now: Sums) -> tuple[np.ndarray, np.ndarray]:
    """``(C,)`` logit of each mean, and its derivative by its own multiplier."""
    total, complement = problem.statistic_sums(now)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        slope = problem.weight * problem.entries.absolute_times(now.variance) / (total * complement)
        return np.log(total) - np.log(complement), np.asarray(slope)


def _better(last: _Point, here: _Point) -> np.ndarray:
    """Where the error is 0 on the cubic that has both points' roots and slopes, as root by error.

    Newton's step where the points are too far apart for the cubic to say more.
    """
    with np.errstate(all="ignore"):
        newton = here.root - here.error / here.slope
        span = here.error - last.error
        u = -last.error / span
        curved = last.root * (1 + 2 * u) * (1 - u) ** 2 + here.root * u * u * (3 - 2 * u)
        curved += u * (1 - u) * span * ((1 - u) / last.slope - u / here.slope)
        near = np.abs(curved - newton) < 0.5 * np.abs(newton - here.root)
    return np.asarray(np.where(near, curved, newton))


def nearest_target(now: np.ndarray, target: np.ndarray, tolerance: float) -> np.ndarray:
    """The logit of the mean nearest to ``now`` within ``tolerance`` of each target."""
    if tolerance == 0:
        return target
    low, high = shift_logit(target, -tolerance), shift_logit(target, tolerance)
    return np.asarray(np.minimum(np.maximum(now, low), high))
