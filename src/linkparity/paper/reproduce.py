"""The paper's experiments: its tables cell by cell, figures 2 and 3, and run times."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from linkparity.datasets import DATASETS, load
from linkparity.experiments.experiment import Experiment
from linkparity.experiments.experiment_checks import option_keys
from linkparity.experiments.fit import Fit
from linkparity.experiments.results import Results, Summary
from linkparity.experiments.run import Watcher, run_fits
from linkparity.experiments.worker_pool import fit_in_processes
from linkparity.graph.split import split_links
from linkparity.metrics.measures import MEASURES
from linkparity.models import MODELS
from linkparity.models.prediction import LinkPredictor
from linkparity.paper.comparison import ComparedCell, compare, count_verdicts, published_row
from linkparity.paper.published import GAMMA, PAIRS, STRENGTHS, published_seconds
from linkparity.paper.subsample_kl import SampledKL, subsample_kl
from linkparity.paper.tuned_fit import MAX_SEEDS, TunedFit, tuned_fits
from linkparity.support.display import or_none
from linkparity.support.registry import Registry

PAPER_DATA = ("polblogs", "ml100k", "facebook")
#: Models that the paper regularizes, and methods that it compares them with.
REGULARIZED = ("maxent", "dot-product", "cne", "gae")
COMPETITORS = ("debayes", "cfc")
CRITERIA = ("dp", "eo")
#: Figure 3 of the paper is about this model on these data.
SAMPLED_MODEL, SAMPLED_DATA = "gae", "facebook"
#: Fits of one seed with nothing beside them, for the run times.
REPEATS = 3


@dataclass(frozen=True)
class RunTime:
    """Seconds of one fit.

    Attributes:
        dataset: Name of the data set.
        model: Name of the model.
        criterion: Criterion of the regularizer; ``"none"`` when plain.
        strength: Strength of the method's own, or None.
        seconds: Median over the seeds, with the other jobs running beside.
        alone: Fastest of some fits with nothing beside; None with ``--quick``.
        paper: The paper's median, on its authors' machine.
    """

    dataset: str
    model: str
    criterion: str
    strength: float | None
    seconds: float
    alone: float | None
    paper: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dict(self.__dict__)


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What came out, beside what the paper has.

    Attributes:
        results: One row per data set, model, criterion, strength and seed.
        cells: Every published number with ours and a verdict.
        runtimes: Seconds per fit.
        figure3: Divergence by sample size; empty with ``--quick`` and without facebook.
        as_published: Whether bipartite data were fitted with the authors' prior.
        seconds: How long it took, rows that were there before not included.
    """

    results: Results
    cells: list[ComparedCell]
    runtimes: list[RunTime]
    figure3: list[SampledKL]
    as_published: bool
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """One object for ``--json``."""
        return {
            "cells": count_verdicts(self.cells),
            "comparison": [cell.to_dict() for cell in self.cells],
            "figure2": figure2(self.results.summaries()),
            "figure3": [each.to_dict() for each in self.figure3],
            "runtimes": [each.to_dict() for each in self.runtimes],
            "as_published": self.as_published,
            "failed": len(self.results.failed),
            "seconds": round(self.seconds, 1),
            "rows": [row.to_dict() for row in self.results],
        }


def reproduce(
    datasets: Sequence[str],
    seeds: int,
    watcher: Watcher,
    *,
    out: str | None = None,
    jobs: int = 1,
    data: str | None = None,
    scheduler: str | None = None,
    quick: bool = False,
    as_published: bool = False,
    models: Sequence[str] = (),
) -> Reproduction:
    """Fit the paper's rows and compare.

    Args:
        datasets: Some of :data:`PAPER_DATA`.
        seeds: Number of seeds; the paper has 10.
        watcher: Told how it goes on.
        out: File of rows; those that it holds are not fitted again.
        jobs: Number of processes.
        data: Data directory.
        scheduler: Address of a Dask scheduler whose workers fit instead.
        quick: Leave out figure 3, what ``tune`` finds, and the fits that are timed alone.
        as_published: On bipartite data, fit the authors' prior.
        models: Only these; all by default.
    """
    began = perf_counter()
    fits = paper_fits(datasets, seeds, as_published, data, models)
    searches = [] if quick or as_published else searches_beside(fits)
    results = run_fits([*fits, *searches], out, jobs, scheduler, watcher)
    summaries = results.summaries()
    alone = {} if quick else time_alone([fit for fit in fits if fit.parameters["seed"] == 0])
    sampled = [] if quick or SAMPLED_DATA not in datasets else figure3(data)
    return Reproduction(
        results, compare(summaries), run_times(summaries, alone), sampled, as_published,
        perf_counter() - began,
    )  # fmt: skip


