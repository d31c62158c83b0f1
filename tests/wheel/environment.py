"""A clean environment: the wheel is built, installed there, and its commands are run."""

import os
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: The release of PyTorch that is tested; any other would bring gigabytes of CUDA.
TORCH = "torch==2.13.0"


def build_wheel(place: Path) -> Path:
    """Build the wheel of the package in ``place``."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", place, ROOT], check=True)
    (wheel,) = place.glob("linkparity-*.whl")
    return wheel


class Environment:
    """A virtual environment, in which everything together may take so many ``seconds``."""

    def __init__(self, place: Path, seconds: float | None = None) -> None:
        self.deadline = None if seconds is None else time.monotonic() + seconds
        venv.create(place, with_pip=True)
        self.programs = place / ("Scripts" if os.name == "nt" else "bin")
        self.good: list[bool] = []

    def install(self, *requirements: object) -> None:
        """Install packages."""
        words = ["install", *map(str, requirements)]
        pip = ["python", "-m", "pip", "--disable-pip-version-check", "--quiet"]
        self.check(f"pip {' '.join(words)}", [*pip, *words], ROOT)

    def run(self, command: list[str], place: Path) -> "subprocess.CompletedProcess[str]":
        """Run one of its programs in ``place``; too late, it is killed with its children."""
        settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        settings["PATH"] = f"{self.programs}{os.pathsep}{settings['PATH']}"
        process = subprocess.Popen(
            [str(self.programs / command[0]), *command[1:]], cwd=place, env=settings, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        left = None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)
        try:
            out, err = process.communicate(timeout=left)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return subprocess.CompletedProcess(command, 124, "", "no time is left")
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def check(
        self, title: str, command: list[str], place: Path, expected: int = 0, error: str = ""
    ) -> str:
        """Run a command; print its output if the exit code or stderr is not the expected one."""
        began = time.monotonic()
        done = self.run(command, place)
        as_expected = done.returncode == expected and (not error or done.stderr == error)
        print(f"{time.monotonic() - began:6.1f} s  {title}", flush=True)
        if not as_expected:
            print(f"FAILED: exit {done.returncode}, expected {expected} {error}".rstrip())
            print(done.stdout + done.stderr, flush=True)
        self.good.append(as_expected)
        return done.stdout
