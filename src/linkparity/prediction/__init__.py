"""LinkPredictor: a graph in, predictions and rankings out."""

from linkparity.prediction.predictor import LinkPredictor, TrainingInterrupted, TrainingWarning
from linkparity.prediction.ranking import Ranking

__all__ = ["LinkPredictor", "Ranking", "TrainingInterrupted", "TrainingWarning"]
