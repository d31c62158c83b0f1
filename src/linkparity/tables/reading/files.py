"""Files by their names: which format, whether compressed, what the header says."""

import codecs
import csv
import gzip
import io
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from linkparity.support.files import STREAM
from linkparity.support.registry import nearest
from linkparity.support.workspace import Workspace

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
DELIMITER = {"csv": ",", "tsv": "\t"}
#: How columns begin that are added on the way.
OURS = "_lp_"


@dataclass(frozen=True)
class Format:
    """``csv``, ``tsv`` or ``parquet``; whether gzip lies around it."""

    kind: str
    gzip: bool = False


def format_of(name: str, told: str | None = None) -> Format:
    """The format that a file's extensions, or ``told``, stand for.

    >>> format_of("scores.csv.gz")
    Format(kind='csv', gzip=True)
    """
    if told is not None:
        if told not in SUFFIXES.values():
            hint = nearest(told, sorted(set(SUFFIXES.values())))
            raise ValueError(f"unknown format {told!r}{hint} known: csv, parquet, tsv")
        return Format(told, name.endswith(".gz"))
    path = Path(name)
    packed = path.suffix.lower() == ".gz"
    suffix = (path.with_suffix("") if packed else path).suffix.lower()
    if suffix not in SUFFIXES or (packed and SUFFIXES[suffix] == "parquet"):
        raise ValueError(
            f"{name}: cannot tell the format by the extension {''.join(path.suffixes[-2:])!r}; "
            "use .csv, .csv.gz, .tsv, .tsv.gz or .parquet"
        )
    return Format(SUFFIXES[suffix], packed)


@dataclass(frozen=True)
class Source:
    """A file ready to be read: plain, on disk, with the name that messages use."""

    name: str
    path: Path
    kind: str


def open_source(name: str, workspace: Workspace, told: str | None = None) -> Source:
    """Find a file; what comes compressed or by stdin is written out first.

    Gzip is unpacked here because a cut-off archive must be an error, not a shorter table.
    """
    if name == STREAM:
        if told is not None:
            format_of(name, told)
        if sys.stdin is None:
            raise ValueError("stdin: is closed; give a file, or a table by a pipe")
        plain = workspace.path / "stdin"
        with plain.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out, 1 << 20)
        return _sniffed(Source("stdin", plain, told or ""), workspace)
    shape = format_of(name, told)
    path = Path(name)
    if path.is_dir():
        raise ValueError(f"{name}: is a directory; give one file")
    if not path.exists():
        close = [str(near) for near in path.parent.glob("*") if near.is_file()]
        raise ValueError(f"{name}: no such file{nearest(name, close)} check the path")
    if not path.stat().st_size:
        raise ValueError(f"{name}: the file is empty; a table starts with a line of column names")
    if shape.gzip:
        path = _unpacked(name, path, workspace.path)
    return Source(name, path, shape.kind)


def _sniffed(source: Source, workspace: Workspace) -> Source:
    """What stdin carries, told by its first bytes unless given."""
    with source.path.open("rb") as file:
        head = file.read(1 << 16)
    if not head:
        raise ValueError("stdin: nothing came in; a table starts with a line of column names")
    if head.startswith(b"\x1f\x8b"):
        plain = _unpacked(source.name, source.path, workspace.path)
        return _sniffed(Source(source.name, plain, source.kind), workspace)
    if source.kind:
        return source
    if head.startswith(b"PAR1"):
        return Source(source.name, source.path, "parquet")
    line = head.split(b"\n", 1)[0]
    return Source(source.name, source.path, "tsv" if b"\t" in line else "csv")


def _unpacked(name: str, path: Path, spool: Path) -> Path:
    plain = spool / f"{path.stem}.{len(list(spool.iterdir()))}"
    try:
        with gzip.open(path) as packed, plain.open("wb") as out:
            shutil.copyfileobj(packed, out, 1 << 20)
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(
            f"{name}: not a whole gzip file ({error}); pack it again, or drop .gz from the name"
        ) from None
    return plain


