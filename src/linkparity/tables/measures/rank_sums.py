"""AUCs of classes of sorted rows against the rest, their variances, and sums per node."""

from collections.abc import Sequence

import numpy as np

#: Rows that are worked on at once.
CHUNK = 1 << 18


class RankSums:
    r"""For each of C classes, the AUC of one against the rest and its variance.

    .. math:: A_c = \frac{1}{m n} \sum_{i \in c} B_i, \qquad
              B_i = \#\{j \notin c : x_j < x_i\} + \tfrac12 \#\{j \notin c : x_j = x_i\}

    The variance needs :math:`\sum_{i \in c} B_i^2` and, over the others, the sum of
    :math:`(L_j + \tfrac12 E_j)^2` with L the members of c below j and E those tied with it. Both
    are sums over the members of c alone: a member with L members below adds
    :math:`(L + 1)^2 - L^2` for every other above. One pass over sorted scores computes them, with
    the memory of one batch. The result is that of :func:`delong`.

    Args:
        count: ``(C,)`` size of each class.

    >>> ranks = RankSums(np.array([2, 2]))
    >>> ranks.add(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 1, 0, 1]))
    >>> [part.tolist() for part in ranks.result()]
    [[0.25, 0.75], [0.125, 0.125]]
    """

    def __init__(self, count: np.ndarray) -> None:
        self.count = np.asarray(count, dtype=np.float64)
        self.total = self.count.sum()
        size = len(self.count)
        self.seen = np.zeros(size)
        self.first = np.zeros(size)
        self.second = np.zeros(size)
        self.others = np.zeros(size)
        self.value: float | None = None
        self.tied = np.zeros(size)

    def add(self, score: np.ndarray, member: np.ndarray) -> None:
        """Add scores in ascending order, not below earlier batches, with the class of each."""
        if not len(score):
            return
        size = len(self.count)
        head = int(np.searchsorted(score, self.value, "right")) if self.value is not None else 0
        self.tied += np.bincount(member[:head], minlength=size)
        if head == len(score):
            return
        self._flush()
        tail = int(np.searchsorted(score, score[-1], "left"))
        tail = max(tail, head)
        self._add_levels(score[head:tail], member[head:tail])
        self.value = float(score[-1])
        self.tied = np.bincount(member[tail:], minlength=size).astype(np.float64)

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """``(C,)`` AUC and ``(C,)`` variance; ``nan`` where they are undefined."""
        self._flush()
        m, n = self.count, self.total - self.count
        with np.errstate(divide="ignore", invalid="ignore"):
            area = np.where((m > 0) & (n > 0), self.first / (m * n), np.nan)
            own = np.maximum(self.second / n**2 - m * area**2, 0.0)
            rest = np.maximum(self.others / m**2 - n * (1 - area) ** 2, 0.0)
            variance = own / (m * (m - 1)) + rest / (n * (n - 1))
        return area, np.where((m > 1) & (n > 1), variance, np.nan)

    def _flush(self) -> None:
        """Count the scores that tied with the last value."""
        used = np.flatnonzero(self.tied)
        if len(used):
            here = float(self.tied.sum())
            self._add_entries(used, self.tied[used], np.full(len(used), self.seen.sum()), here)
        self.tied = np.zeros(len(self.count))

    def _add_levels(self, score: np.ndarray, member: np.ndarray) -> None:
        """Count all ties of these scores: entries of (class, level) with their multiplicity."""
        if not len(score):
            return
        level = np.concatenate([[0], np.cumsum(score[1:] != score[:-1])])
        sizes = np.bincount(level)
        below = self.seen.sum() + np.cumsum(sizes) - sizes
        narrow = member.astype(np.int16) if len(self.count) < 2**15 else member
        order = np.argsort(narrow, kind="stable")  # by radix, where narrow
        member, level = member[order], level[order]
        new = (member[1:] != member[:-1]) | (level[1:] != level[:-1])
        start = np.concatenate([[0], np.flatnonzero(new) + 1])
        times = np.diff(start, append=len(order)).astype(np.float64)
        at = level[start]
        self._add_entries(member[start], times, below[at], sizes[at])

    def _add_entries(
        self, member: np.ndarray, times: np.ndarray, below: np.ndarray, level: np.ndarray | float
    ) -> None:
        """Add entries sorted by class and level: multiplicity, pairs below, pairs at the level."""
        sizes = np.bincount(member)
        here = np.flatnonzero(sizes)
        start, length = (np.cumsum(sizes) - sizes)[here], sizes[here]
        running = np.cumsum(times) - times
        own = running + np.repeat(self.seen[here] - running[start], length)
        outside, tied = below - own, level - times
        beats = outside + tied / 2
        above = np.repeat((self.total - self.count)[here], length) - outside - tied
        squares = above * (2 * own + times) + tied * (own + times / 4)
        self.first[here] += np.add.reduceat(times * beats, start)
        self.second[here] += np.add.reduceat(times * beats**2, start)
        self.others[here] += np.add.reduceat(times * squares, start)
        self.seen[here] += np.add.reduceat(times, start)


