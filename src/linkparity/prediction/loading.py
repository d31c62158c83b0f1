"""Read a saved run; whatever is wrong with it is one sentence that names the file."""

import hashlib
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from linkparity.criteria import CRITERIA, Criterion
from linkparity.graph.graph import Graph
from linkparity.graph.groups import GraphWarning
from linkparity.models import MODELS, LinkModel
from linkparity.prediction.postprocess import Tilts
from linkparity.prediction.predictor import LinkPredictor, check_parameters
from linkparity.prediction.saving import FORMAT, MANIFEST, TENSORS, tensors_name
from linkparity.projection.fit import TARGETS
from linkparity.projection.group_tilts import LARGEST_TILT
from linkparity.support.errors import InputError
from linkparity.support.files import read_json
from linkparity.support.randomness import stream
from linkparity.training.objective import Epoch

#: Seconds that no training takes, and a number beyond those of any history.
LONGEST, LARGEST = 1e9, 1e100


def load_predictor(
    kind: type[LinkPredictor],
    path: Path,
    model: type[LinkModel] | None,
    criterion: Criterion | None,
) -> LinkPredictor:
    """Read and check a run, and build the predictor again."""
    about, data = _read(path)
    file = path / MANIFEST
    with _damage(file):
        params = about["params"]
        own_model, own_criterion = params["own_model"], params.get("own_criterion")
    if own_model is not None and model is None:
        raise _own(path, "model", f"{own_model}", "its class")
    if own_criterion is not None and not isinstance(criterion, Criterion):
        raise _own(path, "criterion", f"{own_criterion}", "an instance of it")
    with _damage(path / str(tensors_name(about))):
        tensors = load(data)
    with _damage(file):
        predictor = kind(**_parameters(params, model, criterion, tensors))
        graph = predictor.graph_ = _graph(about["graph"], tensors)
        check_parameters(predictor, graph)
        state = {name[6:]: value for name, value in tensors.items() if name.startswith("model.")}
        _check_state(predictor, graph, state)
        seconds = _number(about["fit_seconds"], LONGEST)
        fitted = _history(about), _tilts(graph, tensors), seconds
        held_out = tensors.get("graph.held_out")
        if held_out is not None:
            held_out = Graph(graph.num_nodes, held_out, graph.group).links
    # what a class of their own raises is no damage
    with _damage(file) if own_model is None else nullcontext():
        built = _build(predictor)
    with _damage(file) if own_model is None else _other_class(path, built):
        _fill(built, state)
    with _damage(file) if own_model is None else nullcontext():
        predictor.restore(built, *fitted)
    predictor.held_out_ = held_out
    return predictor


def _own(path: Path, argument: str, name: str, value: str) -> InputError:
    return InputError(
        f"was trained with a {argument} of your own, {name}",
        f"pass {value} as LinkPredictor.load(path, {argument}=…)",
        where=str(path),
    )


@contextmanager
def _damage(file: Path) -> Iterator[None]:
    """Whatever cannot be made of a damaged or changed run: one sentence that names the file."""
    try:
        yield
    except (
        LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError,
        MemoryError, SafetensorError,
    ) as error:  # fmt: skip
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"is damaged or was changed ({said:.120})", "save the predictor again", where=str(file)
        ) from None


@contextmanager
def _other_class(path: Path, model: LinkModel) -> Iterator[None]:
    """Tensors that do not fit the model that was passed: one sentence."""
    try:
        yield
    except (LookupError, RuntimeError, ValueError) as error:
        said = " ".join(str(error).split())
        raise InputError(
            f"its tensors do not fit {type(model).__qualname__} ({said:.200})",
            "pass the class that was trained as LinkPredictor.load(path, model=…)",
            where=str(path),
        ) from None


