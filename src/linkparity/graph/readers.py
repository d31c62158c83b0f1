"""Graphs as other libraries hold them → numbered nodes, links and values, not yet checked."""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkparity.graph.groups import GraphWarning, missing
from linkparity.support.optional import require
from linkparity.support.registry import nearest
from linkparity.support.validation import check_unique


@dataclass(frozen=True)
class Source:
    """What a foreign graph says, before links are merged and values numbered.

    Attributes:
        where: the caller's name, for messages.
        num_nodes: how many nodes.
        links: ``(E, 2)`` int64, repeats, both directions and self-loops allowed.
        names: one id per node, as given.
        values: one value of the attribute per node, or group numbers as an int64 array.
        attribute: its name.
        side: ``(num_nodes,)`` 0 or 1, when bipartite.
        mirrored: whether it is usual here that a link stands in both directions.
        coded: whether the number −1 among the values stands for none.
    """

    where: str
    num_nodes: int
    links: np.ndarray
    names: Sequence[Hashable] | None = None
    values: Sequence[object] | np.ndarray | None = None
    attribute: str | None = None
    side: np.ndarray | None = None
    mirrored: bool = False
    coded: bool = True


def read_frames(
    links: Any, nodes: Any, sensitive: str | Sequence[str] | None, bipartite: bool
) -> Source:
    """Tables that narwhals reads: pandas, polars, pyarrow, modin, duckdb and more."""
    where = "Graph.from_frames"
    table = _frame(links, where, "links")
    ends = _pick(table.columns, ("source", "target"), where, "links")
    first, second = (_ids(table, end, where, "links") for end in ends)
    columns = _columns(sensitive, where)
    described, values = _described(nodes, columns, where)
    told = dict(zip(described, values, strict=True)) if columns else None
    return read_lists(first, second, described, told, " & ".join(columns) or None, bipartite)


def read_lists(
    first: list[Hashable],
    second: list[Hashable],
    described: list[Hashable],
    told: dict[Hashable, object] | None,
    attribute: str | None,
    bipartite: bool,
) -> Source:
    """Ids of the two ends of each link, of the nodes described, and what is told of them."""
    where = "Graph.from_frames"
    both = set(first) & set(second) if bipartite else set()
    if bipartite:
        targets = set(second)
        bare = bool(both) or targets.isdisjoint(described)
        _warn_of_sides(described, first, targets, bare, where)
        start = _number([*(n for n in described if bare or n not in targets), *first])
        end = _number([*(n for n in described if not bare and n in targets), *second])
    else:
        start = end = _number([*described, *first, *second])
    offset = len(start) if bipartite else 0
    pairs = np.stack([_numbers(first, start), _numbers(second, end) + offset], axis=1)
    names = [*start, *end] if bipartite else [*start]
    apart = set(described).isdisjoint(first) and set(described).isdisjoint(second)
    if described and first and apart:
        raise ValueError(
            f"{where}: no id of nodes occurs in links, which hold {first[0]!r} where nodes hold "
            f"{described[0]!r}; write the ids alike"
        )
    return Source(
        where,
        len(names),
        pairs,
        names,
        None if told is None else _look_up(told, [*start], [*end] if bipartite else [], both),
        attribute,
        np.repeat([0, 1], [len(start), len(end)]) if bipartite else None,
    )


def _look_up(
    told: dict[Hashable, object], start: list[Hashable], end: list[Hashable], both: set[Hashable]
) -> list[object]:
    # With ids that stand for a source and for a target alike, the table describes the sources.
    return [told.get(n) for n in start] + [None if both else told.get(n) for n in end]


