"""Graphs of other libraries → numbered nodes, links and values, not validated yet."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkparity.reading.groups import NO_GROUP
from linkparity.support.errors import InputError
from linkparity.support.registry import did_you_mean


@dataclass(frozen=True)
class RawGraph:
    """A graph as it was read, before links are merged and values are numbered.

    Attributes:
        caller: the function that was called, for messages.
        num_nodes: number of nodes.
        links: ``(E, 2)`` int64; duplicates, both directions and self-loops are allowed.
        names: one id per node, as given.
        values: one value of the attribute per node, or group numbers as an int64 array.
        group_names: names of these groups, where a number of −1 is an unknown group.
        attribute: its name.
        side: ``(num_nodes,)`` 0 or 1, when bipartite.
        mirrored: whether the format usually holds a link in both directions.
    """

    caller: str
    num_nodes: int
    links: np.ndarray
    names: Sequence[Hashable] | None = None
    values: Sequence[object] | np.ndarray | None = None
    attribute: str | None = None
    side: np.ndarray | None = None
    mirrored: bool = False
    group_names: tuple[str, ...] = ()


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
