"""Training: the objective, the pairs in blocks or samples, one loop for every model."""

from linkparity.models.training.loop import Adam, Diverged, train
from linkparity.models.training.objective import Epoch, Objective, Settings

__all__ = ["Adam", "Diverged", "Epoch", "Objective", "Settings", "train"]
