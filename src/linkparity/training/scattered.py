"""The pairs that are no links, where every two of many groups have few: many stretches at once."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.criteria.pages import sum_stretches
from linkparity.training.blocks import Stretch
from linkparity.training.others import PIECE, Others

#: Pairs per stretch below which many stretches at once are faster than one by one.
FEW = 2048


def others_of(
    stretches: Sequence[Stretch], area: np.ndarray, x: Tensor, h: Tensor, q: Tensor, spare: Tensor
) -> "Others | ScatteredOthers":
    """The way that suits the size of the stretches; arguments as of :class:`Others`."""
    if len(x) < FEW * len(stretches):
        return ScatteredOthers(stretches, x, h, q)
    return Others(stretches, area, x, h, q, spare)


class ScatteredOthers:
    """As :class:`Others`, in float64 and some stretches at a time.

    Args:
        stretches: where the pairs of two groups lie, one behind the other.
        x: ``(size,)`` logits, −∞ where a place holds no such pair.
        h: ``(size,)`` memory for their probabilities.
        q: ``(size,)`` memory for tilted ones.
    """

    def __init__(self, stretches: Sequence[Stretch], x: Tensor, h: Tensor, q: Tensor) -> None:
        self.x, self.h, self.q = x, h, q
        torch.sigmoid(x, out=h)
        self.start = np.array([0] + [stretch.end for stretch in stretches])
        #: The tilt that sums and tilted probabilities are of; the sums p, 1 − p, p (1 − p).
        self.at = np.full(len(stretches), np.nan)
        self.share = np.zeros((3, len(stretches)))

    def stand_at(self, tilt: np.ndarray, used: np.ndarray) -> None:
        """Have sums and probabilities at ``tilt (S,)`` where ``used (S,)``."""
        if not (used & (tilt != self.at)).any():
            return
        for part, place in self._runs():
            z = self._tilted(tilt, part, place)
            no = torch.sigmoid(-z).masked_fill_(z == -math.inf, 0.0)
            yes = z.sigmoid_()
            self.q[place] = yes
            values = torch.stack([yes, no, yes * no]).numpy()
            self.share[:, part] = sum_stretches(values, self._start(part))
        self.at = tilt.copy()

    def soft(self, tilt: np.ndarray, used: np.ndarray) -> np.ndarray:
        """``(S,)`` Σ softplus(x + t), 0 where not ``used``."""
        total = np.zeros(len(tilt))
        for part, place in self._runs():
            values = softplus(self._tilted(tilt, part, place), threshold=40)
            total[part] = sum_stretches(values.numpy(), self._start(part))
        return np.where(used, total, 0.0)

    def pull(self, fit: float, heavy: float, used: np.ndarray) -> None:
        """In place of the tilted: fit · h + heavy · (h − q), the latter where ``used``."""
        pulled = np.where(used & (self.at != 0), heavy, 0.0)
        for part, place in self._runs():
            h, q = self.h[place], self.q[place]
            if pulled[part].any():
                weight = self._spread(pulled, part).to(q.dtype)
                q.sub_(h).mul_(-weight).add_(h, alpha=fit)
            else:
                torch.mul(h, fit, out=q)

    def _runs(self) -> Iterator[tuple[slice, slice]]:
        """Stretches, about a piece of pairs at a time, and their place in memory."""
        first, count = 0, len(self.at)
        while first < count:
            last = int(np.searchsorted(self.start, self.start[first] + PIECE))
            last = min(max(last, first + 1), count)
            yield slice(first, last), slice(int(self.start[first]), int(self.start[last]))
            first = last

    def _start(self, part: slice) -> np.ndarray:
        return np.asarray(self.start[part.start : part.stop + 1] - self.start[part.start])

    def _spread(self, values: np.ndarray, part: slice) -> Tensor:
        return torch.from_numpy(np.repeat(values[part], np.diff(self._start(part))))

    def _tilted(self, tilt: np.ndarray, part: slice, place: slice) -> Tensor:
        return self.x[place].double() + self._spread(tilt, part)
