"""``audit`` and ``project`` for tables in memory: pandas, polars, Arrow, or any Ibis table."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from linkparity.graph.untidy import Unknown

if TYPE_CHECKING:
    from linkparity.tables.audit_table import Audit


def audit(
    scores: Any,
    sensitive: str | Sequence[str],
    nodes: Any = None,
    *,
    source: str | None = None,
    target_column: str | None = None,
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
) -> "Audit":
    """Measure the gaps between groups in a table of scores, whoever made them.

    Args:
        scores: table with ``source, target`` and ``score`` (a probability) or ``logit``, and
            ``label`` (0 or 1) if known; pandas, polars, Arrow or an Ibis table.
        sensitive: attribute that makes the groups, a column of ``nodes``; several are crossed.
            Without ``nodes``, the groups stand in columns ``source_…`` and ``target_…``.
        nodes: table with ``node`` and the attribute.
        source: column of the first node, where it has another name; likewise the next five.
        target_column: column of the second node.
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
    from linkparity.tables.audit_table import audit_scores
    from linkparity.tables.reading.columns import Reading, listed
    from linkparity.tables.reading.frames import opened_frames

    reading = Reading(
        listed(sensitive), source, target_column, score, logit, label, node, unknown, duplicates,
        self_loops, directed, bipartite,
    )  # fmt: skip
    with opened_frames(scores, nodes, reading) as table:
        return audit_scores(table, criterion, confidence, top, seed)


def project(
    scores: Any,
    sensitive: str | Sequence[str],
    nodes: Any = None,
    *,
    criterion: str | None = None,
    target: object = "model",
    tolerance: float = 0.0,
    explain: bool = False,
    save_tilts: str | Path | None = None,
    apply: str | Path | None = None,
    source: str | None = None,
    target_column: str | None = None,
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
        criterion: ``dp`` (unless told), ``weak-dp``, ``eo``, ``equalized-odds`` or ``accuracy``;
            the last three tilt by label, and what they give is no predictor.
        target: the common mean: ``"model"``, ``"data"``, ``"free"`` or a number.
        tolerance: how far a mean may stay from it.
        explain: add a column ``tilt``.
        save_tilts: file to write the tilts to; of existing files only a tilt file is replaced.
        apply: file of tilts to use instead of fitting.
        source: column of the first node, where it has another name.
        target_column: column of the second node.
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
    from linkparity.support.files import write_text
    from linkparity.tables.project_table import check_names, correct, fair_rows
    from linkparity.tables.reading.columns import Reading, listed
    from linkparity.tables.reading.frames import eager, opened_frames, returned_frame
    from linkparity.tables.tilt_file import check_tilts_output, saved_tilts, tilts_text

    reading = Reading(
        listed(sensitive), source, target_column, score, logit, label, node, unknown, duplicates,
        self_loops, directed, bipartite,
    )  # fmt: skip
    if save_tilts is not None:
        check_tilts_output(save_tilts, (apply,))
    scores = eager(scores, "scores")
    saved = None if apply is None else saved_tilts(apply, criterion, target, tolerance)
    with opened_frames(scores, nodes, reading, number=True, several=saved is None) as table:
        check_names(table, explain)
        tilted, stats = correct(table, criterion, target, tolerance, saved, str(apply))
        if save_tilts is not None:
            check_tilts_output(save_tilts, (apply,))
            write_text(str(save_tilts), tilts_text(table, tilted), force=True)
        fair, names = fair_rows(table, stats, tilted, explain)
        return returned_frame(scores, table, fair, names)
