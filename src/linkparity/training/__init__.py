"""Training: the objective, the pairs in blocks or samples, one loop for every model."""

from linkparity.training.loop import Adam, Diverged, train
from linkparity.training.objective import Epoch, Objective, Settings

__all__ = ["Adam", "Diverged", "Epoch", "Objective", "Settings", "train"]
