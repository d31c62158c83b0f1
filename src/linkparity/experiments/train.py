"""Split, train, evaluate, save."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkparity.experiments.rows import Row
from linkparity.graph.graph import Graph
from linkparity.graph.split import split_links
from linkparity.metrics.evaluation import Scores, evaluate
from linkparity.prediction import LinkPredictor, TrainingInterrupted
from linkparity.prediction.saving import check_place, save_predictor
from linkparity.support.registry import Registry
from linkparity.training import Epoch

#: What a run's measures are about → ``pairs`` of :func:`~linkparity.evaluate`.
TEST_PAIRS = Registry("kind of test pairs", {"candidates": "candidates", "paper": "test"})


@dataclass(frozen=True, eq=False)
class Run:
    """A trained model and its scores.

    Attributes:
        dataset: name of the data set, or None for the user's own files.
        predictor: the trained model.
        scores: its measures on the held-out pairs.
        test_pairs: ``"candidates"`` if dp, rdp and kl are over all candidates, else ``"paper"``.
    """

    dataset: str | None
    predictor: LinkPredictor
    scores: Scores
    test_pairs: str = "paper"

    @property
    def criterion(self) -> str:
        """Name of the criterion it was trained with; ``"none"`` when plain."""
        return str(self.predictor.criterion or "none")

    def to_dict(self) -> dict[str, Any]:
        """The run's :class:`Row` as one JSON object."""
        return Row.of(self).to_dict()


def train_run(
    graph: Graph,
    predictor: LinkPredictor,
    out: Path | None = None,
    dataset: str | None = None,
    *,
    replace: bool = True,
    test: float = 0.2,
    test_pairs: str = "paper",
    measures: Sequence[str] | None = None,
    on_epoch: Callable[[Epoch], object] | None = None,
) -> Run:
    """Hold out links, train on the rest, evaluate, and save to ``out`` if given.

    A run in ``out`` is replaced only with ``replace``, also one that appears during training.

    Args:
        graph: all links.
        predictor: what to fit.
        out: directory of the saved run.
        dataset: name of the data set.
        replace: whether a run in ``out`` may be replaced.
        test: share of the links held out.
        test_pairs: ``"paper"`` measures the held-out pairs, ``"candidates"`` takes dp, rdp and kl
            over every pair that is no training link.
        measures: which measures; all by default. ``rb`` may take longer than the training.
        on_epoch: called with each epoch.
    """
    TEST_PAIRS[test_pairs]
    if out is not None:
        check_place(out, replace)
    split = split_links(graph, test=test, seed=predictor.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingInterrupted)
        try:
            predictor.fit(split.train, on_epoch=on_epoch)
        except TrainingInterrupted:  # an interrupted training is not saved
            raise KeyboardInterrupt from None
    pairs = TEST_PAIRS[test_pairs]
    scores = evaluate(predictor, split, seed=predictor.seed, pairs=pairs, measures=measures)
    predictor.held_out_ = split.test.index[split.test.label == 1]
    if out is not None:
        save_predictor(predictor, out, replace)
    return Run(dataset, predictor, scores, test_pairs)
