"""What Spark's workers do with batches of scored pairs: the same kernels as everywhere."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkparity.pairs.nodes import Dyads, dyad_keys, dyad_rows, dyads_of
from linkparity.pairs.sorting import pieces
from linkparity.pairs.source import Chunk, ClusteredTask, R, S, Stretch
from linkparity.support.arrays import expit
from linkparity.support.spark_frames import Batches, packed, unpacked

#: Clusters that are handed on at once.
KEYS = 1 << 12


@dataclass(frozen=True, eq=False)
class RowDecoder:
    """Makes chunks of the rows of a DataFrame.

    Attributes:
        recode: ``(R,)`` the kind of each code.
        logits: whether the scores are logits.
        unit: what weights are divided by.
        before_logits: whether the scores that these are compared with are logits.
        now: whether the scores are these, not those that they are compared with.
        tilts: what is added to the logits, ``(K,)`` each.
    """

    recode: np.ndarray
    logits: bool
    unit: float = 1.0
    before_logits: bool = False
    now: bool = True
    tilts: tuple[np.ndarray, ...] = ()

    @property
    def before(self) -> "RowDecoder":
        """For the scores that these are compared with."""
        return replace(self, now=False, logits=self.before_logits, tilts=())

    def chunk(self, columns: dict[str, np.ndarray]) -> Chunk:
        """The rows of some columns."""
        score = columns["score" if self.now else "before"]
        weight, before = columns.get("weight"), columns.get("before") if self.now else None
        if weight is not None and self.unit != 1:
            weight = weight / self.unit
        if before is not None and self.before_logits:
            before = expit(before)
        found = Chunk(
            self.recode[columns["code"]], score, self.logits, None, weight,
            columns["first"], columns["second"], before,
        )  # fmt: skip
        for tilt in self.tilts:
            found = found.tilted(tilt)
        return found

    def chunks(self, batches: Batches) -> Iterator[Chunk]:
        """The rows of some batches."""
        return map(self.chunk, map(arrays, batches))


def arrays(batch: Any) -> dict[str, np.ndarray]:
    """The columns of an Arrow batch."""
    return {
        name: column.to_numpy(zero_copy_only=False)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }


def add_rows(decoder: RowDecoder, sums: bytes, batches: Batches) -> Iterator[Any]:
    """Copies of empty sums with the rows of a partition."""
    found = unpacked(sums)
    for chunk in decoder.chunks(batches):
        for each in found:
            each.add(chunk)
    yield found


def make_columns(
    decoder: RowDecoder,
    make: Callable[[Chunk], Sequence[np.ndarray]],
    names: Sequence[str],
    batches: Batches,
) -> Batches:
    """Numbers of rows and new columns."""
    import pyarrow as pa

    for batch in batches:
        columns = arrays(batch)
        made = map(pa.array, (columns["row"], *make(decoder.chunk(columns))))
        yield pa.record_batch(list(made), ["row", *names])


def add_nodes(
    decoder: RowDecoder,
    make: Callable[[tuple[int, int]], S],
    finish: Callable[[S], R],
    step: int,
    count: int,
    batches: Batches,
) -> Iterator[R]:
    """What is wanted of the sums of some parts of ``count`` nodes, ``step`` nodes each."""
    sums: dict[int, S] = {}
    for batch in batches:
        columns = arrays(batch)
        part = columns.pop("part")
        for each in np.unique(part).tolist():
            if each not in sums:
                sums[each] = make((each * step, min((each + 1) * step, count)))
            rows = part == each
            mine = columns if rows.all() else {name: c[rows] for name, c in columns.items()}
            sums[each].add(decoder.chunk(mine))
    yield from map(finish, sums.values())


def add_dyads(
    decoder: RowDecoder,
    count: int,
    weighted: bool,
    reduce: Callable[[Dyads], R],
    batches: Batches,
) -> Iterator[R]:
    """What is made of the rows of shared dyads, all of which are here."""
    parts, begin = [], 0
    for chunk in decoder.chunks(batches):
        parts.append(dyad_rows(chunk, begin, np.arange(len(chunk)), count))
        begin += len(chunk)
    if parts:
        columns = [np.concatenate(each) for each in zip(*parts, strict=True)]
        if (dyads := dyads_of(columns, weighted)) is not None:
            yield reduce(dyads)


class ScoreSample:
    """Every so many scores of each chunk."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.parts: list[np.ndarray] = []

    def add(self, chunk: Chunk) -> None:
        """Add some rows."""
        self.parts.append(chunk.score[:: self.step])

    def merge(self, other: "ScoreSample") -> None:
        """Add other rows."""
        self.parts += other.parts


