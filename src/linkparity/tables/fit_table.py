"""The nearest scores at parity for a table: tilts, divergence, and whether they exist."""

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
import torch

from linkparity.criteria import Cells, trainable
from linkparity.projection.fit import Fit, FitGoal, fit_tilts, one_or_all
from linkparity.projection.solver import Infeasible, NotConverged
from linkparity.projection.sums import tensor_sums
from linkparity.tables.measures.row_sums import TableSums, cells_of
from linkparity.tables.measures.statistics import Statistics
from linkparity.tables.reading.score_table import ScoreTable
from linkparity.tables.saturated import Reach, SaturatedSums, find_reach

TOL = 1e-10
#: Room beyond the largest logit for tilts that make up for scores of exactly 0 and 1.
ROOM = 40.0


@dataclass(frozen=True, eq=False)
class Tilted:
    """Tilts for a table, fitted or given.

    Attributes:
        criterion: the name.
        cells: its cells over the combinations.
        sums: the sums over the rows.
        tilt: ``(M,)`` what is added to the logits of each cell.
        target: the mean asked for; a dict by label where there are several.
        kl: nats over all constrained pairs.
        residual: largest distance of a constrained mean from its target; None when given.
    """

    criterion: str
    cells: Cells
    sums: TableSums
    tilt: np.ndarray
    target: float | dict[Hashable, float]
    kl: float
    residual: float | None

    @property
    def each(self) -> np.ndarray:
        """``(K,)`` tilt of each combination, 0 where unconstrained."""
        each: np.ndarray = np.append(self.tilt, 0.0)[self.cells.cell.numpy()]
        return each

    @property
    def means(self) -> np.ndarray:
        """``(K,)`` mean probability of each combination after the tilt."""
        stats = self.sums.stats
        yes = self.sums.combined(self.tilt)[0]
        return np.asarray((yes + stats.ones) / stats.count)

    @property
    def kl_mean(self) -> float:
        """Nats per constrained pair."""
        return self.kl / self.cells.total


def fit_table(
    table: ScoreTable,
    stats: Statistics,
    criterion: str = "dp",
    target: object = "model",
    tolerance: float = 0.0,
) -> Tilted:
    """Fit the tilts: first on the histogram in memory, then exactly, from there, on the rows."""
    check_criterion(criterion, table)
    cells = cells_of(stats, criterion, table.reading.directed, table.labelled)
    if not cells.total:
        raise ValueError(
            f"{table.given.name}: no pair falls under {criterion}; it needs links (label 1)"
        )
    cell = cells.cell.numpy()
    size = len(cells.mass)
    inside = cell >= 0
    ones = np.bincount(cell[inside], stats.ones[inside], size)
    zeros = np.bincount(cell[inside], stats.zeros[inside], size)
    goal = FitGoal.of(cells, target, tolerance)
    rows = TableSums(table, stats, cell, size)
    exact = SaturatedSums(rows, ones, zeros)
    if not stats.kept:
        fit = _fit_twice(table, stats, cells, goal, exact)
        kl, residual = fit.divergence(rows, exact(fit.tilt)), fit.residual(exact(fit.tilt))
        return Tilted(criterion, cells, rows, fit.tilt, fit.target, kl, residual)
    reach = find_reach(cells, goal, exact)
    _check_reach(table, reach, goal.tolerance)
    live, goal = reach.loosened(goal)
    tilt, kl, residual, found = np.zeros(size), 0.0, 0.0, {}
    if live.total:
        fit = _fit_twice(table, stats, live, goal, exact)
        kl, residual = fit.divergence(rows, exact(fit.tilt)), fit.residual(exact(fit.tilt))
        tilt, found = fit.tilt, fit.targets
    goals = reach.targets(goal.tolerance, found)
    residual = max(residual, reach.residual(goals))
    return Tilted(criterion, cells, rows, tilt, one_or_all(goals), kl, residual)


def _fit_twice(
    table: ScoreTable, stats: Statistics, cells: Cells, goal: FitGoal, exact: SaturatedSums
) -> Fit:
    """Fit the tilts to the histogram in memory, then exactly, from there, to the rows."""
    bound = stats.bound + (ROOM if stats.kept else 0.0)
    start = _rough_start(table, stats, cells, goal, exact, bound)
    goal = replace(goal, start=start)
    try:
        return fit_tilts(exact, cells, goal, TOL, bound)
    except NotConverged:  # sums over very many rows carry a little noise
        return fit_tilts(exact, cells, goal, 100 * TOL, bound)


def check_criterion(criterion: str, table: ScoreTable) -> None:
    """Raise unless a table has what the criterion asks for."""
    if trainable()[criterion].needs_labels and not table.labelled:
        raise ValueError(
            f"{table.given.name}: criterion {criterion!r} needs a column 'label' of 0 and 1; "
            "add it, name it with --label, or take another criterion, such as dp"
        )


def _rough_start(
    table: ScoreTable,
    stats: Statistics,
    cells: Cells,
    goal: FitGoal,
    exact: SaturatedSums,
    bound: float,
) -> np.ndarray:
    """Tilts for the histogram: most digits of the right ones, without a scan."""
    of = stats.bin_of
    bins = Cells.prepare(
        stats.key[of],
        cells.criterion,
        stats.label[of] if cells.criterion.needs_labels or cells.label_mass is not None else None,
        stats.bin_count,
        directed=table.reading.directed,
    )
    if bins.layout.names != cells.layout.names:  # a group all of whose scores are 0 or 1
        return np.zeros(len(cells.mass))
    logits = torch.from_numpy(stats.bin_logit)
    source = SaturatedSums(tensor_sums(logits, bins), exact.ones, exact.zeros)
    try:
        return fit_tilts(source, cells, goal, TOL / 10, bound).tilt
    except (NotConverged, Infeasible):
        return np.zeros(len(cells.mass))


def _check_reach(table: ScoreTable, reach: Reach, tolerance: float) -> None:
    """Say so when scores of exactly 0 and 1 keep a mean from its target."""
    found = reach.unreachable(tolerance)
    if found is None:
        return
    worst, wanted = found
    low, high = reach.low[worst], reach.high[worst]
    layout = reach.cells.layout
    under = layout.cell[layout.row == worst]
    groups, label = cell_groups(table, reach.cells, int(under[0]))
    name = _told(groups, None if len(under) > 1 else label)
    where = f"lie between {low:.6g} and {high:.6g}" if low < high else f"be {low:.6g}"
    aim = "a common mean" if wanted is None else f"the target {wanted:.6g}"
    raise Infeasible(
        f"{table.given.name}: {name}: scores of exactly 0 or 1 cannot be tilted, and so many are "
        f"kept that its mean can only {where}: {aim} is out of reach; give scores that are not "
        "rounded to 0 and 1, another --target, or a --tolerance"
    )


def cell_name(table: ScoreTable, cells: Cells, cell: int) -> str:
    """A cell in words: its groups by name, and its label where that tells cells apart."""
    return _told(*cell_groups(table, cells, cell))


def _told(groups: tuple[str, ...], label: int | None) -> str:
    told = " – ".join(groups)
    return told if label is None else f"{told}, label {label}"


def cell_groups(table: ScoreTable, cells: Cells, cell: int) -> tuple[tuple[str, ...], int | None]:
    """Names of a cell's groups, and its label where the criterion tells labels apart."""
    layout = cells.layout
    if not cells.criterion.by_group_pair:
        return (layout.names[cell],), None
    key = layout.key[cell].tolist()
    groups = tuple(table.names[g] for g in key[:2] if g >= 0)
    return groups, int(key[2]) if len(key) > 2 else None
