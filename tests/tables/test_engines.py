"""The contract of an engine, for every registered one and for plain Ibis backends."""

import shutil

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from table_cases import make_scores, read, write

from linkparity.graph.groups import UntidyPolicy
from linkparity.support.errors import InputError, PlainError
from linkparity.support.files import Workspace
from linkparity.tables.audit_table import AuditOptions, audit_table
from linkparity.tables.correct_table import ProjectOptions, correct_table
from linkparity.tables.engines import ENGINES
from linkparity.tables.engines.base import ROW, Engine, Input
from linkparity.tables.reading.columns import ReadOptions
from linkparity.tables.reading.files import FileTables, open_engine, open_table_file

NEEDS = {
    "spark": [
        pytest.mark.spark,
        pytest.mark.skipif(shutil.which("java") is None, reason="needs Java"),
    ]
}
FOR_FILES = [pytest.param(name, marks=NEEDS.get(name, ())) for name in ENGINES]
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", params=[*FOR_FILES, "ibis"])
def engine(request):
    """Every registered engine, and the base class over a backend of the caller."""
    with Workspace() as workspace:
        if request.param == "ibis":
            opened = Engine.attach(ibis.duckdb.connect(), workspace)
        else:
            opened = open_engine(request.param, workspace, 0)
        with opened:
            yield opened


@pytest.fixture(scope="module", params=FOR_FILES)
def files(request):
    with Workspace() as workspace, open_engine(request.param, workspace, 0) as opened:
        yield opened


def test_a_name_or_a_url_chooses_the_engine():
    urls = [url for each in ENGINES.values() for url in each.urls]
    assert len(set(urls)) == len(urls)
    with Workspace() as workspace:
        with pytest.raises(InputError, match="unknown engine 'duck'; did you mean 'duckdb'"):
            open_engine("duck", workspace, 0)
        with open_engine("duckdb", workspace, 0) as opened:
            assert isinstance(opened, ENGINES["duckdb"])


def test_arrow_tables_are_numbered_in_their_order(engine):
    data = pa.table({"id": ["b", "a", "c"], "x": [3.0, 1.0, 2.0]})
    for given in (data, data.to_reader()):
        table = engine.take(given, "given" if given is data else "streamed")
        found = table.order_by(ROW).to_pyarrow()
        assert found["id"].to_pylist() == ["b", "a", "c"]
        assert np.diff(found[ROW].to_numpy()).min() > 0
        for position, row in enumerate(found[ROW].to_pylist(), 1):
            assert engine.position(Input("t", table), row) == position


def test_results_come_small_or_in_batches_and_are_counted(engine):
    count = 100_000
    rows = engine.take(pa.table({"k": np.arange(count) % 3, "x": np.arange(count)}), "long")
    before = engine.scans
    kept = engine.keep(rows.mutate(y=rows.x * 2), "kept")
    sums = engine.small(kept.group_by("k").aggregate(s=kept.y.sum()).order_by("k"))
    assert sums["s"].tolist() == [int(np.arange(k, count, 3).sum() * 2) for k in range(3)]
    parts = list(engine.batches(kept.select("x").order_by("x")))
    assert np.array_equal(np.concatenate([part[0] for part in parts]), np.arange(count))
    assert engine.scans == before + 3


def test_a_lookup_is_joined_and_hashes_tell_ids_apart(engine):
    ids = [f"n{i}" for i in range(70_000)]
    rows = engine.take(pa.table({"id": ids, "k": np.arange(70_000, dtype=np.int32) % 2}), "ids")
    small = engine.lookup(pa.table({"j": pa.array([0, 1], pa.int32()), "w": [0.5, 0.25]}))
    joined = rows.inner_join(small, rows.k == small.j)
    assert engine.small(joined.aggregate(s=joined.w.sum()))["s"][0] == 70_000 * 0.375
    hashed = rows.select(h=engine.hash_ids(rows.id)).distinct()
    assert engine.small(hashed.aggregate(n=hashed.count()))["n"][0] == 70_000


def test_an_error_of_another_origin_passes_as_it_is(engine):
    for error in (ZeroDivisionError(), ValueError("mine"), FileNotFoundError(2, "none", "x")):
        assert engine.explain(error) is None
    full = engine.explain(OSError(28, "No space left on device"))
    assert isinstance(full, PlainError)
    assert "nothing was written; free some space" in str(full)


@pytest.mark.parametrize("shape", ["csv", "tsv", "csv.gz", "parquet"])
def test_files_are_read_as_they_are(files, shape, tmp_path):
    scores, _, _ = make_scores()
    path = write(scores.assign(note='a "b",\tc'), tmp_path / f"s [1].{shape}")
    file = open_table_file(str(path), files.workspace)
    table = files.read(file, f"read_{shape.replace('.', '_')}")
    assert table.columns == ["source", "target", "score", "label", "note"]
    assert table.text == (shape != "parquet")
    assert files.files[-1] is file
    found = table.table.order_by(ROW).to_pandas()
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
def test_a_file_that_cannot_be_read_is_named(files, name, tmp_path):
    path = tmp_path / name
    content = BAD[name]
    if content is None:
        make_scores()[0].to_parquet(path)
        content = path.read_bytes()[:-40]
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        files.read(open_table_file(str(path), files.workspace), "bad")
    assert str(caught.value).startswith(f"{path}: ")
    assert caught.value.message.fix


@pytest.mark.parametrize("name", FOR_FILES)
def test_untidy_tables_give_what_duckdb_gives(name, tmp_path):
    scores, people, _ = make_scores(extreme=True)
    loop = pd.DataFrame([("7", "7", 0.5, 0)], columns=scores.columns)
    back = scores[:3].rename(columns={"source": "target", "target": "source"})
    untidy = pd.concat([scores[:50], loop, back, scores[50:]], ignore_index=True)
    given = write(untidy, tmp_path / "s.parquet")
    nodes = write(people[:-2], tmp_path / "n.csv")
    options = ReadOptions(("kind",), untidy=UntidyPolicy("group", "first", "drop"))
    found = {}
    for each in ("duckdb", name):
        out = tmp_path / f"{each}.tsv.gz"
        tables = FileTables(str(given), str(nodes), options, each, out=str(out))
        audit = audit_table(tables, AuditOptions(confidence=None))
        _, report = correct_table(tables, ProjectOptions(explain=True, force=True))
        found[each] = (audit, report, read(out))
    (audit, report, rows), (other, again, theirs) = found["duckdb"], found[name]
    assert other.values == pytest.approx(audit.values, abs=1e-9)
    assert other.dropped == audit.dropped == {"self-loops": 1, "duplicates": 3}
    assert again.after == pytest.approx(report.after, abs=1e-9)
    assert list(rows.columns) == [*scores.columns, "fair_score", "tilt"]
    assert rows.source.tolist() == theirs.source.tolist() == scores.source.tolist()
    for column in ("fair_score", "tilt"):
        assert np.abs(rows[column] - theirs[column]).max() < 1e-9
