"""Run ``linkparity`` commands in forked processes, without the seconds that imports take.

The server is a process of its own that imports linkparity once. Every job is a fork of it, with its
own directory and environment, and where asked with a fault at its n-th call that opens or
changes a file (``faults.c``, loaded by ``LD_PRELOAD``). Jobs of one request run at the same time.
"""

import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
#: Bits of ``faults.c``: kinds of calls.
READ, CREATE, WRITE, SYNC, RENAME, REMOVE, MKDIR = (1 << bit for bit in range(7))
#: Memory of a job, so that a damaged file cannot take the machine's.
MEMORY = 16 << 30


@dataclass(frozen=True)
class Fault:
    """What goes wrong: the process is killed, or a call fails with an error number.

    Attributes:
        at: number of the call, from 1.
        error: error number; 0 kills the process.
        kinds: kinds of calls that fail; others succeed.
        sticky: whether all later calls of these kinds fail too, as on a full disk.
    """

    at: int
    error: int = 0
    kinds: int = (1 << 7) - 1
    sticky: bool = False


@dataclass(frozen=True)
class Job:
    """Commands to run one after the other in one process.

    Attributes:
        commands: arguments of ``linkparity``.
        cwd: current directory.
        env: environment variables to set; None removes one.
        powerless: whether permissions bind it even if it runs as root.
        fault: what goes wrong in it.
        seconds: time after which it is killed, per command.
    """

    commands: list[list[str]]
    cwd: str
    env: dict[str, str | None] = field(default_factory=dict)
    powerless: bool = False
    fault: Fault | None = None
    seconds: int = 120


@dataclass(frozen=True)
class Ended:
    """How a command ended; ``code`` is the negative signal number if it was killed."""

    code: int
    out: str = ""
    err: str = ""


@dataclass(frozen=True)
class Done:
    """How a job ended: its commands, the last one possibly killed, and the calls counted."""

    ended: list[Ended]
    calls: list[tuple[str, bool, str]]


class ForkServer:
    """A server process; use it in one thread."""

    def __init__(self, preload: Path | None = None) -> None:
        env = os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
        env |= {"PYTHONIOENCODING": "utf-8"} | ({"LD_PRELOAD": str(preload)} if preload else {})
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )

    def rehearse(self, job: Job) -> Done:
        """Run a job, and import what it imported, so that later jobs need not."""
        return self._ask([job], True)[0]

    def run(self, *jobs: Job) -> list[Done]:
        """Run jobs at the same time."""
        return self._ask(list(jobs), False)

    def _ask(self, jobs: list[Job], rehearse: bool) -> list[Done]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = {"jobs": [asdict(job) for job in jobs], "rehearse": rehearse}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answers = json.loads(self.process.stdout.readline())
        return [
            Done([Ended(**each) for each in one["ended"]], [tuple(call) for call in one["calls"]])
            for one in answers
        ]

    def close(self) -> None:
        """End the server."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class ForkServers:
    """Several servers, for threads."""

    def __init__(self, preload: Path | None = None, number: int = 2) -> None:
        self.all = [ForkServer(preload) for _ in range(number)]
        self.free: SimpleQueue[ForkServer] = SimpleQueue()
        for server in self.all:
            self.free.put(server)

    def run(self, *jobs: Job) -> list[Done]:
        """Run jobs at the same time, on the next free server."""
        server = self.free.get()
        try:
            return server.run(*jobs)
        finally:
            self.free.put(server)

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Results of a function that calls :meth:`run`, in as many threads as there are servers."""
        with ThreadPoolExecutor(len(self.all)) as threads:
            return list(threads.map(work, items))


