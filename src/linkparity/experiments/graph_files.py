"""A graph from the user's files."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkparity.graph.graph import Graph
from linkparity.graph.readers import RawGraph
from linkparity.graph.tables import checked_graph
from linkparity.reading.columns import Columns, ReadOptions, pick_ends, pick_node_column
from linkparity.reading.duckdb import Duck, Input
from linkparity.reading.faults import Faults
from linkparity.reading.files import loaded, open_table_file
from linkparity.reading.groups import UntidyPolicy, warn_of_one
from linkparity.reading.links import read_links
from linkparity.reading.nodes import no_rows
from linkparity.reading.sql import Column
from linkparity.support.errors import InputError
from linkparity.support.files import STREAM, Workspace


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
        missing: values of the attributes that mean unknown, such as a code 0.
        format: of files whose extension does not tell, ``csv``, ``tsv`` or ``parquet``.
        separator: character between the columns of text files.
    """

    links: str
    nodes: str
    sensitive: tuple[str, ...]
    source: str | None = None
    target: str | None = None
    node: str | None = None
    bipartite: bool = False
    policy: UntidyPolicy = field(default_factory=UntidyPolicy)
    missing: tuple[str, ...] = ()
    format: str | None = None
    separator: str | None = None


def read_graph(files: GraphFiles) -> Graph:
    """Read the files, validate them and build the graph."""
    if files.links == files.nodes == STREAM:
        raise InputError("only one of --links and --nodes can be read from stdin", "give a file")
    form = (files.format, files.separator)
    with Workspace() as workspace:
        named = {"links": files.links, "nodes": files.nodes}
        opened = {name: open_table_file(file, workspace, *form) for name, file in named.items()}
        with loaded(opened, workspace) as (duck, tables):
            raw = _read(duck, tables, files)
    if not len(raw.links):
        raise InputError("no link is left", "there is nothing to train on", where=files.links)
    graph = Graph.from_raw(raw, files.policy.unknown)
    sizes = [int((graph.group == g).sum()) for g in range(len(graph.group_names))]
    if sum(size > 0 for size in sizes) < 2:
        raise InputError(
            "only one group has nodes, and parity compares two or more",
            f"check column {' & '.join(files.sensitive)!r}",
            where=files.nodes,
        )
    warn_of_one(graph.group_names, sizes, files.nodes)
    return graph


def _read(duck: Duck, tables: dict[str, Input], files: GraphFiles) -> RawGraph:
    """The graph of both tables; whole numbers stay numbers if all ids are, else ids are text."""
    ends = pick_ends(tables["links"], files.source, files.target)
    node = pick_node_column(tables["nodes"], files.sensitive, files.node)
    for name, fix in (("links", "there is nothing to train on"), ("nodes", "list every node")):
        if not duck.rows(f"SELECT 1 FROM {tables[name].view} LIMIT 1"):
            raise no_rows(tables[name].name, name, fix)
    options = ReadOptions(
        files.sensitive, node=files.node, untidy=files.policy, bipartite=files.bipartite,
        missing=files.missing,
    )  # fmt: skip
    faults, columns = Faults(), Columns(*ends, node=node)
    links = read_links(duck, tables["links"], tables["nodes"], columns, options, faults)

    def ids(table: str, column: str, rows: np.ndarray) -> list[Any]:
        given = Column.of(tables[table], column)
        sql = given.sql if links.whole else given.as_text.sql
        return duck.values(tables[table], sql, rows)

    return checked_graph(links, options, faults, ids)
