"""Spark: the same expressions where the data outgrow one machine."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkparity.support.errors import PlainError
from linkparity.support.optional import require
from linkparity.support.workspace import Workspace
from linkparity.tables.engines.base import ROW, Engine, Input, numbered
from linkparity.tables.engines.duckdb import (
    DuckEngine,
    check_parquet,
    copy_options,
    literal_path,
    text,
)
from linkparity.tables.reading.files import DELIMITER, Format, Source, check_text, read_header

if TYPE_CHECKING:
    from linkparity.tables.reading.score_table import ScoreTable

EXTRA = "linkparity[spark]"


class SparkEngine(Engine):
    """A Spark session, local or at a master's URL; files must lie where its workers see them.

    Args:
        workspace: where the corrected table is put together.
        master: URL such as ``spark://host:7077``; the local machine by default.
        con: an Ibis backend to use instead of a session of our own.
    """

    def __init__(self, workspace: Workspace, master: str | None = None, con: Any = None) -> None:
        self.workspace = workspace
        self.views = 0
        self.owned = con is None
        if con is None:
            ibis = require("ibis", "--engine spark", EXTRA)
            con = ibis.pyspark.connect(_session(master))
        super().__init__(con)
        self.session = con._session

    def read(self, source: Source, name: str) -> Input:
        """A file as the table ``name``; rows are numbered in their order, with gaps."""
        functions = require("pyspark.sql.functions", "--engine spark", EXTRA)
        path = source.path.absolute().as_uri()
        try:
            if source.kind == "parquet":
                check_parquet(source)
                frame = self.session.read.parquet(path)
            else:
                check_text(source)
                schema = ", ".join(f"`{_ticked(column)}` string" for column in read_header(source))
                frame = self.session.read.csv(
                    path, schema, header=True, sep=DELIMITER[source.kind], quote='"', escape='"',
                    mode="FAILFAST", multiLine=True, enforceSchema=True,
                )  # fmt: skip
            frame = frame.withColumn(ROW, functions.monotonically_increasing_id()).cache()
            frame.count()
        except Exception as error:
            if not _of_spark(error):
                raise
            raise ValueError(
                f"{source.name}: Spark cannot read it ({_cause(str(error))}); mend the file "
                "(--engine duckdb names the row)"
            ) from None
        frame.createOrReplaceTempView(name)
        return Input(source.name, self.con.table(name), text=source.kind != "parquet")

    def keep(self, expression: Any, name: str) -> Any:
        """Work the expression out once and keep the result in Spark's cache."""
        self.scans += 1
        frame = self.session.sql(self.con.compile(expression)).cache()
        frame.count()
        return self._view(frame)

    def number(self, ids: Any) -> Any:
        """A number of 64 bits that tells ids apart; Spark's own hash has 32."""
        ibis = require("ibis", "--engine spark", EXTRA)

        @ibis.udf.scalar.builtin(signature=(("string",), "int64"))
        def xxhash64(text):  # type: ignore[no-untyped-def]
            """Of Spark."""

        return xxhash64(ids.cast("string"))

    def take(self, frame: Any, name: str) -> Any:
        """An Arrow table in memory as a numbered table of this session."""
        return self.lookup(numbered(frame, name))

    def lookup(self, data: Any) -> Any:
        """A few numbers in an Arrow table, to be joined."""
        return self._view(self.session.createDataFrame(data.to_pandas()))

    def _view(self, frame: Any) -> Any:
        self.views += 1
        frame.createOrReplaceTempView(f"linkparity_{self.views}")
        return self.con.table(f"linkparity_{self.views}")

    def position(self, table: Input, row: int) -> int:
        """The row's number as a person counts, from 1."""
        return int(table.table.filter(table.table[ROW] <= row).count().execute())

    def write(
        self, table: "ScoreTable", fair: Any, names: list[str], path: str, shape: Format
    ) -> None:
        """Spark writes parts; DuckDB puts them into one file, in order."""
        self.scans += 1
        given = table.written(shape.kind == "parquet")
        fair = fair.rename(_lp_fair_row="row")
        joined = given.inner_join(fair, given[ROW] == fair["_lp_fair_row"])
        place = self.workspace.path / "parts"
        self.con.to_parquet_dir(joined.drop("_lp_fair_row"), str(place))
        duck = DuckEngine(self.workspace, size=1 << 40)
        try:
            parts = text(f"{literal_path(place)}/*.parquet")
            query = f"SELECT * EXCLUDE ({ROW}) FROM read_parquet({parts}) ORDER BY {ROW}"
            duck.run(f"COPY ({query}) TO {text(path)} ({copy_options(shape)})")
        finally:
            duck.close()

    def close(self) -> None:
        """End the session, unless somebody else began it."""
        if self.owned:
            self.session.stop()


def _session(master: str | None) -> Any:
    sql = require("pyspark.sql", "--engine spark", EXTRA)
    builder = sql.SparkSession.builder.appName("linkparity").master(master or "local[*]")
    quiet = Path(__file__).with_name("spark-log4j2.properties").as_uri()
    for key, value in (
        ("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={quiet}"),
        ("spark.ui.enabled", "false"),
        ("spark.ui.showConsoleProgress", "false"),
        ("spark.sql.shuffle.partitions", "8" if master is None else "200"),
        ("spark.sql.execution.arrow.pyspark.enabled", "true"),
        ("spark.sql.session.timeZone", "UTC"),
    ):
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        if not _of_spark(error):
            raise
        what = "no Spark session here" if master is None else f"no Spark session at {master}"
        raise PlainError(
            f"--engine: {what} ({_cause(str(error))}); check that Java 17 is installed"
            + ("" if master is None else ", that the master runs and its URL is right")
        ) from None


@contextmanager
def readable_spark_errors() -> Iterator[None]:
    """Errors of Spark on the way, such as a lost worker, in one sentence."""
    try:
        yield
    except Exception as error:
        if not _of_spark(error):
            raise
        raise PlainError(
            f"--engine: Spark gave up ({_cause(str(error))}); nothing was written; look into "
            "Spark's own logs, or use --engine duckdb"
        ) from None


def _of_spark(error: Exception) -> bool:
    return type(error).__module__.split(".")[0] in ("pyspark", "py4j")


def _cause(message: str) -> str:
    """What a long message of Spark comes down to."""
    found = re.search(r"Malformed CSV record: .*?(?= SQLSTATE|\n)", message)
    if found:
        return found[0]
    lines = message.strip().split("\n")
    return lines[1].removeprefix(": ") if lines[0].startswith("An error occurred") else lines[0]


def _ticked(column: str) -> str:
    return column.replace("`", "``")
