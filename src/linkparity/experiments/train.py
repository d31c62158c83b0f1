"""Split, train, evaluate, save; fit again on all links."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from linkparity.experiments.pairs_table import check_pairs_table, save_pairs_table
from linkparity.experiments.rows import Row
from linkparity.graph import Pairs, Split
from linkparity.graph.graph import Graph
from linkparity.graph.split import split_links
from linkparity.metrics.evaluation import Scores, measure, scored_sets
from linkparity.metrics.measures import check_measures
from linkparity.models.prediction import LinkPredictor, TrainingInterrupted
from linkparity.models.prediction.saving import check_place, save_predictor
from linkparity.models.training import Epoch
from linkparity.models.training.objective import criterion_name
from linkparity.support.display import counted
from linkparity.support.errors import InputError
from linkparity.support.files import outputs_in_place
from linkparity.support.registry import Registry

#: What a run's measures are about → ``over`` of :func:`~linkparity.evaluate`.
TEST_PAIRS = Registry("kind of test pairs", {"candidates": "candidates", "paper": "test"})
NOTHING_HELD_OUT = (
    "No link was held out: the model knows all of them, and only what needs no held-out link is "
    "measured."
)


@dataclass(frozen=True, eq=False)
class Run:
    """A trained model and its scores.

    Attributes:
        dataset: name of the data set, or None for the user's own files.
        predictor: the trained model that the scores are about.
        scores: its measures on the held-out pairs.
        test_pairs: ``"candidates"`` if dp, rdp and kl are over all candidates, else ``"paper"``.
        refitted: the same settings fitted on all links, where asked for.
    """

    dataset: str | None
    predictor: LinkPredictor
    scores: Scores
    test_pairs: str = "paper"
    refitted: LinkPredictor | None = None

    @property
    def criterion(self) -> str:
        """Name of the criterion it was trained with; ``"none"`` when plain."""
        return criterion_name(self.predictor.criterion)

    @property
    def final(self) -> LinkPredictor:
        """The model to use: the one fitted on all links, where there is one."""
        return self.predictor if self.refitted is None else self.refitted

    def to_dict(self) -> dict[str, Any]:
        """The run's :class:`Row` as one JSON object."""
        return Row.of(self).to_dict()


@dataclass(frozen=True)
class PairsOutput:
    """Where to write the pairs that the measures are taken on.

    Attributes:
        name: the file, ``-`` for stdout.
        force: whether an older file may be replaced.
        with_groups: whether the table has the groups of both ends.
    """

    name: str
    force: bool = False
    with_groups: bool = False


def train_run(
    graph: Graph,
    predictor: LinkPredictor,
    out: Path | None = None,
    dataset: str | None = None,
    *,
    replace: bool = True,
    test: float = 0.2,
    test_pairs: str | None = None,
    measures: Sequence[str] | None = None,
    on_epoch: Callable[[Epoch], object] | None = None,
    on_stage: Callable[[str], object] | None = None,
    refit: bool = False,
    save_test: PairsOutput | None = None,
    min_pairs: int = 0,
) -> Run:
    """Hold out links, train on the rest, evaluate, and save to ``out`` if given.

    A run in ``out`` is replaced only with ``replace``, also one that appears during training.

    Args:
        graph: all links.
        predictor: what to fit.
        out: directory of the saved run.
        dataset: name of the data set.
        replace: whether a run in ``out`` may be replaced.
        test: share of the links held out; 0 fits on all links, and measures only what needs no
            held-out link, over all candidates.
        test_pairs: ``"paper"`` measures the held-out pairs, ``"candidates"`` takes dp, rdp and kl
            over every pair that is no training link; by default ``"paper"`` where the predictor's
            ``pairs`` are ``"sampled"``, else ``"candidates"``.
        measures: which measures; all by default. ``rb`` may take longer than the training.
        on_epoch: called with each epoch.
        on_stage: called with a few words when each stage of the work begins.
        refit: fit the same settings on all links after the evaluation, and save that model.
        save_test: where to write the pairs that the measures are taken on.
        min_pairs: pairs that a pair of groups must have to count in dp, links in eo.
    """
    measured = "candidates" if test == 0 else test_pairs or default_test_pairs(predictor)
    over = TEST_PAIRS[measured]
    check_measures(measures, over == "candidates", "use {test_pairs=candidates}", "train_run")
    _check_test(test, refit, test_pairs, save_test)
    if out is not None:
        check_place(out, replace)
    say = on_stage or (lambda stage: None)
    split = hold_out(graph, test, predictor.seed, say)
    say(f"training on {counted(split.train.num_links, 'link')}")
    fit_uninterrupted(predictor, split.train, on_epoch)
    held_out = split.test.index[split.test.label == 1]
    say("scoring all candidates" if over == "candidates" else "scoring the test pairs")
    sets = scored_sets(predictor, split, seed=predictor.seed, over=over, min_pairs=min_pairs)
    scores = measure(sets, measures, on_measure=lambda name: say(f"measuring {name}"))
    predictor.held_out_ = held_out if len(held_out) else None
    if test == 0:
        scores = _without_test(scores)
    refitted = None
    if refit:
        say(f"fitting again on all {counted(graph.num_links, 'link')}")
        refitted = fit_uninterrupted(LinkPredictor(**predictor.get_params()), graph, on_epoch)
    run = Run(dataset, predictor, scores, measured, refitted)
    if save_test is not None:
        say(f"writing {save_test.name}")
        save_pairs_table(save_test.name, save_test.force, sets, graph, save_test.with_groups)
    if out is not None:
        with outputs_in_place(None if save_test is None else save_test.name):
            save_predictor(run.final, out, replace)
    return run


def default_test_pairs(predictor: LinkPredictor) -> str:
    """What is measured: as in the paper where the training is as in the paper."""
    return "paper" if predictor.pairs == "sampled" else "candidates"


def hold_out(
    graph: Graph, test: float, seed: int, say: Callable[[str], object] = lambda stage: None
) -> Split:
    """Split the links of a graph; with ``test`` 0 all are for training."""
    if test == 0:
        none = torch.empty(0, dtype=torch.int64)
        return Split(graph, Pairs(none.view(0, 2), none))
    say(f"splitting {counted(graph.num_links, 'link')}")
    return split_links(graph, test=test, seed=seed)


def _check_test(
    test: float, refit: bool, test_pairs: str | None, save_test: PairsOutput | None
) -> None:
    for name, given in {"refit": refit, "test_pairs": test_pairs == "paper"}.items():
        if test == 0 and given:
            problem = "goes with held-out links, and with test=0 the model knows all links"
            raise InputError(problem, "leave one of them out", argument=name)
    if save_test is not None:
        check_pairs_table(save_test.name, save_test.force)


def fit_uninterrupted(
    predictor: LinkPredictor, graph: Graph, on_epoch: Callable[[Epoch], object] | None = None
) -> LinkPredictor:
    """Fit; Ctrl-C is raised, where ``fit`` alone would go on with a model half trained."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingInterrupted)
        try:
            return predictor.fit(graph, on_epoch=on_epoch)
        except TrainingInterrupted:
            raise KeyboardInterrupt from None


def _without_test(scores: Scores) -> Scores:
    """Scores with a sentence that says why those of held-out links are missing."""
    return replace(scores, notes=(NOTHING_HELD_OUT, *scores.notes))
