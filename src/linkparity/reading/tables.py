"""Where tables come from and where results go: files, or frames and streams in memory."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from linkparity.reading.columns import ReadOptions
from linkparity.reading.duckdb import Duck, Format, arrow_array
from linkparity.reading.files import format_of, loaded, open_table_file, output_directory
from linkparity.reading.frames import Frame
from linkparity.reading.pair_table import PairTable
from linkparity.reading.scores import ArrayTable, pick_all, read_scores
from linkparity.reading.spark_place import SparkTable
from linkparity.reading.spark_session import URLS
from linkparity.reading.spark_tables import (
    SparkFrames,
    check_same_kind,
    spark_files,
    write_spark_table,
)
from linkparity.reading.sql import written_columns
from linkparity.reading.store import announce_space
from linkparity.support.errors import InputError
from linkparity.support.files import STREAM, Workspace, whole_file
from linkparity.support.registry import Registry
from linkparity.support.spark_frames import fetched, is_spark_frame

#: New columns of the rows that count, in the order of the input.
NewColumns = dict[str, np.ndarray]
#: What reads files, by name.
ENGINES = Registry("engine", {"duckdb": "DuckDB", "spark": "Spark"})


class Tables(Protocol):
    """Where a score table comes from, and where its correction goes: files, or frames."""

    @property
    def inputs(self) -> tuple[str | None, ...]:
        """Files that are read."""
        ...

    @property
    def outputs(self) -> tuple[str, ...]:
        """Files that are written."""
        ...

    def open(
        self, several: bool = True, unlabelled: bool = False
    ) -> AbstractContextManager[PairTable]:
        """The checked table, which is open as long as the block lasts.

        Args:
            several: whether there must be two groups, to be compared.
            unlabelled: whether a label may be missing.
        """
        ...

    def deliver(self, table: Any, new: Any, paths: list[str]) -> Any:
        """The table with new columns for the rows that count; ``outputs`` go to ``paths``."""
        ...


@dataclass(frozen=True)
class FileTables:
    """A score table and its table of nodes in files, and the file for the corrected table.

    Attributes:
        scores: the score table, ``-`` for stdin.
        nodes: the table of nodes; None when the score table has the groups.
        options: which column holds what, and what happens to untidy rows.
        engine: ``duckdb``, ``spark``, or the URL of a Spark master.
        tmp: directory for temporary files; the system's by default.
        format: of the scores, where the extension does not tell.
        out: the corrected table, ``-`` for stdout; None when none is written.
        out_format: its format, where the extension does not tell.
        separator: character between the columns of text files.
        compare: another score table of the same pairs.
    """

    scores: str
    nodes: str | None
    options: ReadOptions
    engine: str = "duckdb"
    tmp: str | None = None
    format: str | None = None
    out: str | None = None
    out_format: str | None = None
    separator: str | None = None
    compare: str | None = None

    def __post_init__(self) -> None:
        ENGINES["spark" if self.engine.startswith(URLS) else self.engine]
        if (self.scores, self.nodes, self.compare).count(STREAM) > 1:
            problem = "and the scores cannot both be read from stdin"
            argument = "nodes" if self.nodes == STREAM else "compare"
            raise InputError(problem, "give a file", argument=argument)
        if self.out is not None:
            format_of(*self._named_format)
            output_directory(self.out)

    @property
    def inputs(self) -> tuple[str | None, ...]:
        """Files that are read."""
        return (self.scores, self.nodes, self.compare)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Files that are written."""
        return () if self.out is None else (self.out,)

    @contextmanager
    def open(self, several: bool = True, unlabelled: bool = False) -> Iterator[PairTable]:
        """The checked table, which is open as long as the block lasts."""
        options = replace(self.options, unlabelled=unlabelled)
        with Workspace(self.tmp) as workspace:
            named = {
                "scores": (self.scores, self.format), "nodes": (self.nodes, None),
                "other": (self.compare, None),
            }  # fmt: skip
            files = {
                view: open_table_file(name, workspace, given, self.separator)
                for view, (name, given) in named.items()
                if name is not None
            }
            if self.engine != "duckdb":
                master = None if self.engine == "spark" else self.engine
                writable = output_directory(self.out)
                with spark_files(files, options, master, workspace, writable, several) as table:
                    yield table
                return
            with loaded(files, workspace, self.out) as (duck, inputs):
                yield read_scores(
                    duck, inputs["scores"], inputs.get("nodes"), options, several,
                    inputs.get("other"),
                )  # fmt: skip

    def deliver(self, table: Any, new: Any, paths: list[str]) -> None:
        """Write the corrected table."""
        write = write_spark_table if isinstance(table, SparkTable) else write_table
        write(table, new, paths[0], format_of(*self._named_format))

    @property
    def _named_format(self) -> tuple[str, str | None]:
        """Name and format of the output, for :func:`format_of`."""
        return ("out.csv", self.out_format) if self.out == STREAM else (str(self.out), None)


