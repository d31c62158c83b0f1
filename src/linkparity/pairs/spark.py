"""Scored pairs in a Spark DataFrame: the same sums, in the workers, added on the driver."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linkparity.pairs.nodes import Dyads
from linkparity.pairs.sorting import SAMPLE, bucket_edges
from linkparity.pairs.source import (
    Chunk,
    ClusteredTask,
    Kinds,
    Nodes,
    PairSource,
    R,
    S,
    Stretch,
    Sum,
)
from linkparity.pairs.spark_tasks import (
    BucketCounts,
    RowDecoder,
    ScoreSample,
    add_dyads,
    add_nodes,
    add_rows,
    keyed_rows,
    make_columns,
    reduce_keys,
    rows_with_buckets,
    run_in_order,
)
from linkparity.support.spark_frames import gathered, packed, partitions, unpacked

#: Buckets of scores per place, which are given to places by chance.
BUCKETS = 4
#: Types of the columns of rows that are sorted.
SQL_TYPES = {"kind": "int", "first": "int", "second": "int", "row": "bigint", "dyad": "bigint"}


class SparkPairs(PairSource):
    """Rows in a Spark DataFrame ``row, code, score`` and, if they are known, more columns.

    Args:
        frame: the rows that count, kept in Spark's memory.
        decoder: makes chunks of its rows.
        kinds: the kinds of rows.
        size: number of rows.
        nodes: the nodes.
        weighted: whether rows have weights.
    """

    def __init__(
        self,
        frame: Any,
        decoder: RowDecoder,
        kinds: Kinds,
        size: int,
        nodes: Nodes | None,
        weighted: bool,
    ) -> None:
        super().__init__(kinds, size, nodes, weighted)
        self.frame, self.decoder = frame, decoder
        self._buckets: tuple[np.ndarray, np.ndarray] | None = None

    def run(self, *sums: Sum) -> None:
        """Pass over all rows once and add them to the sums, which must be empty."""
        self.count_pass()
        task = partial(add_rows, self.decoder, packed(sums))
        for parts in gathered(self.frame, task):
            for each, part in zip(sums, parts, strict=True):
                each.merge(part)

    def tilted(self, tilt: np.ndarray) -> PairSource:
        """The same rows with ``tilt (K,)`` added to the logits."""
        tilts = (*self.decoder.tilts, np.asarray(tilt, dtype=np.float64))
        return self._decoded_by(replace(self.decoder, tilts=tilts))

    def before(self) -> PairSource:
        """The same rows with the scores that these are compared with."""
        return self._decoded_by(self.decoder.before)

    def _decoded_by(self, decoder: RowDecoder) -> "SparkPairs":
        found = SparkPairs(self.frame, decoder, self.kinds, self.size, self.nodes, self.weighted)
        found._passes = self._passes
        return found

    def gather(self) -> Chunk:
        """Rows that are in several places are never in memory at once."""
        raise NotImplementedError

    def columns_of(
        self, make: Callable[[Chunk], Sequence[np.ndarray]], names: Sequence[str], store: Any
    ) -> Any:
        """New columns of numbers for all rows, as a DataFrame with the numbers of the rows."""
        schema = ", ".join(["row bigint", *(f"{name} double" for name in names)])
        return self.frame.mapInArrow(partial(make_columns, self.decoder, make, names), schema)

    @property
    def places(self) -> int:
        """Number of places that sums by key are spread over."""
        return partitions(self.size)

    def by_nodes(
        self, make: Callable[[tuple[int, int]], S], finish: Callable[[S], R], step: int
    ) -> Iterator[R]:
        """Sums per node: every row goes to the places of its two nodes."""
        assert self.nodes is not None
        count = self.nodes.count
        step = max(min(step, -(-count // self.places)), 1)
        parts = f"array_distinct(array(first div {step}, second div {step}))"
        spread = self.frame.selectExpr("*", f"explode({parts}) AS part")
        spread = spread.repartition(self.places, "part")
        self.count_pass()
        return gathered(spread, partial(add_nodes, self.decoder, make, finish, step, count))

    def by_dyads(self, reduce: Callable[[Dyads], R]) -> Iterator[R]:
        """What ``reduce`` makes of the rows of every dyad that has several, place by place."""
        assert self.nodes is not None
        if not self.nodes.twice:
            return iter(())
        shared = self.frame.where("first <> second").selectExpr(
            "*", "least(first, second) AS lower"
        )
        shared = shared.repartition(self.places, "lower")
        self.count_pass()
        return gathered(
            shared, partial(add_dyads, self.decoder, self.nodes.count, self.weighted, reduce)
        )

    def dyad_numbers(self) -> tuple[None, int]:
        """No numbers, since the rows know their dyads; there are no more of them than rows."""
        return None, self.size

    def in_order(
        self, task: Callable[[Iterable[Stretch]], R], columns: Sequence[str]
    ) -> Iterator[R]:
        """What ``task`` makes of the rows of each place, in ascending order of their scores."""
        rows, below = self._sorted(columns)
        return gathered(rows, partial(run_in_order, task, columns, below))

    def clustered(self, ways: Sequence[PairSource], task: ClusteredTask) -> Any:
        """The result of a task: sums by key of each place, added in a second exchange."""
        every = None
        for number, way in enumerate(ways):
            assert isinstance(way, SparkPairs)
            rows, below = way._sorted(task.columns)
            keyed = rows.mapInArrow(
                partial(keyed_rows, task, number, below),
                "way int, type int, key bigint, sums array<double>, summary binary",
            )
            every = keyed if every is None else every.union(keyed)
        assert every is not None
        every = every.persist()
        try:
            summaries: list[list[Any]] = [[] for _ in ways]
            for row in every.where("type < 0").select("way", "summary").collect():
                part = unpacked(row[1])
                if not summaries[row[0]]:
                    summaries[row[0]] = part
                else:
                    for one, other in zip(summaries[row[0]], part, strict=True):
                        one.merge(other)
            reduced = []
            for number in range(len(task.clusters)):
                keys = every.where(f"type = {number}").repartition(self.places, "key")
                reduced.append(list(gathered(keys, partial(reduce_keys, task, number, summaries))))
        finally:
            every.unpersist()
        return task.result(summaries, reduced)

    def _sorted(self, columns: Sequence[str]) -> tuple[Any, np.ndarray]:
        """Rows in buckets of scores, each in one place; rows of each kind below each bucket."""
        edges, below = self._find_buckets()
        names = list(dict.fromkeys(columns))
        schema = ", ".join(
            ["bucket int", "score double", *(f"{name} {SQL_TYPES[name]}" for name in names)]
        )
        count = 0 if self.nodes is None else self.nodes.count
        task = partial(rows_with_buckets, self.decoder, edges, names, count)
        self.count_pass()
        rows = self.frame.mapInArrow(task, schema)
        return rows.repartition(self.places, "bucket"), below

    def _find_buckets(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest score of every bucket but the first, and rows of each kind below each."""
        if self._buckets is None:
            count = self.places * BUCKETS if self.places > 1 else 1
            edges = np.zeros(0)
            if count > 1:
                sample = ScoreSample(max(self.size // (count * SAMPLE), 1))
                self.run(sample)
                edges = bucket_edges(sample.parts, count)
            counts = BucketCounts(edges, len(self.kinds))
            if count > 1:
                self.run(counts)
            self._buckets = edges, np.cumsum(counts.sums, axis=0) - counts.sums
        return self._buckets
