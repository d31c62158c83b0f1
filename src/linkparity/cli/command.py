"""The command ``linkparity``: its commands, and the exit codes."""

import atexit
import gc
import os
import signal
import sys
import traceback
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from linkparity import __version__
from linkparity.cli.experiments import add_experiment_commands
from linkparity.cli.options import Data, Force, Json, needing, text_only
from linkparity.cli.output import one_line, prepare_streams, say, show, show_json
from linkparity.cli.tables import add_table_commands
from linkparity.cli.train import add_train_commands
from linkparity.cli.tune import add_tune_command
from linkparity.support.errors import InputError
from linkparity.support.files import AlreadyWritten, check_output, outputs_in_place

if TYPE_CHECKING:
    from linkparity.paper.demo import Demo

app = typer.Typer(
    name="linkparity",
    help="Measure and reduce disparity between groups in link prediction.",
    epilog="Example: linkparity demo",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

#: Exit codes besides 0 (done), 1 (a gate failed) and 2 (bad input; no output was written).
BUG = 70
PARTLY_WRITTEN = 74
#: The extras of commands that need any; without the second, the demo only lacks its page.
EXTRAS = {
    "demo": "train,report",
    **dict.fromkeys(("train", "predict", "tune", "run", "reproduce"), "train"),
    "report": "report",
}
#: Where the demo puts its report, and replaces an earlier one.
DEMO_PAGE = "linkparity-demo.html"
#: What typer returns after Ctrl-C.
INTERRUPTED = 130


def _version(wanted: bool) -> None:
    if wanted:
        show(f"linkparity {__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
]


@app.callback()
def options(version: Version = False) -> None:
    """Measure and reduce disparity between groups in link prediction."""


@app.command(epilog="Example: linkparity demo --open")
def demo(
    out: Annotated[
        str | None, typer.Option(help=f"HTML file for the report; {DEMO_PAGE} by default.")
    ] = None,
    opened: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Run the main job on an embedded graph, in under a minute.

    Trains two models on the political blogs of 2004, plain, with the regularizer for demographic
    parity and with that for equal opportunity, shows the measures beside the paper's, and writes
    a report.
    """
    if out is not None:
        check_output(out, force)
    from linkparity.paper.demo import demo_tables, run_demo

    found = run_demo(say)
    written = _save_demo(found, out, force)
    with outputs_in_place(written):
        if as_json:
            show_json(found.to_dict() | {"report": written})
        else:
            show(*demo_tables(found))
        if opened and written:
            typer.launch(written)


def _save_demo(found: "Demo", out: str | None, force: bool) -> str | None:
    """Write the report; without the extra, or where it was not asked for and cannot be, say so."""
    from linkparity.paper.report import Report

    name = DEMO_PAGE if out is None else out
    try:
        Report(found.results, "paper", "linkparity demo").save(name, force or out is None)
    except (ModuleNotFoundError, InputError, OSError) as problem:
        reason = one_line(problem)
        if reason is None or not (out is None or isinstance(problem, ModuleNotFoundError)):
            raise
        say(f"no report: {reason}")
        return None
    say(f"wrote {name}")
    return name


@app.command(epilog="Example: linkparity datasets jobs --out jobs")
def datasets(
    name: Annotated[str | None, typer.Argument(help="Show everything about this data set.")] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder to write the tables of an example to, such as jobs.")
    ] = None,
    data: Data = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """List the data sets: counts, groups, terms of use, whether they are on disk."""
    from linkparity.datasets import DATASETS, on_disk
    from linkparity.datasets.examples import write_example
    from linkparity.report.console_tables import card_table, datasets_table

    if out is not None and name is None:
        raise InputError("goes with the NAME of an example", "such as jobs", argument="out")
    chosen = list(DATASETS) if name is None else [name]
    cards = [(DATASETS[each].card, on_disk(each, data)) for each in chosen]
    plain = [asdict(card) | {"on_disk": here} for card, here in cards]
    written = write_example(str(name), out, force) if out is not None else []
    with outputs_in_place(*written):
        if as_json:
            more = {"written": written} if written else {}
            show_json({"datasets": plain} if name is None else plain[0] | more)
        else:
            show(datasets_table(cards) if name is None else card_table(*cards[0]))
    if written:
        say(f"wrote {' and '.join(written)}")


add_train_commands(app)
add_tune_command(app)
add_table_commands(app)
add_experiment_commands(app)
for each in app.registered_commands:
    assert each.callback is not None
    each.callback = text_only(each.callback)
    if each.callback.__name__ in EXTRAS:
        each.callback = needing(EXTRAS[each.callback.__name__], each.callback)


def _leave_uncollected() -> None:
    """Skip the last collection, which takes a third of a second for torch.

    DuckDB 2 would list its objects on stderr as leaked.
    """
    duckdb = sys.modules.get("duckdb")
    if duckdb is None or duckdb.__version__.startswith("1."):
        gc.freeze()


def main(args: list[str] | None = None) -> None:
    """Run a command; an error that the user can fix is one line on stderr and exit code 2."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    prepare_streams()
    if args is None:
        atexit.register(_leave_uncollected)
    given = sys.argv[1:] if args is None else args
    try:
        code = app(given or ["--help"], prog_name="linkparity", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        message = one_line(error)
        if message is None:
            say(traceback.format_exc())
            message = "this is a fault of linkparity, not of the input; please report it"
            code = BUG
        else:
            code = PARTLY_WRITTEN if isinstance(error, AlreadyWritten) else 2
        say(f"Error: {message}")
    if code == INTERRUPTED:
        say("Error: interrupted; nothing was written")
        code = 2
    if args is None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to interrupt
    sys.exit(code or 0)
