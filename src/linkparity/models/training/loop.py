"""Algorithm 1 of the paper: one loop for every model, in one process or several."""

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from linkparity.criteria import Criterion
from linkparity.criteria.constrained_group_pairs import MAX_SMALL
from linkparity.graph import Graph
from linkparity.models.training.all_pairs.layout import AllPairs
from linkparity.models.training.objective import (
    Epoch,
    Objective,
    PairSet,
    ScoredBatch,
    Settings,
    chosen_pairs,
    pair_weights,
    parity_weights,
    widen,
)
from linkparity.models.training.sampled import SampledPairs
from linkparity.projection import NotConverged
from linkparity.projection.regularizer import Parity
from linkparity.support.errors import InputError, InputWarning, PlainError

if TYPE_CHECKING:
    from linkparity.models import LinkModel

#: Loss, fit, divergence and gap of a step, or means of an epoch.
Means = tuple[float, float, float, float]
#: Nanoseconds per pair, and per pair and column of the factors; measured, see docs/training.md.
BLOCK_COST = (6.0, 0.13)
SAMPLE_COST = (50.0, 8.0)
#: Nanoseconds per pair of groups, each of which is a matrix product of its own.
SEGMENT_COST = 25_000.0
#: How much more blocks may cost than samples where many pairs of groups are compared.
MANY_GROUPS_COST = 4.0
#: Largest number of pairs that blocks hold in memory.
MAX_PAIRS = 10**8


class Diverged(PlainError):
    """Training met a loss that is not finite, or pairs that no tilts bring to parity."""


class TrainingWarning(InputWarning):
    """Training ended unexpectedly; the message says how."""


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
    pairs: str | None = None,
    method: str | None = None,
    patience: int | None = None,
    generator: torch.Generator | None = None,
) -> Iterator[Epoch]:
    r"""Train a model on a graph; yields one row per epoch.

    .. math:: \mathcal{L} = \frac{\sum_k w_k\, \mathrm{bce}(x_k, y_k)}{\sum_k w_k}
              + \gamma \frac{\mathrm{KL}(h_F \,\|\, h)}{\sum_{k\ \text{constrained}} w_k}

    An epoch is one step of Adam on all training pairs (on batches of 10,000 nodes, where there
    are more). MaxEnt is solved instead, a row per step of Newton's method and none when plain;
    epochs, learning rate, negatives, method and patience do not apply to it.
    The loop may be left at any time: the model is then ready for use.

    Args:
        model: made for ``graph``.
        graph: to learn from.
        criterion: ``dp``, ``eo``, ``weak-dp``, ``equalized-odds`` or ``accuracy``; None for none.
        gamma: weight of the divergence to parity; at 0 it is measured only.
        target: as in :func:`~linkparity.i_project`.
        tolerance: how far a cell's mean may stay from the target.
        epochs: the model's own number by default.
        lr: step size; the model's own by default.
        negatives: random partners per node.
        pairs: what parity is about: ``"candidates"``, every pair that is no link of ``graph``;
            ``"all"``, every pair; ``"sampled"``, the pairs of the fit (links from both ends and
            the partners), as in the authors' code. Criteria that look at links take all pairs for
            candidates. The model's own by default: candidates, for MaxEnt all pairs.
        method: ``"blocks"`` of all pairs with their expected weight, or ``"samples"``; the faster
            one by default.
        patience: stop after this many epochs without a lower loss.
        generator: source of randomness; seeded with 0 by default.

    Raises:
        Diverged: when the loss is no longer finite, or the solver does not reach parity.
    """
    if not callable(getattr(model, "steps", None)):
        raise TypeError(f"train: model must be a LinkModel, got {model!r:.60}")
    pairs = chosen_pairs(model, pairs)
    objective = Objective.of(criterion, gamma, target, tolerance)
    generator = torch.Generator().manual_seed(0) if generator is None else generator
    settings = Settings(epochs, lr, negatives, pairs, method, patience, generator)
    check_pairs(graph)
    objective = objective.for_graph(graph, settings.pairs)
    return model.steps(graph, objective, settings)


def check_pairs(graph: Graph) -> None:
    """Refuse a graph without a pair of nodes."""
    if not graph.num_pairs:
        problem = "the graph has no pair of nodes that could be a link"
        raise InputError(problem, "give it at least two nodes", caller="train")


