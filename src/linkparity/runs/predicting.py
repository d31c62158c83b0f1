"""Scores for pairs in a file, or the likeliest new partners of each node."""

from pathlib import Path
from typing import Any

import numpy as np

from linkparity.optional import require
from linkparity.prediction import LinkPredictor
from linkparity.registry import nearest
from linkparity.tables.duck import DuckEngine, copy_options, quoted, readable_errors, text
from linkparity.tables.engine import EXTRA, ROW, Input
from linkparity.tables.files import STREAM, Format, format_of, open_source
from linkparity.tables.workspace import Workspace
from linkparity.tables.writing import check_output, whole_file

SCORE = "score"


def load_run(path: str) -> LinkPredictor:
    """A run directory, or a sentence about what it is not."""
    try:
        return LinkPredictor.load(path)
    except FileNotFoundError as error:
        raise ValueError(f"{error}; make one with linkparity train --out") from None


def predict_pairs(run: str, pairs: str, out: str, force: bool = False) -> int:
    """Write the table of pairs with a column ``score``; how many rows."""
    shape = _checked(out, force)
    predictor = load_run(run)
    with Workspace() as workspace, readable_errors():
        source = open_source(pairs, workspace)
        engine = DuckEngine(workspace, source.path.stat().st_size)
        try:
            given = engine.read(source, "pairs")
            index = _numbers(engine, given, predictor)
            scores = predictor.predict_proba(index)
            with whole_file(out, force) as path:
                _write(engine, given, scores, path, shape)
        finally:
            engine.close()
    return len(index)


def predict_top(run: str, k: int, nodes: list[str] | None, out: str, force: bool = False) -> int:
    """Write the ``k`` likeliest new partners of each node; how many rows."""
    pa = require("pyarrow", "predict", EXTRA)
    shape = _checked(out, force)
    predictor = load_run(run)
    graph = predictor.graph_
    names: list[Any] = list(graph.names if graph.names is not None else range(graph.num_nodes))
    chosen = None
    if nodes is not None:
        number = {str(name): i for i, name in reversed(list(enumerate(names)))}
        for each in nodes:
            if each not in number:
                hint = nearest(each, list(number))
                raise ValueError(f"--for: node {each!r} was not trained on{hint} write ids alike")
        chosen = np.array([number[each] for each in nodes])
    best = predictor.top(k, chosen)
    source = [names[i] for i in best.node.tolist()]
    target = [names[i] for i in best.partner.tolist()]
    frame = pa.table({"source": source, "target": target, SCORE: 1 / (1 + np.exp(-best.logit))})
    with Workspace() as workspace, readable_errors():
        engine = DuckEngine(workspace)
        try:
            engine.con.con.register("best", frame)
            with whole_file(out, force) as path:
                engine.run(f"COPY best TO {text(path)} ({copy_options(shape)})")
        finally:
            engine.close()
    return len(source)


def listed_nodes(told: str | None) -> list[str] | None:
    """Ids from a file with one per line, or as typed with commas."""
    if told is None:
        return None
    path = Path(told)
    if path.is_file():
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line]
    return told.split(",")


def _checked(out: str, force: bool) -> Format:
    shape = format_of("out.csv" if out == STREAM else out)
    check_output(out, force)
    return shape


def _numbers(engine: DuckEngine, given: Input, predictor: LinkPredictor) -> np.ndarray:
    """``(P, 2)`` node numbers of the pairs, in the order of the rows."""
    pa = require("pyarrow", "predict", EXTRA)
    graph = predictor.graph_
    usual = {"source", "target"} <= set(given.columns)
    if len(given.columns) < 2:
        raise ValueError(f"{given.name}: needs columns source and target")
    if SCORE in given.columns:
        raise ValueError(f"{given.name}: has a column {SCORE!r} already; rename it or leave it out")
    first, second = ("source", "target") if usual else given.columns[:2]
    names = graph.names if graph.names is not None else range(graph.num_nodes)
    side = np.zeros(graph.num_nodes) if graph.side is None else graph.side.numpy()
    ids = [str(name) for name in names]
    table = pa.table({"id": ids, "number": np.arange(graph.num_nodes), "side": side})
    engine.con.con.register("known", table)
    right = "" if graph.side is None else "AND b.side = 1"
    left = "" if graph.side is None else "AND a.side = 0"
    engine.run(
        f"CREATE TABLE numbered AS SELECT p.{ROW} AS row, a.number AS a, b.number AS b "
        "FROM pairs p "
        f"LEFT JOIN known a ON CAST(p.{quoted(first)} AS VARCHAR) = a.id {left} "
        f"LEFT JOIN known b ON CAST(p.{quoted(second)} AS VARCHAR) = b.id {right}"
    )
    wrong = engine.run(
        "SELECT row, a IS NULL FROM numbered WHERE a IS NULL OR b IS NULL OR a = b "
        "ORDER BY row LIMIT 1"
    ).fetchall()
    if wrong:
        row, at_source = wrong[0]
        column = first if at_source else second
        cell = engine.run(f"SELECT {quoted(column)} FROM pairs WHERE {ROW} = {row}").fetchall()[0][
            0
        ]
        raise ValueError(
            f"{given.name}: row {row + 1:,}, column {column!r}: node {cell!r} was not trained on, "
            "or stands on both ends; predict pairs of two nodes of the training graph"
        )
    found = engine.run("SELECT a, b FROM numbered ORDER BY row").fetchnumpy()
    return np.stack([found["a"], found["b"]], axis=1).astype(np.int64)


def _write(engine: DuckEngine, given: Input, scores: np.ndarray, path: str, shape: Format) -> None:
    pa = require("pyarrow", "predict", EXTRA)
    engine.con.con.register("scored", pa.table({SCORE: scores}))
    columns = ", ".join(f"g.{quoted(name)}" for name in given.columns)
    query = f"SELECT {columns}, s.{SCORE} FROM pairs g POSITIONAL JOIN scored s"
    engine.run(f"COPY ({query}) TO {text(path)} ({copy_options(shape)})")
