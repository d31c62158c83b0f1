"""Run every command with the newest release of every dependency but PyTorch, in 8 minutes.

What fails is printed with the versions that differ from those of constraints.txt, and the exit
code is 1; continuous integration goes on, since somebody else's release must not stop ours.
``make newest`` calls this script.
"""

import json
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from environment import ROOT, TORCH, Environment, build_wheel

SECONDS = 480
JOBS = "jobs/scores.csv --nodes jobs/people.csv --sensitive gender --bipartite"
STUDY = """
data = ["polbooks"]
models = ["maxent"]
criteria = ["none", "dp"]
"""
FRAMES = """
import linkparity as lp
scores, people = (table.to_pandas() for table in lp.example("jobs"))
fair = lp.project(scores, "gender", people, bipartite=True)
assert lp.audit(fair, "gender", people, bipartite=True, score="fair_score").dp < 1e-9
"""
CLUSTER = """
import subprocess
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        address = ["--scheduler", cluster.scheduler_address]
        command = ["linkparity", "run", "study.toml", "--out", "cluster.jsonl", *address]
        subprocess.run(command, check=True)
"""
GRAPHS = """
import linkparity as lp
graph = lp.load("polbooks")
assert lp.Graph.from_pyg(graph.to_pyg()).num_links == graph.num_links
lp.LinkPredictor("gae", "dp", epochs=5).fit(graph)
"""
FILES = {"study.toml": STUDY, "frames.py": FRAMES, "graphs.py": GRAPHS, "cluster.py": CLUSTER}
#: By extras, in the order in which they are installed: the commands, and scripts.
SMOKE: dict[str, tuple[str, ...]] = {
    "": (
        "linkparity datasets jobs --out jobs",
        f"linkparity audit {JOBS} --html audit.html",
        f"linkparity project {JOBS} --out fair.parquet",
        "linkparity audit fair.parquet --score fair_score --nodes jobs/people.csv "
        "--sensitive gender --bipartite --json",
    ),
    "[train,report]": (
        "linkparity train polbooks --criterion dp --epochs 20 --out run",
        "linkparity predict run --top 3 --out top.csv",
        "linkparity tune polbooks --model maxent --max-gap dp=0.1 --html tuned.html",
        "linkparity run study.toml --out rows.jsonl --jobs 2",
        "linkparity report rows.jsonl --out report.html --figures figures",
        "linkparity reproduce polblogs --seeds 1 --quick --model maxent",
        "linkparity demo",
    ),
    "[pyg,dask]": ("python graphs.py", "python cluster.py"),
    "[spark]": (
        "python frames.py",
        *([f"linkparity audit {JOBS} --engine spark"] if shutil.which("java") else []),
    ),
}


def versions(environment: Environment, place: Path) -> list[str]:
    """One line per package with another version than the pinned one."""
    lines = (ROOT / "constraints.txt").read_text().split()
    pinned = {_plain(name): version for name, version in (line.split("==") for line in lines)}
    listed = environment.run(["python", "-m", "pip", "list", "--format", "json"], place)
    installed = {each["name"]: each["version"] for each in json.loads(listed.stdout or "[]")}
    return [
        f"  {name}: pinned {pinned.get(_plain(name), 'not')}, newest {version}"
        for name, version in installed.items()
        if _plain(name) not in ("linkparity", "pip", "setuptools", "torch")
        and pinned.get(_plain(name)) != version
    ]


def _plain(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def main() -> int:
    """Run everything; 0 if all of it ended well."""
    with tempfile.TemporaryDirectory(prefix="newest-") as name:
        place = Path(name)
        wheel = build_wheel(place)
        environment = Environment(place / "env", SECONDS)
        for file, text in FILES.items():
            (place / file).write_text(text)
        for extras, texts in SMOKE.items():
            if "train" in extras:
                environment.install(TORCH)
            environment.install(f"{wheel}{extras}")
            for text in texts:
                environment.check(text, shlex.split(text), place)
        environment.deadline = None
        good = environment.good
        print(
            f"newest: {sum(good)} of {len(good)} ended well; versions other than the pinned ones:"
        )
        print("\n".join(versions(environment, place)) or "  none", flush=True)
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
