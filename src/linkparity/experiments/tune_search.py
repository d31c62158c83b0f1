"""The search of ``tune``: settings are fitted on one part of the links and judged on the other."""

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linkparity.criteria import Cells
from linkparity.criteria.constrained_group_pairs import possible_kinds
from linkparity.experiments.steady_eo import SteadyEo
from linkparity.experiments.train import fit_uninterrupted
from linkparity.experiments.tune_trials import (
    SMALL_LOSS,
    Trial,
    best_trial,
    next_strength,
    times_limit,
)
from linkparity.graph import Graph, Split
from linkparity.metrics import Scores, evaluate
from linkparity.metrics.evaluation import scored_sets
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.models.prediction import LinkPredictor
from linkparity.models.prediction.postprocess import Tilts
from linkparity.models.prediction.predictor import check_parameters
from linkparity.models.training.objective import trained_criterion
from linkparity.projection.fit import read_target
from linkparity.support.errors import InputError
from linkparity.support.randomness import stream

#: Strengths tried first; then the range beside the best of them is halved on a log scale.
GAMMAS = (1.0, 10.0, 100.0)
HALVINGS = 3
#: Strengths that are combined with tilts where these need a fit of their own, beside one below the
#: best; from the weakest on, until one qualifies.
COMBINED = (10.0, 10.0**1.5)
PROJECTION = "i-projection"


def most_trials(criterion: str) -> int:
    """Trials of one model at most: plain and the strengths, each also projected if that is quick.

    >>> most_trials("dp"), most_trials("eo")
    (14, 11)
    """
    fits = 1 + len(GAMMAS) + HALVINGS
    return 2 * fits if trained_criterion(criterion).tilts_by_group else fits + 2 + len(COMBINED)


