"""The commands ``train`` and ``predict``: options in, no logic; the progress of a training."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linkparity.cli import options as opt
from linkparity.cli.output import SafeConsole, say, show, show_json, stages
from linkparity.support.display import counted, format_number
from linkparity.support.errors import InputError
from linkparity.support.files import outputs_in_place

if TYPE_CHECKING:
    from linkparity.models.training import Epoch

#: Lines of progress where stderr is not a terminal.
PROGRESS_LINES = 5


def add_train_commands(app: typer.Typer) -> None:
    """Add the commands for training and prediction to ``app``."""
    files = "--links links.csv --nodes people.csv --sensitive gender"
    app.command(epilog=f"Example: linkparity train {files} --criterion dp --out run")(train)
    app.command(epilog="Example: linkparity predict run --pairs pairs.csv --out scores.csv")(
        predict
    )


@opt.unfolded
def train(
    files: opt.GraphOptions,
    fit: opt.FitOptions,
    model: Annotated[str, opt.choice(opt.MODELS, "Model to train.", kind="model")] = "cne",
    criterion: Annotated[str, opt.criterion("Criterion to train with.", "none")] = "none",
    gamma: Annotated[float, typer.Option(help="Weight of the regularizer in the loss.")] = 100.0,
    target: opt.Target = "model",
    tolerance: opt.Tolerance = 0.0,
    postprocess: Annotated[
        str | None,
        opt.choice(("i-projection",), "Tilt the trained model to parity.", kind="postprocess"),
    ] = None,
    test: Annotated[
        float, typer.Option(help="Share of the links held out for testing; 0 trains on all.")
    ] = 0.2,
    test_pairs: Annotated[
        str | None,
        opt.choice(
            ("candidates", "paper"),
            "Pairs that dp, rdp and kl are measured on: all candidates, or the held-out links and "
            "as many non-links; paper with --pairs sampled, else candidates.",
        ),
    ] = None,
    measures: opt.Measures = None,
    min_pairs: opt.MinPairs = 0,
    refit: opt.Refit = False,
    save_test: opt.SaveTest = None,
    compare_plain: Annotated[
        bool,
        typer.Option(
            "--compare-plain",
            help="Also train without the criterion, and show what it changed; done anyway on a "
            "terminal where it takes less than 10 seconds.",
        ),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Directory to save the run in.")] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Train on a data set or on your own files: split, train, evaluate, save."""
    files.check()
    if criterion == "none":
        given_options = {
            "target": target != "model", "tolerance": tolerance, "compare_plain": compare_plain,
        }  # fmt: skip
        for option, given in given_options.items():
            if given:
                fix = "leave it out, or add one"
                raise InputError("goes with --criterion", fix, argument=option)
    from linkparity.experiments.compare_with_plain import QUICK, compare_with_plain
    from linkparity.experiments.train import train_run
    from linkparity.models import MODELS
    from linkparity.models.prediction import LinkPredictor
    from linkparity.models.training.loop import joined_processes
    from linkparity.report.console_tables import run_tables

    wanted = check_outputs(files, measures, save_test, out, force, as_json)
    predictor = LinkPredictor(
        model, None if criterion == "none" else criterion, gamma, target=opt.read_target(target),
        tolerance=tolerance, postprocess=postprocess, **fit.parameters(),
    )  # fmt: skip
    planned = MODELS[model].epochs if fit.epochs is None else fit.epochs
    title = f"{files.name or files.links}, {model}, {criterion}"
    with joined_processes() as processes, stages() as stage:
        graph = files.graph(stage)
        first = processes.rank == 0
        with _progress(title, planned, stage, silent=not first) as (on_epoch, on_stage):
            run = train_run(
                graph, predictor, out if first else None, files.name, replace=force, test=test,
                test_pairs=test_pairs, on_epoch=on_epoch, on_stage=on_stage, refit=refit,
                min_pairs=min_pairs,
                **wanted | ({} if first else {"save_test": None}),
            )  # fmt: skip
        quick = run.predictor.fit_seconds_ < QUICK and processes.size == 1
        compared = None
        if compare_plain or (criterion != "none" and quick and sys.stdout.isatty() and not as_json):
            compared = compare_with_plain(graph, run, test)
    if not first:
        return
    for name, written in (("run", out), ("test pairs", save_test)):
        if written is not None:
            say(f"{name}: {written}")
    with outputs_in_place(None if out is None else str(out), save_test):
        if as_json:
            more = {} if compared is None else {"compared_with_plain": compared.to_dict()}
            show_json(run.to_dict() | run.scores.gap_report() | more)
        else:
            tables = [*run_tables(run), *([] if compared is None else [compared])]
            show(*tables, on_stderr=save_test == "-")


