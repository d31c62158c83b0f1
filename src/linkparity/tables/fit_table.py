"""Fit the tilts of a score table: first to its histogram, then exactly to its rows."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkparity.criteria import Cells, Criterion, trainable
from linkparity.graph.groups import NO_GROUP
from linkparity.metrics.cell_means import cell_label
from linkparity.projection.fit import Fit, FitGoal, fit_tilts, one_or_all
from linkparity.projection.group_tilts import (
    GroupTilts,
    fit_group_tilts,
    group_criterion,
    owners,
)
from linkparity.projection.solver import Infeasible, NotConverged
from linkparity.projection.sums import Sums, SumSource
from linkparity.support.errors import InputError
from linkparity.tables.measures.table_sums import HistogramSums, Statistics, TableSums
from linkparity.tables.reachable_targets import Reach, find_reach
from linkparity.tables.reading.score_table import ScoreTable

#: Accuracy on the logit scale.
TOL = 1e-10
#: How far tilts may exceed the largest logit, to make up for scores of exactly 0 and 1.
MARGIN = 40.0


@dataclass(frozen=True, eq=False)
class Tilted:
    """Tilts for a table, fitted or given.

    Attributes:
        criterion: which parity.
        tilt_by: ``"groups"`` or ``"labels"``.
        cells: the cells of the tilts over the combinations: pairs of groups, or the criterion's.
        sums: the sums over the rows.
        tilt: ``(M,)`` what is added to the logits of each cell.
        target: the common mean; a dict by label where there are several.
        kl: distance to parity in nats per constrained pair, by label where the criterion is.
        kl_applied: nats per row that the tilts apply to.
        residual: largest distance of a constrained mean from its target; None for given tilts.
        free: cells with rows but without a constraint.
    """

    criterion: Criterion
    tilt_by: str
    cells: Cells
    sums: TableSums
    tilt: np.ndarray
    target: float | dict[Hashable, float]
    kl: float
    kl_applied: float
    residual: float | None
    free: tuple[int, ...] = ()

    @property
    def predicts(self) -> bool:
        """Whether the tilts need no label."""
        return self.tilt_by == "groups" or self.criterion.tilts_by_group

    @property
    def each(self) -> np.ndarray:
        """``(K,)`` tilt of each combination, 0 where unconstrained."""
        each: np.ndarray = np.append(self.tilt, 0.0)[self.cells.cell.numpy()]
        return each

    @property
    def means(self) -> np.ndarray:
        """``(K,)`` mean probability of each combination after the tilt, by weight."""
        stats = self.sums.stats
        yes = self.sums.combined(self.tilt)[0]
        return np.asarray((yes + stats.ones) / np.where(stats.weight > 0, stats.weight, 1.0))


@dataclass(frozen=True)
class CellTilt:
    """What is added to the logits of one cell."""

    groups: tuple[str, ...]
    label: int | None
    tilt: float

    def to_dict(self) -> dict[str, Any]:
        """Groups, label where there is one, tilt."""
        label = {} if self.label is None else {"label": self.label}
        return {"groups": list(self.groups), **label, "tilt": self.tilt}


def cell_tilts(table: ScoreTable, tilted: Tilted) -> tuple[CellTilt, ...]:
    """The tilts of the cells that have pairs, by the names of their groups."""
    used = np.flatnonzero(tilted.cells.mass > 0).tolist()
    return tuple(
        CellTilt(*cell_groups(table, tilted.cells, m), float(tilted.tilt[m])) for m in used
    )


class SaturatedSums:
    """Sums of a source plus the scores of exactly 0 and 1, which no tilt changes.

    Args:
        source: sums over the scores that can be tilted.
        ones: ``(M,)`` number of scores of 1 per cell.
        zeros: ``(M,)`` number of scores of 0 per cell.
    """

    def __init__(self, source: SumSource, ones: np.ndarray, zeros: np.ndarray) -> None:
        self.source = source
        self.ones = ones
        self.zeros = zeros

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        yes, no, variance = self.source(tilt)
        return Sums(yes + self.ones, no + self.zeros, variance)


def fit_table(
    table: ScoreTable,
    stats: Statistics,
    criterion: str = "dp",
    target: object = "model",
    tolerance: float = 0.0,
    tilt_by: str = "labels",
) -> Tilted:
    """Fit the tilts that bring a table to parity, or one per pair of groups that come near it."""
    cells = cells_of(table, stats, criterion)
    if not cells.total:
        problem = f"no pair is constrained by {criterion}"
        labels = trainable()[criterion].needs_labels
        fix = "it needs links (label 1)" if labels else "give pairs a weight above 0"
        if stats.unknown == stats.count.sum():
            fix = "every row has a node of unknown group: fill some of them in"
        raise InputError(problem, fix, where=table.given.name)
    if target == "data" and (stats.label < 0).any():
        problem = "'data' needs a label in every row"
        raise InputError(problem, where=table.given.name, argument="target")
    cell = cells.cell.numpy()
    size = len(cells.mass)
    inside = cell >= 0
    ones = np.bincount(cell[inside], stats.ones[inside], size)
    zeros = np.bincount(cell[inside], stats.zeros[inside], size)
    goal = FitGoal.of(cells, target, tolerance)
    rows = TableSums(table, stats, cell, size)
    exact = SaturatedSums(rows, ones, zeros)
    reach = find_reach(cells, goal, exact) if stats.kept else None
    live = cells
    if reach is not None:
        _check_reach(table, reach, goal.tolerance)
        live, goal = reach.loosened(goal)
    fit, kl, residual = None, 0.0, 0.0
    if live.total:
        fit = _fit_twice(stats, live, goal, exact)
        kl, residual = fit.divergence(rows, exact(fit.tilt)), fit.residual(exact(fit.tilt))
    tilt, targets = (np.zeros(size), {}) if fit is None else (fit.tilt, fit.targets)
    fixed = 0.0
    if reach is not None:
        targets = reach.targets(goal.tolerance, targets)
        fixed = reach.residual(targets)
    kl, target = kl / cells.total, one_or_all(targets)
    found = Tilted(
        cells.criterion, tilt_by, cells, rows, tilt, target, kl, kl, max(residual, fixed)
    )
    if found.predicts and not cells.criterion.tilts_by_group:
        return _tilt_by_groups(found, fit, exact, fixed)
    return found


def _tilt_by_groups(found: Tilted, fit: Fit | None, exact: SaturatedSums, fixed: float) -> Tilted:
    """One tilt per pair of groups instead of one per cell.

    Args:
        found: the tilts per cell.
        fit: how they were found; None where no score can be tilted.
        exact: sums per cell over the rows.
        fixed: distance from the target of the means that cannot be moved.
    """
    table, stats = found.sums.table, found.sums.stats
    groups = group_cells(table, stats, found.criterion)
    none = np.zeros(len(groups.mass))
    by = GroupTilts(none, 0.0, none > 0)
    if fit is not None:
        live = fit.cells
        by = fit_group_tilts(
            fit,
            groups,
            exact,
            lambda: SaturatedSums(HistogramSums(stats, live), exact.ones, exact.zeros),
            stats.bound,
        )
    sums = TableSums(table, stats, groups.cell.numpy(), len(groups.mass))
    moved = float(sums.divergence(by.tilt).sum()) / groups.total
    constrained = np.bincount(owners(found.cells, groups), found.cells.mass, len(none)) > 0
    return replace(
        found,
        cells=groups,
        sums=sums,
        tilt=by.tilt,
        kl_applied=moved,
        residual=max(by.residual, fixed),
        free=tuple(np.flatnonzero((groups.mass > 0) & ~constrained).tolist()),
    )


def _fit_twice(stats: Statistics, cells: Cells, goal: FitGoal, exact: SaturatedSums) -> Fit:
    """Fit the tilts to the histogram, then, starting from these, exactly to the rows."""
    bound = stats.bound + (MARGIN if stats.kept else 0.0)
    rough = SaturatedSums(HistogramSums(stats, cells), exact.ones, exact.zeros)
    try:
        goal = replace(goal, start=fit_tilts(rough, cells, goal, TOL / 10, bound).tilt)
    except (NotConverged, Infeasible):
        goal = replace(goal, start=np.zeros(len(cells.mass)))
    try:
        return fit_tilts(exact, cells, goal, TOL, bound)
    except NotConverged:  # sums over very many rows carry a little noise
        return fit_tilts(exact, cells, goal, 100 * TOL, bound)


def cells_of(table: ScoreTable, stats: Statistics, criterion: str) -> Cells:
    """The cells of a criterion over the K combinations, each with the weight of its pairs."""
    if trainable()[criterion].needs_labels and not table.labelled:
        problem = f"criterion {criterion!r} needs a column 'label' of 0 and 1"
        fix = "add it, name it with {label=}, or use another criterion, such as dp"
        raise InputError(problem, fix, where=table.given.name)
    labels = np.maximum(stats.label, 0) if table.labelled else None
    key = stats.key
    if trainable()[criterion].needs_labels:  # without a label, a pair is unconstrained
        key = np.where(stats.label[:, None] < 0, NO_GROUP, key)
    return Cells.prepare(key, criterion, labels, stats.weight, directed=table.options.directed)


def group_cells(table: ScoreTable, stats: Statistics, criterion: Criterion) -> Cells:
    """The K combinations in the cells that have one tilt each when tilts are by groups alone."""
    directed = table.options.directed
    by = group_criterion(criterion)
    return Cells.prepare(stats.key, by, weight=stats.weight, directed=directed)


def _check_reach(table: ScoreTable, reach: Reach, tolerance: float) -> None:
    """Raise where scores of exactly 0 and 1 keep a mean from its target."""
    found = reach.unreachable(tolerance)
    if found is None:
        return
    worst, wanted = found
    low, high = reach.low[worst], reach.high[worst]
    layout = reach.cells.layout
    under = layout.cell[layout.row == worst]
    groups, label = cell_groups(table, reach.cells, int(under[0]))
    name = cell_name(groups, None if len(under) > 1 else label)
    where = f"lie between {low:.6g} and {high:.6g}" if low < high else f"be {low:.6g}"
    aim = "a common mean" if wanted is None else f"the target {wanted:.6g}"
    problem = (
        f"{name}: scores of exactly 0 or 1 cannot be tilted, and with so many of them the mean "
        f"can only {where}: {aim} is out of reach"
    )
    fix = "give scores that are not rounded to 0 and 1, another {target=}, or a {tolerance=}"
    raise Infeasible(problem, fix, where=table.given.name)


def cell_name(groups: tuple[str, ...], label: int | None) -> str:
    """A cell in words: its groups, and its label where the criterion tells labels apart."""
    name = cell_label(groups)
    return name if label is None else f"{name}, label {label}"


def cell_groups(table: ScoreTable, cells: Cells, cell: int) -> tuple[tuple[str, ...], int | None]:
    """Names of a cell's groups, and its label where the criterion tells labels apart."""
    layout = cells.layout
    if not cells.criterion.by_group_pair:
        return (layout.names[cell],), None
    key = layout.key[cell].tolist()
    groups = tuple(table.names[g] for g in key[:2] if g >= 0)
    return groups, int(key[2]) if len(key) > 2 else None
