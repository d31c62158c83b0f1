"""The same sums from tensors: in their own type, on their device, chunk by chunk.

A cell is summed from its smaller side, and the other side is the cell's weight less that.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.criteria.cells import Cells
from linkparity.projection.chunks import Chunk, placed, split_chunks
from linkparity.projection.sums import RememberedSums, Sums
from linkparity.support.arrays import SMALL, sum_segments

#: Tilts beyond these lose digits in the short formula for the KL-divergence.
STEEP = {torch.float32: 6.0, torch.float64: 20.0}


def tensor_sums(logits: Tensor, cells: Cells, exact: bool = False) -> "TensorSums":
    """Sums over ``logits (P,)`` in memory: chunk by chunk, or at once when all cells are small.

    Args:
        logits: ``(P,)``, finite.
        cells: the cells of these pairs.
        exact: compute in float64 whatever the logits' type.
    """
    order, weight = placed(cells, logits.device)
    x = logits if order is None else logits.index_select(0, order)
    small = len(x) < SMALL * np.count_nonzero(cells.mass) or not len(x)
    if exact or small:
        x = x.double()
    elif x.dtype not in (torch.float32, torch.float64):
        x = x.float()
    return SegmentSums(x, weight, cells.start) if small else ChunkedSums(x, cells)


class SegmentSums(RememberedSums):
    """Sums over many small cells at once, in float64.

    Args:
        x: ``(P,)`` float64 logits in cell order.
        weight: ``(P,)`` their weights, or None for 1 each.
        start: ``(M + 1,)`` where each cell begins.
    """

    digits = 64

    def __init__(self, x: Tensor, weight: Tensor | None, start: np.ndarray) -> None:
        super().__init__()
        self.x = x
        self.start, self.sizes = start, np.diff(start)
        self.weight = None if weight is None else weight.double()

    def compute(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        z = self.x + self._per_pair(tilt)
        yes, no = torch.sigmoid(z), torch.sigmoid(-z)
        return Sums(*self._add(torch.stack([yes, no, yes * no])))

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence of the tilted pairs to the pairs, in nats."""
        return self._add(pair_divergence(self.x, self._per_pair(tilt)))

    def shift(self, tilt: np.ndarray, reuse: bool = False) -> Tensor:
        """``w (σ(x) − σ(x + t))``, the gradient of the KL-divergence, in cell order."""
        change = torch.sigmoid(self.x) - torch.sigmoid(self.x + self._per_pair(tilt))
        return change if self.weight is None else self.weight * change

    def slope(self) -> Tensor:
        """``w σ(1 − σ)(x)`` in cell order."""
        slope = torch.sigmoid(self.x) * torch.sigmoid(-self.x)
        return slope if self.weight is None else self.weight * slope

    def split(self, values: Tensor) -> tuple[Tensor, ...]:
        """``(P,)`` values by cell, as views."""
        return torch.split_with_sizes(values, self.sizes.tolist())

    def close(self) -> None:
        """Release nothing: no working memory is borrowed."""

    def _per_pair(self, tilt: np.ndarray) -> Tensor:
        return torch.from_numpy(np.repeat(tilt, self.sizes)).to(self.x.device)

    def _add(self, values: Tensor) -> np.ndarray:
        """Weighted sums of values ``(…, P)`` per cell."""
        weighted = values if self.weight is None else values * self.weight
        return sum_segments(weighted.cpu().numpy(), self.start)


