"""Weak parity: the same mean prediction within groups and between groups."""

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria.base import Criterion, Layout, one_mean_per_cell
from linkparity.criteria.group_pairs import NONE, GroupPairs


class WeakParity(Criterion):
    """Two cells: both ends of one group, or of two. A pair with a −1 is in neither."""

    name = "weak-dp"
    data_target = True

    def layout(self, groups: GroupPairs) -> Layout:
        """One mean within, one between."""
        if not groups.paired:
            raise ValueError(
                "weak-dp: groups must have the shape (P, 2), got one group per instance; "
                "within and between need the groups of both ends"
            )
        if len(groups) and (groups.key[:, -1] == NONE).all():
            raise ValueError(
                "weak-dp: every pair has a group at one end only; "
                "within and between need two groups, use criterion 'dp' for such a graph"
            )
        return one_mean_per_cell(("within", "between"), np.array([[0], [1]]))

    def assign(self, code: Tensor, label: Tensor, groups: GroupPairs) -> Tensor:
        """0 within, 1 between."""
        first, second = np.split(groups.key, 2, axis=1)
        kind = np.where(second[:, 0] == NONE, NONE, (first != second).any(axis=1))
        table = torch.as_tensor(np.append(kind, NONE), device=code.device)
        return table[code]
