"""The pairs that are not links: sums of each segment at any tilt, from logits kept in memory."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.support.segments import sum_segments
from linkparity.training.all_pairs.layout import Segment

#: Number of pairs computed at a time: few enough for a processor's cache.
PIECE = 1 << 18
#: Below this logit, 1 − p keeps enough digits to divide by it and to take its logarithm.
MODERATE = 6.0
#: Pairs per segment below which many segments at once are faster than one by one.
SMALL_SEGMENT = 2048


def choose_nonlinks(
    segments: Sequence[Segment], area: np.ndarray, buffers: Sequence[Tensor]
) -> "NonLinks":
    """The variant that suits the size of the segments; arguments as of :class:`NonLinks`."""
    small = len(buffers[0]) < SMALL_SEGMENT * len(segments)
    return (SmallNonLinks if small else NonLinks)(segments, area, *buffers)


class NonLinks:
    """Logits at one step, −∞ where a position holds no such pair.

    Args:
        segments: the positions of the pairs of two groups, consecutive.
        area: ``(S,)`` number of these pairs in each segment.
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
        #: The tilt of the current sums and tilted probabilities; the sums of p, 1 − p, p (1 − p).
        self.at = np.full(len(segments), np.nan)
        self.sums = np.zeros((3, len(segments)))
        self.scale = [1.0] * len(segments)
        self.one = torch.ones((), dtype=x.dtype)

    def evaluate_at(self, tilt: np.ndarray, used: np.ndarray) -> None:
        """Compute sums and probabilities at ``tilt (S,)`` where ``used (S,)``."""
        for r in np.flatnonzero(used & (tilt != self.at)).tolist():
            self._sum(r, float(tilt[r]))

    def softplus_sums(self, tilt: np.ndarray, used: np.ndarray) -> np.ndarray:
        """``(S,)`` Σ softplus(x + t) where ``used``, for tilts of 0 or the last ones evaluated."""
        total = np.zeros(len(tilt))
        for r in np.flatnonzero(used).tolist():
            total[r] = self._softplus_sum(r, float(tilt[r]))
        return total

    def write_gradient(self, fit: float, parity: float, used: np.ndarray) -> None:
        """Overwrite q by fit · h + parity · (h − q), the latter where ``used``."""
        for r, segment in enumerate(self.segments):
            h, q = self.h[segment.begin : segment.end], self.q[segment.begin : segment.end]
            if used[r] and self.at[r] != 0:
                q.mul_(-parity * self.scale[r]).add_(h, alpha=fit + parity)
            else:
                torch.mul(h, fit, out=q)

    def _sum(self, r: int, tilt: float) -> None:
        """Sums of one segment at one tilt; the probabilities are kept for the gradient."""
        yes = square = 0.0
        for low, high in _pieces(self.segments[r]):
            prob = self.h[low:high] if tilt == 0 else self._tilted(low, high, tilt)
            yes += _total(prob)
            square += float(torch.dot(prob, prob))
        scale = self.scale[r] = self._scale(tilt)
        yes, square = scale * yes, scale**2 * square
        no, variance = self.area[r] - yes, yes - square
        if no < 0.25 * self.area[r]:  # the smaller side has more digits
            no, variance = self._complement_sums(r, tilt)
        self.at[r] = tilt
        self.sums[:, r] = yes, no, variance

    def _softplus_sum(self, r: int, tilt: float) -> float:
        total = 0.0
        moderate = self.high + tilt < MODERATE
        prob, scale = (self.h, 1.0) if tilt == 0 else (self.q, self.scale[r])
        for low, high in _pieces(self.segments[r]):
            if moderate:
                spare = self.spare[: high - low]
                total -= _log_total(torch.add(self.one, prob[low:high], alpha=-scale, out=spare))
            else:
                total += _total(softplus(self.x[low:high] + tilt))
        return total

    def _scale(self, tilt: float) -> float:
        """The factor of kept probabilities: e^t where the formula without exponential is used."""
        return math.exp(tilt) if self.high < MODERATE and abs(tilt) < MODERATE else 1.0

    def _tilted(self, low: int, high: int, tilt: float) -> Tensor:
        """σ(x + t) ÷ scale: h ÷ (1 + h (e^t − 1)) without an exponential, else as defined."""
        out = self.q[low:high]
        if self._scale(tilt) == 1.0:
            return torch.add(self.x[low:high], tilt, out=out).sigmoid_()
        h = self.h[low:high]
        return torch.div(h, torch.add(self.one, h, alpha=math.expm1(tilt), out=out), out=out)

    def _complement_sums(self, r: int, tilt: float) -> tuple[float, float]:
        """Σ (1 − p) and Σ p (1 − p) of one segment, from the probabilities of no link."""
        no = square = 0.0
        for low, high in _pieces(self.segments[r]):
            x = self.x[low:high]
            prob = torch.sigmoid(-tilt - x).masked_fill_(x == -math.inf, 0.0)
            no += _total(prob)
            square += float(torch.dot(prob, prob))
        return no, no - square


