"""A graph from the user's files; all faults at once, each with file, row, column and a fix."""

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from linkparity.graph.graph import Graph
from linkparity.graph.groups import UntidyPolicy, missing, warn_of_one, whole_numbers
from linkparity.graph.readers import assemble, encode
from linkparity.graph.untidy_errors import duplicate_error, self_loop_error, unknown_error
from linkparity.support.display import place
from linkparity.support.errors import InputError
from linkparity.support.files import STREAM, Workspace
from linkparity.support.registry import LOOKED_AT, did_you_mean
from linkparity.tables.engines.base import Input
from linkparity.tables.engines.duckdb import DuckEngine
from linkparity.tables.reading.columns import check_header, not_listed, pick_ends, pick_node_column
from linkparity.tables.reading.files import open_table_file

#: From so many faults on, one fix for all of them follows the problems, so that all fit in a line.
MANY_FAULTS = 3
FIX_ALL = (
    "fix these rows, or use {self_loops=drop}, {duplicates=first} and {unknown=group}, "
    "{unknown=keep} or {unknown=drop}"
)


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


@dataclass(frozen=True, eq=False)
class _Links:
    """The table of links: ``(E,)`` numbers of the two ids, and the row of each, from 1."""

    name: str
    ends: tuple[str, str]
    first: np.ndarray
    second: np.ndarray
    row: np.ndarray

    def where(self, at: int, end: int) -> str:
        """The place of one end of a link."""
        return place(self.name, int(self.row[at]), self.ends[end])

    def kept(self, rows: np.ndarray) -> "_Links":
        """Some of the links."""
        return replace(self, first=self.first[rows], second=self.second[rows], row=self.row[rows])


@dataclass(frozen=True, eq=False)
class _Nodes:
    """The table of nodes: ``(N,)`` the number of each id, its row from 1, its values."""

    table: Input
    column: str
    node: np.ndarray
    row: np.ndarray
    values: tuple[list[Any], ...]

    def kept(self, rows: np.ndarray) -> "_Nodes":
        """Some of the nodes, by their places."""
        if len(rows) == len(self.node):
            return self
        values = tuple([column[at] for at in rows.tolist()] for column in self.values)
        return replace(self, node=self.node[rows], row=self.row[rows], values=values)


class _Faults:
    """Faults of the files, one of each kind with the number of rows; raised together."""

    def __init__(self) -> None:
        self.found: list[InputError] = []

    def add(self, fault: InputError) -> None:
        """Remember a fault."""
        self.found.append(fault)

    def raise_any(self) -> None:
        """Raise the faults as one error in one line."""
        if not self.found:
            return
        first, *others = (fault.message for fault in self.found)
        if len(others) < MANY_FAULTS:
            fixes = [first.fix]
            fixes += [f"also {each.where}: {each.problem}; {each.fix}" for each in others]
            raise InputError(first.problem, "; ".join(filter(None, fixes)), where=first.where)
        problems = [first.problem, *(f"also {each.where}: {each.problem}" for each in others)]
        raise InputError("; ".join(problems), FIX_ALL, where=first.where)


def read_graph(files: GraphFiles) -> Graph:
    """Read the files, validate them and build the graph."""
    if files.links == files.nodes == STREAM:
        raise InputError("only one of --links and --nodes can be read from stdin", "give a file")
    faults = _Faults()
    with Workspace() as workspace, DuckEngine(workspace) as duck:
        form = (files.format, files.separator)
        links_table = duck.load(open_table_file(files.links, workspace, *form), "links")
        nodes_table = duck.load(open_table_file(files.nodes, workspace, *form), "nodes")
        duck.lock()
        ids, links, nodes = _read_tables(duck, links_table, nodes_table, files, faults)
    check_header(links.name, links.ends, {ids[i] for i in nodes.node.tolist()})
    links = _tidy_links(links, ids, files, faults)
    nodes = _one_row_per_node(nodes, ids, faults)
    if files.policy.unknown == "error":
        _check_values(links, nodes, ids, files, faults)
        _check_known(links, nodes, ids, files, faults)
    faults.raise_any()
    if not len(links.row):
        raise InputError("no link is left", "there is nothing to train on", where=links.name)
    return _graph(links, nodes, ids, files)


def _graph(links: _Links, nodes: _Nodes, ids: list[Any], files: GraphFiles) -> Graph:
    """The graph of checked tables."""
    columns = [whole_numbers(column) for column in nodes.values]
    values = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    attribute = " & ".join(files.sensitive)
    raw = assemble(ids, links.first, links.second, nodes.node, values, attribute, files.bipartite)
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


