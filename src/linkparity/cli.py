"""The command ``linkparity``: commands, no logic."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from linkparity import __version__
from linkparity.console import one_line, say, show, show_json, warn_in_one_line

app = typer.Typer(
    name="linkparity",
    help="Measure and reduce disparity between groups in link prediction.",
    epilog="Example: linkparity demo",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, not tables.")]
Data = Annotated[
    Path | None,
    typer.Option(help="Data directory; else $LINKPARITY_DATA, else the user's cache directory."),
]


def _version(asked: bool) -> None:
    if asked:
        show(f"linkparity {__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
]


@app.callback()
def options(version: Version = False) -> None:
    """Measure and reduce disparity between groups in link prediction."""


@app.command(epilog="Example: linkparity demo --json > demo.json")
def demo(as_json: Json = False) -> None:
    """Run the main job on an embedded graph, in under a minute.

    Trains two models on the political blogs of 2004, plain, with the regularizer for demographic
    parity and with that for equal opportunity, and shows the measures beside the paper's.
    """
    from linkparity.demo import run_demo
    from linkparity.display import demo_tables

    found = run_demo(say)
    show_json(found.to_dict()) if as_json else show(*demo_tables(found))


@app.command(
    epilog="Example: linkparity train polblogs --model cne --criterion dp --gamma 100 --out runs/dp"
)
def train(
    name: Annotated[str, typer.Argument(help="A data set; 'linkparity datasets' lists them.")],
    model: Annotated[str, typer.Option(help="cne, dot-product, gae or maxent.")] = "cne",
    criterion: Annotated[
        str | None,
        typer.Option(help="dp, eo, weak-dp, equalized-odds or accuracy; plain without."),
    ] = None,
    gamma: Annotated[float, typer.Option(help="How much the distance to parity counts.")] = 100.0,
    target: Annotated[str, typer.Option(help="model, data, free or a number.")] = "model",
    tolerance: Annotated[float, typer.Option(help="How far a mean may stay from it.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Of the split and of the training.")] = 0,
    test: Annotated[float, typer.Option(help="Share of the links to hold out.")] = 0.2,
    dimension: Annotated[int | None, typer.Option(help="Of the embedding.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Steps over all training pairs.")] = None,
    postprocess: Annotated[
        str | None, typer.Option(help="i-projection: tilt the trained model to parity.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Directory to save the model to.")] = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Split a graph, train a model on it, evaluate it on the held-out links, save it."""
    from linkparity.datasets import load
    from linkparity.display import run_tables
    from linkparity.models import MODELS
    from linkparity.progress import training_progress
    from linkparity.runs import run_training
    from linkparity.training.team import joined_team

    with joined_team() as team:
        planned = MODELS[model].epochs if epochs is None else epochs
        graph = load(name, data)
        told = f"{name}, {model}, {criterion or 'plain'}"
        with training_progress(told, planned, silent=team.rank > 0) as on_epoch:
            found = run_training(
                graph, name, test=test, seed=seed, out=out if team.rank == 0 else None,
                on_epoch=on_epoch, model=model, criterion=criterion, gamma=gamma,
                target=read_number(target), tolerance=tolerance, dimension=dimension,
                epochs=epochs, postprocess=postprocess,
            )  # fmt: skip
    if team.rank == 0:
        show_json(found.to_dict()) if as_json else show(*run_tables(found))
        if out is not None:
            say(f"saved to {out}")


@app.command(epilog="Example: linkparity datasets polblogs")
def datasets(
    name: Annotated[str | None, typer.Argument(help="Tell all about this one.")] = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List the data sets: counts, groups, terms of use, whether they are on disk."""
    from linkparity.datasets import DATASETS, on_disk
    from linkparity.display import card_table, datasets_table

    chosen = list(DATASETS) if name is None else [name]
    cards = [(DATASETS[each].card, on_disk(each, data)) for each in chosen]
    plain = [asdict(card) | {"on_disk": here} for card, here in cards]
    if as_json:
        show_json({"datasets": plain} if name is None else plain[0])
    else:
        show(datasets_table(cards) if name is None else card_table(*cards[0]))


def read_number(text: str) -> str | float:
    """A number where the text is one: a target is a name or a number."""
    try:
        return float(text)
    except ValueError:
        return text


def main(args: list[str] | None = None) -> None:
    """Run a command; an error that the user can mend is one line on stderr and exit code 2."""
    warn_in_one_line()
    given = sys.argv[1:] if args is None else args
    try:
        code = app(given or ["--help"], prog_name="linkparity", standalone_mode=False)
    except Exception as error:
        message = one_line(error)
        if message is None:
            raise
        say(f"Error: {message}")
        sys.exit(2)
    sys.exit(code or 0)
