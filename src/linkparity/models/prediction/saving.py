"""A fitted predictor as a directory: tensors in safetensors, all else in JSON.

Every save writes its tensors under a new name, and renaming ``model.json``, which names them, makes
them the run: a process that is killed leaves the old run or the new one.
"""

import hashlib
import json
import math
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from linkparity.criteria import CRITERIA, Criterion
from linkparity.models.training.objective import Epoch
from linkparity.support.errors import InputError
from linkparity.support.files import (
    PREFIX,
    exists_already,
    publish,
    read_json,
    sync,
    temporary_beside,
)

if TYPE_CHECKING:
    from linkparity.models.prediction.predictor import LinkPredictor

#: Raised whenever older code could not read what newer code writes.
FORMAT = 2
MANIFEST = "model.json"
TENSORS = re.compile(r"model(-[0-9a-f]{16})?\.safetensors")
#: Options of these types are saved as tensors.
ARRAYS = (Tensor, np.ndarray)
#: Files that a process leaves that was killed during its first save.
UNFINISHED = re.compile(rf"{re.escape(PREFIX)}.*|model-[0-9a-f]{{16}}\.safetensors")


def save_predictor(predictor: "LinkPredictor", path: Path, replace: bool = True) -> None:
    """Write a run; other files in the directory stay.

    Args:
        predictor: the fitted predictor.
        path: directory, which is made where it does not exist.
        replace: whether a run that is there already may be replaced.
    """
    name = f"model-{secrets.token_hex(8)}.safetensors"
    data = save(_tensors(predictor))
    text = _describe(predictor, name, hashlib.sha256(data).hexdigest())
    check_place(path, replace)
    made = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
        _write_run(path, name, data, text, replace)
    except OSError as error:
        said = f"{path}: was not saved ({error.strerror or error}); free some space"
        raise type(error)(f"{said}, or choose another directory") from None
    finally:
        if made:
            with suppress(OSError):  # it stays unless it is empty
                path.rmdir()


def _write_run(path: Path, name: str, data: bytes, text: bytes, replace: bool) -> None:
    """Write both files and give them their names, then remove the tensors that are replaced."""
    tensors, manifest, old = path / name, path / MANIFEST, None
    with temporary_beside(tensors) as new_tensors, temporary_beside(manifest) as new_manifest:
        for file, content in ((new_tensors, data), (new_manifest, text)):
            file.write_bytes(content)
            sync(file)
        try:
            publish(new_tensors, tensors, True, str(tensors))
            old = tensors_name(_manifest(path))
            publish(new_manifest, manifest, replace, str(path))
        finally:
            with suppress(OSError):
                for unnamed in {name, old} - {None, tensors_name(_manifest(path))}:
                    (path / str(unnamed)).unlink(missing_ok=True)


def tensors_name(about: dict[str, Any]) -> str | None:
    """The file of tensors that a manifest names, if it may; format 1 had one name for all."""
    name = about.get("tensors", "model.safetensors")
    return name if about and isinstance(name, str) and TENSORS.fullmatch(name) else None


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
    if os.path.lexists(path):
        names = [entry.name for entry in path.iterdir()] if path.is_dir() else [""]
        if _manifest(path):  # read after the names, since another process may just have written it
            if not replace:
                raise exists_already(str(path))
        elif not all(map(UNFINISHED.fullmatch, names)):
            problem = "exists and holds no saved predictor, so it is left alone"
            raise InputError(problem, "choose a new directory", where=str(path))
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        raise InputError("cannot be written", "choose another directory", where=str(path))


def _manifest(path: Path) -> dict[str, Any]:
    """The manifest that :func:`save_predictor` wrote to a directory; empty if there is none."""
    try:
        about = read_json(path / MANIFEST)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, InputError):
        return {}
    ours = isinstance(about, dict) and {"format", "linkparity", "sha256"} <= set(about)
    return about if ours else {}


def _tensors(predictor: "LinkPredictor") -> dict[str, Tensor]:
    graph, tilts = predictor.graph_, predictor.tilts_
    options = predictor.params_["options"] or {}
    arrays = {key: value for key, value in options.items() if isinstance(value, ARRAYS)}
    tensors = {
        **{f"model.{name}": value for name, value in predictor.model_.state_dict().items()},
        **{f"options.{name}": torch.as_tensor(value) for name, value in arrays.items()},
        "graph.links": graph.links,
        "graph.group": graph.group,
        "graph.side": graph.side,
        "graph.held_out": predictor.held_out_,
        "tilts": None if tilts is None else tilts.table,
    }
    return {name: each.clone().contiguous() for name, each in tensors.items() if each is not None}


def _describe(predictor: "LinkPredictor", tensors: str, digest: str) -> bytes:
    """The text of the manifest."""
    params = dict(predictor.params_)
    model, criterion, options = params["model"], params["criterion"], params["options"] or {}
    if isinstance(criterion, Criterion):
        params["criterion"] = criterion.name
        if type(criterion) is not type(CRITERIA.get(criterion.name)):
            params["own_criterion"] = _qualified(type(criterion))
    params["own_model"] = None if isinstance(model, str) else _qualified(model)
    params["model"] = model if isinstance(model, str) else None
    plain = {key: value for key, value in options.items() if not isinstance(value, ARRAYS)}
    params["options"] = {key: _plain_option(value) for key, value in plain.items()}
    graph = predictor.graph_
    names = None if graph.names is None else [_plain(name) for name in graph.names]
    for name in names or ():
        if not isinstance(name, str | int):
            problem = "node names must be text or whole numbers to be written as JSON"
            raise InputError(f"{problem}, got {name!r}", caller="LinkPredictor.save")
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
        "history": [_epoch(row) for row in predictor.history_],
        "fit_seconds": predictor.fit_seconds_,
    }
    return json.dumps(about, indent=1, ensure_ascii=False, allow_nan=False, default=_json).encode()


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _version() -> str:
    try:
        return version("linkparity")
    except PackageNotFoundError:
        return "unknown"


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy and torch as Python's own."""
    return value.tolist() if hasattr(value, "tolist") else value


def _plain_option(value: object) -> object:
    """Columns within an option as lists; a number that is none is unknown, which is None."""
    value = _plain(value)
    if isinstance(value, Mapping):
        return {name: _plain_option(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_option(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _json(value: object) -> object:
    """What :mod:`json` writes for a value that it does not know."""
    if value is (plain := _plain(value)):
        fix = "give plain numbers, text, lists and dicts"
        problem = f"a parameter holds {value!r}, which JSON cannot hold"
        raise InputError(problem, fix, caller="LinkPredictor.save")
    return plain


def _epoch(row: Epoch) -> list[Any]:
    """An epoch as JSON: its numbers, nan as null, then the extra ones, if any."""
    plain = [None if math.isnan(value) else value for value in row]
    return [*plain, dict(row.extra)] if row.extra else plain
