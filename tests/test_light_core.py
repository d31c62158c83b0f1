"""What works without PyTorch, and gives the same numbers as with it; what ``audit`` imports."""

import json
import subprocess
import sys

import numpy as np
import pytest

EXTRAS = ("torch", "sklearn", "pandas", "safetensors", "requests")
#: Refuses to import some packages, whether they are installed or not.
BLOCKED = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""
#: Everything in Python; prints numbers by name as JSON.
JOB = """
import json

import numpy as np

import linkparity as lp

rng = np.random.default_rng(0)
x, groups = 2 * rng.normal(size=400), rng.integers(-1, 3, (400, 2))
labels, weight = rng.integers(0, 2, 400), rng.random(400)
other = rng.integers(0, 2, (400, 2))
found = {}

def keep(name, p):
    found[name] = [
        *np.asarray(p.logits).tolist(), *np.asarray(p.tilt).tolist(), float(p.kl),
        *np.asarray(p.cell).tolist(), p.residual, p.steps,
    ]

for criterion in lp.criteria.CRITERIA:
    keep(criterion, lp.i_project(x, groups, criterion, labels, weight))
for target in ("data", "free", 0.3):
    keep(str(target), lp.i_project(x, groups, "dp", labels, target=target))
keep("tolerance", lp.i_project(x, groups, tolerance=0.02, target="free"))
for combine in ("each", "cross"):
    keep(combine, lp.i_project(x, {"a": groups, "b": other}, combine=combine))
keep("instances", lp.i_project(x, groups[:, 0], directed=True))
keep("custom", lp.i_project(x, criterion=lp.criteria.Custom([0, 1] * 200, np.eye(2), [90, 80])))
cells = lp.Cells.prepare(groups, "eo", labels, weight)
found["cells"] = [*np.asarray(cells.cell).tolist(), *cells.mass.tolist()]
keep("prepared", lp.i_project(x, cells=cells, start=np.zeros(len(cells.mass))))
keep("far", lp.i_project(60 * x, groups, target=1e-4))
keep("none", lp.i_project(x, np.full(400, -1)))
scores = lp.score_pairs(x, groups, labels, weight)
found["scores"] = [scores.auc, scores.dp, scores.eo, scores.rdp, scores.kl]
found["kinds"] = {
    name: type(getattr(p, name)).__module__.partition(".")[0]
    for p in [lp.i_project(x, groups)] for name in ("logits", "tilt", "kl", "cell")
}
try:
    lp.i_project(x, groups, labels=0 * labels, target="data")
except lp.Infeasible as problem:
    found["infeasible"] = [len(str(problem))]
found["not converged"] = [issubclass(lp.NotConverged, RuntimeError)]
sampled = lp.i_project(x, groups, sample_size=50, generator=np.random.default_rng(3))
keep("sampled", sampled)
print(json.dumps(found))
"""


def run(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def with_and_without():
    return json.loads(run(BLOCKED + JOB).stdout), json.loads(run(JOB).stdout)


def test_projections_and_scores_are_those_of_pytorch(with_and_without):
    light, full = with_and_without
    assert set(light) == set(full)
    assert "infeasible" in light
    for name in set(light) - {"kinds"}:
        assert light[name] == pytest.approx(full[name], rel=1e-12, abs=1e-12, nan_ok=True), name


def test_results_are_arrays_without_pytorch_and_tensors_with_it(with_and_without):
    light, full = with_and_without
    assert set(light["kinds"].values()) == {"numpy"}
    assert set(full["kinds"].values()) == {"torch"}


def test_large_arrays_are_summed_in_parts():
    code = """
import numpy as np, linkparity as lp
x = np.random.default_rng(0).normal(size=200_000).astype(np.float32)
p = lp.i_project(x, np.arange(len(x)) % 3)
means = [1 / (1 + np.exp(-p.logits[p.cell == m].astype(float))) for m in range(3)]
assert p.logits.dtype == p.tilt.dtype == np.float32
assert np.ptp([each.mean() for each in means]) < 1e-6
assert p.kl.ndim == 0
"""
    run(BLOCKED + code)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Scores and people of three groups."""
    place, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(1)
    people = [f"p{i},{'abc'[i % 3]}" for i in range(30)]
    rows = [f"p{i},p{j},{rng.random():.6f},{rng.integers(2)}" for i in range(30) for j in range(i)]
    (place / "people.csv").write_text("\n".join(["node,gender", *people]) + "\n")
    (place / "scores.csv").write_text("\n".join(["source,target,score,label", *rows]) + "\n")
    return place


def command(table, before, *arguments):
    """The result of a command as JSON, and the file that it wrote."""
    code = f"""{before}
import os, sys
from linkparity.cli import main
os.chdir({str(table)!r})
main([*sys.argv[1:], "--nodes", "people.csv", "--sensitive", "gender", "--json", "--force"])
"""
    before = set(table.iterdir())
    done = run(code, *arguments)
    new = sorted(set(table.iterdir()) - before)
    texts = {path.name: path.read_text() for path in new}
    for path in new:
        if path.suffix != ".json":
            path.unlink()
    return json.loads(done.stdout), texts


COMMANDS = [
    ("audit", "scores.csv", "--html", "page.html", "--fail-if", "dp>0.9"),
    ("audit", "scores.csv", "--compare", "scores.csv", "--criterion", "eo"),
    ("project", "scores.csv", "--out", "fair.csv"),
    ("project", "scores.csv", "--out", "fair.csv", "--criterion", "equalized-odds"),
    ("project", "scores.csv", "--out", "fair.csv", "--save-tilts", "tilts.json"),
    ("project", "scores.csv", "--out", "fair.csv", "--apply", "tilts.json"),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_commands_need_no_pytorch(table, arguments):
    light, light_files = command(table, BLOCKED, *arguments)
    full, files = command(table, "", *arguments)
    for name in (*light_files, *files):
        if name.endswith(".csv"):
            assert light_files[name] == files[name]
    assert _same(light, full)
    if arguments[0] == "project":
        given = "--apply" in arguments
        assert all((full[name] is None) == given for name in ("residual", "duality_gap"))


def _same(first, second):
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(_same(first[k], second[k]) for k in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(_same, first, second))
    return first == second or first == pytest.approx(second, rel=1e-12, abs=1e-12)


def test_functions_take_tables_without_pytorch(table):
    code = f"""
import linkparity as lp, pyarrow.csv as csv
scores, people = (csv.read_csv({str(table)!r} + name) for name in ("/scores.csv", "/people.csv"))
assert 0 < lp.audit(scores, "gender", people).dp < 1
fair = lp.project(scores, "gender", people)
assert "fair_score" in fair.column_names
"""
    run(BLOCKED + code)


def test_audit_imports_none_of_the_extras(table):
    code = f"""
import os, sys
from linkparity.cli import main
os.chdir({str(table)!r})
try:
    main(["audit", "scores.csv", "--nodes", "people.csv", "--sensitive", "gender",
          "--compare", "scores.csv", "--html", "none.html", "--force", "--fail-if", "dp>0.9"])
except SystemExit as end:
    assert end.code == 0
assert not [name for name in {EXTRAS!r} if name in sys.modules], sys.modules.keys()
"""
    run(code)
