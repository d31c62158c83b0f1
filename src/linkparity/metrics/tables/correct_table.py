"""Correct a score table: one tilted score per row, and what that does to the gaps."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from linkparity.criteria import trainable
from linkparity.metrics.cell_means import GapDetails, about_groups, all_gap_details, gaps_grid
from linkparity.metrics.intervals.estimates import (
    INTERVALS,
    NAN,
    Estimate,
    IntervalOptions,
    few_nodes,
)
from linkparity.metrics.measures import MEASURES, TABLE_MEASURES, take_measures
from linkparity.metrics.printing import MAX_ROWS
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.metrics.tables.scored_table import scored_table
from linkparity.metrics.tables.tilt_file import apply_tilts, read_tilts, tilts_text
from linkparity.pairs.fit import (
    CellTilt,
    Tilted,
    cell_groups,
    cell_name,
    cell_tilts,
    fit_pairs,
)
from linkparity.pairs.source import Chunk
from linkparity.pairs.totals import Totals
from linkparity.projection.group_tilts import TILT_BY
from linkparity.reading.pair_table import PairTable
from linkparity.reading.store import ColumnStore
from linkparity.reading.tables import Tables
from linkparity.support.display import (
    MISSING,
    Displayed,
    Grid,
    counted,
    format_interval,
    format_number,
    format_rounded,
    or_nan,
    or_none,
)
from linkparity.support.errors import InputError
from linkparity.support.files import check_output, whole_files

#: A larger distance of a mean from its target is said.
FAR = 1e-6
FAIR_SCORE, FAIR_LOGIT, TILT = "fair_score", "fair_logit", "tilt"


@dataclass(frozen=True)
class ProjectOptions:
    """Options of a projection.

    Attributes:
        criterion: which parity; None is dp, or that of the saved tilts.
        target: the common mean: a name, a number, or two numbers for equalized-odds.
        tolerance: allowed distance of a mean from it.
        tilt_by: ``"groups"``, one tilt per pair of groups, or ``"labels"``, the I-projection; None
            is groups, or that of the saved tilts.
        apply: file of tilts to use instead of fitting.
        save_tilts: file to write the tilts to.
        explain: whether to add the tilt of every row.
        force: whether outputs may replace files.
        intervals: of the measures before and after.
    """

    criterion: str | None = None
    target: object = "model"
    tolerance: float = 0.0
    tilt_by: str | None = None
    apply: str | Path | None = None
    save_tilts: str | Path | None = None
    explain: bool = False
    force: bool = False
    intervals: IntervalOptions = field(default_factory=IntervalOptions)

    def __post_init__(self) -> None:
        self.intervals.check("project")
        if self.criterion is not None:
            object.__setattr__(self, "criterion", trainable()[self.criterion].name)


@dataclass(frozen=True, eq=False)
class Correction(Displayed):
    """What a correction did.

    Attributes:
        criterion: which parity.
        tilt_by: ``"groups"`` or ``"labels"``.
        target: the common mean; a dict by label where there are several.
        kl: distance of the scores to parity in nats per constrained pair, by label where the
            criterion looks at labels; NaN for given tilts and a table without labels.
        kl_applied: nats between the corrected scores and the scores, per row that the tilts apply
            to.
        tilts: what was added to the logits, per cell.
        before: ``auc dp weak-dp eo rdp`` of the scores; None where undefined.
        after: those of the corrected scores; ``auc`` is None where they were tilted by label.
        intervals: ``(low, high)`` by measure, of ``before`` and of ``after``.
        kept: number of scores of exactly 0 or 1, which stay.
        unknown: number of rows with a node of unknown group, whose scores stay.
        rows: number of rows corrected or kept.
        dropped: number of rows left out, by reason.
        residual: largest distance of a constrained mean from its target; None for given tilts.
        duality_gap: of ``kl``, divergence less lower bound, per pair; None for given tilts.
        scans: passes over the rows.
        notes: sentences to read with the numbers.
        gaps: what makes ``dp`` and ``eo``, ``before`` and ``after``.
    """

    criterion: str
    tilt_by: str
    target: float | dict[Any, float]
    kl: float
    kl_applied: float
    tilts: tuple[CellTilt, ...]
    before: dict[str, float | None]
    after: dict[str, float | None]
    intervals: dict[str, dict[str, tuple[float, float]]]
    kept: int
    unknown: int
    rows: int
    dropped: dict[str, int]
    residual: float | None
    duality_gap: float | None
    scans: int
    notes: tuple[str, ...]
    gaps: dict[str, dict[str, GapDetails]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, ready for JSON."""
        target: object = self.target
        if isinstance(self.target, dict):
            target = {str(key): or_none(value) for key, value in self.target.items()}
        tilts = [cell.to_dict() for cell in self.tilts]
        intervals = {
            when: {name: [or_none(end) for end in ends] for name, ends in found.items()}
            for when, found in self.intervals.items()
        }
        kl = {name: or_none(getattr(self, name)) for name in ("kl", "kl_applied")}
        more = {"target": target, "tilts": tilts, "intervals": intervals, "notes": list(self.notes)}
        gaps = [
            {"measure": name, "when": when} | each.to_dict()
            for when, found in self.gaps.items()
            for name, each in found.items()
        ]
        return self.__dict__ | kl | more | {"gaps": gaps}

    def document(self) -> list[Grid | str]:
        """Gaps before and after, tilts, then the sentences."""
        targets = self.target if isinstance(self.target, dict) else {None: self.target}
        aim = ", ".join(
            f"target{'' if label is None else f' of label {label}'} {value:.6g}"
            for label, value in targets.items()
            if not isnan(value)
        )
        shown = [name for name in self.before if not (self.one_sided and name == "weak-dp")]
        columns, rows = ["measure"], [[name] for name in shown]
        for when, values in (("before", self.before), ("after", self.after)):
            columns += [when, "interval"] if self.intervals[when] else [when]
            for row in rows:
                row.append(_shown(values[row[0]]))
                if self.intervals[when]:
                    row.append(format_interval(self.intervals[when].get(row[0])))
        for name in ("kl", "kl_applied"):
            row = [name, *[""] * (len(columns) - 1)]
            row[columns.index("after")] = _shown(or_none(getattr(self, name)))
            rows.append(row)
        for name in ("residual", "duality_gap"):
            if (value := getattr(self, name)) is not None:
                row = [name, *[""] * (len(columns) - 1)]
                row[columns.index("after")] = f"{value:.1e}"
                rows.append(row)
        tilts = [
            [cell_name(cell.groups, cell.label), format_rounded(cell.tilt, 6, "+")]
            for cell in self.tilts[:MAX_ROWS]
        ]
        more = len(self.tilts) - MAX_ROWS
        caption = f"{more} more tilts are in the JSON output." if more > 0 else ""
        cell = "group" if self.one_sided else "pair of groups"
        sentences = list(self.notes)
        if None in map(self.before.get, shown):
            sentences.insert(0, f"{MISSING}: undefined for these rows; an audit says why.")
        return [
            Grid(columns, rows, f"{self.criterion}: {aim}"),
            self._gaps_grid(),
            Grid([cell, "tilt"], tilts, "added to the logits", caption),
            *sentences,
        ]

    @property
    def one_sided(self) -> bool:
        """Whether a cell is one group, as where one side of a bipartite graph has groups."""
        ends = (each.high for each in self.gaps.get("before", {}).values())
        return any(end is not None and len(end.groups) == 1 for end in ends)

    def _gaps_grid(self) -> Grid:
        """Between which pairs of groups the gaps are, before and after."""
        gaps, values = {}, {}
        for when, numbers in (("before", self.before), ("after", self.after)):
            for name, each in self.gaps.get(when, {}).items():
                gaps[f"{name} {when}"], values[f"{name} {when}"] = each, or_nan(numbers[name])
        return gaps_grid(gaps, values)


