"""Engines: where tables are stored and worked on, by name."""

from typing import Any

from linkparity.support.registry import Registry
from linkparity.support.workspace import Workspace
from linkparity.tables.engines.base import Engine
from linkparity.tables.engines.duckdb import DuckEngine
from linkparity.tables.engines.spark import SparkEngine

#: The engines that read and write files.
ENGINES: Registry[type[Engine]] = Registry("engine", {"duckdb": DuckEngine, "spark": SparkEngine})
#: What the method asks of an Ibis backend; tables of others are read into DuckDB.
NEEDED = ("Hash", "IsNan", "RowNumber", "TryCast", "WindowFunction")
#: Size of a table that may not fit into memory.
LARGE = 1 << 40


def open_engine(name: str, workspace: Workspace, size: int) -> Engine:
    """Start the engine of a name or URL, such as ``duckdb`` or ``spark://host:7077``."""
    by_url = (key for key, engine in ENGINES.items() if name.startswith(engine.urls))
    return ENGINES[next(by_url, name)].open(workspace, size, name)


def engine_of(con: Any, workspace: Workspace, size: int = 0) -> Engine:
    """The engine for a table in the Ibis backend ``con``, or in memory where that is None."""
    from ibis.expr import operations

    if con is None:
        return DuckEngine(workspace, size)
    if not all(con.has_operation(getattr(operations, name)) for name in NEEDED):
        return DuckEngine(workspace, LARGE)
    kinds = (engine for engine in ENGINES.values() if engine.backend == con.name)
    return next(kinds, Engine).attach(con, workspace)
