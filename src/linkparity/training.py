"""Algorithm 1 of the paper: one loop for every model."""

import math
import time
from collections.abc import Iterator

import torch

from linkparity.criteria import Criterion
from linkparity.dense import DensePairs
from linkparity.distributed import Team
from linkparity.graph import Graph
from linkparity.models import LinkModel, MaxEnt
from linkparity.objective import (
    Epoch,
    PairSet,
    Regularizer,
    Scored,
    cell_gap,
    pair_weights,
    trained_criterion,
)
from linkparity.solving import solve_maxent


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
    generator: torch.Generator | None = None,
) -> Iterator[Epoch]:
    begin = time.perf_counter()
    team = Team.here()
    chosen = None if criterion is None else trained_criterion(criterion)
    reg = None if chosen is None else Regularizer(chosen, gamma, target, tolerance)
    if isinstance(model, MaxEnt):
        if reg is not None:
            yield from solve_maxent(model, graph, reg)
        return
    weights = pair_weights(graph, negatives, pairs)
    batches: PairSet = DensePairs(graph, weights, chosen, team)
    optimizer = torch.optim.Adam(model.parameters(), lr=model.lr if lr is None else lr)
    model.train()
    for epoch in range(1, (model.epochs if epochs is None else epochs) + 1):
        for b in range(len(batches)):
            model.constrain()
            optimizer.zero_grad()
            scored = batches.score(model, b)
            fit = scored.fit_loss()
            tilt, kl, gap = None, math.nan, math.nan
            if reg is not None:
                found = reg.project(scored)
                if found is not None:
                    tilt = found.tilt
                    kl = found.divergence(scored, scored(tilt)) / scored.cells.total
                    gap = math.nan
            scored.backward(gamma, tilt)
            optimizer.step()
        yield Epoch(epoch, fit, fit, kl, gap, time.perf_counter() - begin)
    model.constrain()
    model.eval()
