"""Outputs that appear whole or not at all, and temporary space that outlives no run.

An output is written in a private directory beside it, which one link or rename then publishes. A
private directory has a signed owner file, which its process keeps locked. What a killed process
left is recognized by the signature inside, never by a name. This works on every file system, unlike
files without a name (``O_TMPFILE``, which cannot replace a file either).
"""

import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from linkparity.support.errors import Explained, InputError, Message, PlainError

#: The name that stands for stdin or stdout.
STREAM = "-"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
#: Errors of file systems that have no hard links.
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
#: Names of private directories, and what their owner files hold.
PREFIX = ".linkparity-"
OWNER = "owner"
SIGNATURE = "temporary directory of linkparity, inode"


class Workspace:
    """A private directory for temporary files, made on first use and removed at the end.

    What killed processes left in ``base`` is removed first: directories of this user whose owner
    file is signed with the directory's own inode number and locked by nobody. A directory without
    a byte in it can remain, when a process is killed right before it signs or after it cleaned up.

    Args:
        base: where to make it; the system's temporary directory by default.
    """

    def __init__(self, base: str | Path | None = None) -> None:
        if base is not None and not Path(base).is_dir():
            raise InputError("is not a directory", "create it first", where=str(base))
        self._made: Path | None = None
        self._owner: int | None = None
        try:
            self.base = Path(base or tempfile.gettempdir()).absolute()
        except FileNotFoundError:  # no directory can be written, and perhaps none is needed
            self.base = Path(os.devnull)
        else:
            _remove_stale(self.base)

    @property
    def path(self) -> Path:
        """The directory."""
        if self._made is None:
            if not self.base.is_dir():
                fix = "set TMPDIR to one that can be written"
                raise InputError("there is no directory for temporary files", fix)
            self._made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.base))
            self._owner = os.open(self._made / OWNER, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            lock(self._owner)  # signed under the lock: signed and unlocked is abandoned
            os.write(self._owner, _signature(self._made).encode())
        return self._made

    def holds(self, name: str) -> bool:
        """Whether a file is in the directory, or is a directory that could not be made for it."""
        place = f"{self.base}{os.sep}{PREFIX}" if self._made is None else f"{self._made}{os.sep}"
        return name.startswith(place)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._made is not None:
            _remove(self._made)
        if self._owner is not None:
            with suppress(OSError):
                os.close(self._owner)


def _signature(place: Path) -> str:
    """What the owner file holds; a copy of the directory has another inode."""
    return f"{SIGNATURE} {place.lstat().st_ino}\n"


def _remove_stale(base: Path) -> None:
    """Remove the private directories of processes that have ended."""
    user = os.getuid() if hasattr(os, "getuid") else None
    for place in base.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if place.lstat().st_uid != user:  # not opened either: it may be anything
                continue
            with (place / OWNER).open("r+", errors="replace") as owner:
                abandoned = lock(owner.fileno(), wait=False)
                if abandoned and owner.read(200) == _signature(place):
                    _remove(place)


def _remove(place: Path) -> None:
    """Remove a private directory, its owner file last, so that a failure leaves it signed."""
    with suppress(OSError):
        for entry in place.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != OWNER:
                entry.unlink()
        (place / OWNER).unlink(missing_ok=True)
        place.rmdir()


def lock(file: int, wait: bool = True) -> bool:
    """Lock an open file or directory until it is closed; whether that was possible."""
    try:
        import fcntl
    except ImportError:  # no such locks on Windows, so that nothing counts as abandoned there
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def sync(path: Path) -> None:
    """Have a file, or the names in a directory, reach the disk; an error names the path."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        os.close(file)


class AlreadyWritten(PlainError):
    """Something failed when outputs were in place, which the message names."""


@contextmanager
def to_stdout() -> Iterator[None]:
    """Write a result to stdout; a closed pipe is an error, not a failed condition."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the end is quiet
        closed = isinstance(error, BrokenPipeError)
        problem = "was closed before all was written" if closed else f"failed: {error.strerror}"
        raise PlainError(f"stdout {problem}") from None


def check_output(name: str, force: bool, inputs: Iterable[str | Path | None] = ()) -> None:
    """Raise before any work when an output cannot be written, or would replace an input.

    FIFOs and character devices such as ``/dev/null`` are written through, with or without
    ``force``; block devices and sockets are refused.
    """
    if name == STREAM:
        return
    path = Path(name)
    if any(_is_same(path, each) for each in inputs if each is not None):
        raise InputError("is also read as an input", "choose another name", where=name)
    if path.is_dir():
        raise InputError("is a directory", "give the name of a file in it", where=name)
    if path.is_symlink() and not path.exists():
        raise InputError("is a symbolic link to nothing", "choose another name", where=name)
    if path.is_block_device() or path.is_socket():
        raise InputError("is a block device or a socket", "give the name of a file", where=name)
    parent = path.resolve().parent
    if not parent.is_dir():
        raise InputError("its directory does not exist", "create it first", where=name)
    if not os.access(path if _is_stream(name) else parent, os.W_OK):
        raise InputError("cannot be written", "choose another place", where=name)
    if path.exists() and not force and not _is_stream(name):
        raise _exists(name)


def _exists(name: str) -> InputError:
    return InputError(
        "exists already", "choose another name, or overwrite with {force=True}", where=name
    )


def _is_same(path: Path, other: str | Path) -> bool:
    """Whether two names are one file; False if one is missing."""
    try:
        found = os.stat(sys.stdin.fileno() if str(other) == STREAM else other)
        return os.path.samestat(path.stat(), found)
    except (OSError, ValueError, AttributeError):
        return False


def _is_stream(name: str) -> bool:
    """Whether a name is written through, because replacing it would destroy what it is."""
    return name == STREAM or Path(name).is_fifo() or Path(name).is_char_device()


@contextmanager
def whole_file(name: str, force: bool = False, spool: Path | None = None) -> Iterator[str]:
    """A path to write to; it becomes the output when the block ends without an error.

    ``-``, FIFOs and character devices get a copy of the finished file, put together in ``spool``
    or the temporary directory. A symbolic link stays one; the file that it points to is replaced.
    """
    with whole_files([name], force, spool) as (path,):
        yield path


@contextmanager
def whole_files(
    names: Sequence[str], force: bool = False, spool: Path | None = None
) -> Iterator[list[str]]:
    """As :func:`whole_file` for several outputs, all of them finished before one is published.

    Raises:
        AlreadyWritten: publishing one failed when others were published.
    """
    with ExitStack() as stack:
        spaces = [stack.enter_context(_output_space(name, force, spool)) for name in names]
        outputs = {name: space.path / "out" for name, space in zip(names, spaces, strict=True)}
        yield [str(path) for path in outputs.values()]
        for name, path in outputs.items():
            if not _is_stream(name):
                sync(path)
        ordered = sorted(names, key=_is_stream)
        for place, name in enumerate(ordered):
            with outputs_in_place(*ordered[:place], where=name):
                _copy(outputs[name], name) if _is_stream(name) else _publish(
                    outputs[name], Path(name).resolve(), force
                )


@contextmanager
def _output_space(name: str, force: bool, spool: Path | None) -> Iterator[Workspace]:
    """A private directory for an output, beside it unless it is written through."""
    check_output(name, force)
    spool = spool if _is_stream(name) else Path(name).resolve().parent
    with Workspace(spool) as workspace, _named_errors(workspace, name):
        _ = workspace.path  # made here, so that an error names this output
        yield workspace


@contextmanager
def outputs_in_place(*names: str | None, where: str = "") -> Iterator[None]:
    """For work after outputs were published: errors name them, and say where they arose."""
    written = ", ".join(name for name in names if name not in (None, STREAM))
    try:
        yield
    except (OSError, Explained, KeyboardInterrupt) as error:
        if not written:
            raise
        said = _message(error, where)
        fix = "; ".join(filter(None, (said.fix, f"already written: {written}")))
        raise AlreadyWritten(said.problem, fix, where=said.where, argument=said.argument) from None


def _message(error: BaseException, where: str) -> Message:
    if isinstance(error, Explained):
        return error.message
    if isinstance(error, OSError):
        return Message(error.strerror or str(error), where=where or str(error.filename or ""))
    return Message("interrupted")


@contextmanager
def _named_errors(workspace: Workspace, name: str) -> Iterator[None]:
    """Make errors about a file that is being written name the output."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and not workspace.holds(str(error.filename)):
            raise
        fix = "free some space" if error.errno in FULL else "choose another place"
        text = f"{error.strerror or error}; it was not written; {fix}"
        raise OSError(error.errno or errno.EIO, text, name) from None
    except Exception as error:
        path = str(workspace.path / "out")
        error.args = tuple(str(part).replace(path, name) for part in error.args)
        raise


def _publish(path: Path, target: Path, force: bool) -> None:
    """Give a finished file its name at once; without ``force`` only if the name is free."""
    check_output(str(target), force)
    try:
        os.replace(path, target) if force else os.link(path, target)
    except FileExistsError:
        raise _exists(str(target)) from None
    except OSError as error:
        if force or error.errno not in NO_LINKS:
            raise
        os.rename(path, target)
    with suppress(OSError):  # the file is in place, and some systems cannot sync directories
        sync(target.parent)


def _copy(path: Path, name: str) -> None:
    with path.open("rb") as file:
        if name == STREAM:
            with to_stdout():
                shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
                sys.stdout.buffer.flush()
            return
        try:
            with os.fdopen(os.open(name, os.O_WRONLY), "wb") as out:
                shutil.copyfileobj(file, out, 1 << 20)
        except OSError as error:
            text = f"{error.strerror}; it did not take the whole output; check who reads it"
            raise OSError(error.errno, text, name) from None


def write_text(name: str, text: str, force: bool = False) -> None:
    """Write a whole text file."""
    with whole_file(name, force) as path:
        Path(path).write_text(text, encoding="utf-8")


def read_json(path: Path) -> Any:
    """The value in a JSON file; whatever is wrong with the text, an error that names the file."""
    try:
        return json.loads(path.read_bytes().decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        said = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"is damaged: not valid JSON ({said:.80})", where=str(path)) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
