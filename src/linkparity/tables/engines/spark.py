"""Spark: the same expressions for data that outgrow one machine."""

import codecs
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from linkparity.support.errors import InputError, PlainError, require
from linkparity.support.files import Workspace
from linkparity.tables.engines.base import (
    ROW,
    Engine,
    Format,
    Input,
    TableFile,
    literal_path,
    numbered,
)
from linkparity.tables.engines.duckdb import DuckEngine, check_parquet, text

if TYPE_CHECKING:
    from linkparity.tables.reading.score_table import ScoreTable

EXTRA = "linkparity[spark]"
#: Characters that make a path a pattern for several files.
GLOB = re.compile(r"[\[\]{}*?\\]")
#: Size of a database that is put together from Spark's parts.
LARGE = 1 << 40


class SparkEngine(Engine):
    """A Spark session, local or at a master's URL; its workers must see the files.

    Args:
        con: the Ibis backend.
        workspace: where Spark keeps temporary files, and the output is put together.
        owned: whether to end the session with the engine.
    """

    urls = ("spark://", "local", "yarn", "k8s://")
    backend = "pyspark"

    def __init__(self, con: Any, workspace: Workspace, owned: bool = False) -> None:
        super().__init__(con, workspace)
        self.owned = owned
        self.session = con._session
        self.views = 0

    @classmethod
    def open(cls, workspace: Workspace, size: int, name: str) -> Self:
        """Start a session, here or at the master whose URL is the name."""
        session = _session(None if name == "spark" else name, workspace.path)
        import ibis

        return cls(ibis.pyspark.connect(session), workspace, owned=True)

    def read(self, file: TableFile, name: str) -> Input:
        """Read a file as the table ``name``; rows are numbered in their order, with gaps."""
        functions = require("pyspark.sql.functions", "--engine spark", EXTRA)
        self.files.append(file)
        path = "file://" + GLOB.sub(r"\\\g<0>", str(file.path.absolute()))
        try:
            if file.kind == "parquet":
                check_parquet(file)
                frame = self.session.read.parquet(path)
            else:
                check_text(file)
                schema = ", ".join(f"`{_ticked(column)}` string" for column in file.header)
                frame = self.session.read.csv(
                    path, schema, header=True, sep=file.delimiter, quote='"', escape='"',
                    mode="FAILFAST", multiLine=True, enforceSchema=True,
                )  # fmt: skip
            frame = frame.withColumn(ROW, functions.monotonically_increasing_id()).cache()
            frame.count()
        except Exception as error:
            if not _of_spark(error):
                raise
            fix = "fix the file; DuckDB names the row ({engine=duckdb})"
            problem = f"Spark cannot read it ({_cause(str(error))})"
            raise InputError(problem, fix, where=file.name) from None
        frame.createOrReplaceTempView(name)
        return Input(file.name, self.con.table(name), text=file.kind != "parquet")

    def explain(self, error: Exception) -> BaseException | None:
        """What to raise instead: Spark failed on the way, for example because a worker is lost."""
        if _of_spark(error):
            problem = f"Spark failed ({_cause(str(error))}); nothing was written"
            return PlainError(problem, "look into Spark's own logs, or use {engine=duckdb}")
        return super().explain(error)

    def keep(self, expression: Any, name: str) -> Any:
        """Compute the expression once and keep the result in Spark's cache."""
        self.scans += 1
        frame = self.session.sql(self.con.compile(expression)).cache()
        frame.count()
        return self._view(frame)

    def hash_ids(self, ids: Any) -> Any:
        """A hash of 64 bits for each id; Spark's own hash has 32."""
        import ibis

        @ibis.udf.scalar.builtin(signature=(("string",), "int64"))
        def xxhash64(text):  # type: ignore[no-untyped-def]
            """Of Spark."""

        return xxhash64(ids.cast("string"))

    def take(self, data: Any, name: str) -> Any:
        """An Arrow table, or a stream of Arrow batches, as a numbered table of this session."""
        return self.lookup(numbered(data))

    def lookup(self, data: Any) -> Any:
        """A small Arrow table, to be joined."""
        return self._view(self.session.createDataFrame(data.to_pandas()))

    def _view(self, frame: Any) -> Any:
        self.views += 1
        frame.createOrReplaceTempView(f"linkparity_{self.views}")
        return self.con.table(f"linkparity_{self.views}")

    def position(self, table: Input, row: int) -> int:
        """The number of a row, counted from 1."""
        return int(table.table.filter(table.table[ROW] <= row).count().execute())

    def write(
        self, table: "ScoreTable", fair: Any, names: list[str], path: str, shape: Format
    ) -> None:
        """Have Spark write parts, and DuckDB put them into one file, in order."""
        self.scans += 1
        given = table.to_write(shape.kind == "parquet")
        fair = fair.rename(_lp_fair_row="row")
        joined = given.inner_join(fair, given[ROW] == fair["_lp_fair_row"])
        parts = self.workspace.path / "parts"
        self.con.to_parquet_dir(joined.drop("_lp_fair_row"), str(parts))
        with DuckEngine(self.workspace, LARGE) as duck:
            duck.lock(parts, Path(path).parent)
            pattern = text(f"{literal_path(parts)}/*.parquet")
            query = f"SELECT * EXCLUDE ({ROW}) FROM read_parquet({pattern}) ORDER BY {ROW}"
            duck.copy(query, path, shape)

    def close(self) -> None:
        """End the session, unless it is the caller's."""
        if self.owned:
            java = self.session._jvm
            self.session.stop()
            _forget_local_directory(java)


