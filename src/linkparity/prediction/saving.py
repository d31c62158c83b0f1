"""A fitted predictor as a directory: tensors in safetensors, all else in JSON."""

import hashlib
import json
import math
import os
import shutil
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria import CRITERIA, Criterion
from linkparity.graph.graph import Graph
from linkparity.models import MODELS, LinkModel
from linkparity.prediction.tilt_table import Tilts
from linkparity.training.objective import Epoch

if TYPE_CHECKING:
    from linkparity.prediction.predictor import LinkPredictor

#: Raised whenever older code could not read what newer code writes.
FORMAT = 1
TENSORS, TEXT = "model.safetensors", "model.json"


def save_predictor(predictor: "LinkPredictor", path: Path) -> None:
    """Write two files, each whole; whatever else lies in the directory stays."""
    from safetensors.torch import save

    check_place(path)
    tensors = _tensors(predictor)
    data = save({name: value.contiguous() for name, value in tensors.items()})
    text = _describe(predictor, hashlib.sha256(data).hexdigest())
    fresh_place = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    for old in _left_here(path):
        old.unlink(missing_ok=True)
    written = {TENSORS: data, TEXT: json.dumps(text, indent=1, ensure_ascii=False).encode()}
    fresh: dict[str, str] = {}
    try:
        for name, content in written.items():
            fresh[name] = _write_beside(path / name, content)
        for name in written:
            os.replace(fresh.pop(name), path / name)
    except OSError as error:
        if fresh_place:
            shutil.rmtree(path, ignore_errors=True)
        raise type(error)(f"{path}: was not saved ({error.strerror}); make room there") from None
    finally:
        for left in fresh.values():
            Path(left).unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """Refuse a place where a predictor cannot be saved, best before a long training."""
    foreign = path.exists() and (not path.is_dir() or any(set(path.iterdir()) - _left_here(path)))
    if foreign and not _saved_here(path):
        raise FileExistsError(
            f"{path}: exists and holds no saved predictor, so it is left alone; "
            "choose a new directory"
        )
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise type(error)(
            f"{path}: cannot be written ({error.strerror}); choose another directory"
        ) from None


def _left_here(path: Path) -> set[Path]:
    """Files that a killed process left when it saved here."""
    return {each for name in (TENSORS, TEXT) for each in path.glob(f".{name}-*")}


def _write_beside(path: Path, data: bytes) -> str:
    """A new file in the same directory, to be moved into place when all are written."""
    handle, fresh = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(fresh, 0o644)
    except BaseException:
        os.unlink(fresh)
        raise
    return fresh


