"""AUCs of a table, and how well they are known when pairs share nodes: sorted passes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import numpy as np

from linkparity.metrics.intervals.covariance import CellCovariance, Spread
from linkparity.tables.measures.node_sums import RowScores, node_ends
from linkparity.tables.measures.rank_sums import ClusterSums, PlacementPass

#: Bytes of sums per node; with more nodes there are several passes over the rows.
MAX_BYTES = 1 << 29
#: Columns of nodes in the numbered rows, and that of dyads.
NODES, DYAD = (0, 1), 2


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes of rows, each of which is compared with the rest.

    Attributes:
        member: ``(K,)`` class of each combination, −1 for none.
        count: ``(C,)`` rows of each class.
        wanted: ``(C,)`` whether the AUC of a class is asked for.
    """

    member: np.ndarray
    count: np.ndarray
    wanted: np.ndarray


@dataclass(frozen=True)
class NumberedRows:
    """Rows with nodes, and dyads that have two rows, numbered from 0.

    Attributes:
        rows: Ibis table ``score, code, first, second`` and ``dyad``, −1 for a row alone in its
            dyad; without ``dyad`` where all are.
        nodes: number of nodes.
        dyads: number of dyads with two rows; None where there is no column.
    """

    rows: Any
    nodes: int
    dyads: int | None


