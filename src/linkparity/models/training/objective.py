r"""What training is asked for, and what it reports.

.. math:: \mathcal{L} = \frac{\sum_k w_k\, \mathrm{bce}(x_k, y_k)}{\sum_k w_k}
          + \gamma \frac{\mathrm{KL}(h_F \,\|\, h)}{\sum_{k\ \text{constrained}} w_k}, \qquad
          \frac{\partial \mathcal{L}}{\partial x_k} = \frac{w_k (h_k - y_k)}{\sum w}
          + \gamma \frac{w_k (h_k - h_{F,k})}{\sum_{\text{constrained}} w}
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria import CRITERIA, Cells, Criterion, trainable
from linkparity.criteria.constrained_group_pairs import graph_criterion, possible_pairs
from linkparity.graph import Graph
from linkparity.projection.fit import PairSums, check_tolerance
from linkparity.projection.regularizer import FairnessRegularizer, Parity
from linkparity.support.arrays import real_number, whole_number
from linkparity.support.errors import InputError

if TYPE_CHECKING:
    from linkparity.models import LinkModel

#: Largest γ, learning rate and strength: beyond, products overflow float32.
LARGEST = 1e30
#: Accuracy of the tilts on the logit scale while training.
TOL = 1e-6
#: What parity may be about: pairs that are no training link, all pairs, the pairs of the fit.
PAIRS = ("candidates", "all", "sampled")
#: The criteria that a graph's pairs alone define.
TRAINABLE = trainable()


class PairWeights(NamedTuple):
    """Expected weight of a link, and of any other pair."""

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


def parity_weights(pairs: str, criterion: Criterion | None, fit: PairWeights) -> PairWeights:
    """Weights in the cells: those of the ``fit``, each pair once, or links not at all.

    A criterion that looks at links is about them, so that candidates are then all pairs.
    """
    if pairs == "sampled":
        return fit
    links = pairs == "all" or (criterion is not None and criterion.needs_labels)
    return PairWeights(float(links), 1.0)


def link_density(graph: Graph, criterion: Criterion) -> float:
    """Share of links among all constrained pairs: the target ``"data"``."""
    pairs = possible_pairs(graph.group, graph.side)
    ends = [graph.group, graph.group]
    if graph.side is not None:
        ends = [graph.group[graph.side == side] for side in (0, 1)]
    counts = [torch.bincount(end + 1, minlength=graph.num_groups + 1).double() for end in ends]
    weight = counts[0][pairs[:, 0] + 1] * counts[1][pairs[:, 1] + 1]
    if graph.side is None:  # both orders of two groups are here, and no node is its own partner
        weight = (weight - counts[0][pairs[:, 0] + 1] * (pairs[:, 0] == pairs[:, 1])) / 2
    links = Cells.prepare(graph.group[graph.links], criterion).total
    return links / (Cells.prepare(pairs, criterion, weight=weight).total or math.nan)


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
        """Make the named tuple, with the extra numbers as an attribute."""
        row = super().__new__(cls, *numbers, **named)
        if extra:
            row.extra = dict(extra)
        return row


class ScoredBatch(PairSums, Protocol):
    """Pairs with their logits at one step: all that the step needs."""

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

    def keep_links(self, kept: Tensor) -> None:
        """Leave the links where ``kept (E,)`` is False out of the fit, until told otherwise."""
        ...


def push_back(factors: tuple[Tensor, Tensor], gradients: Sequence[Tensor]) -> None:
    """Backpropagate gradients of both factors to the parameters behind them."""
    both = [(f, g) for f, g in zip(factors, gradients, strict=True) if f.requires_grad]
    if both:
        torch.autograd.backward([f for f, _ in both], [g.to(f.dtype) for f, g in both])


def widen(values: Tensor) -> Tensor:
    """Numbers of 16 bits in float32, which sums and steps need; others as they are."""
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values


@dataclass(frozen=True)
class Settings:
    """Length, speed and pairs of a training; see :func:`~linkparity.train`."""

    epochs: int | None = None
    lr: float | None = None
    negatives: int = 100
    pairs: str = "candidates"
    method: str | None = None
    patience: int | None = None
    generator: torch.Generator = field(default_factory=torch.Generator)

    def __post_init__(self) -> None:
        for name, least in (("epochs", 0), ("negatives", 1), ("patience", 1)):
            if (value := getattr(self, name)) is None and name != "negatives":
                continue
            if (number := whole_number(value, name, "train")) < least:
                raise _refused(name, f"must be at least {least}, got {value}")
            object.__setattr__(self, name, number)
        if self.lr is not None:
            object.__setattr__(self, "lr", bounded(self.lr, "lr"))
        if self.pairs not in PAIRS:
            known = ", ".join(map(repr, PAIRS))
            raise _refused("pairs", f"must be one of {known}, got {self.pairs!r}")
        if self.method not in (None, "blocks", "samples"):
            raise _refused("method", f"must be 'blocks' or 'samples', got {self.method!r}")


@dataclass(frozen=True)
class Objective:
    """What training minimises: the cross-entropy, and γ times the divergence to parity.

    Attributes:
        regularizer: measures the divergence; None when the model is trained plain.
        gamma: weight of the divergence; at 0 it is measured only.
    """

    regularizer: FairnessRegularizer | None = None
    gamma: float = 0.0

    @classmethod
    def of(
        cls, criterion: str | Criterion | None, gamma: float, target: object, tolerance: float
    ) -> "Objective":
        """Check the arguments of :func:`~linkparity.train`."""
        strength, width = bounded(gamma, "gamma"), check_tolerance(tolerance)
        if criterion is None:
            return cls()
        chosen = trained_criterion(criterion)
        return cls(FairnessRegularizer(chosen, target, tolerance=width), strength)

    def for_graph(self, graph: Graph, pairs: str) -> "Objective":
        """The same on the pairs of groups that training constrains.

        The target ``"data"`` of all pairs becomes a number, unless parity is about sampled ones.
        """
        regularizer = self.regularizer
        if regularizer is None:
            return self
        criterion = graph_criterion(regularizer.criterion, graph)
        target = regularizer.target
        on_data = isinstance(target, str) and target == "data"
        if on_data and criterion.data_target and pairs != "sampled":
            density = link_density(graph, criterion)
            target = density if 0 < density < 1 else target
        if criterion is regularizer.criterion and target is regularizer.target:
            return self
        tolerance = regularizer.tolerance
        return replace(
            self, regularizer=FairnessRegularizer(criterion, target, tolerance=tolerance)
        )

    @property
    def criterion(self) -> Criterion | None:
        """The criterion that is trained for; None when plain."""
        return None if self.regularizer is None else self.regularizer.criterion

    def parity(self, batch: ScoredBatch) -> Parity | None:
        """How far a batch is from parity; None where nothing of it is constrained."""
        if self.regularizer is None or batch.cells is None or batch.cells.total == 0:
            return None
        return self.regularizer.measure(batch, batch.cells, batch.bound, TOL)


def chosen_pairs(model: "LinkModel | type[LinkModel]", pairs: str | None) -> str:
    """The pairs that parity is about: as given, else the model's own."""
    return model.pairs if pairs is None else pairs


