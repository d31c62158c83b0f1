"""The input of every measure: pairs with the scores of one model, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkparity.criteria.group_pairs import number_group_pairs, occurring_pairs
from linkparity.metrics.cell_means import (
    CellMeans,
    ViewCells,
    cell_means,
    check_min_pairs,
    view_cells,
)
from linkparity.metrics.cell_sums import CellSums
from linkparity.metrics.checks import (
    check_scores,
    float_array,
    group_array,
    label_array,
    node_array,
    numbered_names,
    weight_array,
)
from linkparity.metrics.intervals.clusters import PairClusters
from linkparity.support.arrays import check_unique, integers
from linkparity.support.errors import InputError

CALLER = "score_pairs"
#: With fewer groups than this, group pairs without a pair are listed too.
MAX_LISTED = 40


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Pairs with the scores of one model, checked once; make it with :meth:`of`.

    Attributes:
        logits: ``(P,)`` float64; ±inf where a probability is exactly 1 or 0.
        prob: ``(P,)`` float64.
        rank: ``(P,)`` the scores as received, for measures of their order.
        groups: ``(P, 2)`` or ``(P,)`` int64, −1 for none.
        label: ``(P,)`` 0.0 or 1.0, or None.
        weight: ``(P,)`` float64.
        names: Names of the groups.
        embedding: ``(num_nodes, dim)``, or None.
        node_group: ``(num_nodes,)`` int64, −1 for none, or None.
        baseline: ``(P,)`` 0.0 or 1.0, the decisions that ``churn`` is measured against, or None.
        criterion: The criterion ``kl`` is measured for.
        view: Which cells ``dp``, ``eo`` and ``rdp`` compare.
        confidence: Confidence level of the intervals; None for no intervals.
        seed: Random seed of the intervals and of ``rb``.
        nodes: ``(P, 2)`` ids of the two nodes of each pair, or None.
        min_pairs: Pairs that a cell must have to count in ``dp``, links in ``eo``.
    """

    logits: np.ndarray
    prob: np.ndarray
    rank: np.ndarray
    groups: np.ndarray
    label: np.ndarray | None
    weight: np.ndarray
    names: tuple[str, ...] = ()
    embedding: np.ndarray | None = None
    node_group: np.ndarray | None = None
    baseline: np.ndarray | None = None
    criterion: object = "dp"
    view: str = "subgroup"
    confidence: float | None = 0.95
    seed: int = 0
    nodes: np.ndarray | None = None
    min_pairs: int = 0

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
        """Check what is given, either ``logits`` or ``prob``, and keep it as float64 arrays."""
        x, h, rank = check_scores(CALLER, logits, prob)
        check_unique(names, "group_names", CALLER)
        groups, names = numbered_names(groups, names, CALLER)
        group = group_array(CALLER, groups, len(x))
        if confidence is not None and not 0 < confidence < 1:
            raise InputError(
                f"must be between 0 and 1, both excluded, got {confidence:g}",
                "use 0.95, or None for no intervals", argument="confidence", caller=CALLER,
            )  # fmt: skip
        view_cells(np.empty((0, 2), dtype=np.int64), view)
        points, side = _embedding(embedding, node_group)
        return cls(
            x, h, rank, group,
            label_array(CALLER, labels, len(x)), weight_array(CALLER, weight, len(x)),
            names, points, side, label_array(CALLER, baseline, len(x), "baseline"),
            criterion, view, confidence, seed, node_array(CALLER, nodes, len(x)),
            check_min_pairs(min_pairs, CALLER),
        )  # fmt: skip

    @cached_property
    def _coded(self) -> tuple[np.ndarray, np.ndarray]:
        if int(self.groups.max(initial=-1)) >= MAX_LISTED:
            return occurring_pairs(self.groups)
        cells = number_group_pairs(self.groups)
        return cells.key, cells.code.numpy()

    @property
    def key(self) -> np.ndarray:
        """``(G, 2)`` the group pairs, or ``(G, 1)`` groups; only those that occur if many could."""
        return self._coded[0]

    @property
    def code(self) -> np.ndarray:
        """``(P,)`` the number of each pair's group pair in :attr:`key`, −1 for none."""
        return self._coded[1]

    @cached_property
    def cells(self) -> ViewCells:
        """The cells of the view, over the numbers in :attr:`code`."""
        return view_cells(self.key, self.view, self.names)

    @cached_property
    def in_cells(self) -> np.ndarray:
        """Row numbers of the pairs that belong to some cell of the view."""
        counts = np.append(self.cells.member.sum(axis=1) > 0, False)
        return np.flatnonzero(counts[self.code])

    @cached_property
    def clusters(self) -> PairClusters | None:
        """Which pairs share a node; None where nodes are unknown."""
        return None if self.nodes is None else PairClusters.of(self.nodes)

    @cached_property
    def means(self) -> CellMeans:
        """Mean predictions per cell of the view."""
        sums = CellSums().update(self.prob, self.groups, self.label, self.weight)
        return cell_means(self.key, sums.table(self.key), self.view, self.names)


def _embedding(
    embedding: object, node_group: object
) -> tuple[np.ndarray | None, np.ndarray | None]:
    points = None if embedding is None else float_array(embedding)
    side, _ = numbered_names(node_group, (), CALLER)
    group = None if node_group is None else integers(side, "node_group", CALLER).numpy()
    if points is None or group is None:
        return points, group
    if points.ndim != 2 or len(points) != len(group):
        raise InputError(
            f"must have the shape ({len(group)}, dim), got {points.shape}",
            "give one row per node of {node_group=}", argument="embedding", caller=CALLER,
        )  # fmt: skip
    return points, group
