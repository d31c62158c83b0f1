"""Algorithm 1 of the paper: one loop for every model."""

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from linkparity.criteria import Criterion
from linkparity.graph import Graph
from linkparity.projection import NotConverged
from linkparity.support.errors import PlainError
from linkparity.training.all_pairs.batch import AllPairs
from linkparity.training.distributed import Processes
from linkparity.training.objective import (
    Epoch,
    Objective,
    PairSet,
    PairWeights,
    ScoredBatch,
    pair_weights,
)
from linkparity.training.sampled import SampledPairs
from linkparity.training.settings import Settings, check_pairs, choose

if TYPE_CHECKING:
    from linkparity.models import LinkModel


class Diverged(PlainError):
    """Training met a loss that is no number, or pairs that no tilts bring to parity."""


def train(
    model: "LinkModel",
    graph: Graph,
    criterion: str | Criterion | None = None,
    gamma: float = 100.0,
    *,
    target: object = "model",
    tolerance: float = 0.0,
    epochs: int | None = None,
    lr: float | None = None,
    negatives: int = 100,
    pairs: str = "sampled",
    method: str | None = None,
    patience: int | None = None,
    generator: torch.Generator | None = None,
) -> Iterator[Epoch]:
    r"""Train a model on a graph; yields one row per epoch.

    .. math:: \mathcal{L} = \frac{\sum_k w_k\, \mathrm{bce}(x_k, y_k)}{\sum_k w_k}
              + \gamma \frac{\mathrm{KL}(h_F \,\|\, h)}{\sum_{k\ \text{constrained}} w_k}

    An epoch is one step of Adam on all training pairs (on a batch of 10,000 nodes each, where there
    are more). MaxEnt is solved instead, a row per step of Newton's method and none when plain; how
    long, how fast and on which pairs then say nothing.
    Leave the loop at any time: the model is then ready for use.

    Args:
        model: made for ``graph``.
        graph: to learn from.
        criterion: ``dp``, ``eo``, ``weak-dp``, ``equalized-odds`` or ``accuracy``; None for none.
        gamma: how much the divergence to parity counts; at 0 it is measured only.
        target: as in :func:`~linkparity.i_project`.
        tolerance: how far a cell's mean may stay from the target.
        epochs: the model's own number by default.
        lr: step size; the model's own by default.
        negatives: random partners per node.
        pairs: what the divergence is measured on: ``"sampled"``, the pairs of the fit (every link
            from both ends plus the partners), or ``"all"``, every pair once.
        method: ``"blocks"`` of all pairs with their expected weight, or ``"samples"``; the faster
            one by default.
        patience: stop when so many epochs brought no lower loss.
        generator: source of randomness; seeded with 0 by default.

    Raises:
        Diverged: when the loss is no longer a number, or parity is out of the solver's reach.
    """
    objective = Objective.of(criterion, gamma, target, tolerance)
    generator = torch.Generator().manual_seed(0) if generator is None else generator
    settings = Settings(epochs, lr, negatives, pairs, method, patience, generator)
    check_pairs(graph)
    if not callable(getattr(model, "steps", None)):
        raise TypeError(f"train: model must be a LinkModel, got {model!r:.60}")
    return model.steps(graph, objective, settings)


def gradient_steps(
    model: "LinkModel", graph: Graph, objective: Objective, settings: Settings
) -> Iterator[Epoch]:
    """Minimise the objective by Adam, on all pairs in blocks or on sampled ones."""
    return adam_steps(model, training_pairs(model, graph, objective, settings), objective, settings)


def training_pairs(
    model: "LinkModel", graph: Graph, objective: Objective, settings: Settings
) -> PairSet:
    """The pairs of a graph that ``settings`` ask for, in the cells of the objective."""
    processes = Processes.here()
    if choose(model, graph, settings) == "blocks":
        parity = PairWeights(1.0, 1.0) if settings.pairs == "all" else None
        weights = pair_weights(graph, settings.negatives)
        return AllPairs(graph, weights, objective.criterion, processes, parity)
    return SampledPairs(
        graph, settings.negatives, objective.criterion, settings.generator, processes
    )


def adam_steps(
    model: "LinkModel", pairs: PairSet, objective: Objective, settings: Settings
) -> Iterator[Epoch]:
    """Minimise the objective on ``pairs`` by Adam, one step per batch of them."""
    begin = time.perf_counter()
    epochs = model.epochs if settings.epochs is None else settings.epochs
    lr = model.lr if settings.lr is None else settings.lr
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    processes = Processes.here()
    best, since = math.inf, 0
    try:
        for epoch in range(1, epochs + 1):
            model.train()
            rows = []
            for number in range(len(pairs)):
                model.constrain()
                optimizer.zero_grad()
                rows.append(_step(pairs.score(model, number), objective, epoch, lr))
                processes.add_gradients(model)
                optimizer.step()
            loss, fit, kl, gap = (sum(values) / len(rows) for values in zip(*rows, strict=True))
            model.eval()
            yield Epoch(epoch, loss, fit, kl, gap, time.perf_counter() - begin)
            best, since = (loss, 0) if loss < best else (best, since + 1)
            if settings.patience is not None and since >= settings.patience:
                return
    finally:
        model.constrain()
        model.eval()


def _step(
    batch: ScoredBatch, objective: Objective, epoch: int, lr: float
) -> tuple[float, float, float, float]:
    """Gradients of one batch; loss, fit, divergence and gap before the step."""
    fit = batch.fit_loss()
    if not math.isfinite(fit):
        raise Diverged(
            f"train: the loss is {fit} in epoch {epoch}; take a smaller lr than {lr:g}, and "
            "check that the model's logits stay finite"
        )
    try:
        parity = objective.parity(batch)
    except NotConverged as error:
        raise Diverged(f"train: in epoch {epoch} no tilts reach parity ({error})") from None
    batch.backward(objective.gamma, None if parity is None else parity.fit.tilt)
    if parity is None:
        return fit, fit, 0.0 if objective.regularizer else math.nan, math.nan
    return fit + objective.gamma * parity.kl, fit, parity.kl, parity.gap
