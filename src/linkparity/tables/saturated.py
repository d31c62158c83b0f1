"""Scores of exactly 0 and 1: no tilt moves them, so a mean can only go so far, or nowhere."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from linkparity.criteria import Cells
from linkparity.projection.fit import FitGoal
from linkparity.projection.sums import Sums, SumSource

#: Means that differ by less are one.
ROUNDING = 1e-12
#: How near a free target may come to the end of a mean's range, as a part of that range.
SHY = 1e-9


class SaturatedSums:
    """Sums of a source plus the scores of exactly 0 and 1, which stay where they are.

    A score of 1 is a weight for every mean of p, a score of 0 one against it, at any tilt: so the
    tilted rows must make up for them, and how far a mean can move shrinks.

    Args:
        source: sums over the scores that can be tilted.
        ones: ``(M,)`` scores of 1 per cell.
        zeros: ``(M,)`` scores of 0 per cell.
    """

    def __init__(self, source: SumSource, ones: np.ndarray, zeros: np.ndarray) -> None:
        self.source = source
        self.ones = ones
        self.zeros = zeros

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        yes, no, spread = self.source(tilt)
        return Sums(yes + self.ones, no + self.zeros, spread)


@dataclass(frozen=True, eq=False)
class Reach:
    """Which targets the C constraints of some cells can bear.

    Attributes:
        cells: the cells.
        low: ``(C,)`` lower end of each mean; no tilt gets there, unless it is frozen.
        high: ``(C,)`` upper end, the same.
        frozen: ``(C,)`` whether every score under the constraint is 0 or 1.
        wanted: the mean asked of each block of constraints; None where it is free.
    """

    cells: Cells
    low: np.ndarray
    high: np.ndarray
    frozen: np.ndarray
    wanted: dict[Hashable, float | None]

    def ends(self, tolerance: float, shy: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """``(C,)`` lowest and highest target that each constraint bears."""
        room = np.where(self.frozen, -ROUNDING, 2 * ROUNDING + shy * (self.high - self.low))
        return self.low - tolerance + room, self.high + tolerance - room

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
        """The cells without frozen ones, and what they are asked so that these hold too."""
        frozen = self.frozen.any()
        if goal.target == "free":
            if not frozen and not goal.tolerance:
                return self.cells, goal
            limits = np.stack(self.ends(goal.tolerance, SHY))
            for _, mine in self.blocks:
                limits[:, mine] = [[limits[0, mine].max()], [limits[1, mine].min()]]
            return self._live, replace(goal, limits=limits)
        if not frozen:
            return self.cells, goal
        goals = {key: value for key, value in self.wanted.items() if value is not None}
        return self._live, replace(goal, target=goals)

    def targets(self, tolerance: float, found: dict[Hashable, float]) -> dict[Hashable, float]:
        """The target of each block: as found, as asked for, or one that its frozen means bear."""
        low, high = self.ends(tolerance)
        told = dict.fromkeys(self.cells.layout.blocks, math.nan)
        for key, mine in self.blocks:
            wanted = self.wanted[key]
            middle = float(low[mine].max() + high[mine].min()) / 2
            told[key] = middle if wanted is None else wanted
        return told | {key: value for key, value in found.items() if not math.isnan(value)}

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


def find_reach(cells: Cells, goal: FitGoal, exact: SaturatedSums) -> Reach:
    """How far the means of the cells' constraints can move, and where they are to go."""
    layout = cells.layout
    weight = layout.weight(cells.mass)
    some = np.maximum(weight, 1)
    kept, lost = layout.entries.statistic_sums(exact.ones, exact.zeros)
    frozen = (weight > 0) & (kept + lost == weight)
    high = np.where(frozen, kept, weight - lost) / some
    return Reach(cells, kept / some, high, frozen, _wanted(cells, goal, exact, weight))


def _wanted(
    cells: Cells, goal: FitGoal, exact: SaturatedSums, weight: np.ndarray
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
    hit = layout.entries.statistic_sums(base.yes, base.no)[0]
    size = len(layout.blocks)
    total = np.bincount(layout.block, weight, size)
    parts = np.bincount(layout.block, hit, size) / np.where(total > 0, total, 1.0)
    return dict(zip(layout.blocks, parts.tolist(), strict=True))
