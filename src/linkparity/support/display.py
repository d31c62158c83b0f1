"""Results that print themselves: tables and sentences, on a terminal, as text and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from linkparity.support.wording import without_controls

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

WIDTH = 100


@dataclass(frozen=True)
class Grid:
    """A table to show; the first column is text, the others are numbers, right-aligned.

    Attributes:
        columns: one heading each.
        rows: as many texts per row.
        title: above the table.
        caption: below it.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    caption: str = ""

    def __rich__(self) -> "Table":
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.title) if self.title else None, title_justify="left")
        for place, column in enumerate(self.columns):
            table.add_column(Text(column), justify="right" if place else "left")
        for row in self.rows:
            table.add_row(*map(Text, row))
        table.caption = Text(self.caption) if self.caption else None
        return table

    def to_html(self) -> str:
        """A plain HTML table, everything escaped."""
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
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
        return "".join(
            f"<p>{escape(part)}</p>" if isinstance(part, str) else part.to_html() for part in parts
        )
