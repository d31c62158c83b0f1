"""The most accurate model whose gap stays below a limit, chosen without test pairs.

The training links are split once more. Every setting is fitted on one part and judged on the
other: AUC and eo on the validation pairs, dp over all candidates, which is exact for these nodes.
Plain models of further splits correct eo for the draw of the validation links.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linkparity.experiments.rows import Row
from linkparity.experiments.steady_eo import validation_splits
from linkparity.experiments.train import Run
from linkparity.experiments.tune_search import (
    Search,
    Trial,
    best_trial,
    describe,
    fit_uninterrupted,
)
from linkparity.graph import Graph, split_links
from linkparity.metrics import Scores, evaluate
from linkparity.metrics.measures import MEASURES
from linkparity.models import MODELS
from linkparity.prediction import LinkPredictor
from linkparity.support.display import Displayed, Grid, format_number
from linkparity.support.errors import InputError

#: Measures that a limit can be set for; each is also the criterion trained for.
LIMITED = ("dp", "eo")
#: Share of the training links that settings are judged on.
VALIDATION = 0.2
#: Splits of the training links whose plain models make eo steadier.
SPLITS = 5


@dataclass(frozen=True, eq=False)
class Tuning(Displayed):
    """What was chosen, and what was tried; ``print(tuning)`` shows both.

    Attributes:
        run: the chosen setting, fitted on all training links and measured on the test pairs.
        chosen: its trial.
        curve: all trials, in the order in which they were made.
        max_gap: the limits by measure.
        complete: False when the search was interrupted.
    """

    run: Run
    chosen: Trial
    curve: tuple[Trial, ...]
    max_gap: dict[str, float]
    complete: bool = True

    @property
    def qualified(self) -> bool:
        """Whether the chosen setting kept every limit in validation."""
        return self.chosen.qualified

    @property
    def predictor(self) -> LinkPredictor:
        """The chosen model, fitted on all training links."""
        return self.run.predictor

    @property
    def scores(self) -> Scores:
        """Its measures on the test pairs."""
        return self.run.scores

    def document(self) -> list[Grid | str]:
        """The trials, the choice in words, and its measures."""
        return [_curve_grid(self), self.finding(), *self.scores.document()]

    def finding(self) -> str:
        """The choice in words; where nothing qualified, how near it came and what would help."""
        limits = ", ".join(f"{name} ≤ {limit:g}" for name, limit in self.max_gap.items())
        found = {"auc": self.chosen.auc} | self.chosen.gaps
        values = ", ".join(f"{name} {format_number(value)}" for name, value in found.items())
        text = f"{describe(self.chosen)}: {values} in validation"
        if self.qualified:
            return f"Chosen for {limits}: {text}."
        return (
            f"Nothing keeps {limits}. Nearest: {text}. A higher limit, another model (--model), "
            "more links, or fewer and larger groups would help."
        )

    def to_dict(self) -> dict[str, Any]:
        """The keys of a run, and the search."""
        return Row.of(self.run).to_dict() | {
            "postprocess": self.chosen.postprocess,
            "max_gap": dict(self.max_gap),
            "qualified": self.qualified,
            "complete": self.complete,
            "curve": [trial.to_dict() for trial in self.curve],
            **self.scores.gap_report(),
        }


def _curve_grid(tuning: Tuning) -> Grid:
    names = list(tuning.max_gap)
    rows = [
        [
            describe(trial) + (" *" if trial is tuning.chosen else ""),
            format_number(trial.auc),
            *(format_number(trial.gaps[name]) for name in names),
            "yes" if trial.qualified else "no",
            f"{trial.seconds:.1f}",
        ]
        for trial in tuning.curve
    ]
    columns = ["setting", "auc", *names, "within limits", "seconds"]
    return Grid(columns, rows, "Validation: AUC and eo on validation pairs, dp on candidates")


def tune(
    graph: Graph,
    max_gap: Mapping[str, float],
    models: str | Sequence[str] = "cne",
    *,
    test: float = 0.2,
    seed: int = 0,
    confident: bool = False,
    dataset: str | None = None,
    on_trial: Callable[[Trial], object] | None = None,
    **params: Any,
) -> Tuning:
    r"""Find the setting with the best AUC whose gaps stay within limits.

    .. math:: \max_{\text{settings}} \mathrm{auc} \quad \text{subject to} \quad
              \mathrm{gap}_m \le \text{limit}_m

    Settings are the plain model, the regularizer at several strengths, the I-projection of the
    plain model, and both together. More strength is not always more parity, so that strengths are
    tried on a log scale around the best rather than by bisection of a monotone curve. Test pairs
    are held out before the search and measured once, after it.

    Args:
        graph: all links.
        max_gap: limits by measure, such as ``{"dp": 0.01}``; ``dp`` or ``eo``. The first is the
            criterion that is trained for.
        models: name of a model, or several, separated by commas or in a list.
        test: share of the links that is held out for the result.
        seed: random seed.
        confident: judge the upper end of the interval of ``eo``, which is an estimate.
        dataset: name of the data set, for the row of the result.
        on_trial: called with each trial.
        params: further arguments of :class:`~linkparity.LinkPredictor`.

    Returns:
        The chosen model, fitted on all training links, with its measures and the trials. Where no
        setting keeps the limits, the one that comes nearest. Ctrl-C ends the search early.
    """
    limits = _check_limits(max_gap)
    names = _check_models(models)
    split = split_links(graph, test=test, seed=seed)
    inner = validation_splits(split.train, VALIDATION, SPLITS if "eo" in limits else 1, seed + 1)
    search = Search(inner, limits, confident, {**params, "seed": seed})
    curve: list[Trial] = []
    complete = True
    try:
        for name in names:
            for trial in search.trials(name):
                curve.append(trial)
                if on_trial is not None:
                    on_trial(trial)
    except KeyboardInterrupt:
        if not curve:
            raise
        complete = False
    chosen = best_trial(curve)
    predictor = search.predictor(chosen.model, chosen.gamma, chosen.postprocess, chosen.tolerance)
    fit_uninterrupted(predictor, split.train)
    predictor.held_out_ = split.test.index[split.test.label == 1]
    scores = evaluate(predictor, split, seed=seed, pairs="candidates")
    return Tuning(
        Run(dataset, predictor, scores, "candidates"), chosen, tuple(curve), limits, complete
    )


def limits(texts: Sequence[str]) -> dict[str, float]:
    """Limits as the command line has them: ``["dp=0.01", "eo=0.05"]``, or with commas."""
    found: dict[str, float] = {}
    for text in (part.strip() for each in texts for part in each.split(",")):
        name, _, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            problem = f"must be a measure and a number, got {text!r}"
            raise InputError(problem, "such as dp=0.01", argument="max_gap") from None
    return _check_limits(found)


def _check_limits(max_gap: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(max_gap, Mapping) or not max_gap:
        raise InputError(
            f"must give a limit, got {max_gap!r}", "such as dp=0.01", argument="max_gap",
            caller="tune",
        )  # fmt: skip
    for name, limit in max_gap.items():
        if name not in LIMITED:
            MEASURES[name]
            fix = f"use one of {', '.join(LIMITED)}"
            raise InputError(f"cannot limit {name!r}", fix, argument="max_gap", caller="tune")
        if not 0 <= limit <= 1:
            raise InputError(
                f"must lie between 0 and 1, got {name}={limit:g}", argument="max_gap",
                caller="tune",
            )  # fmt: skip
    return {name: float(limit) for name, limit in max_gap.items()}


def _check_models(models: str | Sequence[str]) -> list[str]:
    names = models.split(",") if isinstance(models, str) else list(models)
    for name in names:
        MODELS[name]
    return list(dict.fromkeys(names))