def rank_spreads(
    scores: RowScores, problems: Sequence[Classes]
) -> list[tuple[np.ndarray, list[Spread]]]:
    """AUCs ``(C,)`` of each problem, and the spread of each AUC that is wanted."""
    numbered = number_rows(scores)
    width = 40 * sum(int(each.wanted.sum()) + 1 for each in problems)
    passes = -(-width * (numbered.nodes + (numbered.dyads or 0)) // MAX_BYTES)
    found: list[list[CellCovariance]] = []
    areas: list[np.ndarray] = []
    for number in range(passes):
        done = _pass(scores, numbered, problems, number, passes)
        if not number:
            areas = [each.area / np.maximum(each.count, 1) for each in done]
            found = [_singles(*each) for each in zip(problems, areas, done, strict=True)]
        for each, ranks, covariances in zip(problems, done, found, strict=True):
            for c, covariance in zip(
                np.flatnonzero(each.wanted).tolist(), covariances, strict=True
            ):
                covariance.add_nodes(*ranks.parts[0].sums(c))
                for dyads in ranks.parts[1:]:
                    covariance.add_dyads(*dyads.sums(c))
    spreads = ([each.result().of_sum() for each in covariances] for covariances in found)
    return list(zip(areas, spreads, strict=True))


def rank_changes(
    now: RowScores, was: RowScores, rows: Any, problems: Sequence[Classes], by_node: bool = True
) -> list[tuple[np.ndarray, np.ndarray, list[tuple[Spread, Spread, Spread]]]]:
    """AUCs ``(C,)`` of two scores of the same pairs, and for each class wanted three spreads.

    Those are of the AUC now, of the AUC before, and of the change.

    Args:
        now: the scores.
        was: other scores of the same rows.
        rows: Ibis table ``a, b, code, score, score0`` of both.
        problems: classes that are compared with the rest.
        by_node: whether pairs that share a node covary.
    """
    both, nodes, dyads = _number_dyads(now, rows)
    numbered = [
        NumberedRows(both.select("code", "first", "second", "dyad", score=both[name]).select(
            "score", "code", "first", "second", "dyad"), nodes, dyads)
        for name in ("score", "score0")
    ]  # fmt: skip
    width = 80 * sum(int(each.wanted.sum()) + 1 for each in problems)
    passes = -(-width * (nodes + dyads) // MAX_BYTES)
    found: list[list[CellCovariance]] = []
    areas: list[list[np.ndarray]] = []
    for number in range(passes):
        ways = zip((now, was), numbered, strict=True)
        done = [_pass(scores, each, problems, number, passes) for scores, each in ways]
        if not number:
            areas = [[each.area / np.maximum(each.count, 1) for each in way] for way in done]
            found = [
                _paired_covariances(each, first, second, by_node)
                for each, first, second in zip(problems, *areas, strict=True)
            ]
        for each, first, second, covariances in zip(problems, *done, found, strict=True):
            wanted = np.flatnonzero(each.wanted).tolist()
            for c, covariance in zip(wanted, covariances, strict=True):
                for place, add in enumerate((covariance.add_nodes, covariance.add_dyads)):
                    mine, other = first.parts[place].sums(c), second.parts[place].sums(c)
                    add(*(np.hstack(part) for part in zip(mine, other, strict=True)))
    spreads = [[_three(covariance.result()) for covariance in each] for each in found]
    return list(zip(*areas, spreads, strict=True))


def _paired_covariances(
    classes: Classes, now: np.ndarray, was: np.ndarray, by_node: bool
) -> list[CellCovariance]:
    """For each class wanted, of its placements and those of the rest, now and before."""
    found = []
    for c in np.flatnonzero(classes.wanted):
        total = np.array([classes.count[c], classes.count.sum() - classes.count[c]])
        found.append(CellCovariance(np.repeat([now[c], was[c]], 2), np.tile(total, 2), by_node))
    return found


def _three(spread: Spread) -> tuple[Spread, Spread, Spread]:
    """Of an AUC now, before, and of the change, from those of the four mean placements."""
    now, was = spread.of(np.array([0, 1])), spread.of(np.array([2, 3]))
    return now.of_sum(), was.of_sum(), spread.of_sum(np.array([1, 1, -1, -1]))


def _number_dyads(scores: RowScores, rows: Any) -> tuple[Any, int, int]:
    """Rows with numbers of nodes and of dyads, and how many there are of either."""
    engine = scores.table.engine
    rows, nodes = _number_nodes(scores, rows)
    low, high = ibis.least(rows.first, rows.second), ibis.greatest(rows.first, rows.second)
    dyad = ibis.dense_rank().over(order_by=[low, high])
    kept = engine.keep(rows.mutate(dyad=dyad), "numbered")
    count = int(engine.small(kept.aggregate(n=kept.dyad.max()))["n"][0]) + 1
    return kept, nodes, count


def _pass(
    scores: RowScores,
    numbered: NumberedRows,
    problems: Sequence[Classes],
    number: int,
    passes: int,
) -> list[PlacementPass]:
    """Pass over all rows once, for the ``number``-th part of the clusters."""
    sizes = [numbered.nodes] if numbered.dyads is None else [numbered.nodes, numbered.dyads]
    bounds = [np.linspace(0, size, passes + 1).astype(int)[number : number + 2] for size in sizes]
    columns = (NODES, (DYAD,))
    found = [
        PlacementPass(
            each.count,
            [
                ClusterSums(each.wanted, columns[i], int(low), int(high - low))
                for i, (low, high) in enumerate(bounds)
            ],
            None if numbered.dyads is None else DYAD,
        )
        for each in problems
    ]
    code = scores.stats.code
    place = np.zeros(int(code.max()) + 1, dtype=np.int64)
    place[code] = np.arange(len(code))
    members = [each.member[place] for each in problems]
    ordered = numbered.rows.order_by("score")
    for score, codes, *clusters in scores.table.engine.batches(ordered):
        for each, member in zip(found, members, strict=True):
            each.add(*with_class(member[codes], score, *clusters))
    for each in found:
        each.finish()
    return found


def with_class(member: np.ndarray, score: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
    """Scores, classes and further columns of the rows that have a class."""
    known = member >= 0
    if known.all():
        return (score, member, *more)
    return (score[known], member[known], *(column[known] for column in more))


def _singles(classes: Classes, area: np.ndarray, done: PlacementPass) -> list[CellCovariance]:
    """A covariance for each class wanted, with the rows that are alone in their dyad."""
    from scipy.sparse import csr_array

    found = []
    for c in np.flatnonzero(classes.wanted):
        total = np.array([classes.count[c], classes.count.sum() - classes.count[c]])
        covariance = CellCovariance(np.full(2, area[c]), total)
        count, first, second = done.single[:, :, c]
        mean = first / np.maximum(count, 1)
        square = np.maximum(second - count * mean**2, 0.0)
        covariance.add_counted(count, mean, square, csr_array(np.eye(2)))
        found.append(covariance)
    return found


def number_rows(scores: RowScores) -> NumberedRows:
    """Number the nodes, and in a directed table the dyads that have two rows."""
    table, rows = scores.table, scores.rows
    rows, nodes = _number_nodes(scores, rows)
    kept = ["score", "code", "first", "second"]
    if not table.options.directed or table.options.bipartite:
        return NumberedRows(rows.select(*kept), nodes, None)
    ahead = rows.filter(rows.first < rows.second)
    ahead = ahead.select(low=ahead.first, high=ahead.second)
    back = rows.select(low=rows.second, high=rows.first)
    both = ahead.inner_join(back, ["low", "high"])
    number = ibis.row_number().over(order_by=[both.low, both.high])
    dyads = table.engine.keep(both.select("low", "high", dyad=number), "dyads")
    low, high = (ibis.least(rows.first, rows.second), ibis.greatest(rows.first, rows.second))
    joined = rows.left_join(dyads, (low == dyads.low) & (high == dyads.high))
    dyad = ibis.coalesce(joined.dyad, -1)
    count = int(table.engine.small(dyads.aggregate(n=dyads.count()))["n"][0])
    return NumberedRows(joined.select(*kept, dyad=dyad), nodes, count)


def _number_nodes(scores: RowScores, rows: Any) -> tuple[Any, int]:
    """Rows with the nodes as ``first`` and ``second``, and the number of nodes."""
    table, engine = scores.table, scores.table.engine
    listed = table.groups.nodes
    apart = table.options.untidy.unknown == "group"
    if listed is not None and not table.one_sided and not apart:
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