def gradient_steps(
    model: "LinkModel", graph: Graph, objective: Objective, settings: Settings
) -> Iterator[Epoch]:
    """Minimise the objective by Adam, on all pairs in blocks or on sampled ones."""
    return adam_steps(model, training_pairs(model, graph, objective, settings), objective, settings)


def training_pairs(
    model: "LinkModel", graph: Graph, objective: Objective, settings: Settings
) -> PairSet:
    """The pairs of a graph that ``settings`` ask for, in the cells of the objective."""
    criterion, weights = objective.criterion, pair_weights(graph, settings.negatives)
    parity, processes = parity_weights(settings.pairs, criterion, weights), Processes.here()
    if choose(model, graph, settings, parity=criterion is not None) == "blocks":
        return AllPairs(graph, weights, criterion, processes, parity)
    generator = settings.generator
    return SampledPairs(graph, settings.negatives, criterion, generator, processes, parity)


def choose(model: "LinkModel", graph: Graph, settings: Settings, parity: bool = False) -> str:
    """``"blocks"`` or ``"samples"``: as asked for, else the faster for this model and size.

    With ``parity`` between many pairs of groups, blocks may take four times as long: drawn pairs
    are then so few per pair of groups that their means are mostly noise.
    """
    factors = model.checked_factors(graph)
    if settings.method == "samples":
        return "samples"
    if factors is None or graph.num_pairs > MAX_PAIRS:
        if settings.method == "blocks":
            raise InputError(
                f"'blocks' needs a model with factors and at most {MAX_PAIRS:,} pairs, got "
                f"{graph.num_pairs:,}",
                "use 'samples'",
                argument="method",
                caller="train",
            )
        return "samples"
    if settings.method == "blocks":
        return "blocks"
    width = factors[0].shape[1]
    rows = graph.num_nodes if graph.side is None else int((graph.side == 0).sum())
    drawn = rows * settings.negatives + graph.num_links * (1 if graph.bipartite else 2)
    blocks = graph.num_pairs * (BLOCK_COST[0] + BLOCK_COST[1] * width)
    blocks += SEGMENT_COST * _group_pairs(graph)
    samples = drawn * (SAMPLE_COST[0] + SAMPLE_COST[1] * width)
    patience = MANY_GROUPS_COST if parity and _group_pairs(graph) > MAX_SMALL else 1.0
    return "blocks" if blocks <= patience * samples else "samples"


def _group_pairs(graph: Graph) -> int:
    """Number of pairs of groups that pairs may have; nodes without a group count as one group."""
    if graph.side is None:
        count = len(torch.unique(graph.group))
        return count * (count + 1) // 2
    rows, columns = (len(torch.unique(graph.group[graph.side == side])) for side in (0, 1))
    return rows * columns


def adam_steps(
    model: "LinkModel", pairs: PairSet, objective: Objective, settings: Settings
) -> Iterator[Epoch]:
    """Minimise the objective on ``pairs`` by Adam, one step per batch of them."""
    lr = model.lr if settings.lr is None else settings.lr
    optimizer, processes = Adam(model.parameters(), lr), Processes.here()

    def take(epoch: int) -> Means:
        rows = []
        for number in range(len(pairs)):
            model.constrain()
            model.zero_grad()
            rows.append(backward_step(pairs.score(model, number), objective, epoch, lr))
            processes.add_gradients(model)
            optimizer.step()
        *columns, gaps = zip(*rows, strict=True)
        loss, fit, kl = (sum(values) / len(rows) for values in columns)
        known = [gap for gap in gaps if not math.isnan(gap)]  # a small batch may have one cell
        return loss, fit, kl, sum(known) / len(known) if known else math.nan

    yield from epoch_rows(model, settings, take)


def epoch_rows(
    model: "LinkModel", settings: Settings, take: Callable[[int], Means]
) -> Iterator[Epoch]:
    """One row per epoch that ``take`` trains, until the last one or until patience ends."""
    begin, best, since = time.perf_counter(), math.inf, 0
    try:
        for epoch in range(1, (model.epochs if settings.epochs is None else settings.epochs) + 1):
            model.train()
            loss, *others = take(epoch)
            model.eval()
            yield Epoch(epoch, loss, *others, time.perf_counter() - begin)
            best, since = (loss, 0) if loss < best else (best, since + 1)
            if settings.patience is not None and since >= settings.patience:
                return
    finally:
        model.constrain()
        model.eval()


