"""The most accurate model whose gap stays below a limit, chosen without test pairs.

The training links are split once more. Every setting is fitted on one part and judged on the
other: AUC and eo on the validation pairs, dp over all candidates, which is exact for these nodes.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linkparity.experiments.rows import Row
from linkparity.experiments.train import Run
from linkparity.graph import Graph, Split, split_links
from linkparity.metrics import Scores, evaluate
from linkparity.metrics.measures import MEASURES
from linkparity.models import MODELS
from linkparity.prediction import LinkPredictor
from linkparity.support.display import Displayed, Grid, format_number, or_none
from linkparity.support.errors import InputError

#: Strengths tried first; then the range beside the best of them is halved on a log scale.
GAMMAS = (1.0, 10.0, 100.0)
HALVINGS = 3
#: Trials of one model at most: plain, projected, the strengths, and both together.
TRIALS = 2 + len(GAMMAS) + HALVINGS + 1
#: Measures that a limit can be set for; each is also the criterion trained for.
LIMITED = ("dp", "eo")
#: Share of the training links that settings are judged on.
VALIDATION = 0.1


@dataclass(frozen=True)
class Trial:
    """One setting, fitted without the validation links and judged on them.

    Attributes:
        model: name of the model.
        gamma: weight of the regularizer; 0 is plain.
        postprocess: ``"i-projection"`` or None.
        auc: on the validation pairs.
        gaps: the value that is compared with the limit, by measure.
        excess: largest ratio of a gap to its limit; at most 1 when all limits are kept.
        seconds: of the fit and its judgement.
    """

    model: str
    gamma: float
    postprocess: str | None
    auc: float
    gaps: dict[str, float]
    excess: float
    seconds: float

    @property
    def qualified(self) -> bool:
        """Whether every gap is within its limit."""
        return self.excess <= 1

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        own = {name: getattr(self, name) for name in ("model", "gamma", "postprocess", "seconds")}
        gaps = {name: or_none(value) for name, value in self.gaps.items()}
        return own | {"auc": or_none(self.auc), "gaps": gaps, "qualified": self.qualified}


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


def describe(trial: Trial) -> str:
    """A setting in a few words.

    >>> describe(Trial("cne", 10.0, "i-projection", 0.9, {"dp": 0.01}, 1.0, 2.0))
    'cne, γ = 10, I-projection'
    """
    parts = [trial.model, f"γ = {trial.gamma:.3g}" if trial.gamma else "plain"]
    return ", ".join([*parts, "I-projection"] if trial.postprocess else parts)


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


@dataclass(frozen=True, eq=False)
class _Search:
    """Fits and judges settings on the two parts of the training links."""

    split: Split
    max_gap: dict[str, float]
    criterion: str
    confident: bool
    params: Mapping[str, Any]

    def try_setting(self, model: str, gamma: float, postprocess: str | None) -> Trial:
        """Fit one setting and judge it."""
        began = time.perf_counter()
        predictor = self.predictor(model, gamma, postprocess).fit(self.split.train)
        return self.judge(predictor, began)

    def predictor(self, model: str, gamma: float, postprocess: str | None) -> LinkPredictor:
        """The setting, not fitted."""
        plain = gamma == 0 and postprocess is None
        return LinkPredictor(
            model,
            None if plain else self.criterion,
            gamma=gamma,
            postprocess=postprocess,
            **self.params,
        )

    def judge(self, predictor: LinkPredictor, began: float) -> Trial:
        """The trial of a fitted predictor."""
        measures = ["auc", *self.max_gap]
        level = 0.95 if self.confident else None
        scores = evaluate(
            predictor, self.split, level, seed=predictor.seed, pairs="candidates", measures=measures
        )
        gaps = {name: self._judged(name, scores) for name in self.max_gap}
        excess = max(_ratio(gaps[name], limit) for name, limit in self.max_gap.items())
        gamma = predictor.gamma if predictor.criterion is not None else 0.0
        return Trial(
            str(predictor.model), gamma, predictor.postprocess, scores.auc, gaps, excess,
            time.perf_counter() - began,
        )  # fmt: skip

    def _judged(self, name: str, scores: Scores) -> float:
        """The value; with ``confident`` the upper end of its interval, where it is an estimate."""
        if self.confident and name in scores.intervals and name != "dp":
            upper = scores.intervals[name][1]
            return scores.values[name] if math.isnan(upper) else upper
        return scores.values[name]


def _ratio(gap: float, limit: float) -> float:
    """How often the limit goes into the gap; infinite where the gap is undefined."""
    if math.isnan(gap):
        return math.inf
    if limit == 0:
        return 0.0 if gap == 0 else math.inf
    return gap / limit


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
    inner = split_links(split.train, test=VALIDATION, seed=seed + 1)
    search = _Search(inner, limits, next(iter(limits)), confident, {**params, "seed": seed})
    curve: list[Trial] = []
    complete = True
    try:
        for name in names:
            for trial in _trials(search, name):
                curve.append(trial)
                if on_trial is not None:
                    on_trial(trial)
    except KeyboardInterrupt:
        if not curve:
            raise
        complete = False
    chosen = best_trial(curve)
    predictor = search.predictor(chosen.model, chosen.gamma, chosen.postprocess).fit(split.train)
    predictor.held_out_ = split.test.index[split.test.label == 1]
    scores = evaluate(predictor, split, seed=seed, pairs="candidates")
    return Tuning(Run(dataset, predictor, scores), chosen, tuple(curve), limits, complete)


def best_trial(curve: Sequence[Trial]) -> Trial:
    """The best AUC among those that qualify, else the one nearest to the limits."""
    qualified = [trial for trial in curve if trial.qualified]
    if qualified:
        return max(qualified, key=lambda trial: trial.auc)
    return min(curve, key=lambda trial: trial.excess)


def _trials(search: _Search, model: str) -> Iterator[Trial]:
    """The trials of one model: plain, projected, then strengths around the best."""
    plain = search.try_setting(model, 0.0, None)
    yield plain
    if plain.qualified:
        return
    yield search.try_setting(model, 0.0, "i-projection")
    found: dict[float, Trial] = {}
    for gamma in GAMMAS:
        found[gamma] = search.try_setting(model, gamma, None)
        yield found[gamma]
    for _ in range(HALVINGS):
        gamma = next_strength(found)
        found[gamma] = search.try_setting(model, gamma, None)
        yield found[gamma]
    nearest = best_trial(list(found.values()))
    yield search.try_setting(model, nearest.gamma / math.sqrt(10), "i-projection")


def next_strength(found: Mapping[float, Trial]) -> float:
    """The strength to try next: between the best and its neighbour on the more accurate side.

    While nothing qualifies, the range around the trial nearest to the limits is halved, or
    extended where it is at an end.
    """
    gammas = sorted(found)
    best = best_trial(list(found.values()))
    at = gammas.index(best.gamma)
    step = -1 if best.qualified else 1  # less strength, more accuracy; else more strength
    other = at + step
    if not 0 <= other < len(gammas):
        return best.gamma * 10.0**step
    return math.sqrt(best.gamma * gammas[other])


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
