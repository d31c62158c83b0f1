"""AUCs of classes of rows, and how well they are known: passes over the sorted rows."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from linkparity.metrics.intervals.covariance import CellCovariance, Spread
from linkparity.pairs.cluster_sums import ClusterSums, SortedRows
from linkparity.pairs.rank_sums import RankSums
from linkparity.pairs.source import PairSource, Stretch

#: Bytes of sums per node that are kept at once, enough for one class and 10⁷ nodes; with more there
#: are several passes over the rows.
MAX_BYTES = 600_000_000
#: Bytes of the sums of one node and class.
SUM_BYTES = 48
#: Rows that are worked on at once.
CHUNK = 1 << 18
#: Sums of nodes and classes that are multiplied at once.
SLICE = 1 << 18
#: Columns of nodes in the ordered rows, and that of dyads.
NODES, DYAD = (0, 1), 2
#: In place of a cluster, for a row that is in none.
NO_CLUSTER = -1
#: Products of residuals and of counts, fourth powers, numbers of clusters, of one problem.
ProductSums = tuple[np.ndarray, np.ndarray, np.ndarray]
#: Rank sums by way of scoring and problem; products by type of clusters and problem.
PlacementResult = tuple[list[list[RankSums]], list[list[Any]]]


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

    def start(self, seen: np.ndarray) -> None:
        """Go on with higher scores, of which ``seen (C,)`` rows are below."""
        self.finish()
        self.ranks.start(seen)
        self.seen = seen.astype(np.float64)

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
        member: ``(K, T)`` classes of each kind, −1 for none. A row counts once for each of them, so
            twice where both are the same.
        count: ``(C,)`` how often rows count in each class.
        wanted: ``(C,)`` whether the AUC of a class is asked for.
    """

    member: np.ndarray
    count: np.ndarray
    wanted: np.ndarray

    @classmethod
    def of(cls, member: np.ndarray, count: np.ndarray, size: int) -> "Classes":
        """All of ``size`` classes, from the rows of each kind ``count (K,)``."""
        known = member >= 0
        times = np.broadcast_to(count[:, None], member.shape)[known]
        return cls(member, np.bincount(member[known], times, size), np.ones(size, dtype=bool))

    def below(self, count: np.ndarray) -> np.ndarray:
        """``(C,)`` how often rows count in each class, from the rows of each kind ``(K,)``."""
        return Classes.of(self.member, count, len(self.count)).count

    @property
    def chosen(self) -> list[int]:
        """The classes wanted."""
        return [int(c) for c in np.flatnonzero(self.wanted)]

    @property
    def single(self) -> bool:
        """Whether every row counts once at most."""
        return int(self.member.shape[1]) == 1

    def only(self, classes: Sequence[int]) -> "Classes":
        """The same rows, with these classes wanted."""
        return replace(self, wanted=np.isin(np.arange(len(self.count)), classes))


def rank_spreads(
    source: PairSource, problems: Sequence[Classes], by_node: bool | None
) -> list[tuple[np.ndarray, Spread]]:
    """AUCs ``(C,)`` of each problem, and the spread of those that are wanted.

    Args:
        source: the rows.
        problems: classes that are compared with the rest.
        by_node: whether pairs that share a node covary; None for no spread, which is quicker.
    """
    found: list[tuple[np.ndarray, Spread]] = []
    if by_node:
        for [area], covariance in placement_covariances([source], problems):
            found.append((area, covariance.result().of_sum()))
        return found
    single = all(each.single for each in problems)
    if by_node is None or single:
        for each, ranks in zip(problems, _ranks(source, problems), strict=True):
            area, variance = ranks.result()
            found.append((area, Spread.independent(variance[each.wanted])))
        return found
    return [_independent(source, each) for each in problems]


def _ranks(source: PairSource, problems: Sequence[Classes]) -> list[RankSums]:
    """Rank sums of every problem, in one pass over the rows in the order of their scores."""
    task = PlacementTask(tuple(problems), ())
    first, *rest = source.in_order(task.ranks, ("kind",))
    for part in rest:
        for one, other in zip(first, part, strict=True):
            one.merge(other)
    return first


