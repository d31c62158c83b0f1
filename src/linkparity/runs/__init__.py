"""Train from a data set or from own files, and predict from what was trained."""

from linkparity.runs.owngraph import OwnGraph, read_graph
from linkparity.runs.predicting import PairsFile, predict_pairs, predict_top
from linkparity.runs.training import MEASURES, Run, train_run

__all__ = [
    "MEASURES",
    "OwnGraph",
    "PairsFile",
    "Run",
    "predict_pairs",
    "predict_top",
    "read_graph",
    "train_run",
]
