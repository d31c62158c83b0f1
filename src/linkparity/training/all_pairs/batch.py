"""Training on every pair at once: logits in blocks, sums per segment, gradients by products."""

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.criteria import Cells, Criterion
from linkparity.graph.graph import Graph
from linkparity.projection.sums import RememberedSums, SegmentSums, Sums
from linkparity.training.all_pairs.layout import TILE, lay_out
from linkparity.training.all_pairs.nonlinks import PIECE, choose_nonlinks
from linkparity.training.distributed import Processes
from linkparity.training.objective import PairWeights, push_back, widen

if TYPE_CHECKING:
    from linkparity.models import LinkModel

#: Below this tilt, sums in float32 have fewer digits of the divergence than its series.
SMALL_TILT = 0.02


class AllPairs:
    """Every pair of a graph with its expected weight: one batch per epoch, nothing random.

    Args:
        graph: whose pairs.
        weights: of a link and of any other pair.
        criterion: that sorts pairs into cells, or None.
        processes: the processes that share the pairs.
        parity: weights in the cells, where they are not those of the fit.
    """

    def __init__(
        self,
        graph: Graph,
        weights: PairWeights,
        criterion: Criterion | None,
        processes: Processes,
        parity: PairWeights | None = None,
    ) -> None:
        self.weights, self.processes = weights, processes
        self.parity = weights if parity is None else parity
        self.blocks = lay_out(graph, processes.rank, processes.size)
        #: Pairs of each segment that are no links.
        self.area = np.array([s.pairs - s.links for s in self.blocks.segments], dtype=float)
        self.total = weights.other * (graph.num_pairs - graph.num_links)
        self.total += weights.link * graph.num_links
        self.cells = None if criterion is None else self._cells(criterion)
        if self.cells is not None:
            #: The cell of each segment's other pairs, and of its links; −1 is none.
            self.other_cell, self.link_cell = self.cells.cell.view(2, -1).numpy()
            self.used = (self.other_cell >= 0) & (self.area > 0)
        self.below = torch.ones(TILE, TILE, dtype=torch.bool).tril_()
        self.buffers: tuple[Tensor, ...] = ()

    def __len__(self) -> int:
        return 1

    def score(self, model: "LinkModel", batch: int = 0) -> "AllPairsBatch":
        """The model's logits on every pair."""
        factors = model.factors()
        assert factors is not None
        dtype, size = widen(factors[0]).dtype, self.blocks.size
        if not self.buffers or self.buffers[0].dtype != dtype:
            sizes = (size, size, size, min(size, PIECE))
            self.buffers = tuple(torch.empty(count, dtype=dtype) for count in sizes)
        return AllPairsBatch(self, *factors)

    def _cells(self, criterion: Criterion) -> Cells:
        """The cell of each segment's other pairs, then of its links, with the weight of all."""
        segments = self.blocks.segments
        groups = torch.tensor([segment.groups for segment in segments]).reshape(-1, 2)
        counts = np.array([[s.pairs - s.links, s.links] for s in segments], dtype=float).T
        counts = self.processes.add(counts * [[self.parity.other], [self.parity.link]])
        label = torch.tensor([0, 1]).repeat_interleave(len(groups))
        return Cells.prepare(groups.repeat(2, 1), criterion, label, counts.reshape(-1))


class AllPairsBatch(RememberedSums):
    """Every pair with the logits of one moment.

    Args:
        pairs: the layout.
        left: ``(n, D)`` factors, with their history.
        right: ``(n, D)``.
    """

    def __init__(self, pairs: AllPairs, left: Tensor, right: Tensor) -> None:
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
        none = np.zeros(len(self.pairs.area))
        self.softplus = self.others.softplus_sums(none, none == 0)
        self.link_softplus = self._link_softplus(none)
        link, other = self.pairs.weights
        loss = link * (self.link_softplus.sum() - float(self.links.x.sum()))
        loss += other * self.softplus.sum()
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
        own, linked = self._tilts(tilt)
        self._evaluate_at(own)
        total = np.zeros((1, len(tilt)))
        tilted = (own != 0) & (self.pairs.area > 0)
        if tilted.any():
            yes, _, variance = self.others.sums
            small = np.abs(own) < SMALL_TILT
            each = own * yes - self.others.softplus_sums(own, tilted & ~small) + self.softplus
            each = np.where(small, own**2 * (self.variance / 6 + variance / 3), each)
            self._collect(total, np.where(tilted, each, 0.0)[None], 0)
        soft = self._link_softplus(linked) - self.link_softplus
        self._collect(total, (linked * self.links(linked).yes - soft)[None], 1)
        return self.pairs.processes.add(total[0])

    def backward(self, gamma: float, tilt: np.ndarray | None, fit: float = 1.0) -> None:
        """Add the gradient of ``fit`` · fit + γ · divergence to the model's parameters."""
        link, other = (fit * weight / self.pairs.total for weight in self.pairs.weights)
        gradient = (torch.sigmoid(self.links.x) - 1) * link
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
