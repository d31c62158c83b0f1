"""AUCs of classes of sorted rows against the rest, and their variances if pairs are independent."""

import numpy as np

from linkparity.support.arrays import narrow


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

    def start(self, seen: np.ndarray) -> None:
        """Go on with higher scores, of which ``seen (C,)`` members are below."""
        self._flush()
        self.seen, self.value = seen.astype(np.float64), None

    def merge(self, other: "RankSums") -> None:
        """Add other scores, of which none is among these."""
        self._flush()
        other._flush()
        for name in ("first", "second", "others"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def squares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``(C,)`` AUC, and sums of squared distances from it, of placements in and outside c.

        ``nan`` where they are undefined.
        """
        self._flush()
        m, n = self.count, self.total - self.count
        with np.errstate(divide="ignore", invalid="ignore"):
            area = np.where((m > 0) & (n > 0), self.first / (m * n), np.nan)
            own = np.maximum(self.second / n**2 - m * area**2, 0.0)
            rest = np.maximum(self.others / m**2 - n * (1 - area) ** 2, 0.0)
        return area, own, rest

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """``(C,)`` AUC and ``(C,)`` variance; ``nan`` where they are undefined."""
        area, own, rest = self.squares()
        m, n = self.count, self.total - self.count
        with np.errstate(divide="ignore", invalid="ignore"):
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
        order = np.argsort(narrow(member, len(self.count)), kind="stable")
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
