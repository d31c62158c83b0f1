"""The logits of one step on every pair: sums per segment at any tilt, gradients by products."""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.models.training.objective import push_back, widen
from linkparity.projection.sums import RememberedSums, Sums
from linkparity.projection.tensor_sums import SegmentSums
from linkparity.support.arrays import sum_segments

if TYPE_CHECKING:
    from linkparity.models.training.all_pairs.layout import AllPairs, Segment

#: Below this tilt, sums in float32 have fewer digits of the divergence than its series.
SMALL_TILT = 0.02
#: Number of pairs computed at a time: few enough for a processor's cache.
PIECE = 1 << 18
#: Below this logit, 1 − p keeps enough digits to divide by it and to take its logarithm.
MODERATE = 6.0
#: Pairs per segment below which many segments at once are faster than one by one.
SMALL_SEGMENT = 2048


class AllPairsBatch(RememberedSums):
    """Every pair with the logits of one moment.

    Args:
        pairs: the layout.
        left: ``(n, D)`` factors, with their history.
        right: ``(n, D)``.
    """

    def __init__(self, pairs: "AllPairs", left: Tensor, right: Tensor) -> None:
        super().__init__()
        self.pairs, self.cells = pairs, pairs.cells
        self.history = (left, right)
        blocks = pairs.blocks
        self.left = widen(left.detach()).index_select(0, blocks.rows)
        self.right = widen(right.detach()).index_select(0, blocks.columns)
        self.x, _, self.gradient, _ = pairs.buffers
        for tile in blocks.tiles:
            x = tile.of(self.x)
            torch.mm(self.left[tile.rows], self.right[tile.columns].T, out=x)
            if tile.square:
                x[:, : len(x)].masked_fill_(pairs.below[: len(x), : len(x)], -math.inf)
        self.links = SegmentSums(self.x[blocks.link].double(), None, blocks.link_start)
        self.x[blocks.link] = -math.inf  # what remains are the other pairs
        reach = [float(side.square().sum(dim=1).max()) for side in (self.left, self.right)]
        self.bound = math.sqrt(reach[0] * reach[1]) + 1.0
        self.others = choose_nonlinks(blocks.segments, pairs.area, pairs.buffers)

    def fit_loss(self) -> float:
        """Weighted mean of the cross-entropy."""
        plain, link_plain = self.plain_softplus
        link, other = self.pairs.weights
        loss = link * (link_plain.sum() - float(self.links.x.sum()))
        if self.pairs.kept is not None:
            loss = link * float((softplus(-self.links.x, threshold=40) * self.pairs.kept).sum())
        loss += other * plain.sum()
        return float(self.pairs.processes.add(np.array([loss]))[0]) / self.pairs.total

    def compute(self, tilt: np.ndarray) -> Sums:
        """The sums per cell at ``tilt (M,)``."""
        own, linked = self._tilts(tilt)
        self._evaluate_at(own)
        sums = np.zeros((3, len(tilt)))
        self._collect(sums, self.others.sums, 0)
        if not tilt.any():
            self.variance = self.others.sums[2].copy()
        self._collect(sums, np.stack(self.links(linked)), 1)
        return Sums(*self.pairs.processes.add(sums))

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        r"""``(M,)`` KL-divergence per cell in nats at ``tilt (M,)``.

        :math:`\sum w [t \sigma(x + t) - \mathrm{softplus}(x + t) + \mathrm{softplus}(x)]`, of
        which little is left for a small tilt: there it is :math:`\int_0^t s V(s)\,ds`, with
        :math:`V = \sum w p(1 - p)` taken to be linear, relative error :math:`t^2 / 12` at most.
        """
        self(np.zeros_like(tilt))
        plain, link_plain = self.plain_softplus
        own, linked = self._tilts(tilt)
        self._evaluate_at(own)
        total = np.zeros((1, len(tilt)))
        tilted = (own != 0) & (self.pairs.area > 0)
        if tilted.any():
            yes, _, variance = self.others.sums
            small = np.abs(own) < SMALL_TILT
            each = own * yes - self.others.softplus_sums(own, tilted & ~small) + plain
            each = np.where(small, own**2 * (self.variance / 6 + variance / 3), each)
            self._collect(total, np.where(tilted, each, 0.0)[None], 0)
        soft = self._link_softplus(linked) - link_plain
        self._collect(total, (linked * self.links(linked).yes - soft)[None], 1)
        return self.pairs.processes.add(total[0])

    def backward(self, gamma: float, tilt: np.ndarray | None, fit: float = 1.0) -> None:
        """Add the gradient of ``fit`` · fit + γ · divergence to the model's parameters."""
        link, other = (fit * weight / self.pairs.total for weight in self.pairs.weights)
        gradient = (torch.sigmoid(self.links.x) - 1) * link
        if self.pairs.kept is not None:
            gradient *= self.pairs.kept
        used, weight = np.zeros(len(self.pairs.area), dtype=bool), 0.0
        if tilt is not None and gamma != 0:
            assert self.cells is not None
            own, linked = self._tilts(tilt)
            self._evaluate_at(own)
            used, weight = self.pairs.used, gamma / self.cells.total
            gradient += weight * self.pairs.parity.link * self.links.shift(linked)
        self.others.write_gradient(other, weight * self.pairs.parity.other, used)
        self.gradient[self.pairs.blocks.link] = gradient.to(self.gradient.dtype)
        self._push()

    @cached_property
    def plain_softplus(self) -> tuple[np.ndarray, np.ndarray]:
        """``(S,)`` Σ softplus(x) over each segment's other pairs, and over its links."""
        none = np.zeros(len(self.pairs.area))
        return self.others.softplus_sums(none, none == 0), self._link_softplus(none)

    def _tilts(self, tilt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Tilt of each segment's other pairs, and of its links; 0 where unconstrained."""
        tilts = np.append(tilt, 0.0)
        return tilts[self.pairs.other_cell], tilts[self.pairs.link_cell]

    def _evaluate_at(self, own: np.ndarray) -> None:
        """Have the sums and probabilities of other pairs at the tilt of each segment."""
        self.others.evaluate_at(own, self.pairs.used)

    def _collect(self, sums: np.ndarray, values: np.ndarray, label: int) -> None:
        """Add what segments have, of other pairs or of links, to the sums of their cells."""
        cell = self.pairs.link_cell if label else self.pairs.other_cell
        weight = self.pairs.parity.link if label else self.pairs.parity.other
        used = cell >= 0
        for total, value in zip(sums, values, strict=True):
            np.add.at(total, cell[used], weight * value[used])

    def _push(self) -> None:
        """Push the gradient of the logits through the factors."""
        blocks = self.pairs.blocks
        # Few long rows: products with few columns are several times slower.
        wide_left, wide_right = self.left.T.contiguous(), self.right.T.contiguous()
        left, right = torch.zeros_like(wide_left), torch.zeros_like(wide_right)
        for tile in blocks.tiles:
            part = tile.of(self.gradient)
            left[:, tile.rows].addmm_(wide_right[:, tile.columns], part.T)
            right[:, tile.columns].addmm_(wide_left[:, tile.rows], part)
        sides = zip((left, right), (blocks.rows, blocks.columns), self.history, strict=True)
        ends = [
            torch.zeros_like(widen(whole.detach())).index_copy_(0, nodes, value.T)
            for value, nodes, whole in sides
        ]
        push_back(self.history, ends)

    def _link_softplus(self, tilt: np.ndarray) -> np.ndarray:
        """Σ softplus(x + t) over the links of each segment."""
        sizes = np.diff(self.pairs.blocks.link_start)
        z = self.links.x + torch.from_numpy(np.repeat(tilt, sizes))
        sums = np.concatenate([[0.0], np.cumsum(softplus(z, threshold=40).numpy())])
        return np.asarray(np.diff(sums[self.pairs.blocks.link_start]))


def choose_nonlinks(
    segments: "Sequence[Segment]", area: np.ndarray, buffers: Sequence[Tensor]
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
        segments: "Sequence[Segment]",
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


def _pieces(segment: "Segment") -> Iterator[tuple[int, int]]:
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
