"""Training pairs of models whose loss is not the common one: around those of every model."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.graph.graph import Graph
from linkparity.models.base import LinkModel
from linkparity.models.training.all_pairs.layout import AllPairs
from linkparity.models.training.loop import MAX_PAIRS, Processes
from linkparity.models.training.objective import (
    Objective,
    PairSet,
    PairWeights,
    ScoredBatch,
    Settings,
    pair_weights,
    parity_weights,
)
from linkparity.projection.sums import Sums
from linkparity.support.errors import InputError

#: ``(n, d)`` embeddings of one draw, their means and the logarithms of their deviations.
Draw = Callable[[], tuple[Tensor, Tensor, Tensor]]


class ParityInUse:
    """Pairs whose cross-entropy is of the logits in training, and divergence of those in use.

    Args:
        fit: pairs of the cross-entropy.
        parity: pairs of the divergence.
    """

    def __init__(self, fit: PairSet, parity: PairSet) -> None:
        self.fit, self.parity = fit, parity

    def __len__(self) -> int:
        return len(self.fit)

    def score(self, model: LinkModel, batch: int) -> "_TwoBatches":
        """Both logits of one batch."""
        fit = self.fit.score(model.train(), batch)
        parity = self.parity.score(model.eval(), batch)
        model.train()
        return _TwoBatches(fit, parity)

    def keep_links(self, kept: Tensor) -> None:
        """Leave the links where ``kept (E,)`` is False out of the fit."""
        self.fit.keep_links(kept)


class _TwoBatches:
    """A batch whose cross-entropy is of one set of logits and whose divergence is of another."""

    def __init__(self, fit: ScoredBatch, parity: ScoredBatch) -> None:
        self.fit, self.parity = fit, parity
        self.cells, self.bound = parity.cells, parity.bound

    def fit_loss(self) -> float:
        return self.fit.fit_loss()

    def __call__(self, tilt: np.ndarray) -> Sums:
        return self.parity(tilt)

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        return self.parity.divergence(tilt)

    def backward(self, gamma: float, tilt: np.ndarray | None, fit: float = 1.0) -> None:
        self.fit.backward(0.0, None, fit)
        if tilt is not None:
            self.parity.backward(gamma, tilt, 0.0)


class VariationalPairs:
    r"""The loss of a VGAE: reconstruction of A + I in blocks, and the divergence of z from N(0, 1).

    .. math:: \frac{\sum_{ij} w_{ij}\, \mathrm{bce}(x_{ij}, (A + I)_{ij})}{\sum_{ij} w_{ij}}
              - \frac{1}{2n^2} \sum_{ik} (1 + 2\log\sigma_{ik} - \mu_{ik}^2 - \sigma_{ik}^2)

    over ordered pairs that may be links and the diagonal; w is 1, and for A + I as much as makes
    their total weight that of the others.

    Args:
        graph: to reconstruct.
        objective: that the parity is measured for.
        settings: of the training.
        draw: gives ``(n, d)`` z, μ and log σ.
    """

    def __init__(self, graph: Graph, objective: Objective, settings: Settings, draw: Draw) -> None:
        self.draw = draw
        if graph.num_pairs > MAX_PAIRS:
            raise InputError(
                f"compares all pairs of nodes, and {graph.num_pairs:,} are more than {MAX_PAIRS:,}",
                "use another model",
                where="fairadj",
            )
        other = 2 * (graph.num_pairs - graph.num_links)
        #: Weight of an entry of A + I.
        self.link = other / (2 * graph.num_links + graph.num_nodes) or 1.0
        self.loops = self.link * graph.num_nodes
        self.processes = Processes.here()
        criterion = objective.criterion
        parity = parity_weights(settings.pairs, criterion, pair_weights(graph, settings.negatives))
        weights = PairWeights(2 * self.link, 2.0)
        self.pairs = AllPairs(graph, weights, criterion, self.processes, parity)

    def __len__(self) -> int:
        return 1

    def score(self, model: LinkModel, batch: int = 0) -> "_VariationalBatch":
        """The logits of one draw of z."""
        z, mean, log = self.draw()
        return _VariationalBatch(self, self.pairs.score(_Drawn(z)), z, mean, log)

    def keep_links(self, kept: Tensor) -> None:
        """Leave the links where ``kept (E,)`` is False out of the fit."""
        self.pairs.keep_links(kept)


class _Drawn(LinkModel):
    """Embeddings that were drawn already."""

    def __init__(self, z: Tensor) -> None:
        super().__init__()
        self.z = z

    def factors(self) -> tuple[Tensor, Tensor]:
        return self.z, self.z


class _VariationalBatch:
    """Every pair with the logits of one draw of z."""

    def __init__(
        self, pairs: VariationalPairs, batch: ScoredBatch, z: Tensor, mean: Tensor, log: Tensor
    ) -> None:
        self.batch, self.cells, self.bound = batch, batch.cells, batch.bound
        total = pairs.pairs.total + pairs.loops
        self.share, self.size = pairs.pairs.total / total, pairs.processes.size
        loops = pairs.link * softplus(-z.square().sum(dim=1)).sum() / total
        prior = (1 + 2 * log - mean.square() - (2 * log).exp()).sum() / (2 * len(z) ** 2)
        #: What does not depend on a pair of two nodes.
        self.own = loops - prior

    def fit_loss(self) -> float:
        """The loss without parity."""
        return self.share * self.batch.fit_loss() + float(self.own.detach())

    def __call__(self, tilt: np.ndarray) -> Sums:
        return self.batch(tilt)

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        return self.batch.divergence(tilt)

    def backward(self, gamma: float, tilt: np.ndarray | None, fit: float = 1.0) -> None:
        """Add the gradient of ``fit`` · fit + γ · divergence to the model's parameters."""
        torch.autograd.backward(self.own * (fit / self.size), retain_graph=True)
        self.batch.backward(gamma, tilt, fit * self.share)
