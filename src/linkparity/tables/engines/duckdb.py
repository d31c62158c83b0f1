"""Embedded DuckDB: files of any size, in memory or in a temporary database on disk."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkparity.support.optional import require
from linkparity.support.workspace import Workspace
from linkparity.tables.engines.base import EXTRA, ROW, Engine, Input, numbered
from linkparity.tables.engines.errors import unreadable
from linkparity.tables.reading.files import (
    DELIMITER,
    Format,
    Source,
    check_columns,
    read_header,
)

if TYPE_CHECKING:
    from linkparity.tables.reading.score_table import ScoreTable

#: Files above this many bytes get a database on disk; smaller ones stay in memory.
IN_MEMORY = 64 << 20
#: A row of a classified table.
ROW_BYTES = 48
#: What DuckDB may use; the process around it needs a few hundred megabytes more.
MEMORY = "800MB"


class DuckDatabase:
    """Embedded DuckDB: in memory, or in a database on disk for tables of any size.

    Reading files needs no more than this; Ibis, which takes as long to import as the work on a
    small table, comes with :class:`DuckEngine`.

    Args:
        workspace: where the database and what does not fit into memory go.
        size: bytes of input that are expected.
    """

    def __init__(self, workspace: Workspace, size: int = 0) -> None:
        duckdb = require("duckdb", "reading tables", EXTRA)
        on_disk = size > IN_MEMORY
        place = str(workspace.path / "rows.duckdb") if on_disk else ":memory:"
        options = {"memory_limit": MEMORY} if on_disk else {}
        self.con = duckdb.connect(place, config=options)
        if on_disk:
            self.run(f"SET temp_directory = {text(str(workspace.path / 'spill'))}")

    def run(self, sql: str) -> Any:
        """Plain SQL."""
        return self.con.execute(sql)

    def read(self, source: Source, name: str) -> Input:
        """A file as the table ``name``; CSV is read once, Parquet stays where it is."""
        import duckdb

        path = text(literal_path(source.path))
        try:
            if source.kind == "parquet":
                check_parquet(source)
                self.run(
                    f"CREATE VIEW {name} AS SELECT file_row_number AS {ROW}, "
                    f"* EXCLUDE (file_row_number) FROM read_parquet({path}, "
                    "file_row_number=true, hive_partitioning=false)"
                )
            else:
                self._load(source, path, name)
        except duckdb.Error as error:
            raise ValueError(unreadable(source, str(error))) from None
        return Input(source.name, self.con.view(name), text=source.kind != "parquet")

    def rows(self, table: Input, columns: Iterable[str]) -> list[tuple[Any, ...]]:
        """The values of some columns, in the order of the file."""
        names = ", ".join(map(quoted, columns))
        found: list[tuple[Any, ...]] = table.table.order(ROW).project(names).fetchall()
        return found

    def column(self, table: Input, name: str) -> Any:
        """One column as a chunked Arrow array, in the order of the file."""
        return table.table.order(ROW).project(quoted(name)).to_arrow_table().column(0)

    def close(self) -> None:
        """Close the database."""
        self.con.close()

    def _load(self, source: Source, path: str, name: str) -> None:
        given = read_header(source)
        columns = ", ".join(f"c{i}: 'VARCHAR'" for i in range(len(given)))
        named = ", ".join(f"c{i} AS {quoted(column)}" for i, column in enumerate(given))
        self.run(
            f"CREATE TABLE {name}_text AS SELECT * FROM read_csv({path}, auto_detect=false, "
            f"header=true, delim={text(DELIMITER[source.kind])}, quote='\"', escape='\"', "
            f"columns={{{columns}}}, compression='none')"
        )
        self.run(f"CREATE VIEW {name} AS SELECT rowid AS {ROW}, {named} FROM {name}_text")


class DuckEngine(Engine):
    """Ibis over :class:`DuckDatabase`, with the same arguments."""

    def __init__(self, workspace: Workspace, size: int = 0) -> None:
        ibis = require("ibis", "audit and project", EXTRA)
        self.duck = DuckDatabase(workspace, size)
        self.lookups = 0
        super().__init__(ibis.duckdb.from_connection(self.duck.con))

    def run(self, sql: str) -> Any:
        """Plain SQL, for what Ibis has no word for."""
        return self.duck.run(sql)

    def read(self, source: Source, name: str) -> Input:
        """A file as the table ``name``; CSV is read once, Parquet stays where it is."""
        return replace(self.duck.read(source, name), table=self.con.table(name))

    def take(self, frame: Any, name: str) -> Any:
        """An Arrow table in memory as a numbered table."""
        self.con.con.register(f"frame_{name}", numbered(frame, name))
        return self.con.table(f"frame_{name}")

    def stream(self, batches: Any, name: str) -> Any:
        """Batches of Arrow, one after the other, as a numbered table."""
        self.con.con.register(f"stream_{name}", batches)
        self.run(f"CREATE TABLE kept_{name} AS SELECT * FROM stream_{name}")
        self.run(f"CREATE VIEW frame_{name} AS SELECT rowid AS {ROW}, * FROM kept_{name}")
        return self.con.table(f"frame_{name}")

    def keep(self, expression: Any, name: str) -> Any:
        """Work the expression out once and keep the result as a table."""
        self.scans += 1
        return self.con.create_table(name, expression)

    def lookup(self, data: Any) -> Any:
        """A few numbers in an Arrow table, to be joined, under a name that plain SQL sees."""
        self.lookups += 1
        self.con.con.register(f"lookup_{self.lookups}", data)
        return self.con.table(f"lookup_{self.lookups}")

    def write(
        self, table: "ScoreTable", fair: Any, names: list[str], path: str, shape: Format
    ) -> None:
        """Write the input with new columns, its rows in their order."""
        self.scans += 1
        new = f"SELECT * FROM ({self.con.compile(fair)}) ORDER BY row"
        given = self.con.compile(table.written(shape.kind == "parquet"))
        columns = ", ".join(
            [f"g.{quoted(name)}" for name in table.given.columns] + [f"f.{name}" for name in names]
        )
        query = f"SELECT {columns} FROM ({given}) g POSITIONAL JOIN ({new}) f"
        if table.dropped:
            query = f"SELECT {columns} FROM ({given}) g JOIN ({new}) f ON g.{ROW} = f.row"
            query += " ORDER BY f.row"
        self.run(f"COPY ({query}) TO {text(path)} ({copy_options(shape)})")

    def close(self) -> None:
        """Close the database."""
        self.duck.close()


def check_parquet(source: Source) -> None:
    """Refuse column names that cannot be kept; DuckDB would change them without a word."""
    pa = require("pyarrow", source.name, EXTRA)
    parquet = require("pyarrow.parquet", source.name, EXTRA)
    try:
        names = parquet.read_schema(source.path).names
    except (pa.ArrowException, OSError):
        return  # whoever reads it says what is wrong with it
    check_columns(source.name, names)
    if "file_row_number" in map(str.lower, names):
        raise ValueError(
            f"{source.name}: the name of column 'file_row_number' is taken; rename the column"
        )


def size_of(source: Source) -> int:
    """Bytes that a file's rows take when they are worked on; Parquet may pack them into few."""
    packed = source.path.stat().st_size
    if source.kind != "parquet":
        return packed
    parquet = require("pyarrow.parquet", source.name, EXTRA)
    pa = require("pyarrow", source.name, EXTRA)
    try:
        return max(packed, ROW_BYTES * int(parquet.read_metadata(source.path).num_rows))
    except (pa.ArrowException, OSError):
        return packed  # whoever reads it says what is wrong with it


def copy_options(shape: Format) -> str:
    """How DuckDB is told to write a format."""
    if shape.kind == "parquet":
        return "FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false"
    packed = "gzip" if shape.gzip else "none"
    delimiter = text(DELIMITER[shape.kind])
    return f"FORMAT csv, HEADER, DELIMITER {delimiter}, COMPRESSION {packed}, USE_TMP_FILE false"


def literal_path(path: Path) -> str:
    """A path whose stars and brackets are letters, not a pattern of several files.

    >>> literal_path(Path("/tmp/scores[1].csv"))
    '/tmp/scores[[]1].csv'
    """
    return re.sub(r"[*?[]", lambda sign: f"[{sign[0]}]", str(path.absolute()))


def text(value: str) -> str:
    """A string as SQL writes it.

    >>> text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"


def quoted(column: str) -> str:
    """A column's name as SQL writes it."""
    return '"' + column.replace('"', '""') + '"'
