"""The pairs that are no links: sums of each segment at any tilt, from logits kept in memory."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.training.all_pairs.layout import Segment

#: Pairs worked on at a time: few enough to stay in a processor's own memory.
PIECE = 1 << 18
#: Below this logit, 1 − p has digits enough to be divided by and for its logarithm.
TAME = 6.0


class NonLinks:
    """Logits of one moment, −∞ where a place holds no such pair.

    Args:
        segments: where the pairs of two groups lie.
        area: ``(S,)`` how many of these pairs each segment has.
        x: ``(size,)`` logits.
        h: ``(size,)`` memory for their probabilities.
        q: ``(size,)`` memory for tilted ones, up to the ``scale`` of the segment.
        spare: memory for a piece.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        area: np.ndarray,
        x: Tensor,
        h: Tensor,
        q: Tensor,
        spare: Tensor,
    ) -> None:
        self.segments, self.area = segments, area
        self.x, self.h, self.q, self.spare = x, h, q, spare
        torch.sigmoid(x, out=h)
        self.high = float(x.max()) if len(x) else 0.0
        #: The tilt that sums and tilted probabilities are of; the sums p, 1 − p, p (1 − p).
        self.at = np.full(len(segments), np.nan)
        self.share = np.zeros((3, len(segments)))
        self.scale = [1.0] * len(segments)
        self.one = torch.ones((), dtype=x.dtype)

    def evaluate_at(self, tilt: np.ndarray, used: np.ndarray) -> None:
        """Have sums and probabilities at ``tilt (S,)`` where ``used (S,)``."""
        for r in np.flatnonzero(used & (tilt != self.at)).tolist():
            self._sum(r, float(tilt[r]))

    def soft(self, tilt: np.ndarray, used: np.ndarray) -> np.ndarray:
        """``(S,)`` Σ softplus(x + t) where ``used``, for tilts of 0 or the last ones summed."""
        total = np.zeros(len(tilt))
        for r in np.flatnonzero(used).tolist():
            total[r] = self._soft(r, float(tilt[r]))
        return total

    def _sum(self, r: int, tilt: float) -> None:
        """Sums of one segment at one tilt; the probabilities stay for the gradient."""
        yes = square = 0.0
        for low, high in _pieces(self.segments[r]):
            prob = self.h[low:high]
            if tilt != 0:
                prob = self._tilt(low, high, tilt)
            yes += _total(prob)
            square += float(torch.dot(prob, prob))
        scale = self.scale[r] = self._scale(tilt)
        yes, square = scale * yes, scale**2 * square
        no, spread = self.area[r] - yes, yes - square
        if no < 0.25 * self.area[r]:  # the smaller side tells more digits
            no, spread = self._lack(r, tilt)
        self.at[r] = tilt
        self.share[:, r] = yes, no, spread

    def _soft(self, r: int, tilt: float) -> float:
        """Σ softplus(x + t) of one segment, for tilt 0 or the last one summed."""
        total = 0.0
        tame = self.high + tilt < TAME
        prob, scale = (self.h, 1.0) if tilt == 0 else (self.q, self.scale[r])
        for low, high in _pieces(self.segments[r]):
            if tame:
                spare = self.spare[: high - low]
                total -= _log_total(torch.add(self.one, prob[low:high], alpha=-scale, out=spare))
            else:
                total += _total(softplus(self.x[low:high] + tilt))
        return total

    def pull(self, fit: float, heavy: float, used: np.ndarray) -> None:
        """In place of the tilted: fit · h + heavy · (h − q), the latter where ``used``."""
        for r, segment in enumerate(self.segments):
            h, q = self.h[segment.begin : segment.end], self.q[segment.begin : segment.end]
            if used[r] and self.at[r] != 0:
                q.mul_(-heavy * self.scale[r]).add_(h, alpha=fit + heavy)
            else:
                torch.mul(h, fit, out=q)

    def _scale(self, tilt: float) -> float:
        """What kept probabilities are to be multiplied by: e^t where the short formula serves."""
        return math.exp(tilt) if self.high < TAME and abs(tilt) < TAME else 1.0

    def _tilt(self, low: int, high: int, tilt: float) -> Tensor:
        """σ(x + t) ÷ scale: h ÷ (1 + h (e^t − 1)), no exponential in it, or the plain way."""
        out = self.q[low:high]
        if self._scale(tilt) == 1.0:
            return torch.add(self.x[low:high], tilt, out=out).sigmoid_()
        h = self.h[low:high]
        return torch.div(h, torch.add(self.one, h, alpha=math.expm1(tilt), out=out), out=out)

    def _lack(self, r: int, tilt: float) -> tuple[float, float]:
        """Σ (1 − p) and Σ p (1 − p) of one segment, from the probabilities of no link."""
        no = square = 0.0
        for low, high in _pieces(self.segments[r]):
            x = self.x[low:high]
            prob = torch.sigmoid(-tilt - x).masked_fill_(x == -math.inf, 0.0)
            no += _total(prob)
            square += float(torch.dot(prob, prob))
        return no, no - square


def _pieces(segment: Segment) -> Iterator[tuple[int, int]]:
    for low in range(segment.begin, segment.end, PIECE):
        yield low, min(low + PIECE, segment.end)


def _total(values: Tensor) -> float:
    """Σ accumulated in float64, of float32 over partial sums of 128."""
    head = len(values) // 128 * 128
    total = float(values[:head].view(-1, 128).sum(dim=1).sum(dtype=torch.float64))
    return total + float(values[head:].sum(dtype=torch.float64)) if head < len(values) else total


def _log_total(values: Tensor) -> float:
    """Σ log of numbers between e^−TAME and 1, eight multiplied before each logarithm; in place."""
    size = len(values) // 8
    rest = float(values[8 * size :].log().sum(dtype=torch.float64)) if len(values) % 8 else 0.0
    for count in (4, 2, 1):
        values[: count * size].mul_(values[count * size : 2 * count * size])
    return rest + _total(values[:size].log_())
