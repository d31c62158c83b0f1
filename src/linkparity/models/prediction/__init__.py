"""LinkPredictor: a graph in, predictions and rankings out."""

from linkparity.models.prediction.predictor import LinkPredictor, TrainingInterrupted
from linkparity.models.prediction.ranking import Ranking
from linkparity.models.training.loop import TrainingWarning

__all__ = ["LinkPredictor", "Ranking", "TrainingInterrupted", "TrainingWarning"]
