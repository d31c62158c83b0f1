"""Engines: where tables are stored and worked on, by name."""

from linkparity.support.registry import Registry
from linkparity.tables.engines.base import Engine
from linkparity.tables.engines.duckdb import DuckEngine
from linkparity.tables.engines.spark import SparkEngine

#: The engines that read and write files.
ENGINES: Registry[type[Engine]] = Registry("engine", {"duckdb": DuckEngine, "spark": SparkEngine})