def trained_criterion(criterion: str | Criterion) -> Criterion:
    """The criterion of a name, if a graph's pairs alone define its cells."""
    if not isinstance(criterion, str | Criterion):
        raise _refused("criterion", f"must be a name, a Criterion or None, got {criterion!r}")
    found = CRITERIA.get(criterion) if isinstance(criterion, str) else criterion
    if found is not None and found.for_given_pairs_only:
        raise _refused(
            "criterion",
            f"{found.name!r} belongs to given pairs, and training draws its own",
            f"use FairnessRegularizer in your own loop, or one of {', '.join(TRAINABLE)}",
        )
    return TRAINABLE[criterion] if isinstance(criterion, str) else criterion


def criterion_name(criterion: str | Criterion | None) -> str:
    """The name that results have for it; ``"none"`` when plain."""
    return "none" if criterion is None else trained_criterion(criterion).name


def bounded(value: object, argument: str) -> float:
    """A number between 0 and :data:`LARGEST`."""
    number = real_number(value, argument, "train")
    if not 0 <= number <= LARGEST:
        raise _refused(argument, f"must lie between 0 and {LARGEST:g}, got {value!r}")
    return number


def _refused(argument: str, problem: str, fix: str = "") -> InputError:
    return InputError(problem, fix, argument=argument, caller="train")
