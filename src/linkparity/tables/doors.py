"""``audit`` and ``project`` for tables in memory: pandas, polars, Arrow, or any Ibis table."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from linkparity.grouping import Unknown
from linkparity.optional import require
from linkparity.tables.auditing import Audit, audit_scores
from linkparity.tables.columns import Reading, listed
from linkparity.tables.correcting import correct, fair_rows
from linkparity.tables.duck import DuckEngine
from linkparity.tables.engine import EXTRA, ROW, Engine, Input
from linkparity.tables.scores import ScoreTable, classify
from linkparity.tables.tidy import tidied
from linkparity.tables.tilts import read_tilts, tilts_text
from linkparity.tables.workspace import Workspace


def audit(
    scores: Any,
    sensitive: str | Sequence[str],
    nodes: Any = None,
    *,
    source: str | None = None,
    target: str | None = None,
    score: str | None = None,
    logit: str | None = None,
    label: str | None = None,
    node: str | None = None,
    unknown: Unknown = "error",
    duplicates: Literal["error", "first"] = "error",
    self_loops: Literal["error", "drop"] = "error",
    directed: bool = False,
    bipartite: bool = False,
    criterion: str = "dp",
    confidence: float | None = 0.95,
    top: int = 10,
    seed: int = 0,
) -> Audit:
    """Measure the gaps between groups in a table of scores, whoever made them.

    Args:
        scores: table with ``source, target`` and ``score`` (a probability) or ``logit``, and
            ``label`` (0 or 1) if known; pandas, polars, Arrow or an Ibis table.
        sensitive: attribute that makes the groups, a column of ``nodes``; several are crossed.
            Without ``nodes``, the groups stand in columns ``source_…`` and ``target_…``.
        nodes: table with ``node`` and the attribute.
        source: column of the first node, where it has another name; likewise ``target``,
            ``score``, ``logit``, ``label`` and ``node``.
        target: column of the second node.
        score: column of probabilities.
        logit: column of logits.
        label: column of labels.
        node: column of ids in ``nodes``.
        unknown: nodes without a group: ``"error"``, a ``"group"`` of their own, or ``"drop"``.
        duplicates: a pair that stands twice: ``"error"``, or keep the ``"first"``.
        self_loops: a node with itself: ``"error"`` or ``"drop"``.
        directed: whether (a, b) and (b, a) are two pairs.
        bipartite: whether sources and targets are two kinds of nodes.
        criterion: the one that ``kl`` is measured for.
        confidence: of the intervals; None for none.
        top: places per list for the exposure.
        seed: for the intervals.
    """
    reading = Reading(
        listed(sensitive), source, target, score, logit, label, node, unknown, duplicates,
        self_loops, directed, bipartite,
    )  # fmt: skip
    with _opened(scores, nodes, reading) as table:
        return audit_scores(table, criterion, confidence, top, seed)


def project(
    scores: Any,
    sensitive: str | Sequence[str],
    nodes: Any = None,
    *,
    criterion: str = "dp",
    to: object = "model",
    tolerance: float = 0.0,
    explain: bool = False,
    save_tilts: str | Path | None = None,
    apply: str | Path | None = None,
    source: str | None = None,
    target: str | None = None,
    score: str | None = None,
    logit: str | None = None,
    label: str | None = None,
    node: str | None = None,
    unknown: Unknown = "error",
    duplicates: Literal["error", "first"] = "error",
    self_loops: Literal["error", "drop"] = "error",
    directed: bool = False,
    bipartite: bool = False,
) -> Any:
    """The same table with a column ``fair_score``: the nearest scores at parity.

    Args:
        scores: as for :func:`audit`; what comes back is of the same kind. An Ibis table comes back
            as an Ibis expression.
        sensitive: as for :func:`audit`, and so are the arguments from ``source`` on.
        nodes: table with ``node`` and the attribute.
        criterion: ``dp``, ``weak-dp``, ``eo``, ``equalized-odds`` or ``accuracy``; the last three
            tilt by label, and what they give is no predictor.
        to: the common mean: ``"model"``, ``"data"``, ``"free"`` or a number.
        tolerance: how far a mean may stay from it.
        explain: add a column ``tilt``.
        save_tilts: file to write the tilts to.
        apply: file of tilts to use instead of fitting.
        source: column of the first node, where it has another name.
        target: column of the second node.
        score: column of probabilities.
        logit: column of logits.
        label: column of labels.
        node: column of ids in ``nodes``.
        unknown: rows of a node without a group.
        duplicates: a pair that stands twice.
        self_loops: a node with itself.
        directed: whether (a, b) and (b, a) are two pairs.
        bipartite: whether sources and targets are two kinds of nodes.
    """
    reading = Reading(
        listed(sensitive), source, target, score, logit, label, node, unknown, duplicates,
        self_loops, directed, bipartite,
    )  # fmt: skip
    saved = None if apply is None else read_tilts(Path(apply))
    with _opened(scores, nodes, reading, number=True) as table:
        tilted, stats = correct(table, criterion, to, tolerance, saved, str(apply))
        if save_tilts is not None:
            Path(save_tilts).write_text(tilts_text(table, tilted), encoding="utf-8")
        fair, names = fair_rows(table, stats, tilted, explain)
        return _returned(scores, table, fair, names)


@contextmanager
def _opened(
    scores: Any, nodes: Any, reading: Reading, number: bool = False
) -> Iterator[ScoreTable]:
    with Workspace() as workspace:
        engine = _engine(scores, workspace)
        try:
            given = _input(engine, scores, "scores", number)
            known = None if nodes is None else _input(engine, nodes, "nodes", False)
            yield tidied(classify(engine, given, known, reading))
        finally:
            engine.close()


def _is_ibis(table: Any) -> bool:
    return type(table).__module__.split(".")[0] == "ibis"


def _engine(scores: Any, workspace: Workspace) -> Engine:
    if _is_ibis(scores):
        return engine_of(scores.get_backend(), workspace)
    return DuckEngine(workspace, getattr(scores, "nbytes", 0))


def engine_of(con: Any, workspace: Workspace) -> Engine:
    """The engine for an Ibis backend that somebody else opened."""
    if con.name == "pyspark":
        from linkparity.tables.spark import SparkEngine

        return SparkEngine(workspace, con=con)
    return Engine(con)


def _input(engine: Engine, table: Any, name: str, number: bool) -> Input:
    """The table as the engine sees it; an Ibis table has no order, unless one is made up."""
    if _is_ibis(table):
        ibis = require("ibis", name, EXTRA)
        if number:
            numbered = table.mutate(**{ROW: ibis.row_number()})
            return Input(name, engine.keep(numbered, "numbered"))
        return Input(name, table, ordered=False)
    return engine.take(_arrow(table, name), name)


def _arrow(table: Any, name: str) -> Any:
    nw = require("narwhals", name, EXTRA)
    try:
        frame = nw.from_native(table)
    except TypeError:
        raise TypeError(
            f"{name} must be a table such as a pandas or polars DataFrame, "
            f"got {type(table).__name__}"
        ) from None
    return (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).to_arrow()


def _returned(scores: Any, table: ScoreTable, fair: Any, names: list[str]) -> Any:
    """The caller's own table and the new columns, rows left out where they were dropped."""
    if _is_ibis(scores):
        given, fair = table.given.table, fair.rename(_lp_fair_row="row")
        joined = given.inner_join(fair, given[ROW] == fair["_lp_fair_row"])
        return table.engine.keep(joined.drop(ROW, "_lp_fair_row"), "fair")
    nw = require("narwhals", "project", EXTRA)
    found = fair.order_by("row").to_pyarrow()
    frame = nw.from_native(scores)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    if table.dropped:
        frame = frame[found.column("row").to_numpy().tolist()]
    own = nw.get_native_namespace(frame)
    series = [
        nw.new_series(name, found.column(name).to_numpy(), nw.Float64, backend=own)
        for name in names
    ]
    return frame.with_columns(*series).to_native()