def _session(master: str | None, place: Path) -> Any:
    sql = require("pyspark.sql", "--engine spark", EXTRA)
    builder = sql.SparkSession.builder.appName("linkparity").master(master or "local[*]")
    log = Path(__file__).with_name("spark-log4j2.properties").as_uri()
    settings = {
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "8" if master is None else "200",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(place / "warehouse"),
    }
    if master is None:  # nothing listens but on this machine, and temporary files are private
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(place / "spark"),
        }
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        if not _of_spark(error):
            raise
        here = "no Spark session here" if master is None else f"no Spark session at {master}"
        fix = "check that Java 17 is installed"
        fix += "" if master is None else ", that the master runs and that its URL is right"
        raise PlainError(f"{here} ({_cause(str(error))})", fix) from None


def _forget_local_directory(java: Any) -> None:
    """Have the next session of this process use its own directory for temporary files.

    Spark remembers that of the first, which is gone by then, and would make it again, for all to
    read and for nobody to remove.
    """
    try:
        getattr(getattr(java.org.apache.spark.util, "Utils$"), "MODULE$").clearLocalRootDirs()
    except Exception as error:  # a Spark without this function
        if not _of_spark(error):
            raise


def _of_spark(error: Exception) -> bool:
    return type(error).__module__.split(".")[0] in ("pyspark", "py4j")


def _cause(message: str) -> str:
    """The essence of a long message of Spark."""
    found = re.search(r"Malformed CSV record: .*?(?= SQLSTATE|\n)", message)
    if found:
        return found[0]
    lines = message.strip().split("\n")
    return lines[1].removeprefix(": ") if lines[0].startswith("An error occurred") else lines[0]


def _ticked(column: str) -> str:
    return column.replace("`", "``")


def check_text(file: TableFile) -> None:
    """Refuse a file that is not UTF-8 text, for an engine that would read other characters."""
    decode = codecs.getincrementaldecoder("utf-8")().decode
    with file.path.open("rb") as data:
        try:
            while part := data.read(1 << 20):
                decode(part)
            decode(b"", final=True)
        except UnicodeDecodeError:
            fix = "save the file with the encoding UTF-8; DuckDB names the row ({engine=duckdb})"
            raise InputError("is not UTF-8 text throughout", fix, where=file.name) from None
