"""How a run goes on: a live display on a terminal, one line per fit elsewhere."""

import math
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from linkparity.experiments.rows import Row
from linkparity.support.display import format_number

if TYPE_CHECKING:
    from linkparity.experiments.fit import Fit

#: Measures that a line of progress shows.
SHOWN = ("auc", "dp", "eo")


class LineDisplay:
    """One line per fit, with the time left."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self.total = self.kept = self.done = self.failed = 0
        self._began = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def start(self, total: int, kept: int) -> None:
        """Say how much there is to do."""
        self.total, self.kept, self._began = total, kept, monotonic()
        self._say(f"{total} fits, {kept} of them done before")

    def begin(self, fit: "Fit") -> None:
        """Say nothing: a line follows when the fit is done."""

    def end(self, fit: "Fit", row: Row) -> None:
        """Say what came out, and how long the others may take."""
        self.done += 1
        self.failed += row.error is not None
        left = self.total - self.kept - self.done
        seconds = (monotonic() - self._began) / self.done * left
        rest = f"; about {duration(seconds)} left" if left else ""
        self._say(f"{self.kept + self.done}/{self.total} {fit.title}: {outcome(row)}{rest}")


class LiveDisplay(LineDisplay):
    """A bar with the fits that are done, failed and running, and the time left."""

    def __init__(self, console: Console) -> None:
        super().__init__(lambda text: None)
        self._bar = Progress(
            TextColumn("fits"), BarColumn(), MofNCompleteColumn(),
            TextColumn("{task.fields[failed]} failed"), TimeElapsedColumn(),
            TextColumn("left"), TimeRemainingColumn(), console=console,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=None, failed=0)
        self._running: dict[str, str] = {}
        self._live = Live(self._picture(), console=console, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def start(self, total: int, kept: int) -> None:
        """Show how many fits are missing."""
        super().start(total, kept)
        self._bar.update(self._task, total=total - kept)

    def begin(self, fit: "Fit") -> None:
        """Show a fit as running."""
        self._running[fit.id] = fit.title
        self._live.update(self._picture())

    def end(self, fit: "Fit", row: Row) -> None:
        """Move the bar; a failure stays visible above it."""
        super().end(fit, row)
        self._running.pop(fit.id, None)
        if row.error is not None:
            self._live.console.print(Text(f"failed: {fit.title}: {row.error}"))
        self._bar.update(self._task, advance=1, failed=self.failed)
        self._live.update(self._picture())

    def _picture(self) -> Group:
        running = [Text(f"  {title}", style="dim") for title in list(self._running.values())]
        return Group(self._bar, *running)


def outcome(row: Row) -> str:
    """The main measures of a row, or its error."""
    if row.error is not None:
        return f"failed: {row.error}"
    found = ((name, row.values.get(name, math.nan)) for name in SHOWN)
    told = [f"{name} {format_number(value)}" for name, value in found if not math.isnan(value)]
    return ", ".join((*told, f"{row.fit_seconds or 0:.1f} s"))


def duration(seconds: float) -> str:
    """A time to wait, in the unit that suits it.

    >>> [duration(value) for value in (8.2, 200, 5400)]
    ['9 s', '3 min', '1.5 h']
    """
    if seconds < 90:
        return f"{math.ceil(seconds)} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
