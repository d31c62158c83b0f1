"""Valid inputs of every command, the commands themselves, and what their whole outputs are."""

import gzip
import json
import os
import re
import shutil
import stat
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from table_cases import make_scores

from linkparity import Graph, LinkPredictor
from linkparity.support.files import PREFIX

#: Mode and content by path.
Snapshot = dict[str, tuple[int, bytes]]
GROUPS = ("--nodes", "n.csv", "--sensitive", "kind")
ROWS = "rows.jsonl"
OWN_GRAPH = ("--links", "l.csv", *GROUPS, "--model", "maxent")


@dataclass(frozen=True)
class Command:
    """A command line, its outputs, and whether ``--force`` is needed to replace them."""

    args: tuple[str, ...]
    outputs: tuple[str, ...]
    replaces: bool = True

    @property
    def forced(self) -> list[str]:
        """The command line that writes its outputs also where they exist."""
        return [*self.args, *(["--force"] if self.replaces else [])]


COMMANDS = {
    "datasets": Command(("datasets", "jobs", "--out", "."), ("scores.csv", "people.csv")),
    "train": Command(("train", *OWN_GRAPH, "--out", "new-run"), ("new-run",)),
    "predict": Command(("predict", "run", "--pairs", "p.csv", "--out", "o.csv"), ("o.csv",)),
    "top": Command(("predict", "run", "--top", "2", "--out", "o.parquet"), ("o.parquet",)),
    "project": Command(
        ("project", "s.csv", *GROUPS, "--out", "f.csv", "--save-tilts", "t.json"),
        ("f.csv", "t.json"),
    ),
    "project gzip": Command(("project", "s.csv.gz", *GROUPS, "--out", "g.csv.gz"), ("g.csv.gz",)),
    "project parquet": Command(
        ("project", "s.parquet", *GROUPS, "--apply", "saved.json", "--out", "f.parquet"),
        ("f.parquet",),
    ),
    "audit": Command(("audit", "s.csv", *GROUPS, "--html", "page.html"), ("page.html",)),
    "tune": Command(
        ("tune", *OWN_GRAPH, "--max-gap", "dp=1", "--out", "new-run", "--html", "page.html"),
        ("new-run", "page.html"),
    ),
    "run": Command(("run", "study.toml", "--out", ROWS), (ROWS,), replaces=False),
    "report": Command(("report", "results.jsonl", "--out", "page.html"), ("page.html",)),
}
#: An experiment; the files are in the directory above when a changed copy is tried.
STUDY = """
models = ["maxent"]
criteria = ["none", "dp"]
measures = ["auc", "dp"]
seeds = 2
[[files]]
name = "own"
links = "{up}l.csv"
nodes = "{up}n.csv"
sensitive = "kind"
"""
#: One of each kind that replaces its output.
FRONT = ("train", "predict", "project", "audit", "tune")


@dataclass(frozen=True)
class World:
    """A directory with inputs, foreign files, and a copy of every old output in ``old``."""

    place: Path

    def copy(self, to: Path) -> Path:
        """A new copy of the inputs and foreign files."""
        shutil.copytree(self.place / "inputs", to, symlinks=True)
        for name in ("tmp", "home"):
            (to / name).mkdir()
        return to

    def put_old_outputs(self, place: Path, outputs: tuple[str, ...]) -> None:
        """Put an older version of outputs in place."""
        for name in outputs:
            if name == "new-run":
                shutil.copytree(place / "run", place / name)
                (place / name / "notes.txt").write_text("theirs")
            elif name == ROWS:
                shutil.copyfile(self.place / "old" / ROWS, place / name)
            else:
                (place / name).write_text("old")

    @staticmethod
    def env(place: Path) -> dict[str, str | None]:
        """Environment in which nothing outside of ``place`` is written."""
        temporary = {"TMPDIR": str(place / "tmp"), "HOME": str(place / "home")}
        return {**temporary, "XDG_CACHE_HOME": None, "LINKPARITY_DATA": None}


def make_world(place: Path) -> World:
    """Write the inputs and foreign files."""
    inputs = place / "inputs"
    inputs.mkdir()
    scores, nodes, _ = make_scores()
    scores.to_csv(inputs / "s.csv", index=False)
    scores.to_parquet(inputs / "s.parquet", index=False)
    (inputs / "s.csv.gz").write_bytes(gzip.compress((inputs / "s.csv").read_bytes(), mtime=0))
    nodes.to_csv(inputs / "n.csv", index=False)
    ends = ["source", "target"]
    scores[ends].to_csv(inputs / "p.csv", index=False)
    scores[scores.label == 1][ends].to_csv(inputs / "l.csv", index=False)
    number = {name: i for i, name in enumerate(nodes.node)}
    links = scores[scores.label == 1][ends].map(number.__getitem__).to_numpy()
    kinds, group = np.unique(nodes.kind, return_inverse=True)
    graph = Graph(len(nodes), links, group, tuple(kinds), names=tuple(nodes.node), attribute="kind")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LinkPredictor("maxent", "dp", postprocess="i-projection").fit(graph).save(inputs / "run")
    _write_tilts(inputs)
    (inputs / "study.toml").write_text(STUDY.format(up=""))
    _write_rows(inputs, place / "old")
    for name in (".f.csv.anything.tmp", ".model.json-abc", f"{PREFIX}mine/thesis.tex"):
        (inputs / name).parent.mkdir(exist_ok=True)
        (inputs / name).write_text("theirs")
    return World(place)


