"""Models that are fitted in one form and used in another: parity is about the form in use."""

import numpy as np
from torch import Tensor

from linkparity.models.base import LinkModel
from linkparity.projection.sums import Sums
from linkparity.training.objective import PairSet, ScoredBatch


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
        self.parity.fit_loss()
        return self.fit.fit_loss()

    def __call__(self, tilt: np.ndarray) -> Sums:
        return self.parity(tilt)

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        return self.parity.divergence(tilt)

    def backward(self, gamma: float, tilt: np.ndarray | None, fit: float = 1.0) -> None:
        self.fit.backward(0.0, None, fit)
        if tilt is not None:
            self.parity.backward(gamma, tilt, 0.0)
