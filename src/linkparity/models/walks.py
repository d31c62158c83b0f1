"""Random walks on a graph, many at a time, with a choice of how the next node is drawn."""

import numpy as np
import torch
from torch import Tensor

from linkparity.graph.graph import Graph


class Walker:
    r"""Walks whose next step draws a kind of neighbour, then a neighbour of that kind.

    .. math:: P(i \to j) = \frac{1}{|T_i|} \cdot \frac{1}{|N_{t(j)}(i)|}

    with :math:`N_t(i)` the neighbours of i of kind t, and :math:`T_i` the kinds among all of its
    neighbours. Where these are all of one kind, the step is that of a plain random walk.

    Args:
        graph: to walk on.
        kind: ``(n,)`` integers; all equal for plain random walks.
    """

    def __init__(self, graph: Graph, kind: Tensor) -> None:
        here, there = torch.cat([graph.links, graph.links.flip(1)]).numpy().T
        order = np.lexsort([there, kind.numpy()[there], here])
        here, there = here[order], there[order]
        sort = np.stack([here, kind.numpy()[there]])
        new = np.ones(len(here), dtype=bool)
        new[1:] = (sort[:, 1:] != sort[:, :-1]).any(axis=0)
        first = np.flatnonzero(new)
        kinds = np.bincount(here[first], minlength=graph.num_nodes)
        #: ``(2E,)`` neighbours by node and kind.
        self.neighbour = torch.from_numpy(there)
        #: Where each kind of neighbours of a node begins, and where the kinds of each node do.
        self.begin = torch.from_numpy(np.append(first, len(here)))
        self.kinds = torch.from_numpy(kinds)
        self.first_kind = torch.from_numpy(np.cumsum(kinds) - kinds)

    def step(self, here: Tensor, draw: Tensor) -> Tensor:
        """``(W,)`` nodes with a link and ``(2, W)`` random numbers ≥ 0 → ``(W,)`` neighbours."""
        kind = self.first_kind[here] + draw[0] % self.kinds[here]
        begin = self.begin[kind]
        return self.neighbour[begin + draw[1] % (self.begin[kind + 1] - begin)]

    def walk(self, number: int, length: int, generator: torch.Generator) -> Tensor:
        """``(length, W)`` nodes of ``number`` walks from every node that has a link."""
        here = torch.nonzero(self.kinds)[:, 0].repeat(number)
        out = torch.empty(length, len(here), dtype=torch.int64)
        for position in range(length):
            if position:
                draw = torch.empty(2, len(here), dtype=torch.int64).random_(generator=generator)
                here = self.step(here, draw)
            out[position] = here
        return out
