"""The commands ``train`` and ``predict``: options in, no logic; the progress of a training."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkparity.cli import options as opt
from linkparity.cli.output import SafeConsole, say, show, show_json
from linkparity.support.errors import InputError
from linkparity.support.files import outputs_in_place
from linkparity.support.wording import counted

if TYPE_CHECKING:
    from linkparity.training import Epoch

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
    model: Annotated[str, opt.choice(opt.MODELS, "Model to train.", kind="model")] = "cne",
    criterion: Annotated[str, opt.criterion("Criterion to train with.", "none")] = "none",
    gamma: Annotated[float, typer.Option(help="Weight of the regularizer in the loss.")] = 100.0,
    pairs: Annotated[str, opt.choice(opt.PAIRS, "Pairs that parity is about.")] = "sampled",
    strength: Annotated[
        float | None, typer.Option(help="Strength of a method that has one; 0 is its plain form.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    target: opt.Target = "model",
    tolerance: opt.Tolerance = 0.0,
    dimension: Annotated[int | None, typer.Option(help="Embedding dimension.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Number of training epochs.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    postprocess: Annotated[
        str | None,
        opt.choice(("i-projection",), "Tilt the trained model to parity.", kind="postprocess"),
    ] = None,
    test: Annotated[float, typer.Option(help="Share of the links held out for testing.")] = 0.2,
    test_pairs: Annotated[
        str, opt.choice(("candidates", "paper"), "Pairs that dp, rdp and kl are measured on.")
    ] = "paper",
    measures: Annotated[
        str | None, typer.Option(help="Measures to take, such as auc,dp; all by default.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Directory to save the run in.")] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Train on a data set or on your own files: split, train, evaluate, save."""
    files.check()
    if criterion == "none":
        for option, given in (("target", target != "model"), ("tolerance", tolerance)):
            if given:
                fix = "leave it out, or add one"
                raise InputError("goes with --criterion", fix, argument=option)
    from linkparity.experiments import train_run
    from linkparity.metrics.measures import MEASURES
    from linkparity.models import MODELS
    from linkparity.prediction import LinkPredictor
    from linkparity.prediction.saving import check_place
    from linkparity.report.console_tables import run_tables
    from linkparity.training.loop import joined_processes

    for name in measures.split(",") if measures else ():
        MEASURES[name]
    if out is not None:
        check_place(out, replace=force)
    graph = files.graph()
    predictor = LinkPredictor(
        model, None if criterion == "none" else criterion, gamma, seed, opt.read_target(target),
        tolerance, dimension, epochs, lr, pairs=pairs, postprocess=postprocess, strength=strength,
    )  # fmt: skip
    planned = MODELS[model].epochs if epochs is None else epochs
    title = f"{files.name or files.links}, {model}, {criterion}"
    with joined_processes() as processes:
        first = processes.rank == 0
        with _progress(title, planned, silent=not first) as on_epoch:
            run = train_run(
                graph, predictor, out if first else None, files.name, replace=force, test=test,
                test_pairs=test_pairs, measures=measures and measures.split(","),
                on_epoch=on_epoch,
            )  # fmt: skip
    if not first:
        return
    if out is not None:
        say(f"run: {out}")
    with outputs_in_place(None if out is None else str(out)):
        show_json(run.to_dict()) if as_json else show(*run_tables(run))


@contextmanager
def _progress(
    title: str, epochs: int | None, silent: bool = False
) -> "Iterator[Callable[[Epoch], None]]":
    """A function to call with each epoch; ``epochs`` is the planned number of them."""
    if silent:
        yield lambda epoch: None
    elif not sys.stderr.isatty():
        yield _lines(title, epochs)
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
            yield lambda epoch: bar.update(task, completed=epoch.epoch, values=_values(epoch))


def _lines(title: str, epochs: int | None) -> "Callable[[Epoch], None]":
    every = max(1, (epochs or 1) // PROGRESS_LINES)
    total = f"/{epochs}" if epochs else ""

    def on_epoch(epoch: "Epoch") -> None:
        if epoch.epoch % every == 0:
            say(f"{title}: epoch {epoch.epoch}{total}, {_values(epoch)}")

    return on_epoch


def _values(epoch: "Epoch") -> str:
    parity = "" if math.isnan(epoch.kl) else f", kl {epoch.kl:.2e}, gap {epoch.gap:.4f}"
    return f"loss {epoch.loss:.4f}{parity}"


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
    if pairs is not None:
        given = PairsFile(pairs, source, target_column, unknown, self_loops)  # type: ignore[arg-type]
        rows = predict_pairs(run, given, out, force)
    else:
        assert top is not None
        rows = predict_top(run, top, for_, out, force)
    if out == "-":
        return
    with outputs_in_place(out):
        line = f"{counted(rows, 'row')}: {out}"
        show_json({"run": run, "out": out, "rows": rows}) if as_json else show(line)
