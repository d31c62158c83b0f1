"""A graph from own files: every fault in one sentence with file, row, column and fix."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from linkparity.graph import Graph
from linkparity.grouping import Unknown
from linkparity.optional import require
from linkparity.registry import nearest
from linkparity.tables.duck import DuckEngine, readable_errors
from linkparity.tables.engine import EXTRA, ROW, Input
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
    pa = require("pyarrow", "train --links", EXTRA)
    with Workspace() as workspace, readable_errors():
        engine = DuckEngine(workspace)
        try:
            links = engine.read(open_source(own.links, workspace), "links")
            nodes = None
            if own.nodes is not None:
                nodes = engine.read(open_source(own.nodes, workspace), "nodes")
            first, second = _links(links, own)
            ids, values = ([], {}) if nodes is None else _nodes(nodes, own)
        finally:
            engine.close()
    if nodes is not None:
        _check_known(links.name, nodes.name, first, second, set(ids), own)
    frame = pa.table({"source": first, "target": second})
    people = None if nodes is None else pa.table({"node": ids, **values})
    wanted = own.sensitive if len(own.sensitive) > 1 else own.sensitive[0]
    sensitive = None if nodes is None else wanted
    graph = Graph.from_frames(
        frame, people, sensitive, unknown=own.unknown, bipartite=own.bipartite
    )
    if len(set(graph.group[graph.group >= 0].tolist())) < 2:
        raise ValueError(
            f"{own.nodes or own.links}: only one group has nodes; parity compares two or more, so "
            f"check column {' & '.join(own.sensitive)!r}"
        )
    return graph


def _links(table: Input, own: OwnGraph) -> tuple[list[Any], list[Any]]:
    """The two columns of ids, once no row is without one, repeated or a loop."""
    columns = table.columns
    if len(columns) < 2:
        raise ValueError(f"{table.name}: needs columns source and target, got {', '.join(columns)}")
    usual = {"source", "target"} <= set(columns)
    names = ["source", "target"] if usual else columns[:2]
    for i, told in enumerate((own.source, own.target)):
        if told is not None:
            names[i] = _column(table, told)
    found = table.table.order_by(ROW).select(*names).to_pyarrow()
    first, second = (found.column(name).to_pylist() for name in names)
    if not first:
        raise ValueError(
            f"{table.name}: has column names but no links; there is nothing to train on"
        )
    for name, ids in zip(names, (first, second), strict=True):
        _check_ids(table.name, name, ids)
    return _once(table.name, names, list(zip(first, second, strict=True)), own)


def _once(
    where: str, names: list[str], pairs: list[tuple[Any, Any]], own: OwnGraph
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


def _nodes(table: Input, own: OwnGraph) -> tuple[list[Any], dict[str, list[Any]]]:
    """Ids, each once, and the values of the attributes."""
    name = _column(table, own.node) if own.node else "node"
    name = name if name in table.columns else table.columns[0]
    for wanted in own.sensitive:
        _column(table, wanted)
    found = table.table.order_by(ROW).select(*dict.fromkeys([name, *own.sensitive])).to_pyarrow()
    ids = found.column(name).to_pylist()
    _check_ids(table.name, name, ids)
    values = {wanted: found.column(wanted).to_pylist() for wanted in own.sensitive}
    rows = list(zip(ids, *values.values(), strict=True))
    known: dict[Any, tuple[Any, ...]] = {}
    for row, (each, *told) in enumerate(rows, 1):
        if known.setdefault(each, tuple(told)) != tuple(told):
            both = " and ".join(repr(v) for pair in (known[each], tuple(told)) for v in pair)
            raise ValueError(
                f"{table.name}: row {row:,}, column {name!r}: node {each!r} is listed twice with "
                f"two groups, {both}; keep one of them"
            )
    if Counter(ids).most_common(1)[0][1] > 1:
        ids = list(known)
        values = {w: [known[i][k] for i in ids] for k, w in enumerate(own.sensitive)}
    return ids, values


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
        if each is None or each == "":
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