def _independent(source: PairSource, classes: Classes) -> tuple[np.ndarray, Spread]:
    r"""AUCs and variances where a row may count in two classes, or twice in one.

    .. math:: \mathrm{var} = \frac{I_{10}}{I_{10} - 1} \frac{S_{10}}{m^2}
              + \frac{I_{01}}{I_{01} - 1} \frac{S_{01}}{n^2}
              + \frac{I}{I - 1} \frac{2 S_{11}}{m n}

    of Obuchowski (1997) with the row as the cluster: S are sums over rows of products of placements
    less their mean, in and outside the class, and I the numbers of rows that have either, or any.
    """
    area = np.full(len(classes.count), np.nan)
    variance = np.full(len(classes.count), np.nan)
    for block in class_blocks([classes], SUM_BYTES * source.size // source.places):
        task = PlacementTask((block[0],), ((DYAD,),), sizes=(source.size,))
        [[ranks]], [[(sums, _, counted)]] = source.clustered([source], task)
        chosen = np.flatnonzero(block[0].wanted)
        area[chosen] = ranks.squares()[0][chosen]
        m, n = classes.count[chosen], classes.count.sum() - classes.count[chosen]
        (s10, s11), (_, s01) = sums[0].transpose(1, 2, 0)
        rows = counted.T
        with np.errstate(divide="ignore", invalid="ignore"):
            s10, s01, s11 = (s * i / (i - 1) for s, i in zip((s10, s01, s11), rows, strict=True))
            total = np.maximum(s10 / m**2 + s01 / n**2 + 2 * s11 / (m * n), 0.0)
        few = np.minimum(np.minimum(*rows[:2]), rows[2]) < 2
        variance[chosen] = np.where(few, np.nan, total)
    return area, Spread.independent(variance[classes.wanted])


def placement_covariances(
    ways: Sequence[PairSource], problems: Sequence[Classes], by_node: bool = True
) -> list[tuple[np.ndarray, CellCovariance]]:
    """AUCs ``(W, C)`` of each problem by W scores of the same rows, and covariances.

    Those are of the 2 W mean placements of each class that is wanted: in and outside the class,
    by the first scores, by the second.

    Args:
        ways: the scores.
        problems: classes that are compared with the rest.
        by_node: whether pairs that share a node covary.
    """
    nodes, dyad, dyads = ways[0].nodes, None, 0
    shared = nodes is not None and (nodes.twice or nodes.loops)
    if shared:
        dyad, dyads = ways[0].dyad_numbers()
    elif not by_node or len(ways) > 1 or not all(each.single for each in problems):
        dyads = ways[0].size
    count = nodes.count if by_node and nodes is not None else 0
    types = ([(NODES, count)] if count else []) + ([((DYAD,), dyads)] if dyads else [])
    shape = PlacementTask(
        tuple(problems), tuple(columns for columns, _ in types), shared,
        nodes is not None and nodes.loops, tuple(size for _, size in types), dyad,
    )  # fmt: skip
    return _covariances(ways, shape)


def _covariances(
    ways: Sequence[PairSource], shape: "PlacementTask"
) -> list[tuple[np.ndarray, CellCovariance]]:
    """The covariances of all classes, some at a time."""
    problems, size = shape.problems, 2 * len(ways)
    areas = [np.full((len(ways), len(each.count)), np.nan) for each in problems]
    sums = [np.zeros((2, 2, len(each.count), size, size)) for each in problems]
    fourth = [np.zeros((len(each.count), size)) for each in problems]
    of_nodes = [columns == NODES for columns in shape.clusters]
    needed = SUM_BYTES * len(ways) * sum(shape.sizes) // ways[0].places
    for block in class_blocks(problems, needed):
        task = replace(shape, problems=tuple(block.values()))
        passes, found = ways[0].clustered(ways, task)
        for number, (i, each) in enumerate(block.items()):
            chosen = np.flatnonzero(each.wanted)
            results = [ranks[number].squares() for ranks in passes]
            areas[i][:, chosen] = [area[chosen] for area, _, _ in results]
            for nodes, every in zip(of_nodes, found, strict=True):
                products, powers, _ = every[number]
                sums[i][0 if nodes else 1][:, chosen] += products
                fourth[i][chosen] += powers if nodes else 0.0
            if all(of_nodes):
                sums[i][1][:, chosen] = _alone(results[0], each.count)[:, chosen]
    return [
        (
            area,
            _covariance(area, each, total[:, :, each.wanted], powers[each.wanted], any(of_nodes)),
        )
        for area, each, total, powers in zip(areas, problems, sums, fourth, strict=True)
    ]


def _products(parts: Sequence[ClusterSums], areas: np.ndarray, number: np.ndarray) -> ProductSums:
    """Sums over clusters of products of residuals and of counts, and of fourth powers of counts.

    ``(2, C, 2 W, 2 W)`` and ``(C, 2 W)`` for W scores; ``areas (W, C)``. Last, ``(C, 3)`` numbers
    of clusters with rows in a class, outside it, or anywhere.
    """
    size, classes = 2 * len(parts), len(number)
    total, fourth = np.zeros((2, size, size, classes)), np.zeros((size, classes))
    counted = np.zeros((3, classes))
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
        inside, rest = columns[:2]
        counted += [(some > 0).sum(axis=0) for some in (inside, rest, inside + rest)]
    return total.transpose(0, 3, 1, 2), fourth.T, counted.T


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


def class_blocks(problems: Sequence[Classes], needed: int) -> Iterator[dict[int, Classes]]:
    """The classes that are summed together, by the number of their problem.

    Args:
        problems: classes that are compared with the rest.
        needed: bytes that the sums of one class take.
    """
    every = [(i, c) for i, each in enumerate(problems) for c in each.chosen]
    size = max(MAX_BYTES // max(needed, 1), 1)
    for begin in range(0, len(every), size):
        chosen = every[begin : begin + size]
        yield {
            i: problems[i].only([c for j, c in chosen if j == i])
            for i in dict.fromkeys(i for i, _ in chosen)
        }


@dataclass(frozen=True, eq=False)
class PlacementTask:
    """Placements of all rows, summed by cluster.

    Attributes:
        problems: classes that are compared with the rest.
        clusters: the columns of the clusters of each type.
        shared: whether several rows may be of one dyad; else each row is its own.
        loops: whether a row may pair a node with itself.
        sizes: numbers of clusters of each type.
        dyad: ``(P,)`` number of the dyad of each row, where rows are in one place.
    """

    problems: tuple[Classes, ...]
    clusters: tuple[tuple[int, ...], ...]
    shared: bool = False
    loops: bool = False
    sizes: tuple[int, ...] = ()
    dyad: np.ndarray | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the rows that the clusters are in; one that is not used has any values."""
        used = {column for columns in self.clusters for column in columns}
        names = ("first", "second", "dyad" if self.shared and self.dyad is None else "row")
        found = (names[c] if c in used else "kind" for c in range(max(used, default=-1) + 1))
        return ("kind", *found)

    def ranks(self, stretches: Iterable[Stretch]) -> list[RankSums]:
        """Rank sums of every problem."""
        return [one.ranks for one in self.passes(stretches, [])]

    def passes(
        self, stretches: Iterable[Stretch], parts: Sequence[tuple[int, int]]
    ) -> list[PlacementPass]:
        """Placements of every problem, summed over the clusters from and to before a number."""
        found = [
            PlacementPass(
                each.count,
                [
                    ClusterSums(each.wanted, columns, low, high - low)
                    for columns, (low, high) in zip(self.clusters, parts, strict=True)
                ],
            )
            for each in self.problems
        ]
        both = list(zip(self.problems, found, strict=True))
        with ThreadPoolExecutor(len(found)) as pool:  # the next rows are sorted meanwhile
            for below, pieces in stretches:
                for each, one in both:
                    one.start(each.below(below))
                waiting: list[Future[None]] = []
                for score, kind, *columns in pieces:
                    clusters = self._clusters(columns)
                    for done in waiting:
                        done.result()
                    waiting = [
                        pool.submit(one.add, *with_class(each.member[kind], score, *clusters))
                        for each, one in both
                    ]
                for done in waiting:
                    done.result()
        for one in found:
            one.finish()
        return found

    def _clusters(self, columns: list[np.ndarray]) -> list[np.ndarray]:
        """The columns as numbers of clusters; a node paired with itself counts once."""
        if self.dyad is not None and len(columns) > DYAD:
            columns[DYAD] = self.dyad[columns[DYAD]]
        if self.loops and NODES in self.clusters:
            loop = columns[0] == columns[1]
            columns[1] = np.where(loop, NO_CLUSTER, columns[1])
        return columns

    def here(self, ways: Sequence[PairSource]) -> PlacementResult:
        """The result, in as many passes as memory allows."""
        classes = sum(len(each.chosen) for each in self.problems)
        needed = SUM_BYTES * len(ways) * sum(self.sizes)
        parts = -(-needed // MAX_BYTES) if classes == 1 else 1
        sums: list[list[list[ProductSums]]] = [[] for _ in self.clusters]
        ranks: list[list[RankSums]] = []
        for number in range(parts):
            bounds = []
            for size in self.sizes:
                low, high = np.linspace(0, size, parts + 1).astype(int)[number : number + 2]
                bounds.append((int(low), int(high)))
            done = []
            for way in ways:
                [passes] = way.in_order(partial(self.passes, parts=bounds), self.columns)
                done.append(passes)
            ranks = [[one.ranks for one in passes] for passes in done]
            for place, found in enumerate(sums):
                states = [[one.parts[place] for one in passes] for passes in done]
                found.append(self._products(states, ranks))
        return self.result(ranks, sums)

    def keyed(
        self, stretches: Iterable[Stretch]
    ) -> tuple[list[RankSums], list[tuple[np.ndarray, np.ndarray]]]:
        """Rank sums; for each type of clusters, those that occur and all their sums."""
        every = [(below, list(pieces)) for below, pieces in stretches]
        keys = []
        for columns in self.clusters:
            ends = [piece[2 + c] for _, pieces in every for piece in pieces for c in columns]
            distinct = np.unique(np.concatenate(ends)) if ends else np.zeros(0, dtype=np.int64)
            keys.append(distinct[distinct > NO_CLUSTER])
        numbered = ((below, map(partial(self._numbered, keys), rows)) for below, rows in every)
        found = self.passes(numbered, [(0, len(each)) for each in keys])
        sums = [
            np.concatenate([one.parts[place].state for one in found], axis=1)
            for place in range(len(keys))
        ]
        return [one.ranks for one in found], list(zip(keys, sums, strict=True))

    def _numbered(
        self, keys: Sequence[np.ndarray], piece: tuple[np.ndarray, ...]
    ) -> tuple[np.ndarray, ...]:
        """Rows with the clusters as places in ``keys``."""
        rows = list(piece)
        for columns, known in zip(self.clusters, keys, strict=True):
            for c in columns:
                none = piece[2 + c] == NO_CLUSTER
                rows[2 + c] = np.where(none, NO_CLUSTER, np.searchsorted(known, piece[2 + c]))
        return tuple(rows)

    def reduced(
        self, number: int, sums: Sequence[np.ndarray], summaries: Sequence[Sequence[RankSums]]
    ) -> list[ProductSums]:
        """Products over some clusters, from their sums by each way of scoring."""
        states: list[list[ClusterSums]] = []
        for every in sums:
            cuts = np.cumsum([3 * len(each.chosen) + 1 for each in self.problems])[:-1]
            parts = np.split(every, cuts, axis=1)
            known = zip(self.problems, parts, strict=True)
            states.append([ClusterSums.of_state(each.wanted, part) for each, part in known])
        return self._products(states, summaries)

    def _products(
        self, states: Sequence[Sequence[ClusterSums]], ranks: Sequence[Sequence[RankSums]]
    ) -> list[ProductSums]:
        found = []
        for number, each in enumerate(self.problems):
            chosen = np.flatnonzero(each.wanted)
            areas = np.array([one[number].squares()[0][chosen] for one in ranks])
            found.append(_products([one[number] for one in states], areas, each.count[chosen]))
        return found

    def result(
        self,
        summaries: Sequence[Sequence[RankSums]],
        reduced: Sequence[Sequence[list[ProductSums]]],
    ) -> PlacementResult:
        """Rank sums by way and problem; products by type of clusters and problem."""
        found = [
            [
                tuple(sum(part) for part in zip(*parts, strict=True))
                for parts in zip(*every, strict=True)
            ]
            for every in reduced
        ]
        return [list(each) for each in summaries], found


def with_class(member: np.ndarray, score: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
    """Scores, classes and further columns of the rows that have a class, once for each."""
    if member.shape[1] > 1:
        row, place = np.nonzero(member >= 0)
        return (score[row], member[row, place], *(column[row] for column in more))
    mine = member[:, 0]
    known = mine >= 0
    if known.all():
        return (score, mine, *more)
    return (score[known], mine[known], *(column[known] for column in more))
