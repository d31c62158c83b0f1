"""What a reader of a report can choose among."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan

from linkparity.experiments.results import Summary
from linkparity.experiments.rows import Row
from linkparity.metrics.measures import MEASURES

#: What stands in the place of a seed for a mean over the seeds.
ALL_SEEDS = "all"
OWN_FILES = "own files"


@dataclass(frozen=True)
class Choices:
    """What a reader can choose among, and what a chart shows before they do.

    Attributes:
        datasets: Names of the data.
        methods: What was trained, in a few words each.
        models: Names of models.
        criteria: Names of criteria, ``none`` among them.
        seeds: ``all``, then the seeds.
        gaps: Measures that have a value at parity.
        qualities: Measures of quality.
        plain: Method → the plain method of the same model.
        shown: Data set → the method whose gap fell most, for charts of one method.
    """

    datasets: list[str]
    methods: list[str]
    models: list[str]
    criteria: list[str]
    seeds: list[str]
    gaps: list[str]
    qualities: list[str]
    plain: dict[str, str]
    shown: dict[str, str]

    @classmethod
    def of(cls, summaries: Sequence[Summary]) -> "Choices":
        """The choices in some results."""
        rows = [row for each in summaries for row in each.rows]
        seeds = sorted({row.seed for row in rows})
        known = [
            measure
            for name, measure in MEASURES.items()
            if any(not isnan(each.measures[name].mean) for each in summaries)
        ]
        plain = plain_methods(summaries)
        return cls(
            datasets=unique(data_name(each) for each in summaries),
            methods=unique(each.method for each in summaries),
            models=unique(each.model for each in summaries),
            criteria=unique(each.criterion for each in summaries),
            seeds=[ALL_SEEDS, *(str(seed) for seed in seeds if len(seeds) > 1)],
            gaps=[each.name for each in known if each.parity is not None],
            qualities=[each.name for each in known if each.parity is None],
            plain=plain,
            shown=_most_changed(summaries, plain),
        )


def data_name(found: Summary | Row) -> str:
    """Name of the data."""
    return found.dataset or OWN_FILES


def plain_methods(summaries: Sequence[Summary]) -> dict[str, str]:
    """Method → the plain method of the same model with settings as alike as there are."""
    plain = [each for each in summaries if is_plain(each)]
    found = {}
    for each in summaries:
        own = [p for p in plain if (p.model, p.dataset) == (each.model, each.dataset)]
        if own:
            found[each.method] = max(own, key=lambda p: _alike(p, each)).method
    return found


def is_plain(summary: Summary) -> bool:
    """Whether nothing was done for parity."""
    return summary.criterion == "none" and not summary.strength


def _alike(plain: Summary, other: Summary) -> int:
    return sum(other.settings.get(name) == value for name, value in plain.settings.items())


def _most_changed(summaries: Sequence[Summary], plain: dict[str, str]) -> dict[str, str]:
    """Data set → the method that takes most from the dp of its plain model."""
    means = {(data_name(each), each.method): each.measures for each in summaries}
    best: dict[str, tuple[float, str]] = {}
    for each in summaries:
        before = means.get((data_name(each), plain.get(each.method, "")), each.measures)
        fall = before["dp"].mean - each.measures["dp"].mean
        found = (0.0 if isnan(fall) else fall, each.method)
        best[data_name(each)] = max(best.get(data_name(each), found), found, key=lambda b: b[0])
    return {dataset: method for dataset, (_, method) in best.items()}


def unique(values: Iterable[str]) -> list[str]:
    """The values in the order of their first occurrence."""
    return list(dict.fromkeys(values))
