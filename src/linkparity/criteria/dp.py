"""Demographic parity: the same mean prediction for every pair of groups."""

from linkparity.criteria.base import Criterion


class DemographicParity(Criterion):
    """One cell per unordered pair of groups, which is what a criterion has by default."""

    name = "dp"
    data_target = True
    tilts_by_group = True
    by_group_pair = True
