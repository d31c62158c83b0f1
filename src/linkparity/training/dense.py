"""Training on every pair at once: logits in blocks, sums per stretch, gradients by products."""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.criteria import Cells, Criterion
from linkparity.graph import Graph
from linkparity.models import LinkModel
from linkparity.sums import RememberedSums, ScatteredSums, Sums
from linkparity.training.blocks import TILE, Stretch, lay_out
from linkparity.training.objective import PairWeights
from linkparity.training.team import Team

#: Pairs worked on at a time: few enough to stay in a processor's own memory.
PIECE = 1 << 18
#: Below this logit, 1 − p has digits enough to be divided by and for its logarithm.
TAME = 6.0


class DensePairs:
    """Every pair of a graph with its expected weight: one batch per epoch, nothing random.

    Args:
        graph: whose pairs.
        weights: of a link and of any other pair.
        criterion: that sorts pairs into cells, or None.
        team: the processes that share the pairs.
        parity: weights in the cells, where they are not those of the fit.
    """

    def __init__(
        self,
        graph: Graph,
        weights: PairWeights,
        criterion: Criterion | None,
        team: Team,
        parity: PairWeights | None = None,
    ) -> None:
        self.weights, self.team = weights, team
        self.parity = weights if parity is None else parity
        self.blocks = lay_out(graph, team.rank, team.size)
        self.area = np.array([s.pairs for s in self.blocks.stretches], dtype=float)
        self.total = weights.other * (graph.num_pairs - graph.num_links)
        self.total += weights.link * graph.num_links
        self.cells = None if criterion is None else self._cells(criterion)
        if self.cells is not None:
            #: The cell of each stretch's other pairs, and of its links; −1 is none.
            self.other_cell, self.link_cell = self.cells.cell.view(2, -1).numpy()
        self.below = torch.ones(TILE, TILE, dtype=torch.bool).tril_()
        self.buffers: tuple[Tensor, ...] = ()

    def __len__(self) -> int:
        return 1

    def score(self, model: LinkModel, batch: int = 0) -> "DenseScored":
        """The model's logits on every pair."""
        factors = model.factors()
        assert factors is not None
        dtype, size = factors[0].dtype, self.blocks.size
        if not self.buffers or self.buffers[0].dtype != dtype:
            sizes = (size, size, size, min(size, PIECE))
            self.buffers = tuple(torch.empty(count, dtype=dtype) for count in sizes)
        return DenseScored(self, *factors)

    def _cells(self, criterion: Criterion) -> Cells:
        """The cell of each stretch's other pairs, then of its links, with the weight of all."""
        stretches = self.blocks.stretches
        groups = torch.tensor([stretch.groups for stretch in stretches]).reshape(-1, 2)
        counts = np.array([[s.pairs - s.links, s.links] for s in stretches], dtype=float).T
        counts = self.team.add(counts * [[self.parity.other], [self.parity.link]])
        label = torch.tensor([0, 1]).repeat_interleave(len(groups))
        return Cells.prepare(groups.repeat(2, 1), criterion, label, counts.reshape(-1))


