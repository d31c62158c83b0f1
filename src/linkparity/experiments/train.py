"""Split, train, evaluate, save."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkparity.graph.graph import Graph
from linkparity.graph.split import split_links
from linkparity.metrics.evaluation import Scores, evaluate
from linkparity.prediction import LinkPredictor, TrainingWarning
from linkparity.prediction.saving import check_place, save_predictor
from linkparity.training import Epoch

MEASURES = ("auc", "dp", "eo", "rdp", "rb", "kl")


@dataclass(frozen=True, eq=False)
class Run:
    """A trained model and how it did.

    Attributes:
        dataset: name of the data set, or None for own files.
        predictor: the trained model.
        scores: its measures on the held-out pairs.
    """

    dataset: str | None
    predictor: LinkPredictor
    scores: Scores

    @property
    def criterion(self) -> str:
        """Name of the criterion it was trained with; ``"none"`` when plain."""
        return str(self.predictor.criterion or "none")

    def to_dict(self) -> dict[str, Any]:
        """One JSON object: what was run, the measures as plain numbers, intervals apart."""
        scores = self.scores.to_dict()
        plain = self.predictor.criterion is None
        return {
            "dataset": self.dataset,
            "model": str(self.predictor.model),
            "criterion": self.criterion,
            "gamma": 0 if plain else self.predictor.gamma,
            "seed": self.predictor.seed,
            **{name: scores[name] for name in MEASURES},
            "ap": scores["ap"],
            "fit_seconds": self.predictor.fit_seconds_,
            "epochs": len(self.predictor.history_),
            **{k: scores[k] for k in ("pairs", "links", "intervals", "cells", "reasons", "notes")},
        }


def train_run(
    graph: Graph,
    predictor: LinkPredictor,
    out: Path | None = None,
    *,
    dataset: str | None = None,
    replace: bool = True,
    test: float = 0.2,
    tell: Callable[[Epoch], object] | None = None,
) -> Run:
    """Hold out links, train on the rest, evaluate, and save to ``out`` if given.

    A run in ``out`` is replaced only with ``replace``, also one that appears during training.
    """
    if out is not None:
        check_place(out, replace)
    split = split_links(graph, test=test, seed=predictor.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        try:
            predictor.fit(split.train, on_epoch=tell)
        except TrainingWarning:  # half a run is none
            raise KeyboardInterrupt from None
    scores = evaluate(predictor, split, seed=predictor.seed)
    predictor.held_out_ = split.test.index[split.test.label == 1]
    if out is not None:
        save_predictor(predictor, out, replace)
    return Run(dataset, predictor, scores)
