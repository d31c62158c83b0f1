"""An experiment: data sets × models × criteria × strengths × seeds, as a list of fits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice, product
from pathlib import Path
from typing import Any

from linkparity.criteria.cells import ALIASES, trainable
from linkparity.datasets import DATASETS
from linkparity.experiments import experiment_checks as check
from linkparity.experiments.experiment_checks import SettingError
from linkparity.experiments.experiment_file import located, read_toml
from linkparity.experiments.fit import DataSource, Fit
from linkparity.metrics.measures import MEASURES
from linkparity.models import MODELS
from linkparity.support.display import counted
from linkparity.support.files import STREAM

NONE = "none"
POSTPROCESS = (NONE, "i-projection")


@dataclass(frozen=True)
class Experiment:
    """Which models are trained on which data, how, and what is measured.

    Every combination is a fit, with two exceptions: ``"none"`` has no gammas and no
    post-processing, and a model without a strength of its own has no strengths.

    Attributes:
        data: Names of data sets.
        models: Names of models, or dicts of a name and parameters: ``{"name": "gae", "lr": 0.1}``.
        criteria: Criteria to train with; ``"none"`` is plain.
        gammas: Weights of the regularizer; the predictor's default if empty.
        seeds: Random seeds of splits and trainings, or how many: 3 is 0, 1, 2.
        pairs: What parity is about; the predictor's default if None.
        strengths: Strengths of methods that have one of their own; their default if empty.
        measures: Measures to take; all if empty.
        postprocess: ``"none"``, ``"i-projection"``, or both.
        files: Own graphs, as dicts: ``links``, ``nodes``, ``sensitive``, and ``name`` and the
            other options of ``linkparity train``.

    >>> len(Experiment(["polbooks"], ["cne", "maxent"], ["none", "dp"], [10, 100], 3).fits())
    18
    """

    data: Sequence[str] = ()
    models: Sequence[str | Mapping[str, Any]] = ()
    criteria: Sequence[str] = (NONE,)
    gammas: Sequence[float] = ()
    seeds: int | Sequence[int] = 1
    pairs: str | None = None
    strengths: Sequence[float] = ()
    measures: Sequence[str] = ()
    postprocess: str | Sequence[str] = NONE
    files: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        if not self.data and not self.files:
            raise SettingError((), "no data are given", 'write data = ["polbooks"], or [[files]]')
        if not self.models:
            raise SettingError((), "no models are given", 'write models = ["cne"]')
        known = {"data": DATASETS, "criteria": (NONE, *trainable()), "measures": MEASURES}
        kinds = {"data": "data set", "criteria": "criterion", "measures": "measure"}
        aliases = {"criteria": ALIASES}
        found: dict[str, Any] = {
            key: check.names(getattr(self, key), (key,), kinds[key], known[key], aliases.get(key))
            for key in known
            if getattr(self, key) != ()
        }
        for key in ("gammas", "strengths"):
            if getattr(self, key) != ():
                found[key] = check.numbers(getattr(self, key), (key,))
        found["postprocess"] = check.names(
            self.postprocess, ("postprocess",), "post-processing", POSTPROCESS
        )
        found |= {"seeds": check.seeds(self.seeds), "models": check.models(self.models)}
        for key, value in found.items():
            object.__setattr__(self, key, value)
        self._check_training()
        self._check_size(len(self.sources()))

    def _check_training(self) -> None:
        """Have the predictor check what several keys say together."""
        if self.pairs is not None:
            check.check_predictor(("pairs",), pairs=self.pairs)
        for position, gamma in enumerate(self.gammas):
            check.check_predictor(("gammas", position), gamma=gamma)
        names = [str(each["name"]) for each in self.models if isinstance(each, Mapping)]
        strong = [name for name in names if MODELS[name].strength is not None]
        if self.strengths and not strong:
            problem = f"no model here has a strength of its own: {', '.join(names)}"
            raise SettingError(("strengths",), problem, "leave it out")
        for (position, strength), name in product(enumerate(self.strengths), strong):
            check.check_predictor(("strengths", position), model=name, strength=strength)

    def _check_size(self, sources: int) -> None:
        """Refuse more fits than any run could do."""
        trainings = sum(1 for _ in islice(self._trainings(), check.MAX_FITS + 1))
        if sources * len(self._seeds()) * trainings > check.MAX_FITS:
            kinds = f"{counted(sources, 'graph')}, {counted(len(self._seeds()), 'seed')}"
            raise check.too_many((), f"asks for too many fits ({kinds}, and the models' settings)")

    @classmethod
    def read(cls, path: str | Path) -> "Experiment":
        """Read a TOML file; every error names the row and the key."""
        name = str(path)
        text, given = read_toml(name)
        try:
            check.check_keys(given, [each.name for each in fields(cls)])
            if "files" in given:
                given["files"] = [
                    _from_folder(entry, Path(name).parent)
                    for entry in check.as_list(given["files"], ("files",))
                ]
            return cls(**given)
        except SettingError as error:
            raise located(error, name, text) from None

    def sources(self, data: str | None = None) -> list[DataSource]:
        """The data sets and own graphs; ``data`` is the data directory."""
        found = [DataSource(name, None, data) for name in self.data]
        names = set(self.data)
        entries = () if self.files == () else check.as_list(self.files, ("files",))
        for position, entry in enumerate(entries):
            name, files = check.graph_files(entry, ("files", position))
            if name in names:
                fix = "give it another name"
                raise SettingError(("files", position), f"is a second {name!r}", fix)
            names.add(name)
            found.append(DataSource(name, files))
        return found

    def fits(self, data: str | None = None) -> list[Fit]:
        """Every fit, seed by seed; loads the data to know their hash."""
        measures = tuple(self.measures) or tuple(MEASURES)
        found = []
        trainings = list(self._trainings())
        for source in self.sources(data):
            digest = source.sha256()
            for seed, parameters in product(self._seeds(), trainings):
                found.append(Fit(source, digest, {**parameters, "seed": seed}, measures))
        return found

    def _seeds(self) -> Sequence[int]:
        assert not isinstance(self.seeds, int)
        return self.seeds

    def _trainings(self) -> Iterator[dict[str, Any]]:
        """The predictor's parameters of every combination, without the seed."""
        for entry, criterion in product(self.models, self.criteria):
            assert isinstance(entry, Mapping)
            model = _model_parameters(entry)
            plain = criterion == NONE
            gammas = [None] if plain or not self.gammas else self.gammas
            own = MODELS[entry["name"]].strength is not None and self.strengths
            ways = [NONE] if plain else self.postprocess
            for gamma, strength, way in product(gammas, self.strengths if own else [None], ways):
                varied = {
                    "criterion": None if plain else criterion, "gamma": gamma, "pairs": self.pairs,
                    "strength": strength, "postprocess": None if way == NONE else way,
                }  # fmt: skip
                yield model | {k: v for k, v in varied.items() if v is not None}


def _model_parameters(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of ``models`` as parameters of the predictor."""
    known = check.predictor_keys()
    parameters = {key: value for key, value in entry.items() if key in known}
    options = {key: value for key, value in entry.items() if key not in (*known, "name")}
    return {"model": entry["name"]} | parameters | ({"options": options} if options else {})


def _from_folder(entry: object, folder: Path) -> object:
    """The files of a graph, whose relative names start from the folder of the experiment."""
    if not isinstance(entry, dict):
        return entry
    places = {
        key: str(folder / entry[key])
        for key in ("links", "nodes")
        if isinstance(entry.get(key), str) and entry[key] not in ("", STREAM)
    }
    return entry | places