class ClusterSums:
    r"""Placements summed over the rows of each cluster, a node or a dyad.

    With :math:`F_c(x)` the fraction of class c below x, ties counting half, a row of class c has
    the placement :math:`F_{\bar c}(x)` among the rows outside c, and a row outside c has
    :math:`1 - F_c(x)`. The AUC of c is the mean of either.

    Args:
        wanted: ``(C,)`` which classes are summed.
        columns: which of the columns of clusters in :meth:`PlacementPass.add` it takes.
        low: the first cluster; those below it, and those from ``low + size`` on, are left out.
        size: number of clusters.
    """

    def __init__(self, wanted: np.ndarray, columns: tuple[int, ...], low: int, size: int) -> None:
        self.columns, self.low, self.size = columns, low, size
        self.place = np.where(wanted, np.cumsum(wanted) - 1, -1)
        shape = (int(wanted.sum()), size)
        self.rows, self.held_rows = np.zeros((2, size))
        self.pairs, self.own, self.inside, self.every, self.held = np.zeros((5, *shape))

    def locate(
        self, member: np.ndarray, clusters: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Rows ``(n,)``, repeated by column: clusters from 0, which are here, place in sums.

        Which are here is None where all are.
        """
        at = np.concatenate([clusters[column] for column in self.columns]) - self.low
        here = None
        if len(at) and not 0 <= at.min() <= at.max() < self.size:
            here = (at >= 0) & (at < self.size)
            at = at[here]
        place = self.repeated(self.place[member], here)
        return at, here, np.where(place < 0, -1, place * self.size + at)

    def repeated(self, values: np.ndarray, here: np.ndarray | None) -> np.ndarray:
        """Values of rows ``(n,)`` as :meth:`locate` repeats rows."""
        every = np.tile(values, len(self.columns))
        return every if here is None else every[here]

    def add_own(
        self, key: np.ndarray, at: np.ndarray, inside: np.ndarray, beats: np.ndarray
    ) -> None:
        """Add :math:`F_c` of each row's own class, and its placement among the others."""
        self.rows += np.bincount(at, minlength=self.size)
        mine = key >= 0
        for name, values in (("pairs", None), ("inside", inside), ("own", beats)):
            total, weights = getattr(self, name), None if values is None else values[mine]
            total += np.bincount(key[mine], weights, total.size).reshape(total.shape)

    def hold(self, member: np.ndarray, clusters: Sequence[np.ndarray]) -> None:
        """Add rows of one score, whose placements :meth:`release` has."""
        at, _, key = self.locate(member, clusters)
        self.held_rows += np.bincount(at, minlength=self.size)
        counted = np.bincount(key[key >= 0], minlength=self.held.size)
        self.held += counted.reshape(self.held.shape)

    def release(self, below: np.ndarray, beats: np.ndarray) -> None:
        """Give the rows held the :math:`F_c` and the placements ``(C,)`` of their score."""
        below, beats = below[self.place >= 0, None], beats[self.place >= 0, None]
        self.rows += self.held_rows
        self.pairs += self.held
        self.inside += self.held * below
        self.own += self.held * beats
        self.every += below * self.held_rows
        self.held[:], self.held_rows[:] = 0.0, 0.0

    def sums(self, c: int) -> tuple[np.ndarray, np.ndarray]:
        """``(size, 2)`` sums of placements in and outside class c, and numbers of rows."""
        k = self.place[c]
        rest = self.rows - self.pairs[k]
        outside = rest - (self.every[k] - self.inside[k])
        return np.stack([self.own[k], outside], axis=1), np.stack([self.pairs[k], rest], axis=1)


class PlacementPass:
    """Placements of rows that pass by in the order of their scores, added to cluster sums.

    Args:
        count: ``(C,)`` rows of each class.
        parts: sums to add to.
        alone: the column of clusters that is −1 for a row that is a dyad of its own; None where
            all are.

    Attributes:
        area: ``(C,)`` sums of the placements of each class.
        single: ``(3, 2, C)`` number, sum and sum of squares of the placements of rows alone in
            their dyad, in and outside each class.
    """

    def __init__(
        self, count: np.ndarray, parts: Sequence[ClusterSums], alone: int | None = None
    ) -> None:
        self.count, self.parts, self.alone = np.asarray(count, dtype=np.float64), parts, alone
        size = len(self.count)
        self.area, self.seen, self.held = np.zeros((3, size))
        self.single = np.zeros((3, 2, size))
        self.held_alone = np.zeros(size)
        self.level: float | None = None
        self.waiting: list[tuple[np.ndarray, ...]] = []

    def add(self, score: np.ndarray, member: np.ndarray, *clusters: np.ndarray) -> None:
        """Add scores in ascending order, not below earlier ones, with class and clusters."""
        self.waiting.append((score, member, *clusters))
        if sum(len(batch[0]) for batch in self.waiting) >= CHUNK:
            self._flush()

    def finish(self) -> None:
        """Add the rows that wait for others of their score."""
        self._flush(last=True)
        self._release()

    def _flush(self, last: bool = False) -> None:
        if not self.waiting:
            return
        columns = [np.concatenate(column) for column in zip(*self.waiting, strict=True)]
        self.waiting = []
        if self.level is not None:
            head = int(np.searchsorted(columns[0], self.level, "right"))
            self._hold(*(column[:head] for column in columns))
            columns = [column[head:] for column in columns]
            if not len(columns[0]):
                return
            self._release()
        score = columns[0]
        tail = len(score) if last else int(np.searchsorted(score, score[-1], "left"))
        if tail:
            self._add_levels(*(column[:tail] for column in columns))
        rest = [column[tail:] for column in columns]
        if len(rest[0]) >= CHUNK // 2:
            self._hold(*rest)
        elif len(rest[0]):
            self.waiting = [tuple(rest)]

    def _hold(self, score: np.ndarray, member: np.ndarray, *clusters: np.ndarray) -> None:
        """Keep rows of one score, of which there are many, as counts."""
        if len(score):
            self.level = float(score[0])
        self.held += np.bincount(member, minlength=len(self.held))
        alone = member if self.alone is None else member[clusters[self.alone] < 0]
        self.held_alone += np.bincount(alone, minlength=len(self.held))
        for part in self.parts:
            part.hold(member, clusters)

    def _release(self) -> None:
        if self.level is None:
            return
        middle = self.seen + self.held / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            below = middle / self.count
            beats = (middle.sum() - middle) / (self.count.sum() - self.count)
        for part in self.parts:
            part.release(below, beats)
        self.area += self.held * beats
        values = np.stack([beats, 1 - below])
        times = np.stack([self.held_alone, self.held_alone.sum() - self.held_alone])
        self.single += times * np.stack([np.ones_like(values), values, values**2])
        self.seen += self.held
        self.held[:], self.held_alone[:], self.level = 0.0, 0.0, None

    def _add_levels(self, score: np.ndarray, member: np.ndarray, *clusters: np.ndarray) -> None:
        """Add rows of which all of a score are here."""
        new = np.concatenate([[True], score[1:] != score[:-1]])
        start, level = np.flatnonzero(new), np.cumsum(new) - 1
        stop = np.append(start[1:], len(score))
        middle = self.seen.sum() + ((start + stop) / 2)[level]
        alone = None if self.alone is None else clusters[self.alone] < 0
        located = [part.locate(member, clusters) for part in self.parts]
        inside = np.zeros(len(score))
        for c, count in enumerate(self.count):
            mine = member == c
            below = np.cumsum(mine).astype(np.float64)
            number = below[-1]
            if len(start) == len(score):
                below -= mine / 2
            else:
                ends = below[stop - 1]
                below = ((np.append(0, ends[:-1]) + ends) / 2)[level]
            below += self.seen[c]
            below /= max(count, 1.0)
            inside[mine] = below[mine]
            outside = 1 - (below[~mine] if alone is None else below[alone & ~mine])
            self.single[:, 1, c] += (len(outside), outside.sum(), outside @ outside)
            for part, (at, here, _) in zip(self.parts, located, strict=True):
                if (k := part.place[c]) >= 0:
                    part.every[k] += np.bincount(at, part.repeated(below, here), part.size)
            self.seen[c] += number
        own = self.count[member]
        with np.errstate(divide="ignore", invalid="ignore"):
            beats = (middle - own * inside) / (self.count.sum() - own)
        self.area += np.bincount(member, beats, len(self.count))
        for power in range(3):
            values = beats**power if alone is None else alone * beats**power
            self.single[power, 0] += np.bincount(member, values, len(self.count))
        for part, (at, here, key) in zip(self.parts, located, strict=True):
            part.add_own(key, at, part.repeated(inside, here), part.repeated(beats, here))
