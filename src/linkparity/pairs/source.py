"""Where scored pairs come from: chunks of rows, the kinds of rows, and passes over them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np

from linkparity.support.arrays import expit, logit
from linkparity.support.progress import with_progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from linkparity.pairs.nodes import Dyads

R = TypeVar("R")
S = TypeVar("S", bound="Sum")
#: Consecutive rows in ascending order of their scores, in pieces.
Pieces = Iterator[tuple["np.ndarray[Any, Any]", ...]]
#: The number of rows of each kind below some consecutive rows, ``(K,)``, and these.
Stretch = tuple[np.ndarray, Pieces]
#: Rows of a chunk: few enough that the arrays of a pass stay in the processor's cache.
CHUNK = 1 << 16
#: A larger logit is a probability of exactly 0 or 1 in float64, which no tilt changes.
MAX_LOGIT = 700.0


@dataclass(frozen=True, eq=False)
class Kinds:
    """The K kinds of rows: a pair of groups and what is known of the label.

    Measures are about kinds, never about rows: a small matrix says which kinds form a cell.

    Attributes:
        key: ``(G, 2)`` pairs of groups in reading order, −1 for none; ``(G, 1)`` for instances.
        pair: ``(K,)`` pair of groups of each kind, −1 where a group is unknown.
        label: ``(K,)`` 0 or 1, −1 where it is missing; 0 throughout without labels.
        names: names of the groups.
        labelled: whether there are labels.
        directed: whether (a, b) and (b, a) are two pairs of groups.
    """

    key: np.ndarray
    pair: np.ndarray
    label: np.ndarray
    names: tuple[str, ...] = ()
    labelled: bool = False
    directed: bool = False

    def __len__(self) -> int:
        return len(self.pair)

    @classmethod
    def all(
        cls, key: np.ndarray, labels: int, names: tuple[str, ...] = (), directed: bool = False
    ) -> "Kinds":
        """Every pair of groups in ``key``, and none, with each label.

        The number of a kind is ``(pair + 1) · labels + label``. There is one label without labels;
        two are 0 and 1, and three have the missing label last.
        """
        pair, label = np.divmod(np.arange((len(key) + 1) * labels), labels)
        return cls(key, pair - 1, np.where(label == 2, -1, label), names, labels > 1, directed)

    @property
    def groups(self) -> np.ndarray:
        """``(K, 2)`` or ``(K, 1)`` groups of each kind, −1 for none."""
        none = np.full((1, self.key.shape[1]), -1)
        return np.asarray(np.concatenate([self.key, none])[self.pair])

    @cached_property
    def of_pair(self) -> "csr_array":
        """``(K, G)`` 1 where a kind has the pair of groups."""
        return membership(self.pair[:, None], len(self.key))


def membership(cell: np.ndarray, size: int) -> "csr_array":
    """Counts ``(K, size)`` from the cells ``(K, T)`` that each row counts in, −1 for none."""
    from scipy.sparse import csr_array

    row, column = np.nonzero(cell >= 0)
    ones = np.ones(len(row), dtype=np.int64)
    return csr_array((ones, (row, cell[row, column])), shape=(len(cell), size))


class Chunk:
    """Some rows; every array has the shape ``(n,)``.

    Attributes:
        kind: number of the kind of each row.
        score: as given; order and ties are by it.
        logits: whether the scores are logits.
        weight: None where every row weighs 1.
        first: number of the first node; None where nodes are unknown.
        second: number of the second node.
        before: probability by the scores that these are compared with, if there are any.
        tilt: what has been added to the logits; None for nothing.
    """

    tilt: np.ndarray | None = None

    def __init__(
        self,
        kind: np.ndarray,
        score: np.ndarray,
        logits: bool,
        logit: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        first: np.ndarray | None = None,
        second: np.ndarray | None = None,
        before: np.ndarray | None = None,
    ) -> None:
        self.kind, self.score, self.logits, self._logit = kind, score, logits, logit
        self.weight, self.first, self.second, self.before = weight, first, second, before

    def __len__(self) -> int:
        return len(self.score)

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Both nodes, which must be known."""
        assert self.first is not None
        assert self.second is not None
        return self.first, self.second

    @cached_property
    def logit(self) -> np.ndarray:
        """Infinite where the probability is exactly 0 or 1."""
        if self.logits:
            return self.score
        return logit(self.score) if self._logit is None else self._logit

    @cached_property
    def prob(self) -> np.ndarray:
        """The probability."""
        return expit(self.score) if self.logits else self.score

    def tilted(self, tilt: np.ndarray) -> "Chunk":
        """The rows with ``tilt (K,)`` added to their logits; scores of 0 and 1 stay."""
        more = tilt[self.kind]
        more[~movable(self.logit)] = 0.0
        moved = Chunk(
            self.kind, self.logit + more, True, None,
            self.weight, self.first, self.second, self.before,
        )  # fmt: skip
        moved.tilt = more
        if not more.all():  # to the last digit where nothing is added
            moved.prob = np.where(more == 0, self.prob, moved.prob)
        return moved


