"""Score a model on held-out pairs: every measure, with its interval and its number of pairs."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkparity.criteria import CRITERIA, Criterion
from linkparity.criteria.cells import find_criterion
from linkparity.metrics.cell_means import GapDetails, gap_details
from linkparity.metrics.checks import check_scores
from linkparity.metrics.fairlearn_frame import cell_frame
from linkparity.metrics.intervals.estimates import INTERVALS, NAN, Estimate, few_nodes
from linkparity.metrics.measures import MEASURES, check_measures, measurable, take_measures
from linkparity.metrics.results import CellScore, Measured, by_measure, cell_scores
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.support.arrays import logit
from linkparity.support.errors import require
from linkparity.support.registry import Registry

if TYPE_CHECKING:
    from linkparity.graph import Split


#: What ``evaluate`` measures, with the note that is printed.
PAIRS = Registry(
    "kind of pairs",
    {
        "test": "",
        "candidates": "dp, rdp and kl are over all candidates (pairs that are no training link), "
        "the scores that one would deploy; auc and eo are over held-out pairs.",
    },
)


@dataclass(frozen=True, repr=False, eq=False)
class Scores(Measured):
    """Every measure as a float attribute (``scores.dp``), with the counts and reasons behind it.

    ``print(scores)`` shows them as tables, and so does a notebook.

    Attributes:
        scored: The pairs that were measured.
    """

    scored: ScoredPairs

    @property
    def frame(self) -> Any:
        """Cells as fairlearn's ``MetricFrame``; without fairlearn its main attributes only.

        Those are ``overall``, ``by_group`` and ``difference()``.
        """
        return cell_frame(self.scored)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, ready for JSON; undefined values are None."""
        return super().to_dict() | {"view": self.view}

    def to_frame(self) -> Any:
        """A pandas frame with one row per measure: value, low, high, count, unit, reason.

        ``frame.attrs["notes"]`` has the sentences to read with the numbers.
        """
        pd = require("pandas", "Scores.to_frame", "pandas")
        none = (float("nan"), float("nan"))
        why = {name.removesuffix(" interval"): reason for name, reason in self.reasons.items()}
        rows = [
            (value, *self.intervals.get(name, none), *self.counts[name], why.get(name, ""))
            for name, value in self.values.items()
        ]
        columns = ["value", "low", "high", "count", "unit", "reason"]
        index = pd.Index(list(self.values), name="measure")
        frame = pd.DataFrame(rows, columns=columns, index=index)
        frame.attrs["notes"] = list(self.notes)
        return frame


def evaluate(
    model: Any,
    split: "Split",
    confidence: float | None = 0.95,
    view: str = "subgroup",
    seed: int = 0,
    *,
    intervals: str = "nodes",
    over: str = "test",
    pairs: str | None = None,
    measures: Sequence[str] | None = None,
    min_pairs: int = 0,
) -> Scores:
    """Score ``model`` on the held-out pairs of ``split``, or also on all candidates.

    Args:
        model: Has ``predict_logits(pairs)`` or ``predict_proba(pairs)``, which take a ``(P, 2)``
            array of nodes; may have ``embedding_``, which ``rb`` needs.
        split: ``dp`` and ``kl`` use ``split.test.weight``, the other measures are unweighted.
        confidence: Confidence level of the intervals; None leaves them out.
        view: Which cells ``dp``, ``eo`` and ``rdp`` compare: ``subgroup``, ``mixed``, ``group``.
        seed: Random seed of the intervals and of ``rb``.
        intervals: ``nodes`` allows for pairs that share nodes, ``pairs`` treats them as
            independent, which is too narrow.
        over: With ``"candidates"``, ``dp``, ``rdp`` and ``kl`` are over every pair that is no
            training link, which is what can be recommended, and ``auc_candidates`` stands beside
            ``auc``; above ten million pairs, over samples. That is the gap of the scores one would
            deploy, no held-out estimate. The other measures are over the test pairs.
        pairs: Old name of ``over``.
        measures: Names of the measures wanted, all by default; the others are ``nan``.
        min_pairs: Pairs that a pair of groups must have to count in ``dp``, links in ``eo``.

    ``kl`` is measured for ``model.criterion`` where that is one of linkparity's, else for ``dp``.
    """
    require("torch", "evaluate")
    if pairs is not None:
        said = f"evaluate: pairs={pairs!r} is now called over={pairs!r}"
        warnings.warn(said, DeprecationWarning, stacklevel=2)
        over = pairs
    check_measures(measures, over != "test", "use {over=candidates}", "evaluate")
    sets = scored_sets(model, split, confidence, view, seed, intervals, over, min_pairs)
    return measure(sets, measures)


