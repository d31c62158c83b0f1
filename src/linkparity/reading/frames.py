"""Tables in memory and streams of Arrow batches: into Arrow, and back as the kind they came as."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkparity.reading.duckdb import Duck, Input, arrow_array, check_columns, quoted
from linkparity.reading.groups import missing
from linkparity.support.errors import require

#: Size of a stream, of which nothing is known.
LARGE = 1 << 40
#: Rows of a stream that go into DuckDB at once, at least.
PART = 1 << 17


@dataclass(eq=False)
class Frame:
    """A table of the caller.

    Attributes:
        name: for messages.
        given: as it was passed.
        columns: names of its columns.
        frame: an eager narwhals frame; None for a stream of Arrow batches.
        stream: the stream, once it is open; it may be read once.
        kept: file that holds all of a stream, so that it can come back.
    """

    name: str
    given: Any
    columns: tuple[str, ...]
    frame: Any = None
    stream: Any = None
    kept: Path | None = None

    @classmethod
    def of(cls, given: Any, name: str, caller: str = "linkparity") -> "Frame":
        """Any table in memory, or anything that gives a stream of Arrow batches."""
        nw = require("narwhals", caller, "linkparity")
        try:
            frame = nw.from_native(given)
        except nw.exceptions.DuplicateError:
            names = getattr(given, "column_names", None) or given.columns
            check_columns(name, [str(column) for column in names])
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
    def rows(self) -> int:
        """Number of rows; of a stream, 0, since nothing is known of it."""
        return 0 if self.frame is None else len(self.frame)

    @property
    def header(self) -> Input:
        """Its columns' names, without its rows."""
        return Input(self.name, "", self.columns, {})

    def put_into(self, duck: Duck, view: str, used: set[str], keep: bool = False) -> Input:
        """The columns that are used as a table in DuckDB.

        A stream is read once; with ``keep``, all of it is written to a file, to come back.
        """
        if self.frame is None:
            stream = self.stream or _open_stream(self.given, self.name)
            self.kept = duck.workspace.path / f"{view}.arrow" if keep else None
            names = [name for name in self.columns if name in used]
            return duck.register(_tables(stream, names, self.kept), view, self.header)
        columns = [name for name in self.frame.columns if str(name) in used]
        return duck.register(arrow_table(self.frame[:, columns]), view, self.header)

    def values(self, column: str, rows: np.ndarray, duck: Duck, table: Input) -> list[Any]:
        """A column in some rows, which ascend, as Python values of the caller's own kind."""
        if self.frame is None:
            return duck.values(table, quoted(column), rows)
        name = self.frame.columns[self.columns.index(column)]
        values: list[Any] = self.frame.get_column(name)[rows.tolist()].to_list()
        return values

    def with_columns(self, new: Mapping[str, np.ndarray], rows: np.ndarray | None) -> Any:
        """The table with new columns for the rows that count, as the kind that it came as."""
        import narwhals as nw

        if self.frame is None or not _comes_back(nw.from_native(self.given)):
            return self._with_arrow_columns(new, rows)
        frame = self.frame if rows is None else self.frame[rows.tolist()]
        own = nw.get_native_namespace(frame)
        series = [
            nw.new_series(name, values, nw.Float64, backend=own) for name, values in new.items()
        ]
        frame = frame.with_columns(*series)
        lazy = isinstance(nw.from_native(self.given), nw.LazyFrame)
        return (frame.lazy() if lazy else frame).to_native()

    def _with_arrow_columns(self, new: Mapping[str, np.ndarray], rows: np.ndarray | None) -> Any:
        import pyarrow as pa

        if self.frame is not None:
            found = self.frame.to_arrow().select(list(self.columns))
        else:
            assert self.kept is not None
            with pa.OSFile(str(self.kept)) as file:
                found = pa.ipc.open_stream(file).read_all()
        if rows is not None:
            chosen = np.zeros(len(found), dtype=bool)
            chosen[rows] = True
            found = _plain(found).filter(arrow_array(chosen))
        for name, values in new.items():
            found = found.append_column(name, arrow_array(np.asarray(values, dtype=np.float64)))
        return found


def _comes_back(given: Any) -> bool:
    """Whether the result is of the caller's own kind; otherwise it is an Arrow table."""
    return bool(given.implementation.is_pandas_like() or given.implementation.is_polars())


def _plain(table: Any) -> Any:
    """A table whose rows can be chosen: without run-end encoding."""
    import pyarrow as pa
    from pyarrow import compute

    for place, field in enumerate(table.schema):
        if pa.types.is_run_end_encoded(field.type):
            column = compute.run_end_decode(table.column(place))
            table = table.set_column(place, field.name, column)
    return table


def _is_stream(given: Any) -> bool:
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "to_pyarrow_batches")


def _open_stream(given: Any, name: str) -> Any:
    """The Arrow batches of a table."""
    import pyarrow as pa

    with suppress(pa.ArrowInvalid):  # a stream of a single column
        if hasattr(given, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(given)
        if _is_stream(given):
            return given.to_pyarrow_batches()
    raise TypeError(
        f"{name} must be a table such as a pandas or polars DataFrame, or anything with "
        f"__arrow_c_stream__, got {type(given).__name__}"
    )


def _tables(stream: Any, names: list[str], kept: Path | None) -> Iterator[Any]:
    """Some columns of a stream as Arrow tables, the first one empty; all go to the file ``kept``.

    Without the types that DuckDB does not take. The stream is read here, not within DuckDB, so
    that its errors and an interruption reach the caller as they are.
    """
    import pyarrow as pa

    schema = readable_schema(pa.schema([stream.schema.field(name) for name in names]))
    yield schema.empty_table()
    with ExitStack() as stack:
        writer = None
        if kept is not None:
            file = stack.enter_context(pa.OSFile(str(kept), "wb"))
            packed = pa.ipc.IpcWriteOptions(compression="lz4")
            writer = stack.enter_context(pa.ipc.new_stream(file, stream.schema, options=packed))
        parts: list[Any] = []
        for batch in stream:
            if writer is not None:
                writer.write_batch(batch)
            parts.append(pa.Table.from_batches([batch]).select(names).cast(schema))
            if sum(map(len, parts)) >= PART:
                yield pa.concat_tables(parts)
                parts = []
        if parts:
            yield pa.concat_tables(parts)


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
    except (pa.ArrowException, TypeError, OverflowError):
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
    except (pa.ArrowException, TypeError, OverflowError):
        return _text(series)


def _text(series: Any) -> Any:
    import pyarrow as pa

    values = [None if missing(value) else str(value) for value in series.to_list()]
    return pa.array(values, pa.string())
