"""What is wrong or untidy in a classified table: one sentence with row, column and fix."""

from dataclasses import replace
from typing import Any

import numpy as np

from linkparity.graph.groups import warn_of_one
from linkparity.support.optional import require
from linkparity.support.wording import LOOKED_AT, counted, nearest_id
from linkparity.tables.engines.base import EXTRA, ROW
from linkparity.tables.reading.columns import not_in, pick_node_column
from linkparity.tables.reading.nodes import NONE, unknown_named
from linkparity.tables.reading.score_table import (
    BAD_LABEL,
    BAD_SCORE,
    LOOP,
    NO_SCORE,
    NO_SOURCE,
    NO_TARGET,
    OK,
    ScoreTable,
)


def tidied(table: ScoreTable, several: bool = True) -> ScoreTable:
    """The table with its rows checked, and untidy ones dropped where the reading says so.

    Args:
        table: classified.
        several: whether there must be two groups, to be compared.
    """
    rows, engine = table.rows, table.engine
    lost = _lost(table)
    told = rows.select(issue=rows.issue, lost=lost, row=rows.row)
    kinds = told.group_by("issue", "lost").aggregate(count=told.count(), first=told.row.min())
    found = engine.small(kinds)
    total = int(found["count"].sum())
    if not total:
        raise ValueError(
            f"{table.given.name}: has column names but no rows; there is nothing to do"
        )
    _check_issues(table, found["issue"], found["first"])
    loops = found["issue"] == LOOP
    unknown = (found["issue"] == OK) & found["lost"]
    dropped = {}
    if loops.any():
        dropped["self-loops"] = int(found["count"][loops].sum())
        if table.reading.self_loops == "error":
            raise ValueError(_loop(table, int(found["first"][loops].min()), dropped["self-loops"]))
    if unknown.any():
        dropped["unknown"] = int(found["count"][unknown].sum())
        if table.reading.unknown == "error":
            raise ValueError(
                _unknown(table, int(found["first"][unknown].min()), dropped["unknown"])
            )
    good = rows.filter((rows.issue == OK) & ~lost) if dropped else rows
    table = replace(table, good=good, total=total, dropped=dropped)
    return _with_sizes(_once(table), several)


def _lost(table: ScoreTable) -> Any:
    """Whether a row has a node without a group."""
    rows = table.rows
    return rows.ga == NONE if table.bare else (rows.ga == NONE) | (rows.gb == NONE)


def _check_issues(table: ScoreTable, issue: np.ndarray, first: np.ndarray) -> None:
    """Raise for the first thing that no option resolves."""
    columns = table.columns
    for kind, column, wanted in (
        (NO_SOURCE, columns.source, "an id; fill it in or leave the row out"),
        (NO_TARGET, columns.target, "an id; fill it in or leave the row out"),
        (NO_SCORE, columns.value, "a number; fill it in or leave the row out"),
        (BAD_SCORE, columns.value, _score_fix(columns.logits)),
        (BAD_LABEL, columns.label, "0 or 1; 1 is a link, 0 a pair without one"),
    ):
        if (issue == kind).any():
            row = int(first[issue == kind].min())
            place, cells = _place(table, row, column)
            held = _shown(cells[column]) if cells else "something"
            raise ValueError(f"{place} holds {held}, not {wanted}")


def _score_fix(logits: bool) -> str:
    if logits:
        return "a finite logit; give probabilities in a column 'score' instead"
    return "a probability in [0, 1]; if these are logits, say --logit and the column's name"


def _place(table: ScoreTable, row: int, column: str | None) -> tuple[str, dict[Any, Any]]:
    """``scores.csv: row 3, column 'score'``, and the row itself."""
    given = table.given
    if not given.ordered:
        return f"{given.name}: a row, column {column!r}", {}
    cells = given.table.filter(given.table[ROW] == row).to_pyarrow().to_pylist()[0]
    return f"{given.name}: row {table.engine.position(given, row):,}, column {column!r}", cells


def _shown(value: Any) -> str:
    return "nothing" if value is None or value == "" else repr(value)


def _loop(table: ScoreTable, row: int, count: int) -> str:
    place, cells = _place(table, row, table.columns.target)
    node = f"node {cells[table.columns.target]!r}" if cells else "a node"
    return (
        f"{place} joins {node} with itself ({counted(count, 'such row')}); leave them out "
        "with --self-loops drop, or say --bipartite if sources and targets are two kinds of nodes"
    )


def _unknown(table: ScoreTable, row: int, count: int) -> str:
    rows = table.rows
    mine = rows.filter((rows.row == row) & (rows.issue == OK) & _lost(table))
    found = mine.limit(1).to_pyarrow().to_pylist()[0]
    first = found["ga"] == NONE
    column = table.columns.source if first else table.columns.target
    nodes = table.groups.source
    groups = table.columns.source_groups if first else table.columns.target_groups
    place, cells = _place(table, row, column if nodes is not None else groups[0])
    node = cells.get(column)
    why, hint = f"has no {table.reading.attribute}", "; fill it in,"
    fix = "--unknown group (a group of their own) or --unknown drop (leave such rows out)"
    if nodes is not None and found["a" if first else "b"] != NONE:
        why = f"{why} in {nodes.name}"
    elif nodes is not None:
        told = table.reading.node
        why = not_in(nodes, pick_node_column(nodes, table.reading.sensitive, told), told)
        ids = table.groups.nodes.select("node").limit(LOOKED_AT).to_pyarrow()["node"].to_pylist()
        hint = f"{nearest_id(node, ids) if cells else ';'} write ids alike,"
        if not first and not (table.rows.b != NONE).any().to_pyarrow().as_py():
            fix += ", or say --bipartite if targets have no groups"
    named = f"node {node!r}" if cells else "a node"
    return f"{place}: {named} {why} ({counted(count, 'such row')}){hint} or use {fix}"


