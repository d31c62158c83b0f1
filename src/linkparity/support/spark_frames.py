"""Spark DataFrames: Python values of each partition, and small tables to and from Spark."""

import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

#: Type of the batches of rows that a partition hands to Python.
Batches = Iterator[Any]
#: Rows of a table that are sent in one piece.
PIECE = 1 << 16
#: Rows of a partition: many enough to be worth a task, few enough for a worker's memory.
PARTITION = 1 << 18


def is_spark_frame(given: object) -> bool:
    """Whether it is a Spark DataFrame, of a session in this process or of a server's."""
    return type(given).__module__.startswith("pyspark.sql.") and hasattr(given, "mapInArrow")


def partitions(rows: int) -> int:
    """Number of partitions for so many rows."""
    return max(-(-rows // PARTITION), 1)


def quoted_name(column: str) -> str:
    """A column's name as Spark reads it."""
    return "`" + column.replace("`", "``") + "`"


def aggregated(rows: Any, /, **expressions: str) -> Any:
    """Aggregates of grouped rows, or of all, as SQL expressions by name."""
    from pyspark.sql.functions import expr

    return rows.agg(*(expr(sql).alias(name) for name, sql in expressions.items()))


def packed(value: object) -> bytes:
    """A value as few bytes; sums are mostly zeros."""
    return zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), 1)


def unpacked(data: bytes) -> Any:
    """The value that :func:`packed` got."""
    return pickle.loads(zlib.decompress(data))


def gathered(frame: Any, task: Callable[[Batches], Iterable[object]]) -> Iterator[Any]:
    """What a task makes of the Arrow batches of each partition, in a worker's Python."""
    for row in frame.mapInArrow(partial(_packed_values, task), "value binary").collect():
        yield unpacked(row[0])


def _packed_values(task: Callable[[Batches], Iterable[object]], batches: Batches) -> Batches:
    import pyarrow as pa

    for value in task(batches):
        yield pa.record_batch([pa.array([packed(value)], pa.binary())], ["value"])


def fetched(frame: Any) -> Any:
    """A DataFrame as an Arrow table."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    batches = list(gathered(frame, _as_they_are))
    return pa.Table.from_batches(batches, None if batches else to_arrow_schema(frame.schema))


def _as_they_are(batches: Batches) -> Batches:
    return batches


def sent(session: Any, table: Any, schema: str) -> Any:
    """An Arrow table as a DataFrame with a schema such as ``"id string, number int"``."""
    import pyarrow as pa

    rows = []
    for batch in table.to_batches(max_chunksize=PIECE):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        rows.append((bytearray(sink.getvalue()),))
    return session.createDataFrame(rows, "value binary").mapInArrow(_received, schema)


def _received(batches: Batches) -> Batches:
    import pyarrow as pa

    for batch in batches:
        for value in batch.column(0).to_pylist():
            yield from pa.ipc.open_stream(value)
