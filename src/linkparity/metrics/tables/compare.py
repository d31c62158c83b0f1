"""Compare two scores of the same pairs: the change of every measure, with its interval."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkparity.metrics.cell_means import VIEWS, gap
from linkparity.metrics.intervals.changes import (
    difference_interval,
    gap_change_interval,
    largest_change_interval,
)
from linkparity.metrics.intervals.covariance import Spread
from linkparity.metrics.intervals.estimates import NAN, Estimate
from linkparity.metrics.intervals.placements import placement_covariances
from linkparity.metrics.intervals.spreads import mean_spreads
from linkparity.metrics.measures import take_measures
from linkparity.metrics.ranks import cell_classes, link_classes, unranked
from linkparity.metrics.scored_pairs import LINKS, PAIRS, ScoredPairs
from linkparity.pairs.nodes import MAX_PAIRWISE
from linkparity.support.display import Grid, format_interval, format_number, or_none


def gap_changes(now: ScoredPairs, was: ScoredPairs) -> dict[str, dict[str, Estimate]]:
    """The changes of ``dp`` and ``eo`` in every view."""
    units = {"dp": PAIRS, "eo": LINKS} if now.labelled else {"dp": PAIRS}
    asked = [(view, name) for view in VIEWS for name in units]
    spreads: dict[tuple[str, str], Spread] = {}
    for by_weight in (False, True) if now.confidence is not None else ():
        mine = [each for each in asked if (each[1] == "dp" and now.source.weighted) == by_weight]
        if mine:
            sets = [
                replace(
                    now.of_view(view).cell_set(units[name]),
                    before=was.of_view(view).cell_set(units[name]).mean,
                )
                for view, name in mine
            ]
            totals = [now.totals, was.totals]
            found = mean_spreads(now.source, totals, sets, by_weight, now.shares_nodes)
            spreads |= dict(zip(mine, found, strict=True))
    unknown = Estimate(NAN, 0, reason="no labels were given")
    changes = {view: {"dp": unknown, "eo": unknown} for view in VIEWS}
    for view, name in asked:
        means = [each.of_view(view).means for each in (now, was)]
        small = means[0].small(now.min_pairs, links=name == "eo")
        values = (each.mean if name == "dp" else each.link_mean for each in means)
        mean, mean0 = (np.where(small, NAN, each) for each in values)
        changes[view][name] = _gap_change(mean, mean0, spreads.get((view, name)), now)
    return changes


def _gap_change(
    now: np.ndarray, was: np.ndarray, spread: Spread | None, options: ScoredPairs
) -> Estimate:
    change = gap(now) - gap(was)
    if np.isnan(change) or options.confidence is None:
        return Estimate(change, 0)
    assert spread is not None
    if spread.covariance is None:
        reason = f"more than {MAX_PAIRWISE // 2} cells, too many for the interval of a change"
        return Estimate(change, 0, interval=(NAN, NAN), reason=reason)
    size = len(now)
    known = ~np.isnan(spread.variance.reshape(2, size)).any(axis=0) & ~np.isnan(now)
    ends = {int(find(mean)) for mean in (now, was) for find in (np.nanargmax, np.nanargmin)}
    if not all(known[c] for c in ends):
        reason = "an end of a gap has too few nodes or pairs for a variance"
        return Estimate(change, 0, interval=(NAN, NAN), reason=reason)
    used = np.flatnonzero(known)
    part = spread.of(np.append(used, used + size))
    interval = gap_change_interval(now[used], was[used], part, options.confidence, options.seed)
    return Estimate(change, 0, interval=interval, nodes=part.least)


def rank_change(now: ScoredPairs, was: ScoredPairs) -> dict[str, Estimate]:
    """The changes of ``auc`` and ``rdp``."""
    confidence = now.confidence
    assert confidence is not None
    problems = [cell_classes(now), *([] if unranked(now) else [link_classes(now)])]
    found = placement_covariances([now.source, was.source], problems, by_node=now.shares_nodes)
    areas, covariance = found[0]
    mine, other = areas[:, problems[0].wanted]
    three = _three(covariance.result())
    ends = (NAN, NAN)
    if len(mine) > 1 and not any(np.isnan(each.variance).any() for each in three):
        ends = largest_change_interval(mine, other, three, confidence)
    changes = {"rdp": _rank_estimate(float(mine.max() - other.max()), ends)}
    for areas, covariance in found[1:]:
        change = float(areas[0, 1] - areas[1, 1])
        _, _, spread = _three(covariance.result())
        known = not np.isnan(spread.variance[0])
        ends = difference_interval(change, spread, confidence) if known else (NAN, NAN)
        changes["auc"] = _rank_estimate(change, ends)
    return changes


def _three(spread: Spread) -> tuple[Spread, Spread, Spread]:
    """Of an AUC now, before, and of the change, from those of the four mean placements."""
    signs = ([1, 1, 0, 0], [0, 0, 1, 1], [1, 1, -1, -1])
    now, was, change = (spread.of_sum(np.array(sign)) for sign in signs)
    return now, was, change


def _rank_estimate(change: float, ends: tuple[float, float]) -> Estimate:
    reason = "too few nodes or pairs for a variance" if np.isnan(ends[0]) else ""
    return Estimate(change, 0, interval=ends, reason=reason)


@dataclass(frozen=True, eq=False)
class Change:
    """What changed against another score table of the same pairs.

    Attributes:
        table: name of the other table.
        was: measures of the other table, by name.
        values: measures now less those.
        intervals: ``(low, high)`` of the changes, by name.
        reasons: why an interval is undefined, by name.
        views: the changes of ``dp`` and ``eo`` in each view, as estimates.
    """

    table: str
    was: dict[str, float]
    values: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    reasons: dict[str, str]
    views: dict[str, dict[str, Estimate]]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, ready for JSON; undefined values are None."""
        views = {
            view: _plain(
                {name: e.value for name, e in found.items()},
                {name: e.interval for name, e in found.items() if e.interval is not None},
            )
            for view, found in self.views.items()
        }
        was = {name: or_none(value) for name, value in self.was.items()}
        more = {"was": was, "views": views, "reasons": dict(self.reasons), "table": self.table}
        return _plain(self.values, self.intervals) | more

    def grid(self, now: dict[str, float]) -> Grid:
        """A table of the measures before and now, with the changes."""
        rows = [
            [
                name, format_number(self.was[name]), format_number(now[name]),
                format_number(value), format_interval(self.intervals.get(name)),
            ]
            for name, value in self.values.items()
        ]  # fmt: skip
        columns = ("measure", "before", "now", "change", "interval of the change")
        return Grid(columns, rows, f"change against {self.table}")


def _plain(values: dict[str, float], intervals: dict[str, tuple[float, float]]) -> dict[str, Any]:
    ends = {name: [or_none(end) for end in pair] for name, pair in intervals.items()}
    return {**{name: or_none(value) for name, value in values.items()}, "intervals": ends}


def find_change(now: ScoredPairs, name: str, found: dict[str, Estimate]) -> Change:
    """The change of every measure.

    Args:
        now: the pairs, with the scores that they are compared with.
        name: of the other table.
        found: their measures.
    """
    was = replace(now, source=now.source.before(), known={})
    before = take_measures(replace(was, confidence=None), found)
    views = gap_changes(now, was)
    changes = dict(views["subgroup"])
    if now.confidence is not None:
        changes |= rank_change(now, was)
    ends = {name: e.interval for name, e in changes.items() if e.interval is not None}
    return Change(
        table=name,
        was={name: e.value for name, e in before.items()},
        values={name: e.value - before[name].value for name, e in found.items()},
        intervals=ends,
        reasons={name: e.reason for name, e in changes.items() if e.reason},
        views=views,
    )
