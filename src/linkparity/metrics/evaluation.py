"""Score a model on held-out pairs: every measure, its interval, and what each rests on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from linkparity.criteria import CRITERIA, Criterion
from linkparity.metrics.frame import cell_frame
from linkparity.metrics.measures import METRICS
from linkparity.metrics.results import INDEPENDENCE, CellScore, Measured, about
from linkparity.metrics.scored_pairs import Estimate, ScoredPairs

if TYPE_CHECKING:
    from rich.console import Group

    from linkparity.graph import Split


@dataclass(frozen=True, repr=False, eq=False)
class Scores(Measured):
    """Every measure as a float attribute (``scores.dp``), with what it rests on.

    Attributes:
        view: Which cells ``dp``, ``eo`` and ``rdp`` compare.
        scored: The pairs that were measured.
    """

    view: str
    scored: ScoredPairs = field(repr=False)

    @property
    def frame(self) -> Any:
        """Cells as fairlearn's ``MetricFrame``, or a stand-in of the same shape without it."""
        return cell_frame(self.scored)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, ready for JSON; undefined values are None."""
        return super().to_dict() | {"view": self.view}

    def to_frame(self) -> Any:
        """A pandas frame with one row per measure: value, low, high, count, unit, reason.

        The sentences that belong beside the numbers stand in ``frame.attrs["notes"]``.
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

    def __rich__(self) -> "Group":
        from linkparity.metrics.printing import scores_table

        return scores_table(self)

    def __str__(self) -> str:
        from io import StringIO

        from rich.console import Console

        console = Console(file=StringIO(), width=100, color_system=None, legacy_windows=False)
        with console.capture() as text:
            console.print(self)
        return "\n".join(line.rstrip() for line in text.get().splitlines())

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.4g}" for name, value in self.values.items())
        return f"Scores({values}, pairs={self.pairs}, view={self.view!r})"


def evaluate(
    model: Any,
    split: "Split",
    confidence: float | None = 0.95,
    view: str = "subgroup",
    seed: int = 0,
) -> Scores:
    """Score ``model`` on the held-out pairs of ``split``.

    The model is asked for the logits of a ``(P, 2)`` array of nodes, ``predict_logits(pairs)``, or
    where it has no such method for their probabilities, ``predict_proba(pairs)``.

    Only ``dp`` and ``kl`` use ``split.test.weight``; ``kl`` is measured for ``model.criterion``
    where that is one of linkparity's, for ``dp`` otherwise; ``rb`` needs ``model.embedding_``.
    ``view`` says which cells ``dp``, ``eo`` and ``rdp`` compare: ``subgroup``, ``mixed`` or
    ``group``.
    """
    graph, test = split.train, split.test
    logits, prob = _ask(model, test.index.numpy())
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
    )


def _ask(model: Any, pairs: Any) -> tuple[Any, Any]:
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
) -> Scores:
    """Score anybody's predictions: ``logits (P,)`` or ``prob (P,)``, with ``groups (P, 2)``.

    Args:
        logits: ``(P,)``, unless ``prob`` is given.
        groups: ``(P, 2)`` or ``(P,)`` integers, −1 for none.
        labels: ``(P,)`` 0 or 1; without them ``auc``, ``ap`` and ``eo`` are ``nan``.
        weight: ``(P,)`` positive, for ``dp`` and ``kl`` alone.
        prob: ``(P,)`` in [0, 1], in place of ``logits``.
        group_names: Names of the groups 0, 1, 2 …
        embedding: ``(num_nodes, dim)`` for ``rb``.
        node_group: ``(num_nodes,)`` for ``rb``.
        baseline: ``(P,)`` 0 or 1, decisions that ``kl`` for ``churn`` is measured against.
        criterion: The one ``kl`` is measured for; a ``Custom`` must be about these very pairs.
        view: ``subgroup``, ``mixed`` or ``group``.
        confidence: Of the intervals; None leaves them out.
        seed: For the bootstrap and for ``rb``.

    >>> score_pairs(prob=[0.0, 0.9, 0.5], groups=[[0, 0], [1, 0], [2, 1]], confidence=None).dp
    0.9
    """
    scored = ScoredPairs.of(
        logits, groups, labels, weight, prob=prob, names=group_names, embedding=embedding,
        node_group=node_group, baseline=baseline, criterion=criterion, view=view,
        confidence=confidence, seed=seed,
    )  # fmt: skip
    return _collect(scored, {name: metric(scored) for name, metric in METRICS.items()})


def _collect(scored: ScoredPairs, found: dict[str, Estimate]) -> Scores:
    notes = [f"{name}: {e.note}." for name, e in found.items() if e.note]
    intervals = {name: e.interval for name, e in found.items() if e.interval is not None}
    return Scores(
        values={name: e.value for name, e in found.items()},
        intervals=intervals,
        counts={name: (e.count, e.unit) for name, e in found.items()},
        pairs=len(scored.prob),
        links=None if scored.label is None else int(scored.label.sum()),
        cells=_cells(scored),
        reasons={about(name, e): e.reason for name, e in found.items() if e.reason},
        notes=(*([INDEPENDENCE] if intervals else []), *notes),
        view=scored.view,
        confidence=scored.confidence,
        criterion=getattr(scored.criterion, "name", str(scored.criterion)),
        scored=scored,
    )


def _cells(scored: ScoredPairs) -> tuple[CellScore, ...]:
    means = scored.means
    columns = (means.pairs, means.links, means.mean, means.link_mean)
    rows = zip(means.groups, *(column.tolist() for column in columns), strict=True)
    return tuple(
        CellScore(groups, pairs, None if scored.label is None else int(links), mean, link_mean)
        for groups, pairs, links, mean, link_mean in rows
    )
