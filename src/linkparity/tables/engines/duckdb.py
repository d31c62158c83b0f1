"""Embedded DuckDB: files of any size, in memory or in a temporary database on disk."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from linkparity.support.errors import InputError
from linkparity.support.files import Workspace
from linkparity.tables.engines.base import (
    DELIMITER,
    ROW,
    Engine,
    Format,
    Input,
    TableFile,
    check_columns,
    literal_path,
    numbered,
)

if TYPE_CHECKING:
    from linkparity.tables.reading.score_table import ScoreTable

#: Inputs above this many bytes get a database on disk; smaller ones stay in memory.
IN_MEMORY = 64 << 20
#: Bytes of a row of a classified table.
ROW_BYTES = 48
#: Memory limit with a database on disk; the process around it needs a few hundred megabytes more.
MEMORY = "800MB"
#: Optimizers that believe the statistics in a Parquet file, so that wrong ones skip our checks.
UNTRUSTED = "statistics_propagation"


class DuckEngine(Engine):
    """DuckDB in memory, or with a database on disk for tables of any size.

    Ibis is imported when it is first used: that takes as long as the work on a small table, and
    reading files with :meth:`load` and :meth:`column` does not need it.

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
        self.duck = duckdb.connect(database, config=settings)
        super().__init__(None, workspace)
        self.lookups = 0
        self.kept = 0

    @classmethod
    def open(cls, workspace: Workspace, size: int, name: str) -> Self:
        """Start an engine for files."""
        return cls(workspace, size)

    @property
    def con(self) -> Any:
        """The Ibis backend, made on first use."""
        if self._con is None:
            import ibis

            self._con = ibis.duckdb.from_connection(self.duck)
        return self._con

    def run(self, sql: str) -> Any:
        """Execute SQL that Ibis has no expression for."""
        return self.duck.execute(sql)

    def load(self, file: TableFile, name: str) -> Input:
        """Read a file without Ibis: CSV into a table, Parquet as a view on the file.

        The result has no Ibis table; :meth:`column` has its values.
        """
        import duckdb

        from linkparity.tables.engines.errors import stopped, unreadable

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
        names = tuple(column for column in self.duck.view(name).columns if column != ROW)
        return Input(file.name, None, names=names, text=file.kind != "parquet")

    def _load_text(self, file: TableFile, path: str, name: str) -> None:
        columns = ", ".join(f"c{i}: 'VARCHAR'" for i in range(len(file.header)))
        named = ", ".join(f"c{i} AS {quoted(column)}" for i, column in enumerate(file.header))
        self.run(
            f"CREATE TABLE {name}_text AS SELECT * FROM read_csv({path}, auto_detect=false, "
            f"header=true, delim={text(file.delimiter)}, quote='\"', escape='\"', "
            f"columns={{{columns}}}, compression='none')"
        )
        self.run(f"CREATE VIEW {name} AS SELECT rowid AS {ROW}, {named} FROM {name}_text")

    def column(self, name: str, column: str) -> Any:
        """A column of the table ``name`` as a chunked Arrow array, in the order of the file."""
        return self.duck.view(name).order(ROW).project(quoted(column)).to_arrow_table().column(0)

    def read(self, file: TableFile, name: str) -> Input:
        """Read a file as the table ``name``."""
        return replace(self.load(file, name), table=self.con.table(name))

    def lock(self, *writable: Path) -> None:
        """Allow no further access to files, but for the inputs and the directories ``writable``."""
        inputs = [file.path.absolute() for file in self.files]
        paths = [text(name) for path in inputs for name in (str(path), literal_path(path))]
        directories = [text(str(path.absolute())) for path in writable]
        self.run(f"SET allowed_paths = [{', '.join(paths)}]")
        self.run(f"SET allowed_directories = [{', '.join(directories)}]")
        self.run("SET enable_external_access = false")
        self.run("SET lock_configuration = true")

    def explain(self, error: Exception) -> BaseException | None:
        """What to raise instead of an error that a file, the disk or DuckDB caused."""
        from linkparity.tables.engines.errors import explain_duckdb

        return explain_duckdb(error, self.files) or super().explain(error)

    def take(self, data: Any, name: str) -> Any:
        """An Arrow table, or a stream of Arrow batches, as a numbered table."""
        import pyarrow as pa

        if isinstance(data, pa.Table):
            self.duck.register(f"frame_{name}", numbered(data))
        else:
            self.duck.register(f"stream_{name}", data)
            self.run(f"CREATE TABLE kept_{name} AS SELECT * FROM stream_{name}")
            self.run(f"CREATE VIEW frame_{name} AS SELECT rowid AS {ROW}, * FROM kept_{name}")
        return self.con.table(f"frame_{name}")

    def keep(self, expression: Any, name: str) -> Any:
        """Compute the expression once and keep the result as a table."""
        self.scans += 1
        self.kept += 1
        return self.con.create_table(f"{name}_{self.kept}", expression)

    def lookup(self, data: Any) -> Any:
        """A small Arrow table, to be joined, under a name that plain SQL can use."""
        self.lookups += 1
        self.duck.register(f"lookup_{self.lookups}", data)
        return self.con.table(f"lookup_{self.lookups}")

    def write(
        self, table: "ScoreTable", fair: Any, names: list[str], path: str, shape: Format
    ) -> None:
        """Write the input with new columns, its rows in their order."""
        self.scans += 1
        new = f"SELECT * FROM ({self.con.compile(fair)}) ORDER BY row"
        given = self.con.compile(table.to_write(shape.kind == "parquet"))
        columns = ", ".join(
            [f"g.{quoted(name)}" for name in table.given.columns] + [f"f.{name}" for name in names]
        )
        query = f"SELECT {columns} FROM ({given}) g POSITIONAL JOIN ({new}) f"
        if table.dropped:
            query = f"SELECT {columns} FROM ({given}) g JOIN ({new}) f ON g.{ROW} = f.row"
            query += " ORDER BY f.row"
        self.copy(query, path, shape)

    def copy(self, query: str, path: str, shape: Format) -> None:
        """Write the result of a query to a file."""
        options = "FORMAT parquet, COMPRESSION zstd"
        if shape.kind != "parquet":
            packed = "gzip" if shape.gzip else "none"
            delimiter = text(DELIMITER[shape.kind])
            options = f"FORMAT csv, HEADER, DELIMITER {delimiter}, COMPRESSION {packed}"
        self.run(f"COPY ({query}) TO {text(path)} ({options}, USE_TMP_FILE false)")

    def close(self) -> None:
        """Close the database."""
        self.duck.close()


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


def size_of(file: TableFile) -> int:
    """Number of bytes that a file's rows take in an engine; Parquet stores them in fewer."""
    stored = file.path.stat().st_size
    if file.kind != "parquet":
        return stored
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return max(stored, ROW_BYTES * int(parquet.read_metadata(file.path).num_rows))
    except (pa.ArrowException, OSError):
        return stored  # the engine that reads it reports what is wrong


def text(value: str) -> str:
    """A string as an SQL literal.

    >>> text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"


def quoted(column: str) -> str:
    """A column's name as an SQL identifier."""
    return '"' + column.replace('"', '""') + '"'
