"""Score tables in memory or in a database: into an engine, and back as the kind they came as."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import ibis
import narwhals as nw
import pyarrow as pa
from ibis.util import gen_name

from linkparity.graph.groups import missing
from linkparity.support.files import Workspace
from linkparity.tables.engines import ENGINES
from linkparity.tables.engines.base import ROW, Engine, Input, check_columns
from linkparity.tables.engines.duckdb import DuckEngine
from linkparity.tables.reading.columns import ReadOptions, pick_columns
from linkparity.tables.reading.row_checks import check_rows, read_other
from linkparity.tables.reading.score_table import ScoreTable, classify

#: Row number of the new columns, beside that of the caller's table.
NEW_ROW = "_lp_fair_row"
#: What the method asks of an Ibis backend; tables of others are read into DuckDB.
NEEDED = ("Hash", "IsNan", "RowNumber", "TryCast", "WindowFunction")
#: Size of a table that may not fit into memory.
LARGE = 1 << 40


@dataclass(frozen=True)
class Frame:
    """A table of the caller, evaluated once.

    Attributes:
        name: for messages.
        given: as it was passed.
        table: an eager narwhals frame, or an Ibis table.
    """

    name: str
    given: Any
    table: Any

    @classmethod
    def of(cls, given: Any, name: str) -> "Frame":
        """Any table that narwhals or Ibis knows; a lazy one is evaluated here, once."""
        if type(given).__module__.split(".")[0] == "ibis":
            check_columns(name, given.columns)
            return cls(name, given, given)
        try:
            frame = nw.from_native(given)
        except nw.exceptions.DuplicateError:
            check_columns(name, [str(column) for column in given.columns])
            raise
        except TypeError:
            raise TypeError(
                f"{name} must be a table such as a pandas or polars DataFrame, "
                f"got {type(given).__name__}"
            ) from None
        if frame.implementation.is_spark_like():
            raise TypeError(
                f"{name} is a Spark frame, which would be fetched whole; pass it as an Ibis table, "
                "ibis.pyspark.connect(session).table(name)"
            )
        check_columns(name, [str(column) for column in frame.columns])
        return cls(name, given, frame.collect() if isinstance(frame, nw.LazyFrame) else frame)

    @property
    def backend(self) -> Any:
        """The Ibis backend that it is in; None for a frame in memory."""
        return self.table.get_backend() if self.table is self.given else None

    @property
    def header(self) -> Input:
        """Its columns' names, without its rows."""
        return Input(self.name, None, names=tuple(map(str, self.table.columns)))

    def put_into(self, engine: Engine, used: set[str], number: bool) -> Input:
        """The table in an engine; an Ibis table has no order, unless rows are to be numbered."""
        columns = [column for column in self.table.columns if column in used]
        if self.backend is None:
            rows = engine.take(_arrow(self.table.select(*columns)), self.name)
            return Input(self.name, rows, names=self.header.names)
        if self.backend is not engine.con:
            rows = self.table if number else self.table.select(*columns)
            return Input(self.name, engine.take(rows.to_pyarrow_batches(), self.name))
        if not number:
            return Input(self.name, self.table, ordered=False)
        rows = engine.keep(self.table.mutate(**{ROW: ibis.row_number()}), "numbered")
        return Input(self.name, rows)