class DenseScored(RememberedSums):
    """Every pair with the logits of one moment.

    Args:
        pairs: the layout.
        left: ``(n, D)`` factors, with their history.
        right: ``(n, D)``.
    """

    def __init__(self, pairs: DensePairs, left: Tensor, right: Tensor) -> None:
        super().__init__()
        self.pairs, self.cells = pairs, pairs.cells
        self.history = (left, right)
        blocks = pairs.blocks
        self.left = left.detach().index_select(0, blocks.rows)
        self.right = right.detach().index_select(0, blocks.columns)
        self.x, self.h, self.q, self.spare = pairs.buffers
        for tile in blocks.tiles:
            x = tile.of(self.x)
            torch.mm(self.left[tile.rows], self.right[tile.columns].T, out=x)
            if tile.square:
                x[:, : len(x)].masked_fill_(pairs.below[: len(x), : len(x)], -math.inf)
        torch.sigmoid(self.x, out=self.h)
        self.links = ScatteredSums(self.x[blocks.link].double(), None, blocks.link_start)
        self.high = float(self.x.max()) if blocks.size else 0.0
        reach = [float(side.square().sum(dim=1).max()) for side in (self.left, self.right)]
        self.bound = math.sqrt(reach[0] * reach[1]) + 1.0
        self.at = np.full(len(blocks.stretches), np.nan)
        self.share = np.zeros((3, len(blocks.stretches)))
        self.scale = [1.0] * len(blocks.stretches)
        self.one = torch.ones((), dtype=self.x.dtype)

    def fit_loss(self) -> float:
        """Weighted mean of the cross-entropy."""
        none = np.zeros(len(self.at))
        self.soft = np.array([self._soft(r, 0.0) for r in range(len(none))])
        self.link_soft = self._link_soft(none)
        link, other = self.pairs.weights
        loss = other * (self.soft - self.link_soft).sum() + link * self.link_soft.sum()
        loss -= link * float(self.links.x.sum())
        return float(self.pairs.team.add(np.array([loss]))[0]) / self.pairs.total

    def compute(self, tilt: np.ndarray) -> Sums:
        """The sums per cell at ``tilt (M,)``."""
        own, linked = self._tilts(tilt)
        used = (self.pairs.other_cell >= 0) & (self.pairs.area > 0)
        for r in np.flatnonzero(used & (own != self.at)).tolist():
            self._sum_stretch(r, float(own[r]))
        sums = np.zeros((3, len(tilt)))
        if used.any():
            self._collect(sums, self.share - np.stack(self.links(own)), 0)
        self._collect(sums, np.stack(self.links(linked)), 1)
        return Sums(*self.pairs.team.add(sums))

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        r"""``(M,)`` KL-divergence per cell in nats at ``tilt (M,)``.

        :math:`\sum w [t \sigma(x + t) - \mathrm{softplus}(x + t) + \mathrm{softplus}(x)]`.
        """
        self(tilt)
        own, linked = self._tilts(tilt)
        total = np.zeros((1, len(tilt)))
        tilted = np.flatnonzero((own != 0) & (self.pairs.area > 0)).tolist()
        if tilted:
            each = np.zeros(len(own))
            for r in tilted:
                each[r] = own[r] * self.share[0, r] - self._soft(r, float(own[r])) + self.soft[r]
            self._collect(total, (each - self._link_divergence(own))[None], 0)
        self._collect(total, self._link_divergence(linked)[None], 1)
        return self.pairs.team.add(total[0])

    def backward(self, gamma: float, tilt: np.ndarray | None) -> None:
        """Add the gradient of the loss to the model's parameters."""
        link, other = (weight / self.pairs.total for weight in self.pairs.weights)
        gradient = (torch.sigmoid(self.links.x) - 1) * link
        if tilt is None or gamma == 0:
            torch.mul(self.h, other, out=self.q)
        else:
            assert self.cells is not None
            self(tilt)
            heavy = gamma / self.cells.total
            self._pull(other, heavy * self.pairs.parity.other)
            linked = self._tilts(tilt)[1]
            gradient += heavy * self.pairs.parity.link * self.links.shift(linked)
        self.q[self.pairs.blocks.link] = gradient.to(self.q.dtype)
        self._push()

    def _tilts(self, tilt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Tilt of each stretch's other pairs, and of its links; 0 where unconstrained."""
        tilts = np.append(tilt, 0.0)
        return tilts[self.pairs.other_cell], tilts[self.pairs.link_cell]

    def _collect(self, sums: np.ndarray, values: np.ndarray, label: int) -> None:
        """Add what stretches have, of other pairs or of links, to the sums of their cells."""
        cell = self.pairs.link_cell if label else self.pairs.other_cell
        weight = self.pairs.parity.link if label else self.pairs.parity.other
        used = cell >= 0
        for total, value in zip(sums, values, strict=True):
            np.add.at(total, cell[used], weight * value[used])

    def _pull(self, fit: float, heavy: float) -> None:
        """In place of the tilted probabilities: fit · h + heavy · (h − q)."""
        for r, stretch in enumerate(self.pairs.blocks.stretches):
            h, q = self.h[stretch.begin : stretch.end], self.q[stretch.begin : stretch.end]
            if self.pairs.other_cell[r] < 0 or self.at[r] == 0:
                torch.mul(h, fit, out=q)
            else:
                q.mul_(-heavy * self.scale[r]).add_(h, alpha=fit + heavy)

    def _push(self) -> None:
        """Push the gradient of the logits through the factors."""
        blocks = self.pairs.blocks
        # Few long rows: products with few columns are several times slower.
        wide_left, wide_right = self.left.T.contiguous(), self.right.T.contiguous()
        left, right = torch.zeros_like(wide_left), torch.zeros_like(wide_right)
        for tile in blocks.tiles:
            part = tile.of(self.q)
            left[:, tile.rows].addmm_(wide_right[:, tile.columns], part.T)
            right[:, tile.columns].addmm_(wide_left[:, tile.rows], part)
        sides = zip((left, right), (blocks.rows, blocks.columns), self.history, strict=True)
        ends = [
            torch.zeros_like(whole.detach()).index_copy_(0, nodes, value.T)
            for value, nodes, whole in sides
        ]
        torch.autograd.backward(self.history, ends)

    def _sum_stretch(self, r: int, tilt: float) -> None:
        """Sums of one stretch at one tilt; the probabilities stay for the gradient."""
        yes = square = 0.0
        for low, high in _pieces(self.pairs.blocks.stretches[r]):
            prob = self.h[low:high]
            if tilt != 0:
                prob = self._tilt(low, high, tilt)
            yes += _total(prob)
            square += float(torch.dot(prob, prob))
        scale = self.scale[r] = self._scale(tilt)
        yes, square = scale * yes, scale**2 * square
        no, spread = self.pairs.area[r] - yes, yes - square
        if no < 0.25 * self.pairs.area[r]:  # the smaller side tells more digits
            no, spread = self._lack(r, tilt)
        self.at[r] = tilt
        self.share[:, r] = yes, no, spread

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
        """Σ (1 − p) and Σ p (1 − p) of one stretch, from the probabilities of no link."""
        no = square = 0.0
        for low, high in _pieces(self.pairs.blocks.stretches[r]):
            x = self.x[low:high]
            prob = torch.sigmoid(-tilt - x).masked_fill_(x == -math.inf, 0.0)
            no += _total(prob)
            square += float(torch.dot(prob, prob))
        return no, no - square

    def _soft(self, r: int, tilt: float) -> float:
        """Σ softplus(x + t) of one stretch, for tilt 0 or the last one summed."""
        total = 0.0
        tame = self.high + tilt < TAME
        prob, scale = (self.h, 1.0) if tilt == 0 else (self.q, self.scale[r])
        for low, high in _pieces(self.pairs.blocks.stretches[r]):
            if tame:
                spare = self.spare[: high - low]
                total -= _log_total(torch.add(self.one, prob[low:high], alpha=-scale, out=spare))
            else:
                total += _total(softplus(self.x[low:high] + tilt))
        return total

    def _link_soft(self, tilt: np.ndarray) -> np.ndarray:
        """Σ softplus(x + t) over the links of each stretch."""
        sizes = np.diff(self.pairs.blocks.link_start)
        z = self.links.x + torch.from_numpy(np.repeat(tilt, sizes))
        sums = np.concatenate([[0.0], np.cumsum(softplus(z, threshold=40).numpy())])
        return np.asarray(np.diff(sums[self.pairs.blocks.link_start]))

    def _link_divergence(self, tilt: np.ndarray) -> np.ndarray:
        """KL-divergence over the links of each stretch."""
        soft = self._link_soft(tilt) - self.link_soft
        return np.asarray(tilt * self.links(tilt).yes - soft)


def _pieces(stretch: Stretch) -> Iterator[tuple[int, int]]:
    for low in range(stretch.begin, stretch.end, PIECE):
        yield low, min(low + PIECE, stretch.end)


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
