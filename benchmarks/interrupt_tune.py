"""``linkparity tune`` interrupted at every stage: its exit code, its last line, what is on disk.

    python benchmarks/interrupt_tune.py [--args polbooks --max-gap=dp=0.02] [--json FILE]

Ctrl-C is sent while the program loads, after trials, in the last fit, while outputs are saved.
What is complete on disk must be what the exit code and the last line say: all of it after 0,
nothing after 2, the named outputs after 74. A saved run is loaded, a table and a page are read.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

#: What the command writes.
OUTPUTS = {"--out": "run", "--html": "tune.html", "--save-test": "test.csv"}
#: Load a saved run; in a process of its own, so that this one stays smaller than those it measures.
LOADS = "import sys, linkparity as lp; lp.LinkPredictor.load(sys.argv[1]).predict_proba([[0, 1]])"
#: When Ctrl-C is sent: a line of stderr, and seconds after it; without a line, after the start.
STAGES = [
    ("", 0.2), ("", 0.8), ("", 1.6), ("trial 1 ", 0.0), ("trial 2 ", 0.1), ("trial 4 ", 0.2),
    ("trial 6 ", 0.0), ("trial 9 ", 0.1), ("LAST", 0.0), ("LAST", 0.2), ("LAST", 0.5),
    ("LAST", 0.8), ("LAST", 1.2), ("test pairs:", 0.0), ("run:", 0.0),
    ("report:", 0.0), ("report:", 0.1),
]  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        sent: seconds until the signal; 0 if none was sent.
        stage: the last line of stderr before it.
        code: exit code.
        said: the lines of stderr after the signal.
        there: outputs that are complete.
        left: anything else in the directory.
        seconds: between the signal and the end.
        memory: peak in MB.
    """

    sent: float
    stage: str
    code: int
    said: tuple[str, ...]
    there: tuple[str, ...]
    left: tuple[str, ...]
    seconds: float
    memory: float

    @property
    def kept_its_word(self) -> bool:
        """Whether what is there is what was said."""
        named = [name for name in OUTPUTS.values() if name in self.said[-1]]
        wanted = {0: list(OUTPUTS.values()), 2: [], 74: named}.get(self.code)
        return not self.left and wanted is not None and set(self.there) == set(wanted)


def interrupted(args: list[str], line: str, after: float, place: Path) -> Ended:
    """Run the command in a directory; send Ctrl-C ``after`` seconds after a line of stderr.

    Without a line, after its start; never if the line does not come.
    """
    outputs = [part for pair in OUTPUTS.items() for part in pair]
    command = [sys.executable, "-m", "linkparity", "tune", *args, *outputs]
    lines: list[str] = []
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    met, over = threading.Event(), threading.Event()

    def read() -> None:
        for each in process.stderr or ():
            lines.append(each.strip())
            if each.startswith(line):
                met.set()
        over.set()
        met.set()

    reader = threading.Thread(target=read)
    reader.start()
    if line:
        met.wait()
    time.sleep(after)
    before, sent = len(lines), 0.0
    if not over.is_set():
        sent = time.perf_counter()
        os.kill(process.pid, signal.SIGINT)
    _, status, used = os.wait4(process.pid, 0)
    ended = time.perf_counter()
    process.returncode = os.waitstatus_to_exitcode(status)
    reader.join()
    stage = lines[before - 1] if before else "loading"
    there = tuple(name for name in OUTPUTS.values() if is_complete(place / name))
    left = tuple(sorted({each.name for each in place.iterdir()} - set(there)))
    memory = used.ru_maxrss / 1024
    said = tuple(lines[before:] if sent else lines) or ("",)
    return Ended(
        sent - began if sent else 0.0, stage, process.returncode, said, there, left,
        ended - (sent or began), memory,
    )  # fmt: skip


def is_complete(output: Path) -> bool:
    """Whether an output is whole: a run that loads, a table and a page with their ends."""
    if not output.exists():
        return False
    if output.is_dir():
        done = subprocess.run([sys.executable, "-c", LOADS, str(output)], check=False)
        return done.returncode == 0
    text = output.read_text()
    return text.strip().endswith("</html>") or (output.suffix == ".csv" and text.endswith("\n"))


def main() -> None:
    """Print a table in Markdown, and fail where something on disk is not what was said."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--args", nargs="+", default=["polbooks", "--max-gap=dp=0.02"])
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        whole = interrupted(options.args, "never", 0.0, Path(place))
    assert whole.code == 0, whole.said
    last = [line for line in whole.said if line.startswith("trial ")][-1].split(" of ")[0]
    print(f"alone: {whole.seconds:.1f} s, {whole.memory:.0f} MB, last {last}")
    print("| Ctrl-C after | last line before | exit code | on disk | ended after | peak | said |")
    print("| --- " * 7 + "|")
    found = []
    for line, after in STAGES:
        with tempfile.TemporaryDirectory() as place:
            ended = interrupted(options.args, line.replace("LAST", last), after, Path(place))
        found.append(ended)
        disk = ", ".join((*ended.there, *(f"({name})" for name in ended.left))) or "nothing"
        print(
            f"| {ended.sent:.1f} s | {ended.stage[:50]} | {ended.code} | {disk} | "
            f"{ended.seconds:.1f} s | {ended.memory:.0f} MB | {' / '.join(ended.said[-4:])} |",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps([vars(each) for each in (whole, *found)], indent=1))
    wrong = [ended for ended in found if not ended.kept_its_word]
    print(f"{len(found) - len(wrong)} of {len(found)} left what they said")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
