"""The commands ``run``, ``reproduce`` and ``report``: options in, results out, no logic."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkparity.cli import options as opt
from linkparity.cli.output import SafeConsole, say, show, show_json
from linkparity.support.display import counted
from linkparity.support.errors import InputError, PlainError
from linkparity.support.files import outputs_in_place

if TYPE_CHECKING:
    from linkparity.experiments.results import Results
    from linkparity.report.live_display import LineDisplay

PAPER_NAMES = "polblogs|ml100k|facebook|all"
Jobs = Annotated[int, typer.Option(help="Number of fits at a time, one thread each.", min=1)]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786; its workers fit."),
]


def add_experiment_commands(app: typer.Typer) -> None:
    """Add the commands for experiments to ``app``."""
    app.command(epilog="Example: linkparity run study.toml --out rows.jsonl --jobs 2")(run)
    app.command(epilog="Example: linkparity reproduce polblogs --seeds 2 --quick")(reproduce)
    app.command(epilog="Example: linkparity report rows.jsonl --out report.html")(report)


def run(
    experiment: Annotated[str, typer.Argument(help="TOML file: data, models, criteria, seeds …")],
    out: Annotated[str, typer.Option(help="File of rows (JSON Lines); rows that it has are kept.")],
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    data: opt.Data = None,
    as_json: opt.Json = False,
) -> None:
    """Run an experiment: one row per data set, model, criterion, strength and seed.

    Interrupted or killed, the same command goes on where it stopped. Fits that failed are tried
    again by the next run; the exit code is 1 while any has failed.
    """
    from linkparity.experiments.experiment import Experiment
    from linkparity.experiments.run import run_fits

    if Path(out).resolve() == Path(experiment).resolve():
        raise InputError("is also read as an input", "choose another name", where=out)
    fits = Experiment.read(experiment).fits(data)
    with _display() as display:
        try:
            results = run_fits(fits, out, jobs, scheduler, display)
        except KeyboardInterrupt:
            raise _interrupted(display, out) from None
    say(f"{counted(len(results), 'row')}, {len(results.failed)} failed: {out}")
    with outputs_in_place(out):
        _show_results(results, display, out, as_json)
    if results.failed:
        raise typer.Exit(1)


def reproduce(
    dataset: Annotated[
        str, typer.Argument(help="Data set of the paper, or all.", metavar=PAPER_NAMES)
    ],
    seeds: Annotated[int, typer.Option(help="Number of seeds; the paper has 10.", min=1)] = 10,
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out figure 3, tune, and run times without load.")
    ] = False,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    out: Annotated[
        str | None, typer.Option(help="File of rows (JSON Lines); rows that it has are kept.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Only these models, with commas between them.")
    ] = None,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Fit the authors' prior on bipartite data.")
    ] = False,
    data: opt.Data = None,
    as_json: opt.Json = False,
) -> None:
    """Fit the rows of the paper's tables and compare them, cell by cell.

    A number agrees with the paper's if it is within
    3 of its standard deviations, or 0.015 (0.03 for cfc); a smaller gap at no
    less AUC is better.
    """
    from linkparity.paper.reproduce import PAPER_DATA
    from linkparity.paper.reproduce import reproduce as fit_and_compare
    from linkparity.paper.tables import reproduction_document
    from linkparity.support.registry import Registry

    known = {name: (name,) for name in PAPER_DATA} | {"all": PAPER_DATA}
    chosen = Registry("data set of the paper", known)[dataset]
    with _display() as display:
        try:
            found = fit_and_compare(
                chosen, seeds, display, out=out, jobs=jobs, scheduler=scheduler, data=data,
                quick=quick, as_published=as_published, models=model.split(",") if model else (),
            )  # fmt: skip
        except KeyboardInterrupt:
            raise _interrupted(display, out) from None
    with outputs_in_place(out):
        show_json(found.to_dict()) if as_json else show(*reproduction_document(found))
    if found.results.failed:
        raise typer.Exit(1)


def report(
    rows: Annotated[list[str], typer.Argument(help="Files of rows that run or reproduce wrote.")],
    out: Annotated[str, typer.Option(help="HTML file to write.")],
    against: Annotated[
        str | None, opt.choice(("paper",), "Published numbers to compare with.", kind="comparison")
    ] = None,
    figures: Annotated[
        str | None, typer.Option(help="Directory for the charts as SVG, PNG and PDF.")
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Show the results of experiments on one page that works offline.

    What was found in words, the trade-off between accuracy and parity, strength curves, pairs of
    groups before and after, training, run times, and every number.
    """
    from linkparity.paper.report import Report
    from linkparity.report.report_page import make_report

    made, written = make_report(Report, rows, out, against, figures, force)
    say(f"wrote {out}" + (f" and {counted(len(written), 'figure file')}" if written else ""))
    with outputs_in_place(out, *written):
        if as_json:
            show_json(made.to_dict() | {"out": out, "figures": written})
            return
        for dataset, sentences in made.findings.items():
            show(f"{dataset}:", *(f"- {sentence}" for sentence in sentences))


def _display() -> "LineDisplay":
    from linkparity.report.live_display import LineDisplay, LiveDisplay

    return LiveDisplay(SafeConsole(stderr=True)) if sys.stderr.isatty() else LineDisplay(say)


def _interrupted(display: "LineDisplay", out: str | None) -> PlainError:
    if out is None:
        return PlainError("interrupted", "with --out FILE the rows so far would have been kept")
    there = f"{display.kept + display.done} of {display.total} rows are in {out}"
    return PlainError(f"interrupted; {there}", "the same command goes on from there")


def _show_results(results: "Results", display: "LineDisplay", out: str, as_json: bool) -> None:
    if not as_json:
        show(results)
        return
    counts = {"fitted": display.done, "kept": display.kept, "failed": len(results.failed)}
    show_json({"out": out, **counts, "rows": [row.to_dict() for row in results]})
