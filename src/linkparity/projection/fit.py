"""Tilts at parity from sums per cell, wherever the pairs live."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import compress
from typing import Protocol

import numpy as np

from linkparity.criteria import Cells
from linkparity.projection.solver import Problem, Solution, solve
from linkparity.projection.sums import Sums, SumSource
from linkparity.projection.targets import Target, with_goal
from linkparity.support.arrays import expit, tensor
from linkparity.support.validation import real_number


class PairSums(SumSource, Protocol):
    """A source of pairs that can also say how far tilted pairs are from the pairs."""

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence per cell in nats at ``tilt (M,)``."""
        ...


@dataclass(frozen=True)
class FitGoal:
    """What is asked of the tilts.

    Attributes:
        target: the mean wanted.
        tolerance: how far a mean may stay from it.
        start: ``(M,)`` tilts to begin with.
        limits: ``(2, C)`` lowest and highest free target that each constraint bears; None for any.
    """

    target: Target
    tolerance: float
    start: np.ndarray
    limits: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Fit:
    """Tilts that satisfy the constraints of cells.

    Attributes:
        cells: layout and weight of the cells.
        problem: the constraints that some weight falls under, with their targets.
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
        """The mean asked for by block of constraints; NaN where no weight is."""
        blocks, target = self.cells.layout.blocks, expit(self.solution.goal)
        found = {blocks[b]: float(t) for b, t in zip(self.problem.block, target, strict=True)}
        return {key: found.get(key, math.nan) for key in blocks}

    @property
    def target(self) -> float | dict[Hashable, float]:
        """The mean asked for; a dict by label or attribute where there are several."""
        return one_or_all(self.targets)

    def residual(self, now: Sums) -> float:
        """Largest distance of a constrained mean from its target."""
        means = self.problem.means(_only(now, self.cells.mass > 0))
        return float(np.abs(means - expit(self.solution.goal)).max())

    def divergence(self, source: PairSums, now: Sums | None = None) -> float:
        """KL-divergence of the tilted model to the model, in nats.

        Given the sums at the tilts, of the projection: exact to second order in their residual.
        """
        tilted = float(source.divergence(self.tilt).sum())
        if now is None:
            return tilted
        lack = self.problem.lack(_only(now, self.cells.mass > 0), self.solution.multiplier)
        return max(0.0, tilted + float(self.solution.multiplier @ lack))

    @property
    def pull(self) -> np.ndarray:
        """``(M,)`` factor of ``w h (1 − h)`` in the gradient's path through the model's mean."""
        shared, weight = self.problem.shared, self.problem.weight
        pull = shared(self.solution.multiplier * weight) / shared(weight)
        found = np.zeros(len(self.cells.mass))
        found[self.cells.mass > 0] = self.problem.entries.spread(pull)
        return found


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
        goal: target, tolerance and start.
        tol: accuracy on the logit scale.
        bound: a number that no logit exceeds in absolute value.
        base: the sums at tilt 0 that the target ``"model"`` is read from; the source's by default.

    Raises:
        Infeasible: when no model satisfies the constraints.
        NotConverged: when the solver did not reach ``tol``.
    """
    layout, used = cells.layout, cells.mass > 0
    rows = layout.weight(cells.mass) > 0
    entries = layout.entries.part(rows, used)
    names = layout.rows if rows.all() else tuple(compress(layout.rows, rows.tolist()))
    limits = None if goal.limits is None else goal.limits[:, rows]
    slack = goal.tolerance - min(tol, goal.tolerance / 2)  # so that rounding stays within it
    free = Problem(entries, cells.mass[used], None, layout.block[rows], slack, names, limits)

    def whole(tilt: np.ndarray) -> np.ndarray:
        found = np.zeros(len(used))
        found[used] = tilt
        return found

    def sums(tilt: np.ndarray) -> Sums:
        return _only(source(whole(tilt)), used)

    begin = sums(np.zeros(entries.shape[1]))
    problem = with_goal(free, goal.target, begin if base is None else _only(base, used), cells)
    solution = solve(sums, problem, goal.start[used], tol, begin, bound)
    solution = replace(solution, tilt=whole(solution.tilt))
    return Fit(cells, replace(problem, goal=solution.goal), solution)


def _only(sums: Sums, used: np.ndarray) -> Sums:
    """The sums of the cells that have weight."""
    return sums if used.all() else Sums(*(part[used] for part in sums))


def no_target(cells: Cells) -> float | dict[Hashable, float]:
    """What stands for the target when no weight is constrained."""
    return one_or_all(dict.fromkeys(cells.layout.blocks, math.nan))


def one_or_all(targets: dict[Hashable, float]) -> float | dict[Hashable, float]:
    """The target itself where all constraints share it; else by block."""
    return targets.get(None, targets)


def check_tolerance(tolerance: float) -> float:
    """A tolerance in [0, 1), or a sentence."""
    found = real_number(tolerance, "tolerance", "i_project")
    if not 0 <= found < 1:
        raise ValueError(f"i_project: tolerance must lie in [0, 1), got {tolerance!r}")
    return found


def check_start(start: object, cells: Cells) -> np.ndarray:
    """Finite tilts to start from, 0 for cells without weight."""
    if start is None:
        return np.zeros(len(cells.mass))
    tilt = tensor(start).detach().cpu().double().numpy()
    if tilt.shape != cells.mass.shape or not np.isfinite(tilt).all():
        raise ValueError(
            f"i_project: start must be {len(cells.mass)} finite tilts, one per cell, got "
            f"{tilt.size} of which {int(np.isfinite(tilt).sum())} are finite"
        )
    return np.where(cells.mass > 0, tilt, 0.0)
