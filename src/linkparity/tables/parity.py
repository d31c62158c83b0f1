"""The nearest scores at parity for a table: tilts, divergence, and whether they exist."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from linkparity.criteria import CRITERIA, Cells
from linkparity.fitting import Ask, check_tolerance, fit_tilts
from linkparity.solver import Infeasible, NotConverged
from linkparity.sums import tensor_sums
from linkparity.tables.cellsums import KeptSums, TableSums, cells_of
from linkparity.tables.scores import ScoreTable
from linkparity.tables.statistics import Statistics
from linkparity.targets import read_target

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
    ask = Ask(read_target(target, cells), check_tolerance(tolerance), np.zeros(size))
    rows = TableSums(table, stats, cell, size)
    exact = KeptSums(rows, ones, zeros)
    bound = stats.bound + (ROOM if stats.kept else 0.0)
    if stats.kept:
        _check_reach(table, cells, ask, exact, ones, zeros)
    start = _rough_start(stats, cells, ask, ones, zeros, bound, table.reading.directed)
    ask = Ask(ask.target, ask.tolerance, start)
    try:
        fit = fit_tilts(exact, cells, ask, TOL, bound)
    except NotConverged:  # sums over very many rows carry a little noise
        fit = fit_tilts(exact, cells, ask, 100 * TOL, bound)
    now = exact(fit.tilt)
    kl = max(fit.divergence(rows, now), 0.0)
    return Tilted(criterion, cells, rows, fit.tilt, fit.target, kl, fit.residual(now))


def check_criterion(criterion: str, table: ScoreTable) -> None:
    """Raise unless a table has what the criterion asks for."""
    chosen = CRITERIA[criterion]
    if criterion == "churn":
        raise ValueError("criterion 'churn' compares with a baseline's decisions, not with labels")
    if chosen.needs_labels and not table.labelled:
        raise ValueError(
            f"{table.given.name}: criterion {criterion!r} needs a column 'label' of 0 and 1; "
            "add it, name it with --label, or use --criterion dp"
        )


def _rough_start(
    stats: Statistics,
    cells: Cells,
    ask: Ask,
    ones: np.ndarray,
    zeros: np.ndarray,
    bound: float,
    directed: bool,
) -> np.ndarray:
    """Tilts for the histogram: most digits of the right ones, without a scan."""
    of = stats.bin_of
    bins = Cells.prepare(
        stats.key[of],
        cells.criterion,
        stats.label[of] if cells.criterion.needs_labels or cells.label_mass is not None else None,
        stats.bin_count,
        directed=directed,
    )
    if bins.layout.names != cells.layout.names:  # a group all of whose scores are 0 or 1
        return np.zeros(len(cells.mass))
    source = KeptSums(tensor_sums(torch.from_numpy(stats.bin_logit), bins), ones, zeros)
    try:
        return fit_tilts(source, cells, ask, TOL / 10, bound).tilt
    except (NotConverged, Infeasible):
        return np.zeros(len(cells.mass))


def _check_reach(
    table: ScoreTable,
    cells: Cells,
    ask: Ask,
    exact: KeptSums,
    ones: np.ndarray,
    zeros: np.ndarray,
) -> None:
    """Say so when scores of exactly 0 and 1 keep a mean from its target."""
    layout = cells.layout
    weight = layout.weight(cells.mass)
    used = weight > 0
    kept, lost = layout.entries.hit_miss(ones, zeros)
    low, high = kept[used] / weight[used], 1 - lost[used] / weight[used]
    block = layout.block[used]
    base = exact(np.zeros(len(cells.mass)))
    hit = layout.entries.hit_miss(base.yes, base.no)[0][used]
    for each in np.unique(block):
        mine = block == each
        wanted = _wanted(ask, cells, layout.blocks[each], hit[mine], weight[used][mine])
        if wanted is None:
            bottom, top = low[mine].max(), high[mine].min()
            bad = bottom >= top + 2 * ask.tolerance
            worst = int(np.flatnonzero(mine)[low[mine].argmax()])
            aim = "a common mean"
        else:
            slack = ask.tolerance
            off = np.maximum(low[mine] - wanted - slack, wanted - slack - high[mine])
            stuck = (off == 0) & (low[mine] < high[mine])
            bad = bool((off > 0).any() or stuck.any())
            worst = int(np.flatnonzero(mine)[off.argmax()])
            aim = f"the target {wanted:.6g}"
        if bad:
            name = cell_name(table, cells, int(np.flatnonzero(used)[worst]))
            raise Infeasible(
                f"{table.given.name}: {name}: scores of exactly 0 or 1 cannot be tilted, and so "
                f"many are kept that its mean can only lie between {low[worst]:.6g} and "
                f"{high[worst]:.6g}: {aim} is out of reach; give scores that are not rounded "
                "to 0 and 1, another --target, or a --tolerance"
            )


def _wanted(
    ask: Ask, cells: Cells, block: Any, hit: np.ndarray, weight: np.ndarray
) -> float | None:
    """The mean asked of a block of constraints; None for a free one."""
    if ask.target == "free":
        return None
    if ask.target == "model":
        return float(hit.sum() / weight.sum())
    if ask.target == "data":
        assert cells.label_mass is not None
        return float(cells.label_mass.sum() / cells.mass.sum())
    assert isinstance(ask.target, dict)
    return ask.target[block]


def cell_name(table: ScoreTable, cells: Cells, cell: int) -> str:
    """A cell in words: its groups by name, and its label where that tells cells apart."""
    groups, label = cell_groups(table, cells, cell)
    told = " – ".join(groups)
    return told if label is None else f"{told}, label {label}"


def cell_groups(table: ScoreTable, cells: Cells, cell: int) -> tuple[tuple[str, ...], int | None]:
    """Names of a cell's groups, and its label where the criterion tells labels apart."""
    layout = cells.layout
    if cells.criterion.name == "weak-dp":
        return (layout.names[cell],), None
    key = layout.key[cell].tolist()
    groups = tuple(table.names[g] for g in key[:2] if g >= 0)
    return groups, int(key[2]) if len(key) > 2 else None
