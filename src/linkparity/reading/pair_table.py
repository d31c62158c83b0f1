"""Pairs of nodes from a table, checked and numbered, wherever their rows are."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkparity.reading.columns import Columns, ReadOptions
from linkparity.reading.duckdb import Duck, Input
from linkparity.reading.nodes import Ends, NodeTable, locate
from linkparity.reading.row_checks import LABELS, NO_LABEL
from linkparity.support.display import place


class RowLookup:
    """Finds single rows of a table in DuckDB, for messages."""

    def __init__(self, duck: Duck, given: Input) -> None:
        self.duck, self.given = duck, given

    def position(self, row: int) -> int:
        """The place of a row in the table, from 1."""
        return row + 1

    def value(self, row: int, column: str) -> Any:
        """What a column holds there: a number or text."""
        return locate(self.duck, self.given, row, column)[1]

    def locate(self, row: int, column: str) -> tuple[str, Any]:
        """``scores.csv: row 3, column 'score'``, and the value there."""
        return place(self.given.name, self.position(row), column), self.value(row, column)


@dataclass(eq=False, kw_only=True)
class PairTable:
    """A checked table of scored pairs.

    Attributes:
        duck: where nodes and groups are numbered.
        given: the table as given.
        lookup: finds single rows.
        columns: which column holds what.
        options: how it was read.
        names: names of the groups.
        one_sided: whether only sources have groups.
        ends: numbers of the ids, and groups of the nodes.
        total: rows of the input.
        grid: number of values of a group in a code: every group, none, and unknown.
        counts: number of rows that count, by code.
        dropped: number of rows that are left out, by reason.
        sizes: nodes of each group that occur.
        nodes: the table of nodes, if there is one.
        other: another table of the same pairs, if there is one.
    """

    duck: Duck
    given: Input
    lookup: RowLookup
    columns: Columns
    options: ReadOptions
    names: tuple[str, ...]
    one_sided: bool
    ends: Ends
    total: int
    grid: int
    counts: np.ndarray
    dropped: dict[str, int] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    nodes: NodeTable | None = None
    other: "PairTable | None" = None

    def with_scores_of(self, other: "PairTable") -> "PairTable":
        """The table with the scores of another one beside its own; every pair must be in both."""
        raise NotImplementedError

    @property
    def labelled(self) -> bool:
        """Whether there are labels."""
        return self.columns.label is not None

    def groups(self, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``(K, 2)`` groups and ``(K,)`` labels of codes, −1 for none."""
        pair, label = np.divmod(code, LABELS)
        first, second = np.divmod(pair, self.grid)
        return np.stack([first - 1, second - 1], axis=1), np.where(label == NO_LABEL, -1, label)
