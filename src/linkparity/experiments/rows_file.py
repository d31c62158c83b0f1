"""A file of rows, one JSON object per line: appended to, safe at any moment, one writer at a time.

A row is one line, and it counts when its newline is on the disk. The first one comes with its file,
by renaming: a file that has no whole row was not written here, and is left alone. Whoever writes
holds a lock on the open file, which ends with its process, however that ends. Rows are never
changed in place: where some must go, the others are written to a new file, locked, which then
takes the name.
"""

import gzip
import json
import os
import zlib
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

from linkparity.experiments.rows import Row
from linkparity.support.errors import InputError
from linkparity.support.files import check_output, sync, temporary_beside

#: How every row begins: what a line that was cut off must agree with to be taken for one.
BEGIN = b'{"dataset": '
#: What a line that is not a row raises when it is read.
NOT_A_ROW = (ValueError, TypeError, KeyError, AttributeError)


def read_rows(name: str) -> list[Row]:
    """The rows of a file, plain or gzipped, in order; a last line that was cut off is left out."""
    content = Path(name).read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            problem = f"is damaged: not a whole gzip file ({error})"
            raise InputError(problem, "make or copy it again", where=name) from None
    return _parse(name, content)[0]


def _parse(name: str, content: bytes) -> tuple[list[Row], int]:
    """The rows, and the number of bytes that they take: all, or all but a row that was cut off."""
    *lines, last = content.split(b"\n")
    size = len(content)
    if any(map(bytes.strip, lines)) and _cut_off(last):
        size -= len(last)
    else:
        lines.append(last)
    rows = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                rows.append(Row.from_json(line.decode()))
            except NOT_A_ROW as error:
                raise _not_a_row(name, number, error) from None
    return rows, size


def _cut_off(line: bytes) -> bool:
    """Whether a line without its newline, after whole rows, is the beginning of another one."""
    if not line or not (line.startswith(BEGIN) or BEGIN.startswith(line)):
        return False
    try:
        json.loads(line)
    except ValueError:
        return True
    except RecursionError:  # no row is nested so deeply
        return False
    return False


def _not_a_row(name: str, number: int, error: Exception) -> InputError:
    message = getattr(error, "message", None)
    problem = message.problem if message else f"{type(error).__name__}: {error}"
    fix = "delete that line, or give the name of a file that linkparity run wrote"
    return InputError(f"is not a row of results: {problem}", fix, where=f"{name}: row {number}")


def _kept(rows: list[Row], again: Collection[str]) -> list[Row]:
    """Rows without those to be fitted again; of several rows of one fit, one that did not fail."""
    good = {row.id for row in rows if row.error is None}
    kept: dict[object, Row] = {}
    for place, row in enumerate(rows):
        if row.error is None or not (row.id in again or row.id in good):
            kept.setdefault(place if row.id is None else row.id, row)
    return list(kept.values())


class RowsFile:
    """The rows of a file that is open for more of them; other writers are refused meanwhile.

    Args:
        name: The file; it is made where it does not exist.
        again: Ids of fits whose failed rows are removed, because they are to be fitted again.
    """

    def __init__(self, name: str, again: Collection[str] = ()) -> None:
        check_output(name, force=True)
        if Path(name).exists() and not Path(name).is_file():
            raise InputError("is not a regular file", "choose another name", where=name)
        self.name = name
        self._file = _open_locked(Path(name))
        try:
            content = Path(name).read_bytes()
            rows, size = _parse(name, content)
            self.rows = _kept(rows, again)
            if len(self.rows) < len(rows):
                self._rewrite(self.rows)
            elif size < len(content):
                os.ftruncate(self._file, size)
            elif rows and not content.endswith(b"\n"):
                self._write(b"\n")
        except BaseException:
            self.close()
            raise

    def append(self, row: Row) -> None:
        """Add a row; when this returns, it is on the disk."""
        try:
            if os.fstat(self._file).st_size:
                self._write(row.to_json().encode() + b"\n")
            else:
                self._rewrite([row])
        except OSError as error:
            text = f"{error.strerror}; {len(self.rows)} rows are in place; free some space"
            raise OSError(error.errno, f"{text} and run it again", self.name) from None
        self.rows.append(row)

    def _write(self, data: bytes) -> None:
        before = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, data)
            while written < len(data):
                written += os.write(self._file, data[written:])
            os.fsync(self._file)
        except OSError:
            with suppress(OSError):  # the next run leaves out a line that was cut off
                os.ftruncate(self._file, before)
            raise

    def _rewrite(self, rows: Iterable[Row]) -> None:
        """Give the name to a new file of these rows, which is locked before it has it."""
        target = Path(self.name).resolve()
        with temporary_beside(target) as path:
            path.write_text("".join(row.to_json() + "\n" for row in rows), encoding="utf-8")
            path.chmod(target.stat().st_mode & 0o777)
            new = os.open(path, os.O_RDWR | os.O_APPEND)
            _lock(new)
            os.fsync(new)
            os.replace(path, target)
        os.close(self._file)
        self._file = new
        sync(target.parent)

    def close(self) -> None:
        """Let others write."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _open_locked(path: Path) -> int:
    """The file, open for appending and locked; a run that has it open is an error."""
    while True:
        made = not path.exists()
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        if not _lock(file):
            os.close(file)
            fix = "wait for it, or choose another name"
            raise InputError("is being written by another run", fix, where=str(path))
        try:
            if os.path.samestat(os.fstat(file), path.stat()):
                if made:
                    sync(path.resolve().parent)
                return file
        except FileNotFoundError:
            pass
        os.close(file)  # replaced between opening and locking


def _lock(file: int) -> bool:
    """Lock an open file until it is closed; whether nobody else has locked it."""
    import fcntl  # not on Windows

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
