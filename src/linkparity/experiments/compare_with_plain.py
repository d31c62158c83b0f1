"""What a criterion changed: a run beside the same model trained without it."""

import math
import warnings
from dataclasses import dataclass
from typing import Any

from linkparity.criteria import Criterion
from linkparity.experiments.train import TEST_PAIRS, Run, fit_uninterrupted, hold_out
from linkparity.graph import Split
from linkparity.graph.graph import Graph
from linkparity.metrics.evaluation import measure, scored_sets
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.models.prediction import LinkPredictor, TrainingInterrupted, TrainingWarning
from linkparity.models.training.objective import trained_criterion
from linkparity.pairs.fit import cells_of
from linkparity.pairs.totals import sums_as_given
from linkparity.projection.regularizer import largest_gap
from linkparity.support.display import Displayed, Grid, format_number, or_none
from linkparity.support.errors import warn

#: Seconds that a plain twin may take where nobody asked for it.
QUICK = 10.0
#: Criteria whose gap is a measure of its own.
MEASURED = ("dp", "eo")


@dataclass(frozen=True)
class Comparison(Displayed):
    """Values of the plain twin and of the run, in this order.

    Attributes:
        criterion: name of the criterion.
        where: what the gap is measured on.
        training_gap: its gap on the pairs of training, in the last epoch; ``nan`` with tilts.
        gap: its gap on candidates, or on held-out pairs.
        auc: on the held-out pairs.
        fit_seconds: of training.
    """

    criterion: str
    where: str
    training_gap: tuple[float, float]
    gap: tuple[float, float]
    auc: tuple[float, float]
    fit_seconds: tuple[float, float]

    @property
    def reached(self) -> bool | None:
        """Whether the gap is below that of the plain twin; None where there is no gap."""
        before, after = self.gap
        return None if math.isnan(before) or math.isnan(after) else after < before

    def document(self) -> list[Grid | str]:
        """One table, before and after."""
        rows = {
            f"{self.criterion} gap on training pairs": self.training_gap,
            f"{self.criterion} gap on {self.where}": self.gap,
            "auc": self.auc,
        }
        shown = [[name, *map(format_number, values)] for name, values in rows.items()]
        return [Grid(("", "plain", "trained"), shown, f"What {self.criterion} changed")]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, ``[plain, trained]`` each."""
        names = ("training_gap", "gap", "auc", "fit_seconds")
        pairs = {name: [or_none(value) for value in getattr(self, name)] for name in names}
        return {"criterion": self.criterion, "where": self.where, **pairs, "reached": self.reached}


def compare_with_plain(graph: Graph, run: Run, test: float = 0.2) -> Comparison | None:
    """Fit the plain twin of a run and measure both; warn where the gap is not below the twin's.

    None where Ctrl-C ended the fit of the twin; the run itself stays.

    Args:
        graph: all links.
        run: trained with a criterion on the links that are not held out.
        test: share of the links held out.
    """
    trained = run.predictor
    assert trained.criterion is not None
    twin = LinkPredictor(**trained.get_params() | {"gamma": 0.0, "postprocess": None})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the run itself has said what there is to say
            split = hold_out(graph, test, trained.seed)
            fit_uninterrupted(twin, split.train)
    except KeyboardInterrupt:
        stopped = "interrupted; the run is not compared with a plain model"
        warn(TrainingInterrupted, stopped, caller="train")
        return None
    both = [_measured(each, split, run) for each in (twin, trained)]
    auc, gap = zip(*both, strict=True)
    criterion = trained_criterion(trained.criterion)
    candidates = criterion.name == "dp" and run.test_pairs == "candidates"
    found = Comparison(
        criterion.name, "candidates" if candidates else "held-out pairs",
        (_training_gap(twin), _training_gap(trained)), gap, auc,
        (twin.fit_seconds_, trained.fit_seconds_),
    )  # fmt: skip
    if found.reached is False:
        before, after = map(format_number, found.gap)
        warn(
            TrainingWarning,
            f"{criterion.name} was not reached: its gap on {found.where} is {after}, and {before} "
            "without the criterion",
            _advice(criterion, tilted=trained.postprocess is not None),
            caller="train",
        )
    return found


def _advice(criterion: Criterion, tilted: bool) -> str:
    """What may close the gap; ``tilted``: whether the run has an I-projection already."""
    ways = ["choose other pairs or another gamma"]
    if not tilted and (criterion.tilts_by_group or criterion.by_group_pair):
        ways.append("postprocess by i-projection")
    if criterion.name in MEASURED:
        ways.append("let tune choose")
    return ", or ".join(ways)


def _training_gap(predictor: LinkPredictor) -> float:
    tilted = predictor.postprocess is not None
    return predictor.history_[-1].gap if predictor.history_ and not tilted else math.nan


def _measured(predictor: LinkPredictor, split: Split, run: Run) -> tuple[float, float]:
    """AUC, and the gap of the criterion."""
    criterion = trained_criterion(predictor.criterion or "dp")
    own = [criterion.name] if criterion.name in MEASURED else []
    sets = scored_sets(
        predictor, split, None, over=TEST_PAIRS[run.test_pairs],
        min_pairs=run.scores.scored.min_pairs,
    )  # fmt: skip
    scores = measure(sets, ["auc", *own])
    return scores.auc, scores.values[own[0]] if own else criterion_gap(sets["test"], criterion)


def criterion_gap(scored: ScoredPairs, criterion: Criterion) -> float:
    """Largest difference between two constraints' means over weighted pairs."""
    cells = cells_of(scored.source.kinds, scored.totals, criterion)
    return largest_gap(cells, sums_as_given(scored.totals, cells))
