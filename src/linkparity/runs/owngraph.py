"""A graph from own files: every fault in one sentence with file, row, column and fix."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from linkparity.graph import Graph
from linkparity.grouping import Unknown, missing
from linkparity.optional import require
from linkparity.tables.columns import check_choices, pick_ends, pick_node_column
from linkparity.tables.duck import DuckEngine, readable_errors
from linkparity.tables.engine import EXTRA, ROW, Input
from linkparity.tables.files import open_source
from linkparity.tables.workspace import Workspace
from linkparity.words import nearest_id


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

    def __post_init__(self) -> None:
        check_choices(unknown=self.unknown, duplicates=self.duplicates, self_loops=self.self_loops)


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
            ends = pick_ends(links, own.source, own.target)
            rows = _links(links, ends, own)
            ids, values = ([], {}) if nodes is None else _nodes(nodes, own)
        finally:
            engine.close()
    if len({type(each) for each in (*next(iter(rows)), *ids[:1])}) > 1:
        rows = {(str(a), str(b)): row for (a, b), row in rows.items()}
        ids = [str(each) for each in ids]
    if nodes is not None:
        _check_known(links.name, nodes.name, ends, rows, ids, own)
    first, second = zip(*rows, strict=True)
    frame = pa.table({"source": list(first), "target": list(second)})
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


def _links(table: Input, ends: tuple[str, str], own: OwnGraph) -> dict[tuple[Any, Any], int]:
    """The links by their two ids, with the row of each; no row is without an id."""
    first, second = (_ids(table, name) for name in ends)
    if not first:
        raise ValueError(
            f"{table.name}: has column names but no links; there is nothing to train on"
        )
    return _once(table.name, ends, list(zip(first, second, strict=True)), own)


def _once(
    where: str, ends: tuple[str, str], pairs: list[tuple[Any, Any]], own: OwnGraph
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


def _nodes(table: Input, own: OwnGraph) -> tuple[list[Any], dict[str, list[Any]]]:
    """Ids, each once, and the values of the attributes."""
    name = pick_node_column(table, own.sensitive, own.node)
    ids = _ids(table, name)
    if not ids:
        raise ValueError(f"{table.name}: has column names but no nodes; list every node there")
    found = table.table.order_by(ROW).select(*own.sensitive).to_pyarrow()
    values = {wanted: found.column(wanted).to_pylist() for wanted in own.sensitive}
    rows = list(zip(ids, *values.values(), strict=True))
    if own.unknown == "error" and not own.bipartite:
        _check_values(table.name, ids, values)
    known: dict[Any, tuple[Any, ...]] = {}
    for row, (each, *told) in enumerate(rows, 1):
        if known.setdefault(each, tuple(told)) != tuple(told):
            both = " and ".join(repr(" & ".join(map(str, v))) for v in (known[each], told))
            raise ValueError(
                f"{table.name}: row {row:,}, column {name!r}: node {each!r} is listed twice with "
                f"two groups, {both}; keep one of them"
            )
    if Counter(ids).most_common(1)[0][1] > 1:
        ids = list(known)
        values = {w: [known[i][k] for i in ids] for k, w in enumerate(own.sensitive)}
    return ids, values


def _check_values(where: str, ids: list[Any], values: dict[str, list[Any]]) -> None:
    for name, column in values.items():
        for row, (node, value) in enumerate(zip(ids, column, strict=True), 1):
            if missing(value):
                raise ValueError(
                    f"{where}: row {row:,}, column {name!r}: node {node!r} has no {name}; fill it "
                    "in, or use --unknown group (a group of their own) or --unknown drop"
                )


def _check_known(
    links: str,
    nodes: str,
    ends: tuple[str, str],
    rows: dict[tuple[Any, Any], int],
    ids: list[Any],
    own: OwnGraph,
) -> None:
    """Links of nodes that the node table does not have."""
    if own.unknown != "error":
        return
    first, second = ({pair[i] for pair in rows} for i in (0, 1))
    known = set(ids)
    strange = known.isdisjoint(second)
    bare = own.bipartite and (strange or not first.isdisjoint(second))
    for (a, b), row in rows.items():
        lost = a if a not in known else b if not bare and b not in known else None
        if lost is not None:
            at_source = a not in known
            both = strange and not at_source
            raise ValueError(
                f"{links}: row {row:,}, column {ends[0 if at_source else 1]!r}: node {lost!r} is "
                f"not in {nodes}{nearest_id(lost, ids)} write ids alike, or use --unknown group "
                "(a group of their own) or --unknown drop"
                + (", or say --bipartite if targets have no groups" if both else "")
            )


def _ids(table: Input, name: str) -> list[Any]:
    """A column of ids, none of them missing; what is no whole number is text."""
    column = table.table.order_by(ROW)[name]
    if not column.type().is_integer():
        column = column.cast("string")
    ids: list[Any] = column.to_pyarrow().to_pylist()
    for row, each in enumerate(ids, 1):
        if each is None or each == "":
            raise ValueError(
                f"{table.name}: row {row:,}, column {name!r} holds nothing, not an id; "
                "fill it in or leave the row out"
            )
    return ids
