"""A graph from own files: every fault in one sentence with file, row, column and fix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from linkparity.graph import Graph
from linkparity.grouping import Unknown, missing
from linkparity.registry import nearest
from linkparity.sources import read_lists
from linkparity.tables.duck import Duck, readable_errors
from linkparity.tables.engine import Input
from linkparity.tables.files import open_source
from linkparity.tables.workspace import Workspace


@dataclass(frozen=True)
class OwnGraph:
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


def read_graph(own: OwnGraph) -> Graph:
    """Read, check and build the graph."""
    with Workspace() as workspace, readable_errors():
        duck = Duck(workspace)
        try:
            links = duck.read(open_source(own.links, workspace), "links")
            nodes = None
            if own.nodes is not None:
                nodes = duck.read(open_source(own.nodes, workspace), "nodes")
            first, second = _links(duck, links, own)
            told = None if nodes is None else _nodes(duck, nodes, own)
        finally:
            duck.close()
    if nodes is not None and told is not None:
        _check_known(links.name, nodes.name, first, second, set(told), own)
    attribute = None if told is None else " & ".join(own.sensitive)
    source = read_lists(first, second, list(told or ()), told, attribute, own.bipartite)
    graph = Graph.from_source(source, own.unknown)
    if len(set(graph.group[graph.group >= 0].tolist())) < 2:
        raise ValueError(
            f"{own.nodes or own.links}: only one group has nodes; parity compares two or more, so "
            f"check column {' & '.join(own.sensitive)!r}"
        )
    return graph


def _links(duck: Duck, table: Input, own: OwnGraph) -> tuple[list[Any], list[Any]]:
    """The two columns of ids, once no row is without one, repeated or a loop."""
    columns = table.columns
    if len(columns) < 2:
        raise ValueError(f"{table.name}: needs columns source and target, got {', '.join(columns)}")
    usual = {"source", "target"} <= set(columns)
    names = ["source", "target"] if usual else columns[:2]
    for i, told in enumerate((own.source, own.target)):
        if told is not None:
            names[i] = _column(table, told)
    pairs = duck.rows(table, names)
    if not pairs:
        raise ValueError(
            f"{table.name}: has column names but no links; there is nothing to train on"
        )
    for name, ids in zip(names, zip(*pairs, strict=True), strict=True):
        _check_ids(table.name, name, ids)
    return _once(table.name, names, pairs, own)


def _once(
    where: str, names: list[str], pairs: list[tuple[Any, ...]], own: OwnGraph
) -> tuple[list[Any], list[Any]]:
    seen: dict[tuple[Any, Any], int] = {}
    kept = []
    for row, (a, b) in enumerate(pairs, 1):
        if a == b and not own.bipartite:
            if own.self_loops == "error":
                raise ValueError(
                    f"{where}: row {row:,}, column {names[1]!r} links node {b!r} to itself; leave "
                    "such rows out with --self-loops drop, or say --bipartite"
                )
            continue
        key = (a, b) if own.bipartite or (b, a) not in seen else (b, a)
        if key in seen:
            if own.duplicates == "error":
                raise ValueError(
                    f"{where}: row {row:,}, column {names[0]!r}: the link ({a!r}, {b!r}) stands "
                    f"again after row {seen[key]:,}; keep the first of each with --duplicates first"
                )
            continue
        seen[key] = row
        kept.append((a, b))
    if not kept:
        raise ValueError(f"{where}: no link is left; there is nothing to train on")
    return [a for a, _ in kept], [b for _, b in kept]


def _nodes(duck: Duck, table: Input, own: OwnGraph) -> dict[Any, Any]:
    """The value of the attribute by id, a tuple where there are several."""
    name = _column(table, own.node) if own.node else "node"
    name = name if name in table.columns else table.columns[0]
    for wanted in own.sensitive:
        _column(table, wanted)
    rows = duck.rows(table, [name, *own.sensitive])
    _check_ids(table.name, name, [row[0] for row in rows])
    known: dict[Any, tuple[Any, ...]] = {}
    for row, (each, *told) in enumerate(rows, 1):
        if known.setdefault(each, tuple(told)) != tuple(told):
            both = " and ".join(repr(v) for pair in (known[each], tuple(told)) for v in pair)
            raise ValueError(
                f"{table.name}: row {row:,}, column {name!r}: node {each!r} is listed twice with "
                f"two groups, {both}; keep one of them"
            )
    return known if len(own.sensitive) > 1 else {each: value for each, (value,) in known.items()}


def _check_known(
    links: str, nodes: str, first: list[Any], second: list[Any], known: set[Any], own: OwnGraph
) -> None:
    """Links of nodes that the node table does not have."""
    if own.unknown != "error":
        return
    bare = own.bipartite and (known.isdisjoint(second) or not set(first).isdisjoint(second))
    for row, (a, b) in enumerate(zip(first, second, strict=True), 1):
        lost = a if a not in known else b if not bare and b not in known else None
        if lost is not None:
            end = "source" if lost is a else "target"
            raise ValueError(
                f"{links}: row {row:,}, column {end!r}: node {lost!r} is not in {nodes}; write ids "
                "alike, or use --unknown group (a group of their own) or --unknown drop"
                + ("" if own.bipartite else ", or say --bipartite if targets have no groups")
            )


def _check_ids(where: str, column: str, ids: Sequence[Any]) -> None:
    for row, each in enumerate(ids, 1):
        if missing(each):
            raise ValueError(
                f"{where}: row {row:,}, column {column!r} holds nothing, not an id; "
                "fill it in or leave the row out"
            )


def _column(table: Input, name: str) -> str:
    if name not in table.columns:
        raise ValueError(
            f"{table.name}: no column {name!r}{nearest(name, table.columns)} "
            f"columns: {', '.join(table.columns)}"
        )
    return name
