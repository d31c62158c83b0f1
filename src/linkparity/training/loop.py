"""Algorithm 1 of the paper: one loop for every model."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from linkparity.criteria import Criterion
from linkparity.errors import PlainError
from linkparity.graph import Graph
from linkparity.models import LinkModel, MaxEnt
from linkparity.solver import NotConverged
from linkparity.training.dense import DensePairs
from linkparity.training.objective import (
    Epoch,
    PairSet,
    PairWeights,
    Parity,
    Regularizer,
    pair_weights,
    regularizer,
)
from linkparity.training.sampled import SampledPairs
from linkparity.training.settings import Settings, check_pairs, choose
from linkparity.training.solving import solve_maxent
from linkparity.training.team import Team


class Diverged(PlainError):
    """Training met a loss that is no number, or pairs that no tilts bring to parity."""


@dataclass(frozen=True)
class _Run:
    """What one training works with."""

    pairs: PairSet
    regularizer: Regularizer | None
    epochs: int
    lr: float
    patience: int | None
    team: Team


def train(
    model: LinkModel,
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
    settings = Settings(epochs, lr, negatives, pairs, method, patience)
    reg = regularizer(criterion, gamma, target, tolerance)
    check_pairs(graph)
    if isinstance(model, MaxEnt):
        model.eval()
        return iter(()) if reg is None else solve_maxent(model, graph, reg)
    generator = torch.Generator().manual_seed(0) if generator is None else generator
    team = Team.here()
    chosen = None if reg is None else reg.criterion
    if choose(model, graph, settings) == "blocks":
        parity = PairWeights(1.0, 1.0) if pairs == "all" else None
        weights = pair_weights(graph, negatives)
        found: PairSet = DensePairs(graph, weights, chosen, team, parity)
    else:
        found = SampledPairs(graph, negatives, chosen, generator, team)
    steps = model.epochs if epochs is None else epochs
    return _train(model, _Run(found, reg, steps, model.lr if lr is None else lr, patience, team))


def _train(model: LinkModel, run: _Run) -> Iterator[Epoch]:
    begin = time.perf_counter()
    optimizer = torch.optim.Adam(model.parameters(), lr=run.lr)
    best, since = math.inf, 0
    try:
        for epoch in range(1, run.epochs + 1):
            model.train()
            rows = [_step(model, optimizer, run, b, epoch) for b in range(len(run.pairs))]
            loss, fit, kl, gap = (sum(values) / len(rows) for values in zip(*rows, strict=True))
            model.eval()
            yield Epoch(epoch, loss, fit, kl, gap, time.perf_counter() - begin)
            best, since = (loss, 0) if loss < best else (best, since + 1)
            if run.patience is not None and since >= run.patience:
                return
    finally:
        model.constrain()
        model.eval()


def _step(
    model: LinkModel, optimizer: torch.optim.Optimizer, run: _Run, batch: int, epoch: int
) -> tuple[float, float, float, float]:
    """One step on one batch: loss, fit, divergence and gap before it."""
    model.constrain()
    optimizer.zero_grad()
    scored = run.pairs.score(model, batch)
    fit = scored.fit_loss()
    if not math.isfinite(fit):
        raise Diverged(
            f"train: the loss is {fit} in epoch {epoch}; take a smaller lr than {run.lr:g}, and "
            "check that the model's logits stay finite"
        )
    reg = run.regularizer
    try:
        parity = Parity(None, math.nan, math.nan) if reg is None else reg.measure(scored)
    except NotConverged as error:
        raise Diverged(f"train: in epoch {epoch} no tilts reach parity ({error})") from None
    gamma = 0.0 if reg is None else reg.gamma
    scored.backward(gamma, parity.tilt)
    run.team.add_gradients(model)
    optimizer.step()
    return fit + (gamma * parity.kl if gamma else 0.0), fit, parity.kl, parity.gap
