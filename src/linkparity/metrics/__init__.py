"""Measures of link predictions and of disparity between groups."""

from linkparity.metrics.cell_means import VIEWS, CellMeans, gap
from linkparity.metrics.cell_sums import CellSums
from linkparity.metrics.evaluation import Scores, evaluate, score_pairs
from linkparity.metrics.intervals.estimates import Estimate
from linkparity.metrics.scored_pairs import ScoredPairs

__all__ = [
    "VIEWS",
    "CellMeans",
    "CellSums",
    "Estimate",
    "ScoredPairs",
    "Scores",
    "evaluate",
    "gap",
    "score_pairs",
]
