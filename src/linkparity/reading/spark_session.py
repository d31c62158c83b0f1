"""A Spark session, here or at a master's URL, and its errors in one sentence."""

import logging
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

from linkparity.support.errors import PlainError, require

EXTRA = "linkparity[spark]"
#: Beginnings of the URLs of masters.
URLS = ("spark://", "local", "yarn", "k8s://")
#: Rows that a worker's Python gets at once.
BATCH = 1 << 16


@contextmanager
def session_at(master: str | None, place: Path) -> Iterator[Any]:
    """The session of this process, or one that ends with the block.

    At no master, it runs on this machine alone.

    Args:
        master: URL of the master.
        place: a private directory for temporary files.
    """
    known = require("pyspark.sql", "--engine spark", EXTRA).SparkSession.getActiveSession()
    if known is not None:
        yield known
        return
    with _silent():
        yield from _own_session(master, place)


@contextmanager
def _silent() -> Iterator[None]:
    """Nothing is logged where nobody asked for a log: an exception says the same."""
    handler = logging.NullHandler()
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def _own_session(master: str | None, place: Path) -> Iterator[Any]:
    """A new session, which ends when the caller goes on."""
    interrupt = signal.getsignal(signal.SIGINT)
    session = _start(master, place)
    java = session._jvm
    if current_thread() is main_thread():  # the handler of Spark would call Spark amid an answer
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield session
    except Exception:
        _stop(session, java)
        raise
    except BaseException:  # an answer may be on its way, so that Java would not listen
        process = session.sparkContext._gateway.proc
        process.kill()
        process.wait()
        raise
    _stop(session, java)


def _stop(session: Any, java: Any) -> None:
    with suppress(Exception):  # the session may be what failed
        session.stop()
        _forget_local_directory(java)


def _start(master: str | None, place: Path) -> Any:
    sql = require("pyspark.sql", "--engine spark", EXTRA)
    require("pandas", "--engine spark", EXTRA)  # of which Spark's Arrow functions ask
    builder = sql.SparkSession.builder.appName("linkparity").master(master or "local[*]")
    here = master is None or master.startswith("local")
    log = Path(__file__).with_name("spark-log4j2.properties").as_uri()
    settings = {
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log}",
        "spark.driver.maxResultSize": "0",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "8" if here else "200",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.warehouse.dir": str(place / "warehouse"),
    }
    if here:  # nothing listens but on this machine, and temporary files are private
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(place / "spark"),
        }
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        with _this_python(here):
            return builder.getOrCreate()
    except Exception as error:
        if not of_spark(error):
            raise
        wanted = "no Spark session here" if master is None else f"no Spark session at {master}"
        fix = "check that Java 17 is installed"
        fix += "" if master is None else ", that the master runs and that its URL is right"
        raise PlainError(f"{wanted} ({cause(str(error))})", fix) from None


@contextmanager
def _this_python(here: bool) -> Iterator[None]:
    """Have workers on this machine run the same Python, unless the caller names one."""
    name = "PYSPARK_PYTHON"
    if not here or name in os.environ:
        yield
        return
    import sys

    os.environ[name] = sys.executable
    try:
        yield
    finally:
        del os.environ[name]


def _forget_local_directory(java: Any) -> None:
    """Have the next session of this process use its own directory for temporary files.

    Spark remembers that of the first, which is gone by then, and would make it again, for all to
    read and for nobody to remove.
    """
    getattr(getattr(java.org.apache.spark.util, "Utils$"), "MODULE$").clearLocalRootDirs()


def of_spark(error: BaseException) -> bool:
    """Whether Spark raised an error."""
    return type(error).__module__.split(".")[0] in ("pyspark", "py4j")


def explain_spark(error: BaseException) -> BaseException | None:
    """What to raise instead: Spark failed on the way, for example because a worker is lost."""
    if not of_spark(error):
        return None
    problem = f"Spark failed ({cause(str(error))}); nothing was written"
    return PlainError(problem, "look into Spark's own logs, or use {engine=duckdb}")


def cause(message: str) -> str:
    """The essence of a long message of Spark."""
    if found := re.search(r"Malformed CSV record: .*?(?= SQLSTATE|\n)", message):
        return found[0]
    if python := re.findall(r"^\w[\w.]*(?:Error|Exception): .*$", message, re.MULTILINE):
        return str(python[-1])
    first, _, rest = message.strip().partition("\n")
    called = first.startswith("An error occurred") and rest
    return rest.partition("\n")[0].removeprefix(": ") if called else first