def _read_tables(
    duck: DuckEngine, links: Input, nodes: Input, files: GraphFiles, faults: _Faults
) -> tuple[list[Any], _Links, _Nodes]:
    """Every id once, and both tables with the numbers of ids in place of ids."""
    ends = pick_ends(links, files.source, files.target)
    column = pick_node_column(nodes, files.sensitive, files.node)
    given = [duck.column("links", end) for end in ends]
    for table, size, noun, fix in (
        (links, len(given[0]), "links", "there is nothing to train on"),
        (nodes, len(described := duck.column("nodes", column)), "nodes", "list every node"),
    ):
        if not size:
            raise InputError(f"has column names but no {noun}", fix, where=table.name)
    ids, (node, first, second) = _number_ids(described, *given)
    lost = np.array([each is None or each == "" for each in ids])
    for number, (table, name) in zip(
        (node, first, second), ((nodes, column), *((links, end) for end in ends)), strict=True
    ):
        _check_ids(lost[number], table.name, name, faults)
    values = tuple(
        _group_values(duck.column("nodes", name), place(nodes.name, column=name), files.missing)
        for name in files.sensitive
    )
    rows = np.flatnonzero(~lost[node])
    read_nodes = _Nodes(nodes, column, node, np.arange(1, len(node) + 1), values).kept(rows)
    read_links = _Links(links.name, ends, first, second, np.arange(1, len(first) + 1))
    return ids, read_links.kept(~(lost[first] | lost[second])), read_nodes


def _number_ids(*columns: Any) -> tuple[list[Any], list[np.ndarray]]:
    """The distinct ids of Arrow columns in order of appearance, and the columns as numbers.

    Whole numbers stay numbers unless another column holds text, everything else is text; a missing
    id is None or empty.
    """
    import pyarrow as pa

    if len({column.type for column in columns}) == 1:  # one dictionary for all
        try:
            joined = pa.concat_arrays([chunk for each in columns for chunk in each.chunks])
            distinct, codes = _encoded(pa.chunked_array([joined]))
        except pa.ArrowException:  # more text than one array holds
            pass
        else:
            known = [_id(each) for each in distinct]
            if len(set(known)) == len(known):
                stops = np.cumsum([len(column) for column in columns])[:-1]
                return known, np.split(codes, stops)
    found = [_encoded(column) for column in columns]
    named = [[_id(each) for each in distinct] for distinct, _ in found]
    if len({type(each) for part in named for each in part if each is not None}) > 1:
        named = [[None if each is None else str(each) for each in part] for part in named]
    ids, numbers = encode(*named)
    return ids, [number[codes] for number, (_, codes) in zip(numbers, found, strict=True)]


def _id(value: Any) -> Any:
    """An id as a graph has it: a whole number, text, or None where it is missing."""
    if isinstance(value, int | str):
        return value
    return None if missing(value) else _id_text(value)


def _check_ids(lost: np.ndarray, table: str, name: str, faults: _Faults) -> None:
    """No id may be missing."""
    rows = np.flatnonzero(lost)
    if len(rows):
        count = f" ({len(rows):,} such rows)" if len(rows) > 1 else ""
        faults.add(
            InputError(
                f"the id is missing{count}", "fill it in or leave the row out",
                where=place(table, int(rows[0]) + 1, name),
            )
        )  # fmt: skip


def _encoded(column: Any) -> tuple[list[Any], np.ndarray]:
    """The distinct values of an Arrow column, and ``(N,)`` the number of each row's value."""
    import pyarrow as pa

    try:
        found = column.combine_chunks().dictionary_encode("encode")
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # lists and records
        return column.to_pylist(), np.arange(len(column))
    return found.dictionary.to_pylist(), found.indices.to_numpy(zero_copy_only=False).astype(
        np.int64
    )


def _group_values(column: Any, where: str, codes_of_missing: tuple[str, ...]) -> list[Any]:
    """The value of the attribute in each row; None where it is missing."""
    distinct, codes = _encoded(column)
    for at, value in enumerate(distinct):
        if isinstance(value, list | dict):
            row = int(np.flatnonzero(codes == at)[0]) + 1
            table, _, name = where.partition(": ")
            raise InputError(
                "holds a list or a record, which cannot be a group",
                "name a column of single values",
                where=f"{table}: row {row:,}, {name}",
            )
    known = [
        None if missing(value) or str(value) in codes_of_missing else value for value in distinct
    ]
    return [known[code] for code in codes.tolist()]


