"""The main job on an embedded graph: two models, plain and regularized, beside the paper."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any

from linkparity.datasets import load
from linkparity.experiments.fit import full_row
from linkparity.experiments.paper import GAMMA, PAIRS, Published, published
from linkparity.experiments.results import Results
from linkparity.experiments.rows import Row
from linkparity.experiments.train import Run, train_run
from linkparity.graph.graph import Graph
from linkparity.metrics.measures import MEASURES
from linkparity.models.prediction import LinkPredictor

DATASET = "polblogs"
MODELS = ("dot-product", "cne")
CRITERIA = ("dp", "eo")
#: The settings of the paper's rows; the others have linkparity's defaults.
AS_PUBLISHED = {"gamma": GAMMA, "pairs": PAIRS}


@dataclass(frozen=True, eq=False)
class Demo:
    """The result of the demo: a graph, and one run per model and criterion."""

    graph: Graph
    runs: tuple[Run, ...]
    seconds: float

    @property
    def results(self) -> Results:
        """The runs as rows of an experiment, for a report."""
        return Results(tuple(map(full_row, self.runs)))

    def to_dict(self) -> dict[str, Any]:
        """One object for ``--json``."""
        rows = [
            row.to_dict() | {"paper": {n: p.mean for n, p in beside(row).items()}}
            for row in map(Row.of, self.runs)
        ]
        return {"dataset": DATASET, "seconds": round(self.seconds, 2), "rows": rows}


def beside(row: Row) -> dict[str, Published]:
    """The paper's figures for the same data set, model, criterion and pairs, by measure."""
    if row.criterion != "none" and row.settings["pairs"] != PAIRS:
        return {}
    where = (str(row.dataset), row.model, row.criterion)
    return {name: published()[*where, name] for name in MEASURES if (*where, name) in published()}


def run_demo(say: Callable[[str], None] = lambda text: None, seed: int = 0) -> Demo:
    """Train two models on 80 % of the links, plain and with the regularizer, and evaluate them.

    With the regularizer twice: as in the paper, and with linkparity's defaults.

    Args:
        say: called with each line of progress.
        seed: random seed of the split and of the training.
    """
    began = perf_counter()
    graph = load(DATASET)
    say(f"{DATASET}: {graph}")
    runs = []
    settings: list[dict[str, Any]] = [{"criterion": None}]
    for criterion in CRITERIA:
        settings += [{"criterion": criterion, **AS_PUBLISHED}, {"criterion": criterion}]
    for model, given in product(MODELS, settings):
        predictor = LinkPredictor(model, seed=seed, **given)
        run = train_run(graph, predictor, dataset=DATASET, test_pairs="paper")
        runs.append(run)
        say(f"{model}, {run.criterion}: trained in {run.predictor.fit_seconds_:.1f} s")
    return Demo(graph, tuple(runs), perf_counter() - began)
