"""Fit the tilts that bring cells to parity, from sums per cell, wherever the pairs are stored."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Protocol

import numpy as np

from linkparity.criteria import Cells
from linkparity.projection.solver.coupled import solve_coupled
from linkparity.projection.solver.coupled_tolerance import solve_coupled_tolerance
from linkparity.projection.solver.free_target import solve_free_target
from linkparity.projection.solver.problem import (
    NotConverged,
    Problem,
    Solution,
    Target,
    shift_logit,
    solve_separable,
    target_logit,
)
from linkparity.projection.sums import Sums, SumSource
from linkparity.support.arrays import array, expit, plain
from linkparity.support.errors import InputError
from linkparity.support.registry import nearest

TARGETS = ("model", "data", "free")
#: More constraints than this with a free target are solved target by target, which is faster.
MANY = 1000


class PairSums(SumSource, Protocol):
    """Sums per cell that can also measure how far tilted pairs are from the pairs."""

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence per cell in nats at ``tilt (M,)``."""
        ...


@dataclass(frozen=True)
class FitGoal:
    """Conditions on the tilts.

    Attributes:
        target: ``"model"``, ``"data"``, ``"free"``, or the mean of each block of constraints.
        tolerance: how far a mean may stay from it.
        start: ``(M,)`` initial tilts.
        limits: ``(2, C)`` lowest and highest free target of each constraint; None for any.
    """

    target: Target
    tolerance: float
    start: np.ndarray
    limits: np.ndarray | None = None

    @classmethod
    def of(
        cls, cells: Cells, target: object, tolerance: object = 0.0, start: object = None
    ) -> "FitGoal":
        """Check the arguments of :func:`~linkparity.i_project`."""
        return cls(read_target(target, cells), check_tolerance(tolerance), _tilts(start, cells))


@dataclass(frozen=True, eq=False)
class Fit:
    """Tilts that satisfy the constraints of cells.

    Attributes:
        cells: layout and weight of the cells.
        problem: the constraints that have weight, with their targets.
        solution: tilts and multipliers.
    """

    cells: Cells
    problem: Problem
    solution: Solution

    @property
    def tilt(self) -> np.ndarray:
        """``(M,)`` what is added to the logits of each cell."""
        return self.solution.tilt

    @property
    def steps(self) -> int:
        """Steps of the solver."""
        return self.solution.steps

    @property
    def targets(self) -> dict[Hashable, float]:
        """Target by block of constraints; NaN for a block without weight."""
        blocks, target = self.cells.layout.blocks, expit(self.solution.target_logit)
        found = {blocks[b]: float(t) for b, t in zip(self.problem.block, target, strict=True)}
        return {key: found.get(key, math.nan) for key in blocks}

    @property
    def target(self) -> float | dict[Hashable, float]:
        """The target; a dict by label or attribute where there are several."""
        return one_or_all(self.targets)

    def residual(self, now: Sums) -> float:
        """Largest distance of a constrained mean from its target."""
        means = self.problem.means(_with_weight(now, self.cells))
        return float(np.abs(means - expit(self.solution.target_logit)).max())

    def dual_value(self, source: PairSums, now: Sums) -> float:
        r"""Lower bound of the projection's KL-divergence in nats, from the sums at the tilts.

        .. math:: L(\lambda) = -Z(A^\top\lambda) + \lambda\cdot b
                  = \mathrm{KL}(h_t \,\|\, h) + \lambda\cdot(b - A S)

        For fixed multipliers its gradient in the logits is ``w (h − h_t)``.
        """
        return float(source.divergence(self.tilt).sum()) - self.duality_gap(now)

    def duality_gap(self, now: Sums) -> float:
        r"""Divergence of the tilted pairs less :meth:`dual_value`, in nats, from the sums there.

        .. math:: \lambda\cdot(A S - b)

        0 at the exact solution.
        """
        problem, multiplier = self.problem, self.solution.multiplier
        edge = shift_logit(self.solution.target_logit, -problem.tolerance * np.sign(multiplier))
        lack = problem.lack(_with_weight(now, self.cells), edge)
        return -float(multiplier @ (problem.weight * lack)) + 0.0

    def divergence(self, source: PairSums, now: Sums) -> float:
        """KL-divergence of the projection to the model, exact to second order in the residual."""
        return max(0.0, self.dual_value(source, now))

    @property
    def target_gradient_factor(self) -> np.ndarray:
        """``(M,)`` factor of ``w h (1 − h)`` in the gradient's path through the model's mean."""
        block_sum, weight = self.problem.block_sum, self.problem.weight
        mean_multiplier = block_sum(self.solution.multiplier * weight) / block_sum(weight)
        return _scatter(self.problem.entries.transpose_times(mean_multiplier), self.cells.mass > 0)


def fit_tilts(
    source: SumSource,
    cells: Cells,
    goal: FitGoal,
    tol: float,
    bound: float,
    base: Sums | None = None,
) -> Fit:
    """Find the tilts at which the cells meet their targets.

    Args:
        source: the sums per cell at given tilts.
        cells: layout and weight of the cells; some weight must be constrained.
        goal: target, tolerance and initial tilts.
        tol: accuracy on the logit scale.
        bound: a number that no logit exceeds in absolute value.
        base: the sums at tilt 0 that the target ``"model"`` is read from; the source's by default.

    Raises:
        Infeasible: when no model satisfies the constraints.
        NotConverged: when the solver did not reach ``tol``.
    """
    layout, used = cells.layout, cells.mass > 0
    rows = layout.weight(cells.mass) > 0
    entries = layout.entries.submatrix(rows, used)
    names = layout.rows if rows.all() else tuple(compress(layout.rows, rows.tolist()))
    limits = None if goal.limits is None else goal.limits[:, rows]
    tolerance = goal.tolerance - min(tol, goal.tolerance / 2)  # so that rounding stays within it
    free = Problem(entries, cells.mass[used], None, layout.block[rows], tolerance, names, limits)

    def sums(tilt: np.ndarray) -> Sums:
        return _with_weight(source(_scatter(tilt, used)), cells)

    begin = sums(np.zeros(entries.shape[1]))
    model = begin if base is None else _with_weight(base, cells)
    problem = replace(free, target_logit=target_logit(free, goal.target, model, cells))
    solution = _solve(sums, problem, goal.start[used], tol, begin, bound)
    solution = replace(solution, tilt=_scatter(solution.tilt, used))
    return Fit(cells, replace(problem, target_logit=solution.target_logit), solution)