@dataclass(frozen=True)
class FrameTables:
    """A score table and its table of nodes: pandas, polars, Arrow, or any Ibis table.

    Attributes:
        scores: the score table.
        nodes: the table of nodes; None when the score table has the groups.
        options: which column holds what, and what happens to untidy rows.
        numbered: whether rows are numbered, so that new columns can be put beside them.
        compare: another score table of the same pairs.
    """

    scores: Frame
    nodes: Frame | None
    options: ReadOptions
    numbered: bool = False
    compare: Frame | None = None
    #: No files are read or written.
    inputs: ClassVar[tuple[str | None, ...]] = ()
    outputs: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(
        cls,
        scores: Any,
        nodes: Any,
        options: ReadOptions,
        numbered: bool = False,
        compare: Any = None,
    ) -> "FrameTables":
        """From whatever the caller passed."""
        known = None if nodes is None else Frame.of(nodes, "nodes")
        other = None if compare is None else Frame.of(compare, "compare")
        return cls(Frame.of(scores, "scores"), known, options, numbered, other)

    @contextmanager
    def open(self, several: bool = True, unlabelled: bool = False) -> Iterator[ScoreTable]:
        """The checked table, in an engine that is open as long as the block lasts."""
        options = replace(self.options, unlabelled=unlabelled)
        header = None if self.nodes is None else self.nodes.header
        columns = pick_columns(self.scores.header, header, options)
        numbered = self.numbered or options.untidy.duplicates == "first"
        size = getattr(self.scores.given, "nbytes", 0)
        with Workspace() as workspace, engine_of(self.scores.backend, workspace, size) as engine:
            scores, nodes = self.scores.put_into(engine, columns.used, numbered), None
            if self.nodes is not None:
                used = {str(columns.node), *options.sensitive}
                nodes = self.nodes.put_into(engine, used, number=False)
            table = check_rows(classify(engine, scores, nodes, columns, options), several)
            if self.compare is not None:
                used = set(self.compare.header.columns)
                other = self.compare.put_into(engine, used, numbered)
                table = read_other(table, other, nodes, options)
            yield table

    def deliver(self, table: ScoreTable, fair: Any, names: list[str], paths: list[str]) -> Any:
        """The caller's own table and the new columns, without the rows that were dropped."""
        if self.scores.backend is not None:
            return self._as_ibis(table, fair)
        found = fair.order_by("row").to_pyarrow()
        frame = self.scores.table
        if table.dropped:
            frame = frame[found.column("row").to_numpy().tolist()]
        own = nw.get_native_namespace(frame)
        series = [
            nw.new_series(name, found.column(name).to_numpy(), nw.Float64, backend=own)
            for name in names
        ]
        frame = frame.with_columns(*series)
        given = nw.from_native(self.scores.given)
        lazy = isinstance(given, nw.LazyFrame)
        return (frame.lazy(backend=given.implementation) if lazy else frame).to_native()

    def _as_ibis(self, table: ScoreTable, fair: Any) -> Any:
        given, fair = table.given.table, fair.rename({NEW_ROW: "row"})
        joined = given.inner_join(fair, given[ROW] == fair[NEW_ROW])
        if self.scores.backend is table.engine.con:
            return table.engine.keep(joined.drop(ROW, NEW_ROW), "fair")
        rows = joined.order_by(ROW).drop(ROW, NEW_ROW).to_pyarrow()
        return self.scores.backend.create_table(gen_name("fair"), rows)


def _arrow(frame: Any) -> Any:
    """A frame as an Arrow table; values of several types in one column become text."""
    try:
        table = frame.to_arrow()
    except (pa.ArrowException, TypeError):
        table = pa.table({name: _column(frame.get_column(name)) for name in frame.columns})
    for place, field in enumerate(table.schema):
        if pa.types.is_float16(field.type):  # which DuckDB does not take
            table = table.set_column(place, field.name, table.column(place).cast(pa.float32()))
        if pa.types.is_duration(field.type):  # which DuckDB does not give back
            table = table.set_column(place, field.name, _text(frame.get_column(field.name)))
    return table


def _column(series: Any) -> Any:
    native = series.to_native()
    if hasattr(native, "sparse"):  # of pandas, which Arrow does not take
        return pa.array(native.sparse.to_dense())
    try:
        return series.to_arrow()
    except (pa.ArrowException, TypeError):
        return _text(series)


def _text(series: Any) -> Any:
    values = [None if missing(value) else str(value) for value in series.to_list()]
    return pa.array(values, pa.string())


def engine_of(con: Any, workspace: Workspace, size: int = 0) -> Engine:
    """The engine for a table in the Ibis backend ``con``, or in memory where that is None."""
    from ibis.expr import operations

    if con is None:
        return DuckEngine(workspace, size)
    if not all(con.has_operation(getattr(operations, name)) for name in NEEDED):
        return DuckEngine(workspace, LARGE)
    kinds = (engine for engine in ENGINES.values() if engine.backend == con.name)
    return next(kinds, Engine).attach(con, workspace)
