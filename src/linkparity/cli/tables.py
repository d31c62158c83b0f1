"""The commands ``audit`` and ``project``: options in, no logic."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkparity.cli.options import Bipartite, Force, Json, Loops, Node, Source, Target
from linkparity.cli.output import say, show, show_json
from linkparity.support.wording import counted

if TYPE_CHECKING:
    from linkparity.tables.run import Inputs

Scores = Annotated[str, typer.Argument(help="Table of scores: csv, csv.gz, tsv, parquet, or - .")]
Nodes = Annotated[str | None, typer.Option(help="Table of nodes with their attributes.")]
Sensitive = Annotated[str, typer.Option(help="Column that makes the groups; A,B crosses two.")]
Score = Annotated[str | None, typer.Option(help="Column of scores, probabilities.")]
Logit = Annotated[str | None, typer.Option(help="Column of logits, in place of --score.")]
Label = Annotated[str | None, typer.Option(help="Column of labels, 1 for a link.")]
Unknown = Annotated[str, typer.Option(help="Nodes without a group: error, group or drop.")]
Duplicates = Annotated[str, typer.Option(help="A pair that stands twice: error or first.")]
Directed = Annotated[bool, typer.Option("--directed", help="(a, b) and (b, a) are two pairs.")]
Engine = Annotated[str, typer.Option(help="duckdb, spark, or a Spark master such as spark://host.")]
Tmp = Annotated[str | None, typer.Option(help="Directory for temporary files.")]
Format = Annotated[str | None, typer.Option("--format", help="csv, tsv or parquet, for - .")]
Criterion = Annotated[str, typer.Option(help="dp, weak-dp, eo, equalized-odds or accuracy.")]
FailIf = Annotated[list[str], typer.Option(help='Exit with 1 when this holds, such as "dp>0.05".')]


def add_table_commands(app: typer.Typer) -> None:
    """Put the commands for tables of scores into ``app``."""
    app.command(
        epilog="Example: linkparity audit scores.csv --nodes people.csv --sensitive gender"
    )(audit)
    app.command(
        epilog="Example: linkparity project scores.csv --nodes people.csv --sensitive gender "
        "--out fair.csv"
    )(project)


def audit(
    scores: Scores,
    sensitive: Sensitive,
    nodes: Nodes = None,
    criterion: Criterion = "dp",
    fail_if: FailIf = [],  # noqa: B006
    html: Annotated[str | None, typer.Option(help="Write a report in one HTML file.")] = None,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    top: Annotated[int, typer.Option(help="Places per list for the exposure.")] = 10,
    source: Source = None,
    target: Target = None,
    score: Score = None,
    logit: Logit = None,
    label: Label = None,
    node: Node = None,
    unknown: Unknown = "error",
    duplicates: Duplicates = "error",
    self_loops: Loops = "error",
    directed: Directed = False,
    bipartite: Bipartite = False,
    engine: Engine = "duckdb",
    tmp: Tmp = None,
    shape: Format = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Measure the gaps between groups in anybody's scores, with intervals.

    A gap near zero is parity on that measure, between these groups, on these pairs; it is not
    fairness. Exit 0: done; 1: --fail-if holds; 2: bad input.
    """
    from linkparity.report.audit_page import write_html
    from linkparity.support.files import check_output
    from linkparity.tables.fail_if import read_gates
    from linkparity.tables.run import run_audit

    gates = read_gates(fail_if)
    if html == "-" and as_json:
        raise ValueError("audit: --json and --html - both want stdout; give --html a file")
    if html is not None:
        check_output(html, force, (scores, nodes))
    began = time.perf_counter()
    inputs = _inputs(
        scores, nodes, sensitive, source, target, score, logit, label, node, unknown, duplicates,
        self_loops, directed, bipartite, engine, tmp, shape,
    )  # fmt: skip
    found = run_audit(inputs, criterion, confidence, top)
    _tell(found.scans, found.pairs, began)
    failed = [reason for gate in gates if (reason := gate.judge(found)) is not None]
    if html is not None:
        write_html(html, found, [gate.text for gate in gates], failed, force)
        say(f"report: {html}")
    told = found.to_dict() | ({"failed": failed} if gates else {})
    show_json(told) if as_json else show(found, aside=html == "-")
    for reason in failed:
        say(f"Gate failed: {reason}")
    if failed:
        raise typer.Exit(1)


def project(
    scores: Scores,
    sensitive: Sensitive,
    out: Annotated[str, typer.Option(help="The corrected table; - for stdout.")],
    nodes: Nodes = None,
    criterion: Annotated[
        str | None,
        typer.Option(help="dp (default), weak-dp, eo, equalized-odds or accuracy."),
    ] = None,
    target: Annotated[
        str, typer.Option(help="The common mean: model, data, free, or a number.")
    ] = "model",
    tolerance: Annotated[float, typer.Option(help="How far a mean may stay from it.")] = 0.0,
    explain: Annotated[bool, typer.Option("--explain", help="Write each row's tilt too.")] = False,
    save_tilts: Annotated[str | None, typer.Option(help="Write the tilts to this file.")] = None,
    apply: Annotated[str | None, typer.Option(help="Use saved tilts, fit nothing.")] = None,
    source: Source = None,
    target_column: Target = None,
    score: Score = None,
    logit: Logit = None,
    label: Label = None,
    node: Node = None,
    unknown: Unknown = "error",
    duplicates: Duplicates = "error",
    self_loops: Loops = "error",
    directed: Directed = False,
    bipartite: Bipartite = False,
    engine: Engine = "duckdb",
    tmp: Tmp = None,
    shape: Format = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write the nearest scores at parity: the input plus one fair_score per row.

    dp and weak-dp tilt by group alone and keep the order within a pair of groups. eo,
    equalized-odds and accuracy tilt by the true label: what they give is no predictor.
    """
    from linkparity.tables.run import ProjectOptions, run_project

    if as_json and "-" in (out, save_tilts):
        raise ValueError("project: --json and an output named - both want stdout; give it a file")
    if save_tilts is not None and Path(save_tilts).resolve() == Path(out).resolve():
        raise ValueError(f"{out}: named by --out and by --save-tilts; give each a file of its own")
    began = time.perf_counter()
    inputs = _inputs(
        scores, nodes, sensitive, source, target_column, score, logit, label, node, unknown,
        duplicates, self_loops, directed, bipartite, engine, tmp, None if out == "-" else shape,
    )  # fmt: skip
    wish = ProjectOptions(criterion, target, tolerance, apply, save_tilts, explain)
    found = run_project(inputs, out, wish, force, shape)
    _tell(found.scans, found.rows, began)
    show_json(found.to_dict()) if as_json else show(found, aside="-" in (out, save_tilts))


def _inputs(
    scores: str,
    nodes: str | None,
    sensitive: str,
    *rest: object,
) -> "Inputs":
    from linkparity.tables.reading.columns import Reading, listed
    from linkparity.tables.run import Inputs

    *columns, engine, tmp, shape = rest
    reading = Reading(listed(sensitive), *columns)  # type: ignore[arg-type]
    return Inputs(scores, nodes, reading, str(engine), tmp, shape if scores == "-" else None)  # type: ignore[arg-type]


def _tell(scans: int, rows: int, began: float) -> None:
    say(f"{counted(rows, 'row')}, {counted(scans, 'scan')}, {time.perf_counter() - began:.1f} s")
