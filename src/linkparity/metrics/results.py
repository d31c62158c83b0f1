"""Results of measuring pairs in memory and of measuring a table: values with their evidence."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from math import isnan
from typing import Any

from linkparity.metrics.cell_means import CellMeans, GapDetails, about_groups, gaps_grid
from linkparity.metrics.intervals.estimates import Estimate
from linkparity.metrics.printing import cells_grid, measures_grid, omitted_cells
from linkparity.support.display import Displayed, Grid, or_nan, or_none
from linkparity.support.registry import nearest


@dataclass(frozen=True)
class CellScore:
    """One cell of the view: ``mean`` is weighted, ``link_mean`` over true links only.

    ``interval`` and ``link_interval`` are those of the two means, None without confidence.
    """

    groups: tuple[str, ...]
    pairs: int
    links: int | None
    mean: float
    link_mean: float
    interval: tuple[float, float] | None = None
    link_interval: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; what is undefined is None."""
        means = {"mean": or_none(self.mean), "link_mean": or_none(self.link_mean)}
        intervals = {
            name: ends and [or_none(end) for end in ends]
            for name, ends in (("interval", self.interval), ("link_interval", self.link_interval))
        }
        return asdict(self) | {"groups": list(self.groups)} | means | intervals

    @classmethod
    def from_dict(cls, cell: dict[str, Any]) -> "CellScore":
        """The inverse of :meth:`to_dict`."""
        means = {name: or_nan(cell[name]) for name in ("mean", "link_mean")}
        intervals = {
            name: ends and tuple(map(or_nan, ends))
            for name in ("interval", "link_interval")
            if (ends := cell.get(name)) is not None
        }
        return cls(**cell | {"groups": tuple(cell["groups"])} | means | intervals)


