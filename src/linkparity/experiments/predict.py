"""Scores for the pairs of a file, or the most likely new partners of each node."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from linkparity.graph.graph import Graph
from linkparity.graph.groups import SelfLoops, check_choice
from linkparity.graph.untidy_errors import self_loop_error
from linkparity.prediction import LinkPredictor
from linkparity.support.arrays import expit
from linkparity.support.display import counted, place
from linkparity.support.errors import InputError
from linkparity.support.files import STREAM, Workspace, check_output, whole_file
from linkparity.support.registry import LOOKED_AT, did_you_mean
from linkparity.tables.engines.base import ROW, Format, Input
from linkparity.tables.engines.duckdb import DuckEngine, quoted, size_of
from linkparity.tables.reading.columns import check_header, pick_ends
from linkparity.tables.reading.files import format_of, open_table_file, output_directory

SCORE = "score"


@dataclass(frozen=True)
class PairsFile:
    """A table of pairs, and how it is read.

    Attributes:
        name: the file, ``-`` for stdin.
        source: column of the first node of a pair, if it has another name.
        target: column of the second node of a pair, if it has another name.
        unknown: pairs with a node that was not trained on: an error, or dropped.
        self_loops: pairs of a node with itself: an error, or dropped.
        format: where the extension does not tell, ``csv``, ``tsv`` or ``parquet``.
        separator: character between the columns of a text file.
    """

    name: str
    source: str | None = None
    target: str | None = None
    unknown: Literal["error", "drop"] = "error"
    self_loops: SelfLoops = "error"
    format: str | None = None
    separator: str | None = None

    def __post_init__(self) -> None:
        check_choice("unknown", self.unknown, choices=("error", "drop"))
        check_choice("self_loops", self.self_loops)


def predict_pairs(
    run: str,
    pairs: PairsFile,
    out: str,
    force: bool = False,
    on_stage: Callable[[str], object] = lambda stage: None,
) -> int:
    """Write the table of pairs with a column ``score``; return the number of rows.

    ``on_stage`` is called with a few words when each stage of the work begins.
    """
    shape = _output_format(out, force, pairs.name, run)
    predictor = LinkPredictor.load(run)
    on_stage(f"reading {pairs.name}")
    with Workspace() as workspace:
        file = open_table_file(pairs.name, workspace, pairs.format, pairs.separator)
        with DuckEngine(workspace, size_of(file)) as engine:
            given = engine.read(file, "pairs")
            engine.lock(workspace.path, *output_directory(out))
            rows, index = _numbered_pairs(engine, given, predictor.graph_, pairs)
            on_stage(f"scoring {counted(len(index), 'pair')}")
            scores = predictor.predict_proba(index)
            on_stage(f"writing {out}")
            with whole_file(out, force, workspace.path) as path:
                _write(engine, given, rows, scores, path, shape)
    return len(index)


def predict_top(
    run: str,
    k: int,
    nodes: str | None,
    out: str,
    force: bool = False,
    on_stage: Callable[[str], object] = lambda stage: None,
) -> int:
    """Write the ``k`` most likely new partners of each node; return the number of rows.

    ``nodes`` holds ids with commas between them, or is a file with one id per line; None is all
    nodes, in a bipartite graph all sources. A target in ``nodes`` is written in the column of
    targets, and its partners in the column of sources. ``on_stage`` is called with a few words when
    each stage of the work begins.
    """
    import pyarrow as pa

    if k < 1:
        raise InputError(f"must be at least 1 partner per node, got {k}", argument="top")
    wanted = None if nodes is None else _listed_nodes(nodes)
    shape = _output_format(out, force, run, nodes)
    predictor = LinkPredictor.load(run)
    names, side = _names(predictor.graph_), _sides(predictor.graph_)
    chosen = np.flatnonzero(side == 0) if wanted is None else _numbers_of(wanted, names)
    total = len(chosen)
    best = predictor.top(
        k, chosen, lambda done: on_stage(f"ranking: {done:,} of {total:,} nodes done")
    )
    on_stage(f"writing {out}")
    turned = side[best.node] == 1
    first = np.where(turned, best.partner, best.node)
    second = np.where(turned, best.node, best.partner)
    ends = [id_column([names[i] for i in end.tolist()]) for end in (first, second)]
    scores = expit(best.logit)
    with Workspace() as workspace, DuckEngine(workspace) as engine:
        best_pairs = pa.table({"source": ends[0], "target": ends[1], SCORE: scores})
        engine.duck.register("best", best_pairs)
        with whole_file(out, force) as path:
            engine.copy("SELECT * FROM best", path, shape)
    return len(scores)


def _output_format(out: str, force: bool, *inputs: str | None) -> Format:
    shape = format_of("out.csv" if out == STREAM else out)
    check_output(out, force, inputs)
    return shape


def _listed_nodes(given: str) -> list[str]:
    """Ids from a file with one per line, or with commas between them."""
    if not os.path.isfile(given):
        return given.split(",")
    try:
        content = Path(given).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        fix = "save the file in that encoding"
        raise InputError("is not UTF-8 text", fix, where=given) from None
    nodes = [line for line in content.split("\n") if line]
    if not nodes:
        raise InputError("names no node", "write one id per line", where=given)
    return nodes


def _numbers_of(wanted: list[str], names: list[Any]) -> np.ndarray:
    """The number of each id, once."""
    number = {str(name): i for i, name in reversed(list(enumerate(names)))}
    for each in wanted:
        if each not in number:
            hint = did_you_mean(each, islice(number, LOOKED_AT))
            fix = f"{hint}write ids alike; ids with a comma go into a file, one per line"
            raise InputError(f"node {each!r} was not trained on", fix, where="--for")
    return np.array(list(dict.fromkeys(number[each] for each in wanted)))


def _names(graph: Graph) -> list[Any]:
    return list(graph.names if graph.names is not None else range(graph.num_nodes))


def _sides(graph: Graph) -> np.ndarray:
    """``(n,)`` 0 for sources, 1 for targets; all 0 where there is one kind of nodes."""
    return np.zeros(graph.num_nodes) if graph.side is None else graph.side.numpy()


def id_column(ids: list[Any]) -> Any:
    """Ids as an Arrow column; whole numbers beyond 63 bits keep their type."""
    import pyarrow as pa

    whole = all(isinstance(each, int) for each in ids)
    return pa.array(ids, pa.uint64() if whole and max(ids, default=0) >= 2**63 else None)


def _numbered_pairs(
    engine: DuckEngine, given: Input, graph: Graph, pairs: PairsFile
) -> tuple[np.ndarray, np.ndarray]:
    """``(P,)`` rows to score, in order, and ``(P, 2)`` the numbers of their nodes."""
    import pyarrow as pa

    from linkparity.tables.reading.nodes import id_text

    for name in given.columns:
        if name.lower() == SCORE:
            raise InputError(
                f"has a column {name!r} already, which predict would write",
                f"rename it in the file, such as to 'old_{SCORE}', or leave it out",
                where=given.name,
            )
    ends = pick_ends(given, pairs.source, pairs.target)
    ids = [str(name) for name in _names(graph)]
    check_header(given.name, ends, ids)
    known = {"id": ids, "number": np.arange(graph.num_nodes), "side": _sides(graph)}
    engine.duck.register("known", pa.table(known))
    left, right = ("", "") if graph.side is None else ("AND a.side = 0", "AND b.side = 1")
    rows = given.table
    texts = rows.select(row=rows[ROW], first=id_text(rows[ends[0]]), second=id_text(rows[ends[1]]))
    engine.run(
        f"CREATE TABLE numbered AS SELECT p.row, a.number AS a, b.number AS b, "
        f"coalesce(p.first, '') = '' OR coalesce(p.second, '') = '' AS empty "
        f"FROM ({engine.con.compile(texts)}) p LEFT JOIN known a ON p.first = a.id {left} "
        f"LEFT JOIN known b ON p.second = b.id {right}"
    )
    refused = ["empty"]
    refused += ["a IS NULL OR b IS NULL"] if pairs.unknown == "error" else []
    refused += ["a = b"] if pairs.self_loops == "error" else []
    bad = engine.run(
        f"SELECT row, a, b FROM numbered WHERE {' OR '.join(refused)} ORDER BY row LIMIT 1"
    ).fetchall()
    if bad:
        raise _row_error(engine, given, ends, ids, *bad[0])
    found = engine.run("SELECT row, a, b FROM numbered WHERE a <> b ORDER BY row").fetchnumpy()
    if not len(found["row"]):
        raise InputError("has no pair to score", "check the file and the options", where=given.name)
    return found["row"], np.stack([found["a"], found["b"]], axis=1).astype(np.int64)


def _row_error(
    engine: DuckEngine,
    given: Input,
    ends: tuple[str, str],
    ids: list[str],
    row: int,
    a: int | None,
    b: int | None,
) -> InputError:
    """What is wrong with a row, and what would help."""
    columns = ", ".join(map(quoted, ends))
    found = engine.run(f"SELECT {columns} FROM pairs WHERE {ROW} = {row}").fetch_arrow_table()
    nodes = [column[0].as_py() for column in found.columns]
    empty = [each is None or each == "" for each in nodes]
    end = empty.index(True) if any(empty) else 0 if a is None else 1
    where, node = place(given.name, row + 1, ends[end]), nodes[end]
    if empty[end]:
        return InputError("the id is missing", "fill it in or leave the row out", where=where)
    if a is not None and b is not None:
        return self_loop_error(where, node)
    if str(node) in ids:
        kind, other = ("target", "source") if end == 0 else ("source", "target")
        return InputError(
            f"node {node!r} was trained on as a {kind}, not as a {other}",
            f"put sources in column {ends[0]!r} and targets in column {ends[1]!r}",
            where=where,
        )
    hint = did_you_mean(str(node), ids[:LOOKED_AT])
    fix = f"{hint}write ids alike, or leave such rows out with {{unknown=drop}}"
    return InputError(f"node {node!r} was not trained on", fix, where=where)


def _write(
    engine: DuckEngine,
    given: Input,
    rows: np.ndarray,
    scores: np.ndarray,
    path: str,
    shape: Format,
) -> None:
    import pyarrow as pa

    engine.duck.register("scored", pa.table({"row": rows, SCORE: scores}))
    columns = ", ".join(f"g.{quoted(name)}" for name in given.columns)
    query = (
        f"SELECT {columns}, s.{SCORE} FROM pairs g JOIN scored s ON g.{ROW} = s.row ORDER BY s.row"
    )
    engine.copy(query, path, shape)