class BucketCounts:
    """Rows of each kind in each bucket of scores, ``(B, K)``."""

    def __init__(self, edges: np.ndarray, kinds: int) -> None:
        self.edges = edges
        self.sums = np.zeros((len(edges) + 1, kinds))

    def add(self, chunk: Chunk) -> None:
        """Add some rows."""
        bucket = np.searchsorted(self.edges, chunk.score, "right")
        size = self.sums.shape[1]
        at = bucket * size + chunk.kind
        self.sums += np.bincount(at, minlength=self.sums.size).reshape(-1, size)

    def merge(self, other: "BucketCounts") -> None:
        """Add other rows."""
        self.sums += other.sums


def rows_with_buckets(
    decoder: RowDecoder, edges: np.ndarray, names: Sequence[str], count: int, batches: Batches
) -> Batches:
    """Bucket, score and columns of rows; ``count`` nodes number the dyads."""
    import pyarrow as pa

    for batch in batches:
        columns = arrays(batch)
        chunk = decoder.chunk(columns)
        bucket = np.searchsorted(edges, chunk.score, "right").astype(np.int32)
        every = (bucket, chunk.score, *(_column(name, chunk, columns, count) for name in names))
        yield pa.record_batch(list(map(pa.array, every)), ["bucket", "score", *names])


def _column(
    name: str, chunk: Chunk, columns: dict[str, np.ndarray], count: int
) -> np.ndarray | None:
    if name == "kind":
        return chunk.kind.astype(np.int32)
    if name == "dyad":  # a node paired with itself is in none
        return np.where(chunk.first == chunk.second, -1, dyad_keys(chunk, count))
    return columns[name]


def stretches(batches: Batches, columns: Sequence[str], below: np.ndarray) -> Iterator[Stretch]:
    """The buckets of a partition, in order; ``below (B, K)`` are the rows of each kind below."""
    parts = [arrays(batch) for batch in batches]
    if not parts:
        return
    bucket = np.concatenate([part["bucket"] for part in parts])
    order = np.argsort(bucket, kind="stable")
    rows = [np.concatenate([part[name] for part in parts])[order] for name in ("score", *columns)]
    numbers, start = np.unique(bucket[order], return_index=True)
    for number, low, high in zip(numbers, start, [*start[1:], len(order)], strict=True):
        yield below[number], pieces([column[low:high] for column in rows])


def run_in_order(
    task: Callable[[Iterable[Stretch]], R],
    columns: Sequence[str],
    below: np.ndarray,
    batches: Batches,
) -> Iterator[R]:
    """What a task makes of the rows of a partition in the order of their scores."""
    yield task(stretches(batches, columns, below))


def keyed_rows(task: ClusteredTask, way: int, below: np.ndarray, batches: Batches) -> Batches:
    """The summary of a partition and its sums by key, by type of clusters."""
    import pyarrow as pa

    names = ["way", "type", "key", "sums", "summary"]
    kinds = [pa.int32(), pa.int32(), pa.int64(), pa.list_(pa.float64()), pa.binary()]
    summary, every = task.keyed(stretches(batches, task.columns, below))
    head = zip([way, -1, None, None, packed(summary)], kinds, strict=True)
    yield pa.record_batch([pa.array([value], kind) for value, kind in head], names)
    for number, (keys, sums) in enumerate(every):
        for low in range(0, len(keys), KEYS):
            part = slice(low, low + KEYS)
            size, width = sums[part].shape
            offsets = pa.array(np.arange(0, size * width + 1, width), pa.int32())
            lists = pa.ListArray.from_arrays(offsets, pa.array(sums[part].reshape(-1)))
            yield pa.record_batch(
                [
                    pa.array(np.full(size, way), pa.int32()),
                    pa.array(np.full(size, number), pa.int32()),
                    pa.array(keys[part], pa.int64()), lists, pa.nulls(size, pa.binary()),
                ],
                names,
            )  # fmt: skip


def reduce_keys(
    task: ClusteredTask, number: int, summaries: Sequence[Any], batches: Batches
) -> Iterator[Any]:
    """What is made of the sums of a partition's clusters, all of which are here."""
    parts = [
        (batch.column("way").to_numpy(), batch.column("key").to_numpy(),
         batch.column("sums").flatten().to_numpy().reshape(batch.num_rows, -1))
        for batch in batches if batch.num_rows
    ]  # fmt: skip
    if not parts:
        return
    way, key, sums = (np.concatenate(each) for each in zip(*parts, strict=True))
    keys, place = np.unique(key, return_inverse=True)
    totals = np.zeros((len(summaries), len(keys), sums.shape[1]))
    np.add.at(totals, (way, place), sums)
    yield task.reduced(number, list(totals), summaries)
