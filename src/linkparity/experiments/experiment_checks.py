"""Checks of an experiment's settings; every error has the path of the key that it is about."""

import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from linkparity.experiments.graph_files import GraphFiles
from linkparity.graph.graph import Graph
from linkparity.models import MODELS
from linkparity.models.prediction import LinkPredictor
from linkparity.models.prediction.predictor import check_parameters
from linkparity.reading.columns import listed
from linkparity.reading.groups import CHOICES, UntidyPolicy, check_choice
from linkparity.support.arrays import check_seed, real_number
from linkparity.support.errors import Explained, InputError
from linkparity.support.files import STREAM
from linkparity.support.registry import Registry, did_you_mean

#: Number of fits, and of values of one key, that an experiment has at most.
MAX_FITS = 100_000
#: Keys from the top of an experiment down; a number is the position in a list.
KeyPath = tuple[str | int, ...]
#: Parameters of the predictor that an experiment varies, or that have a key of their own.
VARIED = ("model", "criterion", "gamma", "seed", "pairs", "postprocess", "options", "strength")
#: Keys of a graph's files, named like the options of ``train``, with their types.
FILE_KEYS: dict[str, Any] = {
    **dict.fromkeys(("name", "links", "nodes"), str),
    "sensitive": str | list | tuple,
    **dict.fromkeys(("source", "target_column", "node"), str),
    "bipartite": bool,
    **dict.fromkeys(CHOICES, str),
}


class SettingError(InputError):
    """A setting of an experiment that cannot be used; ``path`` leads to it."""

    def __init__(self, path: KeyPath, problem: str, fix: str = "") -> None:
        self.path = path
        super().__init__(problem, fix, argument=key_text(path), caller="Experiment")


def key_text(path: KeyPath, quoted: bool = False) -> str:
    """A path in words.

    >>> key_text(("models", 1, "dimension"), quoted=True)
    "key 'models', entry 2, key 'dimension'"
    """
    names = (f"key {key!r}" if quoted else str(key) for key in path)
    numbers = (f"entry {key + 1}" if isinstance(key, int) else "" for key in path)
    return ", ".join(number or name for name, number in zip(names, numbers, strict=True))


def check_keys(given: Mapping[str, Any], known: Collection[str], path: KeyPath = ()) -> None:
    """Refuse a key that is not known, with the nearest one that is."""
    for key in given:
        if key not in known:
            hint = did_you_mean(str(key), known)
            raise SettingError((*path, key), "is unknown", f"{hint}known: {', '.join(known)}")


def as_list(value: object, path: KeyPath) -> list[Any]:
    """A list, or one value as a list of one; never empty, and never too long."""
    found = value if isinstance(value, list | tuple | range) else [value]
    if not found:
        raise SettingError(path, "is empty", "give at least one value, or leave it out")
    if len(found) > MAX_FITS:
        raise too_many(path, f"has {len(found):,} values")
    return list(found)


def too_many(path: KeyPath, problem: str) -> SettingError:
    """The error for an experiment that would never end."""
    fix = f"an experiment has at most {MAX_FITS:,} fits, so split it into several"
    return SettingError(path, problem, fix)


def check_repeated(values: Sequence[object], path: KeyPath) -> None:
    """Refuse a value that occurs twice: it would be the same fit."""
    seen = set()
    for position, value in enumerate(values):
        if (known := _hashable(value)) in seen:
            raise SettingError((*path, position), f"repeats {value!r}", "leave it out")
        seen.add(known)


