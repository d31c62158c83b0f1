"""Training on every pair at once: logits in blocks, sums per stretch, gradients by products."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.criteria import Cells, Criterion
from linkparity.graph import Graph
from linkparity.models import LinkModel
from linkparity.sums import Sums, pair_divergence
from linkparity.training.blocks import TILE, Stretch, lay_out
from linkparity.training.objective import PairWeights
from linkparity.training.team import Team

_softplus: Any = torch._C._nn.softplus  # the one of nn.functional, with an ``out``

#: Pairs worked on at a time: few enough to stay in a processor's own memory.
PIECE = 1 << 17


class DensePairs:
    """Every pair of a graph with its expected weight: one batch per epoch, nothing random.

    Args:
        graph: whose pairs.
        weights: of a link and of any other pair.
        criterion: that sorts pairs into cells, or None.
        team: the processes that share the pairs.
    """

    def __init__(
        self, graph: Graph, weights: PairWeights, criterion: Criterion | None, team: Team
    ) -> None:
        self.weights, self.team = weights, team
        self.blocks = lay_out(graph, team.rank, team.size)
        self.area = np.array([s.pairs for s in self.blocks.stretches], dtype=float)
        self.total = weights.other * (graph.num_pairs - graph.num_links)
        self.total += weights.link * graph.num_links
        self.cells: Cells | None = None
        if criterion is not None:
            self.cells = self._cells(criterion)
            self._sort_links(self.cells)
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
        counts = self.team.add(counts * [[self.weights.other], [self.weights.link]])
        label = torch.tensor([0, 1]).repeat_interleave(len(groups))
        return Cells.prepare(groups.repeat(2, 1), criterion, label, counts.reshape(-1))

    def _sort_links(self, cells: Cells) -> None:
        """The cell of each stretch, and what links add beyond it: (cell of each, weight)."""
        plain, linked = cells.cell.view(2, -1)
        self.cell = plain.numpy()
        before, self.link_cell = plain[self.blocks.stretch_of], linked[self.blocks.stretch_of]
        link, other = self.weights
        if bool((plain == linked).all()):
            self.parts = [(self.link_cell, link - other)]
            return
        self.parts = [(self.link_cell, link)]
        if bool((plain >= 0).any()):
            self.parts.append((before, -other))


class DenseScored:
    """Every pair with the logits of one moment.

    Args:
        pairs: the layout.
        left: ``(n, D)`` factors, with their history.
        right: ``(n, D)``.
    """

    def __init__(self, pairs: DensePairs, left: Tensor, right: Tensor) -> None:
        self.pairs, self.cells = pairs, pairs.cells
        self.history = (left, right)
        blocks = pairs.blocks
        self.left = left.detach().index_select(0, blocks.rows)
        self.right = right.detach().index_select(0, blocks.columns)
        reach = [float(side.square().sum(dim=1).max()) for side in (self.left, self.right)]
        self.bound = math.sqrt(reach[0] * reach[1]) + 1.0
        self.x, self.h, self.q, self.spare = pairs.buffers
        for tile in blocks.tiles:
            x = tile.of(self.x)
            torch.mm(self.left[tile.rows], self.right[tile.columns].T, out=x)
            if tile.square:
                x[:, : len(x)].masked_fill_(pairs.below[: len(x), : len(x)], -math.inf)
        torch.sigmoid(self.x, out=self.h)
        self.link = self.x[blocks.link].double()
        self.at = np.full(len(blocks.stretches), np.nan)
        self.share = np.zeros((3, len(blocks.stretches)))
        self.last: tuple[bytes, Sums] | None = None

    def fit_loss(self) -> float:
        """Weighted mean of the cross-entropy."""
        self.soft = self._soft(np.zeros(len(self.at)), all_of_them=True)
        link, other = self.pairs.weights
        loss = other * self.soft.sum()
        loss += float(((link - other) * softplus(self.link) - link * self.link).sum())
        return float(self.pairs.team.add(np.array([loss]))[0]) / self.pairs.total

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums per cell at ``tilt (M,)``."""
        key = tilt.tobytes()
        if self.last is not None and self.last[0] == key:
            return self.last[1]
        cell, count = self.pairs.cell, len(tilt)
        for r in np.flatnonzero((cell >= 0) & (self.pairs.area > 0)).tolist():
            if float(tilt[cell[r]]) != self.at[r]:
                self._sum_stretch(r, float(tilt[cell[r]]))
        sums = np.zeros((3, count))
        used = cell >= 0
        for total, share in zip(sums, self.share, strict=True):
            np.add.at(total, cell[used], self.pairs.weights.other * share[used])
        for link_cell, weight in self.pairs.parts:
            z = self.link + _spread(tilt, link_cell)
            yes, no = torch.sigmoid(z), torch.sigmoid(-z)
            for k, value in enumerate((yes, no, yes * no)):
                sums[k] += weight * _add(value, link_cell, count)
        self.last = (key, Sums(*self.pairs.team.add(sums)))
        return self.last[1]

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence per cell in nats at ``tilt (M,)``."""
        self(tilt)
        cell = self.pairs.cell
        own = np.append(tilt, 0.0)[cell]
        shift = np.where(own != 0, self._soft(own) - self.soft, 0.0)
        each = self.pairs.weights.other * (own * self.share[0] - shift)
        total = np.zeros(len(tilt))
        np.add.at(total, cell[cell >= 0], each[cell >= 0])
        for link_cell, weight in self.pairs.parts:
            part = pair_divergence(self.link, _spread(tilt, link_cell))
            total += weight * _add(part, link_cell, len(tilt))
        return self.pairs.team.add(total)

    def backward(self, gamma: float, tilt: np.ndarray | None) -> None:
        """Add the gradient of the loss to the model's parameters."""
        link, other = (weight / self.pairs.total for weight in self.pairs.weights)
        h = torch.sigmoid(self.link)
        gradient = (h - 1) * link
        if tilt is None or gamma == 0:
            torch.mul(self.h, other, out=self.q)
        else:
            assert self.cells is not None
            self(tilt)
            heavy = gamma / self.cells.total
            self._pull(other, heavy * self.pairs.weights.other)
            tilted = torch.sigmoid(self.link + _spread(tilt, self.pairs.link_cell))
            gradient += heavy * self.pairs.weights.link * (h - tilted)
        self.q[self.pairs.blocks.link] = gradient.to(self.q.dtype)
        self._push()

    def _pull(self, fit: float, heavy: float) -> None:
        """In place of the tilted probabilities: fit · h + heavy · (h − q)."""
        for r, stretch in enumerate(self.pairs.blocks.stretches):
            h, q = self.h[stretch.begin : stretch.end], self.q[stretch.begin : stretch.end]
            if self.pairs.cell[r] < 0 or self.at[r] == 0:
                torch.mul(h, fit, out=q)
            else:
                q.mul_(-heavy).add_(h, alpha=fit + heavy)

    def _push(self) -> None:
        """Push the gradient of the logits through the factors."""
        blocks = self.pairs.blocks
        left, right = torch.zeros_like(self.left), torch.zeros_like(self.right)
        for tile in blocks.tiles:
            part = tile.of(self.q)
            left[tile.rows].addmm_(part, self.right[tile.columns])
            right[tile.columns].addmm_(part.T, self.left[tile.rows])
        sides = zip((left, right), (blocks.rows, blocks.columns), self.history, strict=True)
        ends = [
            torch.zeros_like(whole.detach()).index_copy_(0, nodes, value)
            for value, nodes, whole in sides
        ]
        torch.autograd.backward(self.history, ends)

    def _sum_stretch(self, r: int, tilt: float) -> None:
        """Sums of one stretch at one tilt; the probabilities stay for the gradient."""
        yes = square = 0.0
        for low, high in _pieces(self.pairs.blocks.stretches[r]):
            prob = self.h[low:high]
            if tilt != 0:
                prob = torch.add(self.x[low:high], tilt, out=self.q[low:high]).sigmoid_()
            yes += _total(prob)
            square += float(torch.dot(prob, prob))
        no, spread = self.pairs.area[r] - yes, yes - square
        if no < 0.25 * self.pairs.area[r]:  # the smaller side tells more digits
            no, spread = self._lack(r, tilt)
        self.at[r] = tilt
        self.share[:, r] = yes, no, spread

    def _lack(self, r: int, tilt: float) -> tuple[float, float]:
        """Σ (1 − p) and Σ p (1 − p) of one stretch, from the probabilities of no link."""
        no = square = 0.0
        for low, high in _pieces(self.pairs.blocks.stretches[r]):
            x = self.x[low:high]
            prob = torch.sigmoid(-tilt - x).masked_fill_(x == -math.inf, 0.0)
            no += _total(prob)
            square += float(torch.dot(prob, prob))
        return no, no - square

    def _soft(self, tilt: np.ndarray, all_of_them: bool = False) -> np.ndarray:
        """Σ softplus(x + t) of each stretch that has a tilt, or of all."""
        out = np.zeros(len(tilt))
        for r, stretch in enumerate(self.pairs.blocks.stretches):
            for low, high in _pieces(stretch) if tilt[r] or all_of_them else ():
                x, spare = self.x[low:high], self.spare[: high - low]
                if tilt[r]:
                    x = torch.add(x, float(tilt[r]), out=spare)
                out[r] += _total(_softplus(x, out=spare))
        return out


def _pieces(stretch: Stretch) -> Iterator[tuple[int, int]]:
    for low in range(stretch.begin, stretch.end, PIECE):
        yield low, min(low + PIECE, stretch.end)


def _total(values: Tensor) -> float:
    """Σ accumulated in float64, of float32 over partial sums of 128."""
    head = len(values) // 128 * 128
    total = float(values[:head].view(-1, 128).sum(dim=1).sum(dtype=torch.float64))
    return total + float(values[head:].sum(dtype=torch.float64)) if head < len(values) else total


def _spread(tilt: np.ndarray, cell: Tensor) -> Tensor:
    """Tilt of each link; 0 for one that is unconstrained."""
    return torch.from_numpy(np.append(tilt, 0.0))[cell]


def _add(values: Tensor, cell: Tensor, count: int) -> np.ndarray:
    return torch.bincount(cell + 1, values, minlength=count + 1)[1:].numpy()
