"""What a criterion is: cells of pairs, and a small matrix of constraints on them."""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from linkparity.criteria.group_pairs import GroupPairs
from linkparity.support.arrays import array, is_tensor, plain, pytorch
from linkparity.support.errors import InputError


@dataclass(frozen=True, eq=False)
class ConstraintMatrix:
    """A sparse matrix A of C rows (constraints) and M columns (cells), with N nonzero entries.

    Attributes:
        row: ``(N,)`` the constraint of each entry.
        cell: ``(N,)`` its cell; no two entries share both.
        value: ``(N,)`` its value.
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
        return self._sum_rows(self.value * cells[self.cell])

    def absolute_times(self, cells: np.ndarray) -> np.ndarray:
        """``(C,)`` |A| v of ``v (M,)``."""
        return self._sum_rows(self._absolute * cells[self.cell])

    def transpose_times(self, rows: np.ndarray) -> np.ndarray:
        """``(M,)`` Aᵀ u of ``u (C,)``."""
        values = self.value * rows[self.row]
        return np.bincount(self.cell, weights=values, minlength=self.shape[1])

    def statistic_sums(self, yes: np.ndarray, no: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``(C,)`` A⁺ yes + A⁻ no and A⁺ no + A⁻ yes: sums of each statistic, of 1 − it."""
        first, second = yes[self.cell], no[self.cell]
        if self._negative is not None:
            first, second = (
                np.where(self._negative, second, first),
                np.where(self._negative, first, second),
            )
        return self._sum_rows(self._absolute * first), self._sum_rows(self._absolute * second)

    def submatrix(self, rows: np.ndarray, cells: np.ndarray) -> "ConstraintMatrix":
        """The rows and columns where ``rows (C,)`` and ``cells (M,)`` are true."""
        if rows.all() and cells.all():
            return self
        kept = rows[self.row] & cells[self.cell]
        row, cell = (np.cumsum(rows) - 1)[self.row[kept]], (np.cumsum(cells) - 1)[self.cell[kept]]
        return ConstraintMatrix(row, cell, self.value[kept], (int(rows.sum()), int(cells.sum())))

    @property
    def separable(self) -> bool:
        """Whether each cell has at most one entry, and every entry is 1 or −1."""
        once = np.bincount(self.cell, minlength=1).max() <= 1
        return bool(once and (self._absolute == 1.0).all())

    @cached_property
    def counts(self) -> np.ndarray:
        """``(C,)`` number of entries of each row."""
        return np.bincount(self.row, minlength=self.shape[0])

    @property
    def dense(self) -> np.ndarray:
        """``(C, M)`` the matrix with its zeros."""
        found = np.zeros(self.shape)
        found[self.row, self.cell] = self.value
        return found

    @cached_property
    def _absolute(self) -> np.ndarray:
        return np.asarray(np.abs(self.value))

    @cached_property
    def _negative(self) -> np.ndarray | None:
        """Which entries are negative; None when none are."""
        negative = self.value < 0
        return negative if negative.any() else None

    def _sum_rows(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.row, weights=values, minlength=self.shape[0])


@dataclass(frozen=True)
class Layout:
    r"""M cells and C constraints, the same for any data.

    .. math:: \sum_m A_{cm} S_m + \sum_{m: A_{cm} < 0} |A_{cm}| W_m
              = d_{block(c)} \sum_m |A_{cm}| W_m

    with :math:`S_m` a cell's sum of probabilities and :math:`W_m` its weight: a constraint is about
    the mean of ``p`` where A is positive and of ``1 − p`` where it is negative.

    Attributes:
        names: M names of cells.
        key: ``(M, K)`` integers that identify a cell, also in another batch.
        cell: ``(N,)`` the cell of each of the N nonzero entries of A.
        row: ``(N,)`` its constraint.
        value: ``(N,)`` its value.
        rows: C names of constraints.
        block: ``(C,)`` which target a constraint has.
        blocks: a key per target; one ``None`` where there is a single target.
        overlapping: whether a pair may belong to several constraints, one per attribute.
        right: ``(C,)`` the right sides ``b`` of ``A S = b`` where they are given, else None.
    """

    names: tuple[str, ...]
    key: np.ndarray
    cell: np.ndarray
    row: np.ndarray
    value: np.ndarray
    rows: tuple[str, ...]
    block: np.ndarray
    blocks: tuple[Hashable, ...] = (None,)
    overlapping: bool = False
    right: np.ndarray | None = None

    @cached_property
    def entries(self) -> ConstraintMatrix:
        """The sparse A above, ``(C, M)``."""
        return ConstraintMatrix(self.row, self.cell, self.value, (len(self.rows), len(self.names)))

    def weight(self, mass: np.ndarray) -> np.ndarray:
        """``(C,)`` weight under each constraint, from that of each cell."""
        return self.entries.absolute_times(mass)

    @cached_property
    def constrained(self) -> np.ndarray:
        """``(M,)`` whether any constraint is about the cell."""
        found = np.zeros(len(self.names), dtype=bool)
        found[self.cell] = True
        return found


