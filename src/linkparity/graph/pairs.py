"""Pairs of nodes with labels and weights: sampled, or every pair in blocks."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.support.errors import InputError
from linkparity.support.randomness import random_distinct
from linkparity.support.tensors import check_labels, check_weights, integers

BLOCK = 2**20


@dataclass(frozen=True, eq=False, repr=False)
class Pairs:
    """Pairs of nodes with labels, and weights: the number of pairs that each represents.

    >>> Pairs([[0, 1], [2, 0]], [1, 0])
    Pairs(2 pairs, 1 links, weight 2)

    Attributes:
        index: ``(P, 2)`` int64 nodes.
        label: ``(P,)`` int64, 1 for a link, 0 for a non-link.
        weight: ``(P,)`` float64, at least 0; ones when not given.
    """

    index: Tensor
    label: Tensor
    weight: Tensor = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        index = integers(self.index, "index", "Pairs")
        index = index if index.numel() else index.reshape(0, 2)
        if index.ndim != 2 or index.shape[1] != 2:
            problem = f"must have the shape (P, 2), got {tuple(index.shape)}"
            fix = "give the two nodes of each pair"
            raise InputError(problem, fix, argument="index", caller="Pairs")
        wrong = (index[:, 0] == index[:, 1]) | (index < 0).any(dim=1)
        if bool(wrong.any()):
            row = int(torch.nonzero(wrong)[0, 0])
            problem = f"row {row} holds {index[row].tolist()}"
            raise InputError(problem, "give two different nodes numbered from 0", caller="Pairs")
        label = check_labels(self.label, len(index), "label", "Pairs")
        weight = torch.ones(len(index), dtype=torch.float64)
        if self.weight is not None:
            weight = check_weights(self.weight, len(index), "weight", "Pairs")
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "label", label.to("cpu", torch.int64, copy=True))
        object.__setattr__(self, "weight", weight.to("cpu", torch.float64, copy=True))

    def __len__(self) -> int:
        return len(self.index)

    def __repr__(self) -> str:
        links, total = int(self.label.sum()), float(self.weight.sum())
        return f"Pairs({len(self):,} pairs, {links:,} links, weight {total:,.0f})"


class PairSpace:
    """The pairs of a graph that can be links, numbered 0 … size − 1 row by row.

    A pair joins two of ``nodes``, from side 0 to side 1 when bipartite, else the lower node first.
    Uses integers only, so it is exact for any size.

    Args:
        graph: the graph.
        nodes: ``(num_nodes,)`` bool mask of the nodes to use; all by default.
    """

    def __init__(self, graph: Graph, nodes: Tensor | None = None) -> None:
        every = torch.arange(graph.num_nodes)
        inside = torch.ones(graph.num_nodes, dtype=torch.bool) if nodes is None else nodes
        self.bipartite = graph.bipartite
        if graph.side is None:
            self.rows = self.columns = every[inside]
        else:
            self.rows = every[inside & (graph.side == 0)]
            self.columns = every[inside & (graph.side == 1)]
        self.position = torch.empty(graph.num_nodes, dtype=torch.int64)
        self.position[self.rows] = torch.arange(len(self.rows))
        self.position[self.columns] = torch.arange(len(self.columns))
        row = torch.arange(len(self.rows))
        width = len(self.columns)
        self.start = row * width if self.bipartite else row * (2 * width - row - 1) // 2
        self.size = len(row) * width if self.bipartite else width * (width - 1) // 2
        self.links = torch.sort(self.number(graph.links[inside[graph.links].all(dim=1)])).values

    @property
    def num_nonlinks(self) -> int:
        """Number of pairs that are not links."""
        return self.size - len(self.links)

    def number(self, index: Tensor) -> Tensor:
        """``(P, 2)`` pairs → ``(P,)`` their numbers."""
        first, second = self.position[index[:, 0]], self.position[index[:, 1]]
        if self.bipartite:
            return self.start[first] + second
        low, high = torch.minimum(first, second), torch.maximum(first, second)
        return self.start[low] + high - low - 1

    def pair(self, number: Tensor) -> Tensor:
        """``(P,)`` numbers → ``(P, 2)`` their pairs."""
        row = torch.searchsorted(self.start, number, right=True) - 1
        column = number - self.start[row]
        if not self.bipartite:
            column = column + row + 1
        return torch.stack([self.rows[row], self.columns[column]], dim=1)

    def nonlink(self, rank: Tensor) -> Tensor:
        """``(P,)`` ranks among the non-links, from 0 → ``(P, 2)`` those pairs.

        The i-th link has ``links[i] − i`` non-links before it, so a non-link's number is its rank
        plus the count of links that have no more than ``rank`` non-links before them.
        """
        before = self.links - torch.arange(len(self.links))
        return self.pair(rank + torch.searchsorted(before, rank, right=True))


def sample_nonlinks(space: PairSpace, count: int, generator: torch.Generator) -> Tensor:
    """``(count, 2)`` distinct non-links, drawn uniformly without replacement."""
    if count > space.num_nonlinks:
        raise InputError(
            f"{count:,} distinct non-links wanted, but of {space.size:,} pairs only "
            f"{space.num_nonlinks:,} are not links",
            "sample fewer",
            caller="sample_nonlinks",
        )
    return space.nonlink(random_distinct(count, space.num_nonlinks, generator))


def sample_pairs(graph: Graph, nonlinks: int, generator: torch.Generator) -> Pairs:
    """Every link (weight 1) and ``nonlinks`` distinct non-links (weight all ÷ sampled).

    A weighted sum over the sample is, on average, the sum over every pair of the graph.
    """
    space = PairSpace(graph)
    return weighted_pairs(graph.links, sample_nonlinks(space, nonlinks, generator), space)


def weighted_pairs(links: Tensor, nonlinks: Tensor, space: PairSpace) -> Pairs:
    """Links of weight 1, then non-links that together weigh as much as all those of ``space``."""
    each = space.num_nonlinks / len(nonlinks) if len(nonlinks) else 1.0
    label = torch.zeros(len(links) + len(nonlinks), dtype=torch.int64)
    label[: len(links)] = 1
    weight = torch.full(label.shape, each, dtype=torch.float64)
    weight[: len(links)] = 1
    return Pairs(torch.cat([links, nonlinks]), label, weight)


def all_pairs(graph: Graph, block: int = BLOCK) -> Iterator[Pairs]:
    """Every pair that can be a link, row by row, ``block`` at a time, with weight 1.

    >>> graph = Graph(4, [[0, 1], [2, 3]], [0, 1, 2, 2])
    >>> [(len(pairs), pairs.label.tolist()) for pairs in all_pairs(graph, block=4)]
    [(4, [1, 0, 0, 0]), (2, [0, 1])]
    """
    if block < 1:
        problem = f"must be at least 1 pair, got {block}"
        raise InputError(problem, argument="block", caller="all_pairs")
    space = PairSpace(graph)
    for start in range(0, space.size, block):
        number = torch.arange(start, min(start + block, space.size))
        inside = space.links[(space.links >= start) & (space.links < start + len(number))]
        label = torch.zeros(len(number), dtype=torch.int64)
        label[inside - start] = 1
        yield Pairs(space.pair(number), label)
