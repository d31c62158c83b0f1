"""Checks of a classified table: wrong rows, self-loops, unknown nodes, duplicates, groups."""

from dataclasses import replace
from typing import Any

import ibis
import numpy as np

from linkparity.graph.groups import NO_GROUP, add_unknown, warn_of_one
from linkparity.graph.untidy_errors import duplicate_error, self_loop_error, unknown_error
from linkparity.support.display import place
from linkparity.support.errors import InputError
from linkparity.support.registry import LOOKED_AT, did_you_mean
from linkparity.tables.engines.base import ROW, Input
from linkparity.tables.reading.columns import ReadOptions, not_listed, pick_columns
from linkparity.tables.reading.nodes import no_rows
from linkparity.tables.reading.score_table import (
    BAD_LABEL,
    BAD_SCORE,
    BAD_WEIGHT,
    LOOP,
    NO_SCORE,
    NO_SOURCE,
    NO_TARGET,
    OK,
    ScoreTable,
    classify,
)


def check_rows(table: ScoreTable, several: bool = True) -> ScoreTable:
    """Check the rows, and leave out the untidy ones where the policy says so.

    Args:
        table: classified.
        several: whether there must be two groups, to be compared.
    """
    rows, engine, policy = table.rows, table.engine, table.options.untidy
    ungrouped = _ungrouped(table)
    each = rows.select(issue=rows.issue, ungrouped=ungrouped, row=rows.row)
    kinds = each.group_by("issue", "ungrouped").aggregate(n=each.count(), first=each.row.min())
    found = engine.small(kinds)
    total = int(found["n"].sum())
    if not total:
        raise no_rows(table.given.name)
    _check_issues(table, found["issue"], found["first"])
    dropped = {}
    for reason, rule, mine, error in (
        ("self-loops", policy.self_loops, found["issue"] == LOOP, _self_loop),
        ("unknown", policy.unknown, (found["issue"] == OK) & found["ungrouped"], _unknown),
    ):
        if mine.any():
            dropped[reason] = int(found["n"][mine].sum())
            if rule == "error":
                raise error(table, int(found["first"][mine].min()), dropped[reason])
    good = rows.filter((rows.issue == OK) & ~ungrouped) if dropped else rows
    table = replace(table, good=good, total=total, dropped=dropped)
    return _count_groups(_check_duplicates(table), several)


def read_other(
    table: ScoreTable, other: Input, nodes: Input | None, options: ReadOptions
) -> ScoreTable:
    """``table`` with ``other`` beside it, another score table with the same columns.

    A column of scores or labels that is named but not in ``other`` has its usual name there; its
    labels and weights are not read.
    """
    options = replace(options, weight=None)
    named = {"score": options.score, "logit": options.logit, "label": options.label}
    if any(name not in (None, *other.columns) for name in named.values()):
        options = replace(options, score=None, logit=None, label=None)
    columns = replace(pick_columns(other, nodes, options), label=None)
    found = check_rows(classify(table.engine, other, nodes, columns, options), several=False)
    return replace(table, other=found)


def _ungrouped(table: ScoreTable) -> Any:
    """Whether a row has a node without a group that should have one."""
    rows = table.rows
    if table.options.untidy.unknown == "keep":
        return ibis.literal(False)
    first = rows.ga == NO_GROUP
    return first if table.one_sided else first | (rows.gb == NO_GROUP)


def _check_issues(table: ScoreTable, issue: np.ndarray, first: np.ndarray) -> None:
    """Raise for the first problem that no option resolves."""
    columns = table.columns
    score = ("a probability in [0, 1]", "if these are logits, name the column with {logit=}")
    if columns.logits:
        score = ("a finite logit", "fix the row, or give probabilities in a column 'score'")
    for kind, column, what, wanted, fix in (
        (NO_SOURCE, columns.source, "id", "an id", ""),
        (NO_TARGET, columns.target, "id", "an id", ""),
        (NO_SCORE, columns.value, "score", "a number", ""),
        (BAD_SCORE, columns.value, "score", *score),
        (BAD_LABEL, columns.label, "label", "0 or 1", "use 1 for a link, 0 for any other pair"),
        (BAD_WEIGHT, columns.weight, "weight", "a weight", "use finite numbers of 0 or more"),
    ):
        if not (issue == kind).any():
            continue
        where, cells = locate(table, int(first[issue == kind].min()), column)
        value = cells.get(column)
        if not cells:
            problem = f"a row holds something that is not {wanted}"
        elif value is None or value == "":
            problem = f"the {what} is missing"
        else:
            problem = f"holds {value!r}, which is not {wanted}"
        raise InputError(problem, fix or "fill it in or leave the row out", where=where)


def locate(table: ScoreTable, row: int, column: str | None) -> tuple[str, dict[Any, Any]]:
    """``scores.csv: row 3, column 'score'``, and the row's values; none without an order."""
    given = table.given
    if not given.ordered:
        return place(given.name, None, column), {}
    values = given.table.filter(given.table[ROW] == row).to_pyarrow().to_pylist()[0]
    return place(given.name, table.engine.position(given, row), column), values


def _self_loop(table: ScoreTable, row: int, count: int) -> InputError:
    where, values = locate(table, row, table.columns.target)
    return self_loop_error(where, values.get(table.columns.target), count, bipartite=True)


