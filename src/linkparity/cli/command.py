"""The command ``linkparity``: commands, no logic."""

import atexit
import gc
import os
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from linkparity import __version__
from linkparity.cli.options import Json
from linkparity.cli.output import one_line, say, show, show_json, warn_in_one_line
from linkparity.cli.tables import add_table_commands
from linkparity.cli.train import add_train_commands

app = typer.Typer(
    name="linkparity",
    help="Measure and reduce disparity between groups in link prediction.",
    epilog="Example: linkparity demo",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

#: What typer makes of Ctrl-C.
INTERRUPTED = 130
#: Neither a failed gate nor bad input.
BUG = 70

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
    from linkparity.experiments.demo import run_demo
    from linkparity.report.console_tables import demo_tables

    found = run_demo(say)
    show_json(found.to_dict()) if as_json else show(*demo_tables(found))


@app.command(epilog="Example: linkparity datasets polblogs")
def datasets(
    name: Annotated[str | None, typer.Argument(help="Tell all about this one.")] = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List the data sets: counts, groups, terms of use, whether they are on disk."""
    from linkparity.datasets import DATASETS, on_disk
    from linkparity.report.console_tables import card_table, datasets_table

    chosen = list(DATASETS) if name is None else [name]
    cards = [(DATASETS[each].card, on_disk(each, data)) for each in chosen]
    plain = [asdict(card) | {"on_disk": here} for card, here in cards]
    if as_json:
        show_json({"datasets": plain} if name is None else plain[0])
    else:
        show(datasets_table(cards) if name is None else card_table(*cards[0]))


add_train_commands(app)
add_table_commands(app)


def main(args: list[str] | None = None) -> None:
    """Run a command; an error that the user can mend is one line on stderr and exit code 2."""
    warn_in_one_line()
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if args is None:
        atexit.register(gc.freeze)  # else the end takes a third of a second to collect torch
    given = sys.argv[1:] if args is None else args
    try:
        code = app(given or ["--help"], prog_name="linkparity", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        message = one_line(error)
        if message is None:
            traceback.print_exc()
            say("Error: this is a fault of linkparity, not of the input; please report it")
            sys.exit(BUG)
        say(f"Error: {message}")
        sys.exit(2)
    if code == INTERRUPTED:
        say("Error: interrupted; nothing was written")
        sys.exit(2)
    sys.exit(code or 0)
