"""One fit of an experiment: data, parameters and measures in, a row out."""

import hashlib
import json
import re
import warnings
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import isfinite, nan
from pathlib import Path
from traceback import format_exception
from typing import Any

import numpy as np

from linkparity.datasets import load
from linkparity.experiments.graph_files import GraphFiles, read_graph
from linkparity.experiments.row_schema import LEVELS
from linkparity.experiments.rows import Row, predictor_settings, versions
from linkparity.experiments.train import Run, default_test_pairs, train_run
from linkparity.graph.graph import Graph
from linkparity.metrics.measures import MEASURES, measurable
from linkparity.models import MODELS
from linkparity.models.prediction import LinkPredictor
from linkparity.models.training import Epoch
from linkparity.models.training.objective import criterion_name

#: Graphs that a process keeps in memory.
KEPT_GRAPHS = 2
#: Epochs of the history that a row keeps.
MAX_EPOCHS = 40
#: Settings that are part of the id of every fit.
IDENTITY = (
    "gamma", "target", "tolerance", "dimension", "epochs", "lr", "negatives", "pairs", "patience",
    "postprocess", "options",
)  # fmt: skip
#: What ids have in place of the gamma and the pairs of a plain fit, on which they have no effect.
PLAIN = {"gamma": 100.0, "pairs": "sampled"}
NOT_ASKED = "not among the measures of the experiment"


@dataclass(frozen=True)
class DataSource:
    """A data set by name, or a graph in the user's files.

    Attributes:
        name: What rows call it.
        files: Where the graph is; None for a data set.
        directory: Data directory of data sets.
    """

    name: str
    files: GraphFiles | None = None
    directory: str | None = None

    def graph(self) -> Graph:
        """Load it, or take it from the last ones loaded."""
        return _graph(self)

    def sha256(self) -> str:
        """Hash of the graph: nodes, links, groups, names of groups, sides."""
        graph = self.graph()
        side = [] if graph.side is None else graph.side.tolist()
        about = (graph.num_nodes, graph.codes.tolist(), graph.group.tolist(), graph.group_names)
        return hashlib.sha256(json.dumps([*about, side]).encode()).hexdigest()


@lru_cache(KEPT_GRAPHS)
def _graph(source: DataSource) -> Graph:
    return load(source.name, source.directory) if source.files is None else read_graph(source.files)


@dataclass(frozen=True, eq=False)
class Fit:
    """One training and its measures.

    Attributes:
        source: The graph.
        data_sha256: Its hash.
        parameters: Those of the predictor that are given; ``model`` and ``seed`` always are.
        measures: Names of the measures to take.
    """

    source: DataSource
    data_sha256: str
    parameters: dict[str, Any]
    measures: tuple[str, ...]

    @cached_property
    def id(self) -> str:
        """The same for the same data, parameters and measures, in any experiment."""
        about = [self.source.name, self.data_sha256, self._settings(), sorted(self.measures)]
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]

    def _settings(self) -> dict[str, Any]:
        """What makes a fit another one.

        A plain fit is the same whatever gamma and pairs are, but for the pairs that are measured;
        a method's default strength is the same as none given;
        a parameter that the predictor gets later counts where it is not at its default, so that
        files of rows stay valid.
        """
        predictor = LinkPredictor(**self.parameters)
        defaults = predictor_settings(LinkPredictor(self.parameters["model"]))
        settings = {
            name: value
            for name, value in predictor_settings(predictor).items()
            if name in IDENTITY or value != defaults[name]
        }
        if predictor.criterion is None:
            settings |= PLAIN
        measured = default_test_pairs(predictor)
        about = (
            self.parameters | settings | ({} if measured == "paper" else {"test_pairs": measured})
        )
        default = MODELS[self.parameters["model"]].strength
        if default is not None and about.get("strength") == default:
            del about["strength"]
        return about

    @property
    def title(self) -> str:
        """What is fitted, in a few words."""
        given = self.parameters
        parts = [self.source.name, given["model"], given.get("criterion", "none")]
        parts += [f"{k} {given[k]:g}" for k in ("gamma", "strength") if k in given]
        parts += [given["postprocess"]] if "postprocess" in given else []
        return ", ".join((*parts, f"seed {given['seed']}"))

    def row(self) -> Row:
        """Train and measure; a failure is a row with its error."""
        _reset_peak_memory()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                row = self._measured()
            except Exception as error:
                return self.failed_with(error)
        said = dict.fromkeys(" ".join(str(each.message).split()) for each in caught)
        return replace(row, notes=(*row.notes, *said))

    def _measured(self) -> Row:
        predictor, name = LinkPredictor(**self.parameters), self.source.name
        measures = measurable(self.measures, default_test_pairs(predictor) == "candidates")
        graph = self.source.graph()
        return self._row(train_run(graph, predictor, dataset=name, measures=measures))

    def _row(self, run: Run) -> Row:
        """The row of a finished run."""
        row = full_row(run)
        left_out = [name for name in MEASURES if name not in self.measures]
        return replace(
            row,
            values=row.values | dict.fromkeys(left_out, nan),
            intervals={k: v for k, v in row.intervals.items() if k not in left_out},
            reasons=row.reasons | dict.fromkeys(left_out, NOT_ASKED),
            id=self.id,
            data_sha256=self.data_sha256,
            peak_memory=_peak_memory(),
        )

    def failed_with(self, error: BaseException) -> Row:
        """A row without measures, with the traceback of an error."""
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return replace(self.failed(said), traceback="".join(format_exception(error)))

    def failed(self, error: str) -> Row:
        """A row without measures."""
        predictor = LinkPredictor(**self.parameters)
        settings = predictor_settings(predictor)
        return Row(
            dataset=self.source.name,
            model=str(predictor.model),
            criterion=criterion_name(predictor.criterion),
            gamma=settings["gamma"],
            seed=predictor.seed,
            values=dict.fromkeys(MEASURES, nan),
            strength=MODELS[str(predictor.model)].strength
            if predictor.strength is None
            else predictor.strength,
            settings=settings,
            versions=versions(),
            id=self.id,
            data_sha256=self.data_sha256,
            error=error,
        )


