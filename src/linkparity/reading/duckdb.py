"""Embedded DuckDB: tables in files, frames and streams, in memory or in a temporary database."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from errno import ENOSPC
from pathlib import Path
from typing import Any, Self

import numpy as np

from linkparity.support.errors import InputError, PlainError
from linkparity.support.files import Workspace

#: Prefix of the columns that are added for our own use.
OURS = "_lp_"
DELIMITER = {"csv": ",", "tsv": "\t"}
#: Number of a row from 0.
ROW = f"{OURS}row"
#: Rows of a long result at a time: few enough to stay in the processor's cache.
BATCH = 1 << 16
#: Inputs above this many bytes get a database on disk; smaller ones stay in memory.
IN_MEMORY = 64 << 20
#: Bytes of a row of a classified table.
ROW_BYTES = 48
#: Bytes of a text file from which the length of its rows is estimated.
HEAD = 1 << 20
#: Memory limit with a database on disk; the process around it needs a few hundred megabytes more.
MEMORY = "800MB"
#: Optimizers that believe the statistics in a Parquet file, so that wrong ones skip our checks.
UNTRUSTED = "statistics_propagation"


@dataclass(frozen=True)
class Format:
    """``csv``, ``tsv`` or ``parquet``, and whether it is compressed with gzip."""

    kind: str
    gzip: bool = False


@dataclass(frozen=True)
class TableFile:
    """An uncompressed file on disk, with the name that messages use.

    ``header`` has the column names of a text file; Parquet has them in its schema. ``separator``
    is the character between columns, where it is not that of the kind.
    """

    name: str
    path: Path
    kind: str
    header: tuple[str, ...] = ()
    separator: str = ""

    @property
    def delimiter(self) -> str:
        """The character between the columns of a text file."""
        return self.separator or DELIMITER[self.kind]


@dataclass(frozen=True)
class Input:
    """A table in DuckDB, each row with its number :data:`ROW`.

    Attributes:
        name: for messages.
        view: its name in DuckDB.
        columns: names of its columns, without :data:`ROW`.
        types: DuckDB's type of each column.
        text: whether every value is text, because the file is.
    """

    name: str
    view: str
    columns: tuple[str, ...]
    types: dict[str, str]
    text: bool = False

    def type(self, column: str) -> str:
        """``number``, ``float``, ``bool``, ``text``, ``nested`` or ``other``."""
        return kind_of(self.types[column])


def kind_of(type_name: str) -> str:
    """The kind of a DuckDB type.

    >>> [kind_of(name) for name in ("DECIMAL(9,2)", "DOUBLE", "INTEGER[]", "DATE")]
    ['number', 'float', 'nested', 'other']
    """
    if type_name.endswith("]") or type_name.startswith(("STRUCT", "MAP", "UNION")):
        return "nested"
    if type_name in ("FLOAT", "DOUBLE"):
        return "float"
    if type_name == "BOOLEAN":
        return "bool"
    if type_name == "VARCHAR":
        return "text"
    whole = type_name.removeprefix("U") in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
    return "number" if whole or type_name.startswith("DECIMAL") else "other"


def fetch_table(relation: Any) -> Any:
    """A relation of DuckDB as an Arrow table."""
    return (getattr(relation, "to_arrow_table", None) or relation.fetch_arrow_table)()


def fetch_batches(relation: Any, rows: int = BATCH) -> Any:
    """A relation as a stream of Arrow batches; before 2.0, the method had another name."""
    return (getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch)(rows)


class Duck:
    """A DuckDB connection in memory, or with a database on disk for tables of any size.

    It is used in a ``with`` block, which closes it and turns errors that an input or the disk
    caused into one sentence.

    Args:
        workspace: where the database goes, and what does not fit into memory.
        size: number of bytes that the rows are expected to take.
    """

    def __init__(self, workspace: Workspace, size: int = 0) -> None:
        import duckdb

        on_disk = size > IN_MEMORY
        settings: dict[str, Any] = {
            "temp_directory": str(workspace.path / "spill"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "disabled_optimizers": UNTRUSTED,
        } | ({"memory_limit": MEMORY} if on_disk else {})
        database = str(workspace.path / "rows.duckdb") if on_disk else ":memory:"
        self.connection = duckdb.connect(database, config=settings)
        self.workspace = workspace
        self.files: list[TableFile] = []
        self._registered = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Close; turn an error that an input, the disk or DuckDB caused into one sentence."""
        explained = self.explain(error) if isinstance(error, Exception) else None
        self.connection.close()
        if explained is not None:
            raise explained from None

    def explain(self, error: Exception) -> BaseException | None:
        """What to raise instead of an error that a file, the disk or DuckDB caused.

        Every error on the way passes here. None for one of another origin.
        """
        from linkparity.reading.duckdb_errors import explain_duckdb

        found = explain_duckdb(error, self.files)
        if found is None and isinstance(error, OSError) and error.errno == ENOSPC:
            return disk_full(str(error)) if error.filename is None else None
        return found

    def run(self, sql: str) -> Any:
        """Execute SQL."""
        return self.connection.execute(sql)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a short result."""
        found: list[tuple[Any, ...]] = self.run(sql).fetchall()
        return found

    def arrow(self, sql: str) -> Any:
        """A result as an Arrow table."""
        return fetch_table(self.connection.sql(sql))

    def batches(self, sql: str, rows: int = BATCH) -> Iterator[dict[str, Any]]:
        """A long result piece by piece, as numpy arrays by column."""
        for batch in fetch_batches(self.connection.sql(sql), rows):
            yield {
                name: numpy_array(column)
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            }

    def load(self, file: TableFile, name: str) -> Input:
        """Read a file as the table ``name``: text into a table, Parquet as a view on the file."""
        import duckdb

        from linkparity.reading.duckdb_errors import stopped, unreadable

        self.files.append(file)
        path = text(literal_path(file.path))
        try:
            if file.kind == "parquet":
                check_parquet(file)
                self.run(
                    f"CREATE VIEW {name} AS SELECT file_row_number AS {ROW}, "
                    f"* EXCLUDE (file_row_number) FROM read_parquet({path}, "
                    "file_row_number=true, hive_partitioning=false)"
                )
            else:
                self._load_text(file, path, name)
        except duckdb.Error as error:
            raise stopped(error) or unreadable(file, str(error)) from None
        return self._input(file.name, name, text=file.kind != "parquet")

    def register(self, data: Any, name: str, header: Input) -> Input:
        """An Arrow table, or all of an iterator of several, as the table ``name``.

        It may lack columns of the ``header`` that are not needed.
        """
        import pyarrow as pa

        if isinstance(data, pa.Table):
            numbers = arrow_array(np.arange(data.num_rows))
            self.connection.register(name, data.append_column(ROW, numbers))
        else:
            begin = f"CREATE TABLE {name}_kept AS"
            for part in data:
                self.connection.register(f"{name}_part", part)
                self.run(f"{begin} SELECT * FROM {name}_part")
                self.connection.unregister(f"{name}_part")
                begin = f"INSERT INTO {name}_kept"
            self.run(f"CREATE VIEW {name} AS SELECT rowid AS {ROW}, * FROM {name}_kept")
        found = self._input(header.name, name)
        return replace(found, columns=header.columns)

    def lookup(self, data: Any) -> str:
        """The name of a small table, of Arrow or a dict of numbers, to be joined."""
        self._registered += 1
        self.connection.register(f"lookup_{self._registered}", data)
        return f"lookup_{self._registered}"

    def keep(self, sql: str) -> str:
        """The name of a table with the rows of a query."""
        self._registered += 1
        self.run(f"CREATE TABLE kept_{self._registered} AS {sql}")
        return f"kept_{self._registered}"

    def values(self, table: Input, sql: str, rows: np.ndarray) -> list[Any]:
        """An expression in some rows of a table, which ascend, as Python values."""
        found = self.arrow(f"SELECT {sql} FROM {table.view}{self.only(rows)}")
        values: list[Any] = found.column(0).to_pylist()
        return values

    def only(self, rows: np.ndarray) -> str:
        """The end of a query that keeps some rows of a table, in their order."""
        kept = self.lookup({"kept_row": rows})
        return f" SEMI JOIN {kept} ON {ROW} = kept_row ORDER BY {ROW}"

    def _input(self, shown: str, name: str, text: bool = False) -> Input:
        described = self.rows(f"DESCRIBE {name}")
        types = {str(row[0]): str(row[1]) for row in described if row[0] != ROW}
        return Input(shown, name, tuple(types), types, text)

    def _load_text(self, file: TableFile, path: str, name: str) -> None:
        columns = ", ".join(f"c{i}: 'VARCHAR'" for i in range(len(file.header)))
        named = ", ".join(f"c{i} AS {quoted(column)}" for i, column in enumerate(file.header))
        self.run(
            f"CREATE TABLE {name}_text AS SELECT * FROM read_csv({path}, auto_detect=false, "
            f"header=true, delim={text(file.delimiter)}, quote='\"', escape='\"', "
            f"columns={{{columns}}}, compression='none')"
        )
        self.run(f"CREATE VIEW {name} AS SELECT rowid AS {ROW}, {named} FROM {name}_text")

    def lock(self, *writable: Path) -> None:
        """Allow no further access to files, but for the inputs and the directories ``writable``."""
        inputs = [file.path.absolute() for file in self.files]
        paths = [text(name) for path in inputs for name in (str(path), literal_path(path))]
        directories = [text(str(path.absolute())) for path in writable]
        self.run(f"SET allowed_paths = [{', '.join(paths)}]")
        self.run(f"SET allowed_directories = [{', '.join(directories)}]")
        self.run("SET enable_external_access = false")
        self.run("SET lock_configuration = true")

    def copy(self, query: str, path: str, shape: Format) -> None:
        """Write the result of a query to a file."""
        options = "FORMAT parquet, COMPRESSION zstd"
        if shape.kind != "parquet":
            packed = "gzip" if shape.gzip else "none"
            delimiter = text(DELIMITER[shape.kind])
            options = f"FORMAT csv, HEADER, DELIMITER {delimiter}, COMPRESSION {packed}"
        self.run(f"COPY ({query}) TO {text(path)} ({options}, USE_TMP_FILE false)")


def disk_full(problem: str) -> PlainError:
    """The disk, or the space for temporary files, is full."""
    fix = "free some space, or use another directory for temporary files and outputs"
    return PlainError(f"{problem}; nothing was written", fix)


def literal_path(path: Path) -> str:
    """A path in which stars and brackets are characters, not a pattern for several files.

    >>> literal_path(Path("/tmp/scores[1].csv"))
    '/tmp/scores[[]1].csv'
    """
    return re.sub(r"[*?[]", lambda sign: f"[{sign[0]}]", str(path.absolute()))


def check_columns(where: str, names: Sequence[str]) -> None:
    """Refuse names that DuckDB cannot tell apart: it ignores upper and lower case."""
    known: dict[str, str] = {}
    for name in names:
        if not name:
            raise InputError("has a column without a name", "give every column one", where=where)
        if name.lower().startswith(OURS):
            problem = f"names that begin with {OURS!r}, such as column {name!r}, are reserved"
            raise InputError(problem, "rename the column", where=where)
        if name.lower() in known:
            other = known[name.lower()]
            problem = f"column {name!r} occurs twice"
            if other != name:
                problem = f"columns {other!r} and {name!r} differ only in upper and lower case"
            raise InputError(problem, "rename one of them in the header", where=where)
        known[name.lower()] = name


def check_parquet(file: TableFile) -> None:
    """Refuse column names that cannot be kept; DuckDB would change them silently."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        names = parquet.read_schema(file.path).names
    except (pa.ArrowException, OSError):
        return  # the engine that reads it reports what is wrong
    check_columns(file.name, names)
    if "file_row_number" in map(str.lower, names):
        problem = "the column name 'file_row_number' is reserved"
        raise InputError(problem, "rename the column", where=file.name)


