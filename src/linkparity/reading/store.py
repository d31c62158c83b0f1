"""Arrays for the columns of a table: in memory, or in files of the workspace."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from linkparity.support.errors import InputWarning, warn
from linkparity.support.files import Workspace

#: Temporary files of more bytes are announced before they are written.
ANNOUNCED = 1_000_000_000
#: Bytes of a row in all columns, and in the files in which rows are sorted.
ROW_SPACE = 60
#: Columns of more bytes in all are in files.
IN_MEMORY = 1 << 27


class SpaceWarning(InputWarning):
    """Temporary files will be large."""


def announce_space(workspace: Workspace, rows: int, copied: int = 0) -> None:
    """Say how large temporary files may get, where that is much.

    Args:
        workspace: where they will be.
        rows: of all tables.
        copied: bytes of tables that DuckDB copies.
    """
    size = rows * ROW_SPACE + copied
    if size <= ANNOUNCED:
        return
    free = shutil.disk_usage(workspace.base).free
    warn(
        SpaceWarning,
        f"temporary files take up to {size / 1e9:.1f} GB in {workspace.base}, "
        f"which has {free / 1e9:.1f} GB free",
        "TMPDIR names another directory, as does the option --tmp of audit and project",
    )


class FileArray:
    """An array in a file, of which slices are read and written; nothing of it stays in memory.

    Args:
        path: of the file, which is made.
        dtype: of the values.
        size: their number.
    """

    def __init__(self, path: Path, dtype: Any, size: int) -> None:
        self.path, self.dtype, self.size = path, np.dtype(dtype), size
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.posix_fallocate(
            self.file, 0, max(size * self.dtype.itemsize, 1)
        )  # a full disk fails now

    def __len__(self) -> int:
        return self.size

    def __del__(self) -> None:
        os.close(self.file)

    def __getitem__(self, rows: Any) -> "np.ndarray[Any, Any]":
        if not isinstance(rows, slice):
            found: np.ndarray[Any, Any] = self._mapped()[rows]
            return found
        low, high, _ = rows.indices(self.size)
        values = np.empty(max(high - low, 0), dtype=self.dtype)
        view, at = values.data.cast("B"), low * self.dtype.itemsize
        while len(view):
            count = os.preadv(self.file, [view], at)
            view, at = view[count:], at + count
        return values

    def __setitem__(self, rows: Any, values: Any) -> None:
        if not isinstance(rows, slice):
            self._mapped()[rows] = values
            return
        low, high, _ = rows.indices(self.size)
        data = np.ascontiguousarray(np.broadcast_to(values, (high - low,)), dtype=self.dtype)
        view, at = data.data.cast("B"), low * self.dtype.itemsize
        while len(view):
            count = os.pwrite(self.file, view, at)
            view, at = view[count:], at + count

    def _mapped(self) -> "np.memmap[Any, Any]":
        return np.memmap(self.path, dtype=self.dtype, mode="r+", shape=(self.size,))


#: An array in memory or in a file.
Column = Any


class ColumnStore:
    """Makes arrays of one length.

    Args:
        workspace: where files are made.
        rows: the length.
        row_bytes: bytes of a row in all arrays.
    """

    def __init__(self, workspace: Workspace, rows: int, row_bytes: int) -> None:
        self.workspace, self.rows = workspace, rows
        self.in_files = rows * row_bytes > IN_MEMORY

    def array(self, dtype: Any) -> Column:
        """An array of zeros."""
        if not self.in_files:
            return np.zeros(self.rows, dtype=dtype)
        folder = self.workspace.path
        return FileArray(folder / f"column.{len(list(folder.iterdir()))}", dtype, self.rows)
