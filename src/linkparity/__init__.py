"""Measure and reduce disparity between groups in link prediction."""
# ruff: noqa: I001, RUF022 (the public names stand in reading order)

from linkparity import criteria, datasets
from linkparity.graph import Graph
from linkparity.grouping import GraphWarning
from linkparity.pairs import Pairs, all_pairs, sample_pairs
from linkparity.datasets import load
from linkparity.split import Split, SplitWarning, split_links
from linkparity.models import LinkModel
from linkparity.criteria import Cells
from linkparity.projection import Projection, i_project
from linkparity.solver import Infeasible, NotConverged
from linkparity.regularizer import FairnessRegularizer
from linkparity.training import Diverged, Epoch, train
from linkparity.prediction import LinkPredictor, Ranking, TrainingWarning
from linkparity.evaluation import Scores, evaluate, score_pairs
from linkparity.tables import audit, project

__version__ = "0.1.0"

__all__ = [
    "load",
    "datasets",
    "Graph",
    "GraphWarning",
    "Pairs",
    "all_pairs",
    "sample_pairs",
    "split_links",
    "Split",
    "SplitWarning",
    "LinkModel",
    "criteria",
    "Cells",
    "i_project",
    "Projection",
    "Infeasible",
    "NotConverged",
    "FairnessRegularizer",
    "train",
    "Epoch",
    "Diverged",
    "LinkPredictor",
    "Ranking",
    "TrainingWarning",
    "evaluate",
    "score_pairs",
    "Scores",
    "audit",
    "project",
]