def _solve(
    sums: SumSource, problem: Problem, start: np.ndarray, tol: float, base: Sums, bound: float
) -> Solution:
    """Choose the solver; ``base`` holds the sums at tilt 0."""
    if problem.separable and problem.target_logit is not None:
        return solve_separable(sums, problem, start, tol, base, bound)
    bounded = problem.tolerance or problem.limits is not None
    if problem.separable and (bounded or len(problem.block) > MANY):
        return solve_free_target(sums, problem, start, tol, base, bound)
    if problem.tolerance:
        return solve_coupled_tolerance(sums, problem, start, tol, base)
    try:
        return solve_coupled(sums, problem, start, tol, base)
    except NotConverged:
        if not problem.separable:
            raise
        return solve_free_target(sums, problem, start, tol, base, bound)


def _with_weight(sums: Sums, cells: Cells) -> Sums:
    """The sums of the cells that have weight."""
    used = cells.mass > 0
    return sums if used.all() else Sums(*(part[used] for part in sums))


def _scatter(values: np.ndarray, used: np.ndarray) -> np.ndarray:
    """``(M,)`` the values of the used cells, 0 for the others."""
    found = np.zeros(len(used))
    found[used] = values
    return found


def no_target(cells: Cells) -> float | dict[Hashable, float]:
    """The target when no weight is constrained: NaN."""
    return one_or_all(dict.fromkeys(cells.layout.blocks, math.nan))


def one_or_all(targets: dict[Hashable, float]) -> float | dict[Hashable, float]:
    """The target itself where all constraints share it; else by block."""
    return targets.get(None, targets)


def read_target(target: object, cells: Cells) -> Target:
    """Check a target: a name, one number, or a number per block of constraints."""
    blocks = cells.layout.blocks
    target = plain(target)
    if isinstance(target, np.ndarray):
        target = target.tolist()
    if cells.layout.right is not None and target != "model":
        raise _refused(
            f"must be left out for a Custom criterion, which has its own right side b, got "
            f"{target!r}",
            "put the target into b",
        )
    if isinstance(target, str):
        return _check_name(target, cells)
    if isinstance(target, Mapping):
        if set(target) != set(blocks):
            raise _refused(
                f"must be one number, or a dict with the keys {list(blocks)} where there are "
                f"several, got the keys {list(target)}"
            )
        return {key: _check_mean(value) for key, value in target.items()}
    if isinstance(target, Sequence):
        if len(target) != len(blocks) or blocks == (None,):
            raise _refused(
                "must be one number, or for equalized-odds a pair, label 0 first, got "
                f"{len(target)} for criterion {cells.criterion.name!r}"
            )
        return {key: _check_mean(value) for key, value in zip(blocks, target, strict=True)}
    return dict.fromkeys(blocks, _check_mean(target))


def _check_name(target: str, cells: Cells) -> str:
    if target not in TARGETS:
        hint = nearest(target, list(TARGETS)).removesuffix(";")
        raise _refused(f"must be {', '.join(TARGETS)} or a number, got {target!r}{hint}")
    if target == "data" and not cells.criterion.data_target:
        raise _refused(
            f"'data' does not exist for criterion {cells.criterion.name!r} (it would be the "
            "labels' agreement with themselves)",
            "use 'model', 'free' or a number",
        )
    if target == "data" and cells.label_mass is None:
        raise _refused("'data' is the mean of the labels", "give labels")
    return target


def _check_mean(value: object) -> float:
    number = _number(value)
    if number is None:
        raise _refused(f"must be one of {', '.join(TARGETS)} or a number, got {value!r}")
    if not 0 < number < 1:
        raise _refused(
            f"must lie strictly between 0 and 1, got {number:g}",
            "a mean of 0 or 1 has no finite I-projection",
        )
    return number


def check_tolerance(tolerance: object) -> float:
    """Check a tolerance: a number in [0, 1)."""
    number = _number(tolerance)
    if number is None or isinstance(tolerance, str | bool):
        raise _refused(f"must be a number, got {tolerance!r}", argument="tolerance")
    if not 0 <= number < 1:
        raise _refused(f"must lie in [0, 1), got {tolerance!r}", argument="tolerance")
    return number


def _tilts(start: object, cells: Cells) -> np.ndarray:
    """Initial tilts, 0 for cells without weight."""
    if start is None:
        return np.zeros(len(cells.mass))
    tilt = array(start).astype(np.float64)
    if tilt.shape != cells.mass.shape or not np.isfinite(tilt).all():
        raise _refused(
            f"must be {len(cells.mass)} finite tilts, one per cell, got {tilt.size} of which "
            f"{int(np.isfinite(tilt).sum())} are finite",
            argument="start",
        )
    return np.where(cells.mass > 0, tilt, 0.0)


def _number(value: object) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def _refused(problem: str, fix: str = "", argument: str = "target") -> InputError:
    return InputError(problem, fix, argument=argument, caller="i_project")
