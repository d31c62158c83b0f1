"""Spark's tables: read from files or taken from the caller, and corrected ones given back."""

import codecs
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from linkparity.reading.columns import Columns, ReadOptions
from linkparity.reading.duckdb import (
    ROW,
    Duck,
    Format,
    Input,
    TableFile,
    check_columns,
    check_parquet,
    literal_path,
    quoted,
    text,
)
from linkparity.reading.frames import LARGE, Frame
from linkparity.reading.pair_table import PairTable
from linkparity.reading.scores import pick_all, read_scores
from linkparity.reading.spark_place import SparkInput, SparkPlace, SparkTable
from linkparity.reading.spark_reader import SparkReader
from linkparity.reading.spark_session import cause, explain_spark, of_spark, session_at
from linkparity.reading.sql import written_columns
from linkparity.support.errors import InputError
from linkparity.support.files import Workspace
from linkparity.support.spark_frames import fetched, is_spark_frame, quoted_name

#: Characters that make a path a pattern for several files.
GLOB = re.compile(r"[\[\]{}*?\\]")


@contextmanager
def in_one_line() -> Iterator[None]:
    """Turn an error of Spark into one sentence."""
    try:
        yield
    except Exception as error:
        explained = explain_spark(error)
        if explained is None:
            raise
        raise explained from None


@contextmanager
def spark_files(
    files: Mapping[str, TableFile],
    options: ReadOptions,
    master: str | None,
    workspace: Workspace,
    writable: list[Path],
    several: bool,
) -> Iterator[PairTable]:
    """A score table in files, read by Spark; the table of nodes is read on the driver.

    Args:
        files: ``scores`` and, if there are such, ``nodes`` and the ``other`` scores.
        options: which column holds what, and what happens to untidy rows.
        master: URL of Spark's master; None to run on this machine.
        workspace: for temporary files.
        writable: directories that are written to.
        several: whether there must be two groups.
    """
    with (
        session_at(master, workspace.path) as session, Duck(workspace, LARGE) as duck,
        in_one_line(),
    ):  # fmt: skip
        place = SparkPlace(session, duck)
        try:
            for view, file in files.items():
                if view != "nodes":
                    place.inputs[view] = _load(place, file, view)
            nodes = duck.load(files["nodes"], "nodes") if "nodes" in files else None
            duck.lock(workspace.path, *writable)
            given = [each.given for each in place.inputs.values()]
            picked = pick_all(given[0], nodes, options, *given[1:])
            yield _read(place, nodes, picked, options, several)
        finally:
            place.release()


def _read(
    place: SparkPlace,
    nodes: Input | None,
    picked: list[Columns],
    options: ReadOptions,
    several: bool,
) -> PairTable:
    given = {view: each.given for view, each in place.inputs.items()}
    place.add_distinct(picked, options, nodes is not None)
    return read_scores(
        place.duck, given["scores"], nodes, options, several, given.get("other"), picked,
        partial(SparkReader, place),
    )  # fmt: skip


def _load(place: SparkPlace, file: TableFile, view: str) -> SparkInput:
    """Read a file."""
    path = "file://" + GLOB.sub(r"\\\g<0>", str(file.path.absolute()))
    try:
        if file.kind == "parquet":
            check_parquet(file)
            frame = place.session.read.parquet(path)
        else:
            _check_text(file)
            schema = ", ".join(f"{quoted_name(column)} string" for column in file.header)
            frame = place.session.read.csv(
                path, schema, header=True, sep=file.delimiter, quote='"', escape='"',
                mode="FAILFAST", multiLine=True, enforceSchema=True,
            )  # fmt: skip
        return SparkInput(place, frame, file.name, view, text=file.kind != "parquet")
    except Exception as error:
        if not of_spark(error):
            raise
        fix = "fix the file; DuckDB names the row ({engine=duckdb})"
        problem = f"Spark cannot read it ({cause(str(error))})"
        raise InputError(problem, fix, where=file.name) from None


