"""The matrix of constraints by its numbers that are not 0: one or two per cell, of M² in all."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class ConstraintMatrix:
    """A matrix A of C rows and M columns, N of whose numbers are not 0.

    Attributes:
        row: ``(N,)`` the constraint of each number.
        cell: ``(N,)`` its cell; no two numbers share both.
        value: ``(N,)`` the number.
        shape: C and M.

    >>> row, cell, value = np.array([[0, 0, 1], [0, 1, 2], [1, -1, 1]])
    >>> ConstraintMatrix(row, cell, value, (2, 3)).dense
    array([[ 1., -1.,  0.],
           [ 0.,  0.,  1.]])
    """

    row: np.ndarray
    cell: np.ndarray
    value: np.ndarray
    shape: tuple[int, int]

    def times(self, cells: np.ndarray) -> np.ndarray:
        """``(C,)`` A v of ``v (M,)``."""
        return self._gather(self.value * cells[self.cell])

    def weigh(self, cells: np.ndarray) -> np.ndarray:
        """``(C,)`` A v of ``v (M,)``, with the size of each number of A."""
        return self._gather(self._size * cells[self.cell])

    def spread(self, rows: np.ndarray) -> np.ndarray:
        """``(M,)`` Aᵀ u of ``u (C,)``."""
        heavy = self.value * rows[self.row]
        return np.bincount(self.cell, weights=heavy, minlength=self.shape[1])

    def hit_miss(self, yes: np.ndarray, no: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``(C,)`` A⁺ yes + A⁻ no and A⁺ no + A⁻ yes, of ``(M,)`` each."""
        first, second = yes[self.cell], no[self.cell]
        if self._turned is not None:
            first, second = (
                np.where(self._turned, second, first),
                np.where(self._turned, first, second),
            )
        return self._gather(self._size * first), self._gather(self._size * second)

    def part(self, rows: np.ndarray, cells: np.ndarray) -> "ConstraintMatrix":
        """The rows and columns where ``rows (C,)`` and ``cells (M,)`` are true."""
        if rows.all() and cells.all():
            return self
        kept = rows[self.row] & cells[self.cell]
        row, cell = (np.cumsum(rows) - 1)[self.row[kept]], (np.cumsum(cells) - 1)[self.cell[kept]]
        return ConstraintMatrix(row, cell, self.value[kept], (int(rows.sum()), int(cells.sum())))

    @property
    def separable(self) -> bool:
        """Whether each cell stands under one constraint, with one size of number."""
        once = np.bincount(self.cell, minlength=1).max() <= 1
        return bool(once and (self._size == 1.0).all())

    @cached_property
    def counts(self) -> np.ndarray:
        """``(C,)`` cells under each constraint."""
        return np.bincount(self.row, minlength=self.shape[0])

    @property
    def dense(self) -> np.ndarray:
        """``(C, M)`` the matrix itself."""
        found = np.zeros(self.shape)
        found[self.row, self.cell] = self.value
        return found

    @cached_property
    def _size(self) -> np.ndarray:
        return np.asarray(np.abs(self.value))

    @cached_property
    def _turned(self) -> np.ndarray | None:
        """Which numbers are negative; None when none are."""
        turned = self.value < 0
        return turned if turned.any() else None

    def _gather(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.row, weights=values, minlength=self.shape[0])
