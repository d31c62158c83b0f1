"""Build the wheel, install it without extras into a clean environment, run the documented commands.

Every ``linkparity`` command of the README, the tutorial and the commands of docs/reproduction runs
there and must end with the expected exit code (0, or N for ``# exit N``), and so must every Python
block of the README. The tutorial runs in a copy of ``docs/tutorial``, the rest in an empty folder.
``make wheel`` calls this script.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ALWAYS = ("linkparity --version", "linkparity datasets")


def commands(page: str) -> list[tuple[str, int]]:
    """The ``linkparity`` lines in a page's console blocks, each with its exit code."""
    blocks = [block for kind, block in BLOCK.findall(page) if kind == "console"]
    lines = [line.removeprefix("$ ") for block in blocks for line in block.split("\n")]
    parts = [line.partition("  # exit ") for line in lines if line.startswith("linkparity ")]
    return [(text.partition("  #")[0].strip(), int(code or 0)) for text, _, code in parts]


def install(place: Path) -> Path:
    """Build the wheel and install it with its ordinary dependencies; the directory of programs."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", place, ROOT], check=True)
    (wheel,) = place.glob("linkparity-*.whl")
    venv.create(place / "env", with_pip=True)
    programs = place / "env" / ("Scripts" if os.name == "nt" else "bin")
    pip[0] = str(programs / "python")
    constraints = ROOT / "constraints.txt"
    subprocess.run([*pip, "install", "-c", constraints, wheel], check=True)
    return programs


def run(command: list[str], expected: int, place: Path, programs: Path) -> bool:
    """Run one command in ``place``; report an exit code other than the expected one."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    settings["PATH"] = f"{programs}{os.pathsep}{settings['PATH']}"
    command = [str(programs / command[0]), *command[1:]]
    done = subprocess.run(
        command, cwd=place, env=settings, capture_output=True, text=True, check=False
    )
    if done.returncode != expected:
        print(f"FAILED: exit {done.returncode}, expected {expected}\n{done.stdout}{done.stderr}")
    return done.returncode == expected


def main() -> int:
    """Run everything; 0 if all of it did as expected."""
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    paper = (ROOT / "docs" / "reproduction" / "README.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="wheel-") as name:
        programs = install(Path(name))
        first, second = Path(name) / "tutorial", Path(name) / "readme"
        jobs = [(text, 0, first) for text in ALWAYS]
        jobs += [(*job, first) for job in commands(tutorial)]
        jobs += [(*job, second) for page in (readme, paper) for job in commands(page)]
        shutil.copytree(ROOT / "docs" / "tutorial", first)
        second.mkdir()
        good = []
        for text, expected, place in jobs:
            print(text, flush=True)
            good.append(run(shlex.split(text), expected, place, programs))
        scripts = [block for kind, block in BLOCK.findall(readme) if kind == "python"]
        for number, code in enumerate(scripts, 1):
            print(f"README, Python block {number}", flush=True)
            good.append(run(["python", "-c", code], 0, second, programs))
    print(f"wheel: {sum(good)} of {len(good)} as documented")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