def _check_text(file: TableFile) -> None:
    """Refuse a file that is not UTF-8 text, which Spark would read as other characters."""
    decode = codecs.getincrementaldecoder("utf-8")().decode
    with file.path.open("rb") as data:
        try:
            while part := data.read(1 << 20):
                decode(part)
            decode(b"", final=True)
        except UnicodeDecodeError:
            fix = "save the file with the encoding UTF-8; DuckDB names the row ({engine=duckdb})"
            raise InputError("is not UTF-8 text throughout", fix, where=file.name) from None


def write_spark_table(table: SparkTable, new: Any, path: str, shape: Format) -> None:
    """Have Spark write parts of the input with new columns, and DuckDB put them into one file."""
    parts = table.duck.workspace.path / "parts"
    _joined(table, new).write.parquet(str(parts))
    pattern = text(f"{literal_path(parts)}/*.parquet")
    names = [*new.columns[1:]]
    listed = [*written_columns(table.given, table.columns, shape), *map(quoted, names)]
    rows = f"(SELECT * FROM read_parquet({pattern}) ORDER BY {ROW}) g"
    table.duck.copy(f"SELECT {', '.join(listed)} FROM {rows}", path, shape)


def _joined(table: SparkTable, new: Any) -> Any:
    """The rows of the input that count, with new columns."""
    return table.source.frame.join(new.withColumnRenamed("row", ROW), ROW)


@dataclass(frozen=True)
class SparkFrames:
    """Spark's own DataFrames, which are worked on where they are.

    Attributes:
        scores: the score table.
        nodes: the table of nodes, of any kind; None when the score table has the groups.
        options: which column holds what, and what happens to untidy rows.
        compare: another score table of the same pairs.
    """

    scores: Any
    nodes: Any
    options: ReadOptions
    compare: Any = None
    #: No files are read or written.
    inputs: ClassVar[tuple[str | None, ...]] = ()
    outputs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_columns("scores", self.scores.columns)
        if self.compare is not None:
            check_same_kind(self.scores, self.compare)
            check_columns("compare", self.compare.columns)

    @contextmanager
    def open(self, several: bool = True, unlabelled: bool = False) -> Iterator[PairTable]:
        """The checked table, which is open as long as the block lasts."""
        options, nodes = replace(self.options, unlabelled=unlabelled), None
        known = None if self.nodes is None else _nodes_frame(self.nodes)
        tables = {"scores": ("scores", self.scores), "other": ("compare", self.compare)}
        frames = {view: each for view, each in tables.items() if each[1] is not None}
        headers = [Input(name, "", tuple(frame.columns), {}) for name, frame in frames.values()]
        header = None if known is None else known.header
        picked = pick_all(headers[0], header, options, *headers[1:])
        with Workspace() as workspace, Duck(workspace, LARGE) as duck, in_one_line():
            place = SparkPlace(self.scores.sparkSession, duck)
            try:
                for view, (name, frame) in frames.items():
                    place.inputs[view] = SparkInput(place, frame, name, view)
                if known is not None:
                    used = {str(picked[0].node), *options.sensitive}
                    nodes = known.put_into(duck, "nodes", used)
                yield _read(place, nodes, picked, options, several)
            finally:
                place.release()

    def deliver(self, table: SparkTable, new: Any, paths: list[str]) -> Any:
        """The caller's table and the new columns, without the rows that were dropped.

        The new columns, and the rows as they were numbered, stay in Spark's memory.
        """
        new = new.persist()
        new.count()
        table.place.hand_over(table.source.frame)
        return _joined(table, new).drop(ROW)


def _nodes_frame(given: Any) -> Frame:
    """A table of nodes of any kind; one of Spark is fetched."""
    return Frame.of(fetched(given) if is_spark_frame(given) else given, "nodes")


def check_same_kind(scores: Any, compare: Any) -> None:
    """Refuse two score tables of which one is in Spark."""
    if is_spark_frame(scores) != is_spark_frame(compare):
        names = ("scores", "compare") if is_spark_frame(scores) else ("compare", "scores")
        raise TypeError(
            f"{names[0]} is a Spark DataFrame and {names[1]} is not: give two Spark DataFrames, "
            "or fetch the one"
        )
