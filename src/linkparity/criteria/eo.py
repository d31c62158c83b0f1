"""Equal opportunity: the same mean prediction for every pair of groups, over existing links."""

import numpy as np

from linkparity.criteria.base import Criterion
from linkparity.criteria.group_pairs import GroupPairs
from linkparity.reading.groups import NO_GROUP


class EqualOpportunity(Criterion):
    """Demographic parity of the links; other pairs are unconstrained."""

    name = "eo"
    needs_labels = True
    by_group_pair = True

    def assign(self, code: np.ndarray, label: np.ndarray, groups: GroupPairs) -> np.ndarray:
        """The pair of groups of a link; −1 for any other pair."""
        return np.where(label == 1, code, NO_GROUP)
