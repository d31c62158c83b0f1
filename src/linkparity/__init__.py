"""Measure and reduce disparity between groups in link prediction."""

from linkparity import criteria, datasets
from linkparity.criteria import Cells
from linkparity.datasets import load
from linkparity.evaluation import Scores, evaluate, score_pairs
from linkparity.graph import Graph
from linkparity.grouping import GraphWarning
from linkparity.models import LinkModel
from linkparity.pairs import Pairs, all_pairs, sample_pairs
from linkparity.predictor import LinkPredictor, TrainingWarning
from linkparity.projection import Projection, i_project
from linkparity.regularizer import FairnessRegularizer
from linkparity.solver import Infeasible, NotConverged
from linkparity.split import Split, SplitWarning, split_links
from linkparity.training import Diverged, train

__version__ = "0.1.0"

__all__ = [
    "Cells",
    "Diverged",
    "FairnessRegularizer",
    "Graph",
    "GraphWarning",
    "Infeasible",
    "LinkModel",
    "LinkPredictor",
    "NotConverged",
    "Pairs",
    "Projection",
    "Scores",
    "Split",
    "SplitWarning",
    "TrainingWarning",
    "all_pairs",
    "criteria",
    "datasets",
    "evaluate",
    "i_project",
    "load",
    "sample_pairs",
    "score_pairs",
    "split_links",
    "train",
]
