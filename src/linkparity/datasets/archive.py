"""Read files out of a zip or tar archive, in memory, so that nothing of it can land on disk."""

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TypeVar

from linkparity.support.errors import PlainError

Entry = TypeVar("Entry", zipfile.ZipInfo, tarfile.TarInfo)

LIMIT = 2**30  # bytes of one file; far above any data set here, far below a decompression bomb


class DataError(PlainError):
    """Data that are missing, damaged or not what was published; the message says what to do."""


def read_archive(path: Path, folder: str, names: Iterable[str]) -> dict[str, bytes]:
    """``{name: content}`` of the files ``folder/name`` in the archive.

    An archive in which any entry is a link or device, or would leave the folder it is unpacked
    in, is refused whole.
    """
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return _read_zip(archive, path, folder, names)
        with tarfile.open(path) as tape:
            return _read_tar(tape, path, folder, names)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DataError(
            f"load: {path} is damaged or cut short ({error}); delete it and load again"
        ) from error


def _read_zip(
    archive: zipfile.ZipFile, path: Path, folder: str, names: Iterable[str]
) -> dict[str, bytes]:
    found = {}
    for entry in archive.infolist():
        mode = entry.external_attr >> 16
        plain = not stat.S_IFMT(mode) or stat.S_ISREG(mode) or stat.S_ISDIR(mode)
        _check_entry(entry.filename, plain, entry.file_size, path)
        found[str(PurePosixPath(entry.filename))] = entry
    return {name: archive.read(_pick(found, path, folder, name)) for name in names}


def _read_tar(
    archive: tarfile.TarFile, path: Path, folder: str, names: Iterable[str]
) -> dict[str, bytes]:
    found = {}
    for entry in archive:
        _check_entry(entry.name, entry.isreg() or entry.isdir(), entry.size, path)
        found[str(PurePosixPath(entry.name))] = entry
    contents = {}
    for name in names:
        file = archive.extractfile(_pick(found, path, folder, name))
        contents[name] = file.read() if file else b""
    return contents


def _pick(found: dict[str, Entry], path: Path, folder: str, name: str) -> Entry:
    if f"{folder}/{name}" not in found:
        raise DataError(f"load: {path} holds no {folder}/{name}; delete it and load again")
    return found[f"{folder}/{name}"]


def _check_entry(name: str, plain: bool, size: int, path: Path) -> None:
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or PureWindowsPath(name).drive:
        raise DataError(
            f"load: {path} holds an entry {name!r} that leaves its folder; delete the archive"
        )
    if not plain:
        raise DataError(
            f"load: {path} holds {name!r}, which is a link or device and no file; "
            "delete the archive"
        )
    if size > LIMIT:
        raise DataError(f"load: {path} holds {name!r} of {size:,} bytes; delete the archive")
