r"""The sums per cell that the solver asks for, from logits in memory.

.. math:: S_m = \sum w\,\sigma(x + t_m) \qquad R_m = \sum w\,\sigma(-x - t_m) \qquad
          V_m = \sum w\,\sigma(1 - \sigma)(x + t_m)

S and R are kept apart because a mean of h near 1 is only told from 1 by R: a cell is summed from
its smaller side, and the other side is the cell's weight less that.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.criteria.cells import Cells

#: Cells below this many pairs are computed in float64 whatever the logits' type.
SMALL = 4096
#: A cell is worked through in pieces of at most this many pairs.
PIECE = 1 << 22
#: Above this many pairs, probabilities are computed again instead of being kept.
KEEP = 1 << 25
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


def tensor_sums(logits: Tensor, cells: Cells, exact: bool = False) -> "TensorSums":
    """Sums over ``logits (P,)`` in memory: slice by slice, or scattered when cells are small.

    Args:
        logits: ``(P,)``, finite.
        cells: the cells of these pairs.
        exact: compute in float64 whatever the logits' type.
    """
    x = logits if cells.order is None else logits.index_select(0, cells.order)
    if exact or len(x) < SMALL * np.count_nonzero(cells.mass):
        x = x.double()
    elif x.dtype not in (torch.float32, torch.float64):
        x = x.float()
    if len(x) < SMALL * np.count_nonzero(cells.mass):
        return ScatteredSums(x, cells)
    return SlicedSums(x, cells)


class ScatteredSums:
    """Sums over many small cells at once, in float64.

    Args:
        x: ``(P,)`` float64 logits of the constrained pairs in cell order.
        cells: their cells.
    """

    def __init__(self, x: Tensor, cells: Cells) -> None:
        self.x = x
        sizes = torch.as_tensor(np.diff(cells.start), device=x.device)
        self.cell = torch.arange(len(sizes), device=x.device).repeat_interleave(sizes)
        self.weight = torch.ones_like(x) if cells.weight is None else cells.weight.double()
        self.size = len(cells.mass)

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        z = self.x + self._spread(tilt)
        yes, no = torch.sigmoid(z), torch.sigmoid(-z)
        heavy = self.weight * yes
        return Sums(self._add(heavy), self._add(self.weight * no), self._add(heavy * no))

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence of the tilted pairs to the pairs, in nats."""
        return self._add(self.weight * _divergence(self.x, self._spread(tilt)))

    def shift(self, tilt: np.ndarray) -> Tensor:
        """``w (σ(x) − σ(x + t))``, the gradient of the KL-divergence, in cell order."""
        return self.weight * (torch.sigmoid(self.x) - torch.sigmoid(self.x + self._spread(tilt)))

    def slope(self) -> Tensor:
        """``w σ(1 − σ)(x)`` in cell order."""
        return self.weight * torch.sigmoid(self.x) * torch.sigmoid(-self.x)

    def _spread(self, tilt: np.ndarray) -> Tensor:
        return torch.as_tensor(tilt, device=self.x.device)[self.cell]

    def _add(self, values: Tensor) -> np.ndarray:
        total = torch.zeros(self.size, dtype=torch.float64, device=values.device)
        return total.index_add_(0, self.cell, values).cpu().numpy()


