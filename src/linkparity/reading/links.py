"""Tables of links, with a table of their nodes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkparity.reading.column_rules import ENDS
from linkparity.reading.columns import Columns, ReadOptions, not_listed
from linkparity.reading.duckdb import ROW, Duck, Input, text
from linkparity.reading.faults import Faults
from linkparity.reading.groups import NO_GROUP
from linkparity.reading.nodes import (
    Groups,
    NodeTable,
    locate,
    nearest_ids,
    number_ends,
    read_nodes,
)
from linkparity.reading.scores import ArrayReader, ArrayTable, check_duplicates
from linkparity.reading.sql import Column, comparable
from linkparity.reading.untidy_errors import unknown_error
from linkparity.support.errors import InputError
from linkparity.support.registry import did_you_mean

#: Groups of pairs that are read without.
NO_GROUPS = Groups((), "")
#: Groups of a graph; it has no cells yet.
MANY = 1 << 40
#: Values of a column of ``"links"`` or ``"nodes"`` in some rows, which ascend.
ValuesAt = Callable[[str, str, np.ndarray], list[Any]]


@dataclass(frozen=True, eq=False)
class Links:
    """A table of links, and the table of its nodes.

    Every id has a number: the N listed nodes in the order of their rows, then other ids.

    Attributes:
        table: all rows of links, of which some may be out of use.
        nodes: the table of nodes; None without one.
        group: ``(count,)`` group of each id, −1 for none.
        group_names: one name per group.
        whole: whether all ids are whole numbers.
    """

    table: ArrayTable
    nodes: NodeTable | None
    group: np.ndarray
    group_names: tuple[str, ...]
    whole: bool

    @property
    def listed(self) -> int:
        """Number of listed nodes, N."""
        return 0 if self.nodes is None else self.nodes.count

    @cached_property
    def row(self) -> np.ndarray:
        """``(E,)`` rows of the links that are in use, from 0."""
        used = self.table.used
        return np.arange(self.table.total) if used is None else np.flatnonzero(used)

    @cached_property
    def ends(self) -> np.ndarray:
        """``(2, E)`` numbers of the sources and of the targets of these links."""
        ends = np.stack([self.table.first[self.row], self.table.second[self.row]])
        return ends.astype(np.int64)

    @cached_property
    def node_row(self) -> np.ndarray:
        """``(N,)`` row of each listed node, from 0."""
        if not self.listed:
            return np.empty(0, dtype=np.int64)
        sql = "SELECT row FROM listed_nodes ORDER BY number"
        return np.asarray(self.table.duck.run(sql).fetchnumpy()["row"])


def read_links(
    duck: Duck,
    links: Input,
    nodes: Input | None,
    columns: Columns,
    options: ReadOptions,
    faults: Faults,
    tidy: bool = True,
) -> Links:
    """Number the ids of a table of links, and check every row.

    Args:
        duck: where the tables are.
        links: the table of links.
        nodes: the table of nodes; None without one.
        columns: which column holds what.
        options: the attributes of the nodes, and what happens to untidy rows.
        faults: takes what is wrong with the rows of both tables, except for unknown groups.
        tidy: whether self-loops and repeated links are out of use, and faults unless
            ``options`` drop them.
    """
    groups, listed = NO_GROUPS, None
    ids = [Column.of(links, name) for name in (columns.source, columns.target)]
    whole = all(each.whole for each in ids)
    if nodes is not None:
        column = Column.of(nodes, str(columns.node))
        whole = whole and column.whole
        groups, known = read_nodes(duck, nodes, str(columns.node), options, faults, MANY)
        *ids, node = comparable(*ids, replace(column, sql="node"))
        listed = known, node
    source, target = comparable(*ids)
    if listed is not None:
        check_header(duck, links, columns)
    options = replace(options, untidy=replace(options.untidy, unknown="keep"))
    every = replace(options, bipartite=False)
    ends = number_ends(duck, [(links, source, target)], listed, every, one_sided=False)
    reader = ArrayReader(
        duck, links, columns, options, NO_GROUPS, False, replace(ends, group=None), None
    )
    table = reader.rows((source, target), faults)
    if tidy:
        check_duplicates(table, faults)
    else:
        table.used = None
    group = np.full(ends.count, NO_GROUP) if ends.group is None else ends.group
    return Links(table, None if listed is None else listed[0], group, groups.names, whole)


def names_of(links: Links, values: ValuesAt) -> list[Any]:
    """The id of each number as ``values`` gives it where it first occurs; None where unused."""
    names: list[Any] = [None] * len(links.group)
    if links.nodes is not None:
        names[: links.listed] = values("nodes", links.nodes.column, links.node_row)
    every = links.ends.reshape(-1)
    others = np.flatnonzero(every >= links.listed)
    first = np.sort(others[np.unique(every[others], return_index=True)[1]])
    columns = (links.table.columns.source, links.table.columns.target)
    size = len(links.row)
    for end, column in enumerate(columns):
        at = first[(first >= end * size) & (first < (end + 1) * size)] - end * size
        found = values("links", column, links.row[at])
        for number, value in zip(links.ends[end, at].tolist(), found, strict=True):
            names[number] = value
    return names


def check_known(links: Links, options: ReadOptions, faults: Faults) -> None:
    """Add the first node of each kind whose group is not known.

    Every listed node needs a value, and every end of a link must be listed. A side of a bipartite
    graph may do without groups, if none of its nodes has a value, or none is listed.
    """
    nodes = links.nodes
    assert nodes is not None
    source, target = (np.zeros(len(links.group), dtype=bool) for _ in range(2))
    source[links.ends[0]], target[links.ends[1]] = True, True
    apart = not (source & target).any()
    listed = slice(links.listed)
    _check_values(links, nodes, options, np.logical_and(target[listed], apart), faults)
    no_target = not target[listed].any()
    needed = np.array([[source[listed].any() or no_target], [not no_target and apart]])
    lost = (links.ends >= links.listed) & (needed | (not options.bipartite))
    rows = np.flatnonzero(lost.any(axis=0))
    if not len(rows):
        return
    end = 0 if lost[0, rows[0]] else 1
    table = links.table
    column = (table.columns.source, table.columns.target)[end]
    where, node = locate(table.duck, table.given, int(links.row[rows[0]]), column)
    hint = did_you_mean(str(node), nearest_ids(table.duck, nodes))
    reason, advice = not_listed(nodes.given, nodes.column, options.node)
    without = "targets" if no_target and end == 1 else ""
    fault = unknown_error(where, node, reason, f"{hint}{advice}", len(rows), without_groups=without)
    faults.add(fault)


def _check_values(
    links: Links, nodes: NodeTable, options: ReadOptions, target: np.ndarray, faults: Faults
) -> None:
    """Add the first listed node without a value of each attribute; ``target (N,)`` are targets."""
    lost = _without_value(links, nodes, options)
    known = np.asarray(~lost.any(axis=0))
    bare = target.any() and not known[target].any() and known[~target].any()
    for side in (~target, target) if options.bipartite else (np.ones_like(target),):
        if options.bipartite and not known[side].any():
            continue
        for name, missing in zip(options.sensitive, lost & side, strict=True):
            at = np.flatnonzero(missing)
            if not len(at):
                continue
            duck, row = links.table.duck, int(links.node_row[at[0]])
            where, _ = locate(duck, nodes.given, row, name)
            _, node = locate(duck, nodes.given, row, nodes.column)
            reason = f"has no {name}"
            if len(at) > 1:
                reason += f" ({len(at):,} of {int(side.sum()):,} nodes have no {name})"
            without = "targets" if bare and target[at].all() else ""
            faults.add(unknown_error(where, node, reason, without_groups=without))


def _without_value(links: Links, nodes: NodeTable, options: ReadOptions) -> np.ndarray:
    """``(A, N)`` whether a listed node lacks each of A attributes."""
    columns = [Column.of(nodes.given, name, "n.") for name in options.sensitive]
    signs = [f"{each.unknown(options.missing)} AS a{i}" for i, each in enumerate(columns)]
    found = links.table.duck.run(
        f"SELECT {', '.join(signs)} FROM {nodes.given.view} n JOIN listed_nodes l "
        f"ON n.{ROW} = l.row ORDER BY l.number"
    ).fetchnumpy()
    return np.stack([np.asarray(found[f"a{i}"]) for i in range(len(columns))])


def check_header(duck: Duck, pairs: Input, columns: Columns) -> None:
    """Refuse a text file whose two column names are ids: its first line is a pair, not a header."""
    ends = {columns.source, columns.target}
    if not pairs.text or ends & set(ENDS):
        return
    listed = ", ".join(map(text, ends))
    sql = "SELECT count(DISTINCT CAST(node AS VARCHAR)) FROM listed_nodes"
    if duck.rows(f"{sql} WHERE CAST(node AS VARCHAR) IN ({listed})") == [(len(ends),)]:
        first = f"{columns.source},{columns.target}"
        problem = f"the first line, {first}, is a pair of nodes, not the column names"
        fix = "add a line of column names, such as source,target"
        raise InputError(problem, fix, where=pairs.name)
