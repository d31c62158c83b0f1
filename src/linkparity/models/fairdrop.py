"""FairDrop: GAE trained on random subgraphs in which links between groups are more frequent."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.models.base import LinkModel
from linkparity.models.gae import GAE, SparseMatrix, normalised_adjacency
from linkparity.models.own_losses import ParityInUse
from linkparity.models.training.loop import adam_steps, training_pairs
from linkparity.models.training.objective import Epoch, Objective, PairSet, ScoredBatch, Settings
from linkparity.reading.groups import NO_GROUP
from linkparity.support.errors import InputError

#: Epochs that are trained on one subgraph.
REDRAW = 10


class FairDrop(GAE):
    r"""GAE on a graph that keeps about half of the links, those between groups rather than others.

    .. math:: P(\text{keep } ij) = \begin{cases} \tfrac12 + \delta & g(i) \ne g(j) \\
              \tfrac12 - \delta & g(i) = g(j) \end{cases}

    ``strength`` is δ, between 0 and ½: at 0 every link is kept with probability ½, whatever its
    groups, and at ½ only links between groups are. A link with an end that has no group is kept
    with probability ½. Every ten epochs the links are drawn anew; a dropped link is neither in the
    convolutions nor in the cross-entropy. In use, the convolutions are over the whole graph, and a
    regularizer acts on the logits in use.

    Spinelli et al. (2021), *FairDrop: Biased Edge Dropout for Enhancing Fairness in Graph
    Representation Learning*.
    """

    epochs = 200
    strength = 0.16

    def __init__(
        self,
        graph: Graph,
        dimension: int = 16,
        *,
        generator: torch.Generator,
        hidden: int = 16,
        features: object = None,
        strength: float = 0.16,
    ) -> None:
        super().__init__(graph, dimension, generator=generator, hidden=hidden, features=features)
        self.check_strength(strength)
        self.strength = strength
        #: The matrix of the kept links, which training uses.
        self.kept_spread = self.spread

    @classmethod
    def check_strength(cls, strength: float) -> None:
        """δ lies between 0 and ½."""
        if not 0 <= strength <= 0.5:
            problem = f"must lie between 0 and 0.5 for fairdrop, got {strength:g}"
            raise InputError(problem, argument="strength", caller="fairdrop")

    def embedding(self) -> Tensor:
        """``(n, dimension)``, by the kept links in training and by all of them in use."""
        return self.embed(self.kept_spread if self.training else self.spread)

    def steps(self, graph: Graph, objective: Objective, settings: Settings) -> Iterator[Epoch]:
        """Adam, on the pairs of a new subgraph every :data:`REDRAW` epochs."""
        keep = keep_chance(graph, float(self.strength or 0))
        pairs: PairSet = _Subgraphs(self.eval(), graph, keep, settings)
        if objective.regularizer is not None:
            pairs = ParityInUse(pairs, training_pairs(self, graph, objective, settings))
        return adam_steps(self, pairs, objective, settings)


def keep_chance(graph: Graph, strength: float) -> Tensor:
    """``(E,)`` probability that each link is kept.

    >>> graph = Graph(4, [[0, 1], [0, 2], [2, 3]], [0, 0, 1, -1])
    >>> keep_chance(graph, 0.25).tolist()
    [0.25, 0.75, 0.5]
    """
    first, second = graph.group[graph.links].T
    known = (first != NO_GROUP) & (second != NO_GROUP)
    bias = torch.where(first == second, -strength, strength)
    chance = torch.where(known, bias, 0.0) + 0.5
    if strength and len(chance) and len(torch.unique(chance)) == 1:
        kind = "between groups" if bool((first == second).all()) else "within groups"
        kind = kind if known.any() else "whose two ends have a group"
        raise InputError(
            f"needs links {kind}, and this graph has none",
            "take a strength of 0, which drops links whatever their groups, or another model",
            where="fairdrop",
        )
    return chance


class _Subgraphs:
    """The training pairs of a graph without the dropped links, drawn anew in :data:`REDRAW` epochs.

    Args:
        model: that uses the matrix of the kept links.
        graph: to draw from.
        keep: ``(E,)`` probability that each link is kept.
        settings: of the training.
    """

    def __init__(self, model: FairDrop, graph: Graph, keep: Tensor, settings: Settings) -> None:
        self.model, self.graph, self.keep = model, graph, keep
        self.generator, self.epoch = settings.generator, 0
        self.pairs = training_pairs(model, graph, Objective(), settings)

    def __len__(self) -> int:
        return len(self.pairs)

    def score(self, model: LinkModel, batch: int) -> ScoredBatch:
        """The model's logits on one batch of pairs."""
        if batch == 0:
            if self.epoch % REDRAW == 0:
                self.draw()
            self.epoch += 1
        return self.pairs.score(model, batch)

    def draw(self) -> None:
        """Draw which links are kept, for the convolutions and for the pairs."""
        kept = torch.rand(self.graph.num_links, generator=self.generator) < self.keep
        part = replace(self.graph, links=self.graph.links[kept])
        self.model.kept_spread = SparseMatrix(normalised_adjacency(part))
        self.keep_links(kept)

    def keep_links(self, kept: Tensor) -> None:
        """Leave the links where ``kept (E,)`` is False out of the fit."""
        self.pairs.keep_links(kept)
