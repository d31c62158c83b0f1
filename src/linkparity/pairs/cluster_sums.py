"""Placements of sorted rows, summed over the rows of each node or dyad."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np

from linkparity.support.arrays import add_at, narrow

#: Blocks of rows have the length at which counts per block and class, and the pairs of rows within
#: blocks, take the same time: a pair costs so many times more than a count.
PAIR_COST = 5
#: Sums of blocks and classes that are kept at once.
MAX_SUMS = 12_000_000
#: Smaller halves of whole numbers are exact in single precision.
EXACT = 2**23


@dataclass(frozen=True, eq=False)
class SortedRows:
    """Rows in the order of their scores, all of those that have one of these scores.

    Attributes:
        member: ``(n,)`` class of each row.
        level: ``(n,)`` number of its score.
        start: ``(L,)`` first row of each score.
        inside: ``(n,)`` rows of its own class below it, ties counting half.
        beats: ``(n,)`` its placement among the rows outside its class.
    """

    member: np.ndarray
    level: np.ndarray
    start: np.ndarray
    inside: np.ndarray
    beats: np.ndarray

    @classmethod
    def of(
        cls, score: np.ndarray, member: np.ndarray, seen: np.ndarray, total: np.ndarray
    ) -> "SortedRows":
        """Sorted rows; of ``total (C,)`` rows of each class, ``seen (C,)`` are below them."""
        new = np.concatenate([[True], score[1:] != score[:-1]])
        start, level = np.flatnonzero(new), np.cumsum(new) - 1
        middle = seen.sum() + ((start + np.append(start[1:], len(score))) / 2)[level]
        order = np.argsort(narrow(member, len(total)), kind="stable")
        owner, height = member[order], level[order]
        first = np.concatenate([[True], (owner[1:] != owner[:-1]) | (height[1:] != height[:-1])])
        entry = np.flatnonzero(first)
        times = np.diff(entry, append=len(order))
        sizes = np.bincount(member, minlength=len(seen))
        below = entry - (np.cumsum(sizes) - sizes)[owner[entry]] + seen[owner[entry]] + times / 2
        inside = np.empty(len(score))
        inside[order] = np.repeat(below, times)
        with np.errstate(divide="ignore", invalid="ignore"):
            beats = (middle - inside) / (total.sum() - total[member])
        return cls(member, level, start, inside, beats)

    def blocks(self, length: int) -> tuple[np.ndarray, np.ndarray]:
        """``(n,)`` number of each row's block, and whether all of the block have one score.

        A block holds whole scores that begin within ``length`` rows, or one score of more rows.
        """
        if length == 1:
            return self.level, np.ones(len(self.level), dtype=bool)
        large = np.diff(self.start, append=len(self.level)) > length
        place = self.start // length
        new = np.append(False, (place[1:] != place[:-1]) | large[1:] | large[:-1])
        block = np.cumsum(new)
        return block[self.level], (np.bincount(block) == 1)[block][self.level]


class ClusterSums:
    r"""Placements summed over the rows of each cluster, a node or a dyad.

    With :math:`N_c(x)` the rows of class c below x, ties counting half, and :math:`n_c` all of
    them, a row outside c has the placement :math:`1 - N_c(x) / n_c`, and a row of class c has one
    among the rows outside c. The AUC of c is the mean of either. Sums of :math:`N_c` over the rows
    of a cluster are counts of pairs of rows, one of class c and one of the cluster. They are
    counted by blocks of rows: those in two blocks by a product of matrices, those in one block
    pair by pair.

    Args:
        wanted: ``(C,)`` which classes are summed.
        columns: which of the columns of clusters in :meth:`PlacementPass.add` it takes.
        low: the first cluster; those below it, and those from ``low + size`` on, are left out.
        size: number of clusters.
    """

    def __init__(self, wanted: np.ndarray, columns: tuple[int, ...], low: int, size: int) -> None:
        self.columns, self.low, self.size, self.wanted = columns, low, size, wanted
        self.place = np.where(wanted, np.cumsum(wanted) - 1, -1)
        shape = (size + 1, int(wanted.sum()))  # the last is for all that are left out
        self.rows, self.held_rows = np.zeros((2, size + 1))
        self.pairs, self.own, self.below, self.held = np.zeros((4, *shape))

    def add(self, rows: SortedRows, clusters: Sequence[np.ndarray], seen: np.ndarray) -> None:
        """Add rows; ``seen (C,)`` are the rows of each class below them."""
        ends, place = self._ends(clusters), self.place[rows.member]
        mine = np.flatnonzero(place >= 0)
        number = np.bincount(ends.reshape(-1), minlength=len(self.rows))
        self.rows += number
        for end in ends:
            key = end[mine] * self.pairs.shape[1] + place[mine]
            add_at(self.pairs, key, np.ones(len(key)))
            add_at(self.below, key, -rows.inside[mine])
            add_at(self.own, key, rows.beats[mine])
        if len(mine):
            self._add_every(rows, place, ends, seen[self.wanted])
        else:  # all rows of all classes are below or above
            self.below += np.multiply.outer(number, seen[self.wanted])

    def _ends(self, clusters: Sequence[np.ndarray]) -> np.ndarray:
        """``(E, n)`` clusters of every row, from 0."""
        ends = np.stack([clusters[column] for column in self.columns]) - self.low
        return np.where((ends >= 0) & (ends < self.size), ends, self.size)

    def _add_every(
        self, rows: SortedRows, place: np.ndarray, ends: np.ndarray, seen: np.ndarray
    ) -> None:
        """Add :math:`N_c` of every row, also of those of class c, to its clusters."""
        from scipy.sparse import csc_array

        classes, mine, number = len(seen), place >= 0, len(place)
        share = np.count_nonzero(mine) / number
        length = max(isqrt(int(classes / (PAIR_COST * share))), number * classes // MAX_SUMS, 1)
        block, tied = rows.blocks(length)
        shape = (int(block[-1]) + 1, classes)
        within = np.bincount(block[mine] * classes + place[mine], minlength=shape[0] * classes)
        most = (seen + np.bincount(place[mine], minlength=classes)).max()
        exact = most * np.bincount(ends.reshape(-1)).max() < EXACT
        kind = np.float32 if exact else np.float64
        below = within.reshape(shape).astype(kind)
        half = np.ones((len(below), 1), dtype=kind)
        half[block[tied]] = 0.5
        below = seen.astype(kind) + np.cumsum(below, axis=0) - half * below
        first = np.flatnonzero(np.append(True, block[1:] != block[:-1]))
        columns = (ends.T.reshape(-1), np.append(first, number) * len(ends))
        ones = np.ones(ends.size, dtype=kind)
        self.below += csc_array((ones, *columns), shape=(len(self.below), len(below))) @ below
        self._add_within(np.flatnonzero(mine & ~tied), place, ends, block, rows.level)

    def _add_within(
        self,
        row: np.ndarray,
        place: np.ndarray,
        ends: np.ndarray,
        block: np.ndarray,
        level: np.ndarray,
    ) -> None:
        """Add pairs of a row of a class and one in the same block that is not below it."""
        base = ends * self.below.shape[1]
        ties = level[-1] + 1 < len(level)
        for way, part in ((1, block), (-1, level))[: 1 + ties]:
            ends_at = np.searchsorted(part, part[row], "right" if way == 1 else "left")
            left = way * (ends_at - row) + (way == -1)
            order = np.argsort(-left, kind="stable")
            first, left = row[order], left[order]
            for distance in range(int(way == -1), int(left.max(initial=0))):
                near = first[: np.searchsorted(-left, -distance, "left")]
                other = near + way * distance
                value = np.where(level[near] == level[other], 0.5, 1.0)
                key = base[:, other] + place[near]
                add_at(self.below, key.reshape(-1), np.tile(value, len(ends)))

    def hold(self, member: np.ndarray, clusters: Sequence[np.ndarray]) -> None:
        """Add rows of one score, whose placements :meth:`release` has."""
        ends, place = self._ends(clusters), self.place[member]
        self.held_rows += np.bincount(ends.reshape(-1), minlength=len(self.rows))
        key = (ends * self.held.shape[1] + place)[:, place >= 0]
        add_at(self.held, key.reshape(-1), np.ones(key.size))

    def release(self, below: np.ndarray, beats: np.ndarray) -> None:
        """Give the rows held the :math:`N_c` and the placements ``(C,)`` of their score."""
        below, beats = below[self.wanted], beats[self.wanted]
        self.rows += self.held_rows
        self.pairs += self.held
        self.own += self.held * beats
        self.below += (self.held_rows[:, None] - self.held) * below
        self.held[:], self.held_rows[:] = 0.0, 0.0

    @property
    def state(self) -> np.ndarray:
        """``(size, 3 C + 1)`` all sums of each cluster, to be added to those of other rows."""
        parts = (self.rows[:, None], self.pairs, self.own, self.below)
        return np.concatenate([part[: self.size] for part in parts], axis=1)

    @classmethod
    def of_state(cls, wanted: np.ndarray, state: np.ndarray) -> "ClusterSums":
        """Sums that :attr:`state` gave."""
        found = cls(wanted, (), 0, len(state))
        number = int(wanted.sum())
        found.rows[:-1] = state[:, 0]
        for i, part in enumerate((found.pairs, found.own, found.below)):
            part[:-1] = state[:, 1 + i * number : 1 + (i + 1) * number]
        return found

    def residuals(
        self, part: slice, areas: np.ndarray, number: np.ndarray
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Of some clusters, ``(n, C)`` each: sums of placements in and outside every class.

        Each placement less the AUC of its class; then the numbers of rows.
        """
        pairs = self.pairs[part]
        rest = self.rows[part, None] - pairs
        outside = (1 - areas) * rest - self.below[part] / np.maximum(number, 1)
        return [self.own[part] - areas * pairs, outside], [pairs, rest]
