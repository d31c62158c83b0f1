"""Checks of the rows of a table of scores, batch by batch, wherever the rows are."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkparity.reading.columns import Columns, ReadOptions
from linkparity.reading.groups import NO_GROUP

#: What may be wrong with a row, in the order in which it is reported.
OK, NO_SOURCE, NO_TARGET, NO_SCORE, BAD_SCORE, BAD_LABEL, BAD_WEIGHT, LOOP = range(8)
#: Bits of ``flags``: an id is absent, a number is null, both ends are one id.
BITS = {"source": 1, "target": 2, "score": 4, "weight": 8, "loop": 16}
#: Labels in a code: 0, 1, and none; another value is wrong.
LABELS, NO_LABEL, WRONG_LABEL = 3, 2, 3
#: Finite numbers.
LARGEST = 1.7e308


class IssueCounts:
    """What is wrong with rows: how many of each kind, and the first.

    Attributes:
        count: ``(8, 2)`` rows by issue, and by whether a group is unknown.
        first: ``(8, 2)`` the lowest number of such a row.
    """

    def __init__(self) -> None:
        self.count = np.zeros((LOOP + 1, 2), dtype=np.int64)
        self.first = np.full((LOOP + 1, 2), np.iinfo(np.int64).max)

    def add(self, row: np.ndarray, kind: np.ndarray) -> None:
        """Add rows, with their :attr:`Checked.kind`."""
        self.add_counts(kind, np.ones(len(kind), dtype=np.int64), row)

    def add_counts(self, kind: np.ndarray, count: np.ndarray, first: np.ndarray) -> None:
        """Add numbers of rows, with the first row of each."""
        np.add.at(self.count.reshape(-1), kind, count)
        np.minimum.at(self.first.reshape(-1), kind, first)


@dataclass(frozen=True, eq=False)
class Checked:
    """Checked rows, ``(n,)`` each.

    Attributes:
        kind: twice the first issue of a row, plus 1 if a group is unknown and may not be; 0 for
            a row that counts.
        code: groups of both ends and the label in one number.
        first: group of the source, −1 for none.
        second: group of the target.
    """

    kind: np.ndarray
    code: np.ndarray
    first: np.ndarray
    second: np.ndarray

    @property
    def used(self) -> np.ndarray:
        """Which rows count."""
        return np.asarray(self.kind == OK)


@dataclass(frozen=True, eq=False)
class RowChecks:
    """Checks rows and numbers their groups.

    Attributes:
        columns: which column holds what.
        options: what happens to untidy rows.
        groups: number of groups with a name.
        one_sided: whether only sources have groups.
        node_group: group of each node; None where rows have the groups.
    """

    columns: Columns
    options: ReadOptions
    groups: int
    one_sided: bool
    node_group: np.ndarray | None

    @property
    def grid(self) -> int:
        """Number of values of a group in a code: every group, none, and unknown."""
        return self.groups + 2

    @property
    def ungrouped(self) -> int:
        """Group of a node without one: its own, or none."""
        return self.groups if self.options.untidy.unknown == "group" else NO_GROUP

    def check(self, batch: dict[str, Any]) -> Checked:
        """Check rows with numbers of nodes ``a, b``, or groups ``ga, gb``, and score and flags."""
        first, second = self._groups(batch)
        lost = first < 0
        if not self.one_sided:
            lost = lost | (second < 0)
        keep = self.options.untidy.unknown == "keep"
        low, high = first, second
        if not (self.options.directed or self.one_sided):
            low, high = np.minimum(first, second), np.maximum(first, second)
        if keep and not self.one_sided:
            low, high = np.where(lost, NO_GROUP, low), np.where(lost, NO_GROUP, high)
        code = ((low + 1) * self.grid + high + 1) * LABELS
        if "label" in batch:
            code = code + np.minimum(batch["label"], NO_LABEL)
        ungrouped = np.zeros_like(lost) if keep else lost
        return Checked(2 * self._issues(batch) + ungrouped, code, first, second)

    def _groups(self, batch: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """``(n,)`` groups of both ends, −1 for none."""
        found, number = [], len(batch["flags"])
        for node, group in (("a", "ga"), ("b", "gb")):
            if self.node_group is None and group in batch:
                values = batch[group].astype(np.int64)
                found.append(np.where(values < 0, self.ungrouped, values))
            elif self.node_group is None or (self.one_sided and node == "b"):
                found.append(np.full(number, NO_GROUP))
            else:
                ends = batch[node]
                found.append(np.where(ends < 0, self.ungrouped, self.node_group[ends]))
        return found[0], found[1]

    def _issues(self, batch: dict[str, Any]) -> np.ndarray:
        """``(n,)`` the first thing that is wrong with each row."""
        flags = batch["flags"]
        issue = np.zeros(len(flags), dtype=np.int64)
        low, high = (-LARGEST, LARGEST) if self.columns.logits else (0.0, 1.0)
        wrong: list[tuple[int, np.ndarray]] = []
        if not self.options.bipartite:
            wrong.append((LOOP, flags & BITS["loop"] > 0))
        if "weight" in batch:
            weight = batch["weight"]
            wrong.append((BAD_WEIGHT, ~((weight >= 0) & (weight <= LARGEST))))
        if "label" in batch:
            allowed = NO_LABEL if self.options.unlabelled else NO_LABEL - 1
            wrong.append((BAD_LABEL, batch["label"] > allowed))
        if "score" in batch:
            score = batch["score"]
            wrong.append((BAD_SCORE, ~((score >= low) & (score <= high))))
        wrong += [
            (NO_SCORE, flags & BITS["score"] > 0),
            (NO_TARGET, flags & BITS["target"] > 0),
            (NO_SOURCE, flags & BITS["source"] > 0),
        ]
        for kind, rows in wrong:
            issue[rows] = kind
        return issue
