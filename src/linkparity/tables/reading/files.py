"""Files that hold a table: their format, their header, and what can be wrong with their text."""

import codecs
import csv
import gzip
import io
import re
import shutil
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from linkparity.support.errors import InputError
from linkparity.support.files import STREAM
from linkparity.support.registry import did_you_mean
from linkparity.support.wording import place
from linkparity.support.workspace import Workspace

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
DELIMITER = {"csv": ",", "tsv": "\t"}
#: Prefix of the columns that an engine adds for its own use.
OURS = "_lp_"
#: Number of bytes in which the header of a text file must end.
HEADER_BYTES = 1 << 20


@dataclass(frozen=True)
class Format:
    """``csv``, ``tsv`` or ``parquet``, and whether it is compressed with gzip."""

    kind: str
    gzip: bool = False


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
            "use .csv, .csv.gz, .tsv, .tsv.gz or .parquet",
            where=name,
        )
    return Format(SUFFIXES[suffix], packed)


@dataclass(frozen=True)
class TableFile:
    """An uncompressed file on disk, with the name that messages use."""

    name: str
    path: Path
    kind: str


def open_table_file(name: str, workspace: Workspace, given: str | None = None) -> TableFile:
    """Find a file; stdin and compressed files are first written to the workspace.

    Gzip is unpacked here because a truncated archive must be an error, not a shorter table.
    """
    if name == STREAM:
        return _read_stdin(workspace, given)
    shape = format_of(name, given)
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
    return TableFile(name, path, shape.kind)


def check_path(name: str, path: Path) -> None:
    """Refuse a path that an engine cannot be told, because it is not UTF-8."""
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        fix = "rename the file or its directory"
        raise InputError("its path is not UTF-8 text", fix, where=name) from None


def literal_path(path: Path) -> str:
    """A path in which stars and brackets are characters, not a pattern for several files.

    >>> literal_path(Path("/tmp/scores[1].csv"))
    '/tmp/scores[[]1].csv'
    """
    return re.sub(r"[*?[]", lambda sign: f"[{sign[0]}]", str(path.absolute()))


def output_directory(name: str | None) -> list[Path]:
    """The directory of an output, which an engine must be allowed to write to; none for stdout."""
    if name is None or name == STREAM:
        return []
    directory = Path(name).resolve().parent
    check_path(name, directory)
    return [directory]


def _read_stdin(workspace: Workspace, given: str | None) -> TableFile:
    """What stdin holds; its format is recognized by the first bytes unless given."""
    kind = "" if given is None else format_of(STREAM, given).kind
    if sys.stdin is None:
        raise InputError("is closed", "give a file, or a table by a pipe", where="stdin")
    path = workspace.path / "stdin"
    with path.open("wb") as out:
        shutil.copyfileobj(sys.stdin.buffer, out, 1 << 20)
    while (head := _head(path)).startswith(b"\x1f\x8b"):
        path = _unpacked("stdin", path, workspace.path)
    if not head:
        raise _empty("stdin", "nothing came in")
    if head.startswith(b"PAR1"):
        kind = kind or "parquet"
    line = head.split(b"\n", 1)[0]
    return TableFile("stdin", path, kind or ("tsv" if b"\t" in line else "csv"))


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEADER_BYTES)


def _empty(name: str, problem: str) -> InputError:
    return InputError(problem, "a table starts with a line of column names", where=name)


def _unpacked(name: str, path: Path, spool: Path) -> Path:
    plain = spool / f"unpacked.{len(list(spool.iterdir()))}"
    try:
        with gzip.open(path) as packed, plain.open("wb") as out:
            shutil.copyfileobj(packed, out, 1 << 20)
    except (EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        fix = "compress it again, or remove .gz from the name"
        raise InputError(f"is not a complete gzip file ({error})", fix, where=name) from None
    return plain


def read_header(file: TableFile) -> list[str]:
    """Column names of a CSV or TSV file, unique and none empty."""
    text = _first_lines(file)
    delimiter = DELIMITER[file.kind]
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        fix = "end every line with LF or CR LF"
        raise InputError(f"the header cannot be read ({error})", fix, where=file.name) from None
    if any("\0" in name for name in names):
        fix = "save the file as text with the encoding UTF-8"
        raise InputError("the header has a NUL character", fix, where=file.name)
    if not any(name.strip() for name in names):
        raise InputError("the header is empty", "it must hold the column names", where=file.name)
    if len(names) == 1 and any(other in names[0] for other in ",;|\t"):
        fix = f"separate columns by {'commas' if delimiter == ',' else 'tabs'}"
        raise InputError(f"the header is one column, {names[0]!r}", fix, where=file.name)
    check_columns(file.name, names)
    return names


def _first_lines(file: TableFile) -> str:
    """The text that the header is in, up to the first bytes that are not UTF-8."""
    head = _head(file.path)
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = head[: error.start]
        cut = len(head) == HEADER_BYTES and len(head) - error.start < 4
        if b"\n" not in text and not cut:
            fix = "save the file with the encoding UTF-8"
            raise InputError("the header is not UTF-8 text", fix, where=file.name) from None
        return text.decode("utf-8-sig")


def check_columns(where: str, names: Sequence[str]) -> None:
    """Refuse names that an engine cannot tell apart: it ignores upper and lower case."""
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


def row_of(file: TableFile, line: int) -> int:
    """The row that begins at a line, from 1; the header and blank lines are not rows."""
    try:
        with file.path.open(encoding="utf-8", errors="replace", newline="") as text:
            before = islice(csv.reader(text, delimiter=DELIMITER[file.kind]), line - 1)
            return sum(1 for record in before if record)
    except csv.Error:
        return line - 1


def mixed_line_ends(file: TableFile) -> InputError | None:
    """What is wrong with the first line that does not end as the header does; None for nothing."""
    with file.path.open("rb") as text:
        crlf = text.readline().endswith(b"\r\n")
        for row, line in enumerate(text, 1):
            problem = ""
            if b"\r" in line.removesuffix(b"\r\n" if crlf else b"\n"):
                problem = "has a CR within the line" if crlf else "has a CR, unlike the header"
            elif crlf and line.endswith(b"\n") and not line.endswith(b"\r\n"):
                problem = "ends with LF, but the header ends with CR LF"
            if problem:
                fix = "end all lines with LF, or all with CR LF"
                return InputError(problem, fix, where=place(file.name, row))
    return None


def check_text(file: TableFile) -> None:
    """Refuse a file that is not UTF-8 text, for an engine that would read other characters."""
    decode = codecs.getincrementaldecoder("utf-8")().decode
    with file.path.open("rb") as data:
        try:
            while part := data.read(1 << 20):
                decode(part)
            decode(b"", final=True)
        except UnicodeDecodeError:
            fix = "save the file with the encoding UTF-8; DuckDB names the row ({engine=duckdb})"
            raise InputError("is not UTF-8 text throughout", fix, where=file.name) from None
