"""Nodes and dyads of a table's rows, numbered from 0, in the engine."""

from dataclasses import dataclass
from typing import Any

import ibis

from linkparity.tables.measures.node_sums import node_ends
from linkparity.tables.measures.table_sums import RowScores


@dataclass(frozen=True)
class NumberedRows:
    """Rows with nodes and dyads numbered from 0.

    Attributes:
        rows: Ibis table ``score, code, first, second`` and ``dyad``; without ``dyad`` where every
            row is alone in its dyad.
        nodes: number of nodes.
        dyads: number of dyads; None where there is no column.
    """

    rows: Any
    nodes: int
    dyads: int | None


def number_rows(scores: RowScores) -> NumberedRows:
    """Number the nodes and, where some dyad of a directed table has two rows, the dyads."""
    table, rows = scores.table, scores.rows
    rows, nodes = number_nodes(scores, rows)
    kept = ["score", "code", "first", "second"]
    if not table.options.directed or table.options.bipartite:
        return NumberedRows(rows.select(*kept), nodes, None)
    ends = rows.select("first", "second")
    twice = ends.inner_join(ends.view(), [("first", "second"), ("second", "first")])
    if not table.engine.small(twice.aggregate(n=twice.count()))["n"][0]:
        return NumberedRows(rows.select(*kept), nodes, None)
    both, nodes, dyads = number_dyads(scores, scores.rows)
    return NumberedRows(both.select(*kept, "dyad"), nodes, dyads)


def number_dyads(scores: RowScores, rows: Any) -> tuple[Any, int, int]:
    """Rows with numbers of nodes and of dyads, and how many there are of either."""
    engine = scores.table.engine
    rows, nodes = number_nodes(scores, rows)
    low, high = ibis.least(rows.first, rows.second), ibis.greatest(rows.first, rows.second)
    dyad = ibis.dense_rank().over(order_by=[low, high])
    kept = engine.keep(rows.mutate(dyad=dyad), "numbered")
    count = int(engine.small(kept.aggregate(n=kept.dyad.max()))["n"][0]) + 1
    return kept, nodes, count


def number_nodes(scores: RowScores, rows: Any) -> tuple[Any, int]:
    """Rows with the nodes as ``first`` and ``second``, and the number of nodes."""
    table, engine = scores.table, scores.table.engine
    listed = table.groups.nodes
    if listed is not None and not (table.one_sided or table.options.unlisted):
        count = int(engine.small(listed.aggregate(n=listed.count()))["n"][0])
        shift = count if table.options.bipartite else 0
        return rows.mutate(first=rows.a, second=rows.b + shift), count + shift
    ends = node_ends(table, rows).distinct()
    number = ibis.row_number().over(order_by=[ends.side, ends.node])
    nodes = engine.keep(ends.mutate(number=number), "nodes")
    count = int(engine.small(nodes.aggregate(n=nodes.count()))["n"][0])
    for name, end, side in (("first", "a", 0), ("second", "b", int(table.options.bipartite))):
        mine = nodes.filter(nodes.side == side).select(
            **{f"{name}_node": nodes.node, name: nodes.number}
        )
        rows = rows.inner_join(mine, rows[end].cast("int64") == mine[f"{name}_node"])
        rows = rows.drop(f"{name}_node")
    return rows, count
