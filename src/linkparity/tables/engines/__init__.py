"""Where tables are worked on: DuckDB, Spark, or any Ibis backend."""
