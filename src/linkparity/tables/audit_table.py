"""Audit a score table: gaps with intervals, KL to parity, exposure, and what each rests on."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from linkparity.metrics.cell_sums import CellMeans
from linkparity.metrics.results import INDEPENDENCE, Measured, about, cell_scores
from linkparity.metrics.scored_pairs import NAN, Estimate
from linkparity.metrics.views import VIEWS
from linkparity.projection.solver import Infeasible, NotConverged
from linkparity.support.errors import InputError
from linkparity.support.numbers import or_none
from linkparity.support.wording import counted
from linkparity.tables.fit_table import fit_table
from linkparity.tables.measures.exposure import GroupExposure, exposure
from linkparity.tables.measures.gaps import gap_measures
from linkparity.tables.measures.ranks import rank_measures
from linkparity.tables.measures.statistics import Statistics, measure, view_means
from linkparity.tables.reading.score_table import ScoreTable

if TYPE_CHECKING:
    from rich.console import Group

#: A cell with fewer pairs (or links) than this is flagged.
SMALL = 30
MOST_PLACES = 1_000_000_000


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
        dropped: rows left out, by reason.
        scans: passes over the rows.
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
    dropped: dict[str, int]
    scans: int
    view: str = field(default="subgroup", init=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, ready for JSON; undefined values are None."""
        return super().to_dict() | {
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
            "dropped": dict(self.dropped),
            "attribute": self.attribute,
            "table": self.name,
            "scans": self.scans,
        }

    def __rich__(self) -> "Group":
        from linkparity.tables.printing import audit_table

        return audit_table(self)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.4g}" for name, value in self.values.items())
        return f"Audit({values}, pairs={self.pairs})"


def audit_scores(
    table: ScoreTable,
    criterion: str = "dp",
    confidence: float | None = 0.95,
    top: int = 10,
    seed: int = 0,
) -> Audit:
    """Measure a classified table; ``criterion`` is the one that ``kl`` is measured for."""
    if confidence is not None and not 0 < confidence < 1:
        problem = f"must lie strictly between 0 and 1, got {confidence:g}"
        raise InputError(problem, argument="confidence")
    if not 1 <= top <= MOST_PLACES:
        problem = f"must be at least 1 place per list and at most {MOST_PLACES:,}, got {top}"
        raise InputError(problem, argument="top")
    stats = measure(table)
    views = {view: gap_measures(table, stats, view, confidence, seed) for view in VIEWS}
    ranks = rank_measures(table, stats, confidence=confidence)
    found = {
        "auc": ranks.auc,
        "dp": views["subgroup"]["dp"],
        "eo": views["subgroup"]["eo"],
        "rdp": ranks.rdp,
        "kl": _kl(table, stats, criterion),
    }
    parts, every = exposure(table, top, int(stats.count.sum()))
    means = view_means(stats, stats.mean, table)
    small = small_cells(means)
    return Audit(
        values={name: e.value for name, e in found.items()},
        intervals={name: e.interval for name, e in found.items() if e.interval is not None},
        counts={name: (e.count, e.unit) for name, e in found.items()},
        pairs=int(stats.count.sum()),
        links=int((stats.count * stats.label).sum()) if table.labelled else None,
        cells=cell_scores(means, table.labelled, found),
        reasons={about(name, e): e.reason for name, e in found.items() if e.reason},
        notes=_notes(table, stats, found, small, confidence, every),
        confidence=confidence,
        criterion=criterion,
        name=table.given.name,
        attribute=table.reading.attribute,
        directed=table.reading.directed,
        views=views,
        top=top,
        exposure=parts,
        groups=dict(zip(table.names, table.sizes, strict=True)),
        small=small,
        kept=stats.kept,
        dropped=table.dropped,
        scans=table.engine.scans,
    )


def _kl(table: ScoreTable, stats: Statistics, criterion: str) -> Estimate:
    """KL to the nearest scores at parity, in nats per constrained pair."""
    try:
        found = fit_table(table, stats, criterion)
    except (Infeasible, NotConverged) as error:
        return Estimate(NAN, 0, reason=str(error).split("; give scores")[0])
    cells = int(np.count_nonzero(found.cells.mass))
    count = int(found.cells.total)
    if cells < 2:
        return Estimate(NAN, count, reason=f"needs pairs in two cells of {criterion}, got {cells}")
    return Estimate(found.kl_mean, count)


def small_cells(means: CellMeans) -> tuple[str, ...]:
    """Group pairs whose mean rests on fewer than :data:`SMALL` pairs."""
    named = zip(means.groups, means.pairs.tolist(), strict=True)
    return tuple(f"{' – '.join(groups)} ({pairs:,})" for groups, pairs in named if pairs < SMALL)


def _notes(
    table: ScoreTable,
    stats: Statistics,
    found: dict[str, Estimate],
    small: tuple[str, ...],
    confidence: float | None,
    every: int,
) -> tuple[str, ...]:
    notes = [f"{name}: {e.note}." for name, e in found.items() if e.note]
    if confidence is not None:
        notes.insert(0, INDEPENDENCE)
    if small:
        told = ", ".join(small[:12]) + (" …" if len(small) > 12 else "")
        notes.append(f"Fewer than {SMALL} pairs, so read with care: {told}.")
    if stats.kept:
        notes.append(f"{counted(stats.kept, 'score')} of exactly 0 or 1, which no tilt can move.")
    if table.bare:
        ends = ("Sources", "targets") if table.columns.swapped else ("Targets", "sources")
        notes.append(f"{ends[0]} have no group, so a cell is a group of {ends[1]}.")
    if every > 1:
        notes.append(f"Exposure looks at one in {every} lists, all places of each.")
    for reason, count in table.dropped.items():
        notes.append(f"{counted(count, 'row')} left out: {reason}.")
    return tuple(notes)


def _view_dict(found: dict[str, Estimate]) -> dict[str, Any]:
    ends = {name: e.interval for name, e in found.items() if e.interval is not None}
    return {
        **{name: or_none(e.value) for name, e in found.items()},
        "intervals": {name: [or_none(end) for end in pair] for name, pair in ends.items()},
    }