def check_outputs(
    files: opt.GraphOptions,
    measures: str | None,
    save_test: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> dict[str, Any]:
    """Refuse unknown measures and outputs that cannot be written; both as ``train_run`` has them.

    A table of a data set by name has groups too, which no file of the user holds.
    """
    from linkparity.experiments.pairs_table import check_pairs_table
    from linkparity.experiments.train import PairsOutput
    from linkparity.metrics.measures import MEASURES
    from linkparity.models.prediction.saving import check_place

    names = measures.split(",") if measures else None
    for name in names or ():
        MEASURES[name]
    if out is not None:
        check_place(out, replace=force, beside=save_test)
    if save_test is None:
        return {"measures": names}
    if save_test == "-" and as_json:
        raise InputError("--json and --save-test - both write to stdout", "give it a file")
    check_pairs_table(save_test, force, (files.links, files.nodes))
    table = PairsOutput(save_test, force, with_groups=files.name is not None)
    return {"measures": names, "save_test": table}


@contextmanager
def _progress(
    title: str, epochs: int | None, stage: Callable[[str], object], silent: bool = False
) -> "Iterator[tuple[Callable[[Epoch], object], Callable[[str], object]]]":
    """Functions to call with each epoch and each stage; ``epochs`` is the planned number."""
    if silent:
        yield lambda epoch: None, lambda stage: None
    elif not sys.stderr.isatty():
        yield _lines(title, epochs), stage
    else:
        from rich import progress as rich

        columns = (
            rich.TextColumn("{task.description}", markup=False),
            rich.BarColumn(),
            rich.MofNCompleteColumn(),
            rich.TimeElapsedColumn(),
            rich.TextColumn("{task.fields[values]}"),
        )
        with rich.Progress(*columns, console=SafeConsole(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=epochs, values="")
            yield (
                lambda epoch: bar.update(task, completed=epoch.epoch, values=_values(epoch)),
                lambda stage: bar.update(task, description=f"{title}: {stage}"),
            )


def _lines(title: str, epochs: int | None) -> "Callable[[Epoch], None]":
    every = max(1, (epochs or 1) // PROGRESS_LINES)
    total = f"/{epochs}" if epochs else ""

    def on_epoch(epoch: "Epoch") -> None:
        if epoch.epoch % every == 0:
            say(f"{title}: epoch {epoch.epoch}{total}, {_values(epoch)}")

    return on_epoch


def _values(epoch: "Epoch") -> str:
    parity = "" if math.isnan(epoch.kl) else f", kl {epoch.kl:.2e}, gap {format_number(epoch.gap)}"
    return f"loss {format_number(epoch.loss)}{parity}"


def predict(
    run: Annotated[str, typer.Argument(help="Directory that train --out wrote.")],
    out: Annotated[str, typer.Option(help="File for the scores; - for stdout.")],
    pairs: Annotated[str | None, typer.Option(help="Table of pairs to score.")] = None,
    top: Annotated[
        int | None, typer.Option(help="Number of most likely new partners per node.")
    ] = None,
    for_: Annotated[
        str | None,
        typer.Option("--for", help="Nodes to list partners for: ids with commas, or a file."),
    ] = None,
    source: opt.Source = None,
    target_column: opt.TargetColumn = None,
    unknown: Annotated[
        str, opt.choice(("error", "drop"), "Nodes that were not trained on.")
    ] = "error",
    self_loops: opt.SelfLoops = "error",
    format: opt.FileFormat = None,
    separator: opt.Separator = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Score the pairs of a file, or list the most likely new partners of each node."""
    from linkparity.experiments.predict import PairsFile, predict_pairs, predict_top

    if (pairs is None) == (top is None):
        raise InputError("give either --pairs, or --top")
    if pairs is not None and for_ is not None:
        raise InputError("--for goes with --top", "--pairs names its nodes itself")
    if as_json and out == "-":
        raise InputError("--json and --out - both write to stdout", "give --out a file")
    with stages() as stage:
        if pairs is not None:
            columns, policy = (source, target_column), (unknown, self_loops)
            given = PairsFile(pairs, *columns, *policy, format, separator)  # type: ignore[arg-type]
            rows = predict_pairs(run, given, out, force, stage)
        else:
            assert top is not None
            rows = predict_top(run, top, for_, out, force, stage)
    if out == "-":
        return
    with outputs_in_place(out):
        line = f"{counted(rows, 'row')}: {out}"
        show_json({"run": run, "out": out, "rows": rows}) if as_json else show(line)
