"""The input of every measure: scored pairs, how they are measured, and the sums over them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from linkparity.metrics.cell_means import (
    CellMeans,
    ViewCells,
    cell_means,
    check_min_pairs,
    view_cells,
)
from linkparity.metrics.checks import (
    check_scores,
    float_array,
    group_array,
    label_array,
    node_array,
    numbered_names,
    weight_array,
)
from linkparity.metrics.intervals.covariance import Spread
from linkparity.metrics.intervals.spreads import mean_spreads
from linkparity.pairs.arrays import array_pairs
from linkparity.pairs.nodes import CellSet
from linkparity.pairs.source import Chunk, PairSource
from linkparity.pairs.totals import Totals
from linkparity.support.arrays import check_unique, integers
from linkparity.support.errors import InputError

CALLER = "score_pairs"
#: What dp and eo count.
PAIRS, LINKS = "pairs", "links"

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Scored pairs and how they are measured.

    What costs a pass over the pairs is computed once, also for copies with another view.

    Attributes:
        source: the pairs.
        criterion: the criterion ``kl`` is measured for.
        view: which cells ``dp``, ``eo`` and ``rdp`` compare.
        confidence: confidence level of the intervals; None for no intervals.
        seed: random seed of the intervals and of ``rb``.
        min_pairs: pairs that a cell must have to count in ``dp``, links in ``eo``.
        by_node: whether intervals allow for pairs that share nodes, where nodes are known.
        views: the views that are measured; their sums are made together.
        embedding: ``(num_nodes, dim)``, or None.
        node_group: ``(num_nodes,)`` int64, −1 for none, or None.
        baseline: ``(P,)`` 0.0 or 1.0, the decisions that ``churn`` is measured against, or None.
        name: of the table, for messages.
        known: what passes have computed.
    """

    source: PairSource
    criterion: object = "dp"
    view: str = "subgroup"
    confidence: float | None = 0.95
    seed: int = 0
    min_pairs: int = 0
    by_node: bool = True
    views: tuple[str, ...] = ()
    embedding: np.ndarray | None = None
    node_group: np.ndarray | None = None
    baseline: np.ndarray | None = None
    name: str = ""
    known: dict[object, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        logits: object = None,
        groups: object = None,
        labels: object = None,
        weight: object = None,
        *,
        prob: object = None,
        names: Sequence[str] = (),
        embedding: object = None,
        node_group: object = None,
        baseline: object = None,
        criterion: object = "dp",
        view: str = "subgroup",
        confidence: float | None = 0.95,
        seed: int = 0,
        nodes: object = None,
        min_pairs: int = 0,
    ) -> "ScoredPairs":
        """Check arrays, with either ``logits`` or ``prob``, and keep them as float64."""
        score = check_scores(CALLER, logits, prob)
        check_unique(names, "group_names", CALLER)
        groups, names = numbered_names(groups, names, CALLER)
        source = array_pairs(
            score, group_array(CALLER, groups, len(score)), logits is not None,
            label_array(CALLER, labels, len(score)),
            None if weight is None else weight_array(CALLER, weight, len(score)),
            names, node_array(CALLER, nodes, len(score)),
        )  # fmt: skip
        return cls.checked(
            source, criterion=criterion, view=view, confidence=confidence, seed=seed,
            min_pairs=min_pairs, embedding=embedding, node_group=node_group, baseline=baseline,
        )  # fmt: skip

    @classmethod
    def checked(
        cls, source: PairSource, embedding: object, node_group: object, **options: Any
    ) -> "ScoredPairs":
        """Pairs with options that are checked first."""
        confidence, size = options["confidence"], source.size
        if confidence is not None and not 0 < confidence < 1:
            raise InputError(
                f"must be between 0 and 1, both excluded, got {confidence:g}",
                "use 0.95, or None for no intervals", argument="confidence", caller=CALLER,
            )  # fmt: skip
        view_cells(np.empty((0, 2), dtype=np.int64), options["view"])
        check_min_pairs(options["min_pairs"], CALLER)
        points, side = _embedding(embedding, node_group)
        baseline = label_array(CALLER, options.pop("baseline", None), size, "baseline")
        return cls(source, embedding=points, node_group=side, baseline=baseline, **options)

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """What ``compute`` returns, computed once for all copies."""
        if key not in self.known:
            self.known[key] = compute()
        found: T = self.known[key]
        return found

    def of_view(self, view: str) -> "ScoredPairs":
        """The same pairs in another view."""
        return self if view == self.view else replace(self, view=view)

    @property
    def totals(self) -> Totals:
        """Counts, means and the histogram of the logits, per kind of rows."""
        return self.once("totals", self._add_totals)

    def _add_totals(self) -> Totals:
        totals = Totals(self.source.kinds)
        self.source.run(totals)
        return totals

    @property
    def labelled(self) -> bool:
        """Whether there are labels."""
        return self.source.kinds.labelled

    @property
    def links(self) -> int | None:
        """Number of links; None without labels."""
        counts = self.totals.plain.count[self.source.kinds.label == 1]
        return int(counts.sum()) if self.labelled else None

    @property
    def shares_nodes(self) -> bool:
        """Whether intervals allow for pairs that share nodes."""
        return self.by_node and self.source.nodes is not None

    @property
    def cells(self) -> ViewCells:
        """The cells of the view, over the pairs of groups."""
        kinds = self.source.kinds
        return self.once(
            ("cells", self.view), lambda: view_cells(kinds.key, self.view, kinds.names)
        )

    @property
    def member(self) -> Any:
        """Sparse ``(K, M)``, how often a row of each kind counts in a cell of the view."""
        return self.once(("member", self.view), self._find_member)

    def _find_member(self) -> Any:
        return (self.source.kinds.of_pair @ self.cells.member).tocsr()

    @property
    def means(self) -> CellMeans:
        """Mean predictions per cell of the view."""
        return self.once(("means", self.view), self._cell_means)

    def _cell_means(self) -> CellMeans:
        kinds, totals = self.source.kinds, self.totals
        plain, weighted = totals.plain, totals.weighted
        links = plain.count * (kinds.label == 1)
        sums = [plain.count, links, weighted.count, weighted.count * weighted.mean]
        table = kinds.of_pair.T @ np.stack([*sums, links * plain.mean], axis=1)
        if not self.labelled:
            table[:, [1, 4]] = np.nan
        return cell_means(kinds.key, table, self.view, kinds.names)

    def cell_set(self, unit: str) -> CellSet:
        """The cells of the view over all pairs, by weight, or over links."""
        means = self.means
        if unit == PAIRS:
            return CellSet(self.member, means.mean, means.weight / self.totals.mean_weight)
        linked = (self.source.kinds.label == 1).astype(np.int64)
        return CellSet((self.member * linked[:, None]).tocsr(), means.link_mean, means.links)

    def spread(self, unit: str) -> Spread:
        """How well the means of the cells of the view are known, over pairs or over links."""
        return self.once("spreads", self._spreads)[self.view, unit]

    def _spreads(self) -> dict[tuple[str, str], Spread]:
        """Of all views and units, from the same passes."""
        units = (PAIRS, LINKS) if self.labelled else (PAIRS,)
        asked = [(view, unit) for view in self.views or (self.view,) for unit in units]
        found: dict[tuple[str, str], Spread] = {}
        for by_weight in (False, True):
            mine = [
                (view, unit) for view, unit in asked
                if (unit == PAIRS and self.source.weighted) == by_weight
            ]  # fmt: skip
            if mine:
                sets = [self.of_view(view).cell_set(unit) for view, unit in mine]
                spreads = mean_spreads(
                    self.source, [self.totals], sets, by_weight, self.shares_nodes
                )
                found |= dict(zip(mine, spreads, strict=True))
        return found

    @property
    def rows(self) -> Chunk:
        """All rows in memory."""
        return self.once("rows", self.source.gather)


def _embedding(
    embedding: object, node_group: object
) -> tuple[np.ndarray | None, np.ndarray | None]:
    points = None if embedding is None else float_array(embedding)
    side, _ = numbered_names(node_group, (), CALLER)
    group = None if node_group is None else integers(side, "node_group", CALLER)
    if points is None or group is None:
        return points, group
    if points.ndim != 2 or len(points) != len(group):
        raise InputError(
            f"must have the shape ({len(group)}, dim), got {points.shape}",
            "give one row per node of {node_group=}", argument="embedding", caller=CALLER,
        )  # fmt: skip
    return points, group
