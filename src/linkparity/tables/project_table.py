"""Correct a score table: one tilted score per row, and what that does to the gaps."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkparity.support.numbers import or_none
from linkparity.support.optional import require
from linkparity.support.wording import counted
from linkparity.tables.engines.base import EXTRA
from linkparity.tables.fit_table import Tilted, fit_table
from linkparity.tables.measures.ranks import rank_measures
from linkparity.tables.measures.row_sums import moved_rows, sigmoid
from linkparity.tables.measures.statistics import Statistics, measure, view_means
from linkparity.tables.reading.expressions import movable
from linkparity.tables.reading.score_table import ScoreTable
from linkparity.tables.tilt_file import CellTilt, SavedTilts, apply_tilts, cell_tilts

if TYPE_CHECKING:
    from rich.console import Group

FAIR_SCORE, FAIR_LOGIT, TILT = "fair_score", "fair_logit", "tilt"


@dataclass(frozen=True, eq=False)
class Correction:
    """What a correction did.

    Attributes:
        criterion: which parity.
        target: the mean asked for; a dict by label where there are several.
        kl: nats per constrained pair between the corrected scores and the scores.
        tilts: what was added to the logits, per cell.
        before: ``auc dp eo rdp`` of the scores.
        after: the same of the corrected scores; ``auc`` is None where they have seen the labels.
        kept: scores of exactly 0 or 1, which stay.
        rows: rows corrected or kept.
        dropped: rows left out, by reason.
        residual: largest distance of a constrained mean from its target; None with given tilts.
        scans: passes over the rows.
        notes: sentences that belong beside the numbers.
    """

    criterion: str
    target: float | dict[Any, float]
    kl: float
    tilts: tuple[CellTilt, ...]
    before: dict[str, float | None]
    after: dict[str, float | None]
    kept: int
    rows: int
    dropped: dict[str, int]
    residual: float | None
    scans: int
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, ready for JSON."""
        target: object = self.target
        if isinstance(self.target, dict):
            target = {str(key): or_none(value) for key, value in self.target.items()}
        return {
            "criterion": self.criterion,
            "target": target,
            "kl": self.kl,
            "tilts": [cell.to_dict() for cell in self.tilts],
            "before": dict(self.before),
            "after": dict(self.after),
            "kept": self.kept,
            "rows": self.rows,
            "dropped": dict(self.dropped),
            "residual": self.residual,
            "scans": self.scans,
            "notes": list(self.notes),
        }

    def __rich__(self) -> "Group":
        from linkparity.tables.printing import correction_table

        return correction_table(self)


def correct(
    table: ScoreTable,
    criterion: str | None = None,
    target: object = "model",
    tolerance: float = 0.0,
    saved: SavedTilts | None = None,
    saved_name: str = "tilts",
) -> tuple[Tilted, Statistics]:
    """Fit the tilts of a table, or take saved ones."""
    stats = measure(table)
    if saved is not None:
        return apply_tilts(table, stats, saved, saved_name), stats
    return fit_table(table, stats, criterion or "dp", target, tolerance), stats


def check_names(table: ScoreTable, explain: bool) -> None:
    """The output's columns must be new."""
    known = {name.lower(): name for name in table.given.columns}
    for name in _new_names(table, explain):
        if name in known:
            raise ValueError(
                f"{table.given.name}: has a column {known[name]!r} already, which project would "
                f"write; rename it in the file, such as to 'old_{name}', or leave it out"
            )


def _new_names(table: ScoreTable, explain: bool) -> list[str]:
    logits = [FAIR_LOGIT] if table.columns.logits else []
    return [FAIR_SCORE, *logits, *([TILT] if explain else [])]


def report(table: ScoreTable, stats: Statistics, tilted: Tilted) -> Correction:
    """Gaps before and after, and what was spent."""
    blind = tilted.cells.criterion.tilts_by_group
    return Correction(
        criterion=tilted.criterion,
        target=tilted.target,
        kl=tilted.kl_mean,
        tilts=cell_tilts(table, tilted),
        before=_measures(table, stats, stats.mean, None),
        after=_measures(table, stats, tilted.means, tilted.each) | ({} if blind else {"auc": None}),
        kept=stats.kept,
        rows=int(stats.count.sum()),
        dropped=table.dropped,
        residual=tilted.residual,
        scans=table.engine.scans,
        notes=_notes(table, stats, tilted),
    )


def _measures(
    table: ScoreTable, stats: Statistics, mean: np.ndarray, tilt: np.ndarray | None
) -> dict[str, float | None]:
    means = view_means(stats, mean, table)
    weak = view_means(stats, mean, table, "mixed")
    ranks = rank_measures(table, stats, tilt, confidence=None)
    return {
        "auc": or_none(ranks.auc.value),
        "dp": or_none(means.dp),
        "weak-dp": or_none(weak.dp),
        "eo": or_none(means.eo),
        "rdp": or_none(ranks.rdp.value),
    }


def _notes(table: ScoreTable, stats: Statistics, tilted: Tilted) -> tuple[str, ...]:
    notes = []
    if tilted.cells.criterion.tilts_by_group:
        notes.append("Within a pair of groups the order of the scores is kept.")
    else:
        notes.append(
            f"{tilted.criterion} tilts by the true label: these scores measure the distance to "
            "parity and are no predictor, so they have no auc."
        )
    if stats.kept:
        kept = counted(stats.kept, "score")
        notes.append(f"{kept} of exactly 0 or 1, which cannot be tilted: kept.")
    for reason, count in table.dropped.items():
        notes.append(f"{counted(count, 'row')} left out: {reason}.")
    return tuple(notes)


def fair_rows(
    table: ScoreTable, stats: Statistics, tilted: Tilted, explain: bool = False
) -> tuple[Any, list[str]]:
    """Ibis table of ``row`` and the new columns, one row per good row; the columns' names."""
    ibis = require("ibis", "audit and project", EXTRA)
    rows = moved_rows(table, stats, tilted.each)
    fair = sigmoid(rows.x + rows.t)
    new = {FAIR_SCORE: ibis.ifelse(movable(rows), fair, rows.p) if stats.kept else fair}
    if table.columns.logits:
        new[FAIR_LOGIT] = rows.x + rows.t
    if explain:
        new[TILT] = rows.t
    return rows.select(row=rows.row, **new), list(new)
