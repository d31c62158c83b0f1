"""LinkPredictor: a graph in, predictions and rankings out."""

from linkparity.prediction.predictor import LinkPredictor, TrainingWarning
from linkparity.prediction.ranking import Ranking

__all__ = ["LinkPredictor", "Ranking", "TrainingWarning"]
