"""Tables in memory and streams of Arrow batches: into Arrow, and back as the kind they came as."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkparity.reading.duckdb import ROW, Duck, Input, arrow_array, check_columns, quoted
from linkparity.reading.groups import missing
from linkparity.support.errors import require

if TYPE_CHECKING:
    from linkparity.reading.pair_table import PairTable

#: Size of a stream, of which nothing is known.
LARGE = 1 << 40


@dataclass(eq=False)
class Frame:
    """A table of the caller.

    Attributes:
        name: for messages.
        given: as it was passed.
        columns: names of its columns.
        frame: an eager narwhals frame; None for a stream of Arrow batches.
        stream: the stream, once it is open; it may be read once.
    """

    name: str
    given: Any
    columns: tuple[str, ...]
    frame: Any = None
    stream: Any = None

    @classmethod
    def of(cls, given: Any, name: str, caller: str = "linkparity") -> "Frame":
        """Any table in memory, or anything that gives a stream of Arrow batches."""
        nw = require("narwhals", caller, "linkparity")
        try:
            frame = nw.from_native(given)
        except nw.exceptions.DuplicateError:
            check_columns(name, [str(column) for column in given.columns])
            raise
        except TypeError:
            stream = _open_stream(given, name)
            found = cls(name, given, tuple(stream.schema.names), stream=stream)
        else:
            lazy = isinstance(frame, nw.LazyFrame)
            columns = tuple(map(str, frame.collect_schema().names()))
            found = cls(name, given, columns)
            # Two tables of one connection may not be open at once, so that a stream waits.
            if not lazy or frame.implementation.is_polars() or not _is_stream(given):
                found.frame = frame.collect() if lazy else frame
        check_columns(name, found.columns)
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of the table; of a stream, many."""
        return LARGE if self.frame is None else int(getattr(self.given, "nbytes", 0) or 0)

    @property
    def header(self) -> Input:
        """Its columns' names, without its rows."""
        return Input(self.name, "", self.columns, {})

    def put_into(self, duck: Duck, view: str, used: set[str]) -> Input:
        """The columns that are used as a table in DuckDB; all of a stream, which is read once."""
        if self.frame is None:
            self.stream = self.stream or _open_stream(self.given, self.name)
            return duck.register(_readable(self.stream), view, self.header)
        columns = [name for name in self.frame.columns if str(name) in used]
        return duck.register(arrow_table(self.frame[:, columns]), view, self.header)

    def values(self, column: str, rows: np.ndarray, duck: Duck, table: Input) -> list[Any]:
        """A column in some rows, which ascend, as Python values of the caller's own kind."""
        if self.frame is None:
            return duck.values(table, quoted(column), rows)
        name = self.frame.columns[self.columns.index(column)]
        values: list[Any] = self.frame.get_column(name)[rows.tolist()].to_list()
        return values

    def with_columns(
        self, new: Mapping[str, np.ndarray], rows: np.ndarray | None, table: "PairTable"
    ) -> Any:
        """The table with new columns for the rows that count, as the kind that it came as."""
        import narwhals as nw

        if self.frame is None or not _comes_back(nw.from_native(self.given)):
            return self._with_arrow_columns(new, rows, table)
        frame = self.frame if rows is None else self.frame[rows.tolist()]
        own = nw.get_native_namespace(frame)
        series = [
            nw.new_series(name, values, nw.Float64, backend=own) for name, values in new.items()
        ]
        frame = frame.with_columns(*series)
        lazy = isinstance(nw.from_native(self.given), nw.LazyFrame)
        return (frame.lazy() if lazy else frame).to_native()

    def _with_arrow_columns(
        self, new: Mapping[str, np.ndarray], rows: np.ndarray | None, table: "PairTable"
    ) -> Any:
        if self.frame is not None:
            found = self.frame.to_arrow().select(list(self.columns))
        else:
            found = table.duck.arrow(f"SELECT * FROM {table.given.view} ORDER BY {ROW}").drop([ROW])
            found = _as_it_came(found, self.stream.schema)
        if rows is not None:
            found = found.take(arrow_array(rows))
        for name, values in new.items():
            found = found.append_column(name, arrow_array(np.asarray(values, dtype=np.float64)))
        return found


def _comes_back(given: Any) -> bool:
    """Whether the result is of the caller's own kind; otherwise it is an Arrow table."""
    return bool(given.implementation.is_pandas_like() or given.implementation.is_polars())


def _as_it_came(table: Any, schema: Any) -> Any:
    """A table that went through DuckDB with the types it had before, where they can be made."""
    import pyarrow as pa

    for place, field in enumerate(schema):
        with suppress(pa.ArrowException):
            table = table.set_column(place, field, table.column(place).cast(field.type))
    return table


def _is_stream(given: Any) -> bool:
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "to_pyarrow_batches")


def _open_stream(given: Any, name: str) -> Any:
    """The Arrow batches of a table."""
    import pyarrow as pa

    if not _is_stream(given):
        raise TypeError(
            f"{name} must be a table such as a pandas or polars DataFrame, or anything with "
            f"__arrow_c_stream__, got {type(given).__name__}"
        )
    if hasattr(given, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(given)
    return given.to_pyarrow_batches()


def _readable(stream: Any) -> Any:
    """A stream without the types that DuckDB does not take, as it is elsewhere."""
    import pyarrow as pa

    schema = readable_schema(stream.schema)
    if schema == stream.schema:
        return stream
    tables = (pa.Table.from_batches([batch]).cast(schema) for batch in stream)
    return pa.RecordBatchReader.from_batches(
        schema, (batch for table in tables for batch in table.to_batches())
    )


def readable_schema(schema: Any) -> Any:
    """A schema in which the types that DuckDB does not take are replaced by others."""
    import pyarrow as pa

    def readable(kind: Any) -> Any:
        if pa.types.is_float16(kind):
            return pa.float32()
        return pa.string() if pa.types.is_decimal256(kind) else kind

    return pa.schema([field.with_type(readable(field.type)) for field in schema])


def arrow_table(frame: Any) -> Any:
    """A narwhals frame as an Arrow table; values of several types in one column become text."""
    import pyarrow as pa

    try:
        table = frame.to_arrow().select(list(map(str, frame.columns)))  # a pandas index is none
    except (pa.ArrowException, TypeError):
        table = pa.table({str(name): _column(frame.get_column(name)) for name in frame.columns})
    table = table.cast(readable_schema(table.schema))
    for place, field in enumerate(table.schema):
        if pa.types.is_duration(field.type):  # which DuckDB does not give back
            column = frame.get_column(frame.columns[place])
            table = table.set_column(place, field.name, _text(column))
    return table


def _column(series: Any) -> Any:
    import pyarrow as pa

    native = series.to_native()
    if hasattr(native, "sparse"):  # of pandas, which Arrow does not take
        return pa.array(native.sparse.to_dense())
    try:
        return series.to_arrow()
    except (pa.ArrowException, TypeError):
        return _text(series)


def _text(series: Any) -> Any:
    import pyarrow as pa

    values = [None if missing(value) else str(value) for value in series.to_list()]
    return pa.array(values, pa.string())