def _write_tilts(inputs: Path) -> None:
    import pandas as pd

    import linkparity as lp

    frames = [pd.read_csv(inputs / name, dtype={"node": str, "source": str, "target": str},
                          keep_default_na=False) for name in ("s.csv", "n.csv")]  # fmt: skip
    lp.project(frames[0], "kind", frames[1], save_tilts=inputs / "saved.json")


def _write_rows(inputs: Path, place: Path) -> None:
    """Rows of an experiment, and what a killed run left: one failed, and the last is cut off."""
    from linkparity import Experiment

    fits = Experiment.read(inputs / "study.toml").fits()
    rows = [fit.row().to_json() for fit in fits]
    (inputs / "results.jsonl").write_text("\n".join(rows))
    place.mkdir()
    left = [rows[0], fits[1].failed("no memory").to_json(), rows[2][:-40]]
    (place / ROWS).write_text("\n".join(left))


def snapshot(place: Path) -> Snapshot:
    """Mode and content of every file, and the directories, by their paths."""
    found = {}
    for path in place.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(place))] = (stat.S_IMODE(path.lstat().st_mode), content)
    return found


def changed(
    place: Path, before: Snapshot, exclude: Collection[str] = (), only: str | None = None
) -> set[str]:
    """Paths that differ from a snapshot, private directories aside."""
    after = snapshot(place)
    differ = {path for path in before.keys() | after if before.get(path) != after.get(path)}
    differ -= {path for path in differ - before.keys() if is_temporary(path, after[path][1])}
    tops = {path: path.split(os.sep)[0] for path in differ}
    return {path for path, top in tops.items() if top not in exclude and only in (None, top)}


def is_temporary(path: str, content: bytes) -> bool:
    """Whether a path is in a private directory, or the file that Python tries a directory with."""
    private = any(part.startswith(PREFIX) for part in Path(path).parts)
    return private or (path.startswith("tmp") and b"blat".startswith(content))


def leftovers(place: Path, before: Snapshot) -> set[str]:
    """Files with a byte in private directories that were not there before."""
    after = snapshot(place)
    return {path for path in after.keys() - before.keys() if PREFIX in path and after[path][1]}


def is_as_before(place: Path, before: Snapshot, name: str) -> bool:
    """Whether an output is as it was; a run is what its manifest names.

    A file of rows may have more of them, or fewer failed ones.
    """
    if name == ROWS:
        return is_part(place, before)
    if not name.endswith("run"):
        return not changed(place, before, only=name)
    manifest = f"{name}/model.json"
    if manifest not in before:
        return not (place / manifest).exists()
    tensors = f"{name}/{json.loads(before[manifest][1])['tensors']}"
    after = snapshot(place)
    return all(after.get(path) == before[path] for path in (manifest, tensors))


def is_whole(place: Path, reference: Path, name: str) -> bool:
    """Whether an output is as it is without a fault."""
    path, right = place / name, reference / name
    if not path.exists():
        return False
    if name.endswith("run"):
        return (path / "model.json").exists() and np.array_equal(_logits(path), _logits(right))
    return _same_rows(path, right) if name == ROWS else _undated(path) == _undated(right)


def _undated(path: Path) -> bytes:
    """The content without dates, and without the seconds that a trial took."""
    return re.sub(rb"\d{4}-\d\d-\d\d \d\d:\d\d UTC|\b\d\.\d\b", b"", path.read_bytes())


def is_part(place: Path, before: Snapshot) -> bool:
    """Whether a file of rows has no fit twice, and lost no row of a fit that did not fail."""
    if not (place / ROWS).exists():
        return ROWS not in before
    rows = [row["id"] for row in _rows(place / ROWS) if row["error"] is None]
    lines = before.get(ROWS, (0, b""))[1].splitlines()[:1]
    return len(rows) == len(set(rows)) and {json.loads(line)["id"] for line in lines} <= set(rows)


def _rows(path: Path) -> list[dict]:
    """The rows of a file, without what differs from time to time."""
    from linkparity.experiments.rows_file import read_rows

    rows = [row.to_dict() for row in read_rows(str(path))]
    return [row | {"fit_seconds": 0, "peak_memory": 0} for row in rows]


def _same_rows(path: Path, right: Path) -> bool:
    """Whether a file holds the right row of every fit, once."""
    found, wanted = (sorted(_rows(each), key=lambda row: row["id"]) for each in (path, right))
    return found == wanted


def _logits(run: Path) -> np.ndarray:
    predictor = LinkPredictor.load(run)
    return predictor.predict_logits(np.argwhere(np.tri(predictor.graph_.num_nodes, k=-1)))