def build_faults(place: Path) -> Path | None:
    """Compile ``faults.c``; None where there is no compiler or no ``LD_PRELOAD``."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    library = place / "faults.so"
    flags = ["-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", library, HERE / "faults.c", "-ldl"], check=True)
    return library


def serve() -> None:
    """Answer requests, one per line, until stdin ends."""
    from linkparity.cli import command  # noqa: F401

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        started = [_start(job) for job in request["jobs"]]
        for _, start, _ in started:
            os.close(start)
        found = [_result(*each) for each in started]
        if request["rehearse"]:
            for name in found[0].pop("modules", []):
                with suppress(Exception):
                    import_module(name)
        answers.write(json.dumps(found).encode() + b"\n")
        answers.flush()


def _start(job: dict) -> tuple[int, int, dict[str, int]]:
    """A process that waits until the pipe is closed; its number, the pipe, its files."""
    files = {name: os.memfd_create(name) for name in ("out", "err", "log", "result")}
    ready, start = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(start)
            os.read(ready, 1)
            _work(job, files)
        except BaseException:
            traceback.print_exc()
            os._exit(99)
        os._exit(0)
    os.close(ready)
    return child, start, files


def _work(job: dict, files: dict[str, int]) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(files["out"], 1)
    os.dup2(files["err"], 2)
    for name, value in job["env"].items():
        os.environ.pop(name, None) if value is None else os.environ.update({name: value})
    os.chdir(job["cwd"])
    tempfile.tempdir = None
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    if job["powerless"]:
        _give_up_capabilities()
    if job["fault"] is not None:
        _arm(job["fault"], files["log"])
    for args in job["commands"]:
        signal.alarm(job["seconds"])
        code = _command(args)
        os.write(files["result"], json.dumps({"code": code, **_texts(files)}).encode() + b"\n")
    signal.alarm(0)
    os.write(files["result"], json.dumps({"modules": list(sys.modules)}).encode() + b"\n")


def _command(args: list[str]) -> int:
    from linkparity.cli.command import main

    if args[0] == "run":
        _fit_in_this_process()
    if args[0] == "report":
        _draw_nothing()
    try:
        main(args)
    except SystemExit as stop:
        code = stop.code
    sys.stdout.flush()
    sys.stderr.flush()
    return int(code or 0)


def _fit_in_this_process() -> None:
    """Have ``run`` fit here: a process of its own takes seconds to start, and writes no file."""
    run = import_module("linkparity.experiments.run")
    run.fit_in_processes = lambda fits, jobs, begin: ((fit, fit.row()) for fit in fits)


def _draw_nothing() -> None:
    """Have ``report`` leave charts empty: drawing them takes seconds, and writes no file."""
    drawing = import_module("vl_convert")
    drawing.vegalite_to_svg = lambda spec: "<svg></svg>"
    drawing.vegalite_to_vega = lambda spec: {"data": []}
    drawing.javascript_bundle = lambda: ""


def _give_up_capabilities() -> None:
    """Be bound by permissions also as root; an ordinary user has nothing to give up."""
    version, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None).capset(version, none):
        raise OSError("capabilities cannot be given up")


def _arm(fault: dict, log: int) -> None:
    inside = [sys.prefix, sys.base_prefix, str(SOURCE), "/proc", "/sys", "/dev", "/usr", "/lib"]
    inside += ["/etc", *(f"/memfd:{name} (deleted)" for name in ("out", "err", "log", "result"))]
    inside += [path for path in sys.path if path.endswith("site-packages")]
    prefixes = "".join(f"{each}\n" for each in inside).encode()
    order = (fault["at"], fault["error"], fault["sticky"], fault["kinds"], log)
    ctypes.CDLL(None).arm(ctypes.c_char_p(_keep(prefixes)), *map(ctypes.c_int, map(int, order)))


def _keep(value: bytes, kept: list[bytes] = []) -> bytes:  # noqa: B006
    """The same bytes, which stay in memory as long as C code looks at them."""
    kept.append(value)
    return value


def _texts(files: dict[str, int]) -> dict[str, str]:
    """What was printed since the last time."""
    texts = {name: _content(files[name]).decode("utf-8", "replace") for name in ("out", "err")}
    for name in texts:
        os.ftruncate(files[name], 0)
        os.lseek(files[name], 0, os.SEEK_SET)
    return texts


def _content(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def _result(child: int, _: int, files: dict[str, int]) -> dict:
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ended = [json.loads(line) for line in _content(files["result"]).splitlines()]
    modules = ended.pop() if ended and "modules" in ended[-1] else {}
    if code:
        ended.append({"code": code, **_texts(files)})
    lines = _content(files["log"]).decode("utf-8", "replace").splitlines()
    calls = [line.split(" ", 3) for line in lines]
    for file in files.values():
        os.close(file)
    return {
        "ended": ended,
        "calls": [(kind, mark == "!", path) for kind, _, mark, path in calls],
    } | modules


if __name__ == "__main__":
    serve()
