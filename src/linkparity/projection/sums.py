r"""The sums per cell that the solver asks for, from logits in memory.

.. math:: S_m = \sum w\,\sigma(x + t_m) \qquad R_m = \sum w\,\sigma(-x - t_m) \qquad
          V_m = \sum w\,\sigma(1 - \sigma)(x + t_m)

S and R are kept apart because a mean of h near 1 is only told from 1 by R: a cell is summed from
its smaller side, and the other side is the cell's weight less that.
"""

from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.criteria.cells import Cells
from linkparity.support.segments import SMALL, Chunk, sum_segments

#: Tilts beyond these lose digits in the short formula for the KL-divergence.
STEEP = {torch.float32: 6.0, torch.float64: 20.0}


class Sums(NamedTuple):
    """Weighted sums per cell, ``(M,)`` float64 each: of p, of 1 − p, of p(1 − p)."""

    yes: np.ndarray
    no: np.ndarray
    spread: np.ndarray


class SumSource(Protocol):
    """Wherever the pairs live: all that the solver knows of them."""

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        ...


class RememberedSums:
    """Sums at tilt 0 and at the last tilt are remembered: a pass over the pairs is what costs."""

    def __init__(self) -> None:
        self._known: list[tuple[np.ndarray, Sums] | None] = [None, None]

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        kind = int(tilt.any())
        known = self._known[kind]
        if known is None or not np.array_equal(known[0], tilt):
            self._known[kind] = known = (tilt.copy(), self.compute(tilt))
        return known[1]

    def compute(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``, by a pass over the pairs."""
        raise NotImplementedError


def tensor_sums(logits: Tensor, cells: Cells, exact: bool = False) -> "TensorSums":
    """Sums over ``logits (P,)`` in memory: page by page, or scattered when all cells are small.

    Args:
        logits: ``(P,)``, finite.
        cells: the cells of these pairs.
        exact: compute in float64 whatever the logits' type.
    """
    x = logits if cells.order is None else logits.index_select(0, cells.order)
    small = len(x) < SMALL * np.count_nonzero(cells.mass) or not len(x)
    if exact or small:
        x = x.double()
    elif x.dtype not in (torch.float32, torch.float64):
        x = x.float()
    return SegmentSums(x, cells.weight, cells.start) if small else ChunkedSums(x, cells)


class SegmentSums(RememberedSums):
    """Sums over many small cells at once, in float64.

    Args:
        x: ``(P,)`` float64 logits in cell order.
        weight: ``(P,)`` their weights, or None for 1 each.
        start: ``(M + 1,)`` where each cell begins.
    """

    def __init__(self, x: Tensor, weight: Tensor | None, start: np.ndarray) -> None:
        super().__init__()
        self.x = x
        self.start, self.sizes = start, np.diff(start)
        self.weight = None if weight is None else weight.double()

    def compute(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        z = self.x + self._spread(tilt)
        yes, no = torch.sigmoid(z), torch.sigmoid(-z)
        return Sums(*self._add(torch.stack([yes, no, yes * no])))

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence of the tilted pairs to the pairs, in nats."""
        return self._add(pair_divergence(self.x, self._spread(tilt)))

    def shift(self, tilt: np.ndarray) -> Tensor:
        """``w (σ(x) − σ(x + t))``, the gradient of the KL-divergence, in cell order."""
        change = torch.sigmoid(self.x) - torch.sigmoid(self.x + self._spread(tilt))
        return change if self.weight is None else self.weight * change

    def slope(self) -> Tensor:
        """``w σ(1 − σ)(x)`` in cell order."""
        slope = torch.sigmoid(self.x) * torch.sigmoid(-self.x)
        return slope if self.weight is None else self.weight * slope

    def close(self) -> None:
        """Nothing to give back."""

    def _spread(self, tilt: np.ndarray) -> Tensor:
        return torch.from_numpy(np.repeat(tilt, self.sizes)).to(self.x.device)

    def _add(self, values: Tensor) -> np.ndarray:
        """Weighted sums of values ``(…, P)`` per cell."""
        heavy = values if self.weight is None else values * self.weight
        return sum_segments(heavy.cpu().numpy(), self.start)


class ChunkedSums(RememberedSums):
    """Sums over large cells, a page of pairs at a time; any small cells among them are scattered.

    Few pairs are one page, and then σ(x) and σ(x + t) are kept, in memory that the cells lend,
    as fresh memory costs more than the arithmetic. σ is taken of a cell's smaller side.

    Args:
        x: ``(P,)`` float32 or float64 logits of the constrained pairs in cell order.
        cells: their cells.
    """

    def __init__(self, x: Tensor, cells: Cells) -> None:
        super().__init__()
        self.x = x
        self.cells = cells
        self.weight, self.unit = None, 1.0
        if cells.weight is not None:  # in units of the largest, which float32 holds
            self.unit = float(cells.weight.max())
            wide = cells.weight.to(torch.promote_types(cells.weight.dtype, x.dtype))
            self.weight = (wide / self.unit).to(x.dtype)
        self.mass = cells.mass / self.unit
        self.pages = cells.pages
        self.room = cells.lend(x[: self.pages[0].high], 3)
        self.side = np.ones(len(cells.mass))
        self.held: list[tuple[np.ndarray, np.ndarray, int] | None] = [None, None]
        self.small, self.rest = _small_cells(x, cells)

    def close(self) -> None:
        """Give the lent memory back."""
        self.cells.give_back(self.room)

    def compute(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        share, square = self._share(tilt)
        over = share > 0.75 * self.mass
        if over.any():
            self.side = np.where(over, -self.side, self.side)
            share, square = self._share(tilt)
        spread = share - square
        lost = (spread < 1e-3 * share) & (self.mass > 0)
        for m in np.flatnonzero(lost).tolist():  # nearly all 0 or 1: the digits are gone
            spread[m] = self._exact_spread(m, tilt[m])
        rest = self.mass - share
        up = self.side > 0
        sums = Sums(
            self.unit * np.where(up, share, rest),
            self.unit * np.where(up, rest, share),
            self.unit * spread,
        )
        if self.rest is not None:
            for whole, part in zip(sums, self.rest(tilt[self.small]), strict=True):
                whole[self.small] = part
        return sums

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        r"""``(M,)`` KL-divergence of the tilted pairs to the pairs, in nats.

        :math:`\sum w [t \sigma(x + t) - \log(1 + \sigma(x)(e^t - 1))]`, from the smaller side.
        """
        leap = self.side * tilt
        steep = np.abs(leap) > STEEP[self.x.dtype]
        factor = np.expm1(np.where(steep, 0.0, leap))
        log = np.zeros(len(tilt))
        for number, page in enumerate(self.pages):
            plain = self._prob(0, number, page, np.zeros_like(tilt))
            spare = self.room[2, : len(plain)]
            parts = zip(page.cells, page.split(plain), page.split(spare), strict=True)
            for (m, _, _), part, out in parts:
                torch.mul(part, float(factor[m]), out=out)
            log += page.sum(self._weigh(spare.log1p_(), page, spare))
        sums = self(tilt)
        total = leap * np.where(self.side > 0, sums.yes, sums.no) - self.unit * log
        for m in np.flatnonzero(steep & (self.mass > 0)).tolist():
            total[m] = self.unit * self._exact_divergence(m, tilt[m])
        if self.rest is not None:
            total[self.small] = self.rest.divergence(tilt[self.small])
        return np.where(tilt == 0, 0.0, total)

    def shift(self, tilt: np.ndarray) -> Tensor:
        """``w (σ(x) − σ(x + t))``, the gradient of the KL-divergence, in cell order."""
        out = torch.empty_like(self.x)
        for number, page in enumerate(self.pages):
            plain = self._prob(0, number, page, np.zeros_like(tilt))
            tilted = self._prob(1, number, page, tilt)
            here = torch.sub(plain, tilted, out=out[page.low : page.high])
            for (m, _, _), part in zip(page.cells, page.split(here), strict=True):
                if self.side[m] < 0:
                    part.neg_()
            self._weigh(here, page, here)
        if self.unit != 1:
            out.mul_(self.unit)
        if self.rest is not None:
            values = self.rest.shift(tilt[self.small]).to(out.dtype)
            for m, part in zip(
                self.small, torch.split_with_sizes(values, self._sizes()), strict=True
            ):
                out[self.cells.start[m] : self.cells.start[m + 1]] = part
        return out

    def slope(self) -> Tensor:
        """``w σ(1 − σ)(x)`` in cell order."""
        slope = torch.sigmoid(self.x)
        slope.mul_(torch.sigmoid(-self.x))
        return slope if self.weight is None else slope.mul_(self.weight).mul_(self.unit)

    def _sizes(self) -> list[int]:
        sizes = np.diff(self.cells.start)[self.small]
        return [int(size) for size in sizes]

    def _share(self, tilt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Per cell the sum of the smaller side's probabilities p, and of p²."""
        share, square = np.zeros((2, len(tilt)))
        for number, page in enumerate(self.pages):
            prob = self._prob(int(tilt.any()), number, page, tilt)
            heavy = self._weigh(prob, page, self.room[2, : len(prob)])
            share += page.sum(heavy)
            parts = page.split(prob)
            twins = parts if heavy is prob else page.split(heavy)
            for (m, _, _), part, twin in zip(page.cells, parts, twins, strict=True):
                square[m] += float(torch.dot(twin, part))
        return share, square

    def _prob(self, kind: int, number: int, page: Chunk, tilt: np.ndarray) -> Tensor:
        """σ(side · (x + tilt)) of a page; kind 0 is tilt 0. Kept while there is one page."""
        place = self.room[kind, : page.high - page.low]
        held = self.held[kind]
        if (
            held is not None
            and held[2] == number
            and np.array_equal(held[0], tilt)
            and np.array_equal(held[1], self.side)
        ):
            return place
        self.held[kind] = (tilt.copy(), self.side.copy(), number)
        x = self.x[page.low : page.high]
        if kind == 0 and (self.side > 0).all():
            return torch.sigmoid(x, out=place)
        for (m, _, _), part, out in zip(page.cells, page.split(x), page.split(place), strict=True):
            if self.side[m] > 0:
                torch.add(part, float(tilt[m]), out=out)
            else:
                torch.neg(part, out=out).sub_(float(tilt[m]))
        return place.sigmoid_()

    def _weigh(self, values: Tensor, page: Chunk, out: Tensor) -> Tensor:
        if self.weight is None:
            return values
        return torch.mul(values, self.weight[page.low : page.high], out=out)

    def _exact(self, m: int) -> tuple[Tensor, Tensor | float]:
        part = slice(int(self.cells.start[m]), int(self.cells.start[m + 1]))
        return self.x[part].double(), 1.0 if self.weight is None else self.weight[part].double()

    def _exact_spread(self, m: int, tilt: float) -> float:
        x, weight = self._exact(m)
        return float((torch.sigmoid(x + tilt) * torch.sigmoid(-x - tilt) * weight).sum())

    def _exact_divergence(self, m: int, tilt: float) -> float:
        x, weight = self._exact(m)
        return float((pair_divergence(x, torch.tensor(tilt).to(x)) * weight).sum())


TensorSums = ChunkedSums | SegmentSums


def _small_cells(x: Tensor, cells: Cells) -> tuple[np.ndarray, SegmentSums | None]:
    """Cells too small for float32, and their sums in float64."""
    sizes = np.diff(cells.start)
    small = np.flatnonzero((sizes < SMALL) & (cells.mass > 0))
    if x.dtype == torch.float64 or not len(small):
        return small[:0], None
    parts = [slice(int(cells.start[m]), int(cells.start[m + 1])) for m in small]
    weight = None if cells.weight is None else torch.cat([cells.weight[part] for part in parts])
    start = np.concatenate([[0], np.cumsum(sizes[small])])
    return small, SegmentSums(torch.cat([x[p] for p in parts]).double(), weight, start)


def pair_divergence(x: Tensor, tilt: Tensor) -> Tensor:
    r"""KL(σ(x + t) ‖ σ(x)) elementwise, exact for any finite x and t.

    With :math:`y = -|x|` and :math:`\tau = \mp t` the tilt of that side,
    :math:`\tau \sigma(y + \tau) - \log(1 + \sigma(y)(e^\tau - 1))`.
    """
    y = -x.abs()
    leap = torch.where(x > 0, -tilt, tilt)
    near = torch.log1p(torch.sigmoid(y) * torch.expm1(leap))
    log = torch.where(leap > 30, softplus(y + leap) - softplus(y), near)
    return leap * torch.sigmoid(y + leap) - log
