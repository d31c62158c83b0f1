"""Training: the objective, the pairs in blocks or samples, one loop for every model."""

from linkparity.training.loop import Diverged, train
from linkparity.training.objective import Epoch

__all__ = ["Diverged", "Epoch", "train"]
