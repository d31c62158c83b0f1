"""Any linear criterion: the user's own cells, matrix and right side."""

import numpy as np

from linkparity.criteria.base import Criterion, Layout
from linkparity.criteria.group_pairs import GroupPairs
from linkparity.reading.groups import NO_GROUP
from linkparity.support.arrays import array
from linkparity.support.errors import InputError


class Custom(Criterion):
    r"""Constraints :math:`\sum_k w_k A_{c, cell(k)} p_k = b_c`.

    Args:
        cells: ``(P,)`` integers below M, −1 for unconstrained pairs.
        A: ``(C, M)`` one row per constraint.
        b: ``(C,)`` right sides.

    >>> two_means = Custom([0, 0, 1, 1], A=[[1.0, 0.0], [0.0, 1.0]], b=[0.5, 1.5])
    """

    name = "custom"
    for_given_pairs_only = True
    cells: np.ndarray

    def __init__(self, cells: object, A: object, b: object) -> None:
        self.cells = array(cells).copy()
        self.matrix = np.asarray(A, dtype=np.float64)
        self.right = np.asarray(b, dtype=np.float64)
        if self.matrix.ndim != 2 or self.right.shape != self.matrix.shape[:1]:
            raise InputError(
                f"A must be (C, M) and b (C,), got {self.matrix.shape} and {self.right.shape}",
                "give one row of A and one number in b per constraint",
                where="Custom",
            )
        if not self.matrix.size:
            raise InputError(
                "A has no rows or no columns", "give at least one constraint", where="Custom"
            )
        if not (np.isfinite(self.matrix).all() and np.isfinite(self.right).all()):
            raise InputError(
                "A and b must be finite", "replace NaN and infinite entries", where="Custom"
            )
        if self.cells.ndim != 1 or self.cells.dtype.kind not in "biu":
            raise InputError(
                f"cells must be (P,) integers, got {self.cells.shape} {self.cells.dtype}",
                "give the number of its cell, or −1, for every pair",
                where="Custom",
            )
        low, high = (-1, -1)
        if len(self.cells):
            low, high = int(self.cells.min()), int(self.cells.max())
        count = self.matrix.shape[1]
        if not NO_GROUP <= low <= high < count:
            raise InputError(
                f"cells must lie between −1 and {count - 1} (A has {count} columns), "
                f"got {low} to {high}",
                where="Custom",
            )

    def layout(self, groups: GroupPairs) -> Layout:
        """The user's matrix; every row has its own target."""
        constraints, count = self.matrix.shape
        row, cell = np.nonzero(self.matrix)
        return Layout(
            names=tuple(str(m) for m in range(count)),
            key=np.arange(count)[:, None],
            cell=cell,
            row=row,
            value=self.matrix[row, cell],
            rows=tuple(f"row {c}" for c in range(constraints)),
            block=np.arange(constraints),
            blocks=tuple(range(constraints)),
            right=self.right,
        )
