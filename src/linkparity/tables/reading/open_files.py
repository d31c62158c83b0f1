"""Score tables in files: read into an engine, and corrected tables written to a file."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from linkparity.support.errors import InputError
from linkparity.support.files import STREAM
from linkparity.support.workspace import Workspace
from linkparity.tables.engines import open_engine
from linkparity.tables.engines.duckdb import size_of
from linkparity.tables.reading.columns import ReadOptions, pick_columns
from linkparity.tables.reading.files import format_of, open_table_file, output_directory
from linkparity.tables.reading.row_checks import check_rows
from linkparity.tables.reading.score_table import ScoreTable, classify


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

    def open(self, several: bool = True) -> AbstractContextManager[ScoreTable]:
        """The checked table, in an engine that is open as long as the block lasts.

        Args:
            several: whether there must be two groups, to be compared.
        """
        ...

    def deliver(self, table: ScoreTable, fair: Any, names: list[str], paths: list[str]) -> Any:
        """The table with the new columns ``names`` of ``fair``; ``outputs`` go to ``paths``."""
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
    """

    scores: str
    nodes: str | None
    options: ReadOptions
    engine: str = "duckdb"
    tmp: str | None = None
    format: str | None = None
    out: str | None = None
    out_format: str | None = None

    def __post_init__(self) -> None:
        if self.scores == self.nodes == STREAM:
            problem = "and the scores cannot both be read from stdin"
            raise InputError(problem, "give a file", argument="nodes")
        if self.out is not None:
            format_of(*self._named_format)
            output_directory(self.out)

    @property
    def inputs(self) -> tuple[str | None, ...]:
        """Files that are read."""
        return (self.scores, self.nodes)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Files that are written."""
        return () if self.out is None else (self.out,)

    @contextmanager
    def open(self, several: bool = True) -> Iterator[ScoreTable]:
        """The checked table, in an engine that is open as long as the block lasts."""
        with Workspace(self.tmp) as workspace:
            files = [open_table_file(self.scores, workspace, self.format)]
            if self.nodes is not None:
                files.append(open_table_file(self.nodes, workspace))
            with open_engine(self.engine, workspace, sum(map(size_of, files))) as engine:
                scores = engine.read(files[0], "scores")
                nodes = None if self.nodes is None else engine.read(files[1], "nodes")
                engine.lock(workspace.path, *output_directory(self.out))
                columns = pick_columns(scores, nodes, self.options)
                yield check_rows(classify(engine, scores, nodes, columns, self.options), several)

    def deliver(self, table: ScoreTable, fair: Any, names: list[str], paths: list[str]) -> None:
        """Write the corrected table."""
        table.engine.write(table, fair, names, paths[0], format_of(*self._named_format))

    @property
    def _named_format(self) -> tuple[str, str | None]:
        """Name and format of the output, for :func:`format_of`."""
        return ("out.csv", self.out_format) if self.out == STREAM else (str(self.out), None)