class SlicedSums:
    """Sums over large cells, each a slice. A cell whose tilt stays is not summed again.

    Args:
        x: ``(P,)`` float32 or float64 logits of the constrained pairs in cell order.
        cells: their cells.
    """

    def __init__(self, x: Tensor, cells: Cells) -> None:
        self.x = x
        self.start = cells.start
        self.mass = cells.mass
        self.weight = cells.weight if cells.weight is None else cells.weight.to(x.dtype)
        self.side = np.ones(len(cells.mass))
        self.keep = len(x) <= KEEP
        self.kept: dict[int, _Kept] = {}
        self.plain: dict[int, _Kept] = {}
        self.last = Sums(*np.zeros((3, len(cells.mass))))
        self.last_tilt = np.full(len(cells.mass), np.nan)

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        for m in np.flatnonzero((tilt != self.last_tilt) & (self.mass > 0)).tolist():
            share, spread = self._share(m, tilt[m])
            if share > 0.75 * self.mass[m]:
                self.side[m] = -self.side[m]
                share, spread = self._share(m, tilt[m])
            rest = self.mass[m] - share
            yes, no = (share, rest) if self.side[m] > 0 else (rest, share)
            self.last.yes[m], self.last.no[m], self.last.spread[m] = yes, no, spread
        self.last_tilt = tilt.copy()
        return Sums(*(part.copy() for part in self.last))

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence of the tilted pairs to the pairs, in nats."""
        total = np.zeros(len(tilt))
        for m in np.flatnonzero((tilt != 0) & (self.mass > 0)).tolist():
            total[m] = self._divergence(m, tilt[m])
        return total

    def shift(self, tilt: np.ndarray) -> Tensor:
        """``w (σ(x) − σ(x + t))``, the gradient of the KL-divergence, in cell order."""
        out = torch.zeros_like(self.x)
        for m in np.flatnonzero((tilt != 0) & (self.mass > 0)).tolist():
            side = self.side[m]
            plain, tilted = self._probs(m, 0.0, side), self._probs(m, tilt[m], side)
            for (low, high), h, f in zip(self._slices(m), plain, tilted, strict=True):
                torch.sub(h, f, out=out[low:high])
                if side < 0:
                    out[low:high].neg_()
        return out if self.weight is None else out.mul_(self.weight)

    def slope(self) -> Tensor:
        """``w σ(1 − σ)(x)`` in cell order."""
        slope = torch.sigmoid(self.x)
        slope.mul_(torch.sigmoid(-self.x))
        return slope if self.weight is None else slope.mul_(self.weight)

    def _slices(self, m: int) -> list[tuple[int, int]]:
        begin, end = int(self.start[m]), int(self.start[m + 1])
        return [(low, min(low + PIECE, end)) for low in range(begin, end, PIECE)]

    def _probs(self, m: int, tilt: float, side: float) -> Iterable[Tensor]:
        """σ(side · (x + tilt)) slice by slice; kept for the last tilt and for tilt 0."""
        if not self.keep:
            return (self._sigmoid(low, high, tilt, side) for low, high in self._slices(m))
        known = self.plain if tilt == 0 else self.kept
        if m not in known or (known[m].tilt, known[m].side) != (tilt, side):
            probs = [self._sigmoid(low, high, tilt, side) for low, high in self._slices(m)]
            known[m] = _Kept(tilt, side, probs)
        return known[m].probs

    def _sigmoid(self, low: int, high: int, tilt: float, side: float) -> Tensor:
        x = self.x[low:high]
        if high - low < SMALL:
            x = x.double()
        return (x + tilt if side > 0 else torch.rsub(x, -tilt)).sigmoid_()

    def _share(self, m: int, tilt: float) -> tuple[float, float]:
        """Sum of the smaller side's probabilities, and of p(1 − p)."""
        share = spread = 0.0
        for (low, high), prob in zip(
            self._slices(m), self._probs(m, tilt, self.side[m]), strict=True
        ):
            heavy = prob if self.weight is None else prob * self.weight[low:high]
            share += _sum(heavy)
            spread += float(torch.dot(heavy, 1 - prob))
        return share, spread

    def _divergence(self, m: int, tilt: float) -> float:
        """KL of one cell: Σ w [t σ(x + t) − log(1 + σ(x) (eᵗ − 1))], seen from the smaller side."""
        total = 0.0
        side = self.side[m]
        leap = side * tilt
        if abs(leap) > STEEP[self.x.dtype]:
            for low, high in self._slices(m):
                x = self.x[low:high].double()
                part = _divergence(x, torch.tensor(tilt, dtype=x.dtype, device=x.device))
                total += _sum(part if self.weight is None else part * self.weight[low:high])
            return total
        for (low, high), h in zip(self._slices(m), self._probs(m, 0.0, side), strict=True):
            log = torch.log1p_(h * np.expm1(leap).item())
            total -= _sum(log if self.weight is None else log.mul_(self.weight[low:high]))
        share = self.last.yes[m] if side > 0 else self.last.no[m]
        return float(total + leap * share)


TensorSums = SlicedSums | ScatteredSums


class _Kept(NamedTuple):
    tilt: float
    side: float
    probs: list[Tensor]


def _sum(values: Tensor) -> float:
    """Σ accumulated in float64; of a long float32 tensor, over partial sums of 128."""
    if values.dtype == torch.float64 or len(values) < 1 << 17:
        return float(values.sum(dtype=torch.float64))
    head = len(values) // 128 * 128
    sums = values[:head].view(-1, 128).sum(dim=1).sum(dtype=torch.float64)
    return float(sums) + float(values[head:].sum(dtype=torch.float64))


def _divergence(x: Tensor, tilt: Tensor) -> Tensor:
    r"""KL(σ(x + t) ‖ σ(x)) elementwise, exact for any finite x and t.

    With :math:`y = -|x|` and :math:`\tau = \mp t` the tilt of that side,
    :math:`\tau \sigma(y + \tau) - \log(1 + \sigma(y)(e^\tau - 1))`.
    """
    y = -x.abs()
    leap = torch.where(x > 0, -tilt, tilt)
    near = torch.log1p(torch.sigmoid(y) * torch.expm1(leap))
    log = torch.where(leap > 30, softplus(y + leap) - softplus(y), near)
    return leap * torch.sigmoid(y + leap) - log
