"""How AUCs differ between two scores of the same pairs, and how well the change is known."""

from collections.abc import Sequence
from typing import Any

import ibis
import numpy as np

from linkparity.metrics.intervals.covariance import CellCovariance, Spread
from linkparity.tables.measures.node_sums import NumberedRows, number_nodes
from linkparity.tables.measures.rank_spreads import MAX_BYTES, Classes, pass_once
from linkparity.tables.measures.table_sums import RowScores


def rank_changes(
    now: RowScores, was: RowScores, rows: Any, problems: Sequence[Classes], by_node: bool = True
) -> list[tuple[np.ndarray, np.ndarray, list[tuple[Spread, Spread, Spread]]]]:
    """AUCs ``(C,)`` of two scores of the same pairs, and for each class wanted three spreads.

    Those are of the AUC now, of the AUC before, and of the change.

    Args:
        now: the scores.
        was: other scores of the same rows.
        rows: Ibis table ``a, b, code, score, score0`` of both.
        problems: classes that are compared with the rest.
        by_node: whether pairs that share a node covary.
    """
    both, nodes, dyads = _number_dyads(now, rows)
    numbered = [
        NumberedRows(both.select("code", "first", "second", "dyad", score=both[name]).select(
            "score", "code", "first", "second", "dyad"), nodes, dyads)
        for name in ("score", "score0")
    ]  # fmt: skip
    width = 80 * sum(int(each.wanted.sum()) + 1 for each in problems)
    passes = -(-width * (nodes + dyads) // MAX_BYTES)
    found: list[list[CellCovariance]] = []
    areas: list[list[np.ndarray]] = []
    for number in range(passes):
        ways = zip((now, was), numbered, strict=True)
        done = [pass_once(scores, each, problems, number, passes) for scores, each in ways]
        if not number:
            areas = [[each.area / np.maximum(each.count, 1) for each in way] for way in done]
            found = [
                _paired_covariances(each, first, second, by_node)
                for each, first, second in zip(problems, *areas, strict=True)
            ]
        for each, first, second, covariances in zip(problems, *done, found, strict=True):
            wanted = np.flatnonzero(each.wanted).tolist()
            for c, covariance in zip(wanted, covariances, strict=True):
                for place, add in enumerate((covariance.add_nodes, covariance.add_dyads)):
                    mine, other = first.parts[place].sums(c), second.parts[place].sums(c)
                    add(*(np.hstack(part) for part in zip(mine, other, strict=True)))
    spreads = [[_three(covariance.result()) for covariance in each] for each in found]
    return list(zip(*areas, spreads, strict=True))


def _paired_covariances(
    classes: Classes, now: np.ndarray, was: np.ndarray, by_node: bool
) -> list[CellCovariance]:
    """For each class wanted, of its placements and those of the rest, now and before."""
    found = []
    for c in np.flatnonzero(classes.wanted):
        total = np.array([classes.count[c], classes.count.sum() - classes.count[c]])
        found.append(CellCovariance(np.repeat([now[c], was[c]], 2), np.tile(total, 2), by_node))
    return found


def _three(spread: Spread) -> tuple[Spread, Spread, Spread]:
    """Of an AUC now, before, and of the change, from those of the four mean placements."""
    now, was = spread.of(np.array([0, 1])), spread.of(np.array([2, 3]))
    return now.of_sum(), was.of_sum(), spread.of_sum(np.array([1, 1, -1, -1]))


def _number_dyads(scores: RowScores, rows: Any) -> tuple[Any, int, int]:
    """Rows with numbers of nodes and of dyads, and how many there are of either."""
    engine = scores.table.engine
    rows, nodes = number_nodes(scores, rows)
    low, high = ibis.least(rows.first, rows.second), ibis.greatest(rows.first, rows.second)
    dyad = ibis.dense_rank().over(order_by=[low, high])
    kept = engine.keep(rows.mutate(dyad=dyad), "numbered")
    count = int(engine.small(kept.aggregate(n=kept.dyad.max()))["n"][0]) + 1
    return kept, nodes, count
