"""What Spark's workers do with batches of a table of scores: numbers by SQL, then the checks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from linkparity.reading.duckdb import fetch_table
from linkparity.reading.groups import NO_GROUP
from linkparity.reading.row_checks import RowChecks
from linkparity.support.spark_frames import Batches

#: Spark's types of the columns of rows as numbers.
SQL_TYPES = {
    "row": "bigint", "source": "string", "target": "string", "score": "double",
    "flags": "tinyint", "weight": "double", "label": "tinyint", "a": "int", "b": "int",
    "ga": "int", "gb": "int", "first": "int", "second": "int", "code": "int", "kind": "int",
}  # fmt: skip


def schema_of(names: Sequence[str]) -> str:
    """The schema of some of these columns."""
    return ", ".join(f"{name} {SQL_TYPES[name]}" for name in names)


def rows_as_numbers(query: str, view: str, lookups: Mapping[str, Any], batches: Batches) -> Batches:
    """The rows of a table as a query gives them.

    Args:
        query: in DuckDB's SQL, about ``view``.
        view: the name of the table.
        lookups: other tables of the query, by name.
        batches: the rows of the table.
    """
    import duckdb
    import pyarrow as pa

    with duckdb.connect(config={"threads": 1}) as connection:
        for name, table in lookups.items():
            connection.register(name, table)
        for batch in batches:
            connection.register(view, pa.Table.from_batches([batch]))
            found = fetch_table(connection.sql(query))
            connection.unregister(view)
            yield from found.to_batches()


def checked_rows(checks: RowChecks, names: Sequence[str], batches: Batches) -> Batches:
    """Numbered and checked rows, with the columns ``names``."""
    import pyarrow as pa

    for batch in batches:
        known: dict[str, Any] = {
            name: column.to_numpy(zero_copy_only=False)
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }
        found = checks.check(known)
        known |= {
            "first": known["a"], "second": known["b"], "ga": found.first.astype(np.int32),
            "gb": found.second.astype(np.int32), "code": found.code.astype(np.int32),
            "kind": found.kind.astype(np.int32),
        }  # fmt: skip
        yield pa.record_batch([pa.array(known[name]) for name in names], list(names))


def grouped_sides(group: np.ndarray, batches: Batches) -> Iterator[list[bool]]:
    """Whether any source, and any target, has a group; ``group (N,)`` is that of the nodes."""
    for batch in batches:
        ends = [batch.column(name).to_numpy() for name in ("first", "second")]
        yield [bool((group[end[end >= 0]] > NO_GROUP).any()) for end in ends]


def group_sizes(group: np.ndarray, size: int, batches: Batches) -> Iterator[np.ndarray]:
    """``(size,)`` nodes of each group among distinct nodes."""
    for batch in batches:
        found = group[batch.column(0).to_numpy()]
        yield np.bincount(found[found >= 0], minlength=size)
