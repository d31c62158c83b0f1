"""FLIP: skip-gram embeddings that predict links, against an adversary that tells groups apart."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, leaky_relu

from linkparity.criteria.constrained_group_pairs import cell_table, possible_pairs
from linkparity.graph.graph import Graph
from linkparity.models.base import LinkModel, group_cells
from linkparity.models.fairwalk import Walker
from linkparity.models.gae import glorot
from linkparity.models.skip_gram import Corpus, SkipGram, check_node_count
from linkparity.models.training.loop import Adam, Processes, adam_steps, backward_step
from linkparity.models.training.objective import (
    Epoch,
    Objective,
    Settings,
    pair_weights,
    parity_weights,
)
from linkparity.models.training.sampled import SampledBatch, SampledPairs
from linkparity.support.errors import InputError

#: Steps of each player in an epoch, on as many parts of the training pairs.
BATCHES = 20
#: Weight of the predictor's loss in that of the embeddings.
PREDICTOR_WEIGHT = 0.2


class Flip(LinkModel):
    r"""Three players on one table of embeddings u.

    .. math:: x_{ij} = \tfrac12 [P(u_i, u_j) + P(u_j, u_i)], \qquad
              P(a, b) = w \cdot \mathrm{leaky}(W_1 a + W_2 b + c) + w_0

    The predictor P minimises the cross-entropy of links, an adversary D of the same form the
    cross-entropy of whether two nodes are of one group; the embeddings, and the context vectors of
    skip-gram, minimise

    .. math:: (1 - \beta)\, L_{\text{skip-gram}} - \beta\, \mathrm{bce}(D)
              + 0.2\, \mathrm{bce}(P)

    each by a step of Adam in turn. ``strength`` is β, between 0 and 1; at 0 there is no adversary.
    Pairs and weights of the cross-entropy are those of every other model; a regularizer is added to
    the losses of predictor and embeddings.

    Masrour et al. (2020), *Bursting the Filter Bubble: Fairness-Aware Network Link Prediction*.

    Args:
        graph: to learn from.
        dimension: of u, and of the hidden layers.
        generator: source of randomness.
        cells: what the adversary tells apart: ``"weak-dp"``, pairs within groups from pairs between
            them, or ``"dp"``, the pairs of groups; by default the former where there are both. A
            pair without a cell is not shown to it.
        strength: β.
    """

    dimension = 128
    lr = 0.01
    epochs = 5
    strength = 0.1
    corpus = Corpus(walks=10, window=9, power=0.5, subsample=1e-4)

    def __init__(
        self,
        graph: Graph,
        dimension: int = 128,
        *,
        generator: torch.Generator,
        cells: Literal["dp", "weak-dp", None] = None,
        strength: float = 0.1,
    ) -> None:
        super().__init__()
        self.check_strength(strength)
        self.strength = strength
        drawn = torch.rand(graph.num_nodes, dimension, generator=generator, dtype=torch.float32)
        self.u = nn.Parameter((2 * drawn - 1) / dimension)
        self.context = nn.Parameter(torch.zeros(graph.num_nodes, dimension))
        self.predictor = Player(dimension, 1, generator)
        pairs = possible_pairs(graph.group, graph.side)
        cell = group_cells(graph, pairs, cells, "flip", strength)
        self.cell = cell_table(pairs, cell, graph.num_groups)
        unused = torch.Generator()  # without an adversary, nothing depends on the groups
        outputs = int(cell.max()) + 1 if len(cell) else 0
        self.adversary = Player(dimension, outputs, generator if strength else unused)

    @classmethod
    def check_strength(cls, strength: float) -> None:
        """β lies between 0 and 1."""
        if not 0 <= strength <= 1:
            problem = f"must lie between 0 and 1 for flip, got {strength:g}"
            raise InputError(problem, argument="strength", caller="flip")

    def forward(self, index: Tensor) -> Tensor:
        """``(P, 2)`` pairs of nodes → ``(P,)`` logits."""
        logits: Tensor = self.predictor(self.u, index)
        return logits[:, 0]

    def embedding(self) -> Tensor:
        """``(n, dimension)``."""
        return self.u

    def steps(self, graph: Graph, objective: Objective, settings: Settings) -> Iterator[Epoch]:
        """Steps of the adversary, the predictor and the embeddings in turn, part by part."""
        pairs = _Players(self, graph, objective, settings)
        for row in adam_steps(self, pairs, objective, settings):
            yield Epoch(*row, extra={"adversary": pairs.adversary_loss})

    def guess(self, u: Tensor, index: Tensor, group: Tensor) -> Tensor:
        """Cross-entropy of the adversary on the pairs that have a cell; 0 if none has."""
        first, second = group[index].T
        cell = self.cell[first, second]
        known = cell >= 0
        if not known.any():
            return u.new_zeros(())
        return cross_entropy(self.adversary(u, index[known]), cell[known])


class Player(nn.Module):
    """A network of one hidden layer on two vectors, the same in either order.

    Args:
        dimension: of the vectors and of the hidden layer.
        outputs: number of logits.
        generator: source of randomness.
    """

    def __init__(self, dimension: int, outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        self.hidden = glorot(2 * dimension, dimension, generator)
        self.hidden_bias = nn.Parameter(torch.zeros(dimension))
        self.out = glorot(dimension, outputs, generator)
        self.out_bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, u: Tensor, index: Tensor) -> Tensor:
        """``(n, d)`` vectors and ``(P, 2)`` pairs → ``(P, outputs)`` means over both orders."""
        first, second = index.T
        one, two = (u @ part for part in self.hidden.chunk(2))
        two = two + self.hidden_bias
        both = leaky_relu(one[first] + two[second], 0.2) + leaky_relu(one[second] + two[first], 0.2)
        return both @ (self.out / 2) + self.out_bias


class _Players:
    """Training pairs in parts; a part comes with a step of the adversary and of the predictor."""

    def __init__(self, model: Flip, graph: Graph, objective: Objective, settings: Settings) -> None:
        self.objective, self.group = objective, graph.group
        self.lr = model.lr if settings.lr is None else settings.lr
        self.players = [Adam(p.parameters(), self.lr) for p in (model.adversary, model.predictor)]
        self.strength, self.adversary_loss = float(model.strength or 0), 0.0
        rows = graph.num_nodes if graph.side is None else int((graph.side == 0).sum())
        criterion, weights = objective.criterion, pair_weights(graph, settings.negatives)
        self.pairs = SampledPairs(
            graph, settings.negatives, criterion, settings.generator, Processes(),
            parity_weights(settings.pairs, criterion, weights), max(1, -(-rows // BATCHES)),
        )  # fmt: skip
        check_node_count(graph.num_nodes)
        walker = Walker(graph, torch.zeros_like(graph.group))
        walks = walker.walk(model.corpus.walks, model.corpus.length, settings.generator)
        self.skip_gram = SkipGram.of(walks, graph.num_nodes, model.corpus)

    def __len__(self) -> int:
        return len(self.pairs)

    def score(self, model: LinkModel, batch: int) -> "_EmbeddingBatch":
        """Steps of the adversary and of the predictor; the batch of the embeddings' step."""
        assert isinstance(model, Flip)
        adversary, predictor = self.players
        drawn = self.pairs.score(model, batch)
        if self.strength:
            loss = model.guess(model.u.detach(), drawn.index, self.group)
            self.adversary_loss = float(loss.detach())
            if loss.requires_grad:
                torch.autograd.backward(loss)
                adversary.step()
        backward_step(drawn, self.objective, batch, self.lr)
        predictor.step()
        model.zero_grad()
        return _EmbeddingBatch(self, model, drawn)

    def keep_links(self, kept: Tensor) -> None:
        """Leave the links where ``kept (E,)`` is False out of the fit."""
        self.pairs.keep_links(kept)


class _EmbeddingBatch(SampledBatch):
    """Drawn pairs whose gradient reaches the embeddings and the context vectors alone."""

    def __init__(self, players: _Players, model: Flip, drawn: SampledBatch) -> None:
        cells = drawn.local if drawn.cells is not None else None
        super().__init__(model, drawn.index, drawn.label, cells, drawn.processes)
        self.players, self.model = players, model

    def backward(self, gamma: float, tilt: np.ndarray | None, fit: float = 1.0) -> None:
        """Add the gradient of the embeddings' loss."""
        strength, model = self.players.strength, self.model
        super().backward(gamma, tilt, fit * PREDICTOR_WEIGHT)
        if strength:
            loss = self.model.guess(model.u, self.index, self.players.group)
            if loss.requires_grad:
                torch.autograd.backward(-strength * loss)
        with torch.no_grad():
            by_u, by_context = self.players.skip_gram.gradients(model.u, model.context)
        assert model.u.grad is not None
        model.u.grad += (1 - strength) * by_u
        model.context.grad = (1 - strength) * by_context
        for player in (model.adversary, model.predictor):
            player.zero_grad()
