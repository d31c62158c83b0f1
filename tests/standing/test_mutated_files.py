"""Damaged files: the command works, or says in one line on stderr which file is wrong."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import pytest
from fork_server import SOURCE, Ended, Job
from mutations import add_formats, make_case

#: Number of cases; more on demand, and others with another first seed.
CASES = int(os.environ.get("LINKPARITY_MUTATIONS", "2000"))
FIRST = int(os.environ.get("LINKPARITY_MUTATIONS_FROM", "0"))
PROCESSES = 50
#: Cases that run one after the other in one process.
BATCH = 25


@pytest.fixture(scope="module")
def place(world, tmp_path_factory):
    place = world.copy(tmp_path_factory.mktemp("mutated") / "world")
    add_formats(place)
    return place


def fault(ended: Ended, args: list[str], place: Path) -> str:
    """What is wrong with how a command ended; empty if nothing is."""
    lines = ended.err.splitlines()
    errors = [line for line in lines if line.startswith("Error: ")]
    out = place / args[args.index("--out") + 1]
    failed_fits = args[0] == "run" and ended.code == 1
    if ended.code not in (0, 2) and not failed_fits:
        return f"exit {ended.code}"
    if out.exists() != (ended.code < 2):
        return "an output after an error" if ended.code else "no output"
    if ended.code == 2 and errors != lines[-1:]:
        return "not one line"
    if any((ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 for c in ended.err):
        return "control characters"
    named = [name for name in args[1:] if "." in name or "run" in name]
    named += [f"{Path(args[1]).parent}/"] if args[0] == "run" else []  # files that it names
    if errors and not any(name in errors[0] for name in named):
        return "no file is named"
    return "" if all(len(line) < 1000 for line in errors) else "a long line"


def report(seed: int, ended: Ended, args: list[str], place: Path) -> str:
    wrong = fault(ended, args, place)
    shutil.rmtree(place / str(seed))
    return wrong and f"seed {seed}: {wrong}: {' '.join(args)}: {ended.code} {ended.err[-600:]}"


def test_damaged_files_give_a_result_or_one_line(servers, world, place, tried):
    def run(start):
        seeds = range(start, min(start + BATCH, FIRST + CASES))
        commands = [make_case(seed, place, str(seed)) for seed in seeds]
        ended = []
        while len(ended) < len(seeds):  # what a crash leaves out is run in another process
            ended += servers.run(Job(commands[len(ended) :], str(place), world.env(place)))[0].ended
        cases = zip(seeds, ended, commands, strict=True)
        return [(case[1].code, report(*case, place)) for case in cases]

    found = list(chain(*servers.map(run, range(FIRST, FIRST + CASES, BATCH))))
    faults = [text for _, text in found if text]
    assert not faults, f"{len(faults)} of {len(found)}:\n" + "\n\n".join(faults)
    good = sum(code == 0 for code, _ in found)
    tried.append(f"{len(found)} damaged files, {good} of them readable")
    assert 0.05 < good / len(found) < 0.6


def test_damaged_files_in_processes_of_their_own(world, place, tried):
    def run(seed):
        args = make_case(seed, place, str(seed))
        env = {**os.environ, **world.env(place), "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "linkparity", *args], cwd=place, capture_output=True, text=True,
            env={name: value for name, value in env.items() if value is not None}, check=False,
        )  # fmt: skip
        return report(seed, Ended(done.returncode, done.stdout, done.stderr), args, place)

    first = FIRST + CASES
    with ThreadPoolExecutor(2) as threads:
        faults = [text for text in threads.map(run, range(first, first + PROCESSES)) if text]
    assert not faults, "\n\n".join(faults)
    tried.append(f"{PROCESSES} damaged files in processes of their own")
