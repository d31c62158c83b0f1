"""What measuring pairs in memory and measuring a table both give: numbers and their ground."""

from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any

from linkparity.metrics.scored_pairs import Estimate
from linkparity.support.registry import nearest

#: Stands beside every table of intervals.
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


@dataclass(frozen=True, repr=False, eq=False)
class Measured:
    """Every measure as a float attribute, with what it rests on.

    Attributes:
        values: Measure by name; ``nan`` where undefined, with a sentence in ``reasons``.
        intervals: ``(low, high)`` by name, for ``auc``, ``dp``, ``eo`` and ``rdp``.
        counts: How many of what a measure rests on, such as ``(6686, "pairs")``, by name.
        pairs: Number of pairs scored.
        links: Number of true links among them, None when labels are unknown.
        cells: Mean prediction per cell of the view.
        reasons: Why a measure is undefined (``"dp"``), or its interval alone (``"dp interval"``).
        notes: Sentences that belong beside the numbers.
        confidence: Of the intervals, or None.
        criterion: The criterion that ``kl`` is measured for.
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

    def __getattr__(self, name: str) -> float:
        values: dict[str, float] = self.__dict__.get("values", {})
        if name in values:
            return values[name]
        hint = nearest(name, sorted(values))
        raise AttributeError(
            f"{type(self).__name__} has no {name!r}{hint} measures: {', '.join(values)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, ready for JSON; undefined values are None."""
        return {
            "pairs": self.pairs,
            "links": self.links,
            **{name: or_none(value) for name, value in self.values.items()},
            "intervals": {k: [or_none(end) for end in v] for k, v in self.intervals.items()},
            "cells": [
                {
                    "groups": list(cell.groups),
                    "pairs": cell.pairs,
                    "links": cell.links,
                    "mean": or_none(cell.mean),
                    "link_mean": or_none(cell.link_mean),
                }
                for cell in self.cells
            ],
            "counts": {name: list(count) for name, count in self.counts.items()},
            "reasons": dict(self.reasons),
            "notes": list(self.notes),
            "confidence": self.confidence,
            "criterion": self.criterion,
        }


def about(name: str, estimate: Estimate) -> str:
    """What an estimate's reason is about: its value, or only the interval."""
    return name if isnan(estimate.value) else f"{name} interval"


def or_none(value: float) -> float | None:
    """A finite number, or None."""
    return value if isfinite(value) else None
