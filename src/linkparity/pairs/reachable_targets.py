"""Scores of exactly 0 and 1: no tilt changes them, which limits the means that can be reached."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from linkparity.criteria import Cells
from linkparity.projection.fit import FitGoal

if TYPE_CHECKING:
    from linkparity.pairs.fit import SaturatedSums

#: Means that differ by less are equal.
ROUNDING = 1e-12
#: Distance of a free target from the ends of a mean's range, as a fraction of that range.
MARGIN = 1e-9


@dataclass(frozen=True, eq=False)
class Reach:
    """Which targets the C constraints of some cells allow.

    Attributes:
        cells: the cells.
        low: ``(C,)`` lower end of each mean's range; only a frozen mean is at an end.
        high: ``(C,)`` upper end of the range.
        frozen: ``(C,)`` whether every score under the constraint is 0 or 1.
        wanted: the mean asked of each block of constraints; None where it is free.
    """

    cells: Cells
    low: np.ndarray
    high: np.ndarray
    frozen: np.ndarray
    wanted: dict[Hashable, float | None]

    def ends(self, tolerance: float, margin: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """``(C,)`` lowest and highest target that each constraint allows."""
        inset = np.where(self.frozen, -ROUNDING, 2 * ROUNDING + margin * (self.high - self.low))
        return self.low - tolerance + inset, self.high + tolerance - inset

    @property
    def blocks(self) -> list[tuple[Hashable, np.ndarray]]:
        """The blocks that have weight, and the constraints of each."""
        layout = self.cells.layout
        used = layout.weight(self.cells.mass) > 0
        found = (
            (key, np.flatnonzero(used & (layout.block == number)))
            for number, key in enumerate(layout.blocks)
        )
        return [(key, mine) for key, mine in found if len(mine)]

    def unreachable(self, tolerance: float) -> tuple[int, float | None] | None:
        """A constraint that cannot hold and the mean asked of it; None when all can."""
        low, high = self.ends(tolerance)
        for key, mine in self.blocks:
            wanted = self.wanted[key]
            top, bottom = (high[mine].min(), low[mine].max()) if wanted is None else (wanted,) * 2
            off = np.maximum(low[mine] - top, bottom - high[mine])
            if off.max() > 0:
                narrow = np.where(off > 0, self.high[mine] - self.low[mine], np.inf)
                return int(mine[narrow.argmin()]), wanted
        return None

    def loosened(self, goal: FitGoal) -> tuple[Cells, FitGoal]:
        """The cells without frozen ones, and the goal for them that suits the frozen ones too."""
        frozen = self.frozen.any()
        if goal.target == "free":
            if not frozen and not goal.tolerance:
                return self.cells, goal
            limits = np.stack(self.ends(goal.tolerance, MARGIN))
            for _, mine in self.blocks:
                limits[:, mine] = [[limits[0, mine].max()], [limits[1, mine].min()]]
            return self._live, replace(goal, limits=limits)
        if not frozen:
            return self.cells, goal
        goals = {key: value for key, value in self.wanted.items() if value is not None}
        return self._live, replace(goal, target=goals)

    def targets(self, tolerance: float, found: dict[Hashable, float]) -> dict[Hashable, float]:
        """The target of each block: as found, as asked for, or one that its frozen means allow."""
        low, high = self.ends(tolerance)
        targets = dict.fromkeys(self.cells.layout.blocks, math.nan)
        for key, mine in self.blocks:
            wanted = self.wanted[key]
            middle = float(low[mine].max() + high[mine].min()) / 2
            targets[key] = middle if wanted is None else wanted
        return targets | {key: value for key, value in found.items() if not math.isnan(value)}

    def residual(self, targets: dict[Hashable, float]) -> float:
        """Largest distance of a frozen mean from its target."""
        goal = np.array([targets[key] for key in self.cells.layout.blocks])
        off = np.abs(self.low - goal[self.cells.layout.block])
        return float(off[self.frozen].max(initial=0.0))

    @property
    def _live(self) -> Cells:
        entries = self.cells.layout.entries
        idle = np.zeros(entries.shape[1], dtype=bool)
        idle[entries.cell[self.frozen[entries.row]]] = True
        return replace(self.cells, mass=np.where(idle, 0.0, self.cells.mass))


def find_reach(cells: Cells, goal: FitGoal, exact: "SaturatedSums") -> Reach:
    """The range of the means of the cells' constraints, and the targets asked of them."""
    layout = cells.layout
    weight = layout.weight(cells.mass)
    divisor = np.where(weight > 0, weight, 1.0)
    ones, zeros = layout.entries.statistic_sums(exact.ones, exact.zeros)
    frozen = (weight > 0) & (ones + zeros >= weight * (1 - ROUNDING))
    high = np.where(frozen, ones, weight - zeros) / divisor
    return Reach(cells, ones / divisor, high, frozen, _wanted(cells, goal, exact, weight))


def _wanted(
    cells: Cells, goal: FitGoal, exact: "SaturatedSums", weight: np.ndarray
) -> dict[Hashable, float | None]:
    layout, target = cells.layout, goal.target
    if isinstance(target, dict):
        return dict(target)
    if target == "free":
        return dict.fromkeys(layout.blocks)
    if target == "data":
        assert cells.label_mass is not None
        return dict.fromkeys(layout.blocks, float(cells.label_mass.sum() / cells.mass.sum()))
    base = exact(np.zeros(len(cells.mass)))
    sums = layout.entries.statistic_sums(base.yes, base.no)[0]
    size = len(layout.blocks)
    total = np.bincount(layout.block, weight, size)
    means = np.bincount(layout.block, sums, size) / np.where(total > 0, total, 1.0)
    return dict(zip(layout.blocks, means.tolist(), strict=True))
