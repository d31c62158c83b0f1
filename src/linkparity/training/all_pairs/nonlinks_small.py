"""The pairs that are no links, where every two of many groups have few: many segments at once."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.support.segments import sum_segments
from linkparity.training.all_pairs.layout import Segment
from linkparity.training.all_pairs.nonlinks import PIECE, NonLinks

#: Pairs per segment below which many segments at once are faster than one by one.
FEW = 2048


def choose_nonlinks(
    segments: Sequence[Segment], area: np.ndarray, x: Tensor, h: Tensor, q: Tensor, spare: Tensor
) -> "NonLinks | SmallNonLinks":
    """The way that suits the size of the segments; arguments as of :class:`NonLinks`."""
    if len(x) < FEW * len(segments):
        return SmallNonLinks(segments, x, h, q)
    return NonLinks(segments, area, x, h, q, spare)


class SmallNonLinks:
    """As :class:`NonLinks`, in float64 and some segments at a time.

    Args:
        segments: where the pairs of two groups lie, one behind the other.
        x: ``(size,)`` logits, −∞ where a place holds no such pair.
        h: ``(size,)`` memory for their probabilities.
        q: ``(size,)`` memory for tilted ones.
    """

    def __init__(self, segments: Sequence[Segment], x: Tensor, h: Tensor, q: Tensor) -> None:
        self.x, self.h, self.q = x, h, q
        torch.sigmoid(x, out=h)
        self.start = np.array([0] + [segment.end for segment in segments])
        #: The tilt that sums and tilted probabilities are of; the sums p, 1 − p, p (1 − p).
        self.at = np.full(len(segments), np.nan)
        self.share = np.zeros((3, len(segments)))

    def evaluate_at(self, tilt: np.ndarray, used: np.ndarray) -> None:
        """Have sums and probabilities at ``tilt (S,)`` where ``used (S,)``."""
        if not (used & (tilt != self.at)).any():
            return
        for part, place in self._runs():
            z = self._tilted(tilt, part, place)
            no = torch.sigmoid(-z).masked_fill_(z == -math.inf, 0.0)
            yes = z.sigmoid_()
            self.q[place] = yes
            values = torch.stack([yes, no, yes * no]).numpy()
            self.share[:, part] = sum_segments(values, self._start(part))
        self.at = tilt.copy()

    def soft(self, tilt: np.ndarray, used: np.ndarray) -> np.ndarray:
        """``(S,)`` Σ softplus(x + t), 0 where not ``used``."""
        total = np.zeros(len(tilt))
        for part, place in self._runs():
            values = softplus(self._tilted(tilt, part, place), threshold=40)
            total[part] = sum_segments(values.numpy(), self._start(part))
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
