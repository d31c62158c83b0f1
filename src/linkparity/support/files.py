"""Files that are either whole or not there."""

import errno
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from linkparity.support.errors import PlainError
from linkparity.support.workspace import Workspace, try_lock

#: The name that stands for stdin or stdout.
STREAM = "-"


@contextmanager
def to_stdout() -> Iterator[None]:
    """Write a result to stdout; a reader that has gone is an error, not a failed condition."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the end is quiet
        closed = isinstance(error, BrokenPipeError)
        problem = "was closed before all was written" if closed else f"failed: {error.strerror}"
        raise PlainError(f"stdout {problem}") from None


def check_output(name: str, force: bool, inputs: Iterable[str | None] = ()) -> None:
    """Raise before any work when an output cannot be written, or would replace an input."""
    if name == STREAM:
        return
    path = Path(name)
    for each in inputs:
        if each is not None and path.is_file() and Path(each).exists() and path.samefile(each):
            raise ValueError(f"{name}: is read, so it cannot be written; choose another name")
    if path.is_dir():
        raise ValueError(f"{name}: is a directory; give the name of a file in it")
    if path.is_symlink() and not path.exists():
        raise ValueError(f"{name}: is a link to nothing; choose another name")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{name}: its directory does not exist; make it first")
    if not os.access(path.absolute().parent, os.W_OK):
        raise ValueError(f"{name}: its directory cannot be written to; choose another place")
    if path.exists() and not force:
        raise ValueError(f"{name}: exists already; choose another name, or overwrite with --force")


@contextmanager
def whole_file(name: str, force: bool = False, spool: Path | None = None) -> Iterator[str]:
    """A path to write to; what was written gets its name when the block ends without an error.

    On Linux the file has no name until then, so that a killed process leaves nothing behind;
    elsewhere it has a temporary one. ``-`` is copied to stdout.
    """
    if name == STREAM:
        with Workspace(spool) as workspace:
            path = workspace.path / "out"
            yield str(path)
            with path.open("rb") as file, to_stdout():
                shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
                sys.stdout.buffer.flush()
        return
    check_output(name, force)
    target = Path(name).absolute()
    _remove_stale(target)
    unnamed = _unnamed(target.parent)
    if unnamed is None:
        with _renamed(target, force) as path, _by_name(str(path), name):
            yield str(path)
        return
    try:
        try_lock(unnamed)
        with _by_name(f"/proc/self/fd/{unnamed}", name):
            yield f"/proc/self/fd/{unnamed}"
            os.fsync(unnamed)
        _link(unnamed, target, force)
    finally:
        os.close(unnamed)


@contextmanager
def _by_name(path: str, name: str) -> Iterator[None]:
    """Have errors about a file that is being written name it as the user did."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise OSError(
            error.errno, f"{error.strerror}; nothing was written; free some space", name
        ) from None
    except Exception as error:
        error.args = tuple(str(part).replace(path, name) for part in error.args)
        raise


def write_text(name: str, text: str, force: bool = False) -> None:
    """Write a whole text file."""
    with whole_file(name, force) as path:
        Path(path).write_text(text, encoding="utf-8")


def _unnamed(directory: Path) -> int | None:
    """An open file without a name; None where the system knows no such thing."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(directory, os.O_RDWR | flag, 0o666)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
            return None
        raise


def _link(fd: int, target: Path, force: bool) -> None:
    """Give an unnamed file its name, at once."""
    source = f"/proc/self/fd/{fd}"
    directory = os.open(target.parent, os.O_RDONLY)
    try:
        try:
            os.link(source, target.name, dst_dir_fd=directory, follow_symlinks=True)
        except FileExistsError:
            if not force:
                raise
            spare = f".{target.name}.{os.getpid()}.tmp"
            os.link(source, spare, dst_dir_fd=directory, follow_symlinks=True)
            os.replace(spare, target.name, src_dir_fd=directory, dst_dir_fd=directory)
        os.fsync(directory)
    finally:
        os.close(directory)


@contextmanager
def _renamed(target: Path, force: bool) -> Iterator[Path]:
    number, spare = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    path = Path(spare)
    try:
        try_lock(number)
        yield path
        check_output(str(target), force)
        path.chmod(0o666 & ~_umask())
        path.replace(target)
    finally:
        with suppress(FileNotFoundError):
            path.unlink()
        os.close(number)


def _remove_stale(target: Path) -> None:
    """Remove what a killed process left of the same output; a live one holds a lock on its own."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        with suppress(OSError), left.open("rb+") as file:
            if try_lock(file.fileno()):
                left.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