def _unknown(table: ScoreTable, row: int, count: int) -> InputError:
    rows, columns, nodes = table.rows, table.columns, table.groups.given
    mine = rows.filter((rows.row == row) & (rows.issue == OK) & _ungrouped(table))
    found = mine.limit(1).to_pyarrow().to_pylist()[0]
    first = found["ga"] == NO_GROUP
    column = columns.source if first else columns.target
    groups = columns.source_groups if first else columns.target_groups
    where, values = locate(table, row, column if nodes is not None else groups[0])
    node = values.get(column)
    reason, advice = f"has no {table.options.attribute}", "fill it in"
    without_groups = ""
    if nodes is not None:
        known = [(group != NO_GROUP).any().to_pyarrow().as_py() for group in (rows.ga, rows.gb)]
        if sum(known) == 1 and known[first]:
            without_groups = "sources" if first else "targets"
    if nodes is not None and found["a" if first else "b"] != NO_GROUP:
        reason = f"{reason} in {nodes.name}"
    elif nodes is not None:
        reason, advice = not_listed(nodes, str(columns.node), table.options.node)
        ids = table.groups.nodes.select("node").limit(LOOKED_AT).to_pyarrow()["node"].to_pylist()
        advice = (did_you_mean(str(node), map(str, ids)) if values else "") + advice
    return unknown_error(where, node, reason, advice, count, without_groups=without_groups)


def _check_duplicates(table: ScoreTable) -> ScoreTable:
    """Every pair once: an error by default, or the first row of each."""
    good, engine, options = table.good, table.engine, table.options
    low, high = good.a, good.b
    if not options.ordered:
        low, high = ibis.least(low, high), ibis.greatest(low, high)
    keyed = good.select(row=good.row, low=low, high=high)
    by: tuple[str, ...] = ("low", "high")
    numbered = table.groups.nodes is not None and not (table.one_sided or options.unlisted)
    if numbered:  # from 0, so that one number of 64 bits holds a pair
        keyed = keyed.mutate(key=keyed.low.cast("int64") * 2**31 + keyed.high)
        by = ("key",)
    found = engine.small(keyed.select(*by).distinct().aggregate(pairs=lambda t: t.count()))
    count = table.total - sum(table.dropped.values()) - int(found["pairs"][0])
    if not count:
        return table
    pairs = keyed.group_by(*by).aggregate(
        first=keyed.row.min(), again=keyed.row.max(), n=keyed.count()
    )
    repeated = pairs.filter(pairs.n > 1)
    if options.untidy.duplicates == "error":
        raise _duplicate(table, repeated, count)
    later = keyed.inner_join(repeated, list(by)).filter(lambda t: t.row > t.first).select("row")
    rest = engine.keep(good.anti_join(later, "row"), "once")
    return replace(table, good=rest, dropped=table.dropped | {"duplicates": count})


def _duplicate(table: ScoreTable, repeated: Any, count: int) -> InputError:
    found = repeated.order_by("first").limit(1).to_pyarrow().to_pylist()[0]
    source, target = table.columns.source, table.columns.target
    where, values = locate(table, found["again"], source)
    if not values:
        return duplicate_error(where, None, None, count)
    _, before = locate(table, found["first"], source)
    return duplicate_error(
        where,
        (values[source], values[target]),
        table.engine.position(table.given, found["first"]),
        count,
        reversed_pair=before[source] != values[source] and not table.options.ordered,
    )


def _count_groups(table: ScoreTable, several: bool) -> ScoreTable:
    """Nodes per group; a node with two groups, or a single group, is an error."""
    good, engine = table.good, table.engine
    ends = good.select(node=good.a, group=good.ga, side=0)
    if not table.one_sided:
        other = int(table.options.bipartite)  # there an id may be a node of either side
        ends = ends.union(good.select(node=good.b, group=good.gb, side=other))
    each = ends.group_by("side", "node").aggregate(low=ends.group.min(), high=ends.group.max())
    found = engine.small(each.group_by("low", "high").aggregate(n=each.count()))
    torn = found["low"] != found["high"]
    if torn.any():
        raise _two_groups(table, each, int(found["low"][torn][0]), int(found["high"][torn][0]))
    names = table.names
    if found["high"].size and found["high"].max() == len(names):
        names = add_unknown(names, table.given.name)
    sizes = np.zeros(len(names), dtype=np.int64)
    grouped = found["low"] != NO_GROUP
    sizes[found["low"][grouped]] = found["n"][grouped]
    present = np.flatnonzero(sizes)
    if len(present) < (2 if several else 1):
        which = f"only one group, {names[present[0]]!r}," if len(present) else "no group"
        raise InputError(
            f"{which} has scores, and parity compares two or more",
            f"check column {table.options.attribute!r}",
            where=table.given.name,
        )
    warn_of_one(names, sizes.tolist(), table.given.name)
    return replace(table, names=names, sizes=tuple(sizes.tolist()))


def _two_groups(table: ScoreTable, each: Any, low: int, high: int) -> InputError:
    """A node has two groups; the error names the first row that it occurs in."""
    torn = each.filter((each.low == low) & (each.high == high)).order_by("side", "node").limit(1)
    node, side = (torn.to_pyarrow().to_pylist()[0][name] for name in ("node", "side"))
    good, apart = table.good, table.options.bipartite
    is_source, is_target = good.a == node, good.b == node
    inside = (is_target if side else is_source) if apart else is_source | is_target
    first = good.filter(inside).select("row", "a").order_by("row").limit(1).to_pyarrow()
    row, a = (first[name][0].as_py() for name in ("row", "a"))
    as_source = a == node and not (apart and side)
    column = table.columns.source if as_source else table.columns.target
    where, values = locate(table, row, column)
    named = f"node {values[column]!r}" if values else "a node"
    names = (*table.names, "no value")
    problem = f"{named} has two groups in this table, {names[low]!r} and {names[high]!r}"
    return InputError(problem, "keep one of them", where=where)