def _warn_of_sides(
    described: list[Hashable], first: list[Hashable], targets: set[Hashable], bare: bool, where: str
) -> None:
    """Say which of the described nodes stand on side 0 though they may belong on the other."""
    sources = set(first)
    both = [name for name in dict.fromkeys(first) if name in targets]
    lost = [name for name in described if name not in sources and name in targets]
    loose = [name for name in described if name not in sources and name not in targets]
    if both and lost:
        warnings.warn(
            f"{where}: {len(both):,} ids are a source and a target at once ({_some(both)}), so "
            f"nodes is read as describing sources alone; {len(lost):,} ids that are only targets "
            f"({_some(lost)}) become sources without a link, and no target has a group; "
            "write ids of the two sides differently",
            GraphWarning,
            stacklevel=5,
        )
    elif loose and not bare:
        warnings.warn(
            f"{where}: {len(loose):,} nodes have no link ({_some(loose)}) and are taken for "
            "sources; leave them out of nodes if they are targets",
            GraphWarning,
            stacklevel=5,
        )


def _some(names: list[Hashable]) -> str:
    return ", ".join(repr(name) for name in names[:3]) + (" …" if len(names) > 3 else "")


def _columns(sensitive: Any, where: str) -> list[str]:
    """The names of the columns that are crossed, none for None."""
    if sensitive is None:
        return []
    names = list(sensitive) if isinstance(sensitive, (list, tuple)) else [sensitive]
    if not names:
        raise ValueError(
            f"{where}: sensitive names no column, got {sensitive!r}; "
            "name at least one, or pass None for a graph without groups"
        )
    return [str(name) for name in names]


def _described(nodes: Any, wanted: list[str], where: str) -> tuple[list[Hashable], list[object]]:
    if nodes is None:
        if wanted:
            raise ValueError(
                f"{where}: sensitive={' & '.join(wanted)!r} names a column of nodes, but nodes is "
                "None; pass the table of nodes too"
            )
        return [], []
    table = _frame(nodes, where, "nodes")
    (column,) = _pick(table.columns, ("node",), where, "nodes")
    ids = _ids(table, column, where, "nodes")
    check_unique(ids, f"{where}: nodes, column {column!r}")
    known = {str(name): name for name in table.columns}
    for name in wanted:
        if name not in known:
            hint = nearest(name, list(known))
            raise ValueError(
                f"{where}: nodes has no column {name!r}{hint} columns: {', '.join(known)}"
            )
    values = [table.get_column(known[name]).to_list() for name in wanted]
    return ids, values[0] if len(wanted) == 1 else list(zip(*values, strict=True))


def _frame(table: Any, where: str, which: str) -> Any:
    nw = require("narwhals", where, "linkparity[tables]")
    try:
        frame = nw.from_native(table)
    except TypeError:
        raise TypeError(
            f"{where}: {which} must be a table such as a pandas or polars DataFrame, "
            f"got {type(table).__name__}"
        ) from None
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _pick(columns: list[str], usual: tuple[str, ...], where: str, which: str) -> tuple[str, ...]:
    if set(usual) <= set(columns):
        return usual
    if len(columns) < len(usual):
        raise ValueError(
            f"{where}: {which} needs columns {', '.join(usual)}, or at least {len(usual)} columns, "
            f"got {', '.join(map(str, columns)) or 'none'}"
        )
    return tuple(columns[: len(usual)])


def _ids(table: Any, column: str, where: str, which: str) -> list[Hashable]:
    series = table.get_column(column)
    ids: list[Hashable] = series.to_list()
    if series.dtype.is_integer() and not series.is_null().any():
        return ids
    row = next((i for i, name in enumerate(ids) if missing(name)), None)
    if row is not None:
        raise ValueError(
            f"{where}: {which}, column {column!r}, row {row} holds no id; "
            "fill it in or leave the row out"
        )
    return ids


