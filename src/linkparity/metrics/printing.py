"""How ``Scores`` print: a table of measures, one of cells, then the sentences."""

from math import isnan
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from linkparity.metrics.views import cell_labels

if TYPE_CHECKING:
    from linkparity.metrics.evaluation import Scores

SHOWN = 30


def scores_table(scores: "Scores") -> Group:
    """Measures with intervals and counts, cells with means and counts, then every sentence."""
    reasons = [Text(f"{name}: {reason}.") for name, reason in scores.reasons.items()]
    notes = [Text(note) for note in scores.notes]
    return Group(measures_table(scores), cells_table(scores), *unseen(scores), *reasons, *notes)


def measures_table(scores: "Scores") -> Table:
    """One line per measure."""
    table = Table("measure", title=f"{scores.pairs:,} pairs", title_justify="left")
    table.add_column("value", justify="right")
    if scores.confidence is not None:
        table.add_column(f"{scores.confidence:.3g} interval", justify="right")
    table.add_column("over", justify="right")
    for name, value in scores.values.items():
        row = [f"{name} ({scores.criterion})" if name == "kl" else name, number(value)]
        if scores.confidence is not None:
            ends = scores.intervals.get(name)
            row.append(interval(ends))
        count, unit = scores.counts[name]
        table.add_row(*row, f"{count:,} {unit}")
    return table


def cells_table(scores: "Scores") -> Table:
    """One line per cell that has a pair."""
    table = Table("groups", title=f"view: {scores.view}", title_justify="left")
    units = ("pairs", "links") if scores.view != "group" else ("ends of pairs", "ends of links")
    for column in (units[0], "mean", units[1], "mean over links"):
        table.add_column(column, justify="right")
    labels = cell_labels([cell.groups for cell in scores.cells])
    told = zip(scores.cells, labels, strict=True)
    for cell, label in [row for row in told if row[0].pairs][:SHOWN]:
        links = "?" if cell.links is None else f"{cell.links:,}"
        mean, link_mean = number(cell.mean), number(cell.link_mean)
        table.add_row(Text(label), f"{cell.pairs:,}", mean, links, link_mean)
    return table


def unseen(scores: "Scores") -> list[Text]:
    """What the table of cells does not show, in a sentence each."""
    seen = sum(cell.pairs > 0 for cell in scores.cells)
    labels = cell_labels([cell.groups for cell in scores.cells])
    empty = [name for cell, name in zip(scores.cells, labels, strict=True) if not cell.pairs]
    said = []
    if seen > SHOWN:
        said.append(Text(f"{seen - SHOWN} more cells stand in --json, and in .cells in Python."))
    if empty:
        listed = ", ".join(empty[:SHOWN]) + (" …" if len(empty) > SHOWN else "")
        said.append(Text(f"Without a pair ({len(empty)}): {listed}."))
    return said


def interval(ends: tuple[float, float] | None) -> str:
    """Both ends, or a dash where there are none."""
    return "–" if ends is None or isnan(ends[0]) else f"{number(ends[0])} … {number(ends[1])}"


def number(value: float) -> str:
    """Four decimals, or the power of ten of a small one; a dash where there is none."""
    if isnan(value):
        return "–"
    if value == 0 or abs(value) >= 1e-3:
        return f"{value:.4f}"
    return f"{value:.1e}"
