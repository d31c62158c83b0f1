"""Weak parity: the same mean prediction within groups and between groups."""

import numpy as np

from linkparity.criteria.base import Criterion, Layout, one_mean_per_cell
from linkparity.criteria.group_pairs import GroupPairs
from linkparity.reading.groups import NO_GROUP
from linkparity.support.errors import InputError


class WeakParity(Criterion):
    """Two cells: both ends in one group, or in two. A pair with a −1 is in neither."""

    name = "weak-dp"
    data_target = True
    tilts_by_group = True

    def layout(self, groups: GroupPairs) -> Layout:
        """One mean within, one between."""
        if not groups.paired:
            raise InputError(
                "groups must have the shape (P, 2), got one group per instance",
                "within and between need the groups of both ends",
                where=self.name,
            )
        if len(groups) and (groups.key[:, -1] == NO_GROUP).all():
            raise InputError(
                "every pair has a group at one end only, and within and between need two groups",
                "use {criterion=dp} for such a graph",
                where=self.name,
            )
        return one_mean_per_cell(("within", "between"), np.array([[0], [1]]))

    def assign(self, code: np.ndarray, label: np.ndarray, groups: GroupPairs) -> np.ndarray:
        """0 within, 1 between."""
        first, second = np.split(groups.key, 2, axis=1)
        kind = np.where(second[:, 0] == NO_GROUP, NO_GROUP, (first != second).any(axis=1))
        return np.asarray(np.append(kind, NO_GROUP)[code])
