"""The numbers behind the charts of a report, as plain records: what each figure is tested by."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import isnan
from statistics import fmean, median
from typing import Any

from linkparity.experiments.results import Spread, Summary
from linkparity.experiments.row_schema import LEVELS
from linkparity.experiments.rows import Row
from linkparity.metrics.results import CellScore
from linkparity.report.choices import ALL_SEEDS, data_name, is_plain, plain_methods
from linkparity.support.display import cell_label

#: Squares of heatmaps up to which every seed has its own; beyond, there are means only.
MAX_SQUARES = 20_000
#: Logit of a prediction that is 0 or 1 to the digits of a row.
MAX_LOGIT = 16.0

Record = dict[str, Any]


def points(summaries: Sequence[Summary]) -> list[Record]:
    """One record per method, and per method and seed: every measure with the ends of its bar.

    A bar is one standard deviation over the seeds to each side; of a single fit it is the interval
    of the measure. ``seconds`` are those of the fit, the median over the seeds.
    """
    found = []
    for each in summaries:
        several = len(each.rows) > 1
        ends = {n: _deviation(s) for n, s in each.measures.items()} if several else {}
        bars = ends or _intervals(each.rows[0])
        means = {name: spread.mean for name, spread in each.measures.items()}
        seconds = median(row.fit_seconds or 0.0 for row in each.rows)
        found.append(_point(each, ALL_SEEDS, means, bars, seconds))
        for row in each.rows if several else ():
            seconds = row.fit_seconds or 0.0
            found.append(_point(each, str(row.seed), row.values, _intervals(row), seconds))
    return found


def _point(
    summary: Summary,
    seed: str,
    values: dict[str, float],
    bars: dict[str, tuple[float, float]],
    seconds: float,
) -> Record:
    record = about(summary) | {"seed": seed, "seconds": short(seconds), "seeds": len(summary.rows)}
    for name, value in values.items():
        if not isnan(value):
            low, high = bars.get(name, (value, value))
            record |= {name: short(value), f"{name}_low": short(low), f"{name}_high": short(high)}
    return record


def about(summary: Summary) -> Record:
    """What tells the records of methods apart."""
    return {
        "dataset": data_name(summary), "method": summary.method, "model": summary.model,
        "criterion": summary.criterion,
    }  # fmt: skip


def _deviation(spread: Spread) -> tuple[float, float]:
    std = 0.0 if isnan(spread.std) else spread.std
    return spread.mean - std, spread.mean + std


def _intervals(row: Row) -> dict[str, tuple[float, float]]:
    return {name: ends for name, ends in row.intervals.items() if not isnan(sum(ends))}


def strength_curves(summaries: Sequence[Summary]) -> list[Record]:
    """One record per method and seed on a curve of two strengths or more, plain ones at 0.

    ``weight`` is gamma, or the strength of a method that has one of its own.
    """
    plain = plain_methods(summaries)
    by_method = {(data_name(each), each.method): each for each in summaries}
    curves: dict[tuple[str, str], list[Summary]] = {}
    for each in summaries:
        if not is_plain(each):
            curves.setdefault((data_name(each), curve_name(each)), []).append(each)
    found = []
    for (dataset, curve), own in curves.items():
        if len({_weight(each) for each in own}) < 2:
            continue
        start = by_method.get((dataset, plain.get(own[0].method, "")))
        with_start = own if start is None else [start, *own]
        for each in sorted(with_start, key=_weight):
            # Where a curve starts, it has its own colour and dash, whatever the method is.
            kind = {"curve": curve, "model": own[0].model, "criterion": own[0].criterion}
            found += [point | kind | {"weight": _weight(each)} for point in points([each])]
    return found


def curve_name(summary: Summary) -> str:
    """The method without its strength."""
    parts = summary.method.split(", ")
    return ", ".join(part for part in parts if not part.startswith(("gamma ", "strength ")))


def _weight(summary: Summary) -> float:
    return summary.gamma if summary.strength is None else summary.strength


def heatmaps(summaries: Sequence[Summary]) -> list[Record]:
    """Mean predictions per pair of groups, both triangles, as lists.

    ``a`` and ``b`` are the groups, ``pairs`` the means over all pairs, ``links`` over true links.
    """
    return _per_seed(summaries, lambda row: row.cells, _squares)


def _per_seed(
    summaries: Sequence[Summary],
    cells: Callable[[Row], Sequence[Any]],
    shown: Callable[[list[Sequence[Any]]], Record],
) -> list[Record]:
    """One record per method, and per method and seed if they are not too many."""
    count = sum(2 * len(cells(row)) for each in summaries for row in each.rows)
    return [
        about(each) | {"seed": seed} | shown(known)
        for each in summaries
        for seed, rows in _by_seed(each, count <= MAX_SQUARES)
        if (known := [cells(row) for row in rows if cells(row)])
    ]


def _by_seed(summary: Summary, every: bool) -> list[tuple[str, tuple[Row, ...]]]:
    alone = [(str(row.seed), (row,)) for row in summary.rows]
    return [(ALL_SEEDS, summary.rows), *(alone if every and len(alone) > 1 else [])]


def _squares(fits: Sequence[Sequence[CellScore]]) -> Record:
    """Means over the fits that have a pair of groups."""
    same: dict[tuple[str, ...], list[CellScore]] = {}
    for cell in (cell for fit in fits for cell in fit):
        same.setdefault(cell.groups, []).append(cell)
    found: dict[str, list[Any]] = {name: [] for name in ("a", "b", "pairs", "links")}
    for groups, cells in same.items():
        means = (_mean(cell.mean for cell in cells), _mean(cell.link_mean for cell in cells))
        first, second = groups if len(groups) == 2 else (groups[0], "")
        ends = [(first, second), (second, first)] if second else [(first, second)]
        for pair in dict.fromkeys(ends):
            for name, value in zip(found, (*pair, *means), strict=True):
                found[name].append(value)
    return found


def distributions(summaries: Sequence[Summary]) -> list[Record]:
    """Quantiles of the predictions per pair of groups, as lists of logits: ``q1`` to ``q99``.

    ``pair`` names the groups, ``over`` is ``pairs`` or ``links``. Over several seeds they are means
    of the seeds' quantiles.
    """
    return _per_seed(summaries, lambda row: row.quantiles, _quantile_lists)


def _quantile_lists(fits: Sequence[Sequence[Record]]) -> Record:
    names = [f"q{100 * level:g}" for level in LEVELS]
    found: dict[str, list[Any]] = {name: [] for name in ("pair", "over", *names)}
    same: dict[tuple[str, str], list[list[float]]] = {}
    for cell, over in product((cell for fit in fits for cell in fit), ("pairs", "links")):
        if None not in cell[over]:
            same.setdefault((cell_label(cell["groups"]), over), []).append(cell[over])
    for key, quantiles in same.items():
        means = [_mean(map(logit, level)) for level in zip(*quantiles, strict=True)]
        for name, value in zip(found, (*key, *means), strict=True):
            found[name].append(value)
    return found


def logit(probability: float) -> float:
    """Log odds, within ±16.

    >>> [round(logit(p), 3) for p in (0.0, 0.5, 0.75)]
    [-16.0, 0.0, 1.099]
    """
    if probability <= 0 or probability >= 1:
        return math.copysign(MAX_LOGIT, probability - 0.5)
    return max(-MAX_LOGIT, min(MAX_LOGIT, math.log(probability / (1 - probability))))


def histories(summaries: Sequence[Summary]) -> list[Record]:
    """Training of each fit: lists ``epoch``, ``loss``, ``gap``, ``kl`` over some epochs."""
    return [
        about(each) | {"seed": str(row.seed)} | {n: _shorts(v) for n, v in row.history.items()}
        for each in summaries
        for row in each.rows
        if row.history
    ]


def _shorts(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None else short(value) for value in values]


def short(value: float) -> float:
    """A number with as many digits as a chart can show."""
    return float(f"{value:.5g}")


def _mean(values: Iterable[float]) -> float | None:
    """Mean of the values that are numbers."""
    known = [value for value in values if not isnan(value)]
    return short(fmean(known)) if known else None