class SmallNonLinks(NonLinks):
    """The same for many small segments: in float64 and several segments at a time."""

    def evaluate_at(self, tilt: np.ndarray, used: np.ndarray) -> None:
        """Compute sums and probabilities at ``tilt (S,)``."""
        if not (used & (tilt != self.at)).any():
            return
        for part, place, start in self._runs():
            z = self._tilted_logits(tilt, part, place)
            no = torch.sigmoid(-z).masked_fill_(z == -math.inf, 0.0)
            yes = z.sigmoid_()
            self.q[place] = yes
            self.sums[:, part] = sum_segments(torch.stack([yes, no, yes * no]).numpy(), start)
        self.at = tilt.copy()

    def softplus_sums(self, tilt: np.ndarray, used: np.ndarray) -> np.ndarray:
        """``(S,)`` Σ softplus(x + t), 0 where not ``used``."""
        total = np.zeros(len(tilt))
        for part, place, start in self._runs():
            values = softplus(self._tilted_logits(tilt, part, place), threshold=40)
            total[part] = sum_segments(values.numpy(), start)
        return np.where(used, total, 0.0)

    def write_gradient(self, fit: float, parity: float, used: np.ndarray) -> None:
        """Overwrite q by fit · h + parity · (h − q), the latter where ``used``."""
        weights = np.where(used & (self.at != 0), parity, 0.0)
        for part, place, _ in self._runs():
            h, q = self.h[place], self.q[place]
            if weights[part].any():
                q.sub_(h).mul_(-self._per_pair(weights, part).to(q.dtype)).add_(h, alpha=fit)
            else:
                torch.mul(h, fit, out=q)

    def _runs(self) -> Iterator[tuple[slice, slice, np.ndarray]]:
        """Segments, about a piece of pairs at a time: which, their positions, where each begins."""
        starts = np.array([0] + [segment.end for segment in self.segments])
        first, count = 0, len(self.segments)
        while first < count:
            last = int(np.searchsorted(starts, starts[first] + PIECE))
            last = min(max(last, first + 1), count)
            start = starts[first : last + 1]
            yield slice(first, last), slice(int(start[0]), int(start[-1])), start - start[0]
            first = last

    def _per_pair(self, values: np.ndarray, part: slice) -> Tensor:
        sizes = [segment.end - segment.begin for segment in self.segments[part]]
        return torch.from_numpy(np.repeat(values[part], sizes))

    def _tilted_logits(self, tilt: np.ndarray, part: slice, place: slice) -> Tensor:
        return self.x[place].double() + self._per_pair(tilt, part)


def _pieces(segment: Segment) -> Iterator[tuple[int, int]]:
    for low in range(segment.begin, segment.end, PIECE):
        yield low, min(low + PIECE, segment.end)


def _total(values: Tensor) -> float:
    """Σ accumulated in float64, of float32 over partial sums of 128."""
    head = len(values) // 128 * 128
    total = float(values[:head].view(-1, 128).sum(dim=1).sum(dtype=torch.float64))
    return total + float(values[head:].sum(dtype=torch.float64)) if head < len(values) else total


def _log_total(values: Tensor) -> float:
    """Σ log of numbers in [e^−6, 1], eight multiplied before each logarithm; in place."""
    size = len(values) // 8
    rest = float(values[8 * size :].log().sum(dtype=torch.float64)) if len(values) % 8 else 0.0
    for count in (4, 2, 1):
        values[: count * size].mul_(values[count * size : 2 * count * size])
    return rest + _total(values[:size].log_())
