"""Groups and nodes of a table: attribute values → group numbers, ids → node numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from linkparity.reading.columns import ReadOptions
from linkparity.reading.duckdb import ROW, Duck, Input
from linkparity.reading.faults import Faults
from linkparity.reading.groups import NO_GROUP, GraphWarning, number_groups, whole_numbers
from linkparity.reading.sql import Column, comparable
from linkparity.reading.untidy_errors import missing_id_error
from linkparity.support.display import counted, place
from linkparity.support.errors import InputError, warn
from linkparity.support.registry import LOOKED_AT

#: Largest number of distinct values; S groups make S(S + 1)/2 cells.
MAX_GROUPS = 300
#: Number of ids that a warning shows.
SHOWN = 3


@dataclass(frozen=True)
class Groups:
    """The groups of a table.

    Attributes:
        names: one name per group, in the order of their numbers.
        mapping: name in DuckDB of the table from values ``v0, v1 …`` to ``grp``.
    """

    names: tuple[str, ...]
    mapping: str


@dataclass(frozen=True)
class NodeTable:
    """A table of nodes whose ids are numbered in the order of their rows.

    In DuckDB it is ``listed_nodes`` with ``node, number, grp, row``; ``grp`` is −1 for none.

    Attributes:
        given: the table as given.
        column: of the ids.
        count: number of nodes.
    """

    given: Input
    column: str
    count: int


def number_values(
    duck: Duck,
    ends: Sequence[tuple[Input, tuple[str, ...]]],
    where: str,
    names: tuple[str, ...],
    codes: tuple[str, ...] = (),
    most: int = MAX_GROUPS,
) -> Groups:
    """Number the distinct values of the columns ``names``, which one or two ends of pairs have.

    ``codes`` are values that mean unknown, ``most`` is the largest number of groups.
    """
    columns = [[Column.of(table, name) for name in end] for table, end in ends]
    for name, column in zip(names, columns[0], strict=True):
        if column.kind == "nested":
            problem = f"column {name!r} holds lists or records, which cannot be groups"
            raise InputError(problem, "name a column of single values", where=where)
    parts = []
    for (table, _), end in zip(ends, alike(columns), strict=True):
        known = [f"NOT {each.unknown(codes)}" for each in end]
        listed = ", ".join(f"{each.sql} AS v{i}" for i, each in enumerate(end))
        parts.append(f"SELECT DISTINCT {listed} FROM {table.view} WHERE {' AND '.join(known)}")
    mapping = duck.keep(f"SELECT * FROM ({' UNION '.join(parts)}) LIMIT {most + 1}")
    found = duck.arrow(f"SELECT * FROM {mapping} ORDER BY rowid")
    shown = ", ".join(map(repr, names))
    if found.num_rows > most:
        problem = f"column {shown} has more than {most} distinct values, too many for groups"
        fix = "name another column, or merge values into fewer groups"
        raise InputError(problem, fix, where=where)
    if not found.num_rows:
        if not duck.rows(f"SELECT 1 FROM {ends[0][0].view} LIMIT 1"):
            raise no_rows(where)
        problem, fix = f"column {shown} is empty in every row", "fill it in, or name another column"
        if len(names) > 1:
            problem = f"no row has a value in every one of the columns {shown}"
            fix = "cross columns that the same rows fill in"
        raise InputError(problem, fix, where=where)
    lists = (whole_numbers(found.column(name).to_pylist()) for name in found.column_names)
    rows = list(zip(*lists, strict=True))
    single = [row[0] for row in rows] if found.num_columns == 1 else rows
    numbered = number_groups(single, "error", where, minus_one_is_none=False)
    number = {"place": np.arange(len(rows)), "grp": numbered.group.astype(np.int32)}
    joined = f"SELECT v.*, grp FROM {mapping} v JOIN {duck.lookup(number)} k ON v.rowid = place"
    return Groups(numbered.names, duck.keep(joined))


def alike(columns: list[list[Column]]) -> list[list[Column]]:
    """Columns of one end, or those of both ends as they can be compared."""
    if len(columns) == 1:
        return columns
    pairs = [comparable(*both) for both in zip(*columns, strict=True)]
    return [list(end) for end in zip(*pairs, strict=True)]


def join_groups(values: Sequence[str], alias: str, groups: Groups) -> str:
    """A join of the mapping, as ``alias``, to expressions of values."""
    same = " AND ".join(f"{each} = {alias}.v{i}" for i, each in enumerate(values))
    return f" LEFT JOIN {groups.mapping} {alias} ON {same}"


def no_rows(where: str, noun: str = "rows", fix: str = "add rows") -> InputError:
    """A table that is empty below its header."""
    return InputError(f"has column names but no {noun}", fix, where=where)


def read_nodes(
    duck: Duck,
    nodes: Input,
    column: str,
    options: ReadOptions,
    faults: Faults,
    most: int = MAX_GROUPS,
) -> tuple[Groups, NodeTable]:
    """Number the nodes, whose ids are in ``column``, and their groups; each node has one."""
    sensitive, groups = options.sensitive, Groups((), "")
    joins, group = "", str(NO_GROUP)
    if sensitive:
        ends, where = [(nodes, sensitive)], nodes.name
        groups = number_values(duck, ends, where, sensitive, options.missing, most)
        joins = join_groups([Column.of(nodes, name, "n.").sql for name in sensitive], "m", groups)
        group = f"coalesce(m.grp, {NO_GROUP})"
    node = Column.of(nodes, column, "n.")
    duck.run(
        "CREATE TABLE listed_nodes AS SELECT node, row, last, grp, other, "
        "CAST(row_number() OVER (ORDER BY row) - 1 AS INTEGER) AS number FROM ("
        f"SELECT {node.sql} AS node, min({ROW}) AS row, max({ROW}) AS last, max({group}) AS grp, "
        f"min({group}) AS other FROM {nodes.view} n{joins} WHERE NOT {node.absent} GROUP BY 1)"
    )
    [(lost, row)] = duck.rows(
        f"SELECT count(*), min({ROW}) FROM {nodes.view} n WHERE {node.absent}"
    )
    if lost:
        faults.add(missing_id_error(place(nodes.name, row + 1, column), int(lost)))
    _check_groups(duck, nodes, column, groups, faults)
    [(count,)] = duck.rows("SELECT count(*) FROM listed_nodes")
    return groups, NodeTable(nodes, column, int(count))


def _check_groups(duck: Duck, nodes: Input, column: str, groups: Groups, faults: Faults) -> None:
    """Every node has one group, however often it is listed."""
    found = duck.rows(
        "SELECT row, last, grp, other FROM listed_nodes WHERE grp <> other ORDER BY row LIMIT 1"
    )
    for row, last, group, other in found:
        where, node = locate(duck, nodes, row, column)
        names = (*groups.names, "no value")
        both = f"{names[other]!r} and {names[group]!r}"
        problem = (
            f"node {node!r} is listed twice with two groups, {both}, again in row {last + 1:,}"
        )
        faults.add(InputError(problem, "keep one of them", where=where))


def locate(duck: Duck, given: Input, row: int, column: str) -> tuple[str, Any]:
    """``scores.csv: row 3, column 'score'``, and the value there: a number or text."""
    known = Column.of(given, column)
    shown = known if known.numeric else known.as_text
    [value] = duck.values(given, shown.sql, np.array([row]))
    return place(given.name, row + 1, column), value


def described_side(
    duck: Duck, ends: tuple[Column, Column], node: Column, scores: Input, nodes: Input
) -> Literal["both", "sources", "targets"]:
    """Which ends of the pairs of a bipartite table the table of nodes gives groups to.

    Users and movies are often numbered from 1 each. An id that is both a source and a target is
    then a source in the table of nodes. A warning says so where that ignores groups of targets,
    since a single wrong row has the same effect.

    Args:
        duck: where the tables are.
        ends: the comparable ids of sources and of targets.
        node: those of nodes.
        scores: the table of pairs.
        nodes: the table of nodes as given.
    """
    known = f"(SELECT {node.sql} FROM listed_nodes WHERE grp <> {NO_GROUP})"
    for name, end in zip(("sources", "targets"), ends, strict=True):
        ids = f"SELECT DISTINCT {end.sql} AS id FROM {scores.view} WHERE NOT {end.absent}"
        duck.run(f"CREATE TABLE {name} AS {ids}")

    def count(table: str, condition: str) -> int:
        [(number,)] = duck.rows(f"SELECT count(*) FROM {table} WHERE {condition}")
        return int(number)

    if not count("targets", f"id IN {known}"):
        return "sources"
    both = count("targets", "id IN (SELECT id FROM sources)")
    if not both:
        return "both" if count("sources", f"id IN {known}") else "targets"
    lost = count("targets", f"id IN {known} AND id NOT IN (SELECT id FROM sources)")
    if lost:
        some = duck.rows(
            f"SELECT id FROM targets WHERE id IN (SELECT id FROM sources) ORDER BY id LIMIT {SHOWN}"
        )
        shown = ", ".join(repr(each[0]) for each in some) + (" …" if both > SHOWN else "")
        problem = (
            f"{counted(both, 'id')} {'is' if both == 1 else 'are'} both a source and a target "
            f"({shown}), so {nodes.name} is taken to describe sources only, and the groups of "
            f"{counted(lost, 'target')} in it are not used"
        )
        fix = "write the ids of the two sides differently, or correct the wrong rows"
        warn(GraphWarning, problem, fix, where=scores.name)
    return "sources"


@dataclass(frozen=True, eq=False)
class Ends:
    """Numbers of all ids, by side: tables ``id, number`` in DuckDB.

    Attributes:
        tables: of sources and of targets; the same where there is one kind of nodes.
        count: number of nodes.
        sources: number of nodes that may be sources; their numbers come first.
        group: ``(count,)`` group of each node; None where rows have the groups.
    """

    tables: tuple[str, str]
    count: int
    sources: int
    group: np.ndarray | None


def number_ends(
    duck: Duck,
    pairs: Sequence[tuple[Input, Column, Column]],
    nodes: tuple[NodeTable, Column] | None,
    options: ReadOptions,
    one_sided: bool,
) -> Ends:
    """Number the ids of sources and targets, from 0.

    Listed nodes have the numbers of their rows. Other ids follow where they are kept: where there
    is no table of nodes, where it describes one side only, and where unknown nodes stay.

    Args:
        duck: where the tables are.
        pairs: tables of pairs with the comparable ids of their sources and targets.
        nodes: the table of nodes with its comparable ids.
        options: how the pairs are read.
        one_sided: whether only sources have groups.
    """
    listed = 0 if nodes is None else nodes[0].count
    sides = ((0,), (1,)) if options.bipartite or one_sided else ((0, 1),)
    names, shift, groups = [], 0, []
    for number, side in enumerate(sides):
        described = nodes is not None and not (one_sided and number == 1)
        known = listed if described else 0
        parts, group = [], np.full(known, NO_GROUP)
        if described:
            assert nodes is not None
            parts.append(
                f"SELECT {nodes[1].sql} AS id, number + {shift} AS number FROM listed_nodes"
            )
            found = duck.run("SELECT number, grp FROM listed_nodes").fetchnumpy()
            group[np.asarray(found["number"])] = found["grp"]
        if not described or options.unlisted:
            duck.run(
                f"CREATE TABLE other_ends_{number} AS {_others(pairs, side, described, nodes)}"
            )
            parts.append(f"SELECT id, number + {known + shift} AS number FROM other_ends_{number}")
            [(more,)] = duck.rows(f"SELECT count(*) FROM other_ends_{number}")
            known += int(more)
            group = np.append(group, np.full(int(more), NO_GROUP))
        duck.run(f"CREATE TABLE ends_{number} AS {' UNION ALL '.join(parts)}")
        names.append(f"ends_{number}")
        groups.append(group)
        shift += known
    known_groups = np.concatenate(groups) if nodes is not None else None
    return Ends((names[0], names[-1]), shift, len(groups[0]), known_groups)


def _others(
    pairs: Sequence[tuple[Input, Column, Column]],
    side: tuple[int, ...],
    described: bool,
    nodes: tuple[NodeTable, Column] | None,
) -> str:
    """The distinct ids of a side that are not listed, with numbers from 0."""
    parts = [
        f"SELECT {ends[s].sql} AS id FROM {table.view} WHERE NOT {ends[s].absent}"
        for table, *ends in pairs
        for s in side
    ]
    ids = " UNION ".join(parts)
    if described:
        assert nodes is not None
        ids = f"SELECT id FROM ({ids}) WHERE id NOT IN (SELECT {nodes[1].sql} FROM listed_nodes)"
    number = "CAST(row_number() OVER (ORDER BY id) - 1 AS INTEGER)"
    return f"SELECT id, {number} AS number FROM (SELECT DISTINCT id FROM ({ids}))"


def nearest_ids(duck: Duck, nodes: NodeTable) -> list[str]:
    """Some ids of a table of nodes, to find one that is similar to a wrong one."""
    sql = f"SELECT CAST(node AS VARCHAR) FROM listed_nodes ORDER BY row LIMIT {LOOKED_AT}"
    return [str(row[0]) for row in duck.rows(sql)]
