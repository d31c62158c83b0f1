"""The criteria by name."""

from linkparity.criteria.accuracy import AccuracyEquality
from linkparity.criteria.base import Criterion
from linkparity.criteria.churn import ChurnEquality
from linkparity.criteria.dp import DemographicParity
from linkparity.criteria.eo import EqualOpportunity
from linkparity.criteria.equalized_odds import EqualizedOdds
from linkparity.criteria.weak_dp import WeakParity
from linkparity.support.errors import InputError
from linkparity.support.registry import Registry

CRITERIA: Registry[Criterion] = Registry(
    "criterion",
    {
        "dp": DemographicParity(),
        "eo": EqualOpportunity(),
        "weak-dp": WeakParity(),
        "equalized-odds": EqualizedOdds(),
        "accuracy": AccuracyEquality(),
        "churn": ChurnEquality(),
    },
)


def trainable() -> Registry[Criterion]:
    """The criteria that the pairs, groups and links of a graph define."""
    found = {name: each for name, each in CRITERIA.items() if not each.for_given_pairs_only}
    return Registry("criterion", found)


def find_criterion(criterion: object) -> Criterion:
    """Return the criterion of a name, or ``criterion`` itself if it is a :class:`Criterion`."""
    if isinstance(criterion, Criterion):
        return criterion
    if not isinstance(criterion, str):
        raise InputError(
            f"must be a name ({', '.join(CRITERIA)}) or a Criterion, got {criterion!r}",
            argument="criterion",
        )
    return CRITERIA[criterion]
