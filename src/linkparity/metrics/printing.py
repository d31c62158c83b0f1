"""Measures and cells as tables to show, for scores of pairs in memory and for audits of tables."""

from typing import TYPE_CHECKING

from linkparity.metrics.cell_means import cell_labels
from linkparity.metrics.measures import MEASURES
from linkparity.support.display import Grid, format_interval, format_number

if TYPE_CHECKING:
    from linkparity.metrics.results import Measured

#: Rows of a table of cells or groups; the others are counted in a sentence.
MAX_ROWS = 30


def measures_grid(result: "Measured") -> Grid:
    """One row per measure: value, interval, and the number of pairs it is computed from."""
    columns, rows = ["measure", "value"], []
    if result.confidence is not None:
        columns.append(f"{result.confidence:.3g} interval")
    for name, value in result.values.items():
        row = [MEASURES[name].label(result.criterion), format_number(value)]
        if result.confidence is not None:
            row.append(format_interval(result.intervals.get(name)))
        count, unit = result.counts[name]
        rows.append([*row, f"{count:,} {unit}"])
    return Grid([*columns, "over"], rows, f"{result.pairs:,} pairs")


def cells_grid(result: "Measured") -> Grid:
    """One row per cell that has a pair."""
    units = ("pairs", "links") if result.view != "group" else ("ends of pairs", "ends of links")
    labels = cell_labels([cell.groups for cell in result.cells])
    rows = [
        [
            label,
            f"{cell.pairs:,}",
            format_number(cell.mean),
            "?" if cell.links is None else f"{cell.links:,}",
            format_number(cell.link_mean),
        ]
        for cell, label in zip(result.cells, labels, strict=True)
        if cell.pairs
    ]
    columns = ("groups", units[0], "mean", units[1], "mean over links")
    return Grid(columns, rows[:MAX_ROWS], f"view: {result.view}")


def omitted_cells(result: "Measured") -> list[str]:
    """A sentence each about the cells that :func:`cells_grid` has no room for or no pair of."""
    labels = cell_labels([cell.groups for cell in result.cells])
    empty = [name for cell, name in zip(result.cells, labels, strict=True) if not cell.pairs]
    hidden = len(labels) - len(empty) - MAX_ROWS
    sentences = []
    if hidden > 0:
        sentences.append(f"{hidden} more rows are in the attribute cells and in the JSON output.")
    if empty:
        listed = ", ".join(empty[:MAX_ROWS]) + (" …" if len(empty) > MAX_ROWS else "")
        sentences.append(f"Without a pair ({len(empty)}): {listed}.")
    return sentences