def _hashable(value: object) -> Hashable:
    """The same for equal values."""
    if isinstance(value, Mapping):
        return frozenset((key, _hashable(part)) for key, part in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return value if isinstance(value, Hashable) else id(value)


def names(
    value: object,
    path: KeyPath,
    kind: str,
    known: Iterable[str],
    aliases: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """One or more of the known names, each once; an alias becomes the name that it stands for."""
    found = as_list(value, path)
    registry = Registry(kind, {name: name for name in known}, aliases)
    for position, name in enumerate(found):
        if not isinstance(name, str):
            raise SettingError((*path, position), f"must be the name of a {kind}, got {name!r:.60}")
        found[position] = _blame((*path, position), registry.__getitem__, name)
    check_repeated(found, path)
    return tuple(found)


def numbers(value: object, path: KeyPath) -> tuple[float, ...]:
    """One or more numbers that are not negative, each once."""
    given = as_list(value, path)
    found = [_blame((*path, i), real_number, each, "", "") for i, each in enumerate(given)]
    for position, number in enumerate(found):
        if not 0 <= number < float("inf"):
            problem = f"must be finite and not negative, got {number:g}"
            raise SettingError((*path, position), problem)
    check_repeated(found, path)
    return tuple(found)


def seeds(value: object) -> tuple[int, ...]:
    """The seeds, or 0 … n − 1 for a number n."""
    if isinstance(value, bool) or value == 0:
        raise SettingError(("seeds",), f"must be a number of seeds or a list, got {value!r}")
    if isinstance(value, int):
        value = range(_blame(("seeds",), check_seed, value, "", ""))
    given = as_list(value, ("seeds",))
    found = [_blame(("seeds", i), check_seed, seed, "", "") for i, seed in enumerate(given)]
    check_repeated(found, ("seeds",))
    return tuple(found)


def models(value: object) -> tuple[dict[str, Any], ...]:
    """One dict per model: its name, parameters of the predictor, further options of the model."""
    found = [
        _model(entry, ("models", position))
        for position, entry in enumerate(as_list(value, ("models",)))
    ]
    check_repeated(found, ("models",))
    return tuple(found)


def _model(entry: object, path: KeyPath) -> dict[str, Any]:
    given = dict(entry) if isinstance(entry, Mapping) else {"name": entry}
    name = given.get("name")
    if not isinstance(name, str):
        fix = 'write "cne", or {name = "cne", dimension = 16}'
        raise SettingError(path, f"has no name of a model, got {entry!r:.60}", fix)
    _blame(path, MODELS.__getitem__, name)
    check_keys(given, ("name", *predictor_keys(), *option_keys(name)), path)
    for key in given:
        if key in predictor_keys():
            check_predictor((*path, key), model=name, **{key: given[key]})
        elif key != "name":
            check_predictor((*path, key), model=name, options={key: given[key]})
    return given


def option_keys(model: str) -> tuple[str, ...]:
    """Further arguments of a model, such as the hidden layer's width."""
    found = inspect.signature(MODELS[model]).parameters.values()
    own = (each.name for each in found if each.kind is each.KEYWORD_ONLY)
    return tuple(name for name in own if name not in ("generator", "strength"))


@cache
def predictor_keys() -> tuple[str, ...]:
    """Parameters of the predictor that a model's entry may set."""
    return tuple(name for name in inspect.signature(LinkPredictor).parameters if name not in VARIED)


def check_predictor(path: KeyPath, **parameters: Any) -> None:
    """Have the predictor check its own parameters."""
    smallest = Graph(2, [[0, 1]], [0, 1])  # type: ignore[arg-type]
    _blame(path, check_parameters, LinkPredictor(**parameters), smallest)


def graph_files(entry: object, path: KeyPath) -> tuple[str, GraphFiles]:
    """The name of a graph, and its files."""
    if not isinstance(entry, Mapping):
        raise SettingError(path, f"must be a table of keys, got {entry!r:.60}")
    check_keys(entry, FILE_KEYS, path)
    for key in ("links", "nodes", "sensitive"):
        if key not in entry:
            raise SettingError(path, f"has no {key!r}", "links, nodes and sensitive are needed")
    for key, value in entry.items():
        if key in CHOICES:
            _blame((*path, key), check_choice, key, value)
        elif not isinstance(value, FILE_KEYS[key]) or value in ("", STREAM, []):
            kind = "true or false" if key == "bipartite" else "a name"
            raise SettingError((*path, key), f"must be {kind}, got {value!r:.60}")
    links, nodes = entry["links"], entry["nodes"]
    sensitive = _blame((*path, "sensitive"), listed, entry["sensitive"])
    source, target, node = (entry.get(key) for key in ("source", "target_column", "node"))
    policy = UntidyPolicy(**{key: entry[key] for key in CHOICES if key in entry})
    files = GraphFiles(
        links, nodes, sensitive, source, target, node, entry.get("bipartite", False), policy
    )
    return entry.get("name", Path(links).stem), files


def _blame(path: KeyPath, check: Callable[..., Any], *values: Any) -> Any:
    """The result of a check; its error becomes one about the setting at ``path``."""
    try:
        return check(*values)
    except Explained as error:
        raise SettingError(path, error.message.problem, error.message.fix) from None
