"""DeepWalk and Fairwalk: skip-gram embeddings of random walks, and a decoder of pairs."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from linkparity.graph.graph import Graph
from linkparity.models.base import LinkModel
from linkparity.models.skip_gram import Corpus, SkipGram, fit_skip_gram
from linkparity.models.walks import Walker
from linkparity.training.loop import gradient_steps
from linkparity.training.objective import Epoch, Objective, Settings


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
