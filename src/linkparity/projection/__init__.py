"""The I-projection onto models at parity, and the regularizer: paper, sections 3.3 and 4."""

from typing import TYPE_CHECKING

from linkparity.projection.i_projection import Projection, i_project
from linkparity.projection.solver import Infeasible, NotConverged

if TYPE_CHECKING:
    from linkparity.projection.regularizer import FairnessRegularizer

__all__ = ["FairnessRegularizer", "Infeasible", "NotConverged", "Projection", "i_project"]


def __getattr__(name: str) -> object:
    """The regularizer, which alone needs PyTorch."""
    if name != "FairnessRegularizer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from linkparity.projection.regularizer import FairnessRegularizer

    return FairnessRegularizer
