"""One run as a flat row: to JSON and back."""

import json
import math
import platform
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from linkparity.experiments.row_schema import check_row
from linkparity.metrics.measures import MEASURES
from linkparity.metrics.results import CellScore
from linkparity.support.display import or_nan, or_none
from linkparity.support.errors import InputError
from linkparity.support.registry import did_you_mean

if TYPE_CHECKING:
    from linkparity.experiments.train import Run
    from linkparity.models.prediction import LinkPredictor

#: Keys that follow ``error`` in the JSON.
AFTER_ERROR = (
    "test_pairs",
    "settings",
    "versions",
    "threads",
    "id",
    "data_sha256",
    "peak_memory",
    "history",
    "quantiles",
)
#: Further keys of ``train --json``, which a row leaves out.
DERIVED = ("gaps", "findings", "compared_with_plain")
#: Why a measure of candidates has no value where test pairs are measured.
OTHER_PAIRS = "measured over candidates"
#: Packages whose version decides a result.
PACKAGES = ("linkparity", "torch", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True, eq=False)
class Row:
    """What was trained and how it did; every measure is a float attribute (``row.dp``).

    Attributes:
        dataset: Name of the data set, None for own files.
        model: Name of the model.
        criterion: Criterion of the regularizer; ``"none"`` when plain.
        gamma: Weight of the regularizer; 0 when plain.
        strength: Strength of a method that has one of its own, None for the others.
        seed: Random seed.
        values: Measure by name, ``nan`` where undefined; keys of their own in the JSON.
        fit_seconds: Seconds of training.
        epochs: Epochs of training.
        pairs: Number of test pairs.
        links: Number of links among them.
        intervals: ``(low, high)`` by measure.
        cells: Mean prediction per pair of groups.
        reasons: Why a measure or its interval is undefined.
        notes: Sentences to read with the numbers.
        error: Why the run failed, None if it did not.
        traceback: Where in the code it failed.
        test_pairs: ``"candidates"`` if dp, rdp and kl are over all candidates, else ``"paper"``.
        refit: Whether the saved model was fitted again on all links, after the evaluation.
        settings: Every other parameter of the predictor with the value that was used.
        versions: Version by package.
        threads: Number of torch's threads, on which results depend slightly; None if unknown.
        id: Fit of an experiment that the row is the result of, None for other runs.
        data_sha256: Hash of the graph.
        peak_memory: Largest resident memory of the process during the fit, in bytes.
        history: Values by column over the epochs, thinned: ``epoch``, ``loss``, ``kl``, ``gap``.
        quantiles: Quantiles of the predictions per pair of groups, of pairs and of links.
    """

    dataset: str | None
    model: str
    criterion: str
    gamma: float
    seed: int
    values: dict[str, float] = field(default_factory=dict)
    fit_seconds: float | None = None
    strength: float | None = None
    epochs: int = 0
    pairs: int = 0
    links: int | None = None
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    cells: tuple[CellScore, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    error: str | None = None
    traceback: str | None = None
    test_pairs: str = "paper"
    refit: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    threads: int | None = None
    id: str | None = None
    data_sha256: str | None = None
    peak_memory: int | None = None
    history: dict[str, list[float | None]] = field(default_factory=dict)
    quantiles: list[dict[str, Any]] = field(default_factory=list)

    def __getattr__(self, name: str) -> float:
        values: dict[str, float] = self.__dict__.get("values", {})
        if name in values:
            return values[name]
        raise AttributeError(f"Row has no {name!r}; measures: {', '.join(values)}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of(cls, run: "Run") -> "Row":
        """The row of a finished run."""
        import torch

        predictor, scores = run.predictor, run.scores
        settings = predictor_settings(predictor)
        return cls(
            dataset=run.dataset,
            model=str(predictor.model),
            criterion=run.criterion,
            gamma=settings["gamma"],
            seed=predictor.seed,
            values=dict.fromkeys(MEASURES, math.nan) | scores.values,
            fit_seconds=predictor.fit_seconds_,
            strength=predictor.model_.strength,
            epochs=len(predictor.history_),
            pairs=scores.pairs,
            links=scores.links,
            intervals=scores.intervals,
            cells=scores.cells,
            reasons=dict.fromkeys(MEASURES.keys() - scores.values, OTHER_PAIRS) | scores.reasons,
            notes=scores.notes,
            test_pairs=run.test_pairs,
            refit=run.refitted is not None,
            settings=settings,
            versions=versions(),
            threads=torch.get_num_threads(),
        )

    def to_dict(self) -> dict[str, Any]:
        """One flat JSON object: measures are keys of their own, undefined numbers are None."""
        return {
            **{name: getattr(self, name) for name in ("dataset", "model", "criterion", "gamma")},
            "strength": self.strength,
            "seed": self.seed,
            **{name: or_none(value) for name, value in self.values.items()},
            **{name: getattr(self, name) for name in ("fit_seconds", "epochs", "pairs", "links")},
            "intervals": {k: [or_none(end) for end in v] for k, v in self.intervals.items()},
            "cells": [cell.to_dict() for cell in self.cells],
            "reasons": dict(self.reasons),
            "notes": list(self.notes),
            "error": self.error,
            **{name: getattr(self, name) for name in AFTER_ERROR},
            **({"traceback": self.traceback} if self.traceback else {}),
            **({"refit": True} if self.refit else {}),
        }

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "Row":
        """The inverse of :meth:`to_dict`; unknown keys are refused."""
        row = {key: value for key, value in row.items() if key not in DERIVED}
        known = [each.name for each in fields(cls) if each.name != "values"]
        for key in row:
            if key not in known and key not in MEASURES:
                hint = did_you_mean(key, [*known, *MEASURES]).rstrip()
                raise InputError(f"unknown key {key!r} in a row", hint, caller="Row.from_dict")
        for key in ("dataset", "model", "criterion", "gamma", "seed"):
            if key not in row:
                raise InputError(f"the row has no {key!r}", caller="Row.from_dict")
        check_row(row)
        given = {key: value for key, value in row.items() if key in known}
        given["values"] = {key: or_nan(row[key]) for key in row if key in MEASURES}
        ends = row.get("intervals", {}).items()
        given["intervals"] = {k: (or_nan(low), or_nan(high)) for k, (low, high) in ends}
        given["cells"] = tuple(CellScore.from_dict(cell) for cell in row.get("cells", ()))
        given["notes"] = tuple(row.get("notes", ()))
        return cls(**given)

    def to_json(self) -> str:
        """One line of JSON, as in a file of rows."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Row":
        """The inverse of :meth:`to_json`."""
        try:
            row = json.loads(text)
            if "\\u" in text:  # an escape may be half of a character, which nothing can print
                json.dumps(row, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            problem = f"{text[:60]!r} is not JSON ({error})"
            raise InputError(problem, caller="Row.from_json") from None
        if not isinstance(row, dict):
            raise InputError(f"{text[:60]!r} is not a JSON object", caller="Row.from_json")
        return cls.from_dict(row)


def predictor_settings(predictor: "LinkPredictor") -> dict[str, Any]:
    """Parameters with the values that were used; the gamma of a plain model is 0."""
    from linkparity.models import MODELS, LinkModel
    from linkparity.models.training.objective import chosen_pairs

    params = predictor.get_params()
    made = MODELS[params["model"]] if isinstance(params["model"], str) else params["model"]
    own = ("model", "criterion", "seed", "strength")
    settings = {name: value for name, value in params.items() if name not in own}
    for name in ("dimension", "epochs", "lr"):
        if settings[name] is None:
            settings[name] = getattr(made, name)
    trained = LinkModel if params["gamma"] == 0 and params["postprocess"] else made
    settings["pairs"] = chosen_pairs(trained, params["pairs"])
    if params["criterion"] is None:
        settings["gamma"] = 0
    plain: dict[str, Any] = json.loads(json.dumps(settings, default=lambda v: f"{v!r:.200}"))
    return plain


@cache
def versions() -> dict[str, str]:
    """Version of Python and of the packages that decide a result."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
