"""Rows of an experiment: as a frame, and as means over the seeds."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Any, NamedTuple, overload

from linkparity.experiments.model_defaults import DEFAULTS
from linkparity.experiments.rows import Row
from linkparity.experiments.rows_file import read_rows
from linkparity.metrics.measures import MEASURES
from linkparity.support.display import Displayed, Grid, format_number
from linkparity.support.errors import require

#: Keys of a row that a frame leaves out, because they hold more than one value.
NESTED = ("intervals", "cells", "reasons", "notes", "versions", "history", "quantiles")


class Spread(NamedTuple):
    """Mean and standard deviation over the seeds at which a measure is defined."""

    mean: float
    std: float

    @classmethod
    def of(cls, values: Iterable[float]) -> "Spread":
        """Of the values that are numbers; the deviation of fewer than two is nan."""
        known = [value for value in values if not math.isnan(value)]
        mean = fmean(known) if known else math.nan
        return cls(mean, stdev(known) if len(known) > 1 else math.nan)

    def __str__(self) -> str:
        if math.isnan(self.std):
            return format_number(self.mean)
        return f"{format_number(self.mean)} ± {format_number(self.std)}"


@dataclass(frozen=True, eq=False)
class Summary:
    """The rows of one method on one data set, over the seeds.

    Attributes:
        dataset: Name of the data.
        method: What was trained, in a few words; unique on the data.
        model: Name of the model.
        criterion: Criterion of the regularizer; ``"none"`` when plain.
        gamma: Weight of the regularizer; 0 when plain.
        strength: Strength of the method's own, or None.
        settings: The other parameters.
        rows: One per seed, none of them failed.
        measures: Mean and deviation by measure.
        fit_seconds: Median.
    """

    dataset: str | None
    method: str
    model: str
    criterion: str
    gamma: float
    strength: float | None
    settings: dict[str, Any]
    rows: tuple[Row, ...]
    measures: dict[str, Spread]
    fit_seconds: float


def summarize(rows: Sequence[Row]) -> list[Summary]:
    """Means over the seeds by data and method, in order of appearance, without failed rows."""
    good = [row for row in rows if row.error is None]
    groups: dict[tuple[str | None, str], list[Row]] = {}
    for row in good:
        groups.setdefault((row.dataset, _method_key(row)), []).append(row)
    labels = method_labels(good)
    return [_summary(labels[key], group) for (_, key), group in groups.items()]


def _summary(method: str, rows: list[Row]) -> Summary:
    """The summary of rows that differ in their seeds."""
    first = rows[0]
    measures = {n: Spread.of(row.values.get(n, math.nan) for row in rows) for n in MEASURES}
    return Summary(
        first.dataset, method, first.model, first.criterion, first.gamma, first.strength,
        first.settings, tuple(rows), measures, median(row.fit_seconds or 0.0 for row in rows),
    )  # fmt: skip


def _method_key(row: Row) -> str:
    """The same for rows that differ in data and seed only."""
    return json.dumps((row.model, row.criterion, _varying(row)), sort_keys=True)


def method_labels(rows: Sequence[Row]) -> dict[str, str]:
    """A few words per method: model, criterion, and each setting that tells methods apart.

    A setting is named where rows of the same model and criterion have several values of it, and a
    strength also where it is not the model's default.
    """
    by_kind: dict[tuple[str, str], dict[str, set[str]]] = {}
    for row in rows:
        seen = by_kind.setdefault((row.model, row.criterion), {})
        for name, value in _varying(row).items():
            seen.setdefault(name, set()).add(json.dumps(value, sort_keys=True))
    labels = {}
    for row in rows:
        seen = by_kind[row.model, row.criterion]
        told = [
            _setting_text(name, value)
            for name, value in _varying(row).items()
            if (len(seen[name]) > 1 and value is not None)
            or name == "max_gap"
            or (name == "strength" and value is not None and value != _default_strength(row))
        ]
        kind = row.model if row.criterion == "none" else f"{row.model} + {row.criterion}"
        labels[_method_key(row)] = ", ".join((kind, *told))
    return labels


def _default_strength(row: Row) -> float | None:
    return DEFAULTS[row.model].strength if row.model in DEFAULTS else None


def _varying(row: Row) -> dict[str, Any]:
    if "max_gap" in row.settings:  # whatever tune chose for a seed, it is one method
        return {name: row.settings.get(name) for name in ("max_gap", "options")}
    own = {"gamma": row.gamma, "strength": row.strength, "test_pairs": row.test_pairs}
    return own | {name: value for name, value in row.settings.items() if name != "gamma"}


def _setting_text(name: str, value: object) -> str:
    if name == "postprocess":
        return str(value)
    if name == "max_gap" and isinstance(value, dict):
        return "tuned to " + ", ".join(f"{name} ≤ {limit:g}" for name, limit in value.items())
    if name == "options" and isinstance(value, dict):
        return ", ".join(f"{option}={each}" for option, each in value.items())
    return f"{name} {value:g}" if isinstance(value, int | float) else f"{name} {value}"


@dataclass(frozen=True, eq=False)
class Results(Displayed, Sequence[Row]):
    """The rows of an experiment; prints itself as means over the seeds.

    Attributes:
        rows: In the order of the experiment.
    """

    rows: tuple[Row, ...]

    @classmethod
    def read(cls, path: object) -> "Results":
        """The rows of a file, plain or gzipped."""
        return cls(tuple(read_rows(str(path))))

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def failed(self) -> tuple[Row, ...]:
        """Rows of fits that failed: ``error`` says why, and every measure is nan.

        The means leave them out. The next run on the same file fits them again.
        """
        return tuple(row for row in self.rows if row.error is not None)

    def summaries(self) -> list[Summary]:
        """Means over the seeds, by data and method."""
        return summarize(self.rows)

    def to_frame(self) -> Any:
        """A pandas frame: one row per fit, one column per value, settings as ``settings.pairs``."""
        rows = [row.to_dict() for row in self.rows]
        pandas = require("pandas", "Results.to_frame", "pandas")
        return pandas.DataFrame([flat(row) for row in rows])

    def document(self) -> list[Grid | str]:
        """A table per data set, then the failures."""
        return [*summary_grids(self.summaries()), *failures(self.failed)]


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row with one value per key: settings spelled out, the ends of intervals apart."""
    found = {key: value for key, value in row.items() if key not in (*NESTED, "settings")}
    for name, value in row["settings"].items():
        found[f"settings.{name}"] = value if not isinstance(value, dict | list) else str(value)
    for name, (low, high) in row["intervals"].items():
        found |= {f"{name}.low": low, f"{name}.high": high}
    return found


def summary_grids(summaries: Sequence[Summary]) -> list[Grid]:
    """One table per data set, one row per method, means and deviations over the seeds."""
    shown = [
        each.name
        for each in MEASURES.values()
        if each.in_runs and any(not math.isnan(s.measures[each.name].mean) for s in summaries)
    ]
    grids = []
    for dataset in dict.fromkeys(each.dataset for each in summaries):
        own = [each for each in summaries if each.dataset == dataset]
        rows = [
            [each.method, str(len(each.rows)), *(str(each.measures[name]) for name in shown)]
            for each in own
        ]
        seconds = [f"{each.fit_seconds:.2f}" for each in own]
        rows = [[*row, last] for row, last in zip(rows, seconds, strict=True)]
        columns = ("method", "seeds", *shown, "seconds")
        grids.append(Grid(columns, rows, f"{dataset or 'own files'}: mean ± standard deviation"))
    return grids


def failures(rows: Sequence[Row]) -> list[str]:
    """One sentence per failed row."""
    return [
        f"Failed: {row.dataset}, {row.model}, {row.criterion}, seed {row.seed}: {row.error}"
        for row in rows
    ]
