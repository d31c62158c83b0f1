"""AUCs of a table, and how well they are known when pairs share nodes: sorted passes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkparity.metrics.intervals.covariance import CellCovariance, Spread
from linkparity.tables.measures.node_sums import NumberedRows, number_rows
from linkparity.tables.measures.table_sums import RowScores

#: Bytes of sums per node that are kept at once, enough for one class and 10⁷ nodes; with more there
#: are several passes over the rows.
MAX_BYTES = 600_000_000
#: Bytes of the sums of one node and class.
SUM_BYTES = 56
#: Rows that are worked on at once.
CHUNK = 1 << 18
#: Columns of nodes in the numbered rows, and that of dyads.
NODES, DYAD = (0, 1), 2


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
        _add_at(self.rows, at)
        mine = key >= 0
        for total, values in ((self.pairs, None), (self.inside, inside), (self.own, beats)):
            _add_at(total.reshape(-1), key[mine], None if values is None else values[mine])

    def hold(self, member: np.ndarray, clusters: Sequence[np.ndarray]) -> None:
        """Add rows of one score, whose placements :meth:`release` has."""
        at, _, key = self.locate(member, clusters)
        _add_at(self.held_rows, at)
        _add_at(self.held.reshape(-1), key[key >= 0])

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
        wanted: ``(C,)`` which classes have an area.
        parts: sums to add to, of these classes.
        alone: the column of clusters that is −1 for a row that is a dyad of its own; None where
            all are.

    Attributes:
        area: ``(C,)`` sums of the placements of each class wanted.
        single: ``(3, 2, C)`` number, sum and sum of squares of the placements of rows alone in
            their dyad, in and outside each class wanted.
    """

    def __init__(
        self,
        count: np.ndarray,
        wanted: np.ndarray,
        parts: Sequence[ClusterSums],
        alone: int | None = None,
    ) -> None:
        self.count, self.parts, self.alone = np.asarray(count, dtype=np.float64), parts, alone
        self.wanted = wanted
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

    @property
    def areas(self) -> np.ndarray:
        """``(C,)`` AUC of each class wanted."""
        return np.asarray(self.area / np.maximum(self.count, 1))

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
        for c in np.flatnonzero(self.wanted):
            mine = member == c
            below = np.cumsum(mine).astype(np.float64)
            if len(start) == len(score):
                below -= mine / 2
            else:
                ends = below[stop - 1]
                below = ((np.append(0, ends[:-1]) + ends) / 2)[level]
            below += self.seen[c]
            below /= max(self.count[c], 1.0)
            inside[mine] = below[mine]
            outside = 1 - (below[~mine] if alone is None else below[alone & ~mine])
            self.single[:, 1, c] += (len(outside), outside.sum(), outside @ outside)
            for part, (at, here, _) in zip(self.parts, located, strict=True):
                _add_at(part.every[part.place[c]], at, part.repeated(below, here))
        self.seen += np.bincount(member, minlength=len(self.count))
        own = self.count[member]
        with np.errstate(divide="ignore", invalid="ignore"):
            beats = (middle - own * inside) / (self.count.sum() - own)
        self.area += np.bincount(member, beats, len(self.count))
        for power in range(3):
            values = beats**power if alone is None else alone * beats**power
            self.single[power, 0] += np.bincount(member, values, len(self.count))
        for part, (at, here, key) in zip(self.parts, located, strict=True):
            part.add_own(key, at, part.repeated(inside, here), part.repeated(beats, here))


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes of rows, each of which is compared with the rest.

    Attributes:
        member: ``(K,)`` class of each combination, −1 for none.
        count: ``(C,)`` rows of each class.
        wanted: ``(C,)`` whether the AUC of a class is asked for.
    """

    member: np.ndarray
    count: np.ndarray
    wanted: np.ndarray

    @property
    def chosen(self) -> list[int]:
        """The classes wanted."""
        return [int(c) for c in np.flatnonzero(self.wanted)]

    def only(self, classes: Sequence[int]) -> "Classes":
        """The same rows, with these classes wanted."""
        return replace(self, wanted=np.isin(np.arange(len(self.count)), classes))


def rank_spreads(
    scores: RowScores, problems: Sequence[Classes]
) -> list[tuple[np.ndarray, list[Spread]]]:
    """AUCs ``(C,)`` of each problem, and the spread of each AUC that is wanted."""
    numbered = number_rows(scores)
    areas = [np.full(len(each.count), np.nan) for each in problems]
    found: dict[tuple[int, int], CellCovariance] = {}
    for block, part in blocks(problems, SUM_BYTES * (numbered.nodes + (numbered.dyads or 0))):
        done = pass_once(scores, numbered, list(block.values()), part)
        for (i, each), ranks in zip(block.items(), done, strict=True):
            areas[i][each.wanted] = ranks.areas[each.wanted]
            for c in each.chosen:
                if (i, c) not in found:
                    found[i, c] = _singles(each, c, ranks)
                found[i, c].add_nodes(*ranks.parts[0].sums(c))
                for dyads in ranks.parts[1:]:
                    found[i, c].add_dyads(*dyads.sums(c))
    return [
        (area, [found[i, c].result().of_sum() for c in each.chosen])
        for i, (area, each) in enumerate(zip(areas, problems, strict=True))
    ]


def blocks(
    problems: Sequence[Classes], needed: int
) -> Iterator[tuple[dict[int, Classes], tuple[int, int]]]:
    """What each pass over the rows sums: some classes, or a part of the clusters for one class.

    Args:
        problems: classes that are compared with the rest.
        needed: bytes that the sums of one class take.

    Yields:
        The classes, by the number of their problem; number of the part, and of all parts.
    """
    every = [(i, c) for i, each in enumerate(problems) for c in each.chosen]
    size, parts = max(MAX_BYTES // max(needed, 1), 1), -(-needed // MAX_BYTES)
    for begin in range(0, len(every), size):
        chosen = every[begin : begin + size]
        block = {i: problems[i].only([c for j, c in chosen if j == i]) for i, _ in chosen}
        for number in range(parts):
            yield block, (number, parts)


def pass_once(
    scores: RowScores,
    numbered: NumberedRows,
    problems: Sequence[Classes],
    part: tuple[int, int],
) -> list[PlacementPass]:
    """Pass over all rows once, for a part of the clusters, such as (0, 2), the first half."""
    number, parts = part
    sizes = [numbered.nodes] if numbered.dyads is None else [numbered.nodes, numbered.dyads]
    bounds = [np.linspace(0, size, parts + 1).astype(int)[number : number + 2] for size in sizes]
    columns = (NODES, (DYAD,))
    found = [
        PlacementPass(
            each.count,
            each.wanted,
            [
                ClusterSums(each.wanted, columns[i], int(low), int(high - low))
                for i, (low, high) in enumerate(bounds)
            ],
            None if numbered.dyads is None else DYAD,
        )
        for each in problems
    ]
    code = scores.stats.code
    place = np.zeros(int(code.max()) + 1, dtype=np.int64)
    place[code] = np.arange(len(code))
    members = [each.member[place] for each in problems]
    ordered = numbered.rows.order_by("score")
    for score, codes, *clusters in scores.table.engine.batches(ordered):
        for each, member in zip(found, members, strict=True):
            each.add(*with_class(member[codes], score, *clusters))
    for each in found:
        each.finish()
    return found


def with_class(member: np.ndarray, score: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
    """Scores, classes and further columns of the rows that have a class."""
    known = member >= 0
    if known.all():
        return (score, member, *more)
    return (score[known], member[known], *(column[known] for column in more))


def _singles(classes: Classes, c: int, done: PlacementPass) -> CellCovariance:
    """The covariance of the placements of class c, with the rows that are alone in their dyad."""
    from scipy.sparse import csr_array

    total = np.array([classes.count[c], classes.count.sum() - classes.count[c]])
    covariance = CellCovariance(np.full(2, done.areas[c]), total)
    count, first, second = done.single[:, :, c]
    mean = first / np.maximum(count, 1)
    square = np.maximum(second - count * mean**2, 0.0)
    covariance.add_counted(count, mean, square, csr_array(np.eye(2)))
    return covariance


def _add_at(total: np.ndarray, at: np.ndarray, values: np.ndarray | None = None) -> None:
    """Add values, or 1, at some places of an array, which may be much longer."""
    if len(at) < len(total) // 4:
        np.add.at(total, at, 1.0 if values is None else values)
    else:
        total += np.bincount(at, values, len(total))
