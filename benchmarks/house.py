"""How large the package is, and how many of its modules a call goes through.

    python benchmarks/house.py [--json FILE] [--names]

Prints the table of docs/architecture.md: entries of the package, short modules, lines, and the
modules and functions that ``linkparity project``, ``lp.tune``, ``LinkPredictor.fit`` and
``i_project`` enter. Each call runs once to import what it needs and is followed the second time.
``--names`` lists the modules.
"""

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import torch

import linkparity as lp
from linkparity.criteria import CRITERIA
from linkparity.datasets import DATASETS
from linkparity.models import MODELS

PACKAGE = Path(lp.__file__).parent
SHORT = 60
#: What this script counts in the package before the spine and the door (commit 5d8ec9c), and what
#: is wanted.
BEFORE_AND_WANTED = {
    "entries in src/linkparity": (16, "≤ 16"),
    "modules under 60 lines, registry entries and __init__ apart": (4, "≤ 12"),
    "the same with __init__ and __main__": (26, ""),
    "modules entered by linkparity project": (35, "≤ 22"),
    "functions entered by linkparity project": (454, "≤ 280"),
    "modules entered by tune": (52, "≤ 36"),
    "functions entered by tune": (447, "≤ 330"),
    "modules entered by LinkPredictor.fit": (20, ""),
    "modules entered by i_project": (8, ""),
    "lines of Python in src": (30_014, "≤ 23,500"),
}


def registry_modules() -> set[Path]:
    """Files that hold one criterion, model or data set each."""
    classes = [type(criterion) for criterion in CRITERIA.values()] + list(MODELS.values())
    names = {each.__module__ for each in classes}
    names |= {dataset.read.__module__ for dataset in DATASETS.values()}
    return {Path(str(sys.modules[name].__file__)) for name in names}


def short_modules(front_pages: bool) -> list[str]:
    """Modules under 60 lines that are no registry entry; with or without ``__init__``."""
    apart = registry_modules()
    return sorted(
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if path not in apart
        and len(path.read_text().splitlines()) < SHORT
        and (front_pages or not path.name.startswith("__"))
    )


def entered(call: Callable[[], object]) -> list[tuple[str, str]]:
    """The modules and functions of the package that ``call`` enters, once all is imported."""
    found: set[tuple[str, str]] = set()

    def follow(frame: FrameType, event: str, argument: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(PACKAGE)):
            found.add((str(Path(file).relative_to(PACKAGE)), frame.f_code.co_qualname))

    call()
    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(found)


def project(folder: Path) -> None:
    """``linkparity project a.csv --out b.csv`` on six rows of three groups."""
    from linkparity.cli import main

    scores = folder / "a.csv"
    scores.write_text(
        "source,target,score,source_g,target_g\n"
        "1,2,0.9,a,a\n1,3,0.4,a,b\n2,3,0.2,a,b\n3,4,0.7,b,c\n4,5,0.3,c,c\n5,1,0.6,c,a\n"
    )
    options = ["--sensitive", "g", "--out", str(folder / "b.csv"), "--force"]
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
        try:
            main(["project", str(scores), *options])
        except SystemExit as end:
            if end.code:
                raise RuntimeError(silent.getvalue()) from None


def tune() -> None:
    """A search for a small gap among settings of one model."""
    with contextlib.redirect_stderr(io.StringIO()):
        lp.tune(lp.load("polbooks"), {"dp": 0.02}, "cne", seed=0, epochs=3)


def walks() -> dict[str, list[tuple[str, str]]]:
    """The modules and functions of each walk."""
    graph = lp.load("polbooks")
    logits, groups = torch.randn(1000), torch.randint(0, 3, (1000, 2))
    with tempfile.TemporaryDirectory() as folder:
        found = {"linkparity project": entered(lambda: project(Path(folder)))}
    found["tune"] = entered(tune)
    predictor = lp.LinkPredictor("cne", "dp", epochs=3)
    found["LinkPredictor.fit"] = entered(lambda: predictor.fit(graph))
    found["i_project"] = entered(lambda: lp.i_project(logits, groups=groups))
    return found


def measure() -> tuple[dict[str, int], dict[str, list[str]]]:
    """The figures, and the modules behind them by name."""
    entries = [path for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    short, every = short_modules(front_pages=False), short_modules(front_pages=True)
    followed = walks()
    modules = {name: sorted({file for file, _ in walk}) for name, walk in followed.items()}
    figures = {
        "entries in src/linkparity": len(entries),
        "modules under 60 lines, registry entries and __init__ apart": len(short),
        "the same with __init__ and __main__": len(every),
        "lines of Python in src": sum(
            len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py")
        ),
    }
    for name, walk in followed.items():
        figures[f"modules entered by {name}"] = len(modules[name])
        figures[f"functions entered by {name}"] = len(walk)
    return {name: figures[name] for name in BEFORE_AND_WANTED}, {"short modules": every} | modules


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--json", type=Path, help="Write the figures to this file too.")
    parser.add_argument("--names", action="store_true", help="List the modules.")
    options = parser.parse_args()
    figures, names = measure()
    print("| | before | now | wanted |\n| --- | --- | --- | --- |")
    for name, value in figures.items():
        before, wanted = BEFORE_AND_WANTED[name]
        print(f"| {name} | {before:,} | {value:,} | {wanted} |")
    if options.names:
        for name, modules in names.items():
            print(f"\n{name}: {', '.join(modules)}")
    if options.json:
        options.json.write_text(json.dumps({"figures": figures, "modules": names}, indent=2))


if __name__ == "__main__":
    main()