class Criterion:
    """A statistical criterion of parity: which cell a pair belongs to, and constraints on cells."""

    name: str
    #: Whether :meth:`assign` reads the labels.
    needs_labels = False
    #: Whether the labels are the 0/1 decisions of a baseline model.
    needs_baseline = False
    #: Whether the mean of the labels makes sense as a target.
    data_target = False
    #: Whether groups alone determine the tilt, so that the projected model still predicts.
    tilts_by_group = False
    #: Whether each cell belongs to one pair of groups, so that these may be numbered in any way.
    by_group_pair = False
    #: Whether the criterion exists for given pairs only, and not for every pair of a graph.
    for_given_pairs_only = False
    #: ``(P,)`` cell of each pair where the criterion brings its own, in place of groups.
    cells: Any = None

    def layout(self, groups: GroupPairs) -> Layout:
        """Cells and constraints for these groups; by default one mean per pair of groups."""
        return one_mean_per_cell(groups.names, groups.key)

    def assign(self, code: np.ndarray, label: np.ndarray, groups: GroupPairs) -> np.ndarray:
        """Cell of each kind of pairs, −1 where unconstrained; by default its pair of groups.

        Args:
            code: ``(K,)`` row of ``groups.key`` of each kind of pairs that occurs, −1 for none.
            label: ``(K,)`` 1 for links, 0 for other pairs and where there are no labels.
            groups: the numbered pairs of groups.
        """
        return code


def ask(
    criterion: Criterion, code: np.ndarray, label: np.ndarray, groups: GroupPairs
) -> np.ndarray:
    """The criterion's cells; one that cannot take arrays is asked with tensors."""
    try:
        return array(criterion.assign(code, label, groups))
    except InputError:
        raise
    except Exception as error:
        torch = pytorch()
        if torch is None:
            raise
        try:
            code, label = map(torch.from_numpy, (code, label))
            return array(criterion.assign(code, label, groups))
        except Exception:
            raise error from None


def same_content(first: object, second: object) -> bool:
    """Whether two criteria are of one type and have equal attributes, arrays and tensors too.

    NaN equals NaN. What cannot be compared, such as two data frames by ``==``, is equal if its own
    ``equals`` says so, else unequal unless it is one object.
    """
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    try:
        return _same_parts(first, second)
    except Exception:  # whatever the comparison of somebody's class may raise
        equals = getattr(first, "equals", None)
    try:
        return equals is not None and bool(equals(second))
    except Exception:
        return False


def _same_parts(first: Any, second: Any) -> bool:
    """:func:`same_content` of two objects of one type; an error where they have no answer."""
    if isinstance(first, Criterion):
        first, second = vars(first), vars(second)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(
            same_content(value, second[name]) for name, value in first.items()
        )
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same_content, first, second))
    if is_tensor(first):
        first, second = plain(first), plain(second)
    if isinstance(first, np.ndarray):
        if first.dtype.kind == "O":
            return first.shape == second.shape and same_content(first.tolist(), second.tolist())
        floats = first.dtype.kind in "fcmM" and second.dtype.kind in "fcmM"
        return np.array_equal(first, second, equal_nan=floats)
    if isinstance(first, Real) and math.isnan(first):
        return math.isnan(second)
    return bool(first == second)


def one_mean_per_cell(
    names: tuple[str, ...], key: np.ndarray, block: np.ndarray | None = None, **more: Any
) -> Layout:
    """One constraint per cell, all with the same target unless ``block`` assigns targets."""
    every = np.arange(len(names))
    ones, zeros = np.ones(len(names)), np.zeros(len(names), dtype=np.int64)
    return Layout(names, key, every, every, ones, names, zeros if block is None else block, **more)


def by_label(groups: GroupPairs) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and keys of the cells (label 0, every group pair), (label 1, every group pair)."""
    names = tuple(f"{name}, label {label}" for label in (0, 1) for name in groups.names)
    label = np.repeat([0, 1], len(groups))[:, None]
    return names, np.hstack([np.tile(groups.key, (2, 1)), label])
