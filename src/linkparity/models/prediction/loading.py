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
from linkparity.models import MODELS, LinkModel
from linkparity.models.prediction.postprocess import Tilts
from linkparity.models.prediction.predictor import LinkPredictor, check_parameters
from linkparity.models.prediction.saving import FORMAT, MANIFEST, tensors_name
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
#: What reading a damaged or changed run can raise.
DAMAGE = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, MemoryError,
    SafetensorError,
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
        params = dict(about["params"])
        own_model, own_criterion = params.pop("own_model"), params.pop("own_criterion", None)
    if own_model is not None and model is None:
        raise _own(path, "model", own_model, "its class")
    if own_criterion is not None and not isinstance(criterion, Criterion):
        raise _own(path, "criterion", own_criterion, "an instance of it")
    if criterion is not None:
        _check_name(path, params.get("criterion"), criterion)
    with _damage(path / str(tensors_name(about))):
        tensors = load(data)
    with _damage(file):
        params["model"] = params["model"] if own_model is None else model
        params["criterion"] = params["criterion"] if own_criterion is None else criterion
        predictor = kind(**_parameters(params, tensors))
        graph = predictor.graph_ = _graph(about["graph"], tensors)
    with _damage(file, DAMAGE if own_model is None else (InputError,)):  # calls their own class
        check_parameters(predictor, graph)
    with _damage(file):
        state = {name[6:]: value for name, value in tensors.items() if name.startswith("model.")}
        _check_state(predictor, graph, state)
        seconds = _number(about["fit_seconds"], "fit_seconds", 0, LONGEST)
        history, tilts = _history(about["history"], predictor.model), _tilts(graph, tensors)
        held_out = tensors.get("graph.held_out")
        if held_out is not None:
            held_out = Graph(graph.num_nodes, held_out, graph.group).links
    # what a class of their own raises is no damage
    with _damage(file) if own_model is None else nullcontext():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)
            built = predictor.build(graph, stream(predictor.seed, "model"))
        if problem := _fill(built, state):
            if own_model is None:
                raise ValueError(problem)
            problem = f"its tensors do not fit {type(built).__qualname__} ({problem:.200})"
            fix = "pass the class that was trained as LinkPredictor.load(path, model=…)"
            raise InputError(problem, fix, where=str(path))
        if own_model is None and tilts is not None:
            _check_tilts(built, tilts)
        predictor.restore(built, history, tilts, seconds)
    predictor.held_out_ = held_out
    return predictor


def _own(path: Path, argument: str, name: Any, value: str) -> InputError:
    problem = f"was trained with a {argument} of your own, {name}"
    fix = f"pass {value} as LinkPredictor.load(path, {argument}=…)"
    return InputError(problem, fix, where=str(path))


def _check_name(path: Path, saved: Any, given: Any) -> None:
    """Refuse a criterion of another name than the one that was trained with."""
    known = (CRITERIA.get(each, each) if isinstance(each, str) else each for each in (saved, given))
    trained, name = (getattr(each, "name", each) for each in known)
    if trained != name:
        what = "without a criterion" if saved is None else f"with the criterion {saved!r:.60}"
        fix = "leave {criterion=} out" if saved is None else "pass the one that was trained with"
        raise InputError(f"was trained {what}, not with {name!r:.60}", fix, where=str(path))


@contextmanager
def _damage(file: Path, kinds: tuple[type[Exception], ...] = DAMAGE) -> Iterator[None]:
    """Errors of some kinds, from a damaged or changed run: one sentence that names the file."""
    try:
        yield
    except kinds as error:
        said = " ".join(str(error).split()) or type(error).__name__
        problem = f"is damaged or was changed ({said:.120})"
        raise InputError(problem, "save the predictor again", where=str(file)) from None


def _fill(model: LinkModel, state: dict[str, Tensor]) -> str:
    """Give the model its tensors; why they do not fit, if they do not."""
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        if not str(error).startswith("Error(s) in loading state_dict"):  # but of an override
            raise
        return " ".join(str(error).split())
    types = ((name, state[name].dtype, own.dtype) for name, own in model.state_dict().items()
             if name in state)  # fmt: skip
    return next((f"{name} is {saved}, not {own}" for name, saved, own in types if saved != own), "")


def _parameters(saved: dict[str, Any], tensors: dict[str, Tensor]) -> dict[str, Any]:
    """Arguments of the constructor."""
    target = saved["target"]
    if isinstance(target, dict):  # labels as keys, which JSON turned into text
        target = {int(label): mean for label, mean in target.items()}
    if (saved["criterion"] is not None or not target) and target not in TARGETS:
        means = list(target.values()) if isinstance(target, dict) else target
        if means == []:
            raise ValueError(f"target is {target}, without a mean")
        for mean in means if isinstance(means, list) else [means]:
            if not 0 < _number(mean, "target", 0, 1) < 1:
                raise ValueError("means lie between 0 and 1")
    columns = {name[8:]: tensors[name] for name in tensors if name.startswith("options.")}
    return saved | {"target": target, "options": {**saved["options"], **columns} or None}


def _graph(about: dict[str, Any], tensors: dict[str, Tensor]) -> Graph:
    names, groups, attribute = about["names"], about["group_names"], about["attribute"]
    links, group = tensors["graph.links"], tensors["graph.group"]
    kept = about.get("unknown_kept", False)
    for right, said in (
        (names is None or all(type(name) in (str, int) for name in names),
         "names of nodes are text or whole numbers"),
        (isinstance(attribute, str | None), "the name of the attribute is text"),
        (type(kept) is bool, "unknown_kept is true or false"),
        (all(isinstance(name, str) for name in groups), "names of groups are text"),
        ((group < len(groups)).all(), "a group has no name"),
    ):  # fmt: skip
        if not right:
            raise ValueError(said)
    size, side = about["num_nodes"], tensors.get("graph.side")
    return Graph(size, links, group, tuple(groups), side, names, attribute, kept)