@dataclass(frozen=True, repr=False, eq=False)
class Measured(Displayed):
    """Every measure as a float attribute, with the counts and reasons behind it.

    Attributes:
        values: Measure by name; ``nan`` where undefined, with a sentence in ``reasons``.
        intervals: ``(low, high)`` by name, for ``auc``, ``dp``, ``eo`` and ``rdp``.
        counts: What a measure is computed from, such as ``(6686, "pairs")``, by name.
        pairs: Number of pairs scored.
        links: Number of true links among them, None when labels are unknown.
        cells: Mean prediction per cell of the view.
        reasons: Why a measure is undefined (``"dp"``), or its interval alone (``"dp interval"``).
        notes: Sentences to read with the numbers.
        confidence: Confidence level of the intervals, or None.
        criterion: The criterion that ``kl`` is measured for.
        view: Which cells ``dp``, ``eo`` and ``rdp`` compare.
        gaps: What makes ``dp`` and ``eo``, by name: the two pairs of groups, and the gap weighted
            by pairs.
    """

    values: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    counts: dict[str, tuple[int, str]]
    pairs: int
    links: int | None
    cells: tuple[CellScore, ...]
    reasons: dict[str, str]
    notes: tuple[str, ...]
    confidence: float | None
    criterion: str
    view: str
    gaps: dict[str, GapDetails] = field(default_factory=dict, kw_only=True)

    def __getattr__(self, name: str) -> float:
        values: dict[str, float] = self.__dict__.get("values", {})
        if name in values:
            return values[name]
        hint = nearest(name, sorted(values))
        raise AttributeError(
            f"{type(self).__name__} has no {name!r}{hint} measures: {', '.join(values)}"
        )

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.4g}" for name, value in self.values.items())
        return f"{type(self).__name__}({values}, pairs={self.pairs}, view={self.view!r})"

    def document(self) -> list[Grid | str]:
        """Measures, what makes the gaps, cells, then the sentences."""
        grids = [measures_grid(self), *self.gap_grids(), cells_grid(self)]
        return [*grids, *omitted_cells(self), *self.findings(), *self.sentences()]

    def gap_grids(self) -> list[Grid]:
        """Which two pairs of groups make each gap, where there are any."""
        return [gaps_grid(self.gaps, self.values)] if self._known_gaps() else []

    def findings(self) -> list[str]:
        """For each gap that few pairs make, the largest one among pairs of groups with enough."""
        told = [each.sentence(name) for name, each in self._known_gaps().items()]
        return [about_groups(text) if self.one_sided else text for text in told if text]

    @property
    def one_sided(self) -> bool:
        """Whether a cell is one group, as where one side of a bipartite graph has groups."""
        return bool(self.cells) and all(len(cell.groups) == 1 for cell in self.cells)

    def gap_report(self) -> dict[str, Any]:
        """What makes the gaps and the findings, ready for JSON."""
        gaps = {name: each.to_dict() for name, each in self.gaps.items()}
        return {"gaps": gaps, "findings": self.findings()}

    def _known_gaps(self) -> dict[str, GapDetails]:
        return {name: each for name, each in self.gaps.items() if each.high is not None}

    def sentences(self) -> list[str]:
        """Why values are undefined, then the notes."""
        return [*told_once(self.reasons.items()), *self.notes]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, ready for JSON; undefined values are None."""
        return {
            "pairs": self.pairs,
            "links": self.links,
            **{name: or_none(value) for name, value in self.values.items()},
            "intervals": {k: [or_none(end) for end in v] for k, v in self.intervals.items()},
            "cells": [cell.to_dict() for cell in self.cells],
            **self.gap_report(),
            "counts": {name: list(count) for name, count in self.counts.items()},
            "reasons": dict(self.reasons),
            "notes": list(self.notes),
            "confidence": self.confidence,
            "criterion": self.criterion,
        }


def by_measure(found: dict[str, Estimate]) -> dict[str, Any]:
    """The arguments ``values``, ``intervals``, ``counts`` and ``reasons`` of a result."""
    return {
        "values": {name: e.value for name, e in found.items()},
        "intervals": {name: e.interval for name, e in found.items() if e.interval is not None},
        "counts": {name: (e.count, e.unit) for name, e in found.items()},
        "reasons": {about(name, e): e.reason for name, e in found.items() if e.reason},
    }


def told_once(reasons: Iterable[tuple[str, str]]) -> list[str]:
    """One sentence per reason, after the names that it is about.

    >>> told_once([("auc", "no labels"), ("kl", "one cell"), ("eo", "no labels")])
    ['auc, eo: no labels.', 'kl: one cell.']
    """
    names: dict[str, list[str]] = {}
    for name, reason in reasons:
        names.setdefault(reason, []).append(name)
    return [f"{', '.join(each)}: {reason}." for reason, each in names.items()]


def about(name: str, estimate: Estimate) -> str:
    """What an estimate's reason explains: its value, or only the interval."""
    return name if isnan(estimate.value) else f"{name} interval"


def cell_scores(
    means: CellMeans, labelled: bool, found: dict[str, Estimate]
) -> tuple[CellScore, ...]:
    """The cells of a view, one object each; the number of links is None without labels.

    Intervals are those of ``dp`` and ``eo`` in ``found``, as far as they are there.
    """
    columns = [column.tolist() for column in (means.pairs, means.mean, means.link_mean)]
    known = [int(count) for count in means.links] if labelled else [None] * len(means.pairs)
    columns += [_cell_intervals(found.get(name), len(known)) for name in ("dp", "eo")]
    rows = zip(means.groups, known, *columns, strict=True)
    return tuple(CellScore(groups, pairs, links, *rest) for groups, links, pairs, *rest in rows)


def _cell_intervals(estimate: Estimate | None, count: int) -> list[tuple[float, float] | None]:
    if estimate is None or estimate.cell_intervals is None:
        return [None] * count
    return [(low, high) for low, high in estimate.cell_intervals.tolist()]
