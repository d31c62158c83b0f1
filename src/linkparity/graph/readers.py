"""Graphs of other libraries → numbered nodes, links and values, not validated yet."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from linkparity.graph.columns import choose_ends, choose_node
from linkparity.graph.groups import NO_GROUP, GraphWarning, missing
from linkparity.support.arrays import check_unique
from linkparity.support.errors import InputError, require, warn
from linkparity.support.registry import did_you_mean

FRAMES = "Graph.from_frames"
#: Ids shown in a warning.
SHOWN = 3


@dataclass(frozen=True)
class RawGraph:
    """A graph as it was read, before links are merged and values are numbered.

    Attributes:
        caller: the function that was called, for messages.
        num_nodes: number of nodes.
        links: ``(E, 2)`` int64; duplicates, both directions and self-loops are allowed.
        names: one id per node, as given.
        values: one value of the attribute per node, or group numbers as an int64 array.
        attribute: its name.
        side: ``(num_nodes,)`` 0 or 1, when bipartite.
        mirrored: whether the format usually holds a link in both directions.
        minus_one_is_none: whether the number −1 among the values means no group.
    """

    caller: str
    num_nodes: int
    links: np.ndarray
    names: Sequence[Hashable] | None = None
    values: Sequence[object] | np.ndarray | None = None
    attribute: str | None = None
    side: np.ndarray | None = None
    mirrored: bool = False
    minus_one_is_none: bool = True


def read_frames(
    links: Any, nodes: Any, sensitive: str | Sequence[str] | None, bipartite: bool
) -> RawGraph:
    """Tables that narwhals reads: pandas, polars, pyarrow, modin, duckdb and more."""
    table = _frame(links, "links")
    ends = choose_ends(table.columns, argument="links", caller=FRAMES)
    columns = _column_names(sensitive)
    described, values = _read_nodes(nodes, columns)
    ids, (listed, first, second) = encode(described, *(_ids(table, end, "links") for end in ends))
    return assemble(
        ids, first, second, listed, values if columns else None, " & ".join(columns) or None,
        bipartite,
    )  # fmt: skip


def encode(*columns: Sequence[Hashable]) -> tuple[list[Hashable], list[np.ndarray]]:
    """The distinct values of all columns in order of appearance, and each column as numbers.

    >>> encode(["a", "b"], ["c", "a"])
    (['a', 'b', 'c'], [array([0, 1]), array([2, 0])])
    """
    number = {name: at for at, name in enumerate(dict.fromkeys(chain(*columns)))}
    codes = [
        np.fromiter(map(number.__getitem__, column), dtype=np.int64, count=len(column))
        for column in columns
    ]
    return list(number), codes


def assemble(
    ids: Sequence[Hashable],
    first: np.ndarray,
    second: np.ndarray,
    described: np.ndarray,
    values: Sequence[object] | None,
    attribute: str | None,
    bipartite: bool,
) -> RawGraph:
    """A graph from links and nodes whose ids are numbered.

    Args:
        ids: every id once.
        first: ``(E,)`` the number of each link's source in ``ids``.
        second: ``(E,)`` that of its target.
        described: ``(N,)`` those of the nodes table, in its order, each once.
        values: value of the attribute of each described node; None for a graph without groups.
        attribute: its name.
        bipartite: whether sources and targets are two kinds of nodes.
    """
    is_source, is_target, is_described = (np.zeros(len(ids), dtype=bool) for _ in range(3))
    is_source[first], is_target[second], is_described[described] = True, True, True
    if len(described) and len(first) and not (is_described & (is_source | is_target)).any():
        raise InputError(
            f"no id of nodes occurs in links, which hold {ids[first[0]]!r} where nodes hold "
            f"{ids[described[0]]!r}",
            "write the ids alike",
            caller=FRAMES,
        )
    value = np.full(len(ids), None, dtype=object)
    if values is not None:
        value[described] = np.fromiter(values, dtype=object, count=len(values))
    if not bipartite:
        order, (start, end) = _renumbered(len(ids), (described, first, second), (first, second))
        found = None if values is None else value[order].tolist()
        pairs = np.stack([start, end], axis=1)
        return RawGraph(FRAMES, len(order), pairs, [ids[i] for i in order], found, attribute)
    ambiguous = bool((is_source & is_target).any())
    sources_only = ambiguous or not is_target[described].any()
    _warn_of_sides(ids, described, is_source, is_target, sources_only)
    on_target_side = is_target[described] & (not sources_only)
    left, (start,) = _renumbered(len(ids), (described[~on_target_side], first), (first,))
    right, (end,) = _renumbered(len(ids), (described[on_target_side], second), (second,))
    found = None
    if values is not None:  # with ids that are both source and target, nodes describes the sources
        found = [*value[left], *([None] * len(right) if ambiguous else value[right])]
    side = np.repeat([0, 1], [len(left), len(right)])
    pairs = np.stack([start, end + len(left)], axis=1)
    names = [ids[i] for i in (*left, *right)]
    return RawGraph(FRAMES, len(side), pairs, names, found, attribute, side)


def _renumbered(
    size: int, order_of: Sequence[np.ndarray], columns: Sequence[np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The numbers in order of first appearance, and columns of them numbered in that order."""
    every = np.concatenate(order_of)
    first_seen = np.full(size, len(every))
    np.minimum.at(first_seen, every, np.arange(len(every)))
    order = every[np.sort(first_seen[first_seen < len(every)])]
    number = np.empty(size, dtype=np.int64)
    number[order] = np.arange(len(order))
    return order, [number[column] for column in columns]