def _check_state(predictor: LinkPredictor, graph: Graph, state: dict[str, Tensor]) -> None:
    """Refuse numbers that no trained model has, before memory is allocated for one."""
    known = isinstance(predictor.model, str)
    for name, value in state.items():
        if value.is_complex() or (known and not torch.isfinite(value).all()):
            raise ValueError(f"{name} must hold finite real numbers")
    largest = max([graph.num_nodes, *(value.numel() for value in state.values())])
    hidden = (predictor.options or {}).get("hidden", 1)
    for name, size in (("dimension", predictor.dimension or 1), ("hidden", hidden)):
        if known and not 0 < size <= largest:
            raise ValueError(f"{name} is {size}, which the tensors do not have")


def _tilts(graph: Graph, tensors: dict[str, Tensor]) -> Tilts | None:
    if (table := tensors.get("tilts")) is None:
        return None
    size = graph.num_groups + 1
    if table.shape != (size, size) or table.dtype != torch.float64:
        raise ValueError(f"tilts must be {size} × {size} numbers of float64")
    if not torch.isfinite(table).all():
        raise ValueError("tilts must be finite")
    return Tilts(table)


@torch.no_grad()
def _check_tilts(model: LinkModel, tilts: Tilts) -> None:
    """Refuse tilts that no fit gives: further from 0 than twice the largest logit allows."""
    if (factors := model.factors()) is None:
        return
    left, right = (float(each.double().norm(dim=1).max()) for each in factors)
    largest = max(LARGEST_TILT, 2 * left * right + 100)
    if not (tilts.table.abs() <= largest).all():
        raise ValueError(f"tilts must lie within ±{largest:g}")


def _history(rows: Any, model: str | type[LinkModel]) -> list[Epoch]:
    """The rows of training; only those of a model of their own may have null anywhere."""
    if not isinstance(rows, list):
        raise TypeError(f"history is {rows!r:.40}, no list of epochs")
    least = {"epoch": 1, "loss": 0, "fit": 0, "kl": -ROUNDING, "gap": 0, "seconds": 0}
    largest, unknown = {"seconds": LONGEST}, {"kl", "gap"}  # unknown of a plain model
    if not isinstance(model, str):
        least, largest, unknown = dict.fromkeys(least, -LARGEST), {}, set(least)
    elif MODELS[model].strength is not None:  # an adversary's loss is taken away
        least["loss"] = -LARGEST
    found = []
    for at, row in enumerate(rows):
        found.append(_epoch(row, f"history[{at}]", least, largest, unknown))
        if isinstance(model, str) and isinstance(row[0], float):
            raise TypeError(f"history[{at}].epoch is {row[0]!r:.40}, no whole number")
    return found


def _epoch(
    row: Any, where: str, least: dict[str, float], largest: dict[str, float], unknown: set[str]
) -> Epoch:
    if not isinstance(row, list) or len(row) not in (6, 7):
        raise TypeError(f"{where} is {row!r:.40}, no row of an epoch")
    numbers = [
        math.nan
        if value is None and name in unknown
        else _number(value, f"{where}.{name}", low, largest.get(name, LARGEST))
        for (name, low), value in zip(least.items(), row, strict=False)
    ]
    extra = row[6].items() if len(row) > 6 else ()
    return Epoch(*numbers, extra={name: _number(value, f"{where}.{name}") for name, value in extra})


def _number(value: Any, name: str, least: float = -LARGEST, largest: float = LARGEST) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not least <= value <= largest:
        raise TypeError(f"{name} is {value!r:.40}, no number from {least:g} to {largest:g}")
    return value


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    """The manifest and the tensors that it names; again if another process replaced both."""
    about = _read_manifest(path)
    file = path / str(tensors_name(about))
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        if about != _read_manifest(path):
            return _read(path)
        raise _missing(path, file.name) from None
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        problem = f"is damaged, its sha256 is not the one in {MANIFEST}"
        fix = "copy both files again, or save the model again"
        raise InputError(problem, fix, where=str(file))
    return about, data


def _read_manifest(path: Path) -> dict[str, Any]:
    file = path / MANIFEST
    if not file.is_file():
        raise _missing(path, MANIFEST)
    about = read_json(file)
    with _damage(file):
        written, author = about["format"], about.get("linkparity")
        if type(written) is not int or written < 1:
            raise TypeError(f"format is {written!r:.40}, no whole number from 1")
        if not isinstance(author, str | None):
            raise TypeError("the version is text")
        if written <= FORMAT and not {"sha256", "params", "graph"} <= set(about):
            raise ValueError("a part is missing")
        if written <= FORMAT and tensors_name(about) is None:
            raise ValueError(f"tensors are in {about['tensors']!r}")
    if written > FORMAT:
        problem = f"was written by linkparity {author or '?'} in format {written}, and this version"
        raise InputError(f"{problem} reads up to {FORMAT}", "upgrade linkparity", where=str(path))
    return about  # type: ignore[no-any-return]


def _missing(path: Path, name: str) -> InputError:
    return InputError(f"holds no {name}", "give the directory of a saved run", where=str(path))
