"""A fitted predictor as a directory: tensors in safetensors, all else in JSON.

Every save writes its tensors under a new name, and renaming ``model.json``, which names them, makes
them the run: a process that is killed leaves the old run or the new one. The tensors' header holds
their own file name, which is the proof that a file nobody names any more may be removed.
"""

import hashlib
import json
import math
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from linkparity.criteria import CRITERIA, Criterion
from linkparity.models.training.objective import Epoch
from linkparity.support.errors import InputError
from linkparity.support.files import PREFIX, Workspace, lock, read_json, sync

if TYPE_CHECKING:
    from linkparity.models.prediction.predictor import LinkPredictor

#: Raised whenever older code could not read what newer code writes.
FORMAT = 2
MANIFEST = "model.json"
TENSORS = re.compile(r"model(-[0-9a-f]{16})?\.safetensors")


def save_predictor(predictor: "LinkPredictor", path: Path, replace: bool = True) -> None:
    """Write a run; other files in the directory stay.

    Args:
        predictor: the fitted predictor.
        path: directory, which is made where it does not exist.
        replace: whether a run that is there already may be replaced.
    """
    name = f"model-{secrets.token_hex(8)}.safetensors"
    tensors = {key: value.contiguous() for key, value in _tensors(predictor).items()}
    data = save(tensors, metadata={"linkparity": name})
    about = _describe(predictor, name, hashlib.sha256(data).hexdigest())
    text = json.dumps(about, indent=1, ensure_ascii=False).encode()
    check_place(path, replace)
    try:
        with locked_directory(path):
            _check_contents(path, replace)
            _write_run(path, {name: data, MANIFEST: text})
    except OSError as error:
        said = f"{path}: was not saved ({error.strerror or error}); free some space"
        raise type(error)(f"{said}, or choose another directory") from None


def _write_run(path: Path, contents: dict[str, bytes]) -> None:
    """Write files and give them their names, the manifest last."""
    replaced = tensors_name(_manifest(path))
    try:
        with Workspace(path) as workspace:
            for name, content in contents.items():
                (workspace.path / name).write_bytes(content)
                sync(workspace.path / name)
            for name in contents:
                os.replace(workspace.path / name, path / name)
    finally:
        with suppress(OSError):
            _remove_unnamed(path, replaced)
    with suppress(OSError):  # the run is in place
        sync(path)


def _remove_unnamed(path: Path, replaced: str | None) -> None:
    """Remove tensors that the manifest does not name, if it named them before or they are ours."""
    about = _manifest(path)
    if not about and (path / MANIFEST).exists():
        return
    for file in path.iterdir():
        other = TENSORS.fullmatch(file.name) and file.name != tensors_name(about)
        if other and (file.name == replaced or _is_own(file)):
            file.unlink()


def tensors_name(about: dict[str, Any]) -> str | None:
    """The file of tensors that a manifest names; format 1 had one name for all."""
    return about.get("tensors", "model.safetensors") if about else None


def _is_own(file: Path) -> bool:
    """Whether a file of tensors says itself that it was written here under its name."""
    try:
        with safe_open(file, framework="pt") as opened:
            return bool((opened.metadata() or {}).get("linkparity") == file.name)
    except (OSError, SafetensorError):
        return False


def check_place(path: Path, replace: bool = True, beside: str | None = None) -> None:
    """Refuse a place where a predictor cannot be saved, best before a long training.

    Args:
        path: the directory.
        replace: whether a run in it may be replaced.
        beside: another output, which must not be the directory or replace a file in it.
    """
    if beside is not None:
        other = Path(beside).resolve()
        if other == path.resolve() or (other.exists() and other.parent == path.resolve()):
            problem = f"is the directory of the run {path}, or a file in it"
            raise InputError(problem, "choose another name", where=beside)
    if path.is_dir():
        with locked_directory(path):
            _check_contents(path, replace)
    elif os.path.lexists(path) and not path.is_dir():
        raise _not_a_run(path)
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        raise InputError("cannot be written", "choose another directory", where=str(path))


