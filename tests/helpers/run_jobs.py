"""Runs of experiments with made-up rows, killed at a chosen call of the operating system."""

import os
import signal
from unittest.mock import patch

from linkparity.experiments import rows_file
from linkparity.experiments import run as runs
from linkparity.experiments.rows import Row

#: Calls that change the disk or the lock.
CALLS = ("open", "write", "ftruncate", "fsync", "replace", "link", "close", "unlink")


def made_up(fit, failed=False):
    """A row as if it had been fitted; the same every time."""
    seed = fit.parameters["seed"]
    error = "Diverged: made up" if failed else None
    return Row(
        fit.source.name, fit.parameters["model"], "none", 0, seed, {"auc": seed / 7},
        notes=("a note " * 40,), id=fit.id, error=error,
    )  # fmt: skip


def run_made_up(fits, out, failing=()):
    """Run with made-up rows, in this process."""

    def rows(missing, jobs, begin):
        for fit in missing:
            yield fit, made_up(fit, fit.parameters["seed"] in failing)

    with patch.object(runs, "fit_in_processes", rows):
        return runs.run_fits(fits, out, 1, None, runs._Calls(None))


def killed_at(call, fits, out, failing=()):
    """Run in a child that is killed at its ``call``-th call, a write half-way; whether it was."""
    child = os.fork()
    if not child:
        try:
            _kill_at(call)
            run_made_up(fits, out, failing)
        except BaseException:
            os._exit(70)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, status
    return os.WIFSIGNALED(status)


def _kill_at(call):
    left = [call]
    lock = rows_file._lock

    def killing(real):
        def called(*args, **named):
            left[0] -= 1
            if left[0] == 0:
                if real is os_write:
                    real(args[0], args[1][: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **named)

        return called

    os_write = os.write
    for name in CALLS:
        setattr(os, name, killing(getattr(os, name)))
    rows_file._lock = killing(lock)
