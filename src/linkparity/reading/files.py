"""Files of tables: format, header, compression."""

import csv
import errno
import gzip
import io
import shutil
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from linkparity.reading.duckdb import (
    Duck,
    Format,
    Input,
    TableFile,
    check_columns,
    disk_full,
    rows_of,
    size_of,
)
from linkparity.reading.store import announce_space
from linkparity.support.errors import InputError
from linkparity.support.files import STREAM, Workspace
from linkparity.support.registry import did_you_mean

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
#: Number of bytes in which the header of a text file must end.
HEADER_BYTES = 1 << 20


def format_of(name: str, given: str | None = None) -> Format:
    """The format of a file, as ``given`` or by its extensions.

    >>> format_of("scores.csv.gz")
    Format(kind='csv', gzip=True)
    """
    if given is not None:
        known = sorted(set(SUFFIXES.values()))
        if given not in known:
            fix = f"{did_you_mean(given, known)}known: {', '.join(known)}"
            raise InputError(f"unknown format {given!r}", fix)
        return Format(given, name.endswith(".gz"))
    path = Path(name)
    packed = path.suffix.lower() == ".gz"
    suffix = (path.with_suffix("") if packed else path).suffix.lower()
    if suffix not in SUFFIXES or (packed and SUFFIXES[suffix] == "parquet"):
        raise InputError(
            f"cannot tell the format by the extension {''.join(path.suffixes[-2:])!r}",
            "use .csv, .csv.gz, .tsv, .tsv.gz or .parquet, or name it with {format=}",
            where=name,
        )
    return Format(SUFFIXES[suffix], packed)


def input_format(name: str, given: str | None = None) -> Format:
    """The format of a file to read: by its extension, else as ``given``.

    The kind of a ``.txt`` file is empty: it is recognized by the first line.

    >>> input_format("links.txt"), input_format("links.csv", "tsv"), input_format("links", "tsv")
    (Format(kind='', gzip=False), Format(kind='csv', gzip=False), Format(kind='tsv', gzip=False))
    """
    packed = name.lower().endswith(".gz")
    suffix = Path(name[:-3] if packed else name).suffix.lower()
    if suffix in SUFFIXES:
        return format_of(name)
    if given is None and suffix == ".txt":
        return Format("", packed)
    return format_of(name, given)


def check_separator(given: str | None) -> str:
    r"""The character that separates columns; tab and space also by their names.

    >>> check_separator(";"), check_separator("tab")
    (';', '\t')
    """
    found = {None: "", "tab": "\t", "\\t": "\t", "space": " "}.get(given, given or "")
    if given is not None and (len(found) != 1 or found in '"\r\n'):
        problem = f"must be one character, tab or space, got {given!r}"
        raise InputError(problem, argument="separator")
    return found


def open_table_file(
    name: str, workspace: Workspace, given: str | None = None, separator: str | None = None
) -> TableFile:
    """Find a file; stdin and compressed files are first written to the workspace.

    Gzip is unpacked here because a truncated archive must be an error, not a shorter table.

    Args:
        name: of the file, ``-`` for stdin.
        workspace: for what is unpacked.
        given: format, where the extension does not tell.
        separator: character between columns, where the extension is not that of tabs.
    """
    between = check_separator(separator)
    if name == STREAM:
        return _read_stdin(workspace, given, between)
    shape = input_format(name, given)
    path = Path(name)
    if path.is_dir():
        raise InputError("is a directory", "give one file", where=name)
    if not path.exists():
        close = [str(near) for near in path.parent.glob("*") if near.is_file()]
        fix = f"{did_you_mean(name, close)}check the path"
        raise InputError("no such file", fix, where=name)
    if not path.is_file():
        fix = "copy it to a file, or pipe it into stdin and give - as the name"
        raise InputError("is a pipe or a device, not a file", fix, where=name)
    check_path(name, path)
    if not path.stat().st_size:
        raise _empty(name, "the file is empty")
    if shape.gzip:
        path = _unpacked(name, path, workspace.path)
    return _with_header(name, path, shape.kind, "" if shape.kind == "tsv" else between)


@contextmanager
def loaded(
    files: Mapping[str, TableFile], workspace: Workspace, out: str | None = None
) -> Iterator[tuple[Duck, dict[str, Input]]]:
    """DuckDB with the tables of some files, which can access no other file but an output."""
    copied = sum(size_of(file) for file in files.values() if file.kind != "parquet")
    announce_space(workspace, sum(map(rows_of, files.values())), copied)
    with Duck(workspace, sum(map(size_of, files.values()))) as duck:
        inputs = {view: duck.load(file, view) for view, file in files.items()}
        duck.lock(workspace.path, *output_directory(out))
        yield duck, inputs