class ChunkedSums(RememberedSums):
    """Sums over large cells, a chunk of pairs at a time; small cells among them are summed apart.

    Up to one chunk of pairs, σ(x) and σ(x + t) are kept, in a buffer borrowed from the cells, since
    new memory costs more than the arithmetic. σ is taken of a cell's smaller side.

    Args:
        x: ``(P,)`` float32 or float64 logits of the constrained pairs in cell order.
        cells: their cells.
    """

    def __init__(self, x: Tensor, cells: Cells) -> None:
        super().__init__()
        self.x = x
        self.digits = 8 * x.itemsize
        self.cells = cells
        self.weight, self.unit = None, 1.0
        _, weight = placed(cells, x.device)
        if weight is not None:  # in units of the largest, which float32 holds
            self.unit = float(weight.max())
            wide = weight.to(torch.promote_types(weight.dtype, x.dtype))
            self.weight = (wide / self.unit).to(x.dtype)
        self.mass = cells.mass / self.unit
        if "chunks" not in cells.kept:
            cells.kept["chunks"] = split_chunks(cells.start)
        self.chunks: list[Chunk] = cells.kept["chunks"]
        self.buffer = _borrow(cells.pool, x[: self.chunks[0].high], 3)
        self.side = np.ones(len(cells.mass))
        self.kept: list[tuple[bytes, bytes, int] | None] = [None, None]
        self.small, self.rest = _small_cells(x, weight, cells)

    def close(self) -> None:
        """Return the borrowed buffer."""
        self.cells.pool[:] = [self.buffer]

    def compute(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        smaller, square = self._smaller_side(tilt)
        over = smaller > 0.75 * self.mass
        if over.any():
            self.side = np.where(over, -self.side, self.side)
            smaller, square = self._smaller_side(tilt)
        variance = smaller - square
        lost = (variance < 1e-3 * smaller) & (self.mass > 0)
        for m in np.flatnonzero(lost).tolist():  # the difference has too few digits
            variance[m] = self._exact_variance(m, tilt[m])
        larger = self.mass - smaller
        up = self.side > 0
        sums = Sums(
            self.unit * np.where(up, smaller, larger),
            self.unit * np.where(up, larger, smaller),
            self.unit * variance,
        )
        if self.rest is not None:
            for whole, part in zip(sums, self.rest(tilt[self.small]), strict=True):
                whole[self.small] = part
        return sums

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        r"""``(M,)`` KL-divergence of the tilted pairs to the pairs, in nats.

        :math:`\sum w [t \sigma(x + t) - \log(1 + \sigma(x)(e^t - 1))]`, from the smaller side.
        """
        sums = self(tilt)  # which may change the sides
        turned = self.side * tilt
        steep = np.abs(turned) > STEEP[self.x.dtype]
        factor = np.expm1(np.where(steep, 0.0, turned))
        log = np.zeros(len(tilt))
        for number, chunk in enumerate(self.chunks):
            plain = self._prob(0, number, chunk, np.zeros_like(tilt))
            spare = self.buffer[2, : len(plain)]
            parts = zip(chunk.segments, chunk.split(plain), chunk.split(spare), strict=True)
            for (m, _, _), part, into in parts:
                torch.mul(part, float(factor[m]), out=into)
            log += chunk.sum(self._weigh(spare.log1p_(), chunk, spare))
        total = turned * np.where(self.side > 0, sums.yes, sums.no) - self.unit * log
        for m in np.flatnonzero(steep & (self.mass > 0)).tolist():
            total[m] = self.unit * self._exact_divergence(m, tilt[m])
        if self.rest is not None:
            total[self.small] = self.rest.divergence(tilt[self.small])
        return np.where(tilt == 0, 0.0, total)

    def shift(self, tilt: np.ndarray, reuse: bool = False) -> Tensor:
        """``w (σ(x) − σ(x + t))``, the gradient of the KL-divergence, in cell order.

        With ``reuse`` in memory that the next sums may overwrite, where it is large enough.
        """
        single = reuse and len(self.chunks) == 1
        out = self.buffer[2, : len(self.x)] if single else torch.empty_like(self.x)
        for number, chunk in enumerate(self.chunks):
            plain = self._prob(0, number, chunk, np.zeros_like(tilt))
            tilted = self._prob(1, number, chunk, tilt)
            here = torch.sub(plain, tilted, out=out[chunk.low : chunk.high])
            for (m, _, _), part in zip(chunk.segments, chunk.split(here), strict=True):
                if self.side[m] < 0:
                    part.neg_()
            self._weigh(here, chunk, here)
        if self.unit != 1:
            out.mul_(self.unit)
        if self.rest is not None:
            values = self.rest.shift(tilt[self.small]).to(out.dtype)
            for m, part in zip(self.small, self.rest.split(values), strict=True):
                out[self.cells.start[m] : self.cells.start[m + 1]] = part
        return out

    def slope(self) -> Tensor:
        """``w σ(1 − σ)(x)`` in cell order."""
        slope = torch.sigmoid(self.x)
        slope.mul_(torch.sigmoid(-self.x))
        return slope if self.weight is None else slope.mul_(self.weight).mul_(self.unit)

    def _smaller_side(self, tilt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Per cell the sum of the smaller side's probabilities p, and of p²."""
        smaller, square = np.zeros((2, len(tilt)))
        for number, chunk in enumerate(self.chunks):
            prob = self._prob(int(tilt.any()), number, chunk, tilt)
            weighted = self._weigh(prob, chunk, self.buffer[2, : len(prob)])
            smaller += chunk.sum(weighted)
            parts = chunk.split(prob)
            weighted_parts = parts if weighted is prob else chunk.split(weighted)
            for (m, _, _), part, other in zip(chunk.segments, parts, weighted_parts, strict=True):
                square[m] += float(torch.dot(other, part))
        return smaller, square

    def _prob(self, kind: int, number: int, chunk: Chunk, tilt: np.ndarray) -> Tensor:
        """σ(side · (x + tilt)) of a chunk; kind 0 is tilt 0. Kept until the next chunk."""
        out = self.buffer[kind, : chunk.high - chunk.low]
        key = (tilt.tobytes(), self.side.tobytes(), number)
        if self.kept[kind] == key:
            return out
        self.kept[kind] = key
        x = self.x[chunk.low : chunk.high]
        if kind == 0 and (self.side > 0).all():
            return torch.sigmoid(x, out=out)
        parts = zip(chunk.segments, chunk.split(x), chunk.split(out), strict=True)
        for (m, _, _), part, into in parts:
            if self.side[m] > 0:
                torch.add(part, float(tilt[m]), out=into)
            else:
                torch.neg(part, out=into).sub_(float(tilt[m]))
        return out.sigmoid_()

    def _weigh(self, values: Tensor, chunk: Chunk, out: Tensor) -> Tensor:
        if self.weight is None:
            return values
        return torch.mul(values, self.weight[chunk.low : chunk.high], out=out)

    def _exact(self, m: int) -> tuple[Tensor, Tensor | float]:
        part = slice(int(self.cells.start[m]), int(self.cells.start[m + 1]))
        return self.x[part].double(), 1.0 if self.weight is None else self.weight[part].double()

    def _exact_variance(self, m: int, tilt: float) -> float:
        x, weight = self._exact(m)
        return float((torch.sigmoid(x + tilt) * torch.sigmoid(-x - tilt) * weight).sum())

    def _exact_divergence(self, m: int, tilt: float) -> float:
        x, weight = self._exact(m)
        return float((pair_divergence(x, torch.tensor(tilt).to(x)) * weight).sum())


TensorSums = ChunkedSums | SegmentSums


def _borrow(pool: list[Tensor], like: Tensor, count: int) -> Tensor:
    """``(count, len(like))`` of working memory, uninitialised; the returned one if it fits."""
    try:
        buffer = pool.pop()
    except IndexError:
        buffer = None
    same = None if buffer is None else (buffer.shape, buffer.dtype, buffer.device)
    if buffer is not None and same == ((count, len(like)), like.dtype, like.device):
        return buffer
    with torch.inference_mode(False):
        return torch.empty((count, len(like)), dtype=like.dtype, device=like.device)


def _small_cells(
    x: Tensor, weight: Tensor | None, cells: Cells
) -> tuple[np.ndarray, SegmentSums | None]:
    """Cells that are too small for float32, and their sums in float64."""
    sizes = np.diff(cells.start)
    small = np.flatnonzero((sizes < SMALL) & (cells.mass > 0))
    if x.dtype == torch.float64 or not len(small):
        return small[:0], None
    parts = [slice(int(cells.start[m]), int(cells.start[m + 1])) for m in small]
    weight = None if weight is None else torch.cat([weight[part] for part in parts])
    start = np.concatenate([[0], np.cumsum(sizes[small])])
    return small, SegmentSums(torch.cat([x[p] for p in parts]).double(), weight, start)


def pair_divergence(x: Tensor, tilt: Tensor) -> Tensor:
    r"""KL(σ(x + t) ‖ σ(x)) elementwise, exact for any finite x and t.

    With :math:`y = -|x|` and :math:`\tau = \mp t` the tilt of that side,
    :math:`\tau \sigma(y + \tau) - \log(1 + \sigma(y)(e^\tau - 1))`.
    """
    y = -x.abs()
    turned = torch.where(x > 0, -tilt, tilt)
    near = torch.log1p(torch.sigmoid(y) * torch.expm1(turned))
    log = torch.where(turned > 30, softplus(y + turned) - softplus(y), near)
    return turned * torch.sigmoid(y + turned) - log
