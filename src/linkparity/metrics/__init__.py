"""Measures of link predictions and of disparity between groups."""

from linkparity.metrics.cell_sums import CellMeans, CellSums, gap
from linkparity.metrics.evaluation import Scores, evaluate, score_pairs
from linkparity.metrics.measures import METRICS
from linkparity.metrics.scored_pairs import Estimate, ScoredPairs
from linkparity.metrics.views import VIEWS

__all__ = [
    "METRICS",
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
