"""Measure and reduce disparity between groups in link prediction."""
# ruff: noqa: I001 (the public names stand in reading order, for type checkers too)

from typing import TYPE_CHECKING

from linkparity.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from linkparity import criteria as criteria, datasets as datasets
    from linkparity.graph import Graph as Graph
    from linkparity.reading.groups import GraphWarning as GraphWarning
    from linkparity.graph import Pairs as Pairs, all_pairs as all_pairs
    from linkparity.graph import sample_pairs as sample_pairs
    from linkparity.graph import Split as Split, SplitWarning as SplitWarning
    from linkparity.graph import split_links as split_links
    from linkparity.datasets import example as example, load as load
    from linkparity.criteria import Cells as Cells, Criterion as Criterion
    from linkparity.projection import Projection as Projection, i_project as i_project
    from linkparity.projection import Infeasible as Infeasible, NotConverged as NotConverged
    from linkparity.projection.regularizer import FairnessRegularizer as FairnessRegularizer
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

#: The module of each public name, imported when it is used; those of training need an extra.
HOMES = {
    "load": "datasets",
    "example": "datasets",
    "datasets": "",
    "Graph": "graph",
    "GraphWarning": "reading.groups",
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
    "FairnessRegularizer": "projection.regularizer",
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


__getattr__ = lazy_names(__name__, HOMES)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