def _number(names: Sequence[Hashable]) -> dict[Hashable, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _numbers(names: list[Hashable], number: dict[Hashable, int]) -> np.ndarray:
    return np.fromiter(map(number.__getitem__, names), dtype=np.int64, count=len(names))


def read_networkx(graph: Any, sensitive: str | None, bipartite: bool) -> Source:
    """A networkx graph; directed and multiple links become one, sides are ``bipartite`` 0 or 1."""
    where = "Graph.from_networkx"
    number = {name: i for i, name in enumerate(graph.nodes)}
    pairs = [(number[a], number[b]) for a, b in graph.edges()]
    side = None
    if bipartite:
        told = [data.get("bipartite") for _, data in graph.nodes(data=True)]
        bad = next((i for i, value in enumerate(told) if value not in (0, 1)), None)
        if bad is not None:
            raise ValueError(
                f"{where}: node {list(number)[bad]!r} has bipartite={told[bad]!r}; "
                "every node needs the attribute bipartite, 0 or 1"
            )
        side = np.array(told, dtype=np.int64)
    values = None
    if sensitive is not None:
        known = list(dict.fromkeys(str(key) for _, data in graph.nodes(data=True) for key in data))
        if not isinstance(sensitive, str) or (number and sensitive not in known):
            raise ValueError(
                f"{where}: no node has the attribute {sensitive!r}"
                f"{nearest(str(sensitive), known)} they have: {', '.join(known) or 'none'}"
            )
        values = [data.get(sensitive) for _, data in graph.nodes(data=True)]
    links = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    mirrored = bool(graph.is_directed() or graph.is_multigraph())
    return Source(where, len(number), links, [*number], values, sensitive, side, mirrored)


def read_scipy(matrix: Any, group: Any, attribute: str | None, bipartite: bool) -> Source:
    """A matrix, its nonzeros the links: square, or sources × targets when bipartite."""
    from scipy.sparse import coo_array

    where = "Graph.from_scipy"
    entries = coo_array(matrix)
    rows, columns = entries.shape
    if not bipartite and rows != columns:
        raise ValueError(
            f"{where}: an adjacency matrix is square, got {rows} × {columns}; "
            "pass bipartite=True for a matrix of sources × targets"
        )
    there = entries.data != 0
    first, second = entries.row[there].astype(np.int64), entries.col[there].astype(np.int64)
    size, side = rows, None
    if bipartite:
        second, size = second + rows, rows + columns
        side = np.repeat([0, 1], [rows, columns])
    values = None if group is None else plain_values(group, where, size, rows if bipartite else 0)
    links = np.stack([first, second], axis=1)
    return Source(where, size, links, None, values, attribute, side, mirrored=not bipartite)


def read_pyg(data: Any, sensitive: str | None) -> Source:
    """A PyTorch Geometric ``Data``, with what :meth:`Graph.to_pyg` adds read back."""
    where = "Graph.from_pyg"
    if getattr(data, "edge_index", None) is None:
        raise ValueError(
            f"{where}: got {type(data).__name__} without edge_index; "
            "a HeteroData goes through its to_homogeneous()"
        )
    size = int(data.num_nodes)
    values = None
    if sensitive is not None:
        if sensitive not in data:
            known = [str(key) for key in data.keys()]  # noqa: SIM118
            hint = nearest(sensitive, known)
            raise ValueError(f"{where}: data has no {sensitive!r}{hint} it has: {', '.join(known)}")
        values = plain_values(data[sensitive], where, size, 0)
    side = data["side"].numpy() if "side" in data else None
    names = getattr(data, "node_names", None)
    attribute = getattr(data, "attribute", None) if sensitive == "group" else sensitive
    links = data.edge_index.cpu().numpy().astype(np.int64).T
    return Source(where, size, links, names, values, attribute, side, mirrored=True)


def plain_values(
    group: Any, where: str, size: int, first_side: int
) -> Sequence[object] | np.ndarray:
    """Integers as group numbers (−1 none), anything else as values; padded for a bare side."""
    values = np.asarray(group.cpu() if hasattr(group, "cpu") else group)
    whole = values.ndim == 1 and np.issubdtype(values.dtype, np.integer)
    if values.ndim != 1 or len(values) not in (size, first_side or size):
        raise ValueError(
            f"{where}: the group must hold one value for each of {size} nodes, "
            f"got the shape {values.shape}"
        )
    bare = size - len(values)
    if whole:
        return np.concatenate([values, np.full(bare, -1)]).astype(np.int64)
    return [*values.tolist(), *[None] * bare]
