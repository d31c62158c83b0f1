"""LinkPredictor: a graph in, predictions and rankings out."""

from linkparity.prediction.predictor import LinkPredictor, TrainingInterrupted
from linkparity.prediction.ranking import Ranking
from linkparity.training.loop import TrainingWarning

__all__ = ["LinkPredictor", "Ranking", "TrainingInterrupted", "TrainingWarning"]
