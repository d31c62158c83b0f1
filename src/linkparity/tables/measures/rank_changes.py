"""How AUCs differ between two scores of the same pairs, and how well the change is known."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkparity.metrics.intervals.covariance import Spread
from linkparity.tables.measures.numbered_rows import NumberedRows, number_dyads
from linkparity.tables.measures.rank_spreads import Classes, placement_covariances
from linkparity.tables.measures.table_sums import RowScores


def rank_changes(
    now: RowScores, was: RowScores, rows: Any, problems: Sequence[Classes], by_node: bool = True
) -> list[tuple[np.ndarray, np.ndarray, tuple[Spread, Spread, Spread]]]:
    """AUCs ``(C,)`` of two scores of the same pairs, and three spreads of the classes wanted.

    Those are of the AUCs now, of the AUCs before, and of the changes.

    Args:
        now: the scores.
        was: other scores of the same rows.
        rows: Ibis table ``a, b, code, score, score0`` of both.
        problems: classes that are compared with the rest.
        by_node: whether pairs that share a node covary.
    """
    both, nodes, dyads = number_dyads(now, rows)
    numbered = [
        NumberedRows(both.select("code", "first", "second", "dyad", score=both[name]).select(
            "score", "code", "first", "second", "dyad"), nodes, dyads)
        for name in ("score", "score0")
    ]  # fmt: skip
    found = placement_covariances(list(zip((now, was), numbered, strict=True)), problems, by_node)
    return [(*areas, _three(covariance.result())) for areas, covariance in found]


def _three(spread: Spread) -> tuple[Spread, Spread, Spread]:
    """Of an AUC now, before, and of the change, from those of the four mean placements."""
    signs = ([1, 1, 0, 0], [0, 0, 1, 1], [1, 1, -1, -1])
    now, was, change = (spread.of_sum(np.array(sign)) for sign in signs)
    return now, was, change
