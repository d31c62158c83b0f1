"""How training goes, on stderr: a live bar on a terminal, a line now and then elsewhere."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from linkparity.training import Epoch

#: Lines that a training without a terminal prints.
LINES = 5


@contextmanager
def training_progress(
    what: str, epochs: int | None, silent: bool = False
) -> Iterator[Callable[[Epoch], None]]:
    """A function to call with each epoch of ``what``; ``epochs`` is how many are planned."""
    if silent:
        yield lambda row: None
        return
    if not sys.stderr.isatty():
        yield _lines(what, epochs)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[told]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=epochs, told="")
        yield lambda row: bar.update(task, completed=row.epoch, told=_told(row))


def _lines(what: str, epochs: int | None) -> Callable[[Epoch], None]:
    every = max(1, (epochs or 1) // LINES)

    def tell(row: Epoch) -> None:
        if row.epoch % every == 0:
            total = f"/{epochs}" if epochs else ""
            print(f"{what}: epoch {row.epoch}{total}, {_told(row)}", file=sys.stderr, flush=True)

    return tell


def _told(row: Epoch) -> str:
    parity = "" if math.isnan(row.kl) else f", kl {row.kl:.2e}, gap {row.gap:.4f}"
    return f"loss {row.loss:.4f}{parity}"
