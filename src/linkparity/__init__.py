"""Measure and reduce disparity between groups in link prediction."""
# ruff: noqa: I001 (the public names stand in reading order, for type checkers too)

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkparity import criteria as criteria, datasets as datasets
    from linkparity.graph import Graph as Graph, GraphWarning as GraphWarning
    from linkparity.graph import Pairs as Pairs, all_pairs as all_pairs
    from linkparity.graph import sample_pairs as sample_pairs
    from linkparity.graph import Split as Split, SplitWarning as SplitWarning
    from linkparity.graph import split_links as split_links
    from linkparity.datasets import example as example, load as load
    from linkparity.criteria import Cells as Cells, Criterion as Criterion
    from linkparity.projection import Projection as Projection, i_project as i_project
    from linkparity.projection import Infeasible as Infeasible, NotConverged as NotConverged
    from linkparity.projection import FairnessRegularizer as FairnessRegularizer
    from linkparity.models.training import Diverged as Diverged, Epoch as Epoch, train as train
    from linkparity.models import LinkModel as LinkModel
    from linkparity.models.prediction import LinkPredictor as LinkPredictor, Ranking as Ranking
    from linkparity.models.prediction import TrainingWarning as TrainingWarning
    from linkparity.metrics import Scores as Scores, evaluate as evaluate
    from linkparity.metrics import score_pairs as score_pairs
    from linkparity.metrics.tables import audit as audit, project as project
    from linkparity.experiments.experiment import Experiment as Experiment
    from linkparity.experiments.results import Results as Results
    from linkparity.experiments.run import run as run
    from linkparity.experiments.tune import tune as tune
    from linkparity.paper.report import Report as Report

__version__ = "0.1.0"

#: Where each public name lives; it is imported when asked for, since torch takes a second to load.
HOMES = {
    "load": "datasets",
    "example": "datasets",
    "datasets": "",
    "Graph": "graph",
    "GraphWarning": "graph",
    "Pairs": "graph",
    "all_pairs": "graph",
    "sample_pairs": "graph",
    "split_links": "graph",
    "Split": "graph",
    "SplitWarning": "graph",
    "LinkModel": "models",
    "criteria": "",
    "Cells": "criteria",
    "Criterion": "criteria",
    "i_project": "projection",
    "Projection": "projection",
    "Infeasible": "projection",
    "NotConverged": "projection",
    "FairnessRegularizer": "projection",
    "train": "models.training",
    "Epoch": "models.training",
    "Diverged": "models.training",
    "LinkPredictor": "models.prediction",
    "Ranking": "models.prediction",
    "TrainingWarning": "models.prediction",
    "evaluate": "metrics",
    "score_pairs": "metrics",
    "Scores": "metrics",
    "audit": "metrics.tables",
    "project": "metrics.tables",
    "Experiment": "experiments.experiment",
    "run": "experiments.run",
    "Results": "experiments.results",
    "tune": "experiments.tune",
    "Report": "paper.report",
}
__all__ = list(HOMES)


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module 'linkparity' has no attribute {name!r}")
    home = HOMES[name]
    module = import_module(f"linkparity.{home or name}")
    found = getattr(module, name) if home else module
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
