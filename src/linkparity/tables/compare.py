"""Compare two score tables over the same pairs: the change of every measure, with its interval."""

from dataclasses import dataclass, replace
from typing import Any

import ibis
import numpy as np

from linkparity.metrics.cell_means import VIEWS, gap
from linkparity.metrics.intervals.changes import (
    difference_interval,
    gap_change_interval,
    largest_change_interval,
)
from linkparity.metrics.intervals.covariance import MAX_PAIRWISE, Spread
from linkparity.metrics.intervals.estimates import NAN, Estimate, IntervalOptions
from linkparity.support.display import Grid, counted, format_interval, format_number, or_none
from linkparity.support.errors import InputError
from linkparity.tables.measures.gaps_and_ranks import (
    cell_set,
    rank_problems,
    score_means,
    ways_to_count,
)
from linkparity.tables.measures.node_sums import CellSet, CountedRows, counted_rows, mean_spreads
from linkparity.tables.measures.rank_changes import rank_changes
from linkparity.tables.measures.table_sums import RowScores, Statistics, given_scores, mean_weight
from linkparity.tables.reading.row_checks import locate
from linkparity.tables.reading.score_table import ScoreTable


@dataclass(frozen=True, eq=False)
class Paired:
    """Two scores of the same pairs.

    Attributes:
        now: the table, its rows in the pairs.
        was: the same rows with the scores of the other table.
        rows: Ibis table of the rows with ``p, x`` now and ``p0, x0`` before.
        name: of the other table.
    """

    now: ScoreTable
    was: ScoreTable
    rows: Any
    name: str


def pair_rows(table: ScoreTable) -> Paired:
    """Join a table with the one it is compared with; every pair must be in both."""
    other = table.other
    assert other is not None
    mine, theirs = _keyed(table), _keyed(other)
    scores = theirs.select(low0=theirs.low, high0=theirs.high, p0=theirs.p, x0=theirs.x)
    joined = mine.inner_join(scores, (mine.low == scores.low0) & (mine.high == scores.high0))
    rows = table.engine.keep(joined.drop("low", "high", "low0", "high0"), "paired")
    found = int(table.engine.small(rows.aggregate(n=rows.count()))["n"][0])
    for one, keyed, two, keys in ((table, mine, other, theirs), (other, theirs, table, mine)):
        lacking = one.total - sum(one.dropped.values()) - found
        if lacking:
            raise _lacking(one, keyed, two, keys, lacking)
    was = rows.mutate(p=rows.p0, x=rows.x0).drop("p0", "x0")
    columns = replace(other.columns, label=table.columns.label, weight=table.columns.weight)
    return Paired(
        replace(table, good=rows.drop("p0", "x0"), other=None),
        replace(table, good=was, columns=columns, other=None),
        rows,
        other.given.name,
    )


def _keyed(table: ScoreTable) -> Any:
    rows = table.good
    if table.options.ordered:
        return rows.mutate(low=rows.a, high=rows.b)
    return rows.mutate(low=ibis.least(rows.a, rows.b), high=ibis.greatest(rows.a, rows.b))


def _lacking(one: ScoreTable, keyed: Any, two: ScoreTable, keys: Any, count: int) -> InputError:
    """A pair of one table is not in the other."""
    rest = keyed.anti_join(keys.select("low", "high"), ["low", "high"]).order_by("row").limit(1)
    row = int(rest.to_pyarrow()["row"][0].as_py())
    where, values = locate(one, row, None)
    source, target = (values.get(name) for name in (one.columns.source, one.columns.target))
    pair = f"the pair ({source!r}, {target!r})" if values else "a pair"
    problem = f"{pair} is not in {two.given.name} ({counted(count, 'such pair')})"
    fix = "a change is measured over the same pairs: give both tables the same rows"
    return InputError(problem, fix, where=where)


