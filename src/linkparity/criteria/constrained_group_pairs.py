"""Pairs of groups of a graph: which ones there may be, and which a criterion constrains."""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria.base import Criterion, Layout, ask
from linkparity.criteria.group_pairs import GroupPairs
from linkparity.reading.groups import NO_GROUP, sides_with_groups

if TYPE_CHECKING:
    from linkparity.graph.graph import Graph

#: Up to this many pairs of groups, all are constrained, however few pairs they have.
MAX_SMALL = 100
#: Of more, those with at least this many pairs; links, where the criterion looks at links.
MIN_PAIRS = 100


def possible_pairs(group: Tensor, side: Tensor | None = None) -> Tensor:
    """``(K, 2)`` groups, −1 included, that the ends of a graph's pairs may have.

    Args:
        group: ``(n,)`` group of each node.
        side: ``(n,)`` 0 or 1 in a bipartite graph, whose pairs join the two sides.
    """
    ends = [group, group] if side is None else [group[side == s] for s in (0, 1)]
    return torch.cartesian_prod(*(torch.unique(end) for end in ends))


def possible_kinds(group: Tensor, side: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Groups ``(2 K, 2)`` of :func:`possible_pairs` and labels ``(2 K,)``: no links, then links."""
    pairs = possible_pairs(group, side)
    return pairs.repeat(2, 1), torch.tensor([0, 1]).repeat_interleave(len(pairs))


def cell_table(pairs: Tensor, cell: Tensor, size: int) -> Tensor:
    """``(S + 1, S + 1)`` cell by the groups of the two ends, in either order; −1 is last.

    >>> cell_table(torch.tensor([[0, 1], [1, -1]]), torch.tensor([5, 7]), 2).tolist()
    [[-1, 5, -1], [5, -1, 7], [-1, 7, -1]]
    """
    table = torch.full((size + 1, size + 1), NO_GROUP)
    table[pairs[:, 0], pairs[:, 1]] = table[pairs[:, 1], pairs[:, 0]] = cell
    return table


def graph_criterion(criterion: Criterion, graph: "Graph") -> Criterion:
    """The criterion as training on ``graph`` uses it.

    Pairs with a node of unknown group are unconstrained where the graph keeps such nodes. In a
    graph with more than :data:`MAX_SMALL` pairs of groups, those with fewer than :data:`MIN_PAIRS`
    pairs (links, for a criterion that looks at links) are unconstrained too: their means are those
    of a few pairs, which a model can only move by fitting each of them.
    """
    counted = np.ones((graph.num_groups + 1,) * 2, dtype=bool)
    if graph.unknown_kept:
        counted &= known_group_pairs(graph)
    sizes = group_pair_sizes(graph, links=criterion.needs_labels)
    large = sizes >= MIN_PAIRS
    if np.count_nonzero(np.triu(sizes)) > MAX_SMALL and np.triu(large).sum() > 1:
        counted &= large
    return criterion if counted.all() else Restricted(criterion, counted)


def group_pair_sizes(graph: "Graph", links: bool = False) -> np.ndarray:
    """``(S + 1, S + 1)`` number of pairs, or links, by the groups of the ends; no group is last."""
    size = graph.num_groups + 1
    group = torch.where(graph.group < 0, size - 1, graph.group)
    if links:
        first, second = group[graph.links].T
        found = torch.bincount(first * size + second, minlength=size**2).double().view(size, size)
    else:
        ends = [group, group] if graph.side is None else [group[graph.side == s] for s in (0, 1)]
        found = torch.outer(*(torch.bincount(end, minlength=size).double() for end in ends))
        if graph.side is None:  # each pair of nodes once, none with itself
            found = (found - torch.diag(torch.bincount(group, minlength=size).double())) / 2
    both = (found + found.T).numpy()
    both[np.diag_indices(size)] /= 2
    return both


def known_group_pairs(graph: "Graph") -> np.ndarray:
    """``(S + 1, S + 1)`` False where the group of one end is not known."""
    side = None if graph.side is None else graph.side.numpy()
    has_groups = sides_with_groups(graph.group.numpy(), side)
    known = np.ones((graph.num_groups + 1,) * 2, dtype=bool)
    if has_groups.all():  # else one side has no groups, and the other end's group alone counts
        known[-1, :] = known[:, -1] = False
    return known


class Restricted(Criterion):
    """Another criterion, for training on a graph where some pairs of groups do not count.

    Its attributes are those of the other one, methods and whatever its class adds too.

    Args:
        inner: the criterion.
        counted: ``(S + 1, S + 1)`` bool by the groups of the two ends, symmetric, −1 last: whether
            pairs of these groups are constrained.
    """

    def __init__(self, inner: Criterion, counted: np.ndarray) -> None:
        self.inner, self.counted = inner, counted

    def __getattribute__(self, name: str) -> Any:
        own = name in ("inner", "counted", "layout", "assign") or name.startswith("__")
        return super().__getattribute__(name) if own else getattr(self.inner, name)

    def layout(self, groups: GroupPairs) -> Layout:
        """Cells and constraints of the criterion; cells that do not count stay empty."""
        return self.inner.layout(groups)

    def assign(self, code: np.ndarray, label: np.ndarray, groups: GroupPairs) -> np.ndarray:
        """The cell of the criterion, −1 for pairs of groups that do not count."""
        counted = np.append(self.counted[groups.key[:, 0], groups.key[:, 1]], False)
        return ask(self.inner, np.where(counted[code], code, NO_GROUP), label, groups)
