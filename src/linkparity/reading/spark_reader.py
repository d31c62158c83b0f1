"""Reads the rows of tables in Spark: they stay there, as numbers that the workers check."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linkparity.reading.duckdb import ROW, Duck, Input
from linkparity.reading.faults import Faults
from linkparity.reading.groups import NO_GROUP
from linkparity.reading.nodes import no_rows
from linkparity.reading.pair_table import PairTable
from linkparity.reading.row_checks import LABELS, OK
from linkparity.reading.row_errors import Reader, duplicate
from linkparity.reading.row_query import RowQuery
from linkparity.reading.spark_place import SparkPlace, SparkTable
from linkparity.reading.spark_rows import (
    checked_rows,
    group_sizes,
    grouped_sides,
    rows_as_numbers,
    schema_of,
)
from linkparity.reading.sql import Column
from linkparity.support.spark_frames import (
    aggregated,
    fetched,
    gathered,
    partitions,
    quoted_name,
    sent,
)

#: Nodes with two groups that are looked at to find the first.
LOOKED_AT = 1000


class SparkReader(Reader):
    """Reads the rows of a table in Spark into a DataFrame of numbers."""

    def __init__(self, place: SparkPlace, duck: Duck, given: Input, *known: Any) -> None:
        super().__init__(duck, given, *known)
        self.place, self.source = place, place.inputs[given.view]
        self.lookup = self.source
        self.rows: Any = None

    def read(self, ids: tuple[Column, Column], several: bool, faults: Faults) -> PairTable:
        """All rows, checked; raises what is wrong with them, and earlier faults."""
        if not self.source.total:
            raise no_rows(self.given.name)
        self.rows = self.place.keep(self._checked(self._numbered(self._as_numbers(ids), ids)))
        counts = self._count()
        if self.nodes is None:
            self._note_groups()
        dropped = self.check(faults)
        names = [name for name in self.rows.columns if name not in ("kind", "ga", "gb")]
        table = SparkTable(
            duck=self.duck, given=self.given, lookup=self.lookup, columns=self.columns,
            options=self.options, names=self.groups.names, one_sided=self.one_sided,
            ends=replace(self.ends, group=np.maximum(self.node_group, NO_GROUP)),
            total=self.source.total, grid=self.checks.grid, counts=counts, dropped=dropped,
            nodes=self.nodes, source=self.source,
            frame=self.rows.where(f"kind = {OK}").select(*names), place=self.place,
        )  # fmt: skip
        _check_duplicates(table, faults)
        faults.raise_any()
        self.count_groups(table, self._sizes(table), several)
        return table

    def _as_numbers(self, ids: tuple[Column, Column]) -> Any:
        """Row, ids as text, score and the other columns, as :class:`RowQuery` gives them."""
        groups = self.groups if self.nodes is None else None
        query = RowQuery(self.given, self.columns, self.options, ids, groups).sql(None)
        lookups = {}
        if groups is not None:
            lookups[groups.mapping] = self.duck.arrow(f"SELECT * FROM {groups.mapping}")
        names = ["row", "source", "target", "flags", "score", *self._optional]
        used = [ROW, *sorted(self.columns.used)]
        rows = self.source.frame.select(*map(quoted_name, used))
        rows = rows.repartition(partitions(self.source.total), ROW)
        task = partial(rows_as_numbers, query, self.given.view, lookups)
        return rows.mapInArrow(task, schema_of(names))

    @property
    def _optional(self) -> list[str]:
        """Columns that not every table has."""
        columns, own = self.columns, self.nodes is None
        return [
            name
            for name, there in (
                ("weight", columns.weight), ("label", columns.label),
                ("ga", own and columns.source_groups), ("gb", own and columns.target_groups),
            )
            if there
        ]  # fmt: skip

    def _numbered(self, rows: Any, ids: tuple[Column, Column]) -> Any:
        """Rows with the numbers of their nodes, ``a`` and ``b``, −1 for none."""
        for name, end, number, table in zip(
            ("source", "target"), ids, ("a", "b"), self.ends.tables, strict=True
        ):
            key = Column("id", end.kind, end.type).as_text.sql
            known = self.duck.arrow(f"SELECT {key} AS {name}, number AS {number} FROM {table}")
            found = sent(self.place.session, known, f"{name} string, {number} int")
            rows = rows.join(found, name, "left").drop(name)
        return rows.na.fill(-1, ["a", "b"])

    def _checked(self, rows: Any) -> Any:
        names = ["row", "first", "second", "code", "score", "kind"]
        names += [name for name in self._optional if name != "label"]
        rows = rows.coalesce(partitions(self.source.total))
        return rows.mapInArrow(partial(checked_rows, self.checks, names), schema_of(names))

    def _count(self) -> np.ndarray:
        """Count what is wrong; the number of rows that count, by code."""
        groups = self.rows.groupBy("kind", "code")
        found = fetched(aggregated(groups, count="count(*)", first="min(row)"))
        kind, code, count, first = (column.to_numpy() for column in found.columns)
        self.issues.add_counts(kind, count, first)
        right = kind == OK
        size = self.checks.grid**2 * LABELS
        return np.bincount(code[right], count[right], size).astype(np.int64)

    def _note_groups(self) -> None:
        """Keep the groups that rows give to their nodes, and the first node with two."""
        ends = [("first", "ga"), ("second", "gb")][: 1 if self.one_sided else 2]
        every = None
        for node, group in ends:
            part = self.rows.selectExpr(f"{node} AS node", f"{group} AS grp")
            every = part if every is None else every.union(part)
        assert every is not None
        groups = every.where("node >= 0").groupBy("node")
        found = fetched(aggregated(groups, low="min(grp)", high="max(grp)"))
        node, low, high = (column.to_numpy() for column in found.columns)
        self.node_group[node] = high
        torn = node[low != high]
        if len(torn):
            listed = ", ".join(map(str, torn[:LOOKED_AT].tolist()))
            row = self._first(f"first IN ({listed}) OR second IN ({listed})")
            at = next(each for each in self.ends_of(row) if each in torn)
            self.torn = at, int(low[node == at][0]), int(self.node_group[at])

    def _first(self, condition: str) -> int:
        """The first row for which a condition holds."""
        return int(self.rows.where(condition).selectExpr("min(row)").first()[0])

    def ends_of(self, row: int) -> tuple[int, int]:
        """Numbers of the two nodes of a row, −1 for none."""
        first, second = self.rows.where(f"row = {row}").select("first", "second").first()
        return int(first), int(second)

    def lacks_source_group(self, row: int) -> bool:
        """Whether the row has no group of its source, where rows have the groups."""
        return bool(self.rows.where(f"row = {row}").select("ga").first()[0] < 0)

    def grouped_sides(self) -> list[bool]:
        """Whether any source, and any target, has a group in the table of nodes."""
        rows = self.rows.select("first", "second")
        found = list(gathered(rows, partial(grouped_sides, self.node_group)))
        return [any(side) for side in zip(*found, strict=True)]

    def first_row(self, node: int) -> int:
        """The first row that a node is in."""
        return self._first(f"first = {node} OR second = {node}")

    def _sizes(self, table: SparkTable) -> np.ndarray:
        """Nodes of each group in the rows that count."""
        nodes = table.frame.select("first")
        if not self.one_sided:
            nodes = nodes.union(table.frame.select("second"))
        size = len(self.groups.names) + 1
        distinct = nodes.where("first >= 0").distinct()
        parts = gathered(distinct, partial(group_sizes, self.node_group, size))
        return sum(parts, np.zeros(size, dtype=np.int64))


def _check_duplicates(table: SparkTable, faults: Faults) -> None:
    """Every pair once: an error by default, or the first row of each."""
    pairs = table.pairs
    again = aggregated(pairs.groupBy("low", "high"), kept="min(row)", rows="count(*)")
    again = table.place.keep(again.where("rows > 1").drop("rows"))
    if not again.count():
        return
    later = pairs.join(again, ["low", "high"]).where("row > kept")
    found = fetched(aggregated(later.groupBy("code"), count="count(*)"))
    code, gone = (column.to_numpy() for column in found.columns)
    if table.options.untidy.duplicates == "error":
        first, again = later.selectExpr("kept", "row").orderBy("row").first()
        faults.add(duplicate(table, int(first), int(again), int(gone.sum())))
        return
    names = table.frame.columns
    kept = pairs.join(again, ["low", "high"], "left").where("kept IS NULL OR row = kept")
    table.frame = table.place.keep(kept.select(*names).coalesce(partitions(table.total)))
    table.counts = table.counts - np.bincount(code, gone, len(table.counts)).astype(np.int64)
    table.dropped["duplicates"] = int(gone.sum())
