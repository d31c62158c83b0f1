"""How AUCs differ between two scores of the same pairs, and how well the change is known."""

from collections.abc import Sequence
from typing import Any

import ibis
import numpy as np

from linkparity.metrics.intervals.covariance import CellCovariance, Spread
from linkparity.tables.measures.node_sums import NumberedRows, number_nodes
from linkparity.tables.measures.rank_spreads import (
    SUM_BYTES,
    Classes,
    PlacementPass,
    blocks,
    pass_once,
)
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
    areas = [[np.full(len(each.count), np.nan) for each in problems] for _ in numbered]
    found: dict[tuple[int, int], CellCovariance] = {}
    for block, part in blocks(problems, 2 * SUM_BYTES * (nodes + dyads)):
        ways = zip((now, was), numbered, strict=True)
        done = [pass_once(scores, each, list(block.values()), part) for scores, each in ways]
        for (i, each), *ranks in zip(block.items(), *done, strict=True):
            for way, one in zip(areas, ranks, strict=True):
                way[i][each.wanted] = one.areas[each.wanted]
            for c in each.chosen:
                if (i, c) not in found:
                    found[i, c] = _paired_covariance(each, c, ranks, by_node)
                for place, add in enumerate((found[i, c].add_nodes, found[i, c].add_dyads)):
                    sums = [one.parts[place].sums(c) for one in ranks]
                    add(*(np.hstack(each) for each in zip(*sums, strict=True)))
    spreads = [
        [_three(found[i, c].result()) for c in each.chosen] for i, each in enumerate(problems)
    ]
    return list(zip(*areas, spreads, strict=True))


def _paired_covariance(
    classes: Classes, c: int, ranks: Sequence[PlacementPass], by_node: bool
) -> CellCovariance:
    """Of the placements of class c and of the rest, now and before."""
    total = np.array([classes.count[c], classes.count.sum() - classes.count[c]])
    mean = np.repeat([one.areas[c] for one in ranks], 2)
    return CellCovariance(mean, np.tile(total, 2), by_node)


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
