"""A graph from the user's files; every error names the file, the row, the column and a fix."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from linkparity.graph.graph import Graph
from linkparity.graph.groups import missing, warn_of_one, whole_numbers
from linkparity.graph.readers import RawGraph, read_lists
from linkparity.graph.untidy import UntidyPolicy, duplicate_error, self_loop_error, unknown_error
from linkparity.support.errors import InputError
from linkparity.support.files import STREAM, Workspace
from linkparity.support.registry import did_you_mean
from linkparity.support.wording import LOOKED_AT, place
from linkparity.tables.engines.base import Input
from linkparity.tables.engines.duckdb import DuckDatabase
from linkparity.tables.engines.errors import readable_errors
from linkparity.tables.reading.columns import check_header, not_in, pick_ends, pick_node_column
from linkparity.tables.reading.files import open_source

Links = dict[tuple[Any, Any], int]


@dataclass(frozen=True)
class GraphFiles:
    """Which files hold a graph, and how they are read.

    Attributes:
        links: table of links, with columns ``source, target`` or its first two columns.
        nodes: table of nodes, with ids in ``node`` or its first column, and attributes.
        sensitive: attributes that make the groups; several are crossed.
        source: column of the first node of a link, if it has another name.
        target: column of the second node of a link, if it has another name.
        node: column of ids in ``nodes``, if it has another name.
        bipartite: whether sources and targets are two kinds of nodes.
        policy: what happens to unknown nodes, duplicates and self-loops.
    """

    links: str
    nodes: str
    sensitive: tuple[str, ...]
    source: str | None = None
    target: str | None = None
    node: str | None = None
    bipartite: bool = False
    policy: UntidyPolicy = field(default_factory=UntidyPolicy)


def read_graph(files: GraphFiles) -> Graph:
    """Read the files, validate them and build the graph."""
    if files.links == files.nodes == STREAM:
        raise InputError("only one of --links and --nodes can be read from stdin", "give a file")
    with Workspace() as workspace, readable_errors():
        duck = DuckDatabase(workspace)
        try:
            links = duck.read(open_source(files.links, workspace), "links")
            nodes = duck.read(open_source(files.nodes, workspace), "nodes")
            ends = pick_ends(links, files.source, files.target)
            rows = _read_links(duck, links, ends, files)
            values = _read_values(duck, nodes, files)
        finally:
            duck.close()
    if len({type(each) for each in (*next(iter(rows)), next(iter(values)))}) > 1:
        rows = {(str(a), str(b)): row for (a, b), row in rows.items()}
        values = {str(each): value for each, value in values.items()}
    check_header(links.name, ends, values)
    if files.policy.unknown == "error":
        _check_known(links.name, nodes, ends, rows, list(values), files)
    first, second = ([pair[i] for pair in rows] for i in (0, 1))
    attribute = " & ".join(files.sensitive)
    raw = read_lists(first, second, list(values), values, attribute, files.bipartite)
    if files.policy.unknown == "error":
        _check_sides(files, raw, list(values))
    graph = Graph.from_raw(replace(raw, minus_one_is_none=False), files.policy.unknown)
    sizes = [int((graph.group == g).sum()) for g in range(len(graph.group_names))]
    if sum(size > 0 for size in sizes) < 2:
        raise InputError(
            "only one group has nodes, and parity compares two or more",
            f"check column {attribute!r}",
            where=files.nodes,
        )
    warn_of_one(graph.group_names, sizes, files.nodes)
    return graph


def _read_links(
    duck: DuckDatabase, table: Input, ends: tuple[str, str], files: GraphFiles
) -> Links:
    """Each link once, by its two ids, with the number of its first row."""
    found = duck.rows(table, ends)
    first, second = (_ids(table.name, end, [row[i] for row in found]) for i, end in enumerate(ends))
    links: Links = {}
    for row, (a, b) in enumerate(zip(first, second, strict=True), 1):
        if a == b and not files.bipartite:
            if files.policy.self_loops == "error":
                raise self_loop_error(place(table.name, row, ends[1]), b, bipartite=True)
            continue
        key = (a, b) if files.bipartite or (b, a) not in links else (b, a)
        if key in links and files.policy.duplicates == "error":
            raise duplicate_error(place(table.name, row, ends[0]), (a, b), links[key])
        links.setdefault(key, row)
    if not links:
        has = "no link is left" if found else "has column names but no links"
        raise InputError(has, "there is nothing to train on", where=table.name)
    return links


def _read_values(duck: DuckDatabase, table: Input, files: GraphFiles) -> dict[Any, Any]:
    """The value of the attribute by id; a tuple where several are crossed."""
    name = pick_node_column(table, files.sensitive, files.node)
    found = duck.rows(table, [name, *files.sensitive])
    if not found:
        raise InputError("has column names but no nodes", "list every node", where=table.name)
    ids = _ids(table.name, name, [row[0] for row in found])
    known: dict[Any, tuple[Any, ...]] = {}
    for row, (node, given) in enumerate(zip(ids, found, strict=True), 1):
        values = tuple(None if missing(value) else value for value in given[1:])
        _check_values(table.name, row, node, values, files)
        if known.setdefault(node, values) != values:
            both = " and ".join(repr(" & ".join(map(str, v))) for v in (known[node], values))
            raise InputError(
                f"node {node!r} is listed twice with two groups, {both}",
                "keep one of them",
                where=place(table.name, row, name),
            )
    columns = [whole_numbers(list(column)) for column in zip(*known.values(), strict=True)]
    crossed = zip(*columns, strict=True)
    return dict(zip(known, columns[0] if len(columns) == 1 else crossed, strict=True))


def _check_values(
    table: str, row: int, node: object, values: tuple[Any, ...], files: GraphFiles
) -> None:
    """Values must be single ones, and known unless the policy or a bare side allows otherwise."""
    needed = files.policy.unknown == "error" and not files.bipartite
    for name, value in zip(files.sensitive, values, strict=True):
        where = place(table, row, name)
        if isinstance(value, list | dict):
            raise InputError(
                "holds a list or a record, which cannot be a group",
                "name a column of single values",
                where=where,
            )
        if needed and value is None:
            raise unknown_error(where, node, f"has no {name}")


def _check_sides(files: GraphFiles, raw: RawGraph, ids: list[Any]) -> None:
    """On a side where some nodes have a group, all nodes that are listed must have one."""
    if raw.side is None:
        return
    assert raw.names is not None
    assert raw.values is not None
    rows = {node: row for row, node in enumerate(ids, 1)}
    bare: dict[int, list[Any]] = {0: [], 1: []}
    for node, value, side in zip(raw.names, raw.values, raw.side.tolist(), strict=True):
        if any(missing(part) for part in (value if isinstance(value, tuple) else (value,))):
            bare[side].append(node)
    for side, nodes in bare.items():
        listed = next((node for node in nodes if node in rows), None)
        if listed is not None and len(nodes) < int((raw.side == side).sum()):
            name = files.sensitive[0]
            raise unknown_error(place(files.nodes, rows[listed], name), listed, f"has no {name}")


def _check_known(
    links: str,
    nodes: Input,
    ends: tuple[str, str],
    rows: Links,
    ids: list[Any],
    files: GraphFiles,
) -> None:
    """Both ends of every link must be in the node table; one end where only one side has groups."""
    first, second = ({pair[i] for pair in rows} for i in (0, 1))
    known = set(ids)
    no_target_known = known.isdisjoint(second)
    needed = (
        not (files.bipartite and known.isdisjoint(first) and not no_target_known),
        not (files.bipartite and (no_target_known or not first.isdisjoint(second))),
    )
    for pair, row in rows.items():
        lost = [need and node not in known for need, node in zip(needed, pair, strict=True)]
        if any(lost):
            end = lost.index(True)
            column = pick_node_column(nodes, files.sensitive, files.node)
            hint = did_you_mean(str(pair[end]), map(str, islice(ids, LOOKED_AT)))
            raise unknown_error(
                place(links, row, ends[end]),
                pair[end],
                not_in(nodes, column, files.node),
                f"{hint}write ids alike",
                bipartite=no_target_known and end == 1,
            )


def _ids(table: str, column: str, values: Sequence[Any]) -> list[Any]:
    """Ids, none of them missing; whole numbers stay numbers, everything else is text."""
    for row, each in enumerate(values, 1):
        if each == "" or (not isinstance(each, str) and missing(each)):
            fix = "fill it in or leave the row out"
            raise InputError("the id is missing", fix, where=place(table, row, column))
    return [each if isinstance(each, int | str) else _id_text(each) for each in values]


def _id_text(value: object) -> str:
    """Text of an id that is neither text nor a whole number, the same as in a score table."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