def read_header(source: Source) -> list[str]:
    """Column names of a CSV or TSV file, each once and none empty."""
    with source.path.open("rb") as file:
        head = file.read(1 << 20)
    try:
        text = _decode(head)
    except UnicodeDecodeError as error:
        line = head[: error.start].count(b"\n") + 1
        if line == 1:
            raise ValueError(
                f"{source.name}: the header is not UTF-8 text; save the file in that encoding"
            ) from None
        text = head[: error.start].decode("utf-8-sig")
    delimiter = DELIMITER[source.kind]
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        raise ValueError(
            f"{source.name}: the header cannot be read ({error}); end every line with LF or CR LF"
        ) from None
    if not any(name.strip() for name in names):
        raise ValueError(f"{source.name}: the header is empty; it must hold the column names")
    if "" in names:
        raise ValueError(
            f"{source.name}: the header has a column without a name; give every column one"
        )
    if len(names) == 1 and any(other in names[0] for other in ",;|\t"):
        raise ValueError(
            f"{source.name}: the header is one column, {names[0]!r}; "
            f"separate columns by {'commas' if delimiter == ',' else 'tabs'}"
        )
    check_columns(source.name, names)
    return names


def row_of(source: Source, line: int) -> int:
    """The row of data that a line holds: neither the header nor blank lines are rows.

    A line break inside quotes is no end of a line.
    """
    try:
        with source.path.open(encoding="utf-8", errors="replace", newline="") as file:
            before = islice(csv.reader(file, delimiter=DELIMITER[source.kind]), line - 1)
            return sum(1 for record in before if record)
    except csv.Error:
        return line - 1


def odd_ending(source: Source) -> str | None:
    """Which row ends otherwise than the header, or breaks in the middle; None for none."""
    with source.path.open("rb") as file:
        crlf = file.readline().endswith(b"\r\n")
        for row, line in enumerate(file, 1):
            if b"\r" in line.removesuffix(b"\r\n" if crlf else b"\n"):
                return (
                    f"row {row:,} holds a CR that ends no line"
                    if crlf
                    else (f"row {row:,} has a CR where the header's line has none")
                )
            if crlf and line.endswith(b"\n") and not line.endswith(b"\r\n"):
                return f"row {row:,} ends with LF where the header ends with CR LF"
    return None


def check_text(source: Source) -> None:
    """Refuse a file that is not UTF-8 text, for an engine that would read it with other letters."""
    decode = codecs.getincrementaldecoder("utf-8")().decode
    with source.path.open("rb") as file:
        try:
            while part := file.read(1 << 20):
                decode(part)
            decode(b"", final=True)
        except UnicodeDecodeError:
            raise ValueError(
                f"{source.name}: is not UTF-8 text throughout; save the file with the encoding "
                "UTF-8 (--engine duckdb names the row)"
            ) from None


def check_columns(where: str, names: Sequence[str]) -> None:
    """Refuse names that an engine cannot tell apart: they have no upper and lower case there."""
    met: dict[str, str] = {}
    for name in names:
        if not name:
            raise ValueError(f"{where}: has a column without a name; give every column one")
        other = met.setdefault(name.lower(), name)
        if name.lower().startswith(OURS):
            raise ValueError(
                f"{where}: names that begin with {OURS!r}, such as column {name!r}, are taken; "
                "rename the column"
            )
        if other is not name:
            same = f"column {name!r} stands twice"
            if other != name:
                same = f"columns {other!r} and {name!r} differ only in upper and lower case"
            raise ValueError(f"{where}: {same}; rename one of them in the header")


def _decode(head: bytes) -> str:
    """UTF-8 text; a character cut in two at the end is left out."""
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(head) - error.start < 4 and len(head) == 1 << 20:
            return head[: error.start].decode("utf-8-sig")
        raise
