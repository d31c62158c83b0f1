"""Training on every pair at once: logits in blocks, sums per stretch, gradients by products."""

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.blocks import TILE, Blocks, lay_out
from linkparity.criteria import Cells, Criterion
from linkparity.distributed import Team
from linkparity.graph import Graph
from linkparity.models import LinkModel
from linkparity.objective import PairWeights
from linkparity.sums import Sums, _divergence, _sum


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
        self.weights = weights
        self.team = team
        self.blocks = lay_out(graph, team.rank, team.size)
        self.total = weights.other * (graph.num_pairs - graph.num_links)
        self.total += weights.link * graph.num_links
        self.cells: Cells | None = None
        if criterion is not None:
            self.cells = self._cells(criterion)
            plain, linked = self.cells.cell.view(2, -1)
            self.cell = plain.numpy()
            self.link_cells = torch.stack(
                [plain[self.blocks.stretch_of], linked[self.blocks.stretch_of]]
            )
        self.below = torch.ones(TILE, TILE, dtype=torch.bool).tril_()
        self.buffers: tuple[Tensor, ...] = ()

    def __len__(self) -> int:
        return 1

    def score(self, model: LinkModel, batch: int = 0) -> "DenseScored":
        """The model's logits on every pair."""
        factors = model.factors()
        assert factors is not None
        if not self.buffers or self.buffers[0].dtype != factors[0].dtype:
            self.buffers = tuple(
                torch.empty(self.blocks.size, dtype=factors[0].dtype) for _ in range(3)
            )
        return DenseScored(self, *factors)

    def _cells(self, criterion: Criterion) -> Cells:
        """The cell of each stretch's other pairs, then of its links, with the weight of all."""
        stretches = self.blocks.stretches
        groups = torch.tensor([stretch.groups for stretch in stretches]).reshape(-1, 2)
        counts = np.array([[s.pairs - s.links, s.links] for s in stretches], dtype=float).T
        counts = self.team.add(counts * [[self.weights.other], [self.weights.link]])
        label = torch.tensor([0, 1]).repeat_interleave(len(groups))
        return Cells.prepare(groups.repeat(2, 1), criterion, label, counts.reshape(-1))


