"""Run an experiment: the missing fits in parallel, each row on the disk when it is done."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol

from linkparity.experiments.cluster import fit_on_cluster
from linkparity.experiments.experiment import Experiment
from linkparity.experiments.fit import Fit
from linkparity.experiments.results import Results
from linkparity.experiments.rows import Row
from linkparity.experiments.rows_file import RowsFile
from linkparity.experiments.worker_pool import fit_in_processes
from linkparity.support.arrays import whole_number
from linkparity.support.errors import InputError


class Watcher(Protocol):
    """Who is told how a run goes on."""

    def start(self, total: int, kept: int) -> None:
        """Told once: how many fits there are, and how many have a row already."""
        ...

    def begin(self, fit: Fit) -> None:
        """Told, from any thread, when a fit begins."""
        ...

    def end(self, fit: Fit, row: Row) -> None:
        """Told when the row of a fit is in place."""
        ...


def run(
    experiment: Experiment | str | Path,
    out: str | Path | None = None,
    jobs: int = 1,
    data: str | None = None,
    scheduler: str | None = None,
    on_row: Callable[[Row], object] | None = None,
) -> Results:
    """Fit everything that an experiment asks for.

    Args:
        experiment: An :class:`Experiment`, or the name of a TOML file.
        out: File of rows (JSON Lines). Rows that it holds are not fitted again, failed ones are.
            Interrupted or killed at any moment, the same call goes on where it stopped.
        jobs: Number of processes, each with one torch thread.
        data: Data directory.
        scheduler: Address of a Dask scheduler whose workers fit instead of ``jobs`` processes.
        on_row: Called with each new row.

    Returns:
        The rows in the order of the experiment, failed ones included.
    """
    given = experiment if isinstance(experiment, Experiment) else Experiment.read(experiment)
    return run_fits(given.fits(data), out, jobs, scheduler, _Calls(on_row))


class _Calls:
    def __init__(self, on_row: Callable[[Row], object] | None) -> None:
        self._on_row = on_row

    def start(self, total: int, kept: int) -> None:
        pass

    def begin(self, fit: Fit) -> None:
        pass

    def end(self, fit: Fit, row: Row) -> None:
        if self._on_row is not None:
            self._on_row(row)


def run_fits(
    fits: Sequence[Fit],
    out: str | Path | None,
    jobs: int,
    scheduler: str | None,
    watcher: Watcher,
) -> Results:
    """The rows of all fits: those in ``out``, and new ones, which are appended to it."""
    if whole_number(jobs, "jobs", "run") < 1:
        raise InputError(f"must be at least 1, got {jobs}", argument="jobs", caller="run")
    wanted = {fit.id: fit for fit in fits}
    if out is None:
        return _fit_missing(wanted, {}, lambda row: None, jobs, scheduler, watcher)
    with RowsFile(str(out), again=wanted.keys()) as file:
        rows = {str(row.id): row for row in file.rows if row.id in wanted}
        return _fit_missing(wanted, rows, file.append, jobs, scheduler, watcher)


def _fit_missing(
    wanted: dict[str, Fit],
    rows: dict[str, Row],
    keep: Callable[[Row], None],
    jobs: int,
    scheduler: str | None,
    watcher: Watcher,
) -> Results:
    missing = [fit for each, fit in wanted.items() if each not in rows]
    watcher.start(len(wanted), len(rows))
    if missing:
        with closing(_fit_all(missing, jobs, scheduler, watcher)) as done:
            for fit, row in done:
                keep(row)
                rows[fit.id] = row
                watcher.end(fit, row)
    return Results(tuple(rows[each] for each in wanted))


def _fit_all(
    fits: list[Fit], jobs: int, scheduler: str | None, watcher: Watcher
) -> Generator[tuple[Fit, Row]]:
    if scheduler is not None:
        return fit_on_cluster(fits, scheduler)
    return fit_in_processes(fits, min(jobs, len(fits)), watcher.begin)