def _saved_here(path: Path) -> bool:
    """Whether a directory holds a predictor that :func:`save_predictor` wrote."""
    try:
        about = json.loads((path / TEXT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(about, dict) and {"format", "linkparity", "sha256"} <= set(about)


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


def _describe(predictor: "LinkPredictor", digest: str) -> dict[str, Any]:
    params = dict(predictor.params_)
    model, criterion, options = params["model"], params["criterion"], params["options"] or {}
    if isinstance(criterion, Criterion):
        params["criterion"] = criterion.name
    params["own_model"] = (
        None if isinstance(model, str) else f"{model.__module__}.{model.__qualname__}"
    )
    params["model"] = model if isinstance(model, str) else None
    params["options"] = {k: v for k, v in options.items() if not isinstance(v, Tensor | np.ndarray)}
    graph = predictor.graph_
    names = None if graph.names is None else [_plain(name) for name in graph.names]
    if names is not None and not all(isinstance(name, str | int) for name in names):
        raise ValueError(
            "LinkPredictor.save: node names must be text or whole numbers to be written as JSON, "
            f"got {next(n for n in names if not isinstance(n, str | int))!r}"
        )
    about = {
        "format": FORMAT,
        "linkparity": _version(),
        "sha256": digest,
        "params": params,
        "graph": {
            "num_nodes": graph.num_nodes,
            "group_names": list(graph.group_names),
            "names": names,
            "attribute": graph.attribute,
        },
        "history": [_written(row) for row in predictor.history_],
        "fit_seconds": predictor.fit_seconds_,
    }
    return json.loads(json.dumps(about, default=_refuse, allow_nan=False))  # type: ignore[no-any-return]


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


def _refuse(value: object) -> object:
    if value is not _plain(value):
        return _plain(value)
    raise ValueError(
        f"LinkPredictor.save: a parameter holds {value!r}, which JSON cannot; give plain numbers, "
        "text, lists and dicts"
    )


def load_predictor(
    kind: "type[LinkPredictor]", path: Path, model: type[LinkModel] | None
) -> "LinkPredictor":
    """Read and check both files, and build the predictor again."""
    about, tensors = _read(path)
    try:
        own = about["params"]["own_model"]
        if own is None or model is not None:
            return _build(kind, model, about, tensors)
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise ValueError(
            f"{path}: {TEXT} is damaged or was changed ({error!r:.80}); save the predictor again"
        ) from None
    raise ValueError(
        f"{path}: was trained with a model of your own, {own}; pass its class as "
        "LinkPredictor.load(path, model=…)"
    )


def _build(
    kind: "type[LinkPredictor]",
    model: type[LinkModel] | None,
    about: dict[str, Any],
    tensors: dict[str, Tensor],
) -> "LinkPredictor":
    params = dict(about["params"])
    if params.pop("own_model") is not None:
        params["model"] = model
    if isinstance(params["target"], dict):  # labels as keys, which JSON made text of
        params["target"] = {int(label): mean for label, mean in params["target"].items()}
    given = {name[8:]: tensors[name] for name in tensors if name.startswith("options.")}
    params["options"] = {**params["options"], **given} or None
    if isinstance(params["model"], str):
        MODELS[params["model"]]
    if params["criterion"] is not None:
        CRITERIA[params["criterion"]]
    predictor = kind(**params)
    told = about["graph"]
    predictor.graph_ = Graph(
        told["num_nodes"],
        tensors["graph.links"],
        tensors["graph.group"],
        tuple(told["group_names"]),
        tensors.get("graph.side"),
        None if told["names"] is None else tuple(told["names"]),
        told["attribute"],
    )
    predictor.restore(
        {name[6:]: value for name, value in tensors.items() if name.startswith("model.")},
        [_epoch(row) for row in about["history"]],
        Tilts(tensors["tilts"]) if "tilts" in tensors else None,
        about["fit_seconds"],
    )
    predictor.held_out_ = tensors.get("graph.held_out")
    return predictor


def _written(row: Epoch) -> list[Any]:
    """An epoch as JSON: its numbers, nan as null, then what else its training told, if anything."""
    plain = [None if math.isnan(value) else value for value in row]
    return [*plain, dict(row.extra)] if row.extra else plain


def _epoch(row: list[Any]) -> Epoch:
    numbers = [math.nan if value is None else value for value in row[:6]]
    return Epoch(*numbers, extra=row[6] if len(row) > 6 else None)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    for name in (TEXT, TENSORS):
        if not (path / name).is_file():
            raise FileNotFoundError(f"{path}: holds no {name}; give the directory of a saved run")
    try:
        about = json.loads((path / TEXT).read_text(encoding="utf-8"))
        written = int(about["format"])
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"{path / TEXT}: is damaged ({error!r:.80}); train anew") from None
    if written > FORMAT:
        raise ValueError(
            f"{path}: was written by linkparity {about.get('linkparity', '?')} in format "
            f"{written}, and this version reads up to {FORMAT}; upgrade linkparity"
        )
    data = (path / TENSORS).read_bytes()
    if hashlib.sha256(data).hexdigest() != about.get("sha256"):
        raise ValueError(
            f"{path / TENSORS}: is damaged, its sha256 is not the one in {TEXT}; copy both files "
            "again, or save the model again"
        )
    try:
        return about, load(data)
    except SafetensorError as error:
        raise ValueError(f"{path / TENSORS}: is damaged ({error})") from None
