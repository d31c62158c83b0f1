"""Equalized odds: the same mean prediction for every pair of groups, by label."""

import numpy as np

from linkparity.criteria.base import Criterion, Layout, by_label, one_mean_per_cell
from linkparity.criteria.group_pairs import GroupPairs
from linkparity.reading.groups import NO_GROUP


class EqualizedOdds(Criterion):
    """One cell per label and pair of groups, one target per label."""

    name = "equalized-odds"
    needs_labels = True
    by_group_pair = True

    def layout(self, groups: GroupPairs) -> Layout:
        """One mean per label and pair of groups; the target is shared within a label."""
        names, key = by_label(groups)
        block = np.repeat([0, 1], len(groups))
        return one_mean_per_cell(names, key, block, blocks=(0, 1))

    def assign(self, code: np.ndarray, label: np.ndarray, groups: GroupPairs) -> np.ndarray:
        """The pair of groups, shifted for links."""
        return np.where(code == NO_GROUP, NO_GROUP, code + len(groups) * label)
