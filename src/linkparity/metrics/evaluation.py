"""Score a model on held-out pairs: every measure, with its interval and its number of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkparity.criteria import CRITERIA, Criterion
from linkparity.metrics.frame import cell_frame
from linkparity.metrics.measures import MEASURES
from linkparity.metrics.results import (
    INTERVALS,
    Measured,
    by_measure,
    cell_scores,
    few_nodes,
)
from linkparity.metrics.scored_pairs import ScoredPairs

if TYPE_CHECKING:
    from linkparity.graph import Split


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
        import pandas as pd

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
) -> Scores:
    """Score ``model`` on the held-out pairs of ``split``.

    Args:
        model: Has ``predict_logits(pairs)`` or ``predict_proba(pairs)``, which take a ``(P, 2)``
            array of nodes; may have ``embedding_``, which ``rb`` needs.
        split: ``dp`` and ``kl`` use ``split.test.weight``, the other measures are unweighted.
        confidence: Confidence level of the intervals; None leaves them out.
        view: Which cells ``dp``, ``eo`` and ``rdp`` compare: ``subgroup``, ``mixed``, ``group``.
        seed: Random seed of the intervals and of ``rb``.
        intervals: ``nodes`` allows for pairs that share nodes, ``pairs`` treats them as
            independent, which is too narrow.

    ``kl`` is measured for ``model.criterion`` where that is one of linkparity's, else for ``dp``.
    """
    graph, test = split.train, split.test
    logits, prob = _predict(model, test.index.numpy())
    criterion = getattr(model, "criterion", None)
    ours = isinstance(criterion, Criterion) or (
        isinstance(criterion, str) and criterion in CRITERIA
    )
    return score_pairs(
        logits,
        prob=prob,
        groups=graph.group[test.index],
        labels=test.label,
        weight=test.weight,
        group_names=graph.group_names,
        embedding=getattr(model, "embedding_", None),
        node_group=graph.group,
        criterion=criterion if ours else "dp",
        view=view,
        confidence=confidence,
        seed=seed,
        nodes=test.index,
        intervals=intervals,
    )


def _predict(model: Any, pairs: Any) -> tuple[Any, Any]:
    """Logits or probabilities of ``pairs``, None for the other."""
    if hasattr(model, "predict_logits"):
        return model.predict_logits(pairs), None
    if hasattr(model, "predict_proba"):
        return None, model.predict_proba(pairs)
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
) -> Scores:
    """Score the predictions of any model: ``logits (P,)`` or ``prob (P,)``, and ``groups (P, 2)``.

    Args:
        logits: ``(P,)``, unless ``prob`` is given.
        groups: ``(P, 2)`` or ``(P,)`` integers, −1 for none.
        labels: ``(P,)`` 0 or 1; without them ``auc``, ``ap`` and ``eo`` are ``nan``.
        weight: ``(P,)`` at least 0, for ``dp`` and ``kl``, where a pair of weight 0 does not count.
        prob: ``(P,)`` in [0, 1], in place of ``logits``.
        group_names: Names of the groups 0, 1, 2 …
        embedding: ``(num_nodes, dim)`` for ``rb``.
        node_group: ``(num_nodes,)`` for ``rb``.
        baseline: ``(P,)`` 0 or 1, baseline decisions for ``kl`` of ``churn``.
        criterion: The criterion of ``kl``; the cells of a ``Custom`` are those of these pairs.
        view: ``subgroup``, ``mixed`` or ``group``.
        confidence: Confidence level of the intervals; None leaves them out.
        seed: Random seed of the intervals and of ``rb``.
        nodes: ``(P, 2)`` ids of the two nodes of each pair, for intervals that allow for pairs that
            share nodes; in a bipartite graph, no id may occur on both sides. Without them, pairs
            are treated as independent.
        intervals: ``nodes``, or ``pairs`` to treat pairs as independent although nodes are given.

    >>> score_pairs(prob=[0.0, 0.9, 0.5], groups=[[0, 0], [1, 0], [2, 1]], confidence=None).dp
    0.9
    """
    INTERVALS[intervals]  # an unknown name is refused before any work
    scored = ScoredPairs.of(
        logits, groups, labels, weight, prob=prob, names=group_names, embedding=embedding,
        node_group=node_group, baseline=baseline, criterion=criterion, view=view,
        confidence=confidence, seed=seed, nodes=nodes if intervals == "nodes" else None,
    )  # fmt: skip
    found = {name: measure.function(scored) for name, measure in MEASURES.items()}
    notes = [f"{name}: {e.note}." for name, e in found.items() if e.note] + few_nodes(found)
    if confidence is not None:
        notes.insert(0, INTERVALS["pairs" if scored.nodes is None else "nodes"])
    return Scores(
        **by_measure(found),
        pairs=len(scored.prob),
        links=None if scored.label is None else int(scored.label.sum()),
        cells=cell_scores(scored.means, scored.label is not None, found),
        notes=tuple(notes),
        view=view,
        confidence=confidence,
        criterion=getattr(criterion, "name", str(criterion)),
        scored=scored,
    )
