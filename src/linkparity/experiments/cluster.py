"""Fits on the workers of a Dask cluster, each in a process of its own beside its worker."""

from collections.abc import Generator, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from linkparity.experiments.fit import Fit
from linkparity.experiments.rows import Row
from linkparity.experiments.worker_pool import Worker
from linkparity.support.errors import InputError, require

#: Seconds to wait for the scheduler.
TIMEOUT = 20
#: Processes of this Dask worker that have nothing to do; they end with it.
_idle: SimpleQueue[Worker] = SimpleQueue()


def fit_on_cluster(fits: Sequence[Fit], scheduler: str) -> Generator[tuple[Fit, Row]]:
    """Fits with their rows as they are done, by the workers of a scheduler.

    A worker that dies costs its fits in flight, which others repeat. A fit whose workers keep
    dying is a failed row.

    Args:
        fits: What to fit.
        scheduler: Its address, such as ``tcp://host:8786``.
    """
    distributed = require("distributed", "--scheduler")
    with _client(distributed, scheduler) as client:
        futures = {client.submit(fit_here, fit, pure=False): fit for fit in fits}
        try:
            for future in distributed.as_completed(futures):
                fit = futures[future]
                error = future.exception()
                yield fit, fit.failed_with(error) if error else Row.from_json(future.result())
                future.release()
        finally:
            client.cancel([future for future in futures if not future.done()])


def _client(distributed: Any, scheduler: str) -> Any:
    try:
        return distributed.Client(scheduler, timeout=TIMEOUT)
    except (OSError, ValueError, TimeoutError) as error:
        said = " ".join(str(error).split())
        problem = f"{scheduler} is not answered by a Dask scheduler ({said:.120})"
        fix = "start one with: dask scheduler"
        raise InputError(problem, fix, argument="scheduler", caller="run") from None


def fit_here(fit: Fit) -> str:
    """The row of a fit as JSON; runs in a Dask worker.

    The fit has a process, as without Dask: one torch thread, and rows that are the same.
    """
    try:
        worker = _idle.get_nowait()
    except Empty:
        worker = Worker()
    row = worker.row(fit)
    if worker.alive:
        _idle.put(worker)
    else:
        worker.end()
    return row.to_json()