def _tidy_links(links: _Links, ids: list[Any], files: GraphFiles, faults: _Faults) -> _Links:
    """Each link once; self-loops and repeated links are faults unless the policy drops them."""
    if not files.bipartite:
        loops = np.flatnonzero(links.first == links.second)
        if len(loops) and files.policy.self_loops == "error":
            where, node = links.where(loops[0], 1), ids[links.second[loops[0]]]
            faults.add(self_loop_error(where, node, _many(loops), bipartite=True))
        links = links.kept(links.first != links.second)
    low, high = links.first, links.second
    if not files.bipartite:
        low, high = np.minimum(low, high), np.maximum(low, high)
    codes = low * len(ids) + high
    ordered = np.sort(codes)
    if (ordered[1:] > ordered[:-1]).all():
        return links
    _, first_at, code = np.unique(codes, return_index=True, return_inverse=True)
    once = np.zeros(len(low), dtype=bool)
    once[first_at] = True
    repeated = np.flatnonzero(~once)
    if len(repeated) and files.policy.duplicates == "error":
        at = repeated[0]
        pair = (ids[links.first[at]], ids[links.second[at]])
        earlier = int(links.row[first_at[code[at]]])
        faults.add(duplicate_error(links.where(at, 0), pair, earlier, _many(repeated)))
    return links.kept(once)


def _many(rows: np.ndarray) -> int:
    """The number of rows, where there are several."""
    return len(rows) if len(rows) > 1 else 0


def _one_row_per_node(nodes: _Nodes, ids: list[Any], faults: _Faults) -> _Nodes:
    """Each node once; one that is listed with two different values is a fault."""
    _, first_at, code = np.unique(nodes.node, return_index=True, return_inverse=True)
    if len(first_at) == len(nodes.node):
        return nodes
    earlier = first_at[code]
    rows = np.flatnonzero(earlier != np.arange(len(earlier)))
    for row in rows.tolist():
        both = [tuple(column[at] for column in nodes.values) for at in (earlier[row], row)]
        if both[0] != both[1]:
            named = " and ".join(repr(" & ".join(map(str, each))) for each in both)
            faults.add(
                InputError(
                    f"node {ids[nodes.node[row]]!r} is listed twice with two groups, {named}",
                    "keep one of them",
                    where=place(nodes.table.name, int(nodes.row[row]), nodes.column),
                )
            )
            break
    return nodes.kept(np.sort(first_at))


def _check_values(
    links: _Links, nodes: _Nodes, ids: list[Any], files: GraphFiles, faults: _Faults
) -> None:
    """The values of every node must be known, except on a side where no node has one."""
    is_target = np.zeros(len(ids), dtype=bool)
    if not np.isin(links.first, links.second).any():
        is_target[links.second] = True
    of_target = is_target[nodes.node]
    lost = np.array([[value is None for value in column] for column in nodes.values])
    known = ~lost.any(axis=0)
    bare = not (known & of_target).any() and bool((known & ~of_target).any() and of_target.any())
    for side in (False, True) if files.bipartite else (None,):
        mine = of_target == side if side is not None else np.ones_like(of_target)
        if files.bipartite and not (mine & known).any():
            continue
        for name, missing_here in zip(files.sensitive, lost & mine, strict=True):
            rows = np.flatnonzero(missing_here)
            if len(rows):
                where = place(nodes.table.name, int(nodes.row[rows[0]]), name)
                reason = f"has no {name}"
                if len(rows) > 1:
                    reason += f" ({len(rows):,} of {int(mine.sum()):,} nodes have no {name})"
                node = ids[nodes.node[rows[0]]]
                without = "targets" if bare and of_target[rows].all() else ""
                faults.add(unknown_error(where, node, reason, without_groups=without))


def _check_known(
    links: _Links, nodes: _Nodes, ids: list[Any], files: GraphFiles, faults: _Faults
) -> None:
    """Both ends of every link must be in the node table; one end where only one side has groups."""
    known, is_first, is_second = (np.zeros(len(ids), dtype=bool) for _ in range(3))
    known[nodes.node], is_first[links.first], is_second[links.second] = True, True, True
    no_target_known = not (known & is_second).any()
    needed = (
        not (files.bipartite and not (known & is_first).any() and not no_target_known),
        not (files.bipartite and (no_target_known or bool((is_first & is_second).any()))),
    )
    ends = (links.first, links.second)
    lost = [need & ~known[end] for need, end in zip(needed, ends, strict=True)]
    rows = np.flatnonzero(lost[0] | lost[1])
    if not len(rows):
        return
    at = rows[0]
    end = 0 if lost[0][at] else 1
    listed = (ids[i] for i in islice(nodes.node.tolist(), LOOKED_AT))
    hint = did_you_mean(str(ids[ends[end][at]]), map(str, listed))
    reason, advice = not_listed(nodes.table, nodes.column, files.node)
    faults.add(
        unknown_error(
            links.where(at, end),
            ids[ends[end][at]],
            reason,
            f"{hint}{advice}",
            _many(rows),
            without_groups="targets" if no_target_known and end == 1 else "",
        )
    )


def _id_text(value: object) -> str:
    """Text of an id that is neither text nor a whole number, the same as in a score table."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
