"""Measures and cells as tables to show, for scores of pairs in memory and for audits of tables."""

from collections.abc import Iterable, Sequence
from math import ceil, floor, isnan, log10
from typing import TYPE_CHECKING

from linkparity.metrics.cell_means import cell_labels
from linkparity.metrics.measures import MEASURES
from linkparity.support.display import Grid, format_interval, format_number, whisker

if TYPE_CHECKING:
    from linkparity.metrics.results import CellScore, Measured

#: Rows of a table of cells or groups; the others are counted in a sentence.
MAX_ROWS = 30
#: More cells than this are in the order of their means, not of their groups.
FEW_ROWS = 10
#: Heading of a column of intervals that are drawn on the scale of all measures.
UNIT = "0 to 1"
#: Characters of an interval of a cell.
CELL_WIDTH = 15


def measures_grid(result: "Measured") -> Grid:
    """One row per measure: value, interval, and the number of pairs it is computed from."""
    columns, rows = ["measure", "value"], []
    if result.confidence is not None:
        columns += [f"{result.confidence:.3g} interval", UNIT]
    for name, value in result.values.items():
        row = [MEASURES[name].label(result.criterion), format_number(value)]
        if result.confidence is not None:
            ends = result.intervals.get(name)
            drawn = "" if ends is None else whisker(value, ends, (0.0, 1.0))
            row += [format_interval(ends), drawn]
        count, unit = result.counts[name]
        rows.append([*row, f"{count:,} {unit}"])
    return Grid([*columns, "over"], rows, f"{result.pairs:,} pairs", drawn=(UNIT,))


def cells_grid(result: "Measured") -> Grid:
    """One row per cell that has a pair; of many, those with the highest and lowest means."""
    units = ("pairs", "links") if result.view != "group" else ("ends of pairs", "ends of links")
    labels = cell_labels([cell.groups for cell in result.cells])
    shown = _by_extremes(result.cells, labels)
    columns: list[str] = ["groups", units[0], "mean", units[1], "mean over links"]
    rows = [
        [
            label,
            f"{cell.pairs:,}",
            format_number(cell.mean),
            "?" if cell.links is None else f"{cell.links:,}",
            format_number(cell.link_mean),
        ]
        for cell, label in shown
    ]
    if result.confidence is None:
        return Grid(columns, rows, f"view: {result.view}")
    values = [[(cell.mean, cell.interval) for cell, _ in shown]]
    values.append([(cell.link_mean, cell.link_interval) for cell, _ in shown])
    drawn = []
    for place, found in ((5, values[1]), (3, values[0])):
        if high := end_of_scale(found):
            drawn.append(f"0 to {high:.2g}")
            columns.insert(place, drawn[-1])
            for row, (value, ends) in zip(rows, found, strict=True):
                row.insert(place, whisker(value, ends, (0.0, high), CELL_WIDTH))
    return Grid(columns, rows, f"view: {result.view}", drawn=tuple(drawn))


def end_of_scale(values: Iterable[tuple[float, tuple[float, float] | None]]) -> float:
    """The end of a scale from 0 for values up to 1 and their intervals, to two digits.

    >>> end_of_scale([(0.2, (0.1, 0.2204)), (0.15, None)]), end_of_scale([])
    (0.23, 0.0)
    """
    ends = [each for value, pair in values for each in (value, *(pair or ()))]
    high = max((each for each in ends if each > 0), default=0.0)
    step = 10.0 ** (floor(log10(high)) - 1) if high else 1.0
    return min(ceil(high / step) * step, 1.0)


def _by_extremes(
    cells: Sequence["CellScore"], labels: Sequence[str]
) -> list[tuple["CellScore", str]]:
    """The cells to show: few in their own order, many from the highest mean to the lowest."""
    found = [each for each in zip(cells, labels, strict=True) if each[0].pairs]
    if len(found) <= FEW_ROWS:
        return found
    found.sort(key=lambda each: (isnan(each[0].mean), -each[0].mean))
    known = [each for each in found if not isnan(each[0].mean)]
    if len(found) <= MAX_ROWS or len(known) < MAX_ROWS:
        return found[:MAX_ROWS]
    return [*known[: MAX_ROWS // 2], *known[-(MAX_ROWS // 2) :]]


def omitted_cells(result: "Measured") -> list[str]:
    """A sentence each about the cells that :func:`cells_grid` has no room for or no pair of."""
    labels = cell_labels([cell.groups for cell in result.cells])
    empty = [name for cell, name in zip(result.cells, labels, strict=True) if not cell.pairs]
    hidden = len(labels) - len(empty) - MAX_ROWS
    sentences = []
    if hidden > 0:
        sentences.append(
            f"These are the highest and the lowest means; {hidden} more rows are in the attribute "
            "cells and in the JSON output."
        )
    if empty:
        listed = ", ".join(empty[:MAX_ROWS]) + (" …" if len(empty) > MAX_ROWS else "")
        sentences.append(f"Without a pair ({len(empty)}): {listed}.")
    return sentences