def _shown(value: float | None) -> str:
    return MISSING if value is None else format_number(value)


def correct_table(
    tables: Tables, options: ProjectOptions, measured: bool = True
) -> tuple[Any, Correction | None]:
    """Correct a score table; nothing is written unless all of it is.

    Args:
        tables: where the table comes from, and where the corrected one goes.
        options: what is asked for.
        measured: whether to measure the gaps before and after.

    Returns:
        What ``tables`` delivers, and the report if ``measured``.
    """
    if options.tilt_by not in (None, *TILT_BY):
        problem = f"must be 'groups' or 'labels', got {options.tilt_by!r}"
        raise InputError(problem, argument="tilt_by")
    apply = None if options.apply is None else str(options.apply)
    outputs = [*tables.outputs, *([] if options.save_tilts is None else [str(options.save_tilts)])]
    for name in outputs:
        check_output(name, options.force, (*tables.inputs, apply))
    asked = (options.criterion, options.target, options.tolerance)
    saved = None if apply is None else read_tilts(apply, *asked, options.tilt_by)
    tilt_by = options.tilt_by or "groups" if saved is None else saved.tilt_by
    with tables.open(several=saved is None, unlabelled=tilt_by == "groups") as table:
        _check_names(table, options.explain)
        scored = scored_table(table, options.intervals, ("subgroup", "mixed"))
        if saved is not None:
            tilted = apply_tilts(table, scored, saved)
        else:
            tilted = fit_pairs(
                scored.source, scored.totals, asked[0] or "dp", *asked[1:], tilt_by,
                where=table.given.name,
            )  # fmt: skip
        found = _report(table, scored, tilted, options) if measured else None
        fair = _fair_columns(table, scored, tilted, options.explain)
        with whole_files(outputs, options.force, table.duck.workspace.path) as paths:
            if options.save_tilts is not None:
                content = tilts_text(table, tilted, cell_tilts(table.names, tilted))
                Path(paths[-1]).write_text(content, encoding="utf-8")
            return tables.deliver(table, fair, paths), found


