"""Demographic parity: the same mean prediction for every pair of groups."""

from torch import Tensor

from linkparity.criteria.base import Criterion, Layout, one_mean_per_cell
from linkparity.criteria.group_pairs import GroupPairs


class DemographicParity(Criterion):
    """One cell per unordered pair of groups."""

    name = "dp"
    data_target = True
    tilts_by_group = True
    by_group_pair = True

    def layout(self, groups: GroupPairs) -> Layout:
        """One mean per pair of groups."""
        return one_mean_per_cell(groups.names, groups.key)

    def assign(self, code: Tensor, label: Tensor, groups: GroupPairs) -> Tensor:
        """The pair of groups itself."""
        return code
