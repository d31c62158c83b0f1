"""Audit a score table: gaps with intervals, KL to parity, exposure, and what each rests on."""

from dataclasses import dataclass, field
from typing import Any

from linkparity.criteria import trainable
from linkparity.metrics.cell_means import VIEW_TITLES, VIEWS, CellMeans, all_gap_details
from linkparity.metrics.intervals.estimates import (
    INTERVALS,
    Estimate,
    IntervalOptions,
    few_nodes,
)
from linkparity.metrics.measures import TABLE_MEASURES, VIEW_MEASURES, take_measures
from linkparity.metrics.printing import MAX_ROWS, UNIT, cells_grid, measures_grid, omitted_cells
from linkparity.metrics.results import Measured, about, by_measure, cell_scores, told_once
from linkparity.metrics.tables.compare import Change, find_change
from linkparity.metrics.tables.scored_table import scored_table
from linkparity.pairs.lists import list_places
from linkparity.pairs.source import PairSource
from linkparity.pairs.totals import Totals
from linkparity.reading.pair_table import PairTable
from linkparity.reading.tables import Tables
from linkparity.support.arrays import whole_number
from linkparity.support.display import (
    Grid,
    cell_label,
    counted,
    format_interval,
    format_number,
    format_rounded,
    or_none,
    shortened,
    whisker,
)
from linkparity.support.errors import InputError

#: Cells with fewer pairs are flagged.
SMALL = 30
#: Largest length of a list.
MAX_PLACES = 1_000_000_000


@dataclass(frozen=True)
class AuditOptions:
    """Options of an audit.

    Attributes:
        criterion: the criterion that ``kl`` is measured for.
        confidence: confidence level of the intervals; None for no intervals.
        top: length of each node's list, for the exposure.
        seed: random seed of the intervals.
        intervals: ``nodes`` allows for pairs that share nodes, ``pairs`` treats pairs as
            independent.
        min_pairs: pairs that a pair of groups must have to count in dp, links in eo.
    """

    criterion: str = "dp"
    confidence: float | None = 0.95
    top: int = 10
    seed: int = 0
    intervals: str = "nodes"
    min_pairs: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "criterion", trainable()[self.criterion].name)
        self.interval_options.check("audit")
        if not 1 <= whole_number(self.top, "top", "audit") <= MAX_PLACES:
            problem = f"must be at least 1 place per list and at most {MAX_PLACES:,}"
            raise InputError(f"{problem}, got {self.top}", argument="top", caller="audit")

    @property
    def interval_options(self) -> IntervalOptions:
        """Which intervals are computed."""
        return IntervalOptions(self.confidence, self.intervals, self.seed, self.min_pairs)


@dataclass(frozen=True)
class GroupExposure:
    """One group's part of the lists.

    Attributes:
        group: its name.
        candidates: number of times that its nodes are in a list.
        share: its share of all candidates.
        slots: number of the first k places that its nodes fill; ties share a place.
        slot_share: its share of all first k places.
    """

    group: str
    candidates: int
    share: float
    slots: float
    slot_share: float

    @property
    def ratio(self) -> float:
        """1 is as many places as candidates; below 1 is fewer."""
        return self.slot_share / self.share if self.share else float("nan")