def write_table(table: ArrayTable, new: NewColumns, path: str, shape: Format) -> None:
    """Write the input with new columns, its rows in their order, to a file."""
    given = table.given
    listed = written_columns(given, table.columns, shape)
    listed += [f"f.{name}" for name in new]
    table.duck.connection.register("new_columns", _stream(table, new))
    kept = "" if table.used is None else table.duck.only(np.flatnonzero(table.used))
    table.duck.copy(
        f"SELECT {', '.join(listed)} FROM (SELECT * FROM {given.view}{kept}) g "
        f"POSITIONAL JOIN new_columns f",
        path, shape,
    )  # fmt: skip
    table.duck.connection.unregister("new_columns")


def write_arrow(table: Any, out: str, force: bool, shape: Format) -> None:
    """Write an Arrow table to a file, ``-`` for stdout."""
    with Workspace() as workspace, Duck(workspace) as duck:
        duck.connection.register("written", table)
        with whole_file(out, force) as path:
            duck.copy("SELECT * FROM written", path, shape)


def _stream(table: ArrayTable, new: NewColumns) -> Any:
    """New columns as a stream of Arrow batches."""
    import pyarrow as pa

    size = len(next(iter(new.values())))
    schema = pa.schema([(name, pa.float64()) for name in new])

    def batches() -> Iterator[Any]:
        for low in range(0, size, BATCH_ROWS):
            part = slice(low, low + BATCH_ROWS)
            yield pa.record_batch([arrow_array(values[part]) for values in new.values()], schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


#: Rows of new columns that are handed over at once.
BATCH_ROWS = 1 << 17


@dataclass(frozen=True)
class FrameTables:
    """A score table and its table of nodes: pandas, polars, Arrow, or any stream of Arrow batches.

    Attributes:
        scores: the score table.
        nodes: the table of nodes; None when the score table has the groups.
        options: which column holds what, and what happens to untidy rows.
        compare: another score table of the same pairs.
        returned: whether the score table comes back, corrected.
    """

    scores: Frame
    nodes: Frame | None
    options: ReadOptions
    compare: Frame | None = None
    returned: bool = False
    #: No files are read or written.
    inputs: ClassVar[tuple[str | None, ...]] = ()
    outputs: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(
        cls,
        scores: Any,
        nodes: Any,
        options: ReadOptions,
        compare: Any = None,
        returned: bool = False,
    ) -> Tables:
        """From whatever the caller passed; Spark's DataFrames stay in Spark."""
        if compare is not None:
            check_same_kind(scores, compare)
        if is_spark_frame(scores):
            return SparkFrames(scores, nodes, options, compare)
        nodes = fetched(nodes) if is_spark_frame(nodes) else nodes
        known = None if nodes is None else Frame.of(nodes, "nodes")
        other = None if compare is None else Frame.of(compare, "compare")
        return cls(Frame.of(scores, "scores"), known, options, other, returned)

    @contextmanager
    def open(self, several: bool = True, unlabelled: bool = False) -> Iterator[PairTable]:
        """The checked table, which is open as long as the block lasts."""
        options = replace(self.options, unlabelled=unlabelled)
        nodes, other = self.nodes, self.compare
        headers = [None if each is None else each.header for each in (self.scores, nodes, other)]
        assert headers[0] is not None
        picked = pick_all(headers[0], headers[1], options, headers[2])
        columns, *others = picked
        with Workspace() as workspace, Duck(workspace, self.scores.nbytes) as duck:
            announce_space(workspace, self.scores.rows)
            described = compared = None
            scores = self.scores.put_into(duck, "scores", columns.used, self.returned)
            if nodes is not None:
                used = {str(columns.node), *options.sensitive}
                described = nodes.put_into(duck, "nodes", used)
            if other is not None:
                compared = other.put_into(duck, "other", others[0].used)
            yield read_scores(duck, scores, described, options, several, compared, picked)

    def deliver(self, table: ArrayTable, new: NewColumns, paths: list[str]) -> Any:
        """The caller's own table and the new columns, without the rows that were dropped."""
        rows = None if table.used is None else np.flatnonzero(table.used)
        return self.scores.with_columns(new, rows)
