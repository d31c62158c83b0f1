"""Tables in memory: into an engine, and back as the kind they came as."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from linkparity.graph.groups import missing
from linkparity.support.optional import require
from linkparity.support.workspace import Workspace
from linkparity.tables.engines.base import EXTRA, ROW, Engine, Input
from linkparity.tables.engines.duckdb import DuckEngine
from linkparity.tables.reading.columns import Reading, pick_columns, pick_node_column
from linkparity.tables.reading.files import check_columns
from linkparity.tables.reading.row_checks import tidied
from linkparity.tables.reading.score_table import ScoreTable, classify

#: What the expressions ask of an Ibis backend beyond the usual; others are read into DuckDB.
NEEDED = ("Hash", "IsNan", "RowNumber", "TryCast", "WindowFunction")


@dataclass(frozen=True)
class Frame:
    """A table in memory, worked out once.

    Attributes:
        given: as it came.
        table: an eager narwhals frame, or an Ibis table.
    """

    given: Any
    table: Any

    @property
    def backend(self) -> Any:
        """The Ibis backend it lies in; None for a frame."""
        return self.table.get_backend() if _is_ibis(self.table) else None

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns' names; a number that stands for one is no name that is asked for."""
        return tuple(map(str, self.table.columns))


def eager(table: Any, name: str) -> Frame:
    """Any table that narwhals or Ibis knows; a lazy one is worked out here, once."""
    if isinstance(table, Frame):
        return table
    if _is_ibis(table):
        check_columns(name, table.columns)
        return Frame(table, table)
    nw = require("narwhals", name, EXTRA)
    try:
        frame = nw.from_native(table)
    except TypeError:
        raise TypeError(
            f"{name} must be a table such as a pandas or polars DataFrame, "
            f"got {type(table).__name__}"
        ) from None
    if frame.implementation.is_spark_like():
        raise TypeError(
            f"{name} is a Spark frame, which would be fetched whole; pass it as an Ibis table, "
            "ibis.pyspark.connect(session).table(name)"
        )
    check_columns(name, [str(column) for column in frame.columns])
    return Frame(table, frame.collect() if isinstance(frame, nw.LazyFrame) else frame)


@contextmanager
def opened_frames(
    scores: Any, nodes: Any, reading: Reading, number: bool = False, several: bool = True
) -> Iterator[ScoreTable]:
    """The classified table of frames; with ``number``, one whose rows can be told apart."""
    table = eager(scores, "scores")
    people = None if nodes is None else eager(nodes, "nodes")
    wanted, described = _used(table, people, reading)
    with Workspace() as workspace:
        engine = _engine(table, workspace)
        try:
            number = number or reading.duplicates == "first"
            given = _input(engine, table, "scores", wanted, number)
            known = None if people is None else _input(engine, people, "nodes", described, False)
            yield tidied(classify(engine, given, known, reading), several)
        finally:
            engine.close()


def _used(scores: Frame, nodes: Frame | None, reading: Reading) -> tuple[set[str], set[str]]:
    """The columns of both tables that are read: others may hold anything."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        header = Input("scores", SimpleNamespace(columns=scores.columns))
        wanted = pick_columns(header, reading, nodes is not None).used
    if nodes is None:
        return wanted, set()
    header = Input("nodes", SimpleNamespace(columns=nodes.columns))
    return wanted, {pick_node_column(header, reading.sensitive, reading.node), *reading.sensitive}


def _is_ibis(table: Any) -> bool:
    return type(table).__module__.split(".")[0] == "ibis"


def _engine(scores: Frame, workspace: Workspace) -> Engine:
    con = scores.backend
    if con is None:
        return DuckEngine(workspace, getattr(scores.given, "nbytes", 0))
    if not _is_able(con):
        return DuckEngine(workspace, 1 << 40)
    if con.name == "pyspark":
        from linkparity.tables.engines.spark import SparkEngine

        return SparkEngine(workspace, con=con)
    return Engine(con)


def _is_able(con: Any) -> bool:
    operations = require("ibis.expr.operations", "scores", EXTRA)
    return all(con.has_operation(getattr(operations, name)) for name in NEEDED)


def _input(engine: Engine, frame: Frame, name: str, used: set[str], number: bool) -> Input:
    """The table as the engine sees it; an Ibis table has no order, unless one is made up."""
    ibis = require("ibis", name, EXTRA)
    con, order = frame.backend, [column for column in frame.table.columns if column in used]
    if con is None:
        rows = engine.take(_arrow(frame.table.select(*order)), name)
        return Input(name, rows, names=frame.columns)
    if con is engine.con:
        if number:
            numbered = frame.table.mutate(**{ROW: ibis.row_number()})
            return Input(name, engine.keep(numbered, "numbered"))
        return Input(name, frame.table, ordered=False)
    if isinstance(engine, DuckEngine):
        return Input(name, engine.stream(frame.table.to_pyarrow_batches(), name))
    return Input(name, engine.take(frame.table.select(*order).to_pyarrow(), name))


def _arrow(frame: Any) -> Any:
    """A frame as an Arrow table; values of several types in one column become text."""
    pa = require("pyarrow", "audit and project", EXTRA)
    try:
        return frame.to_arrow()
    except pa.ArrowException:
        return pa.table({name: _column(frame.get_column(name)) for name in frame.columns})


def _column(series: Any) -> Any:
    pa = require("pyarrow", "audit and project", EXTRA)
    try:
        return series.to_arrow()
    except pa.ArrowException:
        told = [None if missing(value) else str(value) for value in series.to_list()]
        return pa.array(told, pa.string())


def returned_frame(scores: Frame, table: ScoreTable, fair: Any, names: list[str]) -> Any:
    """The caller's own table and the new columns, rows left out where they were dropped."""
    if scores.backend is not None:
        return _returned_ibis(scores, table, fair)
    nw = require("narwhals", "project", EXTRA)
    found = fair.order_by("row").to_pyarrow()
    frame = scores.table
    if table.dropped:
        frame = frame[found.column("row").to_numpy().tolist()]
    own = nw.get_native_namespace(frame)
    series = [
        nw.new_series(name, found.column(name).to_numpy(), nw.Float64, backend=own)
        for name in names
    ]
    frame = frame.with_columns(*series)
    given = nw.from_native(scores.given)
    lazy = isinstance(given, nw.LazyFrame)
    return (frame.lazy(backend=given.implementation) if lazy else frame).to_native()


def _returned_ibis(scores: Frame, table: ScoreTable, fair: Any) -> Any:
    given, fair = table.given.table, fair.rename(_lp_fair_row="row")
    joined = given.inner_join(fair, given[ROW] == fair["_lp_fair_row"])
    if scores.backend is table.engine.con:
        return table.engine.keep(joined.drop(ROW, "_lp_fair_row"), "fair")
    rows = joined.order_by(ROW).drop(ROW, "_lp_fair_row").to_pyarrow()
    name = require("ibis", "project", EXTRA).util.gen_name("fair")
    return scores.backend.create_table(name, rows)