@dataclass(frozen=True, repr=False, eq=False)
class Audit(Measured):
    """Every measure as a float attribute (``audit.dp``), with what it rests on.

    Attributes:
        name: of the table, for messages.
        attribute: what the groups are groups of.
        directed: whether (a, b) and (b, a) are two pairs.
        views: ``dp`` and ``eo`` in each view, as estimates.
        top: places per list that the exposure is about.
        exposure: who fills the first k places, per group.
        groups: nodes of each group, by name.
        small: group pairs with few pairs.
        kept: scores of exactly 0 or 1.
        unknown: rows with a node of unknown group, which are in no gap.
        dropped: rows left out, by reason.
        scans: passes over the rows.
        change: against another table of the same pairs, if one was given.
    """

    name: str
    attribute: str
    directed: bool
    views: dict[str, dict[str, Estimate]]
    top: int
    exposure: tuple[GroupExposure, ...]
    groups: dict[str, int]
    small: tuple[str, ...]
    kept: int
    unknown: int
    dropped: dict[str, int]
    scans: int
    change: Change | None = None
    view: str = field(default="subgroup", init=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, ready for JSON; undefined values are None."""
        change = {} if self.change is None else {"change": self.change.to_dict()}
        return (
            super().to_dict()
            | change
            | {
                "views": {view: _view_dict(found) for view, found in self.views.items()},
                "exposure": {
                    "k": self.top,
                    "groups": [
                        part.__dict__ | {"ratio": or_none(part.ratio)} for part in self.exposure
                    ],
                },
                "groups": dict(self.groups),
                "small": list(self.small),
                "kept": self.kept,
                "unknown": self.unknown,
                "dropped": dict(self.dropped),
                "attribute": self.attribute,
                "table": self.name,
                "scans": self.scans,
            }
        )

    def document(self) -> list[Grid | str]:
        """Measures, gaps in the three views, cells and exposure, then the sentences."""
        change = [] if self.change is None else [self.change.grid(self.values)]
        return [
            measures_grid(self), *change, *self.gap_grids(), *self._views_grids(), cells_grid(self),
            *omitted_cells(self), self._exposure_grid(), *self.findings(), *self.sentences(),
        ]  # fmt: skip

    def sentences(self) -> list[str]:
        """Why values are undefined, in every view that is shown, then the notes."""
        known = set(self.reasons.values())
        reasons = list(self.reasons.items())
        if self.change is not None:
            changes = self.change.reasons.items()
            reasons += [(f"interval of the change of {name}", reason) for name, reason in changes]
        reasons += [
            (f"{about(name, estimate)} ({VIEW_TITLES[view]})", estimate.reason)
            for view, found in self.shown_views.items()
            for name, estimate in found.items()
            if estimate.reason and estimate.reason not in known
        ]
        return [*told_once(reasons), *self.notes]

    @property
    def shown_views(self) -> dict[str, dict[str, Estimate]]:
        """The views; none where a cell is one group, since there they repeat the measures."""
        return {} if self.one_sided else self.views

    def _views_grids(self) -> list[Grid]:
        if not self.shown_views:
            return []
        columns = ["gaps between"]
        for name in VIEW_MEASURES:
            more = [] if self.confidence is None else [f"{name} interval", f"{name}, {UNIT}"]
            columns += [name, *more]
        rows = []
        for view, found in self.shown_views.items():
            row = [VIEW_TITLES[view]]
            for name in VIEW_MEASURES:
                row.append(format_number(found[name].value))
                if self.confidence is not None:
                    ends = found[name].interval
                    row += [format_interval(ends), whisker(found[name].value, ends, (0.0, 1.0), 11)]
            rows.append(row)
        return [Grid(columns, rows, "views", drawn=tuple(f"{n}, {UNIT}" for n in VIEW_MEASURES))]

    def _exposure_grid(self) -> Grid:
        rows = [
            [
                part.group, f"{self.groups[part.group]:,}", f"{part.candidates:,}",
                format_number(part.share), format_number(part.slot_share),
                format_rounded(part.ratio, 2),
            ]
            for part in self.exposure[:MAX_ROWS]
        ]  # fmt: skip
        columns = [self.attribute, "nodes", "candidates", "share", "share of places", "ratio"]
        more = len(self.exposure) - MAX_ROWS
        caption = f"{more} more groups are in the JSON output." if more > 0 else ""
        return Grid(columns, rows, f"first {self.top} places of every list", caption)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.4g}" for name, value in self.values.items())
        return f"Audit({values}, pairs={self.pairs})"


def audit_table(tables: Tables, options: AuditOptions) -> Audit:
    """Audit a score table in files or frames."""
    with tables.open() as table:
        return audit_scores(table, options)


def audit_scores(table: PairTable, options: AuditOptions) -> Audit:
    """Audit a checked score table."""
    views = tuple(VIEWS)
    scored = scored_table(table, options.interval_options, views, options.criterion)
    found = take_measures(scored, TABLE_MEASURES)
    in_views = {view: take_measures(scored.of_view(view), VIEW_MEASURES) for view in views}
    change = None
    if table.other is not None:
        change = find_change(scored, table.other.given.name, found)
    shares, every = exposure(table, scored.source, options.top)
    totals, means = scored.totals, scored.means
    small = small_cells(means)
    return Audit(
        **by_measure(found),
        pairs=totals.rows,
        links=scored.links,
        cells=cell_scores(means, table.labelled, found),
        notes=_notes(table, totals, found, small, options, every),
        confidence=options.confidence,
        criterion=options.criterion,
        name=table.given.name,
        attribute=table.options.attribute,
        directed=table.options.directed,
        views=in_views,
        top=options.top,
        exposure=shares,
        groups=dict(zip(table.names, table.sizes, strict=True)),
        small=small,
        kept=totals.kept,
        unknown=totals.unknown,
        dropped=table.dropped,
        scans=scored.source.passes,
        gaps=all_gap_details(means, table.labelled, options.min_pairs),
        change=change,
    )


def exposure(table: PairTable, source: PairSource, k: int) -> tuple[tuple[GroupExposure, ...], int]:
    """Each group's part of the first ``k`` places of all lists, or of one in so many.

    Places of candidates whose group is unknown count for no group, but among all places.
    """
    ends = "second" if table.one_sided else "first" if table.options.ordered else "both"
    have, got, every = list_places(source, ends, k)
    share, slot_share = have / max(have.sum(), 1), got / max(got.sum(), 1)
    columns = (have, share, got, slot_share)
    parts = zip(table.names, *(column[:-1].tolist() for column in columns), strict=True)
    return tuple(GroupExposure(*part) for part in parts if part[1]), every


def small_cells(means: CellMeans) -> tuple[str, ...]:
    """Group pairs whose mean rests on fewer than :data:`SMALL` pairs."""
    named = zip(means.groups, means.pairs.tolist(), strict=True)
    return tuple(f"{cell_label(groups)} ({pairs:,})" for groups, pairs in named if pairs < SMALL)


def _notes(
    table: PairTable,
    totals: Totals,
    found: dict[str, Estimate],
    small: tuple[str, ...],
    options: AuditOptions,
    every: int,
) -> tuple[str, ...]:
    notes = [f"{name}: {e.note}." for name, e in found.items() if e.note] + few_nodes(found)
    if options.confidence is not None:
        notes.insert(0, INTERVALS[options.intervals])
    if small:
        shown = ", ".join(small[:12]) + (" …" if len(small) > 12 else "")
        notes.append(f"Fewer than {SMALL} pairs, to be read with care: {shown}.")
    if totals.kept:
        notes.append(
            f"{counted(totals.kept, 'score')} of exactly 0 or 1, which no tilt can change."
        )
    if totals.unknown:
        rows = counted(totals.unknown, "row")
        notes.append(f"{rows} with a node of unknown group: in auc and in the lists, in no gap.")
    if table.one_sided:
        ends = ("Sources", "targets") if table.columns.swapped else ("Targets", "sources")
        notes.append(f"{ends[0]} have no group, so a cell is a group of {ends[1]}.")
    others = [name for name in table.given.columns if name not in table.columns.used]
    if not table.labelled and others:
        fix = f"name their column with label (--label); other columns: {shortened(others)}"
        notes.append(f"No labels: {fix}.")
    if every > 1:
        notes.append(f"Exposure is counted in one of {every} lists, with all their places.")
    for reason, count in table.dropped.items():
        notes.append(f"{counted(count, 'row')} left out: {reason}.")
    return tuple(notes)


def _view_dict(found: dict[str, Estimate]) -> dict[str, Any]:
    ends = {name: e.interval for name, e in found.items() if e.interval is not None}
    return {
        **{name: or_none(e.value) for name, e in found.items()},
        "intervals": {name: [or_none(end) for end in pair] for name, pair in ends.items()},
        "reasons": {about(name, e): e.reason for name, e in found.items() if e.reason},
    }
