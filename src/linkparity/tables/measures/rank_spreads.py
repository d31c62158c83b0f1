"""AUCs of a table, and how well they are known when pairs share nodes: sorted passes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkparity.metrics.intervals.covariance import CellCovariance, Spread
from linkparity.tables.measures.cluster_sums import ClusterSums, SortedRows
from linkparity.tables.measures.numbered_rows import NumberedRows, number_rows
from linkparity.tables.measures.rank_sums import RankSums
from linkparity.tables.measures.table_sums import RowScores

#: Bytes of sums per node that are kept at once, enough for one class and 10⁷ nodes; with more there
#: are several passes over the rows.
MAX_BYTES = 600_000_000
#: Bytes of the sums of one node and class.
SUM_BYTES = 48
#: Rows that are worked on at once.
CHUNK = 1 << 18
#: Sums of nodes and classes that are multiplied at once.
SLICE = 1 << 18
#: Columns of nodes in the numbered rows, and that of dyads.
NODES, DYAD = (0, 1), 2


class PlacementPass:
    """Placements of rows that pass by in the order of their scores, added to cluster sums.

    Args:
        count: ``(C,)`` rows of each class.
        parts: sums to add to.
    """

    def __init__(self, count: np.ndarray, parts: Sequence[ClusterSums]) -> None:
        self.count, self.parts = np.asarray(count, dtype=np.float64), parts
        self.ranks = RankSums(count)
        self.seen, self.held = np.zeros((2, len(self.count)))
        self.level: float | None = None
        self.waiting: list[tuple[np.ndarray, ...]] = []

    def add(self, score: np.ndarray, member: np.ndarray, *clusters: np.ndarray) -> None:
        """Add scores in ascending order, not below earlier ones, with class and clusters."""
        self.ranks.add(score, member)
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
        for part in self.parts:
            part.hold(member, clusters)

    def _release(self) -> None:
        if self.level is None:
            return
        middle = self.seen + self.held / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            beats = (middle.sum() - middle) / (self.count.sum() - self.count)
        for part in self.parts:
            part.release(middle, beats)
        self.seen += self.held
        self.held[:], self.level = 0.0, None

    def _add_levels(self, score: np.ndarray, member: np.ndarray, *clusters: np.ndarray) -> None:
        """Add rows of which all of a score are here."""
        rows = SortedRows.of(score, member, self.seen, self.count)
        for part in self.parts:
            part.add(rows, clusters, self.seen)
        self.seen += np.bincount(member, minlength=len(self.count))


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


def rank_spreads(scores: RowScores, problems: Sequence[Classes]) -> list[tuple[np.ndarray, Spread]]:
    """AUCs ``(C,)`` of each problem, and the spread of those that are wanted."""
    ways = [(scores, number_rows(scores))]
    return [
        (area, covariance.result().of_sum())
        for [area], covariance in placement_covariances(ways, problems)
    ]


def placement_covariances(
    ways: Sequence[tuple[RowScores, NumberedRows]],
    problems: Sequence[Classes],
    by_node: bool = True,
) -> list[tuple[np.ndarray, CellCovariance]]:
    """AUCs ``(W, C)`` of each problem by W scores of the same rows, and covariances.

    Those are of the 2 W mean placements of each class that is wanted: in and outside the class,
    by the first scores, by the second.

    Args:
        ways: the scores, with numbered nodes; of two, all rows have numbered dyads.
        problems: classes that are compared with the rest.
        by_node: whether pairs that share a node covary.
    """
    nodes, dyads = ways[0][1].nodes, ways[0][1].dyads or 0
    areas = [np.full((len(ways), len(each.count)), np.nan) for each in problems]
    size = 2 * len(ways)
    sums = [np.zeros((2, 2, len(each.count), size, size)) for each in problems]
    fourth = [np.zeros((len(each.count), size)) for each in problems]
    for block, part in blocks(problems, SUM_BYTES * len(ways) * (nodes + dyads)):
        done = [pass_once(*way, list(block.values()), part) for way in ways]
        for (i, each), *passes in zip(block.items(), *done, strict=True):
            chosen = np.flatnonzero(each.wanted)
            results = [one.ranks.squares() for one in passes]
            areas[i][:, chosen] = [area[chosen] for area, _, _ in results]
            for kind in range(len(passes[0].parts)):
                parts = [one.parts[kind] for one in passes]
                products, powers = _products(parts, areas[i][:, chosen], each.count[chosen])
                sums[i][kind][:, chosen] += products
                fourth[i][chosen] += powers if kind == 0 else 0.0
            if not dyads:
                sums[i][1][:, chosen] = _alone(results[0], each.count)[:, chosen]
    return [
        (area, _covariance(area, each, total[:, :, each.wanted], powers[each.wanted], by_node))
        for area, each, total, powers in zip(areas, problems, sums, fourth, strict=True)
    ]


def _products(
    parts: Sequence[ClusterSums], areas: np.ndarray, number: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sums over clusters of products of residuals and of counts, and of fourth powers of counts.

    ``(2, C, 2 W, 2 W)`` and ``(C, 2 W)`` for W scores; ``areas (W, C)``.
    """
    size, classes = 2 * len(parts), len(number)
    total, fourth = np.zeros((2, size, size, classes)), np.zeros((size, classes))
    step = max(SLICE // max(classes, 1), 1)
    for begin in range(0, parts[0].size, step):
        each = [
            part.residuals(slice(begin, min(begin + step, parts[0].size)), area, number)
            for part, area in zip(parts, areas, strict=True)
        ]
        for products, ways in zip(total, zip(*each, strict=True), strict=True):
            columns = [column for way in ways for column in way]
            for a in range(size):
                for b in range(a + 1):
                    products[a, b] += np.einsum("nc,nc->c", columns[a], columns[b])
                    products[b, a] = products[a, b]
        fourth += [(column**2 * column**2).sum(axis=0) for column in columns]
    return total.transpose(0, 3, 1, 2), fourth.T


def _alone(squares: tuple[np.ndarray, np.ndarray, np.ndarray], count: np.ndarray) -> np.ndarray:
    """``(2, C, 2, 2)`` the same products over rows, each of which is a dyad of its own."""
    pairs = np.stack([count, count.sum() - count], axis=1)
    values = np.array([np.stack(squares[1:], axis=1), pairs])
    found: np.ndarray = values[..., None] * np.eye(2)
    return found


def _covariance(
    area: np.ndarray, classes: Classes, sums: np.ndarray, fourth: np.ndarray, by_node: bool
) -> CellCovariance:
    """The covariances of the mean placements of every class that is wanted."""
    count = classes.count[classes.wanted]
    total = np.stack([count, classes.count.sum() - count], axis=1)
    mean = np.repeat(area[:, classes.wanted].T, 2, axis=1)
    found = CellCovariance(mean, np.tile(total, len(area)), by_node)
    found.add_products(sums[0], sums[1], fourth)
    return found


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
        block = {
            i: problems[i].only([c for j, c in chosen if j == i])
            for i in dict.fromkeys(i for i, _ in chosen)
        }
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
            [
                ClusterSums(each.wanted, columns[i], int(low), int(high - low))
                for i, (low, high) in enumerate(bounds)
            ],
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
