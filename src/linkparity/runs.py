"""One run: split a graph, train on it, evaluate on what was held out, keep the model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkparity.evaluation import Scores, evaluate
from linkparity.graph import Graph
from linkparity.prediction import LinkPredictor
from linkparity.split import split_links
from linkparity.training import Epoch

#: Measures that stand in every row, in this order.
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
            "fit_seconds": round(self.predictor.fit_seconds_, 3),
            "epochs": len(self.predictor.history_),
            **{k: scores[k] for k in ("pairs", "links", "intervals", "cells", "reasons", "notes")},
        }


def run_training(
    graph: Graph,
    dataset: str | None = None,
    *,
    test: float = 0.2,
    seed: int = 0,
    out: Path | None = None,
    confidence: float | None = 0.95,
    on_epoch: Callable[[Epoch], object] | None = None,
    **parameters: Any,
) -> Run:
    """Hold out links, train a :class:`LinkPredictor` on the rest, evaluate it, save it to ``out``.

    Args:
        graph: all links.
        dataset: its name, for the record.
        test: share of the links to hold out.
        seed: of the split and of the training.
        out: directory to save the predictor to.
        confidence: of the intervals.
        on_epoch: called with each row of training.
        parameters: of the predictor, such as ``model`` and ``criterion``.
    """
    predictor = LinkPredictor(seed=seed, **_told(parameters))
    split = split_links(graph, test=test, seed=seed)
    predictor.fit(split.train, on_epoch=on_epoch)
    scores = evaluate(predictor, split, confidence=confidence, seed=seed)
    run = Run(dataset, predictor, scores)
    if out is not None:
        predictor.save(out)
    return run


def _told(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that were given; the predictor's own defaults hold for the rest."""
    return {name: value for name, value in parameters.items() if value is not None}
