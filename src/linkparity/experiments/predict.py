"""Scores for pairs in a file, or the likeliest new partners of each node."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from linkparity.graph.graph import Graph
from linkparity.prediction import LinkPredictor
from linkparity.support.files import STREAM, Workspace, check_output, whole_file
from linkparity.support.optional import require
from linkparity.support.wording import nearest_id
from linkparity.tables.engines.base import EXTRA, ROW, Input
from linkparity.tables.engines.duckdb import DuckEngine, copy_options, quoted, size_of, text
from linkparity.tables.engines.errors import readable_errors
from linkparity.tables.reading.columns import check_choices, check_header, pick_ends
from linkparity.tables.reading.files import Format, format_of, open_source
from linkparity.tables.reading.nodes import id_text

SCORE = "score"


@dataclass(frozen=True)
class PairsFile:
    """A table of pairs, and how it is read.

    Attributes:
        name: the file, ``-`` for stdin.
        source: column of the first node, where it has another name; likewise the next.
        unknown: what becomes of pairs with a node that was not trained on.
        self_loops: what becomes of a pair of a node with itself.
    """

    name: str
    source: str | None = None
    target: str | None = None
    unknown: Literal["error", "drop"] = "error"
    self_loops: Literal["error", "drop"] = "error"

    def __post_init__(self) -> None:
        check_choices(self_loops=self.self_loops)
        if self.unknown not in ("error", "drop"):
            raise ValueError(
                f"unknown must be 'error' or 'drop', got {self.unknown!r}; "
                "a node that was not trained on has no scores"
            )


def predict_pairs(run: str, pairs: PairsFile, out: str, force: bool = False) -> int:
    """Write the table of pairs with a column ``score``; how many rows."""
    shape = _checked(out, force, pairs.name)
    predictor = LinkPredictor.load(run)
    with Workspace() as workspace, readable_errors():
        source = open_source(pairs.name, workspace)
        engine = DuckEngine(workspace, size_of(source))
        try:
            given = engine.read(source, "pairs")
            rows, index = _numbers(engine, given, predictor, pairs)
            scores = predictor.predict_proba(index)
            with whole_file(out, force) as path:
                _write(engine, given, rows, scores, path, shape)
        finally:
            engine.close()
    return len(index)


def predict_top(
    run: str,
    k: int,
    nodes: list[str] | None,
    out: str,
    force: bool = False,
    inputs: tuple[str | None, ...] = (),
) -> int:
    """Write the ``k`` likeliest new partners of each node; how many rows.

    Where sources and targets are two kinds, of each source; a target that is asked for stands in
    the column of targets, its partners in that of sources.
    """
    pa = require("pyarrow", "predict", EXTRA)
    if k < 1:
        raise ValueError(f"top must be at least 1 partner per node, got {k}")
    shape = _checked(out, force, *inputs)
    predictor = LinkPredictor.load(run)
    graph = predictor.graph_
    names = _names(graph)
    side = _sides(graph)
    chosen = np.flatnonzero(side == 0)
    if nodes is not None:
        number = {str(name): i for i, name in reversed(list(enumerate(names)))}
        for each in nodes:
            if each not in number:
                raise ValueError(
                    f"--for: node {each!r} was not trained on{nearest_id(each, number)} write ids "
                    "alike; ids that hold a comma go into a file, one per line"
                )
        chosen = np.array(list(dict.fromkeys(number[each] for each in nodes)))
    best = predictor.top(k, chosen)
    turned = side[best.node] == 1
    first, second = (
        np.where(turned, best.partner, best.node),
        np.where(turned, best.node, best.partner),
    )
    source, target = ([names[i] for i in end.tolist()] for end in (first, second))
    ends = {"source": _column(source), "target": _column(target)}
    frame = pa.table(ends | {SCORE: 1 / (1 + np.exp(-best.logit))})
    with Workspace() as workspace, readable_errors():
        engine = DuckEngine(workspace)
        try:
            engine.con.con.register("best", frame)
            with whole_file(out, force) as path:
                engine.run(f"COPY best TO {text(path)} ({copy_options(shape)})")
        finally:
            engine.close()
    return len(source)


def _column(ids: list[Any]) -> Any:
    """Ids as a column; whole numbers beyond 63 bits as such."""
    pa = require("pyarrow", "predict", EXTRA)
    whole = all(isinstance(each, int) for each in ids)
    return pa.array(ids, pa.uint64() if whole and max(ids, default=0) >= 2**63 else None)


def listed_nodes(told: str | None) -> list[str] | None:
    """Ids from a file with one per line, or as typed with commas."""
    if told is None:
        return None
    if not os.path.isfile(told):
        return told.split(",")
    try:
        text = Path(told).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{told}: is not UTF-8 text; save the file in that encoding") from None
    nodes = [line for line in text.split("\n") if line]
    if not nodes:
        raise ValueError(f"{told}: names no node; write one id per line")
    return nodes


def _checked(out: str, force: bool, *inputs: str | None) -> Format:
    shape = format_of("out.csv" if out == STREAM else out)
    check_output(out, force, inputs)
    return shape


def _names(graph: Graph) -> list[Any]:
    return list(graph.names if graph.names is not None else range(graph.num_nodes))


def _sides(graph: Graph) -> np.ndarray:
    """``(n,)`` 0 for sources, 1 for targets; 0 throughout where there is one kind."""
    return np.zeros(graph.num_nodes) if graph.side is None else graph.side.numpy()


def _numbers(
    engine: DuckEngine, given: Input, predictor: LinkPredictor, pairs: PairsFile
) -> tuple[np.ndarray, np.ndarray]:
    """``(P,)`` rows that are scored, in their order, and ``(P, 2)`` their node numbers."""
    pa = require("pyarrow", "predict", EXTRA)
    graph = predictor.graph_
    for name in given.columns:
        if name.lower() == SCORE:
            raise ValueError(
                f"{given.name}: has a column {name!r} already, which predict would write; rename "
                f"it in the file, such as to 'old_{SCORE}', or leave it out"
            )
    ends = pick_ends(given, pairs.source, pairs.target)
    side = _sides(graph)
    ids = [str(name) for name in _names(graph)]
    check_header(given.name, ends, ids)
    table = pa.table({"id": ids, "number": np.arange(graph.num_nodes), "side": side})
    engine.con.con.register("known", table)
    left, right = ("", "") if graph.side is None else ("AND a.side = 0", "AND b.side = 1")
    rows = given.table
    texts = rows.select(row=rows[ROW], first=id_text(rows[ends[0]]), second=id_text(rows[ends[1]]))
    engine.run(
        f"CREATE TABLE numbered AS SELECT p.row, a.number AS a, b.number AS b, "
        f"coalesce(p.first, '') = '' OR coalesce(p.second, '') = '' AS bare "
        f"FROM ({engine.con.compile(texts)}) p LEFT JOIN known a ON p.first = a.id {left} "
        f"LEFT JOIN known b ON p.second = b.id {right}"
    )
    wrong = ["bare"]
    wrong += ["a IS NULL OR b IS NULL"] if pairs.unknown == "error" else []
    wrong += ["a = b"] if pairs.self_loops == "error" else []
    bad = engine.run(
        f"SELECT row, a, b FROM numbered WHERE {' OR '.join(wrong)} ORDER BY row LIMIT 1"
    ).fetchall()
    if bad:
        raise ValueError(_wrong(engine, given, ends, ids, *bad[0]))
    found = engine.run("SELECT row, a, b FROM numbered WHERE a <> b ORDER BY row").fetchnumpy()
    if not len(found["row"]):
        raise ValueError(f"{given.name}: has no pair to score; check the file and the options")
    return found["row"], np.stack([found["a"], found["b"]], axis=1).astype(np.int64)


def _wrong(
    engine: DuckEngine,
    given: Input,
    ends: tuple[str, str],
    ids: list[str],
    row: int,
    a: int | None,
    b: int | None,
) -> str:
    """What is wrong with a row, and what to do about it."""
    columns = ", ".join(map(quoted, ends))
    nodes = engine.run(f"SELECT {columns} FROM pairs WHERE {ROW} = {row}").fetchall()[0]
    empty = [each is None or each == "" for each in nodes]
    at = empty.index(True) if any(empty) else 0 if a is None else 1
    place, node = f"{given.name}: row {row + 1:,}, column {ends[at]!r}", nodes[at]
    if a is not None and b is not None and not any(empty):
        return (
            f"{place} joins node {node!r} with itself, and only pairs of two nodes have scores; "
            "leave such rows out with --self-loops drop"
        )
    if empty[at]:
        return f"{place} holds nothing, not an id; fill it in or leave the row out"
    if str(node) in ids:
        kind, other = ("target", "source") if at == 0 else ("source", "target")
        return (
            f"{place}: node {node!r} was trained on as a {kind}, not as a {other}; "
            f"put sources in column {ends[0]!r} and targets in column {ends[1]!r}"
        )
    return (
        f"{place}: node {node!r} was not trained on{nearest_id(node, ids)} write ids alike, "
        "or leave such rows out with --unknown drop"
    )


def _write(
    engine: DuckEngine,
    given: Input,
    rows: np.ndarray,
    scores: np.ndarray,
    path: str,
    shape: Format,
) -> None:
    pa = require("pyarrow", "predict", EXTRA)
    engine.con.con.register("scored", pa.table({"row": rows, SCORE: scores}))
    columns = ", ".join(f"g.{quoted(name)}" for name in given.columns)
    query = (
        f"SELECT {columns}, s.{SCORE} FROM pairs g JOIN scored s ON g.{ROW} = s.row ORDER BY s.row"
    )
    engine.run(f"COPY ({query}) TO {text(path)} ({copy_options(shape)})")