def gap_changes(
    paired: Paired, now: RowScores, was: RowScores, options: IntervalOptions
) -> dict[str, dict[str, Estimate]]:
    """The changes of ``dp`` and ``eo`` in every view."""
    units = {"dp": "pairs", "eo": "links"} if paired.now.labelled else {"dp": "pairs"}
    asked = [(view, name) for view in VIEWS for name in units]
    sets = [
        tuple(cell_set(scores, view, units[name]) for scores in (now, was)) for view, name in asked
    ]
    spreads: list[Spread | None] = [None] * len(sets)
    if options.confidence is not None:
        for by_weight, chosen in ways_to_count(now, [units[name] for _, name in asked]):
            stacked, partners = _stacked(paired, now, was, by_weight)
            both = [_stacked_set(*sets[i]) for i in chosen]
            known = mean_spreads(stacked, both, options.by_node, partners)
            for i, each in zip(chosen, known, strict=True):
                spreads[i] = each
    unknown = Estimate(NAN, 0, reason="no labels were given")
    found = {view: {"dp": unknown, "eo": unknown} for view in VIEWS}
    for (view, name), (one, two), spread in zip(asked, sets, spreads, strict=True):
        small = score_means(now, view).small(options.min_pairs, links=name == "eo")
        mean, mean0 = (np.where(small, NAN, each.mean) for each in (one, two))
        found[view][name] = _gap_change(mean, mean0, spread, options)
    return found


def _stacked(
    paired: Paired, now: RowScores, was: RowScores, by_weight: bool
) -> tuple[CountedRows, Any]:
    """The rows of both tables as one, and the two rows of every pair."""
    one, two = counted_rows(now, by_weight), counted_rows(was, by_weight)
    shift, rows = int(one.code.max()) + 1, paired.rows
    names = ("a", "b", "code", "p", "w")
    moved = two.rows.mutate(code=(two.rows.code + shift).cast("int32"))
    w = rows.w / mean_weight(now.stats) if by_weight else ibis.literal(1.0)
    partners = rows.select(code=rows.code, p=rows.p, w=w, code2=rows.code + shift, p2=rows.p0, w2=w)
    combined = CountedRows(
        paired.now,
        np.append(one.code, one.code + shift),
        one.rows.select(*names).union(moved.select(*names)),
        *(
            np.append(getattr(one, name), getattr(two, name))
            for name in ("count", "mean", "square")
        ),
    )
    return combined, partners


def _stacked_set(now: CellSet, was: CellSet) -> CellSet:
    from scipy.sparse import block_array

    member = block_array([[now.member, None], [None, was.member]], format="csr")
    return CellSet(member, np.append(now.mean, was.mean), np.append(now.total, was.total))


def _gap_change(
    now: np.ndarray, was: np.ndarray, spread: Spread | None, options: IntervalOptions
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


def rank_change(
    paired: Paired, now: RowScores, was: RowScores, options: IntervalOptions
) -> dict[str, Estimate]:
    """The changes of ``auc`` and ``rdp``."""
    problems = rank_problems(now)
    rows = paired.rows
    both = rows.select(
        "a", "b", "code",
        score=rows.x if paired.now.columns.logits else rows.p,
        score0=rows.x0 if paired.was.columns.logits else rows.p0,
    )  # fmt: skip
    found = rank_changes(now, was, both, problems, options.by_node)
    confidence = options.confidence
    assert confidence is not None
    mine, other, three = found[0]
    ends = (NAN, NAN)
    if len(mine) > 1 and not any(np.isnan(each.variance).any() for each in three):
        ends = largest_change_interval(mine, other, three, confidence)
    changes = {"rdp": _rank_estimate(float(mine.max() - other.max()), ends)}
    for mine, other, (_, _, spread) in found[1:]:
        change = float(mine[1] - other[1])
        known = not np.isnan(spread.variance[0])
        ends = difference_interval(change, spread, confidence) if known else (NAN, NAN)
        changes["auc"] = _rank_estimate(change, ends)
    return changes


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


def find_change(
    paired: Paired,
    stats: tuple[Statistics, Statistics],
    found: tuple[dict[str, Estimate], dict[str, Estimate]],
    options: IntervalOptions,
) -> Change:
    """The change of every measure.

    Args:
        paired: the two tables.
        stats: their statistics, now and before.
        found: their measures, now and before.
        options: which intervals are computed.
    """
    now, was = given_scores(paired.now, stats[0]), given_scores(paired.was, stats[1])
    views = gap_changes(paired, now, was, options)
    changes = dict(views["subgroup"])
    if options.confidence is not None:
        changes |= rank_change(paired, now, was, options)
    ends = {name: e.interval for name, e in changes.items() if e.interval is not None}
    return Change(
        table=paired.name,
        was={name: e.value for name, e in found[1].items()},
        values={name: e.value - found[1][name].value for name, e in found[0].items()},
        intervals=ends,
        reasons={name: e.reason for name, e in changes.items() if e.reason},
        views=views,
    )
