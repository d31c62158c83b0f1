"""Hold out links and non-links for testing; every test node also has a training link."""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from numbers import Real

import numpy as np
import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.graph.pairs import Pairs, PairSpace, sample_nonlinks, weighted_pairs
from linkparity.support.arrays import check_seed
from linkparity.support.display import counted
from linkparity.support.errors import InputError, InputWarning, warn
from linkparity.support.randomness import random_order

CALLER = "split_links"


class SplitWarning(InputWarning):
    """The split differs from what was requested; the message says how."""


@dataclass(frozen=True)
class Split:
    """A graph to train on, with all nodes, and pairs to test on.

    Attributes:
        train: the graph without the held-out links.
        test: held-out links (weight 1), then as many non-links (weight all ÷ sampled).
    """

    train: Graph
    test: Pairs


def split_links(graph: Graph, test: float = 0.2, seed: int = 0) -> Split:
    r"""Hold out :math:`E - \lfloor (1 - test) E \rfloor` links and as many distinct non-links.

    A random depth-first spanning forest stays in train, so that every node with a link keeps one
    and components stay connected. If the forest needs more than ``1 − test`` of the links, a small
    edge cover stays in train instead, with a :class:`SplitWarning`; it counts the held-out links
    if they are fewer than requested.
    Test non-links join nodes that have a link, are not links of ``graph``, and respect its sides;
    each weighs all such non-links ÷ the sampled ones. The split depends on the set of links and
    the seed, not on the order of the links.

    >>> from linkparity.datasets import load
    >>> split = split_links(load("polblogs"), test=0.2, seed=0)
    >>> split.test
    Pairs(6,686 pairs, 3,343 links, weight 732,660)
    """
    wanted = _count(graph, test)
    generator = torch.Generator().manual_seed(check_seed(seed, "seed", CALLER))
    codes = graph.codes
    links = torch.stack([codes // graph.num_nodes, codes % graph.num_nodes], dim=1)
    order = random_order(len(links), generator)
    kept = _spanning_forest(links, order, graph.num_nodes)
    if len(links) - int(kept.sum()) < wanted:
        kept = _cover(links, order, graph.num_nodes)
        wanted = _warn_of_cover(graph, wanted, len(links) - int(kept.sum()))
    free = order[~kept[order]]
    held = torch.zeros(len(links), dtype=torch.bool)
    held[free[len(free) - wanted :]] = True
    if graph.side is not None:
        links = torch.where((graph.side[links[:, 0]] == 1)[:, None], links.flip(1), links)
    space = PairSpace(graph, graph.degree() > 0)
    if space.num_nonlinks < wanted:
        raise InputError(
            f"{wanted:,} test links need as many non-links, but only {space.num_nonlinks:,} of "
            f"{space.size:,} pairs are non-links, so the graph is too dense",
            "use a smaller {test=}" if space.num_nonlinks else "give a graph with non-links",
            caller=CALLER,
        )
    nonlinks = sample_nonlinks(space, wanted, generator)
    train = replace(graph, links=links[~held])
    return Split(train, weighted_pairs(links[held], nonlinks, space))


def _count(graph: Graph, test: float) -> int:
    if not isinstance(test, Real) or not 0 < test < 1:
        problem = f"must lie strictly between 0 and 1, got {test!r}"
        fix = "0.2 holds out a fifth of the links"
        raise InputError(problem, fix, argument="test", caller=CALLER)
    if graph.num_links < 2:
        problem = f"a graph of {counted(graph.num_links, 'link')} is too small to split"
        fix = "it needs at least 2, so that some stay in train"
        raise InputError(problem, fix, caller=CALLER)
    # As a decimal fraction: 1 − 0.9 of 10 links is 1 link, though not in floating point.
    return graph.num_links - int((1 - Fraction(str(test))) * graph.num_links)


def _spanning_forest(links: Tensor, order: Tensor, num_nodes: int) -> Tensor:
    """``(E,)`` bool: a depth-first forest, neighbours visited in a random order of the nodes.

    Depth first, as in the split of the paper's authors: such trees are long and use few links of
    hubs. Other trees keep these out of the test set, and with them the pairs that are easy to rank.
    Nodes are ordered by their first link in ``order``. An extra node leads to all others, so that
    one search reaches every component; its result is unique for a given order.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import depth_first_order

    ends = _rank_by_first_link(links[order], num_nodes)[links.numpy()]
    extra = np.stack([np.full(num_nodes, num_nodes), np.arange(num_nodes)], axis=1)
    every = np.concatenate([ends, ends[:, ::-1], extra])
    shape = (num_nodes + 1, num_nodes + 1)
    graph = csr_matrix((np.ones(len(every)), (every[:, 0], every[:, 1])), shape)
    graph.sort_indices()
    _, parent = depth_first_order(graph, num_nodes, directed=True)
    kept = (parent[ends[:, 0]] == ends[:, 1]) | (parent[ends[:, 1]] == ends[:, 0])
    return torch.from_numpy(kept)


def _rank_by_first_link(links: Tensor, num_nodes: int) -> np.ndarray:
    """``(num_nodes,)`` rank of each node by its first link; nodes without a link come last."""
    flat = links.numpy().reshape(-1)
    first = np.full(num_nodes, len(flat))
    np.minimum.at(first, flat, np.arange(len(flat)))
    rank = np.empty(num_nodes, dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(num_nodes)
    return rank


def _cover(links: Tensor, order: Tensor, num_nodes: int) -> Tensor:
    """``(E,)`` bool: a small edge cover, links that together reach every node that has one.

    Match nodes in pairs, add one link for each unmatched node, and remove links both of whose ends
    are covered by others. The cover is minimal, the smallest possible on a forest, and close to it
    on the sparse graphs that need one.
    """
    ends = links[order].numpy()
    node, other = np.concatenate([ends, ends[:, ::-1]]).T
    by_node = np.argsort(node, kind="stable")
    start = np.searchsorted(node[by_node], np.arange(num_nodes + 1))
    mate = _match(ends, other[by_node].tolist(), start.tolist())
    chosen = mate[ends[:, 0]] == ends[:, 1]
    left_over = (mate < 0) & (start[1:] > start[:-1])
    chosen[by_node[start[:-1][left_over]] % len(ends)] = True
    reached = np.bincount(ends[chosen].reshape(-1), minlength=num_nodes)
    chosen &= (reached[ends] == 1).any(axis=1)
    kept = torch.zeros(len(links), dtype=torch.bool)
    kept[order] = torch.from_numpy(chosen)
    return kept


def _match(ends: np.ndarray, near: list[int], start: list[int]) -> np.ndarray:
    """``(n,)`` the node that each is matched with, −1 for none; nodes with one choice go first.

    Node i has the neighbours ``near[start[i]:start[i + 1]]``.
    """
    free = [high - low for low, high in pairwise(start)]
    mate = [-1] * len(free)
    forced = [node for node, count in enumerate(free) if count == 1]
    for link in ends.tolist():
        while forced or mate[link[0]] == mate[link[1]] == -1:
            first, second = link
            if forced:
                first = forced.pop()
                if mate[first] >= 0 or not free[first]:
                    continue
                around = near[start[first] : start[first + 1]]
                second = next(node for node in around if mate[node] < 0)
            mate[first], mate[second] = second, first
            for end in (first, second):
                for node in near[start[end] : start[end + 1]]:
                    free[node] -= 1
                    if free[node] == 1 and mate[node] < 0:
                        forced.append(node)
    return np.array(mate)


def _warn_of_cover(graph: Graph, wanted: int, possible: int) -> int:
    if not possible:
        raise InputError(
            f"none of the {graph.num_links:,} links can be held out without a node unseen in "
            "training",
            "the graph is too small or too sparse to split",
            caller=CALLER,
        )
    held = min(wanted, possible)
    count = f"{held:,} of the {wanted:,} wanted links are held out"
    warn(
        SplitWarning,
        "a spanning forest needs more links than are left to train on, so only one train link per "
        "node is kept",
        count if held < wanted else "components may become disconnected",
        caller=CALLER,
    )
    return held
