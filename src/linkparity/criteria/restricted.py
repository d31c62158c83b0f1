"""A criterion on some of the pairs of groups; the other pairs are unconstrained."""

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria.base import Criterion, Layout
from linkparity.criteria.group_pairs import GroupPairs
from linkparity.graph.groups import NO_GROUP


class Restricted(Criterion):
    """Another criterion, for training on a graph where some pairs of groups do not count.

    Args:
        inner: the criterion.
        counted: ``(S + 1, S + 1)`` bool by the groups of the two ends, symmetric, −1 last: whether
            pairs of these groups are constrained.
    """

    def __init__(self, inner: Criterion, counted: np.ndarray) -> None:
        self.inner, self.counted = inner, counted
        self.name = inner.name
        self.needs_labels, self.data_target = inner.needs_labels, inner.data_target
        self.tilts_by_group, self.by_group_pair = inner.tilts_by_group, inner.by_group_pair

    def layout(self, groups: GroupPairs) -> Layout:
        """Cells and constraints of the criterion; cells that do not count stay empty."""
        return self.inner.layout(groups)

    def assign(self, code: Tensor, label: Tensor, groups: GroupPairs) -> Tensor:
        """The cell of the criterion, −1 for pairs of groups that do not count."""
        counted = np.append(self.counted[groups.key[:, 0], groups.key[:, 1]], False)
        known = torch.as_tensor(counted, device=code.device)[code]
        return self.inner.assign(torch.where(known, code, NO_GROUP), label, groups)
