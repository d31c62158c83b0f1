"""How results read: numbers, counts, places in tables, and results that print themselves."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

WIDTH = 100
#: Attributes of a cell that is drawn with characters.
PRE = ' style="white-space: pre; font-family: monospace; text-align: left"'
#: In place of a number that is undefined.
MISSING = "–"
#: Characters that command a terminal or turn the direction of writing, not tab and newline; and
#: those that XML, and so SVG, cannot hold.
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]"
)


def format_number(value: float) -> str:
    """Four decimals; below 0.001 two significant digits and the power of ten.

    >>> [format_number(value) for value in (0.5, 0, 3.14e-5, float("nan"))]
    ['0.5000', '0.0000', '3.1e-05', '–']
    """
    if isnan(value):
        return MISSING
    return f"{value + 0.0:.4f}" if value == 0 or abs(value) >= 1e-3 else f"{value:.1e}"


def cell_label(names: Sequence[str]) -> str:
    """The name of a cell, from those of its groups: ``left – right``."""
    return " – ".join(names)


def format_rounded(value: float, decimals: int, sign: Literal["", "+"] = "") -> str:
    """A number of decimals; two significant digits where these would all be 0.

    >>> [format_rounded(value, 3) for value in (0.0041, 0, 3.14e-5)]
    ['0.004', '0.000', '3.1e-05']
    """
    text = f"{value:{sign}.{decimals}f}"
    return text if value == 0 or float(text) else f"{value:{sign}.2g}"


def format_interval(ends: tuple[float, float] | None) -> str:
    """Both ends of an interval; a dash where it is missing or undefined.

    >>> format_interval((0.1, 0.25)), format_interval(None)
    ('0.1000 … 0.2500', '–')
    """
    if ends is None or isnan(ends[0]) or isnan(ends[1]):
        return MISSING
    return f"{format_number(ends[0])} … {format_number(ends[1])}"


def whisker(
    value: float, ends: tuple[float, float] | None, span: tuple[float, float], width: int = 21
) -> str:
    """A value and its interval as a line on a scale, ``width`` characters from end to end.

    >>> whisker(0.5, (0.25, 1.0), (0.0, 1.0), 9)
    '  ├─●───┤'
    """
    if isnan(value):
        return ""
    low, high = span
    known = ends is not None and not (isnan(ends[0]) or isnan(ends[1]))
    first, last = ends if known and ends is not None else (value, value)

    def place(number: float) -> int:
        part = (number - low) / (high - low) if high > low else 0.5
        return round(min(max(part, 0.0), 1.0) * (width - 1))

    line = [" "] * width
    if known:
        line[place(first) : place(last) + 1] = "─" * (place(last) - place(first) + 1)
        line[place(first)], line[place(last)] = "├", "┤"
    line[place(value)] = "●"
    return "".join(line)


def or_none(value: float) -> float | None:
    """A finite number, or None, which JSON has in place of ``nan``."""
    return value if isfinite(value) else None


def or_nan(value: float | None) -> float:
    """The inverse of :func:`or_none`."""
    return nan if value is None else value


def without_controls(text: str) -> str:
    r"""Text that is safe to show on a terminal: control characters are left out.

    >>> without_controls("a\x1b[31mb")
    'a[31mb'
    """
    return CONTROLS.sub("", text)


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "row"), counted(2000, "such row")
    ('1 row', '2,000 such rows')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def shortened(names: Sequence[str], most: int = 10) -> str:
    """Names with commas, the first of many and the number of the others.

    >>> shortened(["a", "b", "c"]), shortened(["a", "b", "c"], 1)
    ('a, b, c', 'a and 2 more')
    """
    more = len(names) - most
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:most])} and {more:,} more"


def place(table: str, row: int | None = None, column: str | None = None) -> str:
    """Where a problem is, for the ``where`` of an error; rows are counted from 1.

    >>> place("scores.csv", 1200, "score")
    "scores.csv: row 1,200, column 'score'"
    """
    parts = [] if row is None else [f"row {row:,}"]
    parts += [] if column is None else [f"column {column!r}"]
    return f"{table}: {', '.join(parts)}" if parts else table


@dataclass(frozen=True)
class Grid:
    """A table to show; the first column is text, the others are numbers, right-aligned.

    Attributes:
        columns: one heading each.
        rows: as many texts per row.
        title: above the table.
        caption: below it.
        drawn: headings of columns that :func:`whisker` has drawn, left-aligned.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    caption: str = ""
    drawn: tuple[str, ...] = ()

    def __rich__(self) -> "Table":
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.title) if self.title else None, title_justify="left")
        for place, column in enumerate(self.columns):
            drawn = column in self.drawn
            justify: Literal["left", "right"] = "right" if place and not drawn else "left"
            table.add_column(Text(column), justify=justify, no_wrap=drawn)
        for row in self.rows:
            table.add_row(*map(Text, row))
        table.caption = Text(self.caption) if self.caption else None
        return table

    def to_html(self) -> str:
        """A plain HTML table, everything escaped."""
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        body = "".join(
            "<tr>"
            + "".join(
                f"<td{PRE if column in self.drawn else ''}>{escape(cell)}</td>"
                for column, cell in zip(self.columns, row, strict=True)
            )
            + "</tr>"
            for row in self.rows
        )
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        foot = f"<p>{escape(self.caption)}</p>" if self.caption else ""
        return f"<table>{caption}<tr>{head}</tr>{body}</table>{foot}"


class Displayed:
    """A result that shows itself wherever it is printed; a subclass defines :meth:`document`."""

    def document(self) -> list[Grid | str]:
        """Tables and sentences, in reading order."""
        raise NotImplementedError

    def __rich__(self) -> "Group":
        from rich.console import Group
        from rich.text import Text

        parts = self.document()
        return Group(*(Text(part) if isinstance(part, str) else part for part in parts))

    def __str__(self) -> str:
        from io import StringIO

        from rich.console import Console

        console = Console(file=StringIO(), width=WIDTH, color_system=None, legacy_windows=False)
        with console.capture() as text:
            console.print(self)
        return "\n".join(
            line.rstrip() for line in without_controls(text.get()).split("\n")
        ).rstrip()

    def _repr_html_(self) -> str:
        parts = self.document()
        return without_controls(
            "".join(
                f"<p>{escape(part)}</p>" if isinstance(part, str) else part.to_html()
                for part in parts
            )
        )
