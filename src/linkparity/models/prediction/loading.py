"""Read a saved run; whatever is wrong with it is one sentence that names the file."""

import hashlib
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from traceback import walk_tb
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from linkparity.criteria import CRITERIA, Criterion
from linkparity.graph.graph import Graph
from linkparity.models import MODELS, LinkModel
from linkparity.models.prediction.postprocess import Tilts
from linkparity.models.prediction.predictor import LinkPredictor, check_parameters
from linkparity.models.prediction.saving import FORMAT, MANIFEST, TENSORS, tensors_name
from linkparity.models.training.objective import Epoch
from linkparity.projection.fit import TARGETS
from linkparity.projection.group_tilts import LARGEST_TILT
from linkparity.reading.groups import GraphWarning
from linkparity.support.errors import InputError
from linkparity.support.files import read_json
from linkparity.support.randomness import stream

#: Seconds that no training takes, and a number beyond those of any history.
LONGEST, LARGEST = 1e9, 1e100
#: A divergence of 0 may be so much below it.
ROUNDING = 1e-6
#: What reading a damaged or changed run may raise.
DAMAGE = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError,
    MemoryError, SafetensorError,
)  # fmt: skip


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
    if criterion is not None:
        _check_name(path, params.get("criterion"), criterion)
    with _damage(path / str(tensors_name(about))):
        tensors = load(data)
    with _damage(file):
        predictor = kind(**_parameters(params, model, criterion, tensors))
        graph = predictor.graph_ = _graph(about["graph"], tensors)
    with _damage(file, DAMAGE if own_model is None else (InputError,)):  # calls their own class
        check_parameters(predictor, graph)
    with _damage(file):
        state = {name[6:]: value for name, value in tensors.items() if name.startswith("model.")}
        _check_state(predictor, graph, state)
        seconds = _number(about["fit_seconds"], "fit_seconds", 0, LONGEST)
        history = _history(about["history"], predictor.model)
        fitted = history, _tilts(graph, tensors), seconds
        held_out = tensors.get("graph.held_out")
        if held_out is not None:
            held_out = Graph(graph.num_nodes, held_out, graph.group).links
    # what a class of their own raises is no damage
    with _damage(file) if own_model is None else nullcontext():
        built = _build(predictor)
    with _damage(file) if own_model is None else _other_class(path, type(built)):
        _fill(built, state)
    if own_model is None:
        with _damage(file):
            _check_tilts(built, fitted[1])
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


def _check_name(path: Path, saved: Any, given: Any) -> None:
    """Refuse a criterion of another name than the one that was trained with."""
    trained, name = (getattr(_known(each), "name", each) for each in (saved, given))
    if trained != name:
        what = "without a criterion" if saved is None else f"with the criterion {saved!r:.60}"
        fix = "leave {criterion=} out" if saved is None else "pass the one that was trained with"
        raise InputError(f"was trained {what}, not with {name!r:.60}", fix, where=str(path))


def _known(criterion: Any) -> Any:
    """The criterion of a name; anything else as it is."""
    return CRITERIA.get(criterion, criterion) if isinstance(criterion, str) else criterion


@contextmanager
def _damage(file: Path, kinds: tuple[type[Exception], ...] = DAMAGE) -> Iterator[None]:
    """Errors of some kinds, from a damaged or changed run: one sentence that names the file."""
    try:
        yield
    except kinds as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"is damaged or was changed ({said:.120})", "save the predictor again", where=str(file)
        ) from None


class _Unfit(ValueError):
    """Tensors that are not those of a model."""


@contextmanager
def _other_class(path: Path, kind: type[LinkModel]) -> Iterator[None]:
    """Tensors that do not fit the model that was passed: one sentence."""
    try:
        yield
    except _Unfit as error:
        said = " ".join(str(error).split())
        raise InputError(
            f"its tensors do not fit {kind.__qualname__} ({said:.200})",
            "pass the class that was trained as LinkPredictor.load(path, model=…)",
            where=str(path),
        ) from None