def _warn_of_sides(
    ids: Sequence[Hashable],
    described: np.ndarray,
    is_source: np.ndarray,
    is_target: np.ndarray,
    sources_only: bool,
) -> None:
    """Warn of described nodes that are put on side 0 though they may belong on side 1."""
    both = [ids[i] for i in np.flatnonzero(is_source & is_target).tolist()]
    moved = [ids[i] for i in described[is_target[described] & ~is_source[described]]]
    unlinked = [ids[i] for i in described[~is_target[described] & ~is_source[described]]]
    if both and moved:
        warn(
            GraphWarning,
            f"{len(both):,} ids are a source and a target at once ({_some(both)}), so nodes is "
            f"read as describing sources only; {len(moved):,} ids that are only targets "
            f"({_some(moved)}) become sources without a link, and no target has a group",
            "write ids of the two sides differently",
            caller=FRAMES,
        )
    elif unlinked and not sources_only:
        warn(
            GraphWarning,
            f"{len(unlinked):,} nodes have no link ({_some(unlinked)}) and are taken for sources",
            "leave them out of nodes if they are targets",
            caller=FRAMES,
        )


def _some(names: list[Hashable]) -> str:
    return ", ".join(map(repr, names[:SHOWN])) + (" …" if len(names) > SHOWN else "")


def _column_names(sensitive: Any) -> list[str]:
    """Names of the columns that are crossed, none for None."""
    if sensitive is None:
        return []
    names = list(sensitive) if isinstance(sensitive, (list, tuple)) else [sensitive]
    if not names:
        raise InputError(
            f"names no column, got {sensitive!r}",
            "name at least one, or pass None for a graph without groups",
            argument="sensitive",
            caller=FRAMES,
        )
    return [str(name) for name in names]


def _read_nodes(nodes: Any, wanted: list[str]) -> tuple[list[Hashable], list[object]]:
    """Ids of the nodes, and the value of each; a tuple where several columns are wanted."""
    if nodes is None:
        if wanted:
            raise InputError(
                f"sensitive={' & '.join(wanted)!r} names a column of nodes, but nodes is None",
                "pass the table of nodes too",
                caller=FRAMES,
            )
        return [], []
    table = _frame(nodes, "nodes")
    known = {str(name): name for name in table.columns}
    for name in wanted:
        if name not in known:
            fix = f"{did_you_mean(name, known)}columns: {', '.join(known)}"
            raise InputError(f"has no column {name!r}", fix, argument="nodes", caller=FRAMES)
    column = choose_node(table.columns, wanted, argument="nodes", caller=FRAMES)
    ids = _ids(table, column, "nodes")
    check_unique(ids, f"nodes[{column!r}]", FRAMES)
    values = [table.get_column(known[name]).to_list() for name in wanted]
    return ids, values[0] if len(wanted) == 1 else list(zip(*values, strict=True))


def _frame(table: Any, argument: str) -> Any:
    nw = require("narwhals", FRAMES, "linkparity")
    try:
        frame = nw.from_native(table)
    except TypeError:
        raise TypeError(
            f"{FRAMES}: {argument} must be a table such as a pandas or polars DataFrame, "
            f"got {type(table).__name__}"
        ) from None
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _ids(table: Any, column: str, argument: str) -> list[Hashable]:
    series = table.get_column(column)
    ids: list[Hashable] = series.to_list()
    if series.dtype.is_integer() and not series.is_null().any():
        return ids
    row = next((i for i, name in enumerate(ids) if missing(name)), None)
    if row is not None:
        raise InputError(
            f"{argument}, column {column!r}, row {row} holds no id",
            "fill it in or leave the row out",
            caller=FRAMES,
        )
    return ids