def scored_sets(
    model: Any,
    split: "Split",
    confidence: float | None = 0.95,
    view: str = "subgroup",
    seed: int = 0,
    intervals: str = "nodes",
    over: str = "test",
    min_pairs: int = 0,
) -> dict[str, ScoredPairs]:
    """Score the pairs that :func:`evaluate` measures, with its arguments.

    Returns:
        The held-out pairs as ``"test"``; with ``over="candidates"`` also the candidates, for
        means, for ranks, and for ranks of held-out links, as ``"means"``, ``"ranks"``, ``"links"``.
    """
    from linkparity.metrics.candidates import graph_pairs, on_candidates

    graph, test = split.train, split.test
    PAIRS[over]
    INTERVALS[intervals]
    predict, kind = _predictor(model)
    criterion = getattr(model, "criterion", None)
    ours = isinstance(criterion, Criterion) or (
        isinstance(criterion, str) and criterion in CRITERIA
    )
    index = test.index.numpy()
    source = graph_pairs(
        graph, index, check_scores("evaluate", **{kind: predict(index)}), kind == "logits",
        test.label.double().numpy(), test.weight.double().numpy(),
    )  # fmt: skip
    scored = ScoredPairs.checked(
        source, embedding=getattr(model, "embedding_", None), node_group=graph.group,
        criterion=criterion if ours else "dp", view=view, confidence=confidence, seed=seed,
        min_pairs=min_pairs, by_node=intervals == "nodes",
    )  # fmt: skip
    if over == "test":
        return {"test": scored}

    def logits(index: np.ndarray) -> np.ndarray:
        given = np.asarray(predict(index), dtype=np.float64)
        return given if kind == "logits" else logit(given)

    return {"test": scored} | on_candidates(logits, split, scored)


def _predictor(model: Any) -> tuple[Callable[[np.ndarray], Any], str]:
    """The function that scores a ``(P, 2)`` array of nodes, and what it gives."""
    for name, kind in (("predict_logits", "logits"), ("predict_proba", "prob")):
        if hasattr(model, name):
            return getattr(model, name), kind
    raise TypeError(
        f"evaluate: {type(model).__name__} has neither predict_logits nor predict_proba; give it "
        "one that takes a (P, 2) array of nodes, or pass what it predicts to score_pairs"
    )


def score_pairs(
    logits: object = None,
    groups: object = None,
    labels: object = None,
    weight: object = None,
    *,
    prob: object = None,
    group_names: Sequence[str] = (),
    embedding: object = None,
    node_group: object = None,
    baseline: object = None,
    criterion: object = "dp",
    view: str = "subgroup",
    confidence: float | None = 0.95,
    seed: int = 0,
    nodes: object = None,
    intervals: str = "nodes",
    measures: Sequence[str] | None = None,
    min_pairs: int = 0,
) -> Scores:
    """Score the predictions of any model: ``logits (P,)`` or ``prob (P,)``, and ``groups (P, 2)``.

    Args:
        logits: ``(P,)``, unless ``prob`` is given.
        groups: ``(P, 2)`` or ``(P,)`` names, None for none, or integers, −1 for none.
        labels: ``(P,)`` 0 or 1; without them ``auc``, ``ap`` and ``eo`` are ``nan``.
        weight: ``(P,)`` at least 0, for ``dp`` and ``kl``, where a pair of weight 0 does not count.
        prob: ``(P,)`` in [0, 1], in place of ``logits``.
        group_names: Names of the groups 0, 1, 2 …; the order of groups that are given by name.
        embedding: ``(num_nodes, dim)`` for ``rb``.
        node_group: ``(num_nodes,)`` for ``rb``, names or integers.
        baseline: ``(P,)`` 0 or 1, baseline decisions for ``kl`` of ``churn``.
        criterion: The criterion of ``kl``; the cells of a ``Custom`` are those of these pairs.
        view: ``subgroup``, ``mixed`` or ``group``.
        confidence: Confidence level of the intervals; None leaves them out.
        seed: Random seed of the intervals and of ``rb``.
        nodes: ``(P, 2)`` ids of the two nodes of each pair, for intervals that allow for pairs that
            share nodes; in a bipartite graph, no id may occur on both sides. Without them, pairs
            are treated as independent.
        intervals: ``nodes``, or ``pairs`` to treat pairs as independent although nodes are given.
        measures: Names of the measures wanted, all by default; the others are ``nan``.
        min_pairs: Pairs that a pair of groups must have to count in ``dp``, links in ``eo``.

    >>> score_pairs(prob=[0.0, 0.9, 0.5], groups=[[0, 0], [1, 0], [2, 1]], confidence=None).dp
    0.9
    """
    INTERVALS[intervals]  # an unknown name is refused before any work
    check_measures(measures, False, "use evaluate with {over=candidates}", "score_pairs")
    scored = ScoredPairs.of(
        logits, groups, labels, weight, prob=prob, names=group_names, embedding=embedding,
        node_group=node_group, baseline=baseline, criterion=criterion, view=view,
        confidence=confidence, seed=seed, nodes=nodes if intervals == "nodes" else None,
        min_pairs=min_pairs,
    )  # fmt: skip
    return measure({"test": scored}, measures)


