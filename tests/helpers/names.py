"""Whether the names in backticks exist: Python, files, commands and options of the project."""

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import typer

from linkparity.cli import command as cli

ROOT = Path(__file__).parents[2]
SOURCE = sorted((ROOT / "src" / "linkparity").rglob("*.py"))
TREES = {path: ast.parse(path.read_text()) for path in SOURCE}
OTHERS = [path for part in ("benchmarks", "docs", "tests") for path in (ROOT / part).rglob("*.py")]
OTHERS += [ROOT / "pyproject.toml", ROOT / "Makefile"]
PATH = re.compile(r"[\w.-]*/[\w./-]*|[\w-]+\.(?:py|md|toml)")
DOTTED = re.compile(r"([A-Za-z_]\w*)\.([A-Za-z_]\w*)")
WORD = re.compile(r"(?<![\w$-])[A-Za-z_]\w+")


@cache
def options():
    """Options by command; those of the scripts, and all together, under ``"python"`` and ``""``."""
    commands = typer.main.get_command(cli.app).commands
    found = {name: {o for p in each.params for o in p.opts} for name, each in commands.items()}
    scripts = set(re.findall(r'"(--[\w-]+)"', "".join(path.read_text() for path in OTHERS)))
    return found | {"python": scripts, "": scripts.union(*found.values())}


@cache
def members():
    """Names of the members of every class, of those of its bases and of its subclasses."""
    own, related = {}, {}
    for node in (node for tree in TREES.values() for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):
            own.setdefault(node.name, set()).update(_members(node))
            for base in (base.id for base in node.bases if isinstance(base, ast.Name)):
                related.setdefault(node.name, set()).add(base)
                related.setdefault(base, set()).add(node.name)
    return {name: names.union(*(own.get(r, ()) for r in related.get(name, ())))
            for name, names in own.items()}  # fmt: skip


def _members(node):
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef):
            yield each.name
        elif isinstance(each, ast.Attribute) and ast.unparse(each.value) == "self":
            yield each.attr
        elif isinstance(each, ast.arg):
            yield each.arg
    for each in node.body:
        targets = [each.target] if isinstance(each, ast.AnnAssign) else getattr(each, "targets", ())
        yield from (target.id for target in targets if isinstance(target, ast.Name))


@cache
def public():
    """Names of modules, functions and constants, and the texts that are one word."""
    found = {part for path in SOURCE for part in (path.stem, path.parent.name)}
    for tree in TREES.values():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                found |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= set(re.findall(r"\w+", node.value)) if " " not in node.value else set()
    return found


@cache
def every():
    """All names: public ones, those of classes, members and parameters, and those of tests."""
    found = public() | set(members()) | set().union(*members().values())
    for tree in TREES.values():
        found |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg | ast.keyword)}
    text = "\n".join(path.read_text() for path in OTHERS)
    found |= set(re.findall(r"^(?:def |class |\[)?([A-Za-z_]\w*)", text, re.MULTILINE))
    found |= set(re.findall(r"[\"'](\w+)[\"':]", text))
    return found - {None}


def faults(code, page, classes=()):
    """What a text in backticks names that does not exist.

    Args:
        code: the text.
        page: the file that it is in.
        classes: classes that the same sentence names; its other names are then theirs.
    """
    tokens = code.split()
    commands = options()
    if tokens[0] in ("linkparity", "python", "make", "pytest", "pip", "torchrun", "dask"):
        return _command_faults(tokens, page)
    if len(tokens) > 1 and tokens[0] in commands and tokens[1].startswith("-"):
        return _command_faults(["linkparity", *tokens], page)
    asked = [token for token in tokens if re.fullmatch(r"--[\w-]+", token)]
    if asked:
        return [option for option in asked if option not in commands[""] | {"--help"}]
    if PATH.fullmatch(code):
        return [] if _is_there(code, page) else [code]
    text = re.sub(r"\"[^\"]*\"|'[^']*'|[\w-]+\.(?:csv|jsonl|json|html|parquet)\b", "", code)
    own = set(re.findall(r"^class (\w+)", page.read_text(), re.MULTILINE))
    wrong = [
        f"{a}.{b}" for a, b in DOTTED.findall(text) if a in members() and b not in members()[a]
    ]
    if classes and re.fullmatch(r"[a-z_]\w*", code):
        theirs = public().union(*(members()[name] for name in classes))
        wrong += [code] if code not in theirs else []
    for chain in re.findall(r"\b(?:lp|linkparity|torch)(?:\.\w+)+", text):
        wrong += [] if _resolves(chain) else [chain]
        text = text.replace(chain, "")
    names = (
        re.sub("(?<=[a-z])_[A-Z]+$", "", name) for name in WORD.findall(text)
    )  # of source_COL, source
    return wrong + [name for name in names if name not in every() | own]


def _resolves(chain):
    """Whether ``lp.Graph.from_frames`` or ``torch.optim`` is there."""
    first, *rest = chain.split(".")
    found = import_module("linkparity" if first == "lp" else first)
    for name in rest:
        found = getattr(found, name, None)
    return found is not None


def _command_faults(tokens, page):
    first, *rest = tokens
    named = rest[0] if rest and re.fullmatch(r"[a-z][\w./-]*", rest[0]) else None
    if first == "make":
        return (
            [named] if not re.search(rf"^{named}:", (ROOT / "Makefile").read_text(), re.M) else []
        )
    if first == "python":
        return [t for t in rest if PATH.fullmatch(t) and not _is_there(t, page)] + [
            t for t in rest if t.startswith("--") and t not in options()["python"]
        ]
    if first != "linkparity" or named is None:
        return []
    if named not in options():
        return [named]
    return [
        t for t in rest if re.fullmatch(r"--[\w-]+", t) and t not in options()[named] | {"--help"}
    ]


def _is_there(name, page):
    places = (ROOT, ROOT / "docs", ROOT / "src" / "linkparity", page.parent)
    if any((place / name).exists() for place in places):
        return True
    part = tuple(name.strip("/").split("/"))
    sources = [path.relative_to(ROOT).parts for path in SOURCE]
    return any(part in (own[-len(part) :], own[-len(part) - 1 : -1]) for own in sources)
