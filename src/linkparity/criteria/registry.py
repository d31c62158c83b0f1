"""The criteria by name: one line each."""

from linkparity.criteria.accuracy import AccuracyEquality
from linkparity.criteria.base import Criterion
from linkparity.criteria.churn import ChurnEquality
from linkparity.criteria.dp import DemographicParity
from linkparity.criteria.eo import EqualOpportunity
from linkparity.criteria.equalized_odds import EqualizedOdds
from linkparity.criteria.weak_dp import WeakParity
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
#: Those that pairs, groups and labels define; churn asks for a baseline's decisions as well.
LABEL_CRITERIA = Registry(
    "criterion", {name: each for name, each in CRITERIA.items() if name != "churn"}
)