def _check_names(table: PairTable, explain: bool) -> None:
    """Refuse a table that has the output's columns already."""
    known = {name.lower(): name for name in table.given.columns}
    for name in (FAIR_SCORE, *_more_names(table, explain)):
        if name in known:
            problem = f"has a column {known[name]!r} already, which project would write"
            fix = f"rename it in the file, such as to 'old_{name}', or leave it out"
            raise InputError(problem, fix, where=table.given.name)


def _more_names(table: PairTable, explain: bool) -> list[str]:
    return [FAIR_LOGIT] * table.columns.logits + [TILT] * explain


def _fair_columns(table: PairTable, scored: ScoredPairs, tilted: Tilted, explain: bool) -> Any:
    """The new columns of the rows that count, where these are."""
    names = [FAIR_SCORE, *_more_names(table, explain)]
    store = ColumnStore(table.duck.workspace, scored.source.size, 8 * len(names))
    return scored.source.columns_of(partial(_moved, tilted.each, names), names, store.array)


def _moved(tilt: np.ndarray, names: Sequence[str], chunk: Chunk) -> list[np.ndarray]:
    """New columns of some rows, with ``tilt (K,)`` added to their logits."""
    moved = chunk.tilted(tilt)
    assert moved.tilt is not None
    known = {FAIR_SCORE: moved.prob, FAIR_LOGIT: moved.logit, TILT: moved.tilt}
    return [known[name] for name in names]


def _report(
    table: PairTable, scored: ScoredPairs, tilted: Tilted, asked: "ProjectOptions"
) -> Correction:
    """Gaps before and after, and what the correction cost."""
    options, totals = asked.intervals, scored.totals
    moved = replace(scored, source=scored.source.tilted(tilted.each), known={})
    before, after = _measures(scored), _measures(moved)
    if not tilted.predicts:
        after["auc"] = Estimate(NAN, 0)
    estimates = {"before": before, "after": after}
    return Correction(
        criterion=tilted.criterion.name,
        tilt_by=tilted.tilt_by,
        target=tilted.target,
        kl=tilted.kl,
        kl_applied=tilted.kl_applied,
        tilts=cell_tilts(table.names, tilted),
        before={name: or_none(e.value) for name, e in before.items()},
        after={name: or_none(e.value) for name, e in after.items()},
        intervals={
            when: {name: e.interval for name, e in found.items() if e.interval is not None}
            for when, found in estimates.items()
        },
        kept=totals.kept,
        unknown=totals.unknown,
        rows=totals.rows,
        dropped=table.dropped,
        residual=tilted.residual,
        duality_gap=tilted.duality_gap,
        scans=scored.source.passes,
        notes=_notes(table, totals, tilted, before, asked),
        gaps={
            when: all_gap_details(each.means, table.labelled, options.min_pairs)
            for when, each in (("before", scored), ("after", moved))
        },
    )


def _measures(scored: ScoredPairs) -> dict[str, Estimate]:
    names = [name for name in TABLE_MEASURES if not MEASURES[name].for_criterion]
    found = take_measures(scored, names)
    weak = take_measures(scored.of_view("mixed"), ("dp",))["dp"]
    at = names.index("dp") + 1
    return {
        name: {**found, "weak-dp": weak}[name] for name in [*names[:at], "weak-dp", *names[at:]]
    }


def _notes(
    table: PairTable,
    totals: Totals,
    tilted: Tilted,
    before: dict[str, Estimate],
    asked: "ProjectOptions",
) -> tuple[str, ...]:
    notes = ["Within a pair of groups the order of the scores is kept."]
    if not tilted.predicts:
        notes = [
            f"{tilted.criterion.name} tilts by the true label: these scores measure the distance "
            "to parity and cannot be used as predictions, so they have no auc."
        ]
    far = tilted.residual is not None and tilted.residual > asked.tolerance + FAR
    if tilted.tilt_by == "groups" and far:
        notes.append(
            "One tilt per pair of groups does not meet every target exactly: the largest distance "
            f"of a mean from its target is {format_number(tilted.residual or 0.0)}."
        )
    if table.columns.weight is not None and tilted.criterion.needs_labels:
        notes.append("The tilts follow the weights of the rows; eo is measured without them.")
    if tilted.free:
        names = [
            cell_name(*cell_groups(table.names, tilted.cells, m)) for m in tilted.free[:MAX_ROWS]
        ]
        more = " …" if len(tilted.free) > MAX_ROWS else ""
        notes.append(f"No pair to fit a tilt to, not tilted: {', '.join(names)}{more}.")
    if totals.kept:
        kept = counted(totals.kept, "score")
        notes.append(f"{kept} of exactly 0 or 1, which cannot be tilted: kept.")
    if totals.unknown:
        rows = counted(totals.unknown, "row")
        notes.append(f"{rows} with a node of unknown group: not tilted, and in no gap.")
    for reason, count in table.dropped.items():
        notes.append(f"{counted(count, 'row')} left out: {reason}.")
    if asked.intervals.confidence is not None:
        notes += [INTERVALS[asked.intervals.kind], *few_nodes(before)]
    return tuple(about_groups(note) if table.one_sided else note for note in notes)
