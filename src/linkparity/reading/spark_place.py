"""Tables of scores in Spark, and what is kept in its memory meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkparity.reading.columns import Columns, ReadOptions
from linkparity.reading.duckdb import ROW, Duck, Input, quoted
from linkparity.reading.pair_table import PairTable, RowLookup
from linkparity.reading.row_errors import lacking
from linkparity.support.spark_frames import fetched, partitions, quoted_name

#: Bits of a row's number that count the rows of a partition; the others number partitions.
PARTITION_BITS = 33


class SparkInput(RowLookup):
    """A table of scores in Spark, its rows numbered in their order, with gaps.

    Attributes:
        frame: all columns and :data:`ROW`, kept in Spark's memory.
        given: the table; in DuckDB it holds distinct values of some columns alone.
        total: number of rows.
    """

    def __init__(
        self, place: "SparkPlace", frame: Any, name: str, view: str, text: bool = False
    ) -> None:
        from pyspark.sql import functions
        from pyspark.sql.pandas.types import to_arrow_schema

        duck, names = place.duck, tuple(frame.columns)
        self.frame = place.keep(frame.withColumn(ROW, functions.monotonically_increasing_id()))
        parts = self.frame.selectExpr(f"shiftright({ROW}, {PARTITION_BITS}) AS part")
        counts = sorted(map(tuple, parts.groupBy("part").count().collect()))
        self.total = sum(count for _, count in counts)
        self._before = {
            part: sum(count for other, count in counts if other < part) for part, _ in counts
        }
        duck.connection.register(f"{view}_empty", to_arrow_schema(self.frame.schema).empty_table())
        duck.run(f"CREATE TABLE {view} AS SELECT * FROM {view}_empty")
        described = {str(row[0]): str(row[1]) for row in duck.rows(f"DESCRIBE {view}")}
        types = {column: described[column] for column in names}
        super().__init__(duck, Input(name, view, names, types, text))

    def add_distinct(self, columns: Sequence[str]) -> None:
        """Put the distinct values of some columns into DuckDB, others being null."""
        if any(self.given.type(name) == "nested" for name in columns):
            return  # the reader says so
        found = fetched(self.frame.select(*map(quoted_name, columns)).distinct())
        self.duck.connection.register("distinct_values", found)
        names = ", ".join(map(quoted, columns))
        self.duck.run(f"INSERT INTO {self.given.view} BY NAME SELECT {names} FROM distinct_values")
        self.duck.connection.unregister("distinct_values")

    def position(self, row: int) -> int:
        """The place of a row in the table, from 1."""
        part, place = divmod(row, 1 << PARTITION_BITS)
        return int(self._before[part]) + place + 1

    def value(self, row: int, column: str) -> Any:
        """What a column holds there."""
        return self.frame.where(f"{ROW} = {row}").select(quoted_name(column)).first()[0]


@dataclass(eq=False, kw_only=True)
class SparkTable(PairTable):
    """A checked table whose rows are in Spark.

    Attributes:
        source: the table as given.
        frame: the rows that count: ``row, first, second, code, score`` and, if there are such,
            ``weight`` and the scores ``before``.
        place: what is kept in Spark's memory.
    """

    source: SparkInput
    frame: Any
    place: "SparkPlace"

    @property
    def pairs(self) -> Any:
        """The rows that count, with the ``low`` and ``high`` end of each."""
        ends = ("first", "second")
        if not self.options.ordered:
            ends = ("least(first, second)", "greatest(first, second)")
        return self.frame.selectExpr("*", f"{ends[0]} AS low", f"{ends[1]} AS high")

    def with_scores_of(self, other: PairTable) -> PairTable:
        """The table with the scores of another one beside its own; every pair must be in both."""
        assert isinstance(other, SparkTable)
        theirs = other.pairs.selectExpr("low", "high", "row AS other_row", "score AS before")
        both = self.pairs.join(theirs, ["low", "high"], "full_outer")
        both = self.place.keep(both.coalesce(partitions(self.total)))
        for one, two, row, absent in (
            (self, other, "row", "other_row"), (other, self, "other_row", "row")
        ):  # fmt: skip
            found = both.where(f"{absent} IS NULL").selectExpr(f"min({row})", "count(*)").first()
            if found[1]:
                raise lacking(one, two, int(found[0]), int(found[1]))
        names = [*self.frame.columns, "before"]
        self.frame, self.other = both.select(*names), other
        return self

    @property
    def largest_weight(self) -> float:
        """The largest weight of a row that counts."""
        return float(self.frame.selectExpr("max(weight)").first()[0] or 0.0)


class SparkPlace:
    """Where tables are in Spark, and what is kept in its memory meanwhile."""

    def __init__(self, session: Any, duck: Duck) -> None:
        self.session, self.duck = session, duck
        self.inputs: dict[str, SparkInput] = {}
        self.kept: list[Any] = []

    def keep(self, frame: Any) -> Any:
        """A DataFrame that is computed once."""
        self.kept.append(frame.persist())
        return self.kept[-1]

    def hand_over(self, frame: Any) -> None:
        """Leave what is kept of a DataFrame to the caller."""
        self.kept = [each for each in self.kept if each is not frame]

    def release(self) -> None:
        """Free the memory."""
        for frame in self.kept:
            frame.unpersist()

    def add_distinct(
        self, picked: Sequence[Columns], options: ReadOptions, with_nodes: bool
    ) -> None:
        """Put the values that are numbered into DuckDB: groups of rows, and ids if needed."""
        for known, columns in zip(self.inputs.values(), picked, strict=True):
            sets = []
            if not with_nodes:
                sets += [each for each in (columns.source_groups, columns.target_groups) if each]
            if not with_nodes or options.unlisted or options.bipartite:
                sets += [(columns.source,), (columns.target,)]
            for each in dict.fromkeys(sets):
                known.add_distinct(each)
