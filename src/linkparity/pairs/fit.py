"""Fit the tilts of scored pairs: first to their histogram, then exactly to the rows."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkparity.criteria import Cells, Criterion
from linkparity.criteria.cells import find_criterion
from linkparity.pairs.reachable_targets import Reach, find_reach
from linkparity.pairs.source import Kinds, PairSource
from linkparity.pairs.totals import BinnedSums, SourceSums, Totals, gather
from linkparity.projection.fit import Fit, FitGoal, fit_tilts, one_or_all
from linkparity.projection.group_tilts import (
    GroupTilts,
    fit_group_tilts,
    group_criterion,
    owners,
)
from linkparity.projection.solver import Infeasible, NotConverged
from linkparity.projection.sums import Sums, SumSource
from linkparity.reading.groups import NO_GROUP
from linkparity.support.display import cell_label
from linkparity.support.errors import InputError

#: Accuracy on the logit scale.
TOL = 1e-10
#: How far tilts may exceed the largest logit, to make up for scores of exactly 0 and 1.
MARGIN = 40.0


@dataclass(frozen=True, eq=False)
class Tilted:
    """Tilts for scored pairs, fitted or given.

    Attributes:
        criterion: which parity.
        tilt_by: ``"groups"`` or ``"labels"``.
        cells: the cells of the tilts over the kinds: pairs of groups, or the criterion's.
        sums: the sums over the rows.
        tilt: ``(M,)`` what is added to the logits of each cell.
        target: the common mean; a dict by label where there are several.
        kl: distance to parity in nats per constrained pair, by label where the criterion is.
        kl_applied: nats per row that the tilts apply to.
        residual: largest distance of a constrained mean from its target; None for given tilts.
        duality_gap: ``kl`` less its lower bound, per constrained pair; None for given tilts.
        free: cells with rows but without a constraint.
    """

    criterion: Criterion
    tilt_by: str
    cells: Cells
    sums: SourceSums
    tilt: np.ndarray
    target: float | dict[Hashable, float]
    kl: float
    kl_applied: float
    residual: float | None
    duality_gap: float | None = None
    free: tuple[int, ...] = ()

    @property
    def predicts(self) -> bool:
        """Whether the tilts need no label."""
        return self.tilt_by == "groups" or self.criterion.tilts_by_group

    @property
    def each(self) -> np.ndarray:
        """``(K,)`` tilt of each kind, 0 where unconstrained."""
        return self.sums.of_kinds(self.tilt)


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


def cell_tilts(names: Sequence[str], tilted: Tilted) -> tuple[CellTilt, ...]:
    """The tilts of the cells that have pairs, by the names of their groups."""
    used = np.flatnonzero(tilted.cells.mass > 0).tolist()
    return tuple(
        CellTilt(*cell_groups(names, tilted.cells, m), float(tilted.tilt[m])) for m in used
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


def fit_pairs(
    source: PairSource,
    totals: Totals,
    criterion: str | Criterion = "dp",
    target: object = "model",
    tolerance: float = 0.0,
    tilt_by: str = "labels",
    where: str = "",
    kinds: Kinds | None = None,
    divergence: bool = True,
) -> Tilted:
    """Fit the tilts that bring pairs to parity, or one per pair of groups that come near it.

    Args:
        source: the rows.
        totals: their sums.
        criterion: which parity.
        target: the common mean.
        tolerance: allowed distance of a mean from it.
        tilt_by: ``"groups"`` or ``"labels"``.
        where: the name of the table, for messages.
        kinds: those of the source with other numbers of groups; as they are by default.
        divergence: whether to measure the distance to parity, by further passes; else it is nan.
    """
    kinds = source.kinds if kinds is None else kinds
    cells = cells_of(kinds, totals, criterion, where)
    if not cells.total:
        problem = f"no pair is constrained by {cells.criterion.name}"
        labels = cells.criterion.needs_labels
        fix = "it needs links (label 1)" if labels else "give pairs a weight above 0"
        if totals.unknown == totals.rows:
            fix = "every row has a node of unknown group: fill some of them in"
        raise InputError(problem, fix, where=where)
    if target == "data" and ((kinds.label < 0) & (totals.plain.count > 0)).any():
        problem = "'data' needs a label in every row"
        raise InputError(problem, where=where, argument="target")
    cell = cells.code
    size = len(cells.mass)
    goal = FitGoal.of(cells, target, tolerance)
    rows = SourceSums(source, totals, cell, size)
    ones, zeros = (gather(cell, each, size) for each in (totals.ones, totals.zeros))
    exact = SaturatedSums(rows, ones, zeros)
    reach = find_reach(cells, goal, exact) if totals.kept else None
    live = cells
    if reach is not None:
        _check_reach(kinds.names, reach, goal.tolerance, where)
        live, goal = reach.loosened(goal)
    fit, kl, residual, gap = None, 0.0, 0.0, 0.0
    if live.total:
        fit = _fit_twice(totals, live, goal, exact)
        now = exact(fit.tilt)
        residual, gap = fit.residual(now), fit.duality_gap(now)
        kl = fit.divergence(rows, exact(fit.tilt)) if divergence else np.nan
    tilt, targets = (np.zeros(size), {}) if fit is None else (fit.tilt, fit.targets)
    fixed = 0.0
    if reach is not None:
        targets = reach.targets(goal.tolerance, targets)
        fixed = reach.residual(targets)
    kl, target = kl / cells.total, one_or_all(targets)
    found = Tilted(
        cells.criterion, tilt_by, cells, rows, tilt, target, kl, kl, max(residual, fixed),
        gap / cells.total,
    )  # fmt: skip
    if found.predicts and not cells.criterion.tilts_by_group:
        return _tilt_by_groups(found, fit, exact, fixed, divergence)
    return found


def _tilt_by_groups(
    found: Tilted, fit: Fit | None, exact: SaturatedSums, fixed: float, divergence: bool
) -> Tilted:
    """One tilt per pair of groups instead of one per cell.

    Args:
        found: the tilts per cell.
        fit: how they were found; None where no score can be tilted.
        exact: sums per cell over the rows.
        fixed: distance from the target of the means that cannot be moved.
        divergence: whether to measure what the tilts change.
    """
    source, totals = found.sums.source, found.sums.totals
    groups = group_cells(source.kinds, totals, found.criterion)
    none = np.zeros(len(groups.mass))
    by = GroupTilts(none, 0.0)
    if fit is not None:
        live = fit.cells
        by = fit_group_tilts(
            fit,
            groups,
            exact,
            lambda: SaturatedSums(BinnedSums(totals, live), exact.ones, exact.zeros),
            totals.bound,
        )
    sums = SourceSums(source, totals, groups.code, len(groups.mass))
    moved = float(sums.divergence(by.tilt).sum()) / groups.total if divergence else np.nan
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


def _fit_twice(totals: Totals, cells: Cells, goal: FitGoal, exact: SaturatedSums) -> Fit:
    """Fit the tilts to the histogram, then, starting from these, exactly to the rows."""
    bound = totals.bound + (MARGIN if totals.kept else 0.0)
    rough = SaturatedSums(BinnedSums(totals, cells), exact.ones, exact.zeros)
    try:
        goal = replace(goal, start=fit_tilts(rough, cells, goal, TOL / 10, bound).tilt)
    except (NotConverged, Infeasible):
        goal = replace(goal, start=np.zeros(len(cells.mass)))
    try:
        return fit_tilts(exact, cells, goal, TOL, bound)
    except NotConverged:  # sums over very many rows carry a little noise
        return fit_tilts(exact, cells, goal, 100 * TOL, bound)


def cells_of(kinds: Kinds, totals: Totals, criterion: str | Criterion, where: str = "") -> Cells:
    """The cells of a criterion over the K kinds, each with the weight of its pairs."""
    chosen = find_criterion(criterion)
    if chosen.needs_labels and not kinds.labelled:
        problem = f"criterion {chosen.name!r} needs a column 'label' of 0 and 1"
        fix = "add it, name it with {label=}, or use another criterion, such as dp"
        raise InputError(problem, fix, where=where)
    labels = np.maximum(kinds.label, 0) if kinds.labelled else None
    groups = kinds.groups
    if chosen.needs_labels:  # without a label, a pair is unconstrained
        groups = np.where(kinds.label[:, None] < 0, NO_GROUP, groups)
    groups, weight = _flat(groups), totals.weighted.count
    return Cells.prepare(groups, chosen, labels, weight, directed=kinds.directed)


def group_cells(kinds: Kinds, totals: Totals, criterion: Criterion) -> Cells:
    """The K kinds in the cells that have one tilt each when tilts are by groups alone."""
    by, weight = group_criterion(criterion), totals.weighted.count
    return Cells.prepare(_flat(kinds.groups), by, weight=weight, directed=kinds.directed)


def _flat(groups: np.ndarray) -> np.ndarray:
    """``(K, 2)`` groups as they are, those of instances ``(K, 1)`` as ``(K,)``."""
    return groups[:, 0] if groups.shape[1] == 1 else groups


def _check_reach(names: Sequence[str], reach: Reach, tolerance: float, where: str) -> None:
    """Raise where scores of exactly 0 and 1 keep a mean from its target."""
    found = reach.unreachable(tolerance)
    if found is None:
        return
    worst, wanted = found
    low, high = reach.low[worst], reach.high[worst]
    layout = reach.cells.layout
    under = layout.cell[layout.row == worst]
    groups, label = cell_groups(names, reach.cells, int(under[0]))
    name = cell_name(groups, None if len(under) > 1 else label)
    range_ = f"lie between {low:.6g} and {high:.6g}" if low < high else f"be {low:.6g}"
    aim = "a common mean" if wanted is None else f"the target {wanted:.6g}"
    problem = (
        f"{name}: scores of exactly 0 or 1 cannot be tilted, and with so many of them the mean "
        f"can only {range_}: {aim} is out of reach"
    )
    fix = "give scores that are not rounded to 0 and 1, another {target=}, or a {tolerance=}"
    raise Infeasible(problem, fix, where=where)


def cell_name(groups: tuple[str, ...], label: int | None) -> str:
    """A cell in words: its groups, and its label where the criterion tells labels apart."""
    name = cell_label(groups)
    return name if label is None else f"{name}, label {label}"


def cell_groups(
    names: Sequence[str], cells: Cells, cell: int
) -> tuple[tuple[str, ...], int | None]:
    """Names of a cell's groups, and its label where the criterion tells labels apart."""
    layout = cells.layout
    if not cells.criterion.by_group_pair:
        return (layout.names[cell],), None
    key = layout.key[cell].tolist()
    groups = tuple(names[g] if g < len(names) else str(g) for g in key[:2] if g >= 0)
    return groups, int(key[2]) if len(key) > 2 else None
