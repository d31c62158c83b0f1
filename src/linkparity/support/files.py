"""Outputs that appear whole or not at all, and private directories for temporary files.

An output is written to a temporary file beside it, flushed to the disk, and renamed. A process that
is killed can leave that file, or its private directory; their names begin with :data:`PREFIX`.
"""

import errno
import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, Self

from linkparity.support.errors import Explained, InputError, Message, PlainError

#: The name that stands for stdin or stdout.
STREAM = "-"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
#: Errors of file systems that have no hard links.
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
#: How the names of temporary files and directories begin.
PREFIX = ".linkparity-"


class Workspace:
    """A private directory for temporary files, made on first use and removed at the end.

    Args:
        base: where to make it; the system's temporary directory by default.
    """

    def __init__(self, base: str | Path | None = None) -> None:
        if base is not None and not Path(base).is_dir():
            raise InputError("is not a directory", "create it first", where=str(base))
        self._base = base
        self._made: Path | None = None

    @property
    def base(self) -> Path:
        """Where the directory is made."""
        try:
            return Path(self._base or tempfile.gettempdir()).absolute()
        except FileNotFoundError:
            fix = "set TMPDIR to one that can be written"
            raise InputError("there is no directory for temporary files", fix) from None

    @property
    def path(self) -> Path:
        """The directory."""
        if self._made is None:
            self._made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.base))
        return self._made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)


@contextmanager
def temporary_beside(target: Path) -> Iterator[Path]:
    """A path in the directory of ``target`` to write to; what is still there at the end goes."""
    path = target.with_name(f"{PREFIX}{secrets.token_hex(8)}")
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def publish(path: Path, target: Path, force: bool, name: str) -> None:
    """Give a flushed file its name at once; without ``force`` only if the name is free."""
    try:
        os.replace(path, target) if force else os.link(path, target)
    except FileExistsError:
        raise exists_already(name) from None
    except OSError as error:
        if force or error.errno not in NO_LINKS:
            raise
        os.rename(path, target)
    with suppress(OSError):  # the file is in place, and some systems cannot sync directories
        sync(target.parent)


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
        raise exists_already(name)


def exists_already(name: str) -> InputError:
    """The error for an output that may not be replaced."""
    fix = "choose another name, or overwrite with {force=True}"
    return InputError("exists already", fix, where=name)


def _is_same(path: Path, other: str | Path) -> bool:
    """Whether two names are one file; False if one is missing."""
    try:
        return os.path.samefile(path, sys.stdin.fileno() if str(other) == STREAM else other)
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
        paths = {name: stack.enter_context(_unfinished(name, force, spool)) for name in names}
        yield [str(path) for path in paths.values()]
        ordered = sorted(paths, key=_is_stream)
        for name in ordered:
            if not _is_stream(name):
                sync(paths[name])
        for place, name in enumerate(ordered):
            with outputs_in_place(*ordered[:place], where=name):
                if _is_stream(name):
                    _copy(paths[name], name)
                else:
                    check_output(name, force)
                    publish(paths[name], Path(name).resolve(), force, name)


@contextmanager
def _unfinished(name: str, force: bool, spool: Path | None) -> Iterator[Path]:
    """Where to write an output: beside it, or in a private directory if it is written through."""
    check_output(name, force)
    with ExitStack() as stack:
        if _is_stream(name):
            path = stack.enter_context(Workspace(spool)).path / "out"
        else:
            path = stack.enter_context(temporary_beside(Path(name).resolve()))
        with _named_errors(path, name):
            yield path


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
def _named_errors(path: Path, name: str) -> Iterator[None]:
    """Make errors about a file that is being written name the output."""
    try:
        yield
    except OSError as error:
        if error.filename not in (None, str(path)):
            raise
        fix = "free some space" if error.errno in FULL else "choose another place"
        text = f"{error.strerror or error}; it was not written; {fix}"
        raise OSError(error.errno or errno.EIO, text, name) from None
    except Exception as error:
        error.args = tuple(str(part).replace(str(path), name) for part in error.args)
        raise


def _copy(path: Path, name: str) -> None:
    with path.open("rb") as file:
        if name == STREAM:
            with to_stdout():
                shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
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
