"""What the commands ``audit`` and ``project`` do: files in, results and files out."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkparity.criteria import trainable
from linkparity.support.files import STREAM, check_output, whole_files
from linkparity.support.workspace import Workspace
from linkparity.tables.audit_table import Audit, audit_scores
from linkparity.tables.engines.duckdb import DuckEngine, size_of
from linkparity.tables.engines.errors import readable_errors
from linkparity.tables.engines.spark import SparkEngine, readable_spark_errors
from linkparity.tables.project_table import Correction, check_names, correct, fair_rows, report
from linkparity.tables.reading.columns import Reading
from linkparity.tables.reading.files import format_of, open_source
from linkparity.tables.reading.row_checks import tidied
from linkparity.tables.reading.score_table import ScoreTable, classify
from linkparity.tables.tilt_file import saved_tilts, tilts_text


@dataclass(frozen=True)
class Inputs:
    """Which files are read, where, and how.

    Attributes:
        scores: the score table, ``-`` for stdin.
        nodes: the node table, None when groups stand in the score table.
        reading: which column holds what, and what becomes of untidy rows.
        engine: ``duckdb``, ``spark``, or the URL of a Spark master.
        tmp: directory for temporary files; the system's by default.
        format: of the scores, where the extension does not tell.
    """

    scores: str
    nodes: str | None
    reading: Reading
    engine: str = "duckdb"
    tmp: str | None = None
    format: str | None = None


@dataclass(frozen=True)
class ProjectOptions:
    """What a projection is asked for.

    Attributes:
        criterion: which parity, dp unless told; None with saved tilts, which know theirs.
        target: name, number, or two numbers with a comma for equalized-odds.
        tolerance: how far a mean may stay from it.
        apply: file of tilts to use instead of fitting.
        save_tilts: file to write the tilts to.
        explain: whether to write the tilt of every row.
    """

    criterion: str | None = None
    target: str = "model"
    tolerance: float = 0.0
    apply: str | None = None
    save_tilts: str | None = None
    explain: bool = False


def run_audit(
    inputs: Inputs,
    criterion: str = "dp",
    confidence: float | None = 0.95,
    top: int = 10,
    seed: int = 0,
) -> Audit:
    """Audit a file."""
    trainable()[criterion]  # a wrong name is told before any work
    with opened(inputs) as table:
        return audit_scores(table, criterion, confidence, top, seed)


def run_project(
    inputs: Inputs, out: str, wish: ProjectOptions, force: bool = False, told: str | None = None
) -> Correction:
    """Correct a file into another; nothing is written unless all of it is."""
    trainable()[wish.criterion or "dp"]
    shape = format_of("out.csv", told) if out == STREAM else format_of(out)
    for name in (out, wish.save_tilts):
        if name is not None:
            check_output(name, force, (inputs.scores, inputs.nodes, wish.apply))
    asked = (wish.criterion, read_number(wish.target), wish.tolerance)
    saved = None if wish.apply is None else saved_tilts(wish.apply, *asked)
    with opened(inputs, several=saved is None) as table:
        check_names(table, wish.explain)
        tilted, stats = correct(table, *asked, saved, wish.apply or "")
        found = report(table, stats, tilted)
        fair, names = fair_rows(table, stats, tilted, wish.explain)
        spool = Path(inputs.tmp) if inputs.tmp else None
        outputs = [out] if wish.save_tilts is None else [out, wish.save_tilts]
        with whole_files(outputs, force, spool) as (path, *more):
            for tilts in more:
                Path(tilts).write_text(tilts_text(table, tilted), encoding="utf-8")
            table.engine.write(table, fair, names, path, shape)
        return found


def read_number(target: str) -> object:
    """A target as typed: a name, a number, or two with a comma.

    >>> read_number("0.1,0.6")
    [0.1, 0.6]
    """
    try:
        numbers = [float(part) for part in target.split(",")]
    except ValueError:
        return target
    return numbers if len(numbers) > 1 else numbers[0]


@contextmanager
def opened(inputs: Inputs, several: bool = True) -> Iterator[ScoreTable]:
    """The classified score table of the files, in an engine that lasts as long as the block."""
    if inputs.scores == inputs.nodes == STREAM:
        raise ValueError("only one of the scores and --nodes can come by stdin; give a file")
    with Workspace(inputs.tmp) as workspace, readable_errors(), readable_spark_errors():
        scores = open_source(inputs.scores, workspace, inputs.format)
        nodes = None if inputs.nodes is None else open_source(inputs.nodes, workspace)
        size = sum(size_of(source) for source in (scores, nodes) if source is not None)
        engine = make_engine(inputs.engine, workspace, size)
        try:
            given = engine.read(scores, "scores")
            known = None if nodes is None else engine.read(nodes, "nodes")
            yield tidied(classify(engine, given, known, inputs.reading), several)
        finally:
            engine.close()


def make_engine(name: str, workspace: Workspace, size: int) -> Any:
    """DuckDB, or Spark by name or by the URL of its master."""
    if name == "duckdb":
        return DuckEngine(workspace, size)
    if name == "spark" or name.startswith(("spark://", "local", "yarn", "k8s://")):
        return SparkEngine(workspace, None if name == "spark" else name)
    raise ValueError(
        f"unknown engine {name!r}; known: duckdb, spark, or a URL such as spark://host:7077"
    )
