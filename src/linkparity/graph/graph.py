"""Graph: nodes, links, groups, and sides when it is bipartite."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from linkparity.graph import readers, tables
from linkparity.graph.validation import (
    check_group_names,
    check_links,
    check_nodes,
    check_once,
    pair_codes,
    simple_links,
)
from linkparity.reading.groups import (
    NO_GROUP,
    GraphWarning,
    Grouping,
    Unknown,
    apply_unknown,
    check_choice,
    number_groups,
    sides_with_groups,
    take_numbers,
)
from linkparity.support.arrays import whole_number
from linkparity.support.errors import require, warn
from linkparity.support.tensors import integers

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected simple graph whose nodes have groups; bipartite when it has sides.

    >>> Graph(4, [[0, 1], [1, 2], [3, 1]], [0, 1, 2, 2], ("a", "b", "c"))
    Graph(4 nodes, 3 links, group: a 1, b 1, c 2)

    Attributes:
        num_nodes: nodes are 0 … num_nodes − 1.
        links: ``(E, 2)`` int64, each link once; from side 0 to side 1 when bipartite.
        group: ``(num_nodes,)`` int64, −1 for a node without a group.
        group_names: one name per group.
        side: ``(num_nodes,)`` 0 or 1, or None for a graph that is not bipartite.
        names: one id per node exactly as given, or None; distinct within a side.
        attribute: what the groups are groups of, such as ``"age"``.
        unknown_kept: whether a node without a group, on a side that has groups, is one whose group
            is not known, so that its pairs are unconstrained.
    """

    num_nodes: int
    links: Tensor
    group: Tensor
    group_names: tuple[str, ...] = ()
    side: Tensor | None = None
    names: tuple[Hashable, ...] | None = None
    attribute: str | None = None
    unknown_kept: bool = False

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "num_nodes", whole_number(self.num_nodes, "num_nodes", "Graph"))
        links = integers(self.links, "links", "Graph")
        put(self, "links", links if links.numel() else links.reshape(0, 2))
        put(self, "group", integers(self.group, "group", "Graph"))
        if self.side is not None:
            put(self, "side", integers(self.side, "side", "Graph"))
        if self.names is not None:
            put(self, "names", tuple(self.names))
        largest = int(self.group.max()) + 1 if self.group.numel() else 0
        names = self.group_names or tuple(str(g) for g in range(largest))
        check_nodes(self.num_nodes, self.group, self.side, self.names)
        check_group_names(names, largest)
        put(self, "group_names", tuple(names))
        check_links(self.links, self.num_nodes, self.side)
        check_once(self.codes, self.num_nodes)

    @property
    def bipartite(self) -> bool:
        """Whether every link joins side 0 and side 1."""
        return self.side is not None

    @property
    def num_links(self) -> int:
        """Number of links, E."""
        return len(self.links)

    @property
    def num_groups(self) -> int:
        """Number of group names, S."""
        return len(self.group_names)

    @property
    def num_pairs(self) -> int:
        """Number of pairs that can be links: n(n − 1)/2, or side 0 × side 1."""
        if self.side is None:
            return self.num_nodes * (self.num_nodes - 1) // 2
        right = int(self.side.sum())
        return right * (self.num_nodes - right)

    @cached_property
    def codes(self) -> Tensor:
        """``(E,)`` the links as sorted numbers, low end × num_nodes + high end."""
        return torch.sort(pair_codes(self.links, self.num_nodes)).values

    def is_link(self, index: Tensor) -> Tensor:
        """``(P, 2)`` pairs of nodes, in either order → ``(P,)`` bool."""
        wanted = pair_codes(torch.as_tensor(index), self.num_nodes)
        if not len(self.codes):
            return torch.zeros(len(wanted), dtype=torch.bool)
        at = torch.searchsorted(self.codes, wanted).clamp_(max=len(self.codes) - 1)
        return self.codes[at] == wanted

    def pair_groups(self, index: Tensor) -> Tensor:
        """``(P, 2)`` pairs of nodes → ``(P, 2)`` their groups, −1 for none.

        With ``unknown_kept`` both are −1 where one of the groups is not known.
        """
        groups = self.group[index]
        if not self.unknown_kept:
            return groups
        side = None if self.side is None else self.side.numpy()
        lost = (self.group < 0) & torch.from_numpy(sides_with_groups(self.group.numpy(), side))
        return torch.where(lost[index].any(dim=1, keepdim=True), NO_GROUP, groups)

    def degree(self) -> Tensor:
        """``(num_nodes,)`` number of links of each node."""
        return torch.bincount(self.links.reshape(-1), minlength=self.num_nodes)

    def adjacency(self) -> "csr_matrix":
        """Symmetric ``(num_nodes, num_nodes)`` scipy matrix of ones."""
        from scipy.sparse import csr_matrix

        a, b = self.links.numpy().T
        rows, columns = np.concatenate([a, b]), np.concatenate([b, a])
        shape = (self.num_nodes, self.num_nodes)
        return csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)

    def subgraph(self, keep: Tensor) -> "Graph":
        """The nodes where ``keep (num_nodes,)`` is True, and the links among them."""
        keep = torch.as_tensor(keep, dtype=torch.bool)
        number = torch.cumsum(keep, dim=0) - 1
        inside = keep[self.links].all(dim=1)
        kept = None
        if self.names is not None:
            kept = tuple(compress(self.names, keep.tolist()))
        return Graph(
            int(keep.sum()),
            number[self.links[inside]],
            self.group[keep],
            self.group_names,
            None if self.side is None else self.side[keep],
            kept,
            self.attribute,
            self.unknown_kept,
        )

    def __repr__(self) -> str:
        sizes = torch.bincount(self.group + 1, minlength=self.num_groups + 1).tolist()
        groups = [f"{n} {c:,}" for n, c in zip(self.group_names, sizes[1:], strict=True)]
        if sizes[0]:
            groups.append(f"none {sizes[0]:,}")
        kind = ", bipartite" if self.bipartite else ""
        return (
            f"Graph({self.num_nodes:,} nodes, {self.num_links:,} links{kind}, "
            f"{self.attribute or 'group'}: {', '.join(groups)})"
        )

    @classmethod
    def from_frames(
        cls,
        links: Any,
        nodes: Any = None,
        sensitive: str | Sequence[str] | None = None,
        *,
        unknown: Unknown = "error",
        bipartite: bool = False,
    ) -> "Graph":
        """Links and nodes as pandas or polars tables, or as any stream of Arrow batches.

        Ids are compared as in :func:`linkparity.audit`: as text where columns have two types.
        ``links`` has the columns ``source, target`` (or, if neither is there, its first two),
        ``nodes`` has ``node`` (or the first column that is no attribute) and the column
        ``sensitive``; several columns are crossed. ``source``, ``target`` and ``node`` may be in
        any case. Nodes are in the order of ``nodes``, then of ``links``. When ``bipartite``,
        sources are side 0 and targets side 1; ``nodes`` describes both, or only the sources if it
        holds no target or if an id is both a source and a target. A target that ``nodes`` does not
        describe then has no group; any other node without a value is ``unknown``, see
        :func:`~linkparity.reading.groups.number_groups`. A
        :class:`~linkparity.reading.groups.GraphWarning` says where a side had to be guessed.
        """
        raw = tables.read_frames(links, nodes, sensitive, unknown, bipartite)
        return cls.from_raw(raw, unknown)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        sensitive: str | None = None,
        *,
        unknown: Unknown = "error",
        bipartite: bool = False,
    ) -> "Graph":
        """A networkx graph; ``sensitive`` names a node attribute, directions are ignored."""
        return cls.from_raw(readers.read_networkx(graph, sensitive, bipartite), unknown)

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        sensitive: str | None = "group",
        *,
        unknown: Unknown = "error",
        group_names: Sequence[str] = (),
    ) -> "Graph":
        """A PyTorch Geometric ``Data``; ``sensitive`` names a field with one value per node.

        Values are read as by :meth:`from_scipy`. If :meth:`to_pyg` made the ``Data``, the field
        ``group`` keeps its names and its attribute.
        """
        own = getattr(data, "group_names", None) if sensitive == "group" else None
        return cls.from_raw(readers.read_pyg(data, sensitive), unknown, group_names or own or ())

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        group: Any = None,
        *,
        unknown: Unknown = "error",
        bipartite: bool = False,
        group_names: Sequence[str] = (),
        attribute: str | None = None,
    ) -> "Graph":
        """A matrix, sparse or dense, whose nonzeros are links: adjacency, or sources × targets.

        ``group`` holds one value per node, or one per source if targets have no groups. Integers
        are group numbers, see :func:`~linkparity.reading.groups.take_numbers`: −1 is no group,
        which ``unknown`` can turn into a group or drop. Other values are numbered in the order of
        ``group_names``.
        """
        raw = readers.read_scipy(matrix, group, attribute, bipartite)
        return cls.from_raw(raw, unknown, group_names)

    @classmethod
    def from_raw(
        cls, raw: readers.RawGraph, unknown: Unknown, group_names: Sequence[str] = ()
    ) -> "Graph":
        """Merge the links and number the values of what :mod:`linkparity.graph.readers` read."""
        check_choice("unknown", unknown, raw.caller)
        side = None if raw.side is None else torch.from_numpy(raw.side)
        links, loops = simple_links(torch.from_numpy(raw.links), raw.num_nodes, side)
        merged = len(raw.links) - loops - len(links)
        if loops or (merged and not raw.mirrored):
            problem = f"{loops:,} self-loops left out, {merged:,} repeated links merged"
            warn(GraphWarning, problem, caller=raw.caller)
        check_group_names(group_names, 0)
        values, names = raw.values, tuple(group_names)
        if values is None:
            found = Grouping.of(np.full(raw.num_nodes, NO_GROUP), names)
        elif raw.group_names:
            known = Grouping.of(np.asarray(values), raw.group_names)
            found = apply_unknown(known, unknown, raw.side, caller=raw.caller)
        elif isinstance(values, np.ndarray):
            found = take_numbers(values, unknown, raw.side, names, raw.caller)
        else:
            found = number_groups(values, unknown, "", raw.side, names, caller=raw.caller)
        ids = None if raw.names is None else tuple(raw.names)
        group = torch.from_numpy(found.group)
        kept = unknown == "keep"
        graph = cls(raw.num_nodes, links, group, found.names, side, ids, raw.attribute, kept)
        return graph if found.keep.all() else graph.subgraph(torch.from_numpy(found.keep))

    def to_pyg(self) -> Any:
        """A PyTorch Geometric ``Data`` that holds each link in both directions."""
        data = require("torch_geometric.data", "Graph.to_pyg")
        extra: dict[str, Any] = {"group_names": list(self.group_names)}
        for name, value in (("side", self.side), ("attribute", self.attribute)):
            if value is not None:
                extra[name] = value
        if self.names is not None:
            extra["node_names"] = list(self.names)
        both = torch.cat([self.links, self.links.flip(1)]).T.contiguous()
        return data.Data(edge_index=both, num_nodes=self.num_nodes, group=self.group, **extra)
