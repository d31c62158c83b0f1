"""Criteria of parity, one file each: group pairs and labels → cells and constraints."""

from linkparity.criteria.accuracy import AccuracyEquality
from linkparity.criteria.base import Criterion, Layout, one_mean_per_cell
from linkparity.criteria.cells import CRITERIA, Cells, trainable
from linkparity.criteria.churn import ChurnEquality
from linkparity.criteria.custom import Custom
from linkparity.criteria.dp import DemographicParity
from linkparity.criteria.eo import EqualOpportunity
from linkparity.criteria.equalized_odds import EqualizedOdds
from linkparity.criteria.weak_dp import WeakParity

__all__ = [
    "CRITERIA",
    "AccuracyEquality",
    "Cells",
    "ChurnEquality",
    "Criterion",
    "Custom",
    "DemographicParity",
    "EqualOpportunity",
    "EqualizedOdds",
    "Layout",
    "WeakParity",
    "one_mean_per_cell",
    "trainable",
]