def paper_fits(
    datasets: Sequence[str],
    seeds: int,
    as_published: bool = False,
    data: str | None = None,
    models: Sequence[str] = (),
) -> list[Fit]:
    """The fits behind the paper's tables, of the methods that there are; γ = 100, sampled pairs.

    ``rb`` is measured in plain rows, where it is compared.
    """
    known = Registry("model of the paper", dict.fromkeys((*REGULARIZED, *COMPETITORS)))
    chosen = [model for model in models or known if known[model] is None]
    without_rb = [name for name in MEASURES if name != "rb"]
    found = []
    for name in datasets:
        bare = as_published and DATASETS[name].card.bipartite
        for model in (each for each in chosen if each in MODELS):
            entry = {"name": model}
            if bare and "sides" in option_keys(model):
                entry["sides"] = False  # type: ignore[assignment]
            shared: dict[str, Any] = {
                "data": [name], "models": [entry], "seeds": seeds, "pairs": PAIRS,
            }  # fmt: skip
            plain = Experiment(**shared, strengths=STRENGTHS.get(model, ()))
            found += plain.fits(data)
            if model in REGULARIZED:
                found += Experiment(
                    **shared, criteria=CRITERIA, gammas=[GAMMA], measures=without_rb
                ).fits(data)
    return sorted(found, key=lambda fit: fit.parameters["seed"])


def searches_beside(fits: Sequence[Fit], seeds: int = MAX_SEEDS) -> list[TunedFit]:
    """What ``tune`` is asked for beside the fits of regularized models, of so many seeds."""
    plain = [
        fit
        for fit in fits
        if fit.parameters["model"] in REGULARIZED
        and fit.parameters.get("criterion") is None
        and fit.parameters["seed"] < seeds
    ]
    return tuned_fits(plain, CRITERIA)


def figure2(summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """AUC against dp and eo, mean and deviation, in layers: ``ours``, ``tuned`` and ``paper``."""
    points = []
    for each in summaries:
        about = {
            "dataset": each.dataset, "model": each.model, "criterion": each.criterion,
            "strength": each.strength,
        }  # fmt: skip
        own = "tuned" if "max_gap" in each.settings else "ours"
        for layer, figures in ((own, each.measures), ("paper", published_row(each))):
            values = {n: figures[n] for n in ("auc", *CRITERIA) if n in figures}
            means = {name: or_none(value.mean) for name, value in values.items()}
            stds = {f"{name}_std": or_none(value.std) for name, value in values.items()}
            if values:
                points.append({**about, "layer": layer, **means, **stds})
    return points


def figure3(data: str | None = None) -> list[SampledKL]:
    """The divergence of plain GAE on facebook by sample size, seed 0."""
    split = split_links(load(SAMPLED_DATA, data), test=0.2, seed=0)
    predictor = LinkPredictor(SAMPLED_MODEL, seed=0).fit(split.train)
    return subsample_kl(split.train, predictor, draws=10)


def time_alone(fits: Sequence[Fit]) -> dict[tuple[Any, ...], float]:
    """Fastest of :data:`REPEATS` fits, one at a time, by data, model, criterion and strength."""
    fastest: dict[tuple[Any, ...], float] = {}
    repeated = [replace(fit, measures=("auc",)) for fit in fits for _ in range(REPEATS)]
    for _, row in fit_in_processes(repeated, 1):
        key = (row.dataset, row.model, row.criterion, row.strength)
        if row.fit_seconds is not None:
            fastest[key] = min(row.fit_seconds, fastest.get(key, row.fit_seconds))
    return fastest


def run_times(summaries: Sequence[Summary], alone: dict[tuple[Any, ...], float]) -> list[RunTime]:
    """The table of run times, beside the paper's; without searches, which the paper has not."""
    found = []
    for each in (one for one in summaries if "max_gap" not in one.settings):
        key = (str(each.dataset), each.model, each.criterion, each.strength)
        theirs = "adversary" if each.strength else each.criterion
        paper = published_seconds().get((str(each.dataset), each.model, theirs))
        found.append(RunTime(*key, each.fit_seconds, alone.get(key), paper))
    return found