def _check_contents(path: Path, replace: bool) -> None:
    """Refuse a directory of somebody else, and a run that must not be replaced."""
    if _manifest(path):
        if not replace:
            raise InputError(
                "exists already",
                "choose another name, or overwrite with {force=True}",
                where=str(path),
            )
        return
    for entry in path.iterdir():  # what a killed process left is no obstacle
        if not entry.name.startswith(PREFIX) and not (entry.is_file() and _is_own(entry)):
            raise _not_a_run(path)


def _not_a_run(path: Path) -> InputError:
    return InputError(
        "exists and holds no saved predictor, so it is left alone",
        "choose a new directory",
        where=str(path),
    )


def _manifest(path: Path) -> dict[str, Any]:
    """The manifest that :func:`save_predictor` wrote to a directory; empty if there is none."""
    try:
        about = read_json(path / MANIFEST)
    except (OSError, InputError):
        return {}
    ours = isinstance(about, dict) and {"format", "linkparity", "sha256"} <= set(about)
    return about if ours else {}


def _tensors(predictor: "LinkPredictor") -> dict[str, Tensor]:
    graph = predictor.graph_
    tensors = {
        f"model.{name}": value.detach().clone()
        for name, value in predictor.model_.state_dict().items()
    }
    tensors |= {"graph.links": graph.links, "graph.group": graph.group}
    if graph.side is not None:
        tensors["graph.side"] = graph.side
    if predictor.held_out_ is not None:
        tensors["graph.held_out"] = predictor.held_out_
    if predictor.tilts_ is not None:
        tensors["tilts"] = predictor.tilts_.table
    for name, value in (predictor.params_["options"] or {}).items():
        if isinstance(value, Tensor | np.ndarray):
            tensors[f"options.{name}"] = torch.as_tensor(value)
    return tensors


def _describe(predictor: "LinkPredictor", tensors: str, digest: str) -> dict[str, Any]:
    params = dict(predictor.params_)
    model, criterion, options = params["model"], params["criterion"], params["options"] or {}
    if isinstance(criterion, Criterion):
        params["criterion"] = criterion.name
        if type(criterion) is not type(CRITERIA.get(criterion.name)):
            params["own_criterion"] = _qualified(type(criterion))
    params["own_model"] = None if isinstance(model, str) else _qualified(model)
    params["model"] = model if isinstance(model, str) else None
    params["options"] = {
        name: _plain_option(value)
        for name, value in options.items()
        if not isinstance(value, Tensor | np.ndarray)
    }
    graph = predictor.graph_
    names = None if graph.names is None else [_plain(name) for name in graph.names]
    if names is not None and not all(isinstance(name, str | int) for name in names):
        wrong = next(name for name in names if not isinstance(name, str | int))
        raise InputError(
            f"node names must be text or whole numbers to be written as JSON, got {wrong!r}",
            caller="LinkPredictor.save",
        )
    about = {
        "format": FORMAT,
        "linkparity": _version(),
        "tensors": tensors,
        "sha256": digest,
        "params": params,
        "graph": {
            "num_nodes": graph.num_nodes,
            "group_names": list(graph.group_names),
            "names": names,
            "attribute": graph.attribute,
            "unknown_kept": graph.unknown_kept,
        },
        "history": [_written(row) for row in predictor.history_],
        "fit_seconds": predictor.fit_seconds_,
    }
    return json.loads(json.dumps(about, default=_refuse, allow_nan=False))  # type: ignore[no-any-return]


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _version() -> str:
    try:
        return version("linkparity")
    except PackageNotFoundError:
        return "unknown"


def _plain(value: object) -> object:
    """Numbers and arrays of numpy and torch as Python's own."""
    if isinstance(value, np.generic | np.ndarray | Tensor):
        return value.tolist()
    return value


def _plain_option(value: object) -> object:
    """Columns within an option as lists; a number that is none is unknown, which is None."""
    if isinstance(value, Mapping):
        return {name: _plain_option(each) for name, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain_option(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _refuse(value: object) -> object:
    if value is not _plain(value):
        return _plain(value)
    raise InputError(
        f"a parameter holds {value!r}, which JSON cannot hold",
        "give plain numbers, text, lists and dicts",
        caller="LinkPredictor.save",
    )


def _written(row: Epoch) -> list[Any]:
    """An epoch as JSON: its numbers, nan as null, then the extra ones, if any."""
    plain = [None if math.isnan(value) else value for value in row]
    return [*plain, dict(row.extra)] if row.extra else plain


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
