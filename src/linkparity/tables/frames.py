"""Tables in memory: into an engine, and back as the kind they came as."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from linkparity.optional import require
from linkparity.tables.columns import Reading
from linkparity.tables.duck import DuckEngine
from linkparity.tables.engine import EXTRA, ROW, Engine, Input
from linkparity.tables.scores import ScoreTable, classify
from linkparity.tables.tidy import tidied
from linkparity.tables.workspace import Workspace


@contextmanager
def opened_frames(
    scores: Any, nodes: Any, reading: Reading, number: bool = False
) -> Iterator[ScoreTable]:
    """The classified table of frames; with ``number``, one whose rows can be told apart."""
    with Workspace() as workspace:
        engine = _engine(scores, workspace)
        try:
            given = _input(engine, scores, "scores", number)
            known = None if nodes is None else _input(engine, nodes, "nodes", False)
            yield tidied(classify(engine, given, known, reading))
        finally:
            engine.close()


def _is_ibis(table: Any) -> bool:
    return type(table).__module__.split(".")[0] == "ibis"


def _engine(scores: Any, workspace: Workspace) -> Engine:
    if _is_ibis(scores):
        return engine_of(scores.get_backend(), workspace)
    return DuckEngine(workspace, getattr(scores, "nbytes", 0))


def engine_of(con: Any, workspace: Workspace) -> Engine:
    """The engine for an Ibis backend that somebody else opened."""
    if con.name == "pyspark":
        from linkparity.tables.spark import SparkEngine

        return SparkEngine(workspace, con=con)
    return Engine(con)


def _input(engine: Engine, table: Any, name: str, number: bool) -> Input:
    """The table as the engine sees it; an Ibis table has no order, unless one is made up."""
    if _is_ibis(table):
        ibis = require("ibis", name, EXTRA)
        if number:
            numbered = table.mutate(**{ROW: ibis.row_number()})
            return Input(name, engine.keep(numbered, "numbered"))
        return Input(name, table, ordered=False)
    return engine.take(_arrow(table, name), name)


def _arrow(table: Any, name: str) -> Any:
    nw = require("narwhals", name, EXTRA)
    try:
        frame = nw.from_native(table)
    except TypeError:
        raise TypeError(
            f"{name} must be a table such as a pandas or polars DataFrame, "
            f"got {type(table).__name__}"
        ) from None
    return (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).to_arrow()


def returned_frame(scores: Any, table: ScoreTable, fair: Any, names: list[str]) -> Any:
    """The caller's own table and the new columns, rows left out where they were dropped."""
    if _is_ibis(scores):
        given, fair = table.given.table, fair.rename(_lp_fair_row="row")
        joined = given.inner_join(fair, given[ROW] == fair["_lp_fair_row"])
        return table.engine.keep(joined.drop(ROW, "_lp_fair_row"), "fair")
    nw = require("narwhals", "project", EXTRA)
    found = fair.order_by("row").to_pyarrow()
    given = nw.from_native(scores)
    lazy = isinstance(given, nw.LazyFrame)
    frame = given.collect() if lazy else given
    if table.dropped:
        frame = frame[found.column("row").to_numpy().tolist()]
    own = nw.get_native_namespace(frame)
    series = [
        nw.new_series(name, found.column(name).to_numpy(), nw.Float64, backend=own)
        for name in names
    ]
    frame = frame.with_columns(*series)
    return (frame.lazy(backend=given.implementation) if lazy else frame).to_native()