class DenseScored:
    """Every pair with the logits of one moment.

    Args:
        pairs: the layout.
        left: ``(n, D)`` factors, with their history.
        right: ``(n, D)``.
    """

    def __init__(self, pairs: DensePairs, left: Tensor, right: Tensor) -> None:
        self.pairs = pairs
        self.cells = pairs.cells
        self.history = (left, right)
        blocks = pairs.blocks
        self.left = left.detach().index_select(0, blocks.rows)
        self.right = right.detach().index_select(0, blocks.columns)
        reach = [torch.linalg.vector_norm(side, dim=1).max() for side in (self.left, self.right)]
        self.bound = float(reach[0] * reach[1]) + 1.0
        self.x, self.h, self.q = pairs.buffers
        for tile in blocks.tiles:
            x = tile.of(self.x)
            torch.mm(self.left[tile.rows], self.right[tile.columns].T, out=x)
            if tile.square:
                height = len(x)
                x[:, :height].masked_fill_(pairs.below[:height, :height], -math.inf)
        torch.sigmoid(self.x, out=self.h)
        self.link = self.x[blocks.link].double()
        self.at = np.full(len(blocks.stretches), np.nan)
        self.share = np.zeros((3, len(blocks.stretches)))
        self.area = np.array([s.pairs for s in blocks.stretches], dtype=float)
        self.soft = np.zeros(len(blocks.stretches))

    def fit_loss(self) -> float:
        """Weighted mean of the cross-entropy."""
        self.soft = self._soft(np.zeros(len(self.area)))
        link, other = self.pairs.weights
        loss = other * self.soft.sum()
        loss += float(((link - other) * softplus(self.link) - link * self.link).sum())
        return float(self.pairs.team.add(np.array([loss]))[0]) / self.pairs.total

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums per cell at ``tilt (M,)``."""
        for r in np.flatnonzero((self.pairs.cell >= 0) & (self.area > 0)).tolist():
            t = float(tilt[self.pairs.cell[r]])
            if t != self.at[r]:
                self._sum_stretch(r, t)
        count = len(tilt)
        sums = np.zeros((3, count))
        used = self.pairs.cell >= 0
        for k in range(3):
            weighted = self.pairs.weights.other * self.share[k, used]
            sums[k] = np.bincount(self.pairs.cell[used], weighted, minlength=count)
        for cell, weight in self._link_parts():
            z = self.link + _spread(tilt, cell)
            yes, no = torch.sigmoid(z), torch.sigmoid(-z)
            for k, value in enumerate((yes, no, yes * no)):
                sums[k] += weight * _add(value, cell, count)
        return Sums(*self.pairs.team.add(sums))

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence per cell in nats at ``tilt (M,)``."""
        cell = self.pairs.cell
        t = np.where(cell >= 0, tilt[cell], 0.0)
        self(tilt)
        shift = np.where(t != 0, self._soft(t) - self.soft, 0.0)
        each = self.pairs.weights.other * (t * self.share[0] - shift)
        total = np.zeros(len(tilt))
        np.add.at(total, cell[cell >= 0], each[cell >= 0])
        for link_cell, weight in self._link_parts():
            part = _divergence(self.link, _spread(tilt, link_cell))
            total += weight * _add(part, link_cell, len(tilt))
        return self.pairs.team.add(total)

    def backward(self, gamma: float, tilt: np.ndarray | None) -> None:
        """Add the gradient of the loss to the model's parameters."""
        link, other = (weight / self.pairs.total for weight in self.pairs.weights)
        gradient = torch.sigmoid(self.link).sub_(1).mul_(link)
        if tilt is None or gamma == 0:
            torch.mul(self.h, other, out=self.q)
        else:
            assert self.cells is not None
            self(tilt)
            heavy = gamma / self.cells.total
            self._pull(other, heavy * self.pairs.weights.other)
            cell = self.pairs.link_cells[1]
            shift = torch.sigmoid(self.link) - torch.sigmoid(self.link + _spread(tilt, cell))
            gradient += heavy * self.pairs.weights.link * shift
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
        ends = []
        for value, nodes, whole in zip(
            (left, right), (blocks.rows, blocks.columns), self.history, strict=True
        ):
            ends.append(torch.zeros_like(whole.detach()).index_copy_(0, nodes, value))
        if self.history[0] is self.history[1]:
            self.history[0].backward(ends[0] + ends[1])
        else:
            torch.autograd.backward(self.history, ends)

    def _sum_stretch(self, r: int, tilt: float) -> None:
        """Sums of one stretch at one tilt; the probabilities stay for the gradient."""
        stretch = self.pairs.blocks.stretches[r]
        x, prob = self.x[stretch.begin : stretch.end], self.h[stretch.begin : stretch.end]
        if tilt != 0:
            prob = self.q[stretch.begin : stretch.end]
            torch.add(x, tilt, out=prob).sigmoid_()
        yes, square = _sum(prob), float(torch.dot(prob, prob))
        no, spread = self.area[r] - yes, yes - square
        if yes > 0.75 * self.area[r]:
            lack = torch.sigmoid(-(x + tilt)).masked_fill_(x == -math.inf, 0.0)
            no = _sum(lack)
            spread = no - float(torch.dot(lack, lack))
        self.at[r] = tilt
        self.share[:, r] = yes, no, spread

    def _soft(self, tilt: np.ndarray) -> np.ndarray:
        """Σ softplus(x + t) of each stretch."""
        out = np.zeros(len(tilt))
        for r, stretch in enumerate(self.pairs.blocks.stretches):
            x = self.x[stretch.begin : stretch.end]
            out[r] = _sum(softplus(x + tilt[r] if tilt[r] else x))
        return out

    def _link_parts(self) -> list[tuple[Tensor, float]]:
        """What links add beyond the stretches: cell of each link, and its weight there."""
        plain, linked = self.pairs.link_cells
        link, other = self.pairs.weights
        if bool((plain == linked).all()):
            return [(linked, link - other)]
        return [(linked, link), (plain, -other)]


def _spread(tilt: np.ndarray, cell: Tensor) -> Tensor:
    """Tilt of each link; 0 for one that is unconstrained."""
    return torch.from_numpy(np.append(tilt, 0.0))[cell]


def _add(values: Tensor, cell: Tensor, count: int) -> np.ndarray:
    return torch.bincount(cell + 1, values, minlength=count + 1)[1:].numpy()