def _build(predictor: LinkPredictor) -> LinkModel:
    """The model of the parameters, untrained."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        return predictor.build(predictor.graph_, stream(predictor.seed, "model"))


def _fill(model: LinkModel, state: dict[str, Tensor]) -> None:
    """Give the model its tensors; what an override of ``load_state_dict`` raises comes through."""
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        *_, (frame, _) = walk_tb(error.__traceback__)
        if frame.f_code is not torch.nn.Module.load_state_dict.__code__:
            raise
        raise _Unfit(str(error)) from None
    for name, wanted in model.state_dict().items():
        if name in state and state[name].dtype != wanted.dtype:
            raise _Unfit(f"{name} is {state[name].dtype}, not {wanted.dtype}")


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
    if params["criterion"] is not None or not params["target"]:
        _check_target(params["target"])
    given = {name[8:]: tensors[name] for name in tensors if name.startswith("options.")}
    params["options"] = {**params["options"], **given} or None
    return params


def _check_target(target: Any) -> None:
    """Refuse what is neither a name nor means."""
    if isinstance(target, str) and target in TARGETS:
        return
    means = list(target.values()) if isinstance(target, dict) else target
    if means == []:
        raise ValueError(f"target is {target}, without a mean")
    for mean in means if isinstance(means, list) else [means]:
        if not 0 < _number(mean, "target", 0) < 1:
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
    if not _is_finite(table):
        raise ValueError("tilts must be finite")
    return Tilts(table)


@torch.no_grad()
def _check_tilts(model: LinkModel, tilts: Tilts | None) -> None:
    """Refuse tilts that no fit gives: further from 0 than twice the largest logit allows."""
    if tilts is None or (factors := model.factors()) is None:
        return
    left, right = (float(each.double().norm(dim=1).max()) for each in factors)
    largest = max(LARGEST_TILT, 2 * left * right + 100)
    if not (tilts.table.abs() <= largest).all():
        raise ValueError(f"tilts must lie within ±{largest:g}")


def _history(rows: Any, model: str | type[LinkModel]) -> list[Epoch]:
    if not isinstance(rows, list):
        raise TypeError(f"history is {rows!r:.40}, no list of epochs")
    return [_epoch(row, f"history[{at}]", model) for at, row in enumerate(rows)]


def _epoch(row: Any, where: str, model: str | type[LinkModel]) -> Epoch:
    """One row of training; only that of a model of their own may have null anywhere."""
    least = {"epoch": 1, "loss": 0, "fit": 0, "kl": -ROUNDING, "gap": 0, "seconds": 0}
    largest, unknown = {"seconds": LONGEST}, {"kl", "gap"}  # unknown of a plain model
    if not isinstance(model, str):
        least, largest, unknown = dict.fromkeys(least, -LARGEST), {}, set(least)
    elif MODELS[model].strength is not None:  # an adversary's loss is taken away
        least["loss"] = -LARGEST
    if not isinstance(row, list) or len(row) not in (6, 7):
        raise TypeError(f"{where} is {row!r:.40}, no row of an epoch")
    if isinstance(model, str) and isinstance(row[0], float):
        raise TypeError(f"{where}.epoch is {row[0]!r:.40}, no whole number")
    numbers = [
        math.nan
        if value is None and name in unknown
        else _number(value, f"{where}.{name}", low, largest.get(name, LARGEST))
        for (name, low), value in zip(least.items(), row, strict=False)
    ]
    extra = row[6].items() if len(row) > 6 else ()
    named = {name: _number(value, f"{where}.{name}") for name, value in extra}
    return Epoch(*numbers, extra=named)


def _number(value: Any, name: str, least: float = -LARGEST, largest: float = LARGEST) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not least <= value <= largest:
        raise TypeError(f"{name} is {value!r:.40}, no number from {least:g} to {largest:g}")
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
        if type(written) is not int or written < 1:
            raise TypeError(f"format is {written!r:.40}, no whole number from 1")
        if not isinstance(about.get("linkparity"), str | None):
            raise TypeError("the version is text")
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
