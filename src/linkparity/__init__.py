"""Measure and reduce disparity between groups in link prediction."""

from linkparity import criteria
from linkparity.criteria import Cells
from linkparity.projection import Projection, i_project
from linkparity.regularizer import FairnessRegularizer
from linkparity.solver import Infeasible, NotConverged

__version__ = "0.1.0"

__all__ = [
    "Cells",
    "FairnessRegularizer",
    "Infeasible",
    "NotConverged",
    "Projection",
    "criteria",
    "i_project",
]
