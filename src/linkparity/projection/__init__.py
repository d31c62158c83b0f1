"""The I-projection onto models at parity, and the regularizer: paper, sections 3.3 and 4."""

from linkparity.projection.i_projection import Projection, i_project
from linkparity.projection.regularizer import FairnessRegularizer
from linkparity.projection.solver import Infeasible, NotConverged

__all__ = ["FairnessRegularizer", "Infeasible", "NotConverged", "Projection", "i_project"]