def _once(table: ScoreTable) -> ScoreTable:
    """Every pair once: an error by default, or the first row of each."""
    ibis = require("ibis", "audit and project", EXTRA)
    good, engine = table.good, table.engine
    low, high = good.a, good.b
    if not table.reading.ordered:
        low, high = ibis.least(low, high), ibis.greatest(low, high)
    keyed = good.select(row=good.row, low=low, high=high)
    by: tuple[str, ...] = ("low", "high")
    if table.groups.nodes is not None and not table.bare and table.reading.unknown != "group":
        keyed = keyed.mutate(key=keyed.low.cast("int64") * 2**31 + keyed.high)
        by = ("key",)
    found = engine.small(keyed.select(*by).distinct().aggregate(pairs=lambda t: t.count()))
    count = table.total - sum(table.dropped.values()) - int(found["pairs"][0])
    if not count:
        return table
    pairs = keyed.group_by(*by).aggregate(
        first=keyed.row.min(), again=keyed.row.max(), n=keyed.count()
    )
    twice = pairs.filter(pairs.n > 1)
    if table.reading.duplicates == "error":
        raise ValueError(_twice(table, twice, count))
    if not table.given.ordered:
        raise ValueError(f"{table.given.name}: --duplicates first needs a table with an order")
    repeats = keyed.inner_join(twice, list(by)).filter(lambda t: t.row > t.first).select("row")
    rest = good.anti_join(repeats, "row")
    return replace(
        table,
        good=engine.keep(rest, "once"),
        dropped=table.dropped | {"duplicates": count},
    )


def _twice(table: ScoreTable, twice: Any, count: int) -> str:
    found = twice.order_by("first").limit(1).to_pyarrow().to_pylist()[0]
    first = found["first"]
    place, cells = _place(table, found["again"], table.columns.source)
    pair = f"({cells.get(table.columns.source)!r}, {cells.get(table.columns.target)!r})"
    named = f"the pair {pair}" if cells else "a pair"
    where = f" after row {table.engine.position(table.given, first):,}" if cells else ""
    _, before = _place(table, first, table.columns.source)
    turned = before.get(table.columns.source) != cells.get(table.columns.source)
    fix = "--duplicates first"
    if turned and not table.reading.ordered:
        fix += ", or say --directed if (a, b) and (b, a) are two pairs"
    return (
        f"{place}: {named} stands again{where} ({counted(count, 'repeated row')}); "
        f"keep the first of each with {fix}"
    )


def _with_sizes(table: ScoreTable, several: bool) -> ScoreTable:
    """Nodes per group; a node with two groups, or a single group, is an error."""
    good, engine = table.good, table.engine
    ends = good.select(node=good.a, group=good.ga, side=0)
    if not table.bare:
        other = int(table.reading.bipartite)  # where an id may stand for a node on either side
        ends = ends.union(good.select(node=good.b, group=good.gb, side=other))
    each = ends.group_by("side", "node").aggregate(low=ends.group.min(), high=ends.group.max())
    found = engine.small(each.group_by("low", "high").aggregate(count=each.count()))
    torn = found["low"] != found["high"]
    if torn.any():
        a, b = int(found["low"][torn][0]), int(found["high"][torn][0])
        raise ValueError(_torn(table, each, a, b))
    names = table.names
    if found["high"].size and found["high"].max() == len(names):
        names = unknown_named(names, table.given.name)
    sizes = np.zeros(len(names), dtype=np.int64)
    sizes[found["low"]] = found["count"]
    present = np.flatnonzero(sizes)
    if len(present) < (2 if several else 1):
        which = f"only one group, {names[present[0]]!r}" if len(present) else "no group at all"
        raise ValueError(
            f"{table.given.name}: {which}, has scores; parity compares two or more, "
            f"so check column {table.reading.attribute!r}"
        )
    warn_of_one(names, sizes.tolist(), table.given.name)
    return replace(table, names=names, sizes=tuple(sizes.tolist()))


def _torn(table: ScoreTable, each: Any, low: int, high: int) -> str:
    """Which node has two groups, and the first row that it stands in."""
    torn = each.filter((each.low == low) & (each.high == high)).order_by("side", "node").limit(1)
    node, side = (torn.to_pyarrow().to_pylist()[0][name] for name in ("node", "side"))
    good, apart = table.good, table.reading.bipartite
    at_source, at_target = good.a == node, good.b == node
    where = (at_target if side else at_source) if apart else at_source | at_target
    rows = good.filter(where).select("row", "a")
    first = rows.order_by("row").limit(1).to_pyarrow().to_pylist()[0]
    stands_first = first["a"] == node and not (apart and side)
    column = table.columns.source if stands_first else table.columns.target
    place, cells = _place(table, first["row"], column)
    named = f"node {cells[column]!r}" if cells else "a node"
    names = (*table.names, "no value")
    both = f"{names[low]!r} and {names[high]!r}"
    return f"{place}: {named} has two groups in this table, {both}; keep one"
