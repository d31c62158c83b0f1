r"""The sums per cell that the solver needs, from logits in an array.

.. math:: S_m = \sum w\,\sigma(x + t_m) \qquad R_m = \sum w\,\sigma(-x - t_m) \qquad
          V_m = \sum w\,\sigma(1 - \sigma)(x + t_m)

S and R are kept apart because a mean near 1 differs from 1 only by R.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from linkparity.criteria.cells import Cells
from linkparity.support.arrays import expit, sum_segments

#: Number of pairs of a part of a pass.
PART = 1 << 16
#: Beyond this tilt, the exponential would overflow or the short formula lose digits.
STEEP = 30.0


class Sums(NamedTuple):
    """Weighted sums per cell, ``(M,)`` float64 each: of p, of 1 − p, of p(1 − p)."""

    yes: np.ndarray
    no: np.ndarray
    variance: np.ndarray


class SumSource(Protocol):
    """All that the solver needs of the pairs, wherever they are stored."""

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        ...


class RememberedSums:
    """Remembers the sums at tilt 0 and at the last tilt, since a pass over the pairs is costly."""

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


class ArraySums(RememberedSums):
    """Sums over logits in an array, in float64, some pairs at a time.

    Args:
        logits: ``(P,)``, finite.
        cells: the cells of these pairs.
    """

    digits = 64

    def __init__(self, logits: np.ndarray, cells: Cells) -> None:
        super().__init__()
        self.x = logits if cells.order is None else logits[cells.order]
        self.weight, self.start = cells.weight, cells.start

    def close(self) -> None:
        """Return nothing: no memory is borrowed."""

    def compute(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        return Sums(*self._sum(lambda x, each: np.stack(sides(x + each)), tilt))

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence of the tilted pairs to the pairs, in nats."""
        return self._sum(pair_divergence, tilt)

    def _sum(
        self, values: Callable[[np.ndarray, np.ndarray], np.ndarray], tilt: np.ndarray
    ) -> np.ndarray:
        """``(…, M)`` weighted sums of values ``(…, n)`` of logits and their tilts."""
        total: Any = 0.0
        for low in range(0, max(len(self.x), 1), PART):
            part = slice(low, low + PART)
            start = np.clip(self.start - low, 0, min(PART, len(self.x) - low))
            found = values(self.x[part].astype(np.float64), np.repeat(tilt, np.diff(start)))
            if self.weight is not None:
                found = found * self.weight[part]
            total = total + sum_segments(found, start)
        return np.asarray(total)


def sides(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """σ(x), σ(−x) and their product."""
    small = np.exp(-np.abs(x))
    near = 1.0 / (1.0 + small)
    far = small * near
    up = x > 0
    return np.where(up, near, far), np.where(up, far, near), near * far


def pair_divergence(x: np.ndarray, tilt: np.ndarray) -> np.ndarray:
    r"""KL(σ(x + t) ‖ σ(x)) elementwise, exact for any finite x and t.

    With :math:`y = -|x|` and :math:`\tau = \mp t` the tilt of that side,
    :math:`\tau \sigma(y + \tau) - \log(1 + \sigma(y)(e^\tau - 1))`.
    """
    y, turned = -np.abs(x), np.where(x > 0, -tilt, tilt)
    near = np.log1p(expit(y) * np.expm1(np.minimum(turned, STEEP)))
    far = np.logaddexp(0.0, y + turned) - np.logaddexp(0.0, y)
    return np.asarray(turned * expit(y + turned) - np.where(turned > STEEP, far, near))
