"""Files of data sets: carried in the package, found on disk, or downloaded; verified by sha256."""

import hashlib
import io
import os
import tarfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from os import PathLike
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any

from linkparity.support.errors import PlainError, require
from linkparity.support.files import whole_file

VARIABLE = "LINKPARITY_DATA"
#: Seconds to wait for a server.
TIMEOUT = 30
#: Limits of a download; the archives have a few megabytes.
MAX_SECONDS, MAX_BYTES, MAX_REDIRECTS = 600.0, 64 << 20, 5
#: Bytes per step of the progress bar.
CHUNK = 1 << 16
#: Ask for the bytes as they are, so that nothing unpacks what a server packed.
UNPACKED = {"Accept-Encoding": "identity"}


class DataError(PlainError):
    """Data that are missing, damaged or not the published ones."""


@dataclass(frozen=True)
class Archive:
    """A published archive, and the files that are needed from it.

    Attributes:
        folder: the data set's folder in the data directory, and the folder inside the archive.
        name: file name of the archive.
        url: address that publishes it.
        sha256: of the archive.
        manifest: ``{file: sha256}`` of the needed files.
    """

    folder: str
    name: str
    url: str
    sha256: str
    manifest: dict[str, str]


def read_manifest(name: str) -> dict[str, str]:
    """A packaged list in the format of ``sha256sum`` → ``{file: sha256}``."""
    text = packaged(name).decode()
    return {file: digest for digest, file in (line.split() for line in text.splitlines())}


def packaged(name: str) -> bytes:
    """A file that the package carries."""
    return files("linkparity.datasets").joinpath("files", name).read_bytes()


def data_directory(data: str | PathLike[str] | None = None) -> Path:
    """``data``, else ``$LINKPARITY_DATA``, else the user's cache directory."""
    chosen = data if data is not None else os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("linkparity", appauthor=False)


def find(archive: Archive, data: str | PathLike[str] | None = None) -> Path | None:
    """The folder that holds all files, else the archive; None if neither is on disk."""
    root = data_directory(data)
    for folder in (root / archive.folder, root / archive.folder / archive.folder):
        if all((folder / name).is_file() for name in archive.manifest):
            return folder
    for path in (root / archive.folder / archive.name, root / archive.name):
        if path.is_file():
            return path
    return None


def read_files(archive: Archive, data: str | PathLike[str] | None = None) -> dict[str, bytes]:
    """``{file: content}`` of the needed files, verified; downloads the archive if necessary."""
    path = find(archive, data) or download(archive, data_directory(data) / archive.folder)
    if path.is_dir():
        contents = {name: _read(path / name) for name in archive.manifest}
        for name, digest in archive.manifest.items():
            _verify(contents[name], digest, path / name, archive)
        return contents
    content = _read(path)
    _verify(content, archive.sha256, path, archive)
    return _unpack(content, archive)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        problem = f"cannot read {path} ({error.strerror or error})"
        fix = "make it readable, or delete it and load again"
        raise DataError(problem, fix, caller="load") from None


def _verify(content: bytes, digest: str, path: Path, archive: Archive) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        raise DataError(
            f"{path} is not the published file (sha256 {found[:12]}…, expected {digest[:12]}…)",
            f"delete it, or replace it with the one from {archive.url}",
            caller="load",
        )


def _unpack(content: bytes, archive: Archive) -> dict[str, bytes]:
    """The needed files of a verified archive, in memory."""
    names = {name: f"{archive.folder}/{name}" for name in archive.manifest}
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as unzipped:
            return {name: unzipped.read(member) for name, member in names.items()}
    with tarfile.open(fileobj=io.BytesIO(content)) as tape:
        opened = {name: tape.extractfile(member) for name, member in names.items()}
        return {name: file.read() for name, file in opened.items() if file is not None}


def download(archive: Archive, folder: Path) -> Path:
    """Download the archive to ``folder``; it appears there only when complete and verified."""
    require("requests", "load")
    fix = f"put {archive.name} from {archive.url} into {folder}"
    try:
        content = _fetch(archive)
    except _Failed as error:
        problem = f"could not download {archive.name} ({error})"
        raise DataError(problem, fix, caller="load") from None
    if hashlib.sha256(content).hexdigest() != archive.sha256:
        problem = f"{archive.url} did not send the published file (its sha256 differs)"
        raise DataError(problem, f"try again, or {fix}", caller="load")
    path = folder / archive.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(str(path), force=True) as unfinished:
            Path(unfinished).write_bytes(content)
    except (OSError, ValueError) as error:
        problem = f"cannot write to {folder} ({getattr(error, 'strerror', None) or error})"
        fix = f"set {VARIABLE} to a directory that can be written, or {fix}"
        raise DataError(problem, fix, caller="load") from None
    return path


class _Failed(Exception):
    """A download that cannot be completed, or takes more time or space than any data set."""


def _fetch(archive: Archive) -> bytes:
    """The content at the archive's address, with a progress bar on stderr.

    A server that sends a byte now and then never runs into a socket's timeout, not even in its
    headers. So a thread reads, and this function counts the bytes and the seconds.
    """
    from rich.console import Console
    from rich.progress import track

    parts: Queue[bytes | int | Exception | None] = Queue()
    stop = Event()
    Thread(target=_receive, args=(archive.url, parts, stop), daemon=True).start()
    try:
        received = _bounded(parts)
        steps = next(received)
        bar = track(received, archive.name, steps or None, console=Console(stderr=True))
        return b"".join(part for part in bar if isinstance(part, bytes))
    finally:
        stop.set()


def _bounded(parts: "Queue[bytes | int | Exception | None]") -> Iterator[Any]:
    """The items of a queue until None, within the limits of time and size."""
    end, size = time.monotonic() + MAX_SECONDS, 0
    while True:
        try:
            part = parts.get(timeout=max(end - time.monotonic(), 0))
        except Empty:
            raise _Failed(f"not complete after {MAX_SECONDS:g} seconds") from None
        if part is None:
            return
        if isinstance(part, Exception):
            raise part
        size += len(part) if isinstance(part, bytes) else 0
        if size > MAX_BYTES:
            raise _Failed(f"larger than {MAX_BYTES >> 20} MB")
        yield part


def _receive(url: str, parts: "Queue[bytes | int | Exception | None]", stop: Event) -> None:
    """Put the expected number of parts, the parts as sent, and None or an error into a queue."""
    import requests
    import urllib3

    expected = (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError)
    try:
        with requests.Session() as session:
            session.max_redirects = MAX_REDIRECTS
            with session.get(url, stream=True, timeout=TIMEOUT, headers=UNPACKED) as response:
                response.raise_for_status()
                length = response.headers.get("Content-Length", "")
                parts.put(-(-int(length) // CHUNK) if length.isdecimal() else 0)
                for part in response.raw.stream(CHUNK, decode_content=False):
                    if stop.is_set():
                        return
                    parts.put(part)
        parts.put(None)
    except Exception as error:
        parts.put(_Failed(type(error).__name__) if isinstance(error, expected) else error)
