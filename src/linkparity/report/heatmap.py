"""Positions, colours and texts of a heatmap of group pairs; a template draws it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan

from linkparity.metrics.results import CellScore
from linkparity.support.numbers import format_number
from linkparity.support.wording import counted

#: Ends of the colour scale, light to dark.
LIGHT, DARK = (239, 244, 250), (24, 62, 112)
#: Side of a square in pixels, for few groups.
SIDE = 78
#: Characters of a group's name beside a row.
MAX_NAME = 18


@dataclass(frozen=True)
class Square:
    """One pair of groups: its place, colour, tooltip, and text."""

    row: int
    column: int
    tip: str
    fill: str = "url(#none)"
    text: str = ""
    ink: str = ""


@dataclass(frozen=True)
class Heatmap:
    """One square per pair of groups, darker for a higher mean; hatched where there is none.

    Attributes:
        caption: What the squares show.
        names: Names of the groups, for rows and columns.
        squares: Row by row.
    """

    caption: str
    names: Sequence[str]
    squares: tuple[Square, ...]

    @property
    def side(self) -> int:
        """Side of a square in pixels."""
        count = len(self.names)
        return SIDE if count <= 8 else max(14, 620 // count)

    @property
    def font(self) -> int:
        """Font size of the numbers in the squares; 0 where they do not fit."""
        return 14 if self.side >= 60 else 11 if self.side >= 44 else 0

    @property
    def left(self) -> int:
        """Width of the names beside the rows."""
        return round(24 + min(max(map(len, self.names)), MAX_NAME) * 7.4)

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self.left + len(self.names) * self.side + 12

    @property
    def height(self) -> int:
        """Height in pixels."""
        return round(len(self.names) * self.side + 12 + self.left * 0.75)


def heatmap(
    names: Sequence[str], cells: Iterable[CellScore], of: str, caption: str, directed: bool = False
) -> Heatmap:
    """The heatmap of ``mean`` or ``link_mean``, whichever ``of`` names."""
    unit = "pair" if of == "mean" else "link"
    values: dict[tuple[str, ...], tuple[float, str]] = {}
    for cell in cells:
        value, count = getattr(cell, of), getattr(cell, f"{unit}s")
        values[cell.groups] = (value, f"{format_number(value)}, {counted(count, unit)}")
        if not directed:
            values[cell.groups[::-1]] = values[cell.groups]
    known = [value for value, _ in values.values() if not isnan(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    span = max(high - low, 0.02 * high)  # at parity all squares have one shade
    squares = []
    for row, first in enumerate(names):
        for column, second in enumerate(names):
            value, text = values.get((first, second), (float("nan"), ""))
            if isnan(value):
                squares.append(Square(row, column, f"{first} – {second}: no pairs"))
                continue
            part = (value - low) / span if span else 0.0
            rgb = [round(a + (b - a) * part) for a, b in zip(LIGHT, DARK, strict=True)]
            fill = f"rgb({','.join(map(str, rgb))})"
            ink = "#fff" if part > 0.5 else "#14202e"
            tip = f"{first} – {second}: {text}"
            squares.append(Square(row, column, tip, fill, format_number(value), ink))
    return Heatmap(caption, names, tuple(squares))


def shortened(name: str) -> str:
    """A name of at most :data:`MAX_NAME` characters: its start and its end.

    >>> shortened("Department of Computer Science")
    'Departme…r Science'
    """
    return name if len(name) <= MAX_NAME else f"{name[:8]}…{name[-9:]}"
