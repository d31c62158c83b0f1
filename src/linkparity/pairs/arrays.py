"""Scored pairs in arrays, in memory or mapped from files."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from linkparity.criteria.group_pairs import number_group_pairs, occurring_pairs
from linkparity.pairs.source import CHUNK, Chunk, Kinds, Nodes, PairSource
from linkparity.support.arrays import expit

#: Weights whose largest is below this, or above its inverse, are divided by a power of 2.
LEAST = 1e-30
#: With fewer groups than this, pairs of groups without a row are listed too.
MAX_LISTED = 40


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of P rows, ``(P,)`` each.

    Attributes:
        kind: number of the kind.
        score: logits or probabilities, as given.
        logits: whether the scores are logits.
        logit: logits of scores that are probabilities; None to compute them in each pass.
        weight: None where every row weighs 1.
        first: number of the first node; None where nodes are unknown.
        second: number of the second node.
        before: scores that these are compared with, if there are any.
        before_logits: whether those are logits.
        used: which rows count; None for all.
        recode: ``(R,)`` the kind of each number in ``kind``; None where they are the same.
    """

    kind: np.ndarray
    score: np.ndarray
    logits: bool
    logit: np.ndarray | None = None
    weight: np.ndarray | None = None
    first: np.ndarray | None = None
    second: np.ndarray | None = None
    before: np.ndarray | None = None
    before_logits: bool = False
    used: np.ndarray | None = None
    recode: np.ndarray | None = None


class ArrayPairs(PairSource):
    """Rows in arrays.

    Args:
        columns: the arrays.
        kinds: the kinds of rows.
        nodes: the nodes; None where they are unknown.
        scratch: directory for temporary files.
    """

    def __init__(
        self,
        columns: Columns,
        kinds: Kinds,
        nodes: Nodes | None = None,
        scratch: Path | None = None,
    ) -> None:
        used = columns.used
        size = len(columns.score) if used is None else int(np.count_nonzero(used[:]))
        super().__init__(kinds, size, nodes, columns.weight is not None, scratch)
        self.columns = columns
        self.unit = 1.0 if columns.weight is None else weight_unit(_largest(columns.weight))

    def chunks(self) -> Iterator[Chunk]:
        """All rows, some at a time."""
        c = self.columns
        for low in range(0, len(c.score), CHUNK):
            piece = slice(low, low + CHUNK)
            used = None if c.used is None else np.flatnonzero(c.used[piece])

            def rows(
                column: Any, piece: slice = piece, used: np.ndarray | None = used
            ) -> "np.ndarray[Any, Any]":
                values = np.asarray(column[piece])
                return values if used is None else values[used]

            kind, score = rows(c.kind), rows(c.score)
            logit, weight, first, second, before = (
                None if column is None else rows(column)
                for column in (c.logit, c.weight, c.first, c.second, c.before)
            )
            if weight is not None and self.unit != 1:
                weight = weight / self.unit
            if before is not None and c.before_logits:
                before = expit(before)
            yield Chunk(
                kind if c.recode is None else c.recode[kind],
                score.astype(np.float64, copy=False), c.logits, logit, weight, first, second,
                before,
            )  # fmt: skip

    def gather(self) -> Chunk:
        """All rows at once, without a copy where that is possible."""
        c = self.columns
        if c.used is not None or c.recode is not None:
            return super().gather()
        columns = (c.logit, c.weight, c.first, c.second)
        rest = (None if each is None else each[:] for each in columns)
        return Chunk(c.kind[:], c.score[:], c.logits, *rest)

    def recoded(self, kind: np.ndarray, kinds: Kinds) -> "ArrayPairs":
        """The same rows in other kinds."""
        columns = replace(self.columns, kind=kind, recode=None)
        return ArrayPairs(columns, kinds, self.nodes, self.scratch)

    def before(self) -> "ArrayPairs":
        """The same rows with the scores that these are compared with."""
        c = self.columns
        assert c.before is not None
        other = replace(c, score=c.before, logits=c.before_logits, logit=None, before=None)
        found = ArrayPairs(other, self.kinds, self.nodes, self.scratch)
        found._passes = self._passes
        return found


def _largest(weight: np.ndarray) -> float:
    parts = (float(weight[low : low + CHUNK].max()) for low in range(0, len(weight), CHUNK))
    return max(parts, default=0.0)


def weight_unit(most: float) -> float:
    """A power of 2 in which weights up to ``most`` have finite powers; 1 for usual ones."""
    usual = most == 0 or LEAST < most < 1 / LEAST
    return 1.0 if usual else 2.0 ** math.floor(math.log2(most))


def array_pairs(
    score: np.ndarray,
    groups: np.ndarray,
    logits: bool,
    label: np.ndarray | None = None,
    weight: np.ndarray | None = None,
    names: tuple[str, ...] = (),
    ids: np.ndarray | None = None,
    nodes: Nodes | None = None,
) -> ArrayPairs:
    """Rows from checked arrays.

    Args:
        score: ``(P,)`` float64.
        groups: ``(P, 2)`` or ``(P,)``, −1 for none.
        logits: whether the scores are logits.
        label: ``(P,)`` 0.0 or 1.0.
        weight: ``(P,)``.
        names: of the groups.
        ids: ``(P, 2)`` ids of the nodes, of any kind that can be sorted.
        nodes: what is known of the nodes, where the ids are their numbers.
    """
    key, pair = listed_pairs(groups)
    kinds = Kinds.all(key, 1 if label is None else 2, names)
    kind = pair + 1 if label is None else 2 * (pair + 1) + label.astype(np.int64)
    first = second = None
    if ids is not None:
        count, number = _numbered(ids) if nodes is None else (nodes.count, ids)
        first, second = number.T
        nodes = nodes or nodes_of(count, first, second, groups)
    kind = kind.astype(np.min_scalar_type(len(kinds)))
    return ArrayPairs(Columns(kind, score, logits, None, weight, first, second), kinds, nodes)


def listed_pairs(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keys ``(G, 2)`` or ``(G, 1)`` of pairs of groups, and ``(P,)`` the number of each row's.

    Of few groups, every pair has a key; of many, those that occur in ``groups``.
    """
    if int(groups.max(initial=-1)) >= MAX_LISTED:
        return occurring_pairs(groups)
    numbered = number_group_pairs(groups)
    return numbered.key, numbered.code


def _numbered(ids: np.ndarray) -> tuple[int, np.ndarray]:
    """How many numbers there are, and ``ids (P, 2)`` as numbers from 0."""
    whole = np.issubdtype(ids.dtype, np.integer)
    if whole and ids.size and ids.min() >= 0 and ids.max() < ids.size:
        return int(ids.max()) + 1, ids.astype(np.int64)
    distinct, number = np.unique(ids, return_inverse=True)
    return len(distinct), number.reshape(-1, 2)


def nodes_of(count: int, first: np.ndarray, second: np.ndarray, groups: np.ndarray) -> Nodes:
    """What is known of the nodes of some rows."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    loops = low == high
    key = np.sort((low * count + high)[~loops])
    group = None
    if groups.ndim == 2:
        group = np.full(count, -1)
        group[first], group[second] = groups.T
        if (group[first] != groups[:, 0]).any() or (group[second] != groups[:, 1]).any():
            group = None
    return Nodes(count, group, bool((key[1:] == key[:-1]).any()), bool(loops.any()))
