"""The commands ``audit`` and ``project``: options in, no logic."""

import time
from pathlib import Path
from typing import Annotated

import typer

from linkparity.cli import options as opt
from linkparity.cli.output import row_progress, say, show, show_json
from linkparity.support.display import counted
from linkparity.support.errors import InputError
from linkparity.support.files import outputs_in_place


def add_table_commands(app: typer.Typer) -> None:
    """Add the commands for tables of scores to ``app``."""
    files = "scores.csv --nodes people.csv --sensitive gender"
    app.command(epilog=f"Example: linkparity audit {files}")(audit)
    app.command(epilog=f"Example: linkparity project {files} --out fair.csv")(project)


@opt.unfolded
def audit(
    table: opt.TableOptions,
    criterion: Annotated[str, opt.criterion("Criterion that kl is measured for.")] = "dp",
    fail_if: Annotated[
        list[str],
        typer.Option(help='Exit with 1 when this holds, such as "dp>0.05" or "dp.upper>0.1".'),
    ] = [],  # noqa: B006
    compare: Annotated[
        str | None,
        typer.Option(help="Other scores of the same pairs; show the change of every measure."),
    ] = None,
    html: Annotated[str | None, typer.Option(help="Write a report to this HTML file.")] = None,
    confidence: opt.Confidence = 0.95,
    intervals: opt.Intervals = "nodes",
    top: Annotated[int, typer.Option(help="Length of each node's list, for the exposure.")] = 10,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Measure the gaps between groups in anybody's scores, with intervals.

    A gap near zero is parity on that measure, between these groups, on these pairs; it is not
    fairness. Exit 0: done; 1: --fail-if holds; 2: bad input.
    """
    from linkparity.metrics.tables.audit_table import AuditOptions, audit_table
    from linkparity.metrics.tables.fail_if import read_gates
    from linkparity.report.audit_page import write_html
    from linkparity.support.files import check_output

    gates = read_gates(fail_if, changes=compare is not None)
    if html == "-" and as_json:
        raise InputError("--json and --html - both write to stdout", "give --html a file")
    if html is not None:
        check_output(html, force, (table.scores, table.nodes, compare))
    began = time.perf_counter()
    asked = AuditOptions(criterion, confidence, top, intervals=intervals, min_pairs=table.min_pairs)
    with row_progress():
        found = audit_table(table.tables(compare=compare), asked)
    _say_cost(found.scans, found.pairs, began)
    failed = [reason for gate in gates if (reason := gate.judge(found)) is not None]
    if html is not None:
        write_html(html, found, [gate.text for gate in gates], failed, force)
        say(f"report: {html}")
    with outputs_in_place(html):
        if as_json:
            show_json(found.to_dict() | ({"failed": failed} if gates else {}))
        else:
            show(found, on_stderr=html == "-")
    for reason in failed:
        say(f"Gate failed: {reason}")
    if gates and not failed:
        say(f"Gate passed: none of {', '.join(gate.text for gate in gates)} holds.")
    if failed:
        raise typer.Exit(1)


@opt.unfolded
def project(
    table: opt.TableOptions,
    out: Annotated[str, typer.Option(help="File for the corrected table; - for stdout.")],
    criterion: Annotated[str | None, opt.criterion("Criterion; dp by default.")] = None,
    target: opt.Target = "model",
    tolerance: opt.Tolerance = 0.0,
    tilt_by: Annotated[
        str | None,
        opt.choice(opt.TILT_BY, "One tilt per pair of groups (the default), or by label too."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Write each row's tilt too.")] = False,
    save_tilts: Annotated[str | None, typer.Option(help="Write the tilts to this file.")] = None,
    apply: Annotated[
        str | None, typer.Option(help="File of saved tilts to use instead of fitting.")
    ] = None,
    confidence: opt.Confidence = 0.95,
    intervals: opt.Intervals = "nodes",
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Write the nearest scores at parity: the input plus one fair_score per row.

    One tilt per pair of groups keeps the order within it and needs no label. With --tilt-by
    labels, eo, equalized-odds and accuracy tilt by the true label: such scores measure a distance
    and cannot be used as predictions.
    """
    from linkparity.metrics.intervals.estimates import IntervalOptions
    from linkparity.metrics.tables.correct_table import ProjectOptions, correct_table

    if as_json and "-" in (out, save_tilts):
        raise InputError("--json and an output named - both write to stdout", "give it a file")
    if save_tilts is not None and Path(save_tilts).resolve() == Path(out).resolve():
        raise InputError(
            "is given to --out and to --save-tilts", "choose two different files", where=out
        )
    began = time.perf_counter()
    goal = opt.read_target(target)
    measured = IntervalOptions(confidence, intervals, min_pairs=table.min_pairs)
    options = ProjectOptions(
        criterion, goal, tolerance, tilt_by, apply, save_tilts, explain, force, measured
    )
    with row_progress():
        _, found = correct_table(table.tables(out), options)
    assert found is not None
    _say_cost(found.scans, found.rows, began)
    with outputs_in_place(out, save_tilts):
        if as_json:
            show_json(found.to_dict())
        else:
            show(found, on_stderr="-" in (out, save_tilts))


def _say_cost(scans: int, rows: int, began: float) -> None:
    say(f"{counted(rows, 'row')}, {counted(scans, 'scan')}, {time.perf_counter() - began:.1f} s")
