"""The most accurate model whose gap stays below a limit, chosen without test pairs.

The training links are split once more. Every setting is fitted on one part and judged on the
other: AUC and eo on the validation pairs, dp over all candidates, which is exact for these nodes.
Plain models of further splits correct eo for the draw of the validation links.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linkparity.criteria.cells import ALIASES
from linkparity.experiments.pairs_table import check_pairs_table, save_pairs_table
from linkparity.experiments.rows import Row
from linkparity.experiments.steady_eo import validation_splits
from linkparity.experiments.train import PairsOutput, Run, hold_out
from linkparity.experiments.tune_search import Search
from linkparity.experiments.tune_trials import Trial, chosen_trial, describe, times_limit
from linkparity.graph import Graph, Split, split_links
from linkparity.metrics import Scores
from linkparity.metrics.cell_means import check_min_pairs
from linkparity.metrics.evaluation import measure, scored_sets
from linkparity.metrics.measures import MEASURES
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.models import MODELS
from linkparity.models.prediction import LinkPredictor, TrainingInterrupted, TrainingWarning
from linkparity.support.arrays import real_number
from linkparity.support.display import Displayed, Grid, counted, format_number
from linkparity.support.errors import InputError, PlainError, warn

#: Measures that a limit can be set for; each is also the criterion trained for.
LIMITED = ("dp", "eo")
#: Share of the training links that settings are judged on.
VALIDATION = 0.2
#: What would help where nothing keeps the limits.
ADVICE = (
    " A higher limit, another model (--model), more links, or fewer and larger groups would help; "
    "--min-pairs leaves small pairs of groups out."
)
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
    def tilted(self) -> bool:
        """Whether the choice exceeded the limit on dp once refitted, and was tilted to keep it."""
        return self.predictor.postprocess != self.chosen.postprocess

    @property
    def exceeded(self) -> bool:
        """Whether the delivered model has a dp above its limit, over all candidates."""
        return "dp" in self.max_gap and times_limit(self.scores.dp, self.max_gap["dp"]) > 1

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
        cut = "" if self.complete else f"Interrupted after {counted(len(self.curve), 'trial')}. "
        if not self.qualified:
            near = f"{cut}Nothing tried keeps {limits}. Nearest: {text}."
            return near + (ADVICE if self.complete else "")
        return f"{cut}Chosen for {limits}: {text}.{self._refitted()}"

    def _refitted(self) -> str:
        """What the fit on all training links changed about dp, if anything."""
        if self.tilted:
            return " Fitted on all training links it exceeded the limit on dp, and was tilted."
        if self.exceeded:
            return f" Fitted on all training links its dp is {self.scores.dp:.6g}, above the limit."
        return ""

    def to_dict(self) -> dict[str, Any]:
        """The keys of a run, and the search."""
        return Row.of(self.run).to_dict() | {
            "postprocess": self.predictor.postprocess,
            "max_gap": dict(self.max_gap),
            "qualified": self.qualified,
            "complete": self.complete,
            "tilted": self.tilted,
            "exceeded": self.exceeded,
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
    where = {
        "dp": "dp on candidates",
        "eo": "eo on validation links, corrected by plain models of further splits",
    }
    title = ", ".join(["Validation: AUC on validation pairs", *(where[name] for name in names)])
    return Grid(columns, rows, title)


def tune(
    graph: Graph,
    max_gap: Mapping[str, float],
    models: str | Sequence[str] = "cne",
    *,
    test: float = 0.2,
    seed: int = 0,
    confident: bool = False,
    min_pairs: int = 0,
    measures: Sequence[str] | None = None,
    refit: bool = False,
    save_test: PairsOutput | None = None,
    dataset: str | None = None,
    on_trial: Callable[[Trial], object] | None = None,
    on_plain_fit: Callable[[int, int], object] | None = None,
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
        max_gap: limits by measure, such as ``{"dp": 0.01}``; ``dp`` or ``eo``, also by the names
            ``demographic-parity`` and ``equal-opportunity``. The first is the criterion that is
            trained for.
        models: name of a model, or several, separated by commas or in a list.
        test: share of the links that is held out for the result.
        seed: random seed.
        confident: judge the upper end of the interval of ``eo``, which is an estimate.
        min_pairs: pairs that a pair of groups must have to count in ``dp``, links in ``eo``.
        measures: measures of the result beside those that are limited; all by default.
        refit: fit the chosen setting on all links after it was measured, as ``run.refitted``.
        save_test: where to write the pairs that the result is measured on.
        dataset: name of the data set, for the row of the result.
        on_trial: called with each trial.
        on_plain_fit: called after each of the plain fits that a limit on ``eo`` needs, with its
            number and that of all.
        params: further arguments of :class:`~linkparity.LinkPredictor`.

    Returns:
        The chosen model, fitted on all training links, with its measures and the trials. With a
        limit on eo, which is an estimate, up to 0.001 of AUC is given up for a gap that is within
        it by a standard error. Where no setting keeps the limits, it is the one that comes nearest.
        Where the chosen one, once fitted on all training links, exceeds a limit on dp alone, it is
        tilted to keep it. Ctrl-C ends the search early, with a warning; a fit that fails ends the
        trials of its model, if there are others to choose from.
    """
    limits = _check_limits(max_gap)
    names = check_models(models)
    if not isinstance(graph, Graph):
        problem = f"must be a Graph, got {graph!r:.60}"
        raise InputError(problem, "load one by lp.load", argument="graph", caller="tune")
    for name in measures or ():
        MEASURES[name]
    check_min_pairs(min_pairs, "tune")
    wanted = None if measures is None else [*measures, *limits]
    if save_test is not None:
        check_pairs_table(save_test.name, save_test.force)
    for name in ("criterion", "gamma", "postprocess", "model", "tolerance"):
        if name in params:
            raise InputError("is what tune chooses", "leave it out", argument=name, caller="tune")
    split = split_links(graph, test=test, seed=seed)
    inner = validation_splits(split.train, VALIDATION, SPLITS if "eo" in limits else 1, seed + 1)
    search = Search(inner, limits, confident, {**params, "seed": seed}, min_pairs, on_plain_fit)
    search.check(names)
    curve, complete = _walk(search, names, on_trial)
    chosen = chosen_trial(curve)
    try:
        predictor, sets = _fitted_within(search, chosen, split)
        scores = measure(sets, wanted)
        predictor.held_out_ = split.test.index[split.test.label == 1]
        refitted = _fitted_within(search, chosen, hold_out(graph, 0, seed))[0] if refit else None
    except KeyboardInterrupt:
        warn(TrainingInterrupted, f"no model; the choice was {describe(chosen)}", caller="tune")
        raise
    if save_test is not None:
        save_pairs_table(save_test.name, save_test.force, sets, graph, save_test.with_groups)
    run = Run(dataset, predictor, scores, "candidates", refitted)
    return Tuning(run, chosen, tuple(curve), limits, complete)