def read_networkx(graph: Any, sensitive: str | None, bipartite: bool) -> RawGraph:
    """A networkx graph; directed and multiple links become one, sides are ``bipartite`` 0 or 1."""
    caller = "Graph.from_networkx"
    number = {name: at for at, name in enumerate(graph.nodes)}
    attributes = [data for _, data in graph.nodes(data=True)]
    pairs = [(number[a], number[b]) for a, b in graph.edges()]
    side = None
    if bipartite:
        sides = [data.get("bipartite") for data in attributes]
        for name, given in zip(number, sides, strict=True):
            if given not in (0, 1):
                problem = f"node {name!r} has bipartite={given!r}"
                fix = "every node needs the attribute bipartite, 0 or 1"
                raise InputError(problem, fix, caller=caller)
        side = np.array(sides, dtype=np.int64)
    values = None
    if sensitive is not None:
        known = list(dict.fromkeys(str(key) for data in attributes for key in data))
        if not isinstance(sensitive, str) or (number and sensitive not in known):
            hint = did_you_mean(str(sensitive), known)
            fix = f"{hint}they have: {', '.join(known) or 'none'}"
            raise InputError(f"no node has the attribute {sensitive!r}", fix, caller=caller)
        values = [data.get(sensitive) for data in attributes]
    links = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    mirrored = bool(graph.is_directed() or graph.is_multigraph())
    return RawGraph(caller, len(number), links, [*number], values, sensitive, side, mirrored)


def read_scipy(matrix: Any, group: Any, attribute: str | None, bipartite: bool) -> RawGraph:
    """A matrix, its nonzeros the links: square, or sources × targets when bipartite."""
    from scipy.sparse import coo_array

    caller = "Graph.from_scipy"
    entries = coo_array(matrix)
    rows, columns = entries.shape
    if not bipartite and rows != columns:
        problem = f"an adjacency matrix is square, got {rows} × {columns}"
        fix = "pass {bipartite=True} for a matrix of sources × targets"
        raise InputError(problem, fix, caller=caller)
    nonzero = entries.data != 0
    first, second = entries.row[nonzero].astype(np.int64), entries.col[nonzero].astype(np.int64)
    size, side = rows, None
    if bipartite:
        second, size = second + rows, rows + columns
        side = np.repeat([0, 1], [rows, columns])
    values = None if group is None else _plain_values(group, size, rows, caller)
    links = np.stack([first, second], axis=1)
    return RawGraph(caller, size, links, None, values, attribute, side, mirrored=not bipartite)


def read_pyg(data: Any, sensitive: str | None) -> RawGraph:
    """A PyTorch Geometric ``Data``, including the fields that :meth:`Graph.to_pyg` adds."""
    caller = "Graph.from_pyg"
    if getattr(data, "edge_index", None) is None:
        problem = f"got {type(data).__name__} without edge_index"
        raise InputError(problem, "convert a HeteroData with to_homogeneous()", caller=caller)
    size = int(data.num_nodes)
    values = None
    if sensitive is not None:
        if sensitive not in data:
            known = [str(key) for key in data.keys()]  # noqa: SIM118
            fix = f"{did_you_mean(sensitive, known)}it has: {', '.join(known)}"
            raise InputError(f"data has no {sensitive!r}", fix, caller=caller)
        values = _plain_values(data[sensitive], size, size, caller)
    side = data["side"].numpy() if "side" in data else None
    names = getattr(data, "node_names", None)
    attribute = getattr(data, "attribute", None) if sensitive == "group" else sensitive
    links = data.edge_index.cpu().numpy().astype(np.int64).T
    return RawGraph(caller, size, links, names, values, attribute, side, mirrored=True)


def _plain_values(
    group: Any, size: int, sources: int, caller: str
) -> Sequence[object] | np.ndarray:
    """Integers as group numbers, anything else as values; targets may be left out."""
    values = np.asarray(group.cpu() if hasattr(group, "cpu") else group)
    if values.ndim != 1 or len(values) not in (size, sources):
        problem = f"must hold one value for each of {size} nodes, got the shape {values.shape}"
        raise InputError(problem, argument="group", caller=caller)
    omitted = size - len(values)
    if np.issubdtype(values.dtype, np.integer):
        return np.concatenate([values, np.full(omitted, NO_GROUP)]).astype(np.int64)
    return [*values.tolist(), *[None] * omitted]
