"""Whether audits and corrections of random tables give the numbers that an earlier version gives.

    python benchmarks/same_numbers.py --before 76aae4a     # a commit, installed beside this one
    python benchmarks/same_numbers.py --python OTHER/bin/python

Draws tables of every sort (directed, bipartite, weights, missing labels, unknown groups, ties,
scores of 0 and 1, several attributes, single precision), runs both versions on them in processes
of their own, and prints the largest difference of measures, of ends of intervals and of corrected
scores. Exits with 1 where one is larger than 1e-9 or 1e-10.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
#: Largest differences allowed.
ALLOWED = {"measures": 1e-9, "intervals": 1e-7, "counts": 0.0, "scores": 1e-10, "tilts": 1e-8}


def draw(seed: int) -> tuple[object, object, dict[str, object]]:
    """A table of scores, a table of nodes, and options."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    nodes, groups = int(rng.integers(20, 90)), int(rng.integers(2, 6))
    sort = ("undirected", "directed", "bipartite", "one side")[seed % 4]
    options: dict[str, object] = {}
    if sort in ("bipartite", "one side"):
        left = nodes // 3
        source, target = (part.ravel() for part in np.mgrid[:left, left:nodes])
        options["bipartite"] = True
    else:
        source, target = np.triu_indices(nodes, 1)
        if sort == "directed":
            source, target = np.append(source, target), np.append(target, source)
            options["directed"] = True
    kept = rng.random(len(source)) < rng.uniform(0.3, 0.9)
    source, target = source[kept], target[kept]
    group = rng.integers(0, groups, nodes)
    logit = rng.normal(size=nodes)[source] + rng.normal(size=len(source)) - 1
    logit += 0.6 * (group[source] == group[target])
    score = 1 / (1 + np.exp(-logit))
    if seed % 5 == 0:
        score = np.round(score, 1)
    elif seed % 5 == 1:
        score[::11], score[3::17] = 0.0, 1.0
    frame = pd.DataFrame({"source": source, "target": target})
    if seed % 6 == 2:
        frame["logit"] = logit.astype(np.float32)
    else:
        frame["score"] = score.astype(np.float32) if seed % 6 == 3 else score
    if seed % 7:
        frame["label"] = (rng.random(len(source)) < score).astype(int)
    if seed % 3 == 1:
        frame["w"] = rng.exponential(2, len(source)) * (rng.random(len(source)) > 0.1)
        options["weight"] = "w"
    people = pd.DataFrame({"node": np.arange(nodes), "kind": np.array(list("abcde"))[group]})
    people["age"] = rng.integers(0, 2, nodes)
    if sort == "one side":
        people = people[: nodes // 3]
    if seed % 4 == 3 or seed % 9 == 4:
        people.loc[people.index[:3], "kind"] = None
        options["unknown"] = ("keep", "group", "drop")[seed % 3]
    options["sensitive"] = ["kind", "age"] if seed % 8 == 6 else "kind"
    return frame, people, options


def measure(tables: int) -> list[dict[str, object]]:
    """What this version of the package makes of the tables."""
    import linkparity as lp

    warnings.simplefilter("ignore")
    found = []
    for seed in range(tables):
        frame, people, options = draw(seed)
        labelled = "label" in frame.columns
        for kind in ("nodes", "pairs"):
            audit = lp.audit(frame, nodes=people, intervals=kind, **options).to_dict()
            found.append({"seed": seed, "what": f"audit, {kind}"} | pick(audit))
        other = frame.drop(columns="w", errors="ignore").copy()
        value = "logit" if "logit" in other else "score"
        other[value] = other[value] * 0.9
        audit = lp.audit(frame, nodes=people, compare=other, **options).to_dict()
        found.append({"seed": seed, "what": "compare"} | pick(audit["change"]))
        for criterion in ("dp", "weak-dp", "eo", "equalized-odds", "accuracy"):
            if criterion in ("eo", "equalized-odds", "accuracy") and not labelled:
                continue
            for more in (
                {"tilt_by": "labels"},
                {"target": 0.3, "tolerance": 0.01},
                {"target": "free"},
            ):
                try:
                    fair, report = lp.project(
                        frame, nodes=people, criterion=criterion, report=True, **more, **options
                    )
                except Exception as error:  # both versions must refuse alike
                    found.append({"seed": seed, "what": f"{criterion} {more}", "error": str(error)})
                    continue
                said = report.to_dict()
                found.append(
                    {
                        "seed": seed, "what": f"{criterion} {more}",
                        "scores": fair["fair_score"].tolist(),
                        "tilts": [each["tilt"] for each in said["tilts"]],
                        "measures": flat([said["before"], said["after"], said["kl"]]),
                        "intervals": flat(said["intervals"]),
                        "counts": [said["rows"], said["kept"], said["unknown"]],
                    }
                )  # fmt: skip
    return found


def pick(audit: dict[str, object]) -> dict[str, object]:
    """The numbers of an audit or a change."""
    names = ("auc", "dp", "eo", "rdp", "kl", "cells", "views", "exposure", "gaps", "was")
    cells = audit.get("cells", [])
    means = [[cell["mean"], cell["link_mean"]] for cell in cells]
    ends = [[cell["interval"], cell["link_interval"]] for cell in cells]
    views = {name: dict(view) for name, view in dict(audit["views"]).items()}
    view_ends = [view.pop("intervals") for view in views.values()]
    for view in views.values():
        view.pop("reasons", None)
    values = [audit.get(name) for name in names if name not in ("cells", "views", "gaps")]
    counts = [[cell["pairs"], cell["links"]] for cell in cells]
    return {
        "measures": flat([values, means, list(views.values())]),
        "intervals": flat([audit["intervals"], ends, view_ends]),
        "counts": flat([counts, audit.get("pairs"), audit.get("links")]),
    }


def flat(value: object) -> list[float | None]:
    """The numbers in nested lists and dictionaries, in the order of their keys."""
    if isinstance(value, dict):
        return [each for key in sorted(value) for each in flat(value[key])]
    if isinstance(value, list | tuple):
        return [each for part in value for each in flat(part)]
    if value is None or isinstance(value, int | float):
        return [value]
    return []


def installed(commit: str, folder: Path) -> Path:
    """The Python of an environment with an earlier commit in it."""
    place, python = folder / "source", folder / "env" / "bin" / "python"
    run = subprocess.check_call
    run(["git", "worktree", "add", "--detach", str(place), commit], cwd=ROOT)
    run([sys.executable, "-m", "venv", str(folder / "env")])
    pip = [str(python), "-m", "pip", "install", "--quiet", "-c", str(place / "constraints.txt")]
    run([*pip, "torch==2.13.0"])
    run([*pip, str(place)])
    run(["git", "worktree", "remove", "--force", str(place)], cwd=ROOT)
    return python


def compare(before: list[dict[str, object]], now: list[dict[str, object]]) -> bool:
    """Print the largest differences; whether all are allowed."""
    assert len(before) == len(now)
    worst = dict.fromkeys(ALLOWED, (0.0, ""))
    others = []
    for one, two in zip(before, now, strict=True):
        where = f"table {one['seed']}, {one['what']}"
        if one.get("error") != two.get("error"):
            others.append(f"{where}: {one.get('error')} | {two.get('error')}")
            continue
        for name in ALLOWED:
            a, b = one.get(name, []), two.get(name, [])
            if len(a) != len(b):
                others.append(f"{where}: {len(a)} and {len(b)} {name}")
                continue
            for x, y in zip(a, b, strict=True):
                gap = 0.0 if x == y else math.inf if None in (x, y) else abs(x - y)
                if not math.isfinite(gap):
                    others.append(f"{where}: {name} {x} | {y}")
                elif gap > worst[name][0]:
                    worst[name] = (gap, where)
    print(f"{len(now)} results of both versions")
    for name, (gap, where) in worst.items():
        print(f"largest difference of {name}: {gap:.1e} ({where or 'none'})")
    for line in others[:20]:
        print(f"otherwise: {line}")
    return not others and all(worst[name][0] <= most for name, most in ALLOWED.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--before", help="Commit to compare with.")
    parser.add_argument(
        "--python", help="Python of an environment with the version to compare with."
    )
    parser.add_argument("--tables", type=int, default=20, help="Number of tables.")
    parser.add_argument(
        "--measure", action="store_true", help="Print this version's numbers as JSON."
    )
    options = parser.parse_args()
    if options.measure:
        json.dump(measure(options.tables), sys.stdout)
        return
    with tempfile.TemporaryDirectory() as folder:
        python = options.python or str(installed(options.before, Path(folder)))
        results = []
        for each in (python, sys.executable):
            command = [each, __file__, "--measure", "--tables", str(options.tables)]
            results.append(json.loads(subprocess.check_output(command, cwd=folder)))
    sys.exit(0 if compare(*results) else 1)


if __name__ == "__main__":
    main()
