"""Accuracy equality: the same expected accuracy for every pair of groups."""

import numpy as np

from linkparity.criteria.base import Criterion, Layout, by_label
from linkparity.criteria.group_pairs import GroupPairs
from linkparity.reading.groups import NO_GROUP


class AccuracyEquality(Criterion):
    """Per pair of groups, the mean of ``p`` over links and of ``1 − p`` over other pairs."""

    name = "accuracy"
    needs_labels = True
    by_group_pair = True
    #: +1 counts agreement with the label, −1 disagreement.
    sign = 1.0

    def layout(self, groups: GroupPairs) -> Layout:
        """One row per pair of groups over its two cells, of opposite signs."""
        names, key = by_label(groups)
        row = np.tile(np.arange(len(groups)), 2)
        value = self.sign * np.repeat([-1.0, 1.0], len(groups))
        block = np.zeros(len(groups), dtype=np.int64)
        return Layout(names, key, np.arange(len(names)), row, value, groups.names, block)

    def assign(self, code: np.ndarray, label: np.ndarray, groups: GroupPairs) -> np.ndarray:
        """The pair of groups, shifted for links."""
        return np.where(code == NO_GROUP, NO_GROUP, code + len(groups) * label)
