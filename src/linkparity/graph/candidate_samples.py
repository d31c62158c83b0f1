"""Samples of every pair of groups of the candidates: the pairs that are no link of a graph."""

from collections.abc import Iterator

import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.support.randomness import random_distinct


def stratified_candidates(
    graph: Graph, most: int, generator: torch.Generator
) -> Iterator[tuple[Tensor, int]]:
    """For every pair of groups: at most ``most`` distinct candidates, and how many there are.

    Nodes without a group form a group of their own here. Pairs of groups without a candidate are
    left out.
    """
    link_group = graph.group[graph.links]
    values = torch.unique(graph.group).tolist()
    for a, g in enumerate(values):
        for b, h in enumerate(values):
            if graph.side is None and b < a:
                continue
            same = (link_group[:, 0] == g) & (link_group[:, 1] == h)
            if graph.side is None:
                same |= (link_group[:, 0] == h) & (link_group[:, 1] == g)
            rows, columns = (_nodes(graph, each, side) for side, each in enumerate((g, h)))
            triangle = graph.side is None and g == h
            size = len(rows) * (len(rows) - 1) // 2 if triangle else len(rows) * len(columns)
            if size > (links := int(same.sum())):
                number = size - links
                yield _draw(graph, rows, columns, triangle, min(most, number), generator), number


def _nodes(graph: Graph, group: int, side: int) -> Tensor:
    inside = graph.group == group
    if graph.side is not None:
        inside = inside & (graph.side == side)
    return torch.nonzero(inside)[:, 0]


def _draw(
    graph: Graph,
    rows: Tensor,
    columns: Tensor,
    triangle: bool,
    count: int,
    generator: torch.Generator,
) -> Tensor:
    """``(count, 2)`` distinct candidates among ``rows`` × ``columns``, in random order."""
    size, drawn = len(rows) * len(columns), 0
    found = torch.empty(0, 2, dtype=torch.int64)
    while len(found) < count:
        # Twice what is lacking, and all numbers at last: each round sees a fresh random subset.
        drawn = min(size, max(2 * drawn, 4 * count if triangle else 2 * count))
        number = torch.arange(size) if drawn == size else random_distinct(drawn, size, generator)
        found = torch.stack([rows[number // len(columns)], columns[number % len(columns)]], dim=1)
        if triangle:
            found = found[found[:, 0] < found[:, 1]]
        found = found[~graph.is_link(found)]
    return found[random_distinct(count, len(found), generator)]
