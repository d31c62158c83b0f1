"""Files of data sets: found where they lie, or downloaded whole or not at all."""

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from linkparity.datasets.archive import DataError, read_archive

VARIABLE = "LINKPARITY_DATA"


@dataclass(frozen=True)
class Archive:
    """A published archive, and the files in it that are needed.

    Attributes:
        folder: the data set's folder in the data directory; the files stand in a folder of this
            name inside the archive too.
        name: file name of the archive.
        url: where its publishers keep it.
        sha256: of the archive.
        manifest: ``{file: sha256}`` of what is needed from it.
    """

    folder: str
    name: str
    url: str
    sha256: str
    manifest: dict[str, str]


def read_manifest(name: str) -> dict[str, str]:
    """A list as ``sha256sum`` prints it, carried in the package → ``{file: sha256}``."""
    text = packaged(name).decode()
    return {file: digest for digest, file in (line.split() for line in text.splitlines())}


def packaged(name: str) -> bytes:
    """A file that the package carries."""
    return files("linkparity.datasets").joinpath("files", name).read_bytes()


def data_directory(data: str | PathLike[str] | None = None) -> Path:
    """``data``, else ``$LINKPARITY_DATA``, else the user's cache directory."""
    told = data if data is not None else os.environ.get(VARIABLE)
    if told:
        return Path(told).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("linkparity", appauthor=False)


def find(archive: Archive, data: str | PathLike[str] | None = None) -> Path | None:
    """Where the data lie: a folder that holds all files, or the archive; None if neither."""
    root = data_directory(data)
    for folder in (root / archive.folder, root / archive.folder / archive.folder):
        if all((folder / name).is_file() for name in archive.manifest):
            return folder
    for path in (root / archive.folder / archive.name, root / archive.name):
        if path.is_file():
            return path
    return None


def read_files(archive: Archive, data: str | PathLike[str] | None = None) -> dict[str, bytes]:
    """The needed files, each checked by its sha256; downloads the archive if it lies nowhere."""
    place = find(archive, data) or download(archive, data_directory(data) / archive.folder)
    if place.is_dir():
        contents = {name: _read(place / name) for name in archive.manifest}
    else:
        _check(_read(place), archive.sha256, place, archive)
        contents = read_archive(place, archive.folder, archive.manifest)
    for name, digest in archive.manifest.items():
        _check(contents[name], digest, place / name, archive)
    return contents


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(
            f"load: cannot read {path} ({error.strerror or error}); make it readable, or delete it "
            "and load again"
        ) from None


def _check(content: bytes, digest: str, path: Path, archive: Archive) -> None:
    got = hashlib.sha256(content).hexdigest()
    if got != digest:
        raise DataError(
            f"load: {path} is not the published file (sha256 {got[:12]}…, expected "
            f"{digest[:12]}…); delete it, or replace it with that of {archive.url}"
        )


def download(archive: Archive, folder: Path) -> Path:
    """Fetch the archive to ``folder``; its name appears there only when it is whole and right."""
    import pooch
    import requests

    advice = f"put {archive.name} from {archive.url} into {folder}"
    try:
        with Bar(archive.name) as bar, _quiet(pooch.get_logger()):
            got = pooch.retrieve(
                archive.url,
                f"sha256:{archive.sha256}",
                fname=archive.name,
                path=folder,
                downloader=pooch.HTTPDownloader(progressbar=bar),
            )
    except requests.exceptions.RequestException as error:
        kind = type(error).__name__
        raise DataError(f"load: could not download {archive.name} ({kind}); {advice}") from None
    except ValueError:  # how pooch says that the sha256 differs
        raise DataError(
            f"load: what {archive.url} sent is not the published file (its sha256 differs) and was "
            f"thrown away; try again, or {advice}"
        ) from None
    except OSError as error:  # pooch rewrites a PermissionError as a paragraph of its own
        why = error.strerror or "permission denied"
        raise DataError(
            f"load: cannot write to {folder} ({why}); set {VARIABLE} to a "
            f"directory that can be written, or {advice}"
        ) from None
    return Path(got)


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """No messages below a warning: the bar and the errors say all there is to say."""
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)


class Bar:
    """A progress bar on stderr, shown once there is something to download.

    It has the four methods that pooch calls, and the attribute that it sets.
    """

    def __init__(self, name: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        self._progress = Progress(*columns, console=Console(stderr=True))
        self._task = self._progress.add_task(name, total=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress.live.is_started:
            self._progress.stop()

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "total":
            self._progress.start()
            self._progress.update(self._task, total=value or None)
        else:
            super().__setattr__(name, value)

    def update(self, amount: int) -> None:
        """Move on by ``amount`` bytes."""
        self._progress.advance(self._task, amount)

    def reset(self) -> None:
        """Back to the start."""
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        """Done; the context manager stops the display."""