def _build(predictor: LinkPredictor) -> LinkModel:
    """The model of the parameters, untrained."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        return predictor.build(predictor.graph_, stream(predictor.seed, "model"))


def _fill(model: LinkModel, state: dict[str, Tensor]) -> None:
    """Give the model its tensors."""
    model.load_state_dict(state)
    for name, wanted in model.state_dict().items():
        if state[name].dtype != wanted.dtype:
            raise ValueError(f"{name} is {state[name].dtype}, not {wanted.dtype}")


def _parameters(
    saved: dict[str, Any],
    model: type[LinkModel] | None,
    criterion: Criterion | None,
    tensors: dict[str, Tensor],
) -> dict[str, Any]:
    """Arguments of the constructor."""
    params = dict(saved)
    if params.pop("own_model") is not None:
        params["model"] = model
    else:
        MODELS[params["model"]]
    if params.pop("own_criterion", None) is not None:
        params["criterion"] = criterion
    elif params["criterion"] is not None:
        CRITERIA[params["criterion"]]
    if isinstance(params["target"], dict):  # labels as keys, which JSON turned into text
        params["target"] = {int(label): mean for label, mean in params["target"].items()}
    if params["criterion"] is not None:
        _check_target(params["target"])
    given = {name[8:]: tensors[name] for name in tensors if name.startswith("options.")}
    params["options"] = {**params["options"], **given} or None
    return params


def _check_target(target: Any) -> None:
    """Refuse what is neither a name nor means."""
    if isinstance(target, str) and target in TARGETS:
        return
    means = target.values() if isinstance(target, dict) else target
    for mean in means if isinstance(target, dict | list) else [target]:
        if not 0 < _number(mean) < 1:
            raise ValueError("means lie between 0 and 1")


def _graph(about: dict[str, Any], tensors: dict[str, Tensor]) -> Graph:
    names = about["names"]
    if names is not None and not all(type(name) in (str, int) for name in names):
        raise TypeError("names of nodes are text or whole numbers")
    if not isinstance(about["attribute"], str | None):
        raise TypeError("the name of the attribute is text")
    if type(kept := about.get("unknown_kept", False)) is not bool:
        raise TypeError("unknown_kept is true or false")
    if not all(isinstance(name, str) for name in about["group_names"]):
        raise TypeError("names of groups are text")
    if (tensors["graph.group"] >= len(about["group_names"])).any():
        raise ValueError("a group has no name")
    return Graph(
        about["num_nodes"],
        tensors["graph.links"],
        tensors["graph.group"],
        tuple(about["group_names"]),
        tensors.get("graph.side"),
        None if names is None else tuple(names),
        about["attribute"],
        kept,
    )


def _check_state(predictor: LinkPredictor, graph: Graph, state: dict[str, Tensor]) -> None:
    """Refuse numbers that no trained model has, before memory is allocated for one."""
    for name, value in state.items():
        if value.is_complex() or (isinstance(predictor.model, str) and not _is_finite(value)):
            raise ValueError(f"{name} must hold finite real numbers")
    largest = max([graph.num_nodes, *(value.numel() for value in state.values())])
    hidden = (predictor.options or {}).get("hidden", 1)
    for name, size in (("dimension", predictor.dimension or 1), ("hidden", hidden)):
        if isinstance(predictor.model, str) and not 0 < size <= largest:
            raise ValueError(f"{name} is {size}, which the tensors do not have")


def _is_finite(value: Tensor) -> bool:
    return bool(torch.isfinite(value).all())


def _tilts(graph: Graph, tensors: dict[str, Tensor]) -> Tilts | None:
    table = tensors.get("tilts")
    if table is None:
        return None
    size = graph.num_groups + 1
    if table.shape != (size, size) or table.dtype != torch.float64:
        raise ValueError(f"tilts must be {size} × {size} numbers of float64")
    if not (table.abs() <= LARGEST_TILT).all():
        raise ValueError(f"tilts must lie within ±{LARGEST_TILT:g}")
    return Tilts(table)


def _history(about: dict[str, Any]) -> list[Epoch]:
    rows = []
    for row in about["history"]:
        epoch, *rest = [math.nan if value is None else _number(value) for value in row[:6]]
        extra = {name: _number(value) for name, value in row[6].items()} if len(row) > 6 else None
        rows.append(Epoch(epoch, *rest, extra=extra))
    return rows


def _number(value: Any, largest: float = LARGEST) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= largest:
        raise TypeError(f"{value!r:.40} is not a number up to {largest:g}")
    return value


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    """The manifest and the tensors that it names; again if another process replaced both."""
    while True:
        about = _read_manifest(path)
        file = path / str(tensors_name(about))
        try:
            data = file.read_bytes()
            break
        except FileNotFoundError:
            if about == _read_manifest(path):
                raise InputError(
                    f"holds no {file.name}", "give the directory of a saved run", where=str(path)
                ) from None
    if hashlib.sha256(data).hexdigest() != about.get("sha256"):
        raise InputError(
            f"is damaged, its sha256 is not the one in {MANIFEST}",
            "copy both files again, or save the model again",
            where=str(file),
        )
    return about, data


def _read_manifest(path: Path) -> dict[str, Any]:
    file = path / MANIFEST
    if not file.is_file():
        raise InputError(
            f"holds no {MANIFEST}", "give the directory of a saved run", where=str(path)
        )
    about = read_json(file)
    with _damage(file):
        written = about["format"]
        if type(written) is not int or not isinstance(about.get("linkparity"), str | None):
            raise TypeError("the format is a whole number, the version is text")
        if written <= FORMAT and not {"sha256", "params", "graph"} <= set(about):
            raise ValueError("a part is missing")
        if written <= FORMAT and not TENSORS.fullmatch(str(tensors_name(about))):
            raise ValueError(f"tensors are in {about['tensors']!r}")
    if written > FORMAT:
        raise InputError(
            f"was written by linkparity {about.get('linkparity', '?')} in format {written}, and "
            f"this version reads up to {FORMAT}",
            "upgrade linkparity",
            where=str(path),
        )
    return about  # type: ignore[no-any-return]
