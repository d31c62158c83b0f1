"""``audit`` and ``project`` for tables in memory and streams: pandas, polars, Arrow batches."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkparity.reading.groups import Duplicates, SelfLoops, Unknown, UntidyPolicy

if TYPE_CHECKING:
    from linkparity.metrics.tables.audit_table import Audit


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
    weight: str | None = None,
    node: str | None = None,
    unknown: Unknown = "error",
    duplicates: Duplicates = "error",
    self_loops: SelfLoops = "error",
    directed: bool = False,
    bipartite: bool = False,
    missing: Sequence[str] = (),
    min_pairs: int = 0,
    criterion: str = "dp",
    confidence: float | None = 0.95,
    top: int = 10,
    seed: int = 0,
    intervals: str = "nodes",
    compare: Any = None,
) -> "Audit":
    """Measure the gaps between groups in a table of scores, whoever made them.

    Args:
        scores: table with ``source, target`` and ``score`` (a probability) or ``logit``, and
            ``label`` (0 or 1) if known; pandas, polars, Arrow or any stream of Arrow batches.
        sensitive: attribute that makes the groups, a column of ``nodes``; several are crossed.
            Without ``nodes``, the groups are in the columns ``source_…`` and ``target_…``.
        nodes: table with ``node`` and the attribute.
        source: column of the first node of a pair, if it has another name.
        target_column: column of the second node of a pair, if it has another name.
        score: column of probabilities, if it has another name.
        logit: column of logits, if it has another name.
        label: column of labels, if it has another name.
        weight: column of weights, numbers of 0 or more, for ``dp`` and ``kl``; the other measures
            are unweighted.
        node: column of ids in ``nodes``, if it has another name.
        unknown: nodes without a group: ``"error"``, a ``"group"`` of their own, ``"drop"``, or
            ``"keep"``: their pairs count in ``auc`` and the exposure, and in no gap.
        duplicates: a pair that occurs more than once: ``"error"``, or keep the ``"first"``.
        self_loops: a pair of a node with itself: ``"error"`` or ``"drop"``.
        directed: whether (a, b) and (b, a) are two pairs.
        bipartite: whether sources and targets are two kinds of nodes.
        missing: values of the attribute that mean unknown, such as a code ``"0"``.
        min_pairs: pairs that a pair of groups must have to count in ``dp``, links in ``eo``.
        criterion: the criterion that ``kl`` is measured for.
        confidence: confidence level of the intervals; None for no intervals.
        top: length of each node's list, for the exposure.
        seed: random seed of the intervals.
        intervals: ``"nodes"`` allows for pairs that share nodes, ``"pairs"`` treats pairs as
            independent, which is too narrow.
        compare: another table of scores for the same pairs, such as yesterday's; ``audit.change``
            then has the change of every measure since that one, with intervals. Groups and labels
            are those of ``scores``.

    Returns:
        Every measure as an attribute (``audit.dp``), with intervals, cells and exposure;
        ``print(audit)`` shows them as tables.
    """
    from linkparity.metrics.tables.audit_table import AuditOptions, audit_table
    from linkparity.reading.columns import ReadOptions, listed
    from linkparity.reading.tables import FrameTables

    options = ReadOptions(
        listed(sensitive), source, target_column, score, logit, label, node,
        UntidyPolicy(unknown, duplicates, self_loops), directed, bipartite, weight=weight,
        missing=listed(missing) if missing else (),
    )  # fmt: skip
    asked = AuditOptions(criterion, confidence, top, seed, intervals, min_pairs)
    return audit_table(FrameTables.of(scores, nodes, options, compare=compare), asked)


def project(
    scores: Any,
    sensitive: str | Sequence[str],
    nodes: Any = None,
    *,
    criterion: str | None = None,
    target: object = "model",
    tolerance: float = 0.0,
    tilt_by: str | None = None,
    explain: bool = False,
    save_tilts: str | Path | None = None,
    apply: str | Path | None = None,
    report: bool = False,
    force: bool = False,
    source: str | None = None,
    target_column: str | None = None,
    score: str | None = None,
    logit: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    node: str | None = None,
    unknown: Unknown = "error",
    duplicates: Duplicates = "error",
    self_loops: SelfLoops = "error",
    directed: bool = False,
    bipartite: bool = False,
    missing: Sequence[str] = (),
    min_pairs: int = 0,
    confidence: float | None = 0.95,
    intervals: str = "nodes",
) -> Any:
    """The same table with a column ``fair_score``: the nearest scores at parity.

    Args:
        scores: as for :func:`audit`, like ``sensitive``, ``nodes`` and the arguments from
            ``source`` on.
        sensitive: attribute that makes the groups.
        nodes: table with ``node`` and the attribute.
        criterion: ``dp`` (the default), ``weak-dp``, ``eo``, ``equalized-odds`` or ``accuracy``.
        target: the common mean: ``"model"``, ``"data"``, ``"free"`` or a number.
        tolerance: allowed distance of a mean from it.
        tilt_by: ``"groups"`` (the default) finds one tilt per pair of groups, so that the scores
            are predictions; ``"labels"`` is the I-projection, whose scores for ``eo``,
            ``equalized-odds`` and ``accuracy`` depend on the labels.
        explain: whether to add a column ``tilt``.
        save_tilts: file to write the tilts to.
        apply: file of tilts to use instead of fitting.
        report: whether to return the report too.
        force: whether ``save_tilts`` may replace a file.
        source: column of the first node of a pair.
        target_column: column of the second node of a pair.
        score: column of probabilities.
        logit: column of logits.
        label: column of labels.
        weight: column of weights, for the tilts, ``kl`` and ``dp``.
        node: column of ids in ``nodes``.
        unknown: nodes without a group; with ``"keep"``, their pairs keep their scores.
        duplicates: a pair that occurs more than once.
        self_loops: a pair of a node with itself.
        directed: whether (a, b) and (b, a) are two pairs.
        bipartite: whether sources and targets are two kinds of nodes.
        missing: values of the attribute that mean unknown.
        min_pairs: as for :func:`audit`, in the report.
        confidence: confidence level of the intervals in the report; None for no intervals.
        intervals: as for :func:`audit`.

    Returns:
        A pandas or polars table if ``scores`` is one, else a ``pyarrow.Table``. With
        ``report``, a pair of this table and the report: ``kl``, ``tilts``, the measures ``before``
        and ``after``; ``print(report)`` shows them as tables.
    """
    from linkparity.metrics.intervals.estimates import IntervalOptions
    from linkparity.metrics.tables.correct_table import ProjectOptions, correct_table
    from linkparity.reading.columns import ReadOptions, listed
    from linkparity.reading.tables import FrameTables

    options = ReadOptions(
        listed(sensitive), source, target_column, score, logit, label, node,
        UntidyPolicy(unknown, duplicates, self_loops), directed, bipartite, weight=weight,
        missing=listed(missing) if missing else (),
    )  # fmt: skip
    tables = FrameTables.of(scores, nodes, options, returned=True)
    measured = IntervalOptions(confidence, intervals, min_pairs=min_pairs)
    asked = ProjectOptions(
        criterion, target, tolerance, tilt_by, apply, save_tilts, explain, force, measured
    )
    fair, found = correct_table(tables, asked, measured=report)
    return (fair, found) if report else fair