@dataclass(frozen=True, eq=False)
class Search:
    """Fits and judges settings on the two parts of the training links.

    Attributes:
        splits: the training links, divided once more. Settings are fitted and judged on the first;
            plain models of the others make ``eo`` steadier, and their validation links give tilts.
        max_gap: limits by measure.
        confident: whether ``eo`` is judged by the upper end of its interval.
        params: further arguments of the predictor, ``seed`` among them.
        min_pairs: pairs that a pair of groups must have to count in dp, links in eo.
        on_plain_fit: called after the plain fit of each split, of several, with its number and
            that of all.
    """

    splits: Sequence[Split]
    max_gap: dict[str, float]
    confident: bool
    params: Mapping[str, Any]
    min_pairs: int = 0
    on_plain_fit: Callable[[int, int], object] | None = None

    @property
    def split(self) -> Split:
        """What settings are fitted and judged on."""
        return self.splits[0]

    @property
    def criterion(self) -> str:
        """What is trained for: the first limit."""
        return next(iter(self.max_gap))

    @property
    def projects_for_free(self) -> bool:
        """Whether tilts need no further fit, since the criterion looks at no links."""
        return trained_criterion(self.criterion).tilts_by_group

    @property
    def estimates(self) -> bool:
        """Whether a limited gap is an estimate, which may be larger on other links."""
        return "eo" in self.max_gap

    def check(self, models: Sequence[str]) -> None:
        """Refuse what some model cannot be fitted with, before the first fit."""
        graph = self.split.train
        pairs, labels = possible_kinds(graph.group, graph.side)
        cells = Cells.prepare(pairs, self.criterion, labels)
        for model in models:
            setting = self.predictor(model, 1.0, PROJECTION)
            check_parameters(setting, graph)
            setting.build(graph, stream(setting.seed, "model"))
            read_target(setting.target, cells)

    def trials(self, model: str) -> Iterator[Trial]:
        """The trials of one model: plain, then strengths around the best, each also projected.

        They end with the plain model if it is within the limits. Else the first strengths are
        compared, since a regularized model may be more accurate than the plain one, and the trials
        end with one that is within the limits and at least nearly as accurate as the plain model.
        """
        began = time.perf_counter()
        plain = fit_uninterrupted(self.predictor(model, 0.0, None), self.split.train)
        took = time.perf_counter() - began
        self._tell_plain(1)
        twins, complete = self._further_fits(model) if self.estimates else ([], True)
        steady = SteadyEo.of(self._validation_scores(plain, twins)) if self.estimates else None
        trial = self.judge(plain, time.perf_counter() - took, steady)
        yield trial
        if not complete:
            raise KeyboardInterrupt
        if trial.qualified:
            return
        enough = trial.auc - SMALL_LOSS
        projected = self._tilted_plain(plain, twins, steady)
        yield projected
        found: dict[float, Trial] = {}
        tilted = [projected]
        for turn in range(len(GAMMAS) + HALVINGS):
            gamma = GAMMAS[turn] if turn < len(GAMMAS) else next_strength(found)
            began = time.perf_counter()
            fitted = fit_uninterrupted(self.predictor(model, gamma, None), self.split.train)
            found[gamma] = self.judge(fitted, began, steady)
            yield found[gamma]
            if self.projects_for_free and not found[gamma].qualified:
                tilted.append(self._projected(fitted, steady))
                yield tilted[-1]
            done = any(each.suffices(enough) for each in (*tilted, *found.values()))
            if done and len(found) >= len(GAMMAS):
                return
        if not self.projects_for_free:
            best = best_trial(list(found.values()))
            for gamma in sorted({*COMBINED, best.gamma / math.sqrt(10)}):
                both = self._projected(self.predictor(model, gamma, None), steady)
                yield both
                if both.qualified:
                    return

    def _further_fits(self, model: str) -> tuple[list[LinkPredictor], bool]:
        """Plain models of the further splits; False where Ctrl-C ended the fits."""
        twins: list[LinkPredictor] = []
        try:
            for number, split in enumerate(self.splits[1:], 2):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the first fit has said what there is to say
                    twins.append(fit_uninterrupted(self.predictor(model, 0.0, None), split.train))
                self._tell_plain(number)
        except KeyboardInterrupt:
            return twins, False
        return twins, True

    def _tell_plain(self, number: int) -> None:
        if self.on_plain_fit is not None and len(self.splits) > 1:
            self.on_plain_fit(number, len(self.splits))

    def _validation_scores(
        self, plain: LinkPredictor, twins: Sequence[LinkPredictor]
    ) -> list[ScoredPairs]:
        """What each plain model predicts for the validation pairs of its split."""
        fitted = [plain, *twins]
        return [
            scored_sets(each, split, None)["test"]
            for each, split in zip(fitted, self.splits, strict=False)
        ]

    def _tilted_plain(
        self, plain: LinkPredictor, twins: Sequence[LinkPredictor], steady: SteadyEo | None
    ) -> Trial:
        """The trial of the plain model, tilted.

        Tilts for links are the mean of those that the plain models of the further splits need, each
        for validation links that it has not seen and that nothing is judged on.
        """
        if self.projects_for_free:
            return self._projected(plain, steady)
        began, found = time.perf_counter(), []
        setting = self.predictor(str(plain.model), 0.0, PROJECTION)
        for twin, split in zip(twins, self.splits[1:], strict=True):
            links = split.test.index[split.test.label == 1]
            links = links[self.split.train.is_link(links)]
            if len(links):
                found.append(setting.fit_tilts(twin.model_, self.split.train, links))
        if not found:
            return self._projected(plain, steady)
        return self.judge(setting.tilt_fitted(plain, Tilts.mean(found)), began, steady)

    def predictor(
        self, model: str, gamma: float, postprocess: str | None, tolerance: float | None = None
    ) -> LinkPredictor:
        """The setting, not fitted."""
        plain = gamma == 0 and postprocess is None
        own: dict[str, Any] = {} if tolerance is None else {"tolerance": tolerance}
        params = {**self.params, **own}
        criterion = None if plain else self.criterion
        return LinkPredictor(model, criterion, gamma=gamma, postprocess=postprocess, **params)

    def _projected(self, fitted: LinkPredictor, steady: SteadyEo | None) -> Trial:
        """The trial of the same model, tilted.

        Tilts for links are fitted to a tenth of them by a further fit, so that they go to parity
        and leave the limit to chance.
        """
        began = time.perf_counter()
        if self.projects_for_free:
            return self.judge(self.tilted(fitted), began, steady)
        gamma = 0.0 if fitted.criterion is None else fitted.gamma
        setting = self.predictor(str(fitted.model), gamma, PROJECTION)
        return self.judge(fit_uninterrupted(setting, self.split.train), began, steady)

    @property
    def tolerance(self) -> float:
        """Of tilts that need no further fit: the I-projection within it keeps the limit."""
        return self.max_gap[self.criterion] / 2

    def tilted(self, fitted: LinkPredictor) -> LinkPredictor:
        """A fitted model with the nearest tilts that keep the limit and the target, if any.

        The limit is about candidates, whatever the model was trained for.
        """
        gamma = 0.0 if fitted.criterion is None else fitted.gamma
        setting = self.predictor(
            str(fitted.model), gamma, PROJECTION, None if gamma else self.tolerance
        )
        judged = {"pairs": "candidates", "tolerance": self.tolerance}
        projection = LinkPredictor(**setting.get_params() | judged).tilt_fitted(fitted)
        return setting.tilt_fitted(fitted, projection.tilts_)

    def refit(self, chosen: Trial, graph: Graph) -> LinkPredictor:
        """The chosen setting on all training links.

        Tilts that were fitted to withheld links stay as they were judged: fitted to others, they
        would differ by chance, which nobody has judged.
        """
        fitted = fit_uninterrupted(self.predictor(chosen.model, chosen.gamma, None), graph)
        if chosen.postprocess is None:
            return fitted
        if chosen.tilts is None:
            return self.tilted(fitted)
        setting = self.predictor(chosen.model, chosen.gamma, PROJECTION)
        return setting.tilt_fitted(fitted, chosen.tilts)

    def judge(self, predictor: LinkPredictor, began: float, steady: SteadyEo | None) -> Trial:
        """The trial of a fitted predictor."""
        scores = evaluate(
            predictor, self.split, 0.95 if self.confident else None, seed=predictor.seed,
            over="candidates", measures=["auc", *self.max_gap], min_pairs=self.min_pairs,
        )  # fmt: skip
        plain = predictor.criterion is None
        judged = {name: self._judged(name, scores, steady, plain) for name in self.max_gap}
        gaps = {name: gap for name, (gap, _) in judged.items()}
        cautious = {name: gap + error for name, (gap, error) in judged.items()}
        gamma = 0.0 if plain else predictor.gamma
        return Trial(
            str(predictor.model), gamma, predictor.postprocess, scores.auc, gaps,
            self._excess(gaps), self._excess(cautious),
            time.perf_counter() - began,
            self.tolerance if predictor.postprocess and self.projects_for_free else 0.0,
            None if self.projects_for_free else predictor.tilts_,
        )  # fmt: skip

    def _excess(self, gaps: Mapping[str, float]) -> float:
        return max(times_limit(gaps[name], limit) for name, limit in self.max_gap.items())

    def _judged(
        self, name: str, scores: Scores, steady: SteadyEo | None, plain: bool
    ) -> tuple[float, float]:
        """The value and its standard error, 0 for what is exact.

        With ``confident`` the value of an estimate is the upper end of its interval. Where a plain
        model has none it is refused; another setting without one keeps no limit.
        """
        value = scores.values[name]
        if math.isnan(value):
            problem = f"{name} cannot be judged on the validation pairs: {scores.reasons[name]}"
            fix = "limit another measure, or give more links or groups"
            fix += f", or lower min_pairs ({self.min_pairs})" if self.min_pairs else ""
            raise InputError(problem, fix, argument="max_gap", caller="tune")
        if name != "eo" or steady is None:
            return value, 0.0
        corrected, error = steady.gap(scores.scored)
        if not self.confident:
            return corrected, error
        upper = scores.intervals["eo"][1]
        if math.isnan(upper) and not plain:
            return math.nan, 0.0
        if math.isnan(upper):
            why = scores.reasons.get("eo interval", "too few nodes")
            problem = f"cannot judge eo, which has no interval on the validation pairs: {why}"
            fix = "leave it out, or give more links or nodes"
            raise InputError(problem, fix, argument="confident", caller="tune")
        return min(corrected + upper - value, 1.0), 0.0
