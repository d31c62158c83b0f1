"""Install the wheel into a clean environment, first alone, then to train; run what is documented.

Alone, it audits, corrects, scores and projects without PyTorch, in at most 500 MB; each command
that needs more is one line. With the extra ``train``, every ``linkparity`` command of the README,
the tutorial and the commands of docs/reproduction must end with the expected exit code (0, or N
for ``# exit N``), and so must every Python block of the README. The tutorial runs in a copy of
``docs/tutorial``, the rest in an empty folder. ``make wheel`` calls this script.
"""

import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from environment import ROOT, TORCH, Environment, build_wheel

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: Bytes that the package may take with all that it needs, without pip.
MOST = 500e6
#: What a plain installation must not bring.
ABSENT = ("torch", "sklearn", "safetensors", "requests", "pandas", "ibis", "sqlglot", "altair")
#: Commands that work in a plain installation.
ALONE = (
    "linkparity --version",
    "linkparity datasets",
    "linkparity datasets polblogs",
    "linkparity datasets jobs --out jobs",
    "linkparity audit jobs/scores.csv --nodes jobs/people.csv --sensitive gender --bipartite "
    "--html audit.html --json",
    "linkparity project jobs/scores.csv --nodes jobs/people.csv --sensitive gender --bipartite "
    "--out fair.csv",
)
#: Commands that need an extra, with the package that is named and the extras.
OTHERS = {
    "linkparity train polbooks": ("PyTorch", "train"),
    "linkparity tune polbooks --max-gap dp=0.1": ("PyTorch", "train"),
    "linkparity predict run --top 3 --out top.csv": ("PyTorch", "train"),
    "linkparity run study.toml --out rows.jsonl": ("PyTorch", "train"),
    "linkparity reproduce polblogs": ("PyTorch", "train"),
    "linkparity demo": ("PyTorch", "train,report"),
    "linkparity report rows.jsonl --out report.html": ("altair", "report"),
}
SMALL_BUILD = " (for the small CPU build, install torch first, see README)"
#: What works in Python without PyTorch, and what the other public names say.
SCRIPT = f"""
import sys
import numpy as np
from linkparity import *
import linkparity as lp

scores, people = lp.example("jobs")
assert lp.audit(scores, "gender", people, bipartite=True).dp > 0.05
fair = lp.project(scores, "gender", people, bipartite=True)
assert lp.audit(fair, "gender", people, bipartite=True, score="fair_score").dp < 1e-9
groups = np.array([[0, 0], [0, 1], [1, 1], [1, 2], [2, 2], [0, 2]])
assert lp.score_pairs(np.arange(6.0), groups, confidence=None).dp > 0.1
p = lp.i_project(np.arange(6.0), groups=groups)
assert isinstance(p.logits, np.ndarray) and float(p.kl) > 0 and np.ptp(p.logits) < 1e-6
assert lp.Cells.prepare(groups, criterion="dp") is not None
assert "dp" in lp.criteria.CRITERIA
for name in ("load", "train", "LinkPredictor", "evaluate", "FairnessRegularizer"):
    try:
        getattr(lp, name)("polbooks", None)
    except ModuleNotFoundError as error:
        assert str(error) == f'{{name}} needs PyTorch: pip install "linkparity[train]"{SMALL_BUILD}'
    else:
        raise AssertionError(name)
assert not {set(ABSENT)} & {{name.partition(".")[0] for name in sys.modules}}
"""


def commands(page: str) -> list[tuple[str, int]]:
    """The ``linkparity`` lines in a page's console blocks, each with its exit code."""
    blocks = [block for kind, block in BLOCK.findall(page) if kind == "console"]
    lines = [line.removeprefix("$ ") for block in blocks for line in block.split("\n")]
    parts = [line.partition("  # exit ") for line in lines if line.startswith("linkparity ")]
    return [(text.partition("  #")[0].strip(), int(code or 0)) for text, _, code in parts]


def check_core(environment: Environment, place: Path) -> list[str]:
    """Check a plain installation; the help texts of all commands."""
    (packages,) = environment.programs.parent.glob("[Ll]ib/**/site-packages")
    found = [name for name in ABSENT if list(packages.glob(f"{name}*"))]
    own = [path for path in packages.iterdir() if not path.name.startswith(("pip", "setuptools"))]
    files = (file for path in own for file in (path, *path.rglob("*")) if file.is_file())
    size = sum(file.stat().st_size for file in files)
    print(f"installed: {size / 1e6:.0f} MB, at most {MOST / 1e6:.0f}; unwanted: {found or 'none'}")
    environment.good.append(size <= MOST and not found)
    for text in ALONE:
        environment.check(text, shlex.split(text), place)
    for text, (package, extras) in OTHERS.items():
        more = SMALL_BUILD if package == "PyTorch" else ""
        name = shlex.split(text)[1]
        said = f'Error: {name} needs {package}: pip install "linkparity[{extras}]"{more}\n'
        environment.check(text, shlex.split(text), place, 2, said)
    environment.check("Python without PyTorch", ["python", "-W", "error", "-c", SCRIPT], place)
    return help_texts(environment, place)


def help_texts(environment: Environment, place: Path) -> list[str]:
    """What ``--help`` prints, of the program and of every command."""
    names = ["", *{shlex.split(text)[1] for text in (*ALONE[1:], *OTHERS)}]
    jobs = (["linkparity", *filter(None, [name]), "--help"] for name in sorted(names))
    return [environment.check(shlex.join(job), job, place) for job in jobs]


def check_pages(environment: Environment, place: Path) -> None:
    """Run every documented command, and the Python of the README."""
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    paper = (ROOT / "docs" / "reproduction" / "README.md").read_text(encoding="utf-8")
    first, second = place / "tutorial", place / "readme"
    jobs = [(*job, first) for job in commands(tutorial)]
    jobs += [(*job, second) for page in (readme, paper) for job in commands(page)]
    shutil.copytree(ROOT / "docs" / "tutorial", first)
    second.mkdir()
    for text, expected, folder in jobs:
        environment.check(text, shlex.split(text), folder, expected)
    scripts = [block for kind, block in BLOCK.findall(readme) if kind == "python"]
    for number, code in enumerate(scripts, 1):
        environment.check(f"README, Python block {number}", ["python", "-c", code], second)


def main() -> int:
    """Run everything; 0 if all of it did as expected."""
    with tempfile.TemporaryDirectory(prefix="wheel-") as name:
        place = Path(name)
        wheel = build_wheel(place)
        environment = Environment(place / "env")
        environment.install("-c", ROOT / "constraints.txt", wheel)
        (place / "core").mkdir()
        before = check_core(environment, place / "core")
        environment.install(TORCH)
        environment.install("-c", ROOT / "constraints.txt", f"{wheel}[train]")
        check_pages(environment, place)
        environment.good.append(before == help_texts(environment, place))
    good = environment.good
    print(f"wheel: {sum(good)} of {len(good)} as documented")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