def backward_step(batch: ScoredBatch, objective: Objective, epoch: int, lr: float) -> Means:
    """Gradients of one batch; loss, fit, divergence and gap before the step."""
    fit = batch.fit_loss()
    if not math.isfinite(fit):
        raise Diverged(
            f"the loss is {fit} in epoch {epoch}",
            f"take a smaller lr than {lr:g}, and check that the model's logits stay finite",
            caller="train",
        )
    parity = distance_to_parity(batch, objective, epoch)
    batch.backward(objective.gamma, None if parity is None else parity.fit.tilt)
    if parity is None:
        return fit, fit, 0.0 if objective.regularizer else math.nan, math.nan
    return fit + objective.gamma * parity.kl, fit, parity.kl, parity.gap


def distance_to_parity(batch: ScoredBatch, objective: Objective, epoch: int) -> Parity | None:
    """How far a batch is from parity; None where nothing of it is constrained."""
    try:
        return objective.parity(batch)
    except NotConverged as error:
        problem = f"in epoch {epoch} no tilts reach parity ({error})"
        raise Diverged(problem, caller="train") from None


class Adam:
    r"""Adam with its usual constants.

    ``torch.optim`` would import torch's compiler, which takes seconds and leaves a directory
    ``torchinductor_USER`` in the temporary one.

    .. math:: m \leftarrow \beta_1 m + (1 - \beta_1) g, \quad
              v \leftarrow \beta_2 v + (1 - \beta_2) g^2, \quad
              p \leftarrow p - \eta \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + 10^{-8}}

    Args:
        parameters: to change in place; one without a gradient stays.
        lr: step size η.
        amsgrad: whether each v is the largest so far in place of the present one.
    """

    betas = (0.9, 0.999)

    def __init__(self, parameters: Iterable[Tensor], lr: float, amsgrad: bool = False) -> None:
        kept = range(3 if amsgrad else 2)
        self.state = [(p, *(torch.zeros_like(widen(p)) for _ in kept)) for p in parameters]
        self.lr, self.steps = lr, 0

    @torch.no_grad()
    def step(self) -> None:
        """Change every parameter by its gradient."""
        self.steps += 1
        first, second = self.betas
        rate = self.lr / (1 - first**self.steps)
        root = (1 - second**self.steps) ** 0.5
        for p, mean, square, *largest in self.state:
            if p.grad is None:
                continue
            gradient, value = widen(p.grad), widen(p)
            mean.lerp_(gradient, 1 - first)
            square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
            scale = torch.maximum(largest[0], square, out=largest[0]) if largest else square
            value.addcdiv_(mean, (scale.sqrt() / root).add_(1e-8), value=-rate)
            if value is not p:
                p.copy_(value)


@dataclass(frozen=True)
class Processes:
    """The processes of one training; alone unless ``torch.distributed`` says otherwise."""

    rank: int = 0
    size: int = 1

    @classmethod
    def here(cls) -> "Processes":
        """The processes that ``torch.distributed`` was set up with."""
        import torch.distributed as dist

        if not (dist.is_available() and dist.is_initialized()):
            return cls()
        return cls(dist.get_rank(), dist.get_world_size())

    def add(self, values: np.ndarray) -> np.ndarray:
        """Σ over the processes, of an array that every process has in the same shape."""
        if self.size == 1:
            return values
        import torch.distributed as dist

        total = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float64))
        dist.all_reduce(total)
        return total.numpy()

    def add_gradients(self, model: nn.Module) -> None:
        """Σ over the processes of every parameter's gradient, in one message."""
        if self.size == 1:
            return
        import torch.distributed as dist

        used = [p for p in model.parameters() if p.requires_grad]
        flat = torch.cat(
            [(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in used]
        )
        dist.all_reduce(flat)
        for p, part in zip(used, torch.split(flat, [p.numel() for p in used]), strict=True):
            p.grad = part.view_as(p)


@contextmanager
def joined_processes() -> Iterator[Processes]:
    """The processes that ``torchrun`` started, joined for the time being; alone without it."""
    import torch.distributed as dist

    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or dist.is_initialized():
        yield Processes.here()
        return
    dist.init_process_group("gloo")
    try:
        yield Processes.here()
    finally:
        dist.destroy_process_group()
