"""Imports point one way, and importing linkparity is cheap."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import linkparity

PACKAGE = Path(linkparity.__file__).parent
#: A module imports from its own line and from lines above it.
LAYERS = [
    "support",
    "reading",
    "graph",
    "datasets",
    "criteria",
    "projection",
    "pairs",
    "models",
    "metrics",
    "metrics.tables",
    "experiments",
    "report",
    "paper",
    "__init__",
    "cli",
    "__main__",
]
RANK = {name: rank for rank, line in enumerate(LAYERS) for name in line.split()}


def imported(path):
    """Names of the linkparity modules that a file imports; not those for type checkers alone."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "linkparity":
            names = (alias.name for alias in node.names)
            yield from (name if name in RANK else "__init__" for name in names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("linkparity."):
            parts = node.module.split(".")[1:]
            yield from (room([*parts, alias.name]) for alias in node.names)
        elif isinstance(node, ast.Import):
            parts = (alias.name.split(".") for alias in node.names)
            yield from (room(each[1:]) for each in parts if each[0] == "linkparity")


def room(parts):
    """The line of LAYERS of a module, by the parts of its name."""
    within = ".".join(parts[:2])
    return within if within in RANK else [*parts, "__init__"][0]


def test_imports_point_up_the_list():
    for path in PACKAGE.rglob("*.py"):
        own = room(path.relative_to(PACKAGE).with_suffix("").parts)
        assert own in RANK, f"give {own} a place in LAYERS"
        wrong = [name for name in imported(path) if RANK[name] > RANK[own]]
        assert not wrong, f"{path.relative_to(PACKAGE)} imports {wrong}, which stands below {own}"


def test_the_page_lists_the_rooms_in_their_order():
    page = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text()
    rooms = re.findall(r"^\| `([\w/]+)/` \|", page, re.MULTILINE)
    folders = [line.replace(".", "/") for line in LAYERS]
    assert rooms == [folder for folder in folders if (PACKAGE / folder).is_dir()]


def import_times(code):
    """Own microseconds of every module that the last line of ``code`` loads."""
    *before, last = code.splitlines()
    code = "\n".join([*before, "import sys; print('START', file=sys.stderr)", last])
    command = [sys.executable, "-X", "importtime", "-c", code]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    rows = [line.split("|") for line in told.split("START\n")[1].splitlines() if "|" in line]
    return {name.strip(): int(own.split(":")[1]) for own, _, name in rows}


def test_import_is_light():
    times = import_times("from linkparity import *")
    assert times["linkparity.projection.solver.coupled"] > 0
    loaded = {name.split(".")[0] for name in times}
    heavy = "scipy sklearn pandas torch_geometric networkx matplotlib typer duckdb jinja2"
    assert not loaded & {*heavy.split(), "pyarrow", "narwhals"}
    ours = sum(own for name, own in times.items() if name.split(".")[0] == "linkparity")
    torch = sum(own for name, own in times.items() if name.split(".")[0] == "torch")
    assert ours < torch, "linkparity's own modules load slower than torch"


def test_the_command_starts_without_torch():
    loaded = {name.split(".")[0] for name in import_times("import linkparity.cli.command")}
    assert "typer" in loaded
    assert not loaded & {"torch", "numpy", "duckdb", "pyarrow"}


def test_public_names_are_what_they_say():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    shown = [
        alias.name
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for imported in node.body
        for alias in imported.names
    ]
    assert sorted(shown) == sorted(linkparity.__all__)
    assert all(getattr(linkparity, name) is not None for name in linkparity.__all__)
    assert dir(linkparity) == sorted([*linkparity.__all__, "__version__"])
    with pytest.raises(AttributeError, match="has no attribute 'prject'"):
        linkparity.prject  # noqa: B018
