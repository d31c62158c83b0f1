"""The command ``tune``: options in, no logic."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkparity.cli import options as opt
from linkparity.cli.output import say, show, show_json, stages
from linkparity.cli.train import check_outputs
from linkparity.support.errors import InputError
from linkparity.support.files import outputs_in_place

if TYPE_CHECKING:
    from linkparity.experiments.tune_trials import Trial


def add_tune_command(app: typer.Typer) -> None:
    """Add the command that chooses a setting to ``app``."""
    app.command(epilog="Example: linkparity tune polbooks --max-gap dp=0.01 --out run")(tune)


@opt.unfolded
def tune(
    files: opt.GraphOptions,
    fit: opt.FitOptions,
    max_gap: Annotated[
        list[str], typer.Option(help="Limit of a gap, such as dp=0.01 or eo=0.05; repeatable.")
    ],
    model: Annotated[
        str, typer.Option(help=f"Models to choose from, with commas: {', '.join(opt.MODELS)}.")
    ] = "cne",
    confident: Annotated[
        bool, typer.Option("--confident", help="Judge eo by the upper end of its interval.")
    ] = False,
    target: opt.Target = "model",
    test: Annotated[float, typer.Option(help="Share of the links held out for testing.")] = 0.2,
    measures: opt.Measures = None,
    min_pairs: opt.MinPairs = 0,
    refit: opt.Refit = False,
    save_test: opt.SaveTest = None,
    out: Annotated[Path | None, typer.Option(help="Directory to save the chosen model in.")] = None,
    html: Annotated[str | None, typer.Option(help="Draw the trials in this HTML file.")] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Find the most accurate model whose gap stays below a limit.

    Settings are fitted on a part of the training links and judged on the rest, never on test
    pairs: the plain model, the regularizer at several strengths, the I-projection of the plain
    model, and both together. The best is fitted again on all training links. Ctrl-C ends the
    search and keeps the best so far.
    """
    files.check()
    from linkparity.experiments.tune import SPLITS, check_models, limits, tune
    from linkparity.experiments.tune_search import most_trials
    from linkparity.models.prediction.saving import check_place, save_predictor
    from linkparity.report.tune_page import write_tuning
    from linkparity.support.files import check_output

    wanted = limits(max_gap)
    names = check_models(model)
    if html == "-" and (as_json or save_test == "-"):
        other = "--json" if as_json else "--save-test -"
        raise InputError(f"{other} and --html - both write to stdout", "give --html a file")
    results = check_outputs(files, measures, save_test, out, force, as_json)
    if out is not None:
        check_place(out, replace=force, beside=html)
    if html is not None:
        check_output(html, force, (files.links, files.nodes))
    with stages() as stage:
        graph = files.graph(stage)
    if "eo" in wanted:
        say(f"before the first trial of a model, {SPLITS} plain fits make eo steadier")
    found = tune(
        graph, wanted, names, test=test, confident=confident, min_pairs=min_pairs,
        target=opt.read_target(target), refit=refit, dataset=files.name,
        on_trial=_teller(most_trials(next(iter(wanted))) * len(names)),
        on_plain_fit=lambda number, of: say(f"plain fit {number} of {of} done"),
        **results, **fit.parameters(),
    )  # fmt: skip
    saved = None if out is None else str(out)
    if save_test is not None:
        say(f"test pairs: {save_test}")
    if out is not None:
        with outputs_in_place(save_test):
            save_predictor(found.run.final, out, force)
        say(f"run: {out}")
    if html is not None:
        with outputs_in_place(saved, save_test):
            write_tuning(html, found, force)
        say(f"report: {html}")
    with outputs_in_place(saved, save_test, html):
        show_json(found.to_dict()) if as_json else show(found, on_stderr="-" in (html, save_test))


def _teller(most: int) -> Callable[["Trial"], None]:
    """A function that tells of each trial, and of the time left if all trials are made."""
    from linkparity.experiments.tune_trials import describe
    from linkparity.support.display import format_number

    began, done = time.perf_counter(), 0

    def on_trial(trial: "Trial") -> None:
        nonlocal done
        done += 1
        left = (time.perf_counter() - began) / done * (most - done)
        gaps = ", ".join(f"{name} {format_number(value)}" for name, value in trial.gaps.items())
        say(
            f"trial {done} of at most {most}: {describe(trial)}: auc {format_number(trial.auc)}, "
            f"{gaps} ({'within limits' if trial.qualified else 'above the limit'}); "
            f"about {left:.0f} s left if all are made"
        )

    return on_trial
