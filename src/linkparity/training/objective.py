r"""What training minimises, for any set of pairs.

.. math:: \mathcal{L} = \frac{\sum_k w_k\, \mathrm{bce}(x_k, y_k)}{\sum_k w_k}
          + \gamma \frac{\mathrm{KL}(h_F \,\|\, h)}{\sum_{k\ \text{constrained}} w_k}, \qquad
          \frac{\partial \mathcal{L}}{\partial x_k} = \frac{w_k (h_k - y_k)}{\sum w}
          + \gamma \frac{w_k (h_k - h_{F,k})}{\sum_{\text{constrained}} w}

One weighted set of pairs serves the fit, the cells, the target and the divergence.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from linkparity.checks import real_number
from linkparity.criteria import LABEL_CRITERIA, Cells, Criterion
from linkparity.criteria.criterion import Layout
from linkparity.fitting import Ask, check_tolerance, fit_tilts
from linkparity.graph import Graph
from linkparity.models import LinkModel
from linkparity.sums import Sums
from linkparity.targets import read_target

#: Criteria whose cells follow from a graph.
#: Beyond, the loss is no number that float32 can hold.
MOST_GAMMA = 1e30
#: Accuracy of the tilts on the logit scale while training.
TOL = 1e-6


class PairWeights(NamedTuple):
    """What a link weighs, and what any other pair weighs, in expectation."""

    link: float
    other: float


def pair_weights(graph: Graph, negatives: int) -> PairWeights:
    """Weights of the set of every link from both ends plus ``negatives`` partners per node.

    In a bipartite graph only side 0 draws partners, from side 1, and a link counts once.

    >>> pair_weights(Graph(400, [[0, 1]], [0] * 400), 100)
    PairWeights(link=2.5, other=0.5)
    """
    if graph.side is None:
        other = 2 * negatives / max(graph.num_nodes, 1)
        return PairWeights(2 + other, other)
    other = negatives / max(int(graph.side.sum()), 1)
    return PairWeights(1 + other, other)


class Epoch(NamedTuple):
    """One row of training: means over the epoch's batches.

    Attributes:
        epoch: from 1.
        loss: the fit plus γ times the divergence.
        fit: weighted mean of the cross-entropy.
        kl: divergence to parity in nats per weight of constrained pairs; nan when plain.
        gap: largest difference of two cells' means on the training pairs; nan when plain.
        seconds: since the beginning.
    """

    epoch: int
    loss: float
    fit: float
    kl: float
    gap: float
    seconds: float


class Scored(Protocol):
    """Pairs with the logits of one moment: all that a step of training asks for."""

    cells: Cells | None
    bound: float

    def fit_loss(self) -> float:
        """Weighted mean of the cross-entropy."""
        ...

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums per cell at ``tilt (M,)``."""
        ...

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence per cell in nats at ``tilt (M,)``."""
        ...

    def backward(self, gamma: float, tilt: np.ndarray | None) -> None:
        """Add the gradient of the loss to the model's parameters."""
        ...


class PairSet(Protocol):
    """Training pairs of a graph: one batch per epoch, or several."""

    def __len__(self) -> int:
        """Batches per epoch."""
        ...

    def score(self, model: LinkModel, batch: int) -> Scored:
        """The model's logits on one batch."""
        ...


def push_back(factors: tuple[Tensor, Tensor], gradients: Sequence[Tensor]) -> None:
    """Send gradients of both factors on to the parameters that they are made of."""
    both = [(f, g) for f, g in zip(factors, gradients, strict=True) if f.requires_grad]
    if both:
        torch.autograd.backward([f for f, _ in both], [g for _, g in both])


class Parity(NamedTuple):
    """Tilts that bring pairs to parity (None without a constrained pair), divergence and gap."""

    tilt: np.ndarray | None
    kl: float
    gap: float


@dataclass
class Regularizer:
    """The divergence to parity as training meets it: warm-started from step to step.

    Attributes:
        criterion: of parity.
        gamma: how much the divergence counts; at 0 it is measured only.
        target: the mean that cells must have, as in :func:`~linkparity.i_project`.
        tolerance: how far a mean may stay from the target.
        layout: the cells that the tilts are of.
        last: ``(M,)`` the last tilts of these cells, and
        before: those before; nan for a cell never met.
    """

    criterion: Criterion
    gamma: float
    target: object = "model"
    tolerance: float = 0.0
    layout: Layout | None = None
    last: np.ndarray = field(default_factory=lambda: np.empty(0))
    before: np.ndarray = field(default_factory=lambda: np.empty(0))

    def measure(self, scored: Scored) -> Parity:
        """How far the scored pairs are from parity, and the tilts that bring them there."""
        cells = scored.cells
        if cells is None or cells.total == 0:
            return Parity(None, 0.0, math.nan)
        base = scored(np.zeros(len(cells.mass)))
        target = read_target(self.target, cells)
        ask = Ask(target, check_tolerance(self.tolerance), self._start(cells))
        fit = fit_tilts(scored, cells, ask, TOL, scored.bound)
        self._remember(cells, fit.tilt)
        kl = fit.divergence(scored, scored(fit.tilt)) / cells.total
        return Parity(fit.tilt, kl, cell_gap(cells, base))

    def _start(self, cells: Cells) -> np.ndarray:
        """Where the last two steps point to."""
        if self.layout is not cells.layout:
            self.layout = cells.layout
            self.last, self.before = np.full((2, len(cells.mass)), np.nan)
        known = (cells.mass > 0) & ~np.isnan(self.last)
        return np.where(known, 2 * self.last - self.before, 0.0)

    def _remember(self, cells: Cells, tilt: np.ndarray) -> None:
        met = cells.mass > 0
        before = np.where(np.isnan(self.last), tilt, self.last)
        self.before = np.where(met, before, self.before)
        self.last = np.where(met, tilt, self.last)


def regularizer(
    criterion: str | Criterion | None, gamma: float, target: object, tolerance: float
) -> Regularizer | None:
    """What was asked for, checked; None without a criterion."""
    strength = real_number(gamma, "train: gamma")
    if not 0 <= strength <= MOST_GAMMA:
        raise ValueError(f"train: gamma must lie between 0 and {MOST_GAMMA:g}, got {gamma!r}")
    width = check_tolerance(tolerance)
    if criterion is None:
        return None
    return Regularizer(trained_criterion(criterion), strength, target, width)


def trained_criterion(criterion: str | Criterion) -> Criterion:
    """The criterion of a name, if a graph's pairs alone say what its cells are."""
    if not isinstance(criterion, str | Criterion):
        raise ValueError(f"train: criterion must be a name, a Criterion or None, got {criterion!r}")
    name = criterion if isinstance(criterion, str) else criterion.name
    if name in ("churn", "custom"):
        raise ValueError(
            f"train: criterion {name!r} belongs to given pairs, and training draws its own; "
            f"use FairnessRegularizer in your own loop, or one of {', '.join(LABEL_CRITERIA)}"
        )
    return LABEL_CRITERIA[criterion] if isinstance(criterion, str) else criterion


def cell_gap(cells: Cells, base: Sums) -> float:
    """Largest difference between two constraints' means on the training pairs; nan below two."""
    weight = cells.layout.weight(cells.mass)
    hit, _ = cells.layout.entries.hit_miss(base.yes, base.no)
    used = weight > 0
    gap = np.nan
    for block in np.unique(cells.layout.block[used]):
        means = (hit / np.where(used, weight, 1))[used & (cells.layout.block == block)]
        if len(means) > 1:
            gap = float(np.nanmax([gap, means.max() - means.min()]))
    return gap
