"""DuckDB behind the door: files, Arrow tables and streams, and what goes wrong with them."""

from types import SimpleNamespace

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from table_cases import make_scores, write

from linkparity.reading.duckdb import (
    ROW,
    Duck,
    Input,
    arrow_array,
    fetch_batches,
    fetch_table,
    numpy_array,
)
from linkparity.reading.files import open_table_file
from linkparity.reading.spark_rows import rows_as_numbers
from linkparity.support.errors import InputError, PlainError
from linkparity.support.files import Workspace


@pytest.fixture
def duck():
    with Workspace() as workspace, Duck(workspace) as opened:
        yield opened


def header(*columns):
    return Input("t", "", columns, {})


def test_arrow_tables_are_numbered_in_their_order(duck):
    data = pa.table({"id": ["b", "a", "c"], "x": [3.0, 1.0, 2.0]})
    for name, given in (("whole", data), ("stream", data.to_reader(max_chunksize=2))):
        table = duck.register(given, name, header("id", "x"))
        assert table.columns == ("id", "x")
        found = duck.arrow(f"SELECT * FROM {table.view} ORDER BY {ROW}")
        assert found["id"].to_pylist() == ["b", "a", "c"]
        assert found[ROW].to_pylist() == [0, 1, 2]
        assert duck.values(table, "x * 2", np.array([0, 2])) == [6.0, 4.0]


def test_long_results_come_in_batches(duck):
    count = 100_000
    duck.run(f"CREATE TABLE long AS SELECT range AS x, range % 3 AS k FROM range({count})")
    parts = list(duck.batches("SELECT x FROM long ORDER BY x", rows=10_000))
    assert len(parts) > 1
    assert np.array_equal(np.concatenate([part["x"] for part in parts]), np.arange(count))
    sums = duck.arrow("SELECT k, sum(x) AS s FROM long GROUP BY k ORDER BY k")["s"].to_pylist()
    assert sums == [int(np.arange(k, count, 3).sum()) for k in range(3)]


class Renamed:
    """A relation with the names of DuckDB 2.0 only."""

    def to_arrow_table(self):
        return "table"

    def to_arrow_reader(self, rows):
        return f"batches of {rows}"


class Former:
    """A relation with the names before."""

    def fetch_arrow_table(self):
        return "table"

    def fetch_record_batch(self, rows):
        return f"batches of {rows}"


@pytest.mark.parametrize("relation", [Renamed(), Former()])
def test_results_are_fetched_under_old_and_new_names(relation):
    assert fetch_table(relation) == "table"
    assert fetch_batches(relation, 7) == "batches of 7"


class RenamedConnection:
    """A connection whose relations have the names of DuckDB 2.0 only."""

    def __init__(self, connection):
        self.connection = connection

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.connection.close()

    def register(self, name, table):
        self.connection.register(name, table)

    def unregister(self, name):
        self.connection.unregister(name)

    def sql(self, query):
        return SimpleNamespace(to_arrow_table=lambda: fetch_table(self.connection.sql(query)))

    def execute(self, query):
        return self.sql(query)


@pytest.mark.parametrize("renamed", [False, True])
def test_workers_of_spark_read_with_old_and_new_names(monkeypatch, renamed):
    if renamed:
        connect = duckdb.connect
        monkeypatch.setattr(duckdb, "connect", lambda **args: RenamedConnection(connect(**args)))
    batches = pa.table({"x": [1, 2, 3]}).to_batches(max_chunksize=2)
    lookup = pa.table({"x": [1, 3], "name": ["a", "c"]})
    query = "SELECT name FROM rows JOIN names USING (x)"
    found = rows_as_numbers(query, "rows", {"names": lookup}, iter(batches))
    assert pa.Table.from_batches(found)["name"].to_pylist() == ["a", "c"]


def test_an_error_of_another_origin_passes_as_it_is(duck):
    for error in (ZeroDivisionError(), ValueError("mine"), FileNotFoundError(2, "none", "x")):
        assert duck.explain(error) is None
    full = duck.explain(OSError(28, "No space left on device"))
    assert isinstance(full, PlainError)
    assert "nothing was written; free some space" in str(full)


@pytest.mark.parametrize("shape", ["csv", "tsv", "csv.gz", "parquet"])
def test_files_are_read_as_they_are(duck, shape, tmp_path):
    scores, _, _ = make_scores()
    path = write(scores.assign(note='a "b",\tc'), tmp_path / f"s [1].{shape}")
    file = open_table_file(str(path), duck.workspace)
    table = duck.load(file, "scores")
    assert table.columns == ("source", "target", "score", "label", "note")
    assert table.text == (shape != "parquet")
    assert duck.files == [file]
    found = duck.arrow(f"SELECT * FROM scores ORDER BY {ROW}").to_pandas()
    assert found[ROW].tolist() == [*range(len(scores))]
    for column in ("source", "target", "note"):
        assert found[column].tolist() == [*scores.get(column, ['a "b",\tc'] * len(scores))]
    assert found.score.astype(float).tolist() == scores.score.tolist()


BAD = {
    "ragged.csv": b"source,target,score\na,b,0.5\na,b\n",
    "latin.csv": "source,target,score\né,b,0.5\n".encode("latin-1"),
    "nul.csv": b"source,target\0,score\na,b,0.5\n",
    "not.parquet": b"source,target,score\n",
    "cut.parquet": None,
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_is_named(duck, name, tmp_path):
    path = tmp_path / name
    content = BAD[name]
    if content is None:
        make_scores()[0].to_parquet(path)
        content = path.read_bytes()[:-40]
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        duck.load(open_table_file(str(path), duck.workspace), "bad")
    assert str(caught.value).startswith(f"{path}: ")
    assert caught.value.message.fix


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 3], [1, None, 3], [0.5, 1.5], [0.5, None], [True, False], [True, None],
        ["a", None], [], [None, None],
    ],
)  # fmt: skip
def test_arrow_arrays_become_what_their_own_method_makes_of_them(values):
    for array in (pa.array(values), pa.array([*values, *values]).slice(len(values))):
        got, wanted = numpy_array(array), array.to_numpy(zero_copy_only=False)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64, np.int8, np.bool_])
def test_numbers_become_arrow_arrays_of_their_type(dtype):
    values = np.arange(10).astype(dtype)
    for part in (values, values[::3], values[:0]):
        assert arrow_array(part).equals(pa.array(part))
