"""Temporary space that outlives no run, and locks on directories.

A private directory has a signed owner file, which its process keeps locked. What a killed process
left is recognized by the signature inside, never by a name. This works on every file system, unlike
files without a name (``O_TMPFILE``, which cannot replace a file either).
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from linkparity.support.errors import InputError

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
    for place in base.glob(f"{PREFIX}*"):
        with suppress(OSError), (place / OWNER).open("r+", errors="replace") as owner:
            mine = lock(owner.fileno(), wait=False) and place.lstat().st_uid == os.getuid()
            if mine and owner.read(200) == _signature(place):
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


@contextmanager
def locked_directory(path: Path) -> Iterator[None]:
    """Make a directory unless it exists, and hold its lock; a new one that stays empty goes."""
    while True:
        made = not path.exists()
        path.mkdir(parents=True, exist_ok=True)
        try:
            directory = os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # removed by another process in the meantime
            continue
        try:
            lock(directory)
            if not _is_at(path, directory):
                continue
            try:
                yield
            finally:
                if made:
                    with suppress(OSError):
                        path.rmdir()
            return
        finally:
            os.close(directory)


def _is_at(path: Path, file: int) -> bool:
    """Whether an open file or directory still has this name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False


def sync(path: Path) -> None:
    """Have a file, or the names in a directory, reach the disk; an error names the path."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        os.close(file)
