"""What a criterion is: cells, and the small matrix of constraints on them."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from torch import Tensor

from linkparity.criteria.constraints import ConstraintMatrix
from linkparity.criteria.group_pairs import GroupPairs


@dataclass(frozen=True)
class Layout:
    r"""M cells and C constraints, the same for any data.

    .. math:: \sum_m A_{cm} S_m + \sum_{m: A_{cm} < 0} |A_{cm}| W_m
              = d_{block(c)} \sum_m |A_{cm}| W_m

    with :math:`S_m` a cell's sum of probabilities and :math:`W_m` its weight: a constraint is about
    the mean of ``p`` where A is positive and of ``1 − p`` where it is negative.

    Attributes:
        names: M names of cells.
        key: ``(M, K)`` integers that tell a cell from any other, also in another batch.
        cell: ``(N,)`` the cell of each of the N numbers of A that are not 0.
        row: ``(N,)`` its constraint.
        value: ``(N,)`` its value.
        rows: C names of constraints.
        block: ``(C,)`` which target a constraint has.
        blocks: a key per target; one ``None`` where there is a single target.
        overlapping: whether a pair may stand under several constraints, one per attribute.
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
        """The A above, ``(C, M)``."""
        return ConstraintMatrix(self.row, self.cell, self.value, (len(self.rows), len(self.names)))

    def weight(self, mass: np.ndarray) -> np.ndarray:
        """``(C,)`` weight under each constraint, from that of each cell."""
        return self.entries.weigh(mass)

    @cached_property
    def constrained(self) -> np.ndarray:
        """``(M,)`` whether any constraint is about the cell."""
        found = np.zeros(len(self.names), dtype=bool)
        found[self.cell] = True
        return found


class Criterion:
    """A statistical criterion of parity: where a pair belongs, and what is asked of the cells."""

    name: str
    #: Whether :meth:`assign` looks at the labels.
    needs_labels = False
    #: Whether the mean of the labels makes sense as a target.
    data_target = False

    def layout(self, groups: GroupPairs) -> Layout:
        """Cells and constraints for these groups."""
        raise NotImplementedError

    def assign(self, code: Tensor, label: Tensor, groups: GroupPairs) -> Tensor:
        """``(P,)`` cell of each pair from its group cell and label; −1 is unconstrained."""
        raise NotImplementedError


def one_mean_per_cell(
    names: tuple[str, ...], key: np.ndarray, block: np.ndarray | None = None, **more: Any
) -> Layout:
    """Every cell is a constraint of its own, all with the same target unless ``block`` tells."""
    every = np.arange(len(names))
    ones, zeros = np.ones(len(names)), np.zeros(len(names), dtype=np.int64)
    return Layout(names, key, every, every, ones, names, zeros if block is None else block, **more)


def by_label(groups: GroupPairs) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and keys of the cells (label 0, every group cell), (label 1, every group cell)."""
    names = tuple(f"{name}, label {label}" for label in (0, 1) for name in groups.names)
    label = np.repeat([0, 1], len(groups))[:, None]
    return names, np.hstack([np.tile(groups.key, (2, 1)), label])
