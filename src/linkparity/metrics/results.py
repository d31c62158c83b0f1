"""Results of measuring pairs in memory and of measuring a table: values with their evidence."""

from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

from linkparity.metrics.cell_sums import CellMeans
from linkparity.metrics.printing import cells_grid, measures_grid, omitted_cells
from linkparity.metrics.scored_pairs import Estimate
from linkparity.support.display import Displayed, Grid
from linkparity.support.numbers import or_nan, or_none
from linkparity.support.registry import nearest

#: Printed with every table of intervals.
INDEPENDENCE = (
    "Intervals treat pairs as independent, though pairs share nodes: they are too narrow."
)


@dataclass(frozen=True)
class CellScore:
    """One cell of the view: ``mean`` is weighted, ``link_mean`` over true links only."""

    groups: tuple[str, ...]
    pairs: int
    links: int | None
    mean: float
    link_mean: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; undefined means are None."""
        means = {"mean": or_none(self.mean), "link_mean": or_none(self.link_mean)}
        return asdict(self) | {"groups": list(self.groups)} | means

    @classmethod
    def from_dict(cls, cell: dict[str, Any]) -> "CellScore":
        """The inverse of :meth:`to_dict`."""
        means = {name: or_nan(cell[name]) for name in ("mean", "link_mean")}
        return cls(**cell | {"groups": tuple(cell["groups"])} | means)


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
        """Measures, cells, then the sentences."""
        return [measures_grid(self), cells_grid(self), *omitted_cells(self), *self.sentences()]

    def sentences(self) -> list[str]:
        """Why values are undefined, then the notes."""
        return [*(f"{name}: {reason}." for name, reason in self.reasons.items()), *self.notes]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, ready for JSON; undefined values are None."""
        return {
            "pairs": self.pairs,
            "links": self.links,
            **{name: or_none(value) for name, value in self.values.items()},
            "intervals": {k: [or_none(end) for end in v] for k, v in self.intervals.items()},
            "cells": [cell.to_dict() for cell in self.cells],
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


def about(name: str, estimate: Estimate) -> str:
    """What an estimate's reason explains: its value, or only the interval."""
    return name if isnan(estimate.value) else f"{name} interval"


def cell_scores(means: CellMeans, labelled: bool) -> tuple[CellScore, ...]:
    """The cells of a view, one object each; the number of links is None without labels."""
    columns = (means.pairs, means.links, means.mean, means.link_mean)
    rows = zip(means.groups, *(column.tolist() for column in columns), strict=True)
    return tuple(
        CellScore(groups, pairs, int(links) if labelled else None, mean, link_mean)
        for groups, pairs, links, mean, link_mean in rows
    )