def _walk(
    search: Search, models: Sequence[str], on_trial: Callable[[Trial], object] | None
) -> tuple[list[Trial], bool]:
    """The trials of all models; False where Ctrl-C ended them."""
    curve: list[Trial] = []
    try:
        for model in models:
            try:
                for trial in search.trials(model):
                    curve.append(trial)
                    if on_trial is not None:
                        on_trial(trial)
            except (InputError, PlainError) as error:
                if not curve:
                    raise
                failed = f"a fit failed, no further trials of {model}: {error}"
                warn(TrainingWarning, failed, caller="tune")
    except KeyboardInterrupt:
        if not curve:
            raise
        stopped = f"interrupted after {counted(len(curve), 'trial')}; the best so far is fitted now"
        warn(TrainingInterrupted, stopped, caller="tune")
        return curve, False
    return curve, True


def _fitted_within(
    search: Search, chosen: Trial, split: Split
) -> tuple[LinkPredictor, dict[str, ScoredPairs]]:
    """The choice, fitted on the training links of ``split``, and its scores of all candidates.

    Where it kept a limit on dp alone and exceeds it now, it is tilted to keep it.
    """

    def scored(predictor: LinkPredictor) -> dict[str, ScoredPairs]:
        return scored_sets(
            predictor, split, seed=predictor.seed, over="candidates", min_pairs=search.min_pairs
        )

    predictor = search.refit(chosen, split.train)
    sets = scored(predictor)
    if chosen.qualified and list(search.max_gap) == ["dp"]:
        dp = measure(sets, ["dp"]).dp
        if times_limit(dp, search.max_gap["dp"]) > 1:
            predictor = search.tilted(predictor)
            sets = scored(predictor)
    return predictor, sets


def limits(texts: Sequence[str]) -> dict[str, float]:
    """Limits as the command line has them: ``["dp=0.01", "eo=0.05"]``, or with commas."""
    found: dict[str, float] = {}
    for text in (part.strip() for each in texts for part in each.split(",")):
        name, _, value = text.partition("=")
        name = ALIASES.get(name.strip(), name.strip())
        if name in found:
            raise InputError(f"has two limits on {name}", "give one", argument="max_gap")
        try:
            found[name] = float(value)
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
    named = {ALIASES.get(name, name): limit for name, limit in max_gap.items()}
    if len(named) < len(max_gap):
        problem = f"limits a measure under two names, {', '.join(map(str, max_gap))}"
        raise InputError(problem, "give one", argument="max_gap", caller="tune")
    for name, limit in named.items():
        if name not in LIMITED:
            fix = f"use one of {', '.join(LIMITED)}"
            raise InputError(f"cannot limit {name!r}", fix, argument="max_gap", caller="tune")
        if not 0 <= real_number(limit, "max_gap", "tune") <= 1:
            raise InputError(
                f"must lie between 0 and 1, got {name}={limit:g}", argument="max_gap",
                caller="tune",
            )  # fmt: skip
    return {name: float(limit) for name, limit in named.items()}


def check_models(models: str | Sequence[str]) -> list[str]:
    """Names of models, each once; one text may have several, with commas between them."""
    if not isinstance(models, str | list | tuple):
        problem = f"must name models, got {models!r:.60}"
        raise InputError(problem, "such as 'cne,gae'", argument="models", caller="tune")
    names = models.split(",") if isinstance(models, str) else list(models)
    names = list(dict.fromkeys(name.strip() if isinstance(name, str) else name for name in names))
    if not names:
        raise InputError("must name a model", "such as cne", argument="models", caller="tune")
    for name in names:
        MODELS[name]
    return names
