"""What ``tune`` finds, as rows beside the paper's: the third layer of figure 2."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from linkparity.experiments.fit import Fit
from linkparity.experiments.results import Summary
from linkparity.experiments.rows import Row
from linkparity.experiments.train import Run
from linkparity.experiments.tune import tune
from linkparity.experiments.tune_trials import describe
from linkparity.graph.split import split_links
from linkparity.metrics.evaluation import evaluate
from linkparity.metrics.measures import MEASURES, measurable
from linkparity.paper.published import published
from linkparity.support.display import counted, or_none

#: Seeds of the layer at most: each is a search of up to seventeen fits.
MAX_SEEDS = 3
#: Limits as shares of the paper's gaps. Its test pairs are a sample, so that the dp measured there
#: exceeds the exact one, which is limited; eo is an estimate in both.
SHARE = {"dp": 0.5, "eo": 1.0}
#: Parameters of a plain fit that a search keeps.
KEPT = ("model", "seed", "options")
#: Data set, model and criterion of a row of the paper.
Key = tuple[str, str, str]


@dataclass(frozen=True, eq=False)
class TunedFit(Fit):
    """A search for the most accurate setting within a limit, then its measures.

    The setting is chosen without test pairs; its row is measured on the paper's test pairs, so that
    it can stand beside the paper's. Its ``settings`` are those that were chosen, ``max_gap``, and
    ``dp_over_candidates``, the exact gap of which ``dp`` is an estimate on the test pairs.

    Attributes:
        max_gap: The limit, by the measure that is also the criterion.
    """

    max_gap: dict[str, float] = field(default_factory=dict)

    @property
    def criterion(self) -> str:
        """What is limited."""
        return next(iter(self.max_gap))

    @property
    def title(self) -> str:
        """What is fitted, in a few words."""
        limits = ", ".join(f"{name} ≤ {limit:g}" for name, limit in self.max_gap.items())
        parts = (self.source.name, self.parameters["model"], f"tuned to {limits}")
        return ", ".join((*parts, f"seed {self.parameters['seed']}"))

    def _settings(self) -> dict[str, Any]:
        return self.parameters | {"max_gap": self.max_gap}

    def _measured(self) -> Row:
        graph, seed = self.source.graph(), self.parameters["seed"]
        own = {name: value for name, value in self.parameters.items() if name != "model"}
        found = tune(graph, self.max_gap, self.parameters["model"], **own)
        split = split_links(graph, test=0.2, seed=seed)
        measures = measurable(self.measures, candidates=False)
        scores = evaluate(found.predictor, split, seed=seed, measures=measures)
        tried = f"tune chose {describe(found.chosen)} of {counted(len(found.curve), 'setting')}"
        scores = replace(scores, notes=(*scores.notes, f"{tried}, without test pairs."))
        row = self._row(Run(self.source.name, found.predictor, scores))
        return self._marked(row, dp_over_candidates=or_none(found.scores.dp))

    def failed(self, error: str) -> Row:
        """A row without measures."""
        return self._marked(super().failed(error))

    def _marked(self, row: Row, **more: float | None) -> Row:
        settings = row.settings | {"max_gap": self.max_gap, **more}
        return replace(row, criterion=self.criterion, settings=settings)


def tuned_fits(plain: Sequence[Fit], criteria: Sequence[str]) -> list[TunedFit]:
    """For each regularized row of the paper: the best model with less than its gap.

    Args:
        plain: The same models without a criterion.
        criteria: Criteria of the rows.
    """
    measures = tuple(name for name in MEASURES if name != "rb")
    found = []
    for fit, criterion in product(plain, criteria):
        own = {name: fit.parameters[name] for name in KEPT if name in fit.parameters}
        key = (fit.source.name, own["model"], criterion, criterion)
        limit = {criterion: SHARE[criterion] * published()[key].mean}
        found.append(TunedFit(fit.source, fit.data_sha256, own, measures, limit))
    return found


def tuned_and_plain(
    summaries: Sequence[Summary],
) -> tuple[dict[Key, Summary], dict[Key, Summary]]:
    """What ``tune`` found, and plain models on the paper's test pairs, by the paper's rows.

    Of several options of a model, such as the authors' prior, the first that occurs counts.
    """
    tuned: dict[Key, Summary] = {}
    plain: dict[Key, Summary] = {}
    for each in summaries:
        where = (str(each.dataset), each.model, each.criterion)
        if "max_gap" in each.settings:
            tuned.setdefault(where, each)
        elif each.criterion == "none" and each.rows[0].test_pairs == "paper":
            plain.setdefault(where, each)
    return tuned, plain