def _with_header(name: str, path: Path, kind: str, separator: str) -> TableFile:
    if not kind:
        kind, separator = _recognized(_head(path).split(b"\n", 1)[0], separator)
    found = TableFile(name, path, kind, separator=separator)
    if kind == "parquet":
        return found
    return replace(found, header=tuple(read_header(name, path, found.delimiter)))


def _recognized(line: bytes, separator: str) -> tuple[str, str]:
    """Kind and separator of a text file, by its first line: tabs, commas, semicolons, blanks."""
    if separator:
        return "csv", separator
    if b"\t" in line:
        return "tsv", ""
    found = (sign for sign in ",; " if sign.encode() in line)
    return "csv", next(found, "")


def check_path(name: str, path: Path) -> None:
    """Refuse a path that an engine cannot be told, because it is not UTF-8."""
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        fix = "rename the file or its directory"
        raise InputError("its path is not UTF-8 text", fix, where=name) from None


def output_directory(name: str | None) -> list[Path]:
    """The directory of an output, which an engine must be allowed to write to; none for stdout."""
    if name is None or name == STREAM:
        return []
    directory = Path(name).resolve().parent
    check_path(name, directory)
    return [directory]


def _read_stdin(workspace: Workspace, given: str | None, separator: str) -> TableFile:
    """What stdin holds; its format is recognized by the first bytes unless given."""
    kind = "" if given is None else format_of(STREAM, given).kind
    if sys.stdin is None:
        raise InputError("is closed", "give a file, or a table by a pipe", where="stdin")
    path = workspace.path / "stdin"
    with path.open("wb") as out:
        _copy(sys.stdin.buffer, out)
    while (head := _head(path)).startswith(b"\x1f\x8b"):
        path = _unpacked("stdin", path, workspace.path)
    if not head:
        raise _empty("stdin", "nothing came in")
    if head.startswith(b"PAR1"):
        kind = kind or "parquet"
    tabs = not separator and b"\t" in head.split(b"\n", 1)[0]
    return _with_header("stdin", path, kind or ("tsv" if tabs else "csv"), separator)


def _copy(source: Any, out: BinaryIO) -> None:
    """Copy what is read to a temporary file."""
    try:
        shutil.copyfileobj(source, out, 1 << 20)
        out.flush()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise disk_full(str(error)) from None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEADER_BYTES)


def _empty(name: str, problem: str) -> InputError:
    return InputError(problem, "a table starts with a line of column names", where=name)


def _unpacked(name: str, path: Path, spool: Path) -> Path:
    plain = spool / f"unpacked.{len(list(spool.iterdir()))}"
    try:
        with gzip.open(path) as packed, plain.open("wb") as out:
            _copy(packed, out)
    except (EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        fix = "compress it again, or remove .gz from the name"
        raise InputError(f"is not a complete gzip file ({error})", fix, where=name) from None
    return plain


def read_header(where: str, path: Path, delimiter: str) -> list[str]:
    """Column names of a CSV or TSV file, unique and none empty."""
    text = _first_lines(where, path)
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        fix = "end every line with LF or CR LF"
        raise InputError(f"the header cannot be read ({error})", fix, where=where) from None
    if any("\0" in name for name in names):
        fix = "save the file as text with the encoding UTF-8"
        raise InputError("the header has a NUL character", fix, where=where)
    if not any(name.strip() for name in names):
        raise InputError("the header is empty", "it must hold the column names", where=where)
    if len(names) == 1 and any(other in names[0] for other in ",;|\t"):
        fix = f"separate columns by {'commas' if delimiter == ',' else 'tabs'}"
        fix += ", or name the character between them with {separator=}"
        raise InputError(f"the header is one column, {names[0]!r}", fix, where=where)
    check_columns(where, names)
    return names


def _first_lines(where: str, path: Path) -> str:
    """The text that the header is in, up to the first bytes that are not UTF-8."""
    head = _head(path)
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = head[: error.start]
        cut = len(head) == HEADER_BYTES and len(head) - error.start < 4
        if b"\n" not in text and not cut:
            fix = "save the file with the encoding UTF-8"
            raise InputError("the header is not UTF-8 text", fix, where=where) from None
        return text.decode("utf-8-sig")
