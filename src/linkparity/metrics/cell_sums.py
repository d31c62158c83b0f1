"""Sums per pair of groups, over batches of pairs that come in any order."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from linkparity.criteria.group_pairs import occurring_pairs, reading_order
from linkparity.metrics.cell_means import CellMeans, cell_means
from linkparity.metrics.checks import check_scores, group_array, label_array, weight_array
from linkparity.support.errors import InputError


class CellSums:
    r"""The sums :math:`\sum 1, \sum y, \sum w, \sum w h, \sum y h` per unordered group pair.

    Batches and processes may be added in any order. Groups are identified by number, so a batch
    may lack some of them.

    >>> sums = CellSums().update([0.2, 0.4], [[0, 0], [1, 0]])
    >>> other = CellSums().update([0.9], [[2, 1]])
    >>> round(sums.merge(other).result().dp, 3)
    0.7
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[int, ...], np.ndarray] = {}

    def update(
        self, prob: object, groups: object, labels: object = None, weight: object = None
    ) -> Self:
        """Add pairs: ``prob (P,)``, ``groups (P, 2)`` or ``(P,)``, 0/1 ``labels``, ``weight``.

        Pairs without a group are left out. Once a batch of a group pair has no labels, its number
        of links and its mean over links are unknown.
        """
        caller = "CellSums.update"
        h = check_scores(caller, prob=prob)
        key, code = occurring_pairs(group_array(caller, groups, len(h)))
        w, y = weight_array(caller, weight, len(h)), label_array(caller, labels, len(h))
        y = np.full_like(h, np.nan) if y is None else y
        in_cell = code >= 0
        code, h, w, y = code[in_cell], h[in_cell], w[in_cell], y[in_cell]
        terms = (np.ones_like(h), y, w, w * h, y * h)
        sums = np.stack([np.bincount(code, term, len(key)) for term in terms], axis=1)
        for ends, row in zip(key.tolist(), sums, strict=True):
            self._add(tuple(ends), row)
        return self

    def merge(self, other: "CellSums") -> Self:
        """Add the sums of ``other``, which is not changed."""
        for key, row in list(other._rows.items()):
            self._add(key, row)
        return self

    def result(self, view: str = "subgroup", names: Sequence[str] = ()) -> CellMeans:
        """Means per cell of ``view``, over the group pairs that have been seen."""
        seen = list(self._rows)
        key = np.array(seen, dtype=np.int64).reshape(len(seen), -1 if seen else 2)
        key = key[reading_order(key)]
        return cell_means(key, self.table(key), view, names)

    def table(self, key: np.ndarray) -> np.ndarray:
        """The five sums ``(G, 5)`` of group pairs ``key (G, 2)``, 0 for those never seen."""
        zero = np.zeros(5)
        rows = [self._rows.get(tuple(k), zero) for k in key.tolist()]
        return np.array(rows).reshape(len(key), 5)

    def _add(self, key: tuple[int, ...], row: np.ndarray) -> None:
        if self._rows and len(key) != len(next(iter(self._rows))):
            raise InputError(
                "groups of the shape (P,) and (P, 2) cannot be added together",
                "always give one group per instance, or always two per pair", caller="CellSums",
            )  # fmt: skip
        self._rows[key] = self._rows[key] + row if key in self._rows else row
