"""Split, train, evaluate, save."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from linkparity.evaluation import Scores, evaluate
from linkparity.graph import Graph
from linkparity.prediction import LinkPredictor
from linkparity.split import split_links
from linkparity.training import Epoch

MEASURES = ("auc", "dp", "eo", "rdp", "rb", "kl")


@dataclass(frozen=True, eq=False)
class Run:
    """What a training gave: the predictor, its scores on held-out pairs, and what it was."""

    dataset: str | None
    predictor: LinkPredictor
    scores: Scores

    def to_dict(self) -> dict[str, Any]:
        """The keys that scripts rely on; undefined measures are None."""
        predictor, scores = self.predictor, self.scores
        plain = predictor.criterion is None
        return {
            "dataset": self.dataset,
            "model": predictor.model,
            "criterion": "none" if plain else predictor.criterion,
            "gamma": 0 if plain else predictor.gamma,
            "seed": predictor.seed,
            **{name: _or_none(scores.values[name]) for name in MEASURES},
            "fit_seconds": predictor.fit_seconds_,
            "intervals": {k: [_or_none(end) for end in v] for k, v in scores.intervals.items()},
            "pairs": scores.pairs,
            "links": scores.links,
            "cells": scores.to_dict()["cells"],
            "notes": list(scores.notes),
        }


def train_run(
    graph: Graph,
    predictor: LinkPredictor,
    out: Path | None = None,
    *,
    dataset: str | None = None,
    test: float = 0.2,
    tell: Callable[[Epoch], object] | None = None,
) -> Run:
    """Hold out links, train on the rest, evaluate, and save to ``out`` if given."""
    split = split_links(graph, test=test, seed=predictor.seed)
    predictor.fit(split.train, on_epoch=tell)
    scores = evaluate(predictor, split, seed=predictor.seed)
    if out is not None:
        predictor.save(out)
    return Run(dataset, predictor, scores)


def _or_none(value: float) -> float | None:
    return value if isfinite(value) else None
