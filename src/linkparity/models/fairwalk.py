"""DeepWalk and Fairwalk: random walks, their skip-gram embeddings, and a decoder of pairs."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from linkparity.graph.graph import Graph
from linkparity.models.base import LinkModel
from linkparity.models.skip_gram import Corpus, SkipGram, check_node_count, fit_skip_gram
from linkparity.models.training.loop import gradient_steps
from linkparity.models.training.objective import Epoch, Objective, Settings


class DeepWalk(LinkModel):
    r"""Nodes that random walks visit together are near; a decoder turns this into logits.

    .. math:: x_{ij} = b + \sum_k w_k \frac{z_{ik} z_{jk}}{\overline{z_k^2}}

    The walks and the skip-gram loss give z. Then w and b are trained with z fixed, on the same
    pairs and the same objective as every other model, so that probabilities have the same meaning;
    with a criterion, the regularizer acts on w and b. A node without a link has no walk, and keeps
    the vector near 0 that it started from.
    """

    dimension = 128
    lr = 0.05
    corpus = Corpus()
    z: Tensor

    def __init__(self, graph: Graph, dimension: int = 128, *, generator: torch.Generator) -> None:
        super().__init__()
        drawn = torch.rand(graph.num_nodes, dimension, generator=generator, dtype=torch.float32)
        self.register_buffer("z", (drawn - 0.5) / dimension)
        self.weight = nn.Parameter(torch.full((dimension,), 1 / dimension))
        self.bias = nn.Parameter(torch.zeros(1))

    def factors(self) -> tuple[Tensor, Tensor]:
        """``(n, dimension + 1)``: weighted embeddings and the bias, embeddings and one."""
        weight = self.weight / self.z.square().mean(dim=0)
        bias = self.bias.expand(len(self.z), 1)
        left = torch.cat([self.z * weight, bias], dim=1)
        return left, torch.cat([self.z, torch.ones_like(bias)], dim=1)

    def embedding(self) -> Tensor:
        """``(n, dimension)``."""
        return self.z

    def steps(self, graph: Graph, objective: Objective, settings: Settings) -> Iterator[Epoch]:
        """Walk and embed, then train the decoder: one row per epoch of the latter."""
        if settings.epochs != 0:
            self._embed(graph, settings.generator)
        yield from gradient_steps(self, graph, objective, settings)

    def _embed(self, graph: Graph, generator: torch.Generator) -> None:
        check_node_count(graph.num_nodes)
        walker = Walker(graph, self.kind_of_nodes(graph))
        walks = walker.walk(self.corpus.walks, self.corpus.length, generator)
        skip_gram = SkipGram.of(walks, graph.num_nodes, self.corpus)
        fit_skip_gram(skip_gram, self.z, torch.zeros_like(self.z))

    def kind_of_nodes(self, graph: Graph) -> Tensor:
        """``(n,)`` what a walk chooses the next node by, before it chooses the node."""
        return torch.zeros_like(graph.group)


class Fairwalk(DeepWalk):
    """DeepWalk whose walks choose among the groups of a node's neighbours with equal chances.

    Nodes without a group count as one more group.
    """

    def kind_of_nodes(self, graph: Graph) -> Tensor:
        """The groups."""
        return graph.group


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
