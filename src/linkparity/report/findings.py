"""What a report says in words: findings per data set, the worst first."""

import re
from collections.abc import Iterable, Sequence
from math import isnan
from typing import Any

from linkparity.experiments.results import Summary
from linkparity.experiments.rows import Row
from linkparity.metrics.cell_means import RELIABLE
from linkparity.metrics.measures import MEASURES
from linkparity.report.choices import data_name, is_plain, plain_methods, unique
from linkparity.support.display import cell_label, counted, format_number

#: A gap is said to have grown when it did by so much, and by more than a standard deviation.
GROWN = 0.01
#: Methods that a sentence names.
MAX_NAMES = 8


def findings(summaries: Sequence[Summary]) -> dict[str, list[str]]:
    """Sentences by data set, that with the largest gap first."""
    by_data: dict[str, list[Summary]] = {}
    for each in summaries:
        by_data.setdefault(data_name(each), []).append(each)
    worst = sorted(by_data.items(), key=lambda item: -max(map(_dp, item[1])))
    return {name: list(_sentences(own)) for name, own in worst}


def _dp(summary: Summary) -> float:
    value = summary.measures["dp"].mean
    return -1.0 if isnan(value) else value


def _sentences(own: Sequence[Summary]) -> Iterable[str]:
    worst = max(own, key=_dp)
    if _dp(worst) >= 0:
        yield _widest(worst)
    yield from _changes(own)
    grown = _grown(own)
    if grown:
        yield grown
    front = pareto_front([(each.measures["dp"].mean, each.measures["auc"].mean) for each in own])
    if len(front) > 1:
        names = [own[place].method for place in front]
        more = f", and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        best = "; ".join(names[:MAX_NAMES])
        yield f"Not beaten on dp and auc at once: {best}{more}."


def _widest(summary: Summary) -> str:
    """The largest gap of all methods, and between which pairs of groups with enough pairs."""
    said = f"{summary.method} has the largest gap: dp {summary.measures['dp']}"
    said += f" ({counted(len(summary.rows), 'seed')})." if len(summary.rows) > 1 else "."
    cells = [cell for cell in summary.rows[0].cells if not isnan(cell.mean)]
    many = [cell for cell in cells if cell.pairs >= RELIABLE]
    cells = many if len(many) > 1 else cells
    if len(cells) < 2:
        return said
    high, low = max(cells, key=lambda c: c.mean), min(cells, key=lambda c: c.mean)
    seed = f", seed {summary.rows[0].seed}" if len(summary.rows) > 1 else ""
    ends = (f"{format_number(c.mean)} for {cell_label(c.groups)}" for c in (high, low))
    return f"{said} Its mean prediction is {' and '.join(ends)}{seed}."


def _changes(own: Sequence[Summary]) -> Iterable[str]:
    """For each criterion, the method that closes most of its gap, and what that costs."""
    pairs = _with_plain(own)
    for criterion in dict.fromkeys(each.criterion for each, _ in pairs):
        name = criterion if criterion in MEASURES else "dp"
        same = [pair for pair in pairs if pair[0].criterion == criterion]
        known = [p for p in same if p[1].measures[name].mean - p[0].measures[name].mean > 0]
        if known:
            after, before = max(
                known, key=lambda p: p[1].measures[name].mean - p[0].measures[name].mean
            )
            old, new = before.measures[name].mean, after.measures[name].mean
            share = f"{100 * (old - new) / old:.0f} % less" if old else ""
            auc = (format_number(each.measures["auc"].mean) for each in (before, after))
            yield (
                f"{after.method} takes {name} from {format_number(old)} to {format_number(new)} "
                f"({share}), and auc from {' to '.join(auc)}."
            )


def _grown(own: Sequence[Summary]) -> str:
    """The gap that grew most while another was closed."""
    found: list[tuple[float, str]] = []
    for after, before in _with_plain(own):
        for name in ("dp", "eo"):
            old, new = before.measures[name], after.measures[name]
            deviation = 0.0 if isnan(new.std) else new.std
            if name != after.criterion and new.mean - old.mean > max(GROWN, deviation):
                said = f"{after.method} widens {name} from {old} to {new}."
                found.append((new.mean - old.mean, said))
    return max(found, default=(0.0, ""))[1]


def _with_plain(own: Sequence[Summary]) -> list[tuple[Summary, Summary]]:
    """Methods that do something for parity, each with its plain model."""
    plain, by_method = plain_methods(own), {each.method: each for each in own}
    treated = [each for each in own if not is_plain(each) and each.method in plain]
    return [(each, by_method[plain[each.method]]) for each in treated]


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Places of the points (gap, quality) that no other beats: smaller gap first.

    >>> pareto_front([(0.1, 0.9), (0.2, 0.8), (0.05, 0.7)])
    [2, 0]
    """
    known = [place for place, point in enumerate(points) if not any(map(isnan, point))]
    front: list[int] = []
    for place in sorted(known, key=lambda place: (points[place][0], -points[place][1])):
        if not front or points[place][1] > points[front[-1]][1]:
            front.append(place)
    return front


def notes(rows: Iterable[Row]) -> list[str]:
    """Sentences to read with the numbers; of those that differ in numbers only, the first."""
    kinds: dict[str, str] = {}
    for note in (note for row in rows for note in row.notes):
        kinds.setdefault(re.sub(r"^[a-z, _]+:|[0-9]+", "", note), note)
    return list(kinds.values())


#: What ``test_pairs`` of a row means.
MEASURED = {
    "candidates": "all candidates (every pair that is no training link)",
    "paper": "the held-out links and as many other pairs, weighted",
}


def facts(summaries: Sequence[Summary], failed: int) -> dict[str, str]:
    """What was asked, in a few words each."""
    rows = [row for each in summaries for row in each.rows]
    versions = rows[0].versions
    weights = sorted({each.gamma for each in summaries if each.criterion != "none"})
    strengths = sorted({each.strength for each in summaries if each.strength is not None})
    asked: dict[str, Any] = {
        "data": unique(data_name(each) for each in summaries),
        "models": unique(each.model for each in summaries),
        "criteria": unique(each.criterion for each in summaries),
        "weights of the regularizer": [f"{weight:g}" for weight in weights],
        "strengths": [f"{strength:g}" for strength in strengths],
        "seeds": _seeds(sorted({row.seed for row in rows})),
        "parity is about": unique(str(row.settings.get("pairs", "")) for row in rows),
        "dp, rdp and kl are over": unique(
            MEASURED.get(row.test_pairs, row.test_pairs) for row in rows
        ),
        "fits": [f"{len(rows):,}" + (f", and {failed:,} that failed" if failed else "")],
        "time of all fits": [f"{sum(row.fit_seconds or 0 for row in rows):,.0f} s"],
        "versions": [f"{name} {value}" for name, value in versions.items()],
    }
    return {name: ", ".join(filter(None, values)) for name, values in asked.items() if any(values)}


def _seeds(seeds: Sequence[int]) -> list[str]:
    if len(seeds) > 3 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return [f"{seeds[0]} to {seeds[-1]}"]
    return [str(seed) for seed in seeds]
