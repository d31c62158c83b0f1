"""Adversarial training: a margin loss on links, in turn with discriminators of attributes."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from linkparity.graph.graph import Graph
from linkparity.models.filters import Discriminator
from linkparity.models.training.loop import (
    Adam,
    Diverged,
    Means,
    Processes,
    distance_to_parity,
    training_pairs,
)
from linkparity.models.training.objective import Objective, Settings
from linkparity.reading.groups import NO_GROUP
from linkparity.support.randomness import random_order

if TYPE_CHECKING:
    from linkparity.models.cfc import CFC

#: How much better a link must score than a corrupted one before the loss is 0.
MARGIN = 1.0
#: Steps of the discriminators for one of the embeddings, and ends of links that each step reads.
DISCRIMINATOR_STEPS = 5
READ_ENDS = 256


def margin_loss(links: Tensor, corrupted: Tensor) -> Tensor:
    r"""Mean of :math:`\max(0, 1 - x + x')` over logits x of links and x' of corrupted ones."""
    return (MARGIN - links + corrupted).relu().mean()


def corrupt(links: Tensor, graph: Graph, generator: torch.Generator) -> Tensor:
    """``(P, 2)`` links whose one end, the first in half of them, is another random node.

    The ends of a bipartite graph's links are on the sides that they are on in ``links``.
    """
    pairs, half = links.clone(), len(links) // 2
    for rows, end in ((slice(half), 0), (slice(half, None), 1)):
        kept = pairs[rows, 1 - end]
        if graph.side is None:  # no node is its own partner
            drawn = torch.randint(graph.num_nodes - 1, kept.shape, generator=generator)
            pairs[rows, end] = drawn + (drawn >= kept)
        elif len(kept):
            nodes = torch.nonzero(graph.side == graph.side[links[0, end]])[:, 0]
            pairs[rows, end] = nodes[torch.randint(len(nodes), kept.shape, generator=generator)]
    return pairs


class _Step(NamedTuple):
    """Losses of one step, or means over the steps of an epoch."""

    fit: float
    adversary: float
    kl: float
    gap: float


class AdversarialTraining:
    """The optimizers and discriminators of one training."""

    def __init__(
        self, model: "CFC", graph: Graph, objective: Objective, settings: Settings
    ) -> None:
        self.model, self.graph, self.objective = model, graph, objective
        self.generator = settings.generator
        self.lr = model.lr if settings.lr is None else settings.lr
        self.links = _first_end_filtered(model, graph)
        self.pairs = None
        if objective.regularizer is not None:
            self.pairs = training_pairs(model, graph, objective, settings)
        size = model.u.shape[1]
        self.discriminators = {
            name: Discriminator(size, int(group.max()) + 1, self.generator)
            for name, group in model.groups.items()
            if model.strength
        }
        self.measured: tuple[int, tuple[float, float]] | None = None
        self.adversary = math.nan
        self.optimizer = Adam(model.parameters(), self.lr, amsgrad=True)
        self.against = {
            name: Adam(each.parameters(), self.lr, amsgrad=True)
            for name, each in self.discriminators.items()
        }

    def epoch(self, number: int) -> Means:
        """One step per batch of links in a new order; ``adversary`` is then its mean loss."""
        order = random_order(len(self.links), self.generator)
        links = self.links[order]
        if self.graph.side is None:
            turned = torch.randint(2, (len(links), 1), generator=self.generator) == 1
            links = torch.where(turned, links.flip(1), links)
        starts = range(0, len(links), self.model.batch)
        rows = [
            self._step(links[first : first + self.model.batch], number, step)
            for step, first in enumerate(starts)
        ]
        if not rows:
            nothing = 0.0 if self.pairs else math.nan
            rows = [_Step(0.0, 0.0, nothing, math.nan)]
        mean = _Step(*(sum(values) / len(rows) for values in zip(*rows, strict=True)))
        loss = mean.fit - (self.model.strength or 0.0) * mean.adversary
        loss += self.objective.gamma * mean.kl if self.pairs else 0.0
        self.adversary = mean.adversary
        return loss, mean.fit, mean.kl, mean.gap

    def _step(self, links: Tensor, epoch: int, step: int) -> _Step:
        model = self.model
        model.constrain()
        model.zero_grad()
        kl, gap = self._parity(epoch, step)
        names = self._drawn()
        pairs = torch.cat([links, corrupt(links, self.graph, self.generator)])
        logits, hidden = model.scored(pairs, names)
        fit = margin_loss(logits[: len(links)], logits[len(links) :])
        shown = hidden[: len(links)].flatten(0, 1)
        node = (links if model.both else links[:, :1]).flatten()
        adversary = self._adversary(shown, node, names, training=False)
        torch.autograd.backward(fit - (model.strength or 0.0) * adversary)
        self.optimizer.step()
        if not math.isfinite(value := float(fit.detach())):
            fix = f"take a smaller lr than {self.lr:g}"
            raise Diverged(f"the loss is {value} in epoch {epoch}", fix, caller="train")
        for _ in range(DISCRIMINATOR_STEPS if self.discriminators else 0):
            for each in self.discriminators.values():
                each.zero_grad()
            loss = self._adversary(shown.detach(), node, names, training=True)
            if loss.requires_grad:
                torch.autograd.backward(loss)
                for name in names:
                    self.against[name].step()
        return _Step(value, float(adversary.detach()), kl, gap)

    def _drawn(self) -> list[str]:
        """The attributes of one step: each with probability ½, at least one."""
        names = list(self.model.groups)
        while len(names) > 1:
            drawn = torch.randint(2, (len(names),), generator=self.generator).tolist()
            if any(drawn):
                return [name for name, is_in in zip(names, drawn, strict=True) if is_in]
        return names

    def _adversary(
        self, hidden: Tensor, node: Tensor, names: Sequence[str], training: bool
    ) -> Tensor:
        """Cross-entropy of the discriminators on some ends, summed over the attributes."""
        total = torch.zeros(())
        for name in names if self.discriminators else ():
            group = self.model.groups[name][node]
            shown = torch.nonzero(group != NO_GROUP)[:READ_ENDS, 0]
            if len(shown):
                reader = self.discriminators[name].requires_grad_(training)
                total = total + cross_entropy(reader(hidden[shown]), group[shown])
        return total

    def _parity(self, epoch: int, step: int) -> tuple[float, float]:
        """Add the gradient of the divergence of the logits in use; it and the gap.

        Steps take the batches of the pairs in turn. With a γ of 0, both are measured in the first
        step of an epoch and there is no gradient.
        """
        if self.pairs is None:
            return math.nan, math.nan
        if not self.objective.gamma and self.measured is not None and self.measured[0] == epoch:
            return self.measured[1]
        batch = self.pairs.score(self.model, step % len(self.pairs))
        parity = distance_to_parity(batch, self.objective, epoch)
        found = (0.0, math.nan) if parity is None else (parity.kl, parity.gap)
        self.measured = (epoch, found)
        if parity is not None and self.objective.gamma:
            batch.backward(self.objective.gamma, parity.fit.tilt, 0.0)
            Processes.here().add_gradients(self.model)
        return found


def _first_end_filtered(model: "CFC", graph: Graph) -> Tensor:
    """``(E, 2)`` the links, the filtered side of a bipartite graph first."""
    if not graph.num_links or model.filtered_nodes[graph.links[0, 0], 0]:
        return graph.links
    return graph.links.flip(1)