def measure(
    given: dict[str, ScoredPairs],
    measures: Sequence[str] | None = None,
    on_measure: Callable[[str], object] | None = None,
) -> Scores:
    """The measures of test pairs, of candidates where these are given and the measure allows.

    Args:
        given: pairs as :func:`scored_sets` returns them.
        measures: names of the measures wanted, all by default.
        on_measure: called with the name of each measure before it is taken.
    """
    wanted = {name for name in MEASURES if measures is None or name in measures}
    test, candidates = given["test"], "means" in given
    sets = {"test": test, "means": test, "ranks": test, "links": test} | given

    known = {name: MEASURES[name] for name in measurable(MEASURES, candidates)}
    taken = take_measures(sets, [name for name in known if name in wanted], on_measure)
    found = {name: taken.get(name, Estimate(NAN, 0, m.unit)) for name, m in known.items()}
    notes = [f"{name}: {e.note}." for name, e in found.items() if e.note] + few_nodes(found)
    if test.confidence is not None:
        notes.insert(0, INTERVALS["nodes" if test.shares_nodes else "pairs"])
    if not candidates:
        cells = cell_scores(test.means, test.labelled, found)
    else:
        from linkparity.metrics.candidates import sample_notes

        notes[:0] = [PAIRS["candidates"], *sample_notes(given["means"])]
        cells = cell_scores(sets["means"].means, True, {"dp": found["dp"]})
        cells = _with_test_links(cells, cell_scores(test.means, True, {"eo": found["eo"]}))
    return Scores(
        **by_measure(found),
        pairs=test.source.size,
        links=test.links,
        cells=cells,
        notes=tuple(notes),
        view=test.view,
        confidence=test.confidence,
        criterion=find_criterion(test.criterion).name,
        scored=test,
        gaps=_gap_details(sets, wanted),
    )


def _gap_details(sets: dict[str, ScoredPairs], wanted: set[str]) -> dict[str, GapDetails]:
    """What makes dp, and eo where labels are known."""
    found: dict[str, GapDetails] = {}
    for name in ("dp", "eo"):
        scored = sets[MEASURES[name].over]
        if name in wanted and (name == "dp" or scored.labelled):
            found[name] = gap_details(scored.means, name == "eo", scored.min_pairs)
    return found


def _with_test_links(
    cells: tuple[CellScore, ...], tested: tuple[CellScore, ...]
) -> tuple[CellScore, ...]:
    """Cells of candidates, with what the test pairs say of links."""
    known = {cell.groups: cell for cell in tested}
    none = CellScore((), 0, 0, NAN, NAN)
    rows = [(cell, known.get(cell.groups, none)) for cell in cells]
    return tuple(
        replace(cell, links=t.links, link_mean=t.link_mean, link_interval=t.link_interval)
        for cell, t in rows
    )