def full_row(run: Run) -> Row:
    """The row of a run with what charts need: training, and quantiles of predictions."""
    history, quantiles = thinned(run.predictor.history_), group_quantiles(run)
    return replace(Row.of(run), history=history, quantiles=quantiles)


def thinned(history: list[Epoch]) -> dict[str, list[float | None]]:
    """Epoch, loss, divergence and gap at no more than :data:`MAX_EPOCHS` epochs, ends included."""
    if not history:
        return {}
    chosen = np.unique(np.linspace(0, len(history) - 1, MAX_EPOCHS).round().astype(int))
    rows = [history[place] for place in chosen]
    columns = {n: [_short(getattr(row, n)) for row in rows] for n in ("loss", "kl", "gap")}
    return {"epoch": [row.epoch for row in rows]} | columns


def group_quantiles(run: Run) -> list[dict[str, Any]]:
    """Weighted quantiles of the predictions per pair of groups, over all pairs and over links.

    The quantile at level q is the smallest prediction up to which a fraction q of the weight lies.
    """
    scored = run.scores.scored
    rows, linked_kind = scored.rows, scored.source.kinds.label == 1
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    found = []
    for number, groups in enumerate(scored.cells.groups):
        member = scored.member[:, [number]].toarray()[:, 0] > 0
        inside = np.flatnonzero(member[rows.kind])
        linked = inside[linked_kind[rows.kind[inside]]] if scored.labelled else inside
        found.append(
            {
                "groups": list(groups),
                "pairs": _quantiles(rows.prob[inside], weight[inside]),
                "links": _quantiles(rows.prob[linked], np.ones(len(linked))),
            }
        )
    return found


def _quantiles(values: np.ndarray, weight: np.ndarray) -> list[float | None]:
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(weight[order])
    if not len(values) or up_to[-1] <= 0:
        return [None] * len(LEVELS)
    place = np.searchsorted(up_to, np.array(LEVELS) * up_to[-1])
    return [_short(value) for value in values[order][np.minimum(place, len(values) - 1)]]


def _short(value: float) -> float | None:
    """Six significant digits; None where undefined."""
    return float(f"{value:.6g}") if isfinite(value) else None


def _reset_peak_memory() -> None:
    """Have the kernel count the peak of this process from now on, where it can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak_memory() -> int | None:
    """Largest resident memory in bytes since the reset; None where the system does not tell."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        return None
    return None if found is None else int(found[1]) * 1024
