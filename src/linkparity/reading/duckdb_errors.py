"""Errors of DuckDB in one sentence: damaged files, a full disk, an interruption."""

import csv
import re
from collections.abc import Iterable
from itertools import islice

import duckdb

from linkparity.reading.duckdb import TableFile, disk_full, fetch_batches, literal_path, text
from linkparity.support.display import counted, place
from linkparity.support.errors import InputError, PlainError

#: Signs in DuckDB's messages that the disk is full.
FULL = ("No space left", "max_temp_directory_size")
OF_SYSTEM = (duckdb.IOException, duckdb.OutOfMemoryException)


def explain_duckdb(error: Exception, files: Iterable[TableFile]) -> BaseException | None:
    """What to raise instead of an error that DuckDB raised while it worked on ``files``.

    A Parquet file is read late, so that damage may show at any time; None for a bug.
    """
    if found := stopped(error):
        return found
    if not isinstance(error, duckdb.Error):
        return None
    for file in files:
        if file.kind == "parquet" and _is_damaged(file):
            return unreadable(file, str(error))
    if isinstance(error, OF_SYSTEM):
        return PlainError(f"{_first_line(error)}; nothing was written", "try again")
    if isinstance(error, duckdb.DataError):  # a value, not the text of a query
        where = ", ".join(file.name for file in files)
        problem = f"holds a value that cannot be used ({_first_line(error)})"
        return InputError(problem, "look for numbers that are out of range", where=where)
    return None


def stopped(error: Exception) -> BaseException | None:
    """What to raise for an error that no input caused: an interruption, a full disk."""
    if isinstance(error, duckdb.InterruptException) or str(error) == "Query interrupted":
        return KeyboardInterrupt()
    if isinstance(error, OF_SYSTEM) and any(sign in str(error) for sign in FULL):
        return disk_full(_first_line(error))
    return None


def unreadable(file: TableFile, message: str) -> InputError:
    """The sentence for DuckDB's message about a file that it cannot read."""
    line = re.search(r"Error on Line: (\d+)", message)
    where = place(file.name, row_of(file, int(line[1])) if line else None)
    if counts := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        problem = f"has {counted(int(counts[2]), 'column')} where the header has {counts[1]}"
        return InputError(problem, "fix the row", where=where)
    if "invalid state" in message and (mixed := mixed_line_ends(file)) is not None:
        return mixed
    for sign, problem, fix in (
        ("utf-8", "is not UTF-8 text", "save the file with the encoding UTF-8"),
        ("unterminated quote", "opens a quote that never closes", "double quotes inside a value"),
        ("Maximum line size", "is longer than 2 MB", "look for a quote that never closes"),
    ):
        if sign in message:
            return InputError(problem, fix, where=where)
    if file.kind == "parquet":
        fix = "write it again, or correct its extension"
        return InputError("is not a complete Parquet file", fix, where=where)
    return InputError(f"cannot be read ({message.splitlines()[0]})", "fix the file", where=where)


def _is_damaged(file: TableFile) -> bool:
    """Whether DuckDB cannot read all of a Parquet file."""
    with duckdb.connect() as con:
        try:
            path = text(literal_path(file.path))
            for _ in fetch_batches(con.sql(f"SELECT * FROM read_parquet({path})")):
                pass
        except (duckdb.Error, OSError):
            return True
    return False


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0]


def row_of(file: TableFile, line: int) -> int:
    """The row that begins at a line, from 1; the header and blank lines are not rows."""
    try:
        with file.path.open(encoding="utf-8", errors="replace", newline="") as lines:
            before = islice(csv.reader(lines, delimiter=file.delimiter), line - 1)
            return sum(1 for record in before if record)
    except csv.Error:
        return line - 1


def mixed_line_ends(file: TableFile) -> InputError | None:
    """What is wrong with the first line that does not end as the header does; None for nothing."""
    with file.path.open("rb") as lines:
        crlf = lines.readline().endswith(b"\r\n")
        for row, line in enumerate(lines, 1):
            problem = ""
            if b"\r" in line.removesuffix(b"\r\n" if crlf else b"\n"):
                problem = "has a CR within the line" if crlf else "has a CR, unlike the header"
            elif crlf and line.endswith(b"\n") and not line.endswith(b"\r\n"):
                problem = "ends with LF, but the header ends with CR LF"
            if problem:
                fix = "end all lines with LF, or all with CR LF"
                return InputError(problem, fix, where=place(file.name, row))
    return None