def rows_of(file: TableFile) -> int:
    """Number of rows of a file; of a text file about, by its first lines."""
    if file.kind != "parquet":
        with file.path.open("rb") as lines:
            head = lines.read(HEAD)
        return file.path.stat().st_size * head.count(b"\n") // max(len(head), 1)
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return int(parquet.read_metadata(file.path).num_rows)
    except (pa.ArrowException, OSError):
        return 0  # the engine that reads it reports what is wrong


def size_of(file: TableFile) -> int:
    """Number of bytes that a file's rows take in an engine; Parquet stores them in fewer."""
    stored = file.path.stat().st_size
    return stored if file.kind != "parquet" else max(stored, ROW_BYTES * rows_of(file))


def text(value: str) -> str:
    """A string as an SQL literal.

    >>> text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"


def quoted(column: str) -> str:
    """A column's name as an SQL identifier."""
    return '"' + column.replace('"', '""') + '"'


def arrow_array(values: np.ndarray) -> Any:
    """Numbers or booleans as an Arrow array; ``pyarrow.array`` would import pandas."""
    import pyarrow as pa

    kind, size = pa.from_numpy_dtype(values.dtype), len(values)
    if values.dtype == np.bool_:
        values = np.packbits(values, bitorder="little")
    return pa.Array.from_buffers(kind, size, [None, pa.py_buffer(np.ascontiguousarray(values))])


def numpy_array(column: Any) -> np.ndarray:
    """An Arrow array as numpy; its own ``to_numpy`` would import pandas."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type) and not column.null_count:
        return np.asarray(np.from_dlpack(column.cast(pa.uint8())) == 1)
    if pa.types.is_floating(column.type) and column.null_count:
        column = column.fill_null(np.nan)
    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if number and not column.null_count:
        return np.from_dlpack(column)
    return np.asarray(column.to_numpy(zero_copy_only=False))
