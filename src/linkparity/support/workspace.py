"""A temporary directory that outlives no run: what a killed process left, the next one removes."""

import os
import shutil
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Self

PREFIX = "linkparity-tmp-"
#: A directory without a lock is only stale when it is older than this many seconds.
GRACE = 3600.0


class Workspace:
    """A directory for the temporary database, made on first use and removed at the end.

    A live process holds a lock on a file inside it, so a directory whose lock is free belongs to
    nobody.

    Args:
        base: where to make it; the system's temporary directory by default.
    """

    def __init__(self, base: str | Path | None = None) -> None:
        self.base = Path(base or tempfile.gettempdir())
        if not self.base.is_dir():
            raise ValueError(f"{base}: is no directory for temporary files; make it first")
        self._made: Path | None = None
        self._lock: IO[bytes] | None = None
        remove_stale(self.base)

    @property
    def path(self) -> Path:
        """The directory."""
        if self._made is None:
            fresh = Path(tempfile.mkdtemp(prefix=f"new-{PREFIX}", dir=self.base))
            self._lock = (fresh / "lock").open("wb")
            try_lock(self._lock.fileno())
            self._made = fresh.rename(self.base / fresh.name.removeprefix("new-"))
        return self._made

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()


def remove_stale(base: Path) -> int:
    """Remove the directories of processes that are gone; how many there were."""
    removed = 0
    for place in base.glob(f"{PREFIX}*"):
        try:
            if _is_stale(place):
                shutil.rmtree(place, ignore_errors=True)
                removed += 1
        except OSError:
            continue
    return removed


def _is_stale(place: Path) -> bool:
    if place.stat().st_uid != os.getuid():
        return False
    try:
        lock = (place / "lock").open("rb+")
    except FileNotFoundError:
        return time.time() - place.stat().st_mtime > GRACE
    with lock:
        return try_lock(lock.fileno())


def try_lock(file: int) -> bool:
    """Whether the lock of an open file was free; it is held until the file is closed."""
    try:
        import fcntl
    except ImportError:  # no such locks on Windows, where an open file cannot be removed either
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