def movable(logit: np.ndarray) -> np.ndarray:
    """Whether a tilt can change a score; one of exactly 0 or 1 stays as it is."""
    return np.asarray(np.abs(logit) <= MAX_LOGIT)


class Sum(Protocol):
    """What a pass adds up; sums over parts of the rows can be merged."""

    def add(self, chunk: Chunk) -> None:
        """Add some rows."""
        ...

    def merge(self, other: Self) -> None:
        """Add the rows of another sum of the same kind."""
        ...


class ClusteredTask(Protocol):
    """Sums over the sorted rows of each cluster, and what is made of them.

    Rows may be in several places. Each place makes a summary and sums by key; what is made of the
    sums needs all sums of a key and the merged summary.
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the sorted rows that it needs, as in :meth:`PairSource.ordered`."""
        ...

    @property
    def clusters(self) -> Sequence[object]:
        """The types of clusters."""
        ...

    def here(self, ways: "Sequence[PairSource]") -> Any:
        """The result, where all rows are in one place."""
        ...

    def keyed(
        self, stretches: Iterable[Stretch]
    ) -> tuple[Any, list[tuple[np.ndarray, np.ndarray]]]:
        """Of some rows: the summary and, for each type of clusters, keys ``(n,)`` and sums."""
        ...

    def reduced(self, number: int, sums: Sequence[np.ndarray], summaries: Sequence[Any]) -> Any:
        """Of some clusters of a type: what is made of their sums by each way of scoring."""
        ...

    def result(self, summaries: Sequence[Any], reduced: Sequence[Sequence[Any]]) -> Any:
        """The result, from the merged summaries by way and what was reduced, by type."""
        ...


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes that rows join.

    Attributes:
        count: number of nodes; the two sides of a bipartite table have numbers of their own.
        group: ``(count,)`` group of each node, −1 for none; None where a node may have several.
        twice: whether two rows may join the same two nodes.
        loops: whether a row may pair a node with itself.
    """

    count: int
    group: np.ndarray | None = None
    twice: bool = False
    loops: bool = False


@dataclass(eq=False)
class PairSource:
    """A stream of scored pairs; :class:`ArrayPairs` and others say where the rows are.

    There is a method for each kind of sum. Here the rows are in one place; where they are spread
    over several, as in Spark, a subclass runs the same sums there.

    Attributes:
        kinds: the kinds of rows.
        size: number of rows.
        nodes: the nodes; None where they are unknown.
        weighted: whether rows have weights.
        scratch: directory for temporary files; the system's by default.
    """

    kinds: Kinds
    size: int
    nodes: Nodes | None = None
    weighted: bool = False
    scratch: Path | None = None
    _passes: list[int] = field(default_factory=lambda: [0], repr=False)

    @property
    def passes(self) -> int:
        """Number of passes over all rows so far."""
        return self._passes[0]

    def chunks(self) -> Iterator[Chunk]:
        """All rows, some at a time."""
        raise NotImplementedError

    def gather(self) -> Chunk:
        """All rows at once."""
        self.count_pass()
        chunks = list(self.chunks())
        columns = [
            None if getattr(chunks[0], name) is None
            else np.concatenate([getattr(chunk, name) for chunk in chunks])
            for name in ("kind", "score", "weight", "first", "second")
        ]  # fmt: skip
        kind, score, *rest = columns
        assert kind is not None
        assert score is not None
        return Chunk(kind, score, chunks[0].logits, None, *rest)

    def count_pass(self) -> None:
        """Count a pass over all rows."""
        self._passes[0] += 1

    def run(self, *sums: Sum) -> None:
        """Pass over all rows once and add them to the sums."""
        self.count_pass()
        for chunk in with_progress("adding up rows", self.size, self.chunks()):
            for each in sums:
                each.add(chunk)

    def tilted(self, tilt: np.ndarray) -> "PairSource":
        """The same rows with ``tilt (K,)`` added to the logits."""
        return TiltedPairs(self, tilt)

    def before(self) -> "PairSource":
        """The same rows with the scores that these are compared with."""
        raise NotImplementedError

    def columns_of(
        self, make: Callable[[Chunk], Sequence[np.ndarray]], names: Sequence[str], store: Any
    ) -> Any:
        """New columns of numbers for all rows: arrays by name, or a table with row numbers.

        Args:
            make: the columns of some rows.
            names: of the columns.
            store: makes an array for a column of all rows.
        """
        columns = {name: store(np.float64) for name in names}
        low = 0
        for chunk in self.chunks():
            for column, values in zip(columns.values(), make(chunk), strict=True):
                column[low : low + len(chunk)] = values
            low += len(chunk)
        return columns

    @property
    def places(self) -> int:
        """Number of places that sums by key are spread over."""
        return 1

    def by_nodes(
        self, make: Callable[[tuple[int, int]], S], finish: Callable[[S], R], step: int
    ) -> Iterator[R]:
        """Sums per node, for some nodes at a time.

        Args:
            make: an empty sum for the nodes from the first number to before the second.
            finish: what is wanted of a sum.
            step: number of nodes whose sums fit into memory.
        """
        assert self.nodes is not None
        for low in range(0, self.nodes.count, step):
            sums = make((low, min(low + step, self.nodes.count)))
            self.run(sums)
            yield finish(sums)

    def by_dyads(self, reduce: "Callable[[Dyads], R]") -> Iterator[R]:
        """What ``reduce`` makes of the rows of every dyad that has several, some at a time."""
        from linkparity.pairs.nodes import shared_dyads

        return map(reduce, shared_dyads(self))

    def dyad_numbers(self) -> tuple[np.ndarray | None, int]:
        """``(P,)`` number of the dyad of each row, and how many there are at most.

        None where rows are in several places, which know the dyads by a column ``dyad``.
        """
        from linkparity.pairs.nodes import dyad_numbers

        return dyad_numbers(self)

    def in_order(
        self, task: Callable[[Iterable[Stretch]], R], columns: Sequence[str]
    ) -> Iterator[R]:
        """What ``task`` makes of the rows in ascending order of their scores.

        A score is never in two stretches. Columns are those of :meth:`ordered`.
        """
        yield task([(np.zeros(len(self.kinds)), self.ordered(columns))])

    def clustered(self, ways: "Sequence[PairSource]", task: ClusteredTask) -> Any:
        """The result of a task, for several scores of these rows."""
        return task.here(ways)

    def ordered(self, columns: Sequence[str]) -> Pieces:
        """All rows in ascending order of their scores, some at a time: score and ``columns``.

        Columns are ``kind``, ``first``, ``second``, and ``row``, the number of the row.
        """
        from linkparity.pairs.sorting import sorted_rows

        self.count_pass()
        rows = sorted_rows(self, columns)
        yield from with_progress("comparing ranks", self.size, rows, lambda piece: len(piece[0]))


class TiltedPairs(PairSource):
    """Rows of another source, with tilts added to their logits."""

    def __init__(self, source: PairSource, tilt: np.ndarray) -> None:
        super().__init__(
            source.kinds, source.size, source.nodes, source.weighted, source.scratch,
            source._passes,
        )  # fmt: skip
        self.source, self.tilt = source, np.asarray(tilt, dtype=np.float64)

    def chunks(self) -> Iterator[Chunk]:
        """All rows, some at a time."""
        return (chunk.tilted(self.tilt) for chunk in self.source.chunks())


class JoinedPairs(PairSource):
    """The rows of several sources.

    Args:
        kinds: those of all of them.
        parts: the sources, and how often each of their rows counts.
    """

    def __init__(self, kinds: Kinds, parts: Sequence[tuple[PairSource, float]]) -> None:
        weighted = any(source.weighted or times != 1 for source, times in parts)
        super().__init__(kinds, sum(source.size for source, _ in parts), weighted=weighted)
        self.parts = parts

    def chunks(self) -> Iterator[Chunk]:
        """All rows, some at a time."""
        for source, times in self.parts:
            for chunk in source.chunks():
                if self.weighted:
                    ones = np.ones(len(chunk)) if chunk.weight is None else chunk.weight
                    chunk.weight = times * ones
                yield chunk
