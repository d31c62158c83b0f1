"""Tilts to start the solver from: where the last two steps of training point to."""

import numpy as np

from linkparity.criteria.base import Layout
from linkparity.criteria.cells import Cells


class WarmStart:
    """The last tilts of every cell met so far, matched by cell, so that batches may lack groups.

    Attributes:
        key: ``(N, K)`` what tells each cell from any other, as in ``Layout.key``.
        tilt: ``(N,)`` its last tilt; nan for a cell never met.
        before: ``(N,)`` the tilt before that.
    """

    def __init__(self) -> None:
        self.key = np.empty((0, 0), dtype=np.int64)
        self.tilt = self.before = np.empty(0)
        self._layout: Layout | None = None

    def start(self, cells: Cells) -> np.ndarray:
        """``(M,)`` tilts extrapolated from the last two; 0 for cells never met or weightless."""
        last, before = self._matched(cells.layout)
        known = (cells.mass > 0) & ~np.isnan(last)
        return np.where(known, 2 * last - before, 0.0)

    def remember(self, cells: Cells, tilt: np.ndarray) -> None:
        """Keep the tilts of the cells that have weight, beside those of other batches."""
        last, before = self._matched(cells.layout)
        met = cells.mass > 0
        before = np.where(met, np.where(np.isnan(last), tilt, last), before)
        last = np.where(met, tilt, last)
        if self._layout is not cells.layout:
            other = self._others(cells.layout)
            self._layout = None if other.any() else cells.layout
            key = self.key[other].reshape(-1, cells.layout.key.shape[1])
            self.key = np.concatenate([cells.layout.key, key])
            last = np.concatenate([last, self.tilt[other]])
            before = np.concatenate([before, self.before[other]])
        self.tilt, self.before = last, before

    def _matched(self, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
        """``(M,)`` last tilts of the cells of ``layout``, and those before; nan where unknown."""
        if layout is self._layout:
            return self.tilt, self.before
        if self.key.shape == layout.key.shape and (self.key == layout.key).all():
            return self.tilt, self.before
        place = {tuple(row): i for i, row in enumerate(self.key.tolist())}
        at = np.array([place.get(tuple(row), -1) for row in layout.key.tolist()], dtype=np.int64)
        return np.append(self.tilt, np.nan)[at], np.append(self.before, np.nan)[at]

    def _others(self, layout: Layout) -> np.ndarray:
        """``(N,)`` which of the known cells ``layout`` does not have; none of another width."""
        if self.key.shape[1] != layout.key.shape[1]:
            return np.zeros(len(self.key), dtype=bool)
        here = set(map(tuple, layout.key.tolist()))
        return np.array([tuple(row) not in here for row in self.key.tolist()], dtype=bool)
