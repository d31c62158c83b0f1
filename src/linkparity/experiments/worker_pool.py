"""Fits in processes of their own: one torch thread each, and a process that dies is replaced."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock

import linkparity.experiments
from linkparity.experiments import worker_process
from linkparity.experiments.fit import Fit
from linkparity.experiments.rows import Row

#: Two threads beside a busy process can be twenty times slower than one.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


class Worker:
    """A process that fits one thing after the other."""

    def __init__(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        root = str(Path(linkparity.experiments.__file__).parents[2])
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-P", worker_process.__file__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
            env=os.environ | ONE_THREAD | {"PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip

    def row(self, fit: Fit) -> Row:
        """The row of a fit; if the process dies over it, a failed row."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(worker_process.framed(fit))
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        return Row.from_json(line.decode()) if line.endswith(b"\n") else fit.failed(self._death())

    @property
    def alive(self) -> bool:
        """Whether it can take another fit."""
        return self._process.poll() is None

    def _death(self) -> str:
        """How the process ended, with the last line that it wrote to stderr."""
        code = self._process.wait()
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip().splitlines()
        memory = "; was there enough memory?" if code == -9 else ""
        return f"the process of the fit {how}{memory}" + (f": {said[-1]}" if said else "")

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def fit_in_processes(
    fits: Sequence[Fit], jobs: int, begin: Callable[[Fit], None] = lambda fit: None
) -> Generator[tuple[Fit, Row]]:
    """Fits with their rows as they are done, up to ``jobs`` at a time.

    Args:
        fits: What to fit.
        jobs: Number of processes.
        begin: Called, from a thread, with each fit that begins.
    """
    workers: list[Worker] = []
    free: SimpleQueue[Worker | None] = SimpleQueue()
    starting, stopped = Lock(), Event()
    for _ in range(jobs):
        free.put(None)

    def fit_one(fit: Fit) -> Row:
        worker = free.get()
        try:
            with starting:
                if stopped.is_set():
                    raise CancelledError
                if worker is None or not worker.alive:
                    worker = Worker()
                    workers.append(worker)
            begin(fit)
            return worker.row(fit)
        finally:
            free.put(worker)

    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(fit_one, fit): fit for fit in fits}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            with starting:
                stopped.set()
                for worker in workers:
                    worker.end()
