r"""What training minimises, for any set of pairs.

.. math:: \mathcal{L} = \frac{\sum_k w_k\, \mathrm{bce}(x_k, y_k)}{\sum_k w_k}
          + \gamma \frac{\mathrm{KL}(h_F \,\|\, h)}{\sum_{k\ \text{constrained}} w_k}, \qquad
          \frac{\partial \mathcal{L}}{\partial x_k} = \frac{w_k (h_k - y_k)}{\sum w}
          + \gamma \frac{w_k (h_k - h_{F,k})}{\sum_{\text{constrained}} w}

One weighted set of pairs serves the fit, the cells, the target and the divergence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria import CRITERIA, Cells, Criterion, trainable
from linkparity.graph import Graph
from linkparity.projection.fit import PairSums, check_tolerance
from linkparity.projection.regularizer import FairnessRegularizer, Parity
from linkparity.support.validation import real_number

if TYPE_CHECKING:
    from linkparity.models import LinkModel

#: Beyond, the loss is no number that float32 can hold.
MAX_GAMMA = 1e30
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


class _EpochNumbers(NamedTuple):
    epoch: int
    loss: float
    fit: float
    kl: float
    gap: float
    seconds: float


class Epoch(_EpochNumbers):
    """One row of training: means over the epoch's batches, a tuple of six numbers.

    Attributes:
        epoch: from 1.
        loss: the fit plus γ times the divergence.
        fit: weighted mean of the cross-entropy.
        kl: divergence to parity in nats per weight of constrained pairs; nan when plain.
        gap: largest difference of two cells' means on the training pairs; nan when plain.
        seconds: since the beginning.
        extra: further numbers of the model's own training by name, such as an adversary's loss.
    """

    extra: Mapping[str, float] = MappingProxyType({})

    def __new__(cls, *numbers: Any, extra: Mapping[str, float] | None = None, **named: Any) -> Self:
        """As of a named tuple, with the extra numbers beside."""
        row = super().__new__(cls, *numbers, **named)
        if extra:
            row.extra = dict(extra)
        return row


class ScoredBatch(PairSums, Protocol):
    """Pairs with the logits of one moment: all that a step of training asks for."""

    cells: Cells | None
    bound: float

    def fit_loss(self) -> float:
        """Weighted mean of the cross-entropy."""
        ...

    def backward(self, gamma: float, tilt: np.ndarray | None, fit: float = 1.0) -> None:
        """Add the gradient of ``fit`` · fit + γ · divergence to the model's parameters."""
        ...


class PairSet(Protocol):
    """Training pairs of a graph: one batch per epoch, or several."""

    def __len__(self) -> int:
        """Batches per epoch."""
        ...

    def score(self, model: "LinkModel", batch: int) -> ScoredBatch:
        """The model's logits on one batch."""
        ...


def push_back(factors: tuple[Tensor, Tensor], gradients: Sequence[Tensor]) -> None:
    """Send gradients of both factors on to the parameters that they are made of."""
    both = [(f, g) for f, g in zip(factors, gradients, strict=True) if f.requires_grad]
    if both:
        torch.autograd.backward([f for f, _ in both], [g for _, g in both])


@dataclass(frozen=True)
class Objective:
    """What training minimises: the cross-entropy, and γ times the divergence to parity.

    Attributes:
        regularizer: measures the divergence; None when the model is trained plain.
        gamma: how much the divergence counts; at 0 it is measured only.
    """

    regularizer: FairnessRegularizer | None = None
    gamma: float = 0.0

    @classmethod
    def of(
        cls, criterion: str | Criterion | None, gamma: float, target: object, tolerance: float
    ) -> "Objective":
        """What was asked for, checked."""
        strength = real_number(gamma, "gamma", "train")
        if not 0 <= strength <= MAX_GAMMA:
            raise ValueError(f"train: gamma must lie between 0 and {MAX_GAMMA:g}, got {gamma!r}")
        width = check_tolerance(tolerance)
        if criterion is None:
            return cls()
        chosen = trained_criterion(criterion)
        return cls(FairnessRegularizer(chosen, target, tolerance=width), strength)

    @property
    def criterion(self) -> Criterion | None:
        """The criterion that is trained for; None when plain."""
        return None if self.regularizer is None else self.regularizer.criterion

    def parity(self, batch: ScoredBatch) -> Parity | None:
        """How far a batch is from parity; None where nothing of it is constrained."""
        if self.regularizer is None or batch.cells is None or batch.cells.total == 0:
            return None
        return self.regularizer.measure(batch, batch.cells, batch.bound, TOL)


def trained_criterion(criterion: str | Criterion) -> Criterion:
    """The criterion of a name, if a graph's pairs alone say what its cells are."""
    if not isinstance(criterion, str | Criterion):
        raise ValueError(f"train: criterion must be a name, a Criterion or None, got {criterion!r}")
    known = trainable()
    found = CRITERIA.get(criterion) if isinstance(criterion, str) else criterion
    if found is not None and found.for_given_pairs_only:
        raise ValueError(
            f"train: criterion {found.name!r} belongs to given pairs, and training draws its own; "
            f"use FairnessRegularizer in your own loop, or one of {', '.join(known)}"
        )
    return known[criterion] if isinstance(criterion, str) else criterion
