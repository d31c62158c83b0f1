"""Logits of pairs, and the likeliest partners of each node, block by block."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.graph.pairs import Pairs
from linkparity.models import LinkModel
from linkparity.models.prediction.postprocess import Tilts
from linkparity.models.training.objective import widen
from linkparity.models.training.sampled import pair_products
from linkparity.support.arrays import whole_number
from linkparity.support.errors import InputError
from linkparity.support.tensors import integers

#: Scores held in memory at a time.
BLOCK = 1 << 23
PIECE = 1 << 20
#: How far a logit out of a product of matrices may be from the pair's own.
ROUNDING = 1e-4


class Ranking(NamedTuple):
    """Likeliest partners: nodes in order, and each one's partners from the likeliest on.

    Attributes:
        node: ``(T,)`` int64.
        partner: ``(T,)`` int64.
        logit: ``(T,)`` float64.
    """

    node: np.ndarray
    partner: np.ndarray
    logit: np.ndarray


def pair_logits(model: LinkModel, index: Tensor) -> Tensor:
    """``(P, 2)`` pairs → ``(P,)`` logits, in pieces."""
    return pair_scorer(model)(index)


def pair_scorer(model: LinkModel) -> Callable[[Tensor], Tensor]:
    """The function ``(P, 2)`` pairs → ``(P,)`` logits; factors are computed once."""
    return partial(_logits, model, wide_factors(model))


def wide_factors(model: LinkModel) -> tuple[Tensor, Tensor] | None:
    """The model's factors in 32 bits or more, or None."""
    factors = model.factors()
    return None if factors is None else (widen(factors[0]), widen(factors[1]))


def _logits(model: LinkModel, factors: tuple[Tensor, Tensor] | None, index: Tensor) -> Tensor:
    if factors is not None:
        return pair_products(*factors, index)
    return torch.cat(
        [model(index[low : low + PIECE]) for low in range(0, len(index), PIECE)] or [torch.empty(0)]
    )


def node_numbers(values: object, graph: Graph, argument: str, caller: str) -> Tensor:
    """Whole numbers of any kind as int64, every one a node of ``graph``."""
    found = integers(values, argument, caller)
    if not found.numel():
        return found
    low, high = int(found.min()), int(found.max())
    if low < 0 or high >= graph.num_nodes:
        raise InputError(
            f"no node {low if low < 0 else high} was trained on",
            f"nodes are 0 … {graph.num_nodes - 1}",
            caller=caller,
        )
    return found


def pair_index(pairs: object, graph: Graph, argument: str, caller: str) -> Tensor:
    """``(P, 2)`` node numbers of an array, or of ``Pairs``."""
    given = pairs.index if isinstance(pairs, Pairs) else pairs
    index = node_numbers(given, graph, argument, caller)
    if not index.numel():
        return index.view(0, 2)
    if index.ndim != 2 or index.shape[1] != 2:
        problem = f"must be a (P, 2) array of node numbers, got the shape {tuple(index.shape)}"
        raise InputError(problem, argument=argument, caller=caller)
    return index


def rank_partners(
    model: LinkModel,
    graph: Graph,
    k: int,
    nodes: Tensor,
    tilts: Tilts | None = None,
    held_out: Tensor | None = None,
    on_nodes: Callable[[int], object] = lambda done: None,
) -> Ranking:
    """The ``k`` partners of highest logit for each of ``nodes``, no link of ``held_out (E, 2)``.

    ``on_nodes`` is called with the number of nodes done, block by block.
    """
    k = whole_number(k, "k", "top")
    if k < 1:
        raise InputError(f"must be at least 1, got {k}", argument="k", caller="top")
    rows = max(1, BLOCK // max(graph.num_nodes, 1))
    linked = graph
    if held_out is not None:
        links = torch.cat([graph.links, held_out])
        linked = Graph(graph.num_nodes, links, graph.group, side=graph.side)
    known = linked.adjacency()
    factors = wide_factors(model)
    found = []

    def exact(index: Tensor) -> Tensor:
        logits = _logits(model, factors, index).double()
        return logits if tilts is None else logits + tilts.of(graph.group[index])

    for low in range(0, len(nodes), rows):
        on_nodes(low)
        part = nodes[low : low + rows]
        if factors is None:
            pairs = torch.cartesian_prod(part, torch.arange(graph.num_nodes))
            score = _logits(model, factors, pairs).view(len(part), -1)
        else:
            score = factors[0][part] @ factors[1].T
        score = score.double()
        if tilts is not None:
            score += tilts.between(graph.group[part], graph.group)
        _leave_out(score, part, graph, known)
        found.append(_best(score, part, k, exact))
    parts = zip(*found, strict=True)
    return Ranking(*(np.concatenate(part) for part in parts)) if found else _nothing()


def _leave_out(score: Tensor, part: Tensor, graph: Graph, known: object) -> None:
    """−inf for the node itself, its links, and nodes of its own side."""
    score[torch.arange(len(part)), part] = -torch.inf
    row, column = known[part.numpy()].nonzero()  # type: ignore[index]
    score[torch.from_numpy(row).long(), torch.from_numpy(column).long()] = -torch.inf
    if graph.side is not None:
        score.masked_fill_(graph.side[part][:, None] == graph.side[None, :], -torch.inf)


def _best(
    score: Tensor, part: Tensor, k: int, exact: Callable[[Tensor], Tensor]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k largest of each row; of equal ones those of lower number.

    A product of matrices rounds equal pairs differently, so those near the k-th are scored again.
    """
    least = torch.topk(score, min(k, score.shape[1]), dim=1).values[:, -1:]
    near = least - ROUNDING * (1 + least.abs())
    row, column = torch.nonzero((score >= near) & (score > -torch.inf), as_tuple=True)
    value = exact(torch.stack([part[row], column], dim=1)).numpy()
    order = np.lexsort((column.numpy(), -value, row.numpy()))
    row_, column_, value = row.numpy()[order], column.numpy()[order], value[order]
    first = np.searchsorted(row_, np.arange(len(part)))
    keep = np.arange(len(row_)) - first[row_] < k
    return part.numpy()[row_[keep]], column_[keep], value[keep]


def _nothing() -> Ranking:
    none = np.empty(0, dtype=np.int64)
    return Ranking(none, none, np.empty(0))
