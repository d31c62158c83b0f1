"""A graph from own files: every fault in one sentence with file, row, column and fix."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from linkparity.graph.graph import Graph
from linkparity.graph.groups import Unknown, missing, warn_of_one, whole_numbers
from linkparity.graph.readers import Source, read_lists
from linkparity.support.files import STREAM, Workspace
from linkparity.support.wording import nearest_id
from linkparity.tables.engines.base import Input
from linkparity.tables.engines.duckdb import DuckDatabase
from linkparity.tables.engines.errors import readable_errors
from linkparity.tables.reading.columns import (
    check_choices,
    check_header,
    not_in,
    pick_ends,
    pick_node_column,
)
from linkparity.tables.reading.files import open_source


@dataclass(frozen=True)
class GraphFiles:
    """Which files hold a graph, and how they are read.

    Attributes:
        links: table of links, ``source, target`` or its first two columns.
        nodes: table of nodes, ``node`` or its first column, and attributes.
        sensitive: attributes that make the groups; several are crossed.
        source: column of the first node, where it has another name; likewise the next two.
        bipartite: whether sources and targets are two kinds of nodes.
        unknown: what becomes of nodes without a value.
        duplicates: what becomes of a link that stands twice, either way round.
        self_loops: what becomes of a link from a node to itself.
    """

    links: str
    nodes: str | None
    sensitive: tuple[str, ...]
    source: str | None = None
    target: str | None = None
    node: str | None = None
    bipartite: bool = False
    unknown: Unknown = "error"
    duplicates: Literal["error", "first"] = "error"
    self_loops: Literal["error", "drop"] = "error"

    def __post_init__(self) -> None:
        check_choices(unknown=self.unknown, duplicates=self.duplicates, self_loops=self.self_loops)


def read_graph(own: GraphFiles) -> Graph:
    """Read, check and build the graph."""
    if own.links == own.nodes == STREAM:
        raise ValueError("only one of --links and --nodes can come by stdin; give a file")
    with Workspace() as workspace, readable_errors():
        duck = DuckDatabase(workspace)
        try:
            links = duck.read(open_source(own.links, workspace), "links")
            nodes = None
            if own.nodes is not None:
                nodes = duck.read(open_source(own.nodes, workspace), "nodes")
            ends = pick_ends(links, own.source, own.target)
            rows = _links(duck, links, ends, own)
            told = None if nodes is None else _nodes(duck, nodes, own)
        finally:
            duck.close()
    if len({type(each) for each in (*next(iter(rows)), *list(told or ())[:1])}) > 1:
        rows = {(str(a), str(b)): row for (a, b), row in rows.items()}
        told = None if told is None else {str(each): value for each, value in told.items()}
    if nodes is not None and told is not None:
        check_header(links.name, ends, told)
        _check_known(links.name, nodes, ends, rows, list(told), own)
    first, second = ([pair[i] for pair in rows] for i in (0, 1))
    attribute = None if told is None else " & ".join(own.sensitive)
    source = read_lists(first, second, list(told or ()), told, attribute, own.bipartite)
    _check_sides(own.nodes or own.links, own, source, list(told or ()))
    graph = Graph.from_source(replace(source, coded=False), own.unknown)
    if len(set(graph.group[graph.group >= 0].tolist())) < 2:
        raise ValueError(
            f"{own.nodes or own.links}: only one group has nodes; parity compares two or more, so "
            f"check column {' & '.join(own.sensitive)!r}"
        )
    sizes = [int((graph.group == g).sum()) for g in range(len(graph.group_names))]
    warn_of_one(graph.group_names, sizes, own.nodes or own.links, 2)
    return graph


def _links(
    duck: DuckDatabase, table: Input, ends: tuple[str, str], own: GraphFiles
) -> dict[tuple[Any, Any], int]:
    """The links by their two ids, with the row of each; no row is without an id."""
    pairs = duck.rows(table, ends)
    if not pairs:
        raise ValueError(
            f"{table.name}: has column names but no links; there is nothing to train on"
        )
    first, second = (
        _ids(table.name, name, each)
        for name, each in zip(ends, zip(*pairs, strict=True), strict=True)
    )
    return _once(table.name, ends, list(zip(first, second, strict=True)), own)


def _once(
    where: str, ends: tuple[str, str], pairs: list[tuple[Any, Any]], own: GraphFiles
) -> dict[tuple[Any, Any], int]:
    """Every pair once, with its row; a repeat or a loop is an error unless it may be dropped."""
    seen: dict[tuple[Any, Any], int] = {}
    for row, (a, b) in enumerate(pairs, 1):
        if a == b and not own.bipartite:
            if own.self_loops == "error":
                raise ValueError(
                    f"{where}: row {row:,}, column {ends[1]!r} links node {b!r} to itself; leave "
                    "such rows out with --self-loops drop, or say --bipartite if sources and "
                    "targets are two kinds of nodes"
                )
            continue
        key = (a, b) if own.bipartite or (b, a) not in seen else (b, a)
        if key in seen and own.duplicates == "error":
            raise ValueError(
                f"{where}: row {row:,}, column {ends[0]!r}: the link ({a!r}, {b!r}) stands "
                f"again after row {seen[key]:,}; keep the first of each with --duplicates first"
            )
        seen.setdefault(key, row)
    if not seen:
        raise ValueError(f"{where}: no link is left; there is nothing to train on")
    return seen


def _nodes(duck: DuckDatabase, table: Input, own: GraphFiles) -> dict[Any, Any]:
    """The value of the attribute by id, a tuple where there are several."""
    name = pick_node_column(table, own.sensitive, own.node)
    found = duck.rows(table, [name, *own.sensitive])
    if not found:
        raise ValueError(f"{table.name}: has column names but no nodes; list every node there")
    ids = _ids(table.name, name, [row[0] for row in found])
    values = [tuple(None if missing(v) else v for v in row[1:]) for row in found]
    _check_values(table.name, own, ids, values)
    known: dict[Any, tuple[Any, ...]] = {}
    for row, (each, told) in enumerate(zip(ids, values, strict=True), 1):
        if known.setdefault(each, told) != told:
            both = " and ".join(repr(" & ".join(map(str, v))) for v in (known[each], told))
            raise ValueError(
                f"{table.name}: row {row:,}, column {name!r}: node {each!r} is listed twice with "
                f"two groups, {both}; keep one of them"
            )
    columns = [whole_numbers(list(column)) for column in zip(*known.values(), strict=True)]
    if len(columns) == 1:
        return dict(zip(known, columns[0], strict=True))
    return dict(zip(known, zip(*columns, strict=True), strict=True))


def _check_values(where: str, own: GraphFiles, ids: list[Any], rows: list[tuple[Any, ...]]) -> None:
    """Values must be there, unless told otherwise or a side has none, and be single ones."""
    needed = own.unknown == "error" and not own.bipartite
    for row, (node, values) in enumerate(zip(ids, rows, strict=True), 1):
        for name, value in zip(own.sensitive, values, strict=True):
            if isinstance(value, list | dict):
                raise ValueError(
                    f"{where}: row {row:,}, column {name!r} holds a list or a record, which is no "
                    "group; name a column of single values"
                )
            if needed and value is None:
                raise ValueError(_no_value(where, row, name, node))


def _no_value(where: str, row: int, name: str, node: Any) -> str:
    return (
        f"{where}: row {row:,}, column {name!r}: node {node!r} has no {name}; fill it in, or use "
        "--unknown group (a group of their own) or --unknown drop"
    )


def _check_sides(where: str, own: GraphFiles, source: Source, ids: list[Any]) -> None:
    """On a side where some nodes have a group, all must, unless told otherwise."""
    if own.unknown != "error" or source.side is None or source.values is None:
        return
    assert source.names is not None
    rows = {node: row for row, node in enumerate(ids, 1)}
    lost: dict[int, list[Any]] = {0: [], 1: []}
    for node, value, side in zip(source.names, source.values, source.side.tolist(), strict=True):
        parts = value if isinstance(value, tuple) else (value,)
        if any(missing(part) for part in parts):
            lost[side].append(node)
    for side, nodes in lost.items():
        if nodes and len(nodes) < int((source.side == side).sum()):
            listed = next((node for node in nodes if node in rows), None)
            if listed is not None:
                raise ValueError(_no_value(where, rows[listed], own.sensitive[0], listed))


def _check_known(
    links: str,
    nodes: Input,
    ends: tuple[str, str],
    rows: dict[tuple[Any, Any], int],
    ids: list[Any],
    own: GraphFiles,
) -> None:
    """Links of nodes that the node table does not have."""
    if own.unknown != "error":
        return
    first, second = ({pair[i] for pair in rows} for i in (0, 1))
    known = set(ids)
    strange = known.isdisjoint(second)
    bare = own.bipartite and (strange or not first.isdisjoint(second))
    turned = own.bipartite and known.isdisjoint(first) and not strange
    where = not_in(nodes, pick_node_column(nodes, own.sensitive, own.node), own.node)
    for (a, b), row in rows.items():
        no_source, no_target = a not in known and not turned, b not in known and not bare
        if no_source or no_target:
            lost, at_source = (a if no_source else b), no_source
            both = strange and not at_source
            raise ValueError(
                f"{links}: row {row:,}, column {ends[0 if at_source else 1]!r}: node {lost!r} "
                f"{where}{nearest_id(lost, ids)} write ids alike, or use --unknown group "
                "(a group of their own) or --unknown drop"
                + (", or say --bipartite if targets have no groups" if both else "")
            )


def _ids(where: str, name: str, values: Sequence[Any]) -> list[Any]:
    """Ids, none of them missing; what is no whole number is text."""
    for row, each in enumerate(values, 1):
        if each == "" or (not isinstance(each, str) and missing(each)):
            raise ValueError(
                f"{where}: row {row:,}, column {name!r} holds nothing, not an id; "
                "fill it in or leave the row out"
            )
    return [each if isinstance(each, int | str) else _as_text(each) for each in values]


def _as_text(value: object) -> str:
    """Text of an id that is neither text nor a whole number, as the tables' engine has it."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
