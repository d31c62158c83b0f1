"""Whole jobs: train on a data set or on files, predict from a saved run, run many fits."""

from linkparity.experiments.graph_files import GraphFiles, read_graph
from linkparity.experiments.predict import PairsFile, predict_pairs, predict_top
from linkparity.experiments.rows import Row
from linkparity.experiments.train import PairsOutput, Run, train_run

__all__ = [
    "GraphFiles",
    "PairsFile",
    "PairsOutput",
    "Row",
    "Run",
    "predict_pairs",
    "predict_top",
    "read_graph",
    "train_run",
]
