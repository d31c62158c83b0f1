"""The main job on an embedded graph: two models, plain and regularized, beside the paper."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any

from rich import box
from rich.table import Table

from linkparity.datasets import load
from linkparity.experiments.fit import full_row
from linkparity.experiments.results import Results
from linkparity.experiments.rows import Row
from linkparity.experiments.train import Run, train_run
from linkparity.graph.graph import Graph
from linkparity.metrics.measures import MEASURES
from linkparity.models.prediction import LinkPredictor
from linkparity.paper.published import GAMMA, PAIRS, Published, published
from linkparity.support.display import format_number, format_rounded

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


def run_demo(say: Callable[[str], None] = lambda text: None) -> Demo:
    """Train two models on 80 % of the links, plain and with the regularizer, and evaluate them.

    With the regularizer twice: as in the paper, and with linkparity's defaults.

    Args:
        say: called with each line of progress.
    """
    began = perf_counter()
    graph = load(DATASET)
    say(f"{DATASET}: {graph}")
    runs = []
    settings: list[dict[str, Any]] = [{"criterion": None}]
    for criterion in CRITERIA:
        settings += [{"criterion": criterion, **AS_PUBLISHED}, {"criterion": criterion}]
    for model, given in product(MODELS, settings):
        predictor = LinkPredictor(model, **given)
        run = train_run(graph, predictor, dataset=DATASET, test_pairs="paper")
        runs.append(run)
        say(f"{model}, {run.criterion}: trained in {run.predictor.fit_seconds_:.1f} s")
    return Demo(graph, tuple(runs), perf_counter() - began)


def demo_tables(demo: Demo) -> list[object]:
    """One row per model and criterion, each measure with the paper's; then what measures mean."""
    rows = [Row.of(run) for run in demo.runs]
    papers = [beside(row) for row in rows]
    measures = [measure for measure in MEASURES.values() if measure.in_runs]
    title = f"Held-out pairs of {rows[0].dataset}, one seed"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in ("model", "criterion", "pairs"):
        table.add_column(column, no_wrap=True)
    for measure in measures:
        in_paper = any(measure.name in paper for paper in papers)
        heading = f"{measure.name}\n(paper)" if in_paper else measure.name
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("seconds", justify="right")
    for row, paper in zip(rows, papers, strict=True):
        cells = [_with_paper(row.values[each.name], paper.get(each.name)) for each in measures]
        pairs = "" if row.criterion == "none" else row.settings["pairs"]
        table.add_row(row.model, row.criterion, pairs, *cells, f"{row.fit_seconds:.1f}")
    return [
        table,
        "The paper's figures are means over ten seeds. Its authors bring their sampled training "
        "pairs to parity, linkparity by default the candidates: all pairs that are no training "
        "link.\n",
        *(f"  {measure.name}: {measure.sentence}" for measure in measures),
        "\nThe regularizer closes the gap of its own criterion. The other columns show what it "
        "does to the other measures.",
    ]


def _with_paper(ours: float, paper: Published | None) -> str:
    """Ours, and below it the paper's with as many digits as it prints."""
    return (
        format_number(ours) if paper is None else f"{format_rounded(ours, 3)}\n({paper.mean:.3f})"
    )
