"""Spark gives what DuckDB gives: two workers, of which each has some of the rows."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from table_cases import exit_code, make_scores, read, write
from test_table_intervals import make, with_weights

import linkparity as lp
from linkparity.reading.spark_session import cause, session_at
from linkparity.support import spark_frames

pyspark = pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(shutil.which("java") is None, reason="needs Java"),
    pytest.mark.filterwarnings("ignore"),
]
#: Two workers of one core and 1024 MB each, in processes of their own.
CLUSTER = "local-cluster[2,1,1024]"


@pytest.fixture(scope="module", autouse=True)
def session(tmp_path_factory):
    """A session on two workers, which commands of this process use too."""
    work = Path(pyspark.__file__).parent / "work"
    with session_at(CLUSTER, tmp_path_factory.mktemp("session")) as opened:
        application = opened.sparkContext.applicationId
        opened.conf.set("spark.sql.shuffle.partitions", "2")
        yield opened
    shutil.rmtree(work / application, ignore_errors=True)
    with suppress(OSError):
        work.rmdir()


@pytest.fixture
def many_places(monkeypatch):
    """Rows in several partitions, though they are few."""
    monkeypatch.setattr(spark_frames, "PARTITION", 200)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    place = tmp_path_factory.mktemp("spark")
    scores, people, _ = make_scores(extreme=True)
    return write(scores, place / "s.csv"), write(people, place / "n.csv"), place


def results(capfd, *args):
    assert exit_code(*args) == 0
    return json.loads(capfd.readouterr().out)


def flat(value, path=""):
    if isinstance(value, dict):
        return {k: v for key, part in value.items() for k, v in flat(part, f"{path}.{key}").items()}
    if isinstance(value, list | tuple):
        return {k: v for i, part in enumerate(value) for k, v in flat(part, f"{path}.{i}").items()}
    return {path: value}


def assert_same(one, other):
    """All numbers are the same to nine digits, everything else exactly; passes may differ."""
    one, other = flat(one), flat(other)
    assert set(one) == set(other)
    for key, value in one.items():
        if key != ".scans":
            number = isinstance(value, float)
            same = pytest.approx(value, abs=1e-9, nan_ok=True) if number else value
            assert other[key] == same, key


def before_parity(report):
    """A report without what is left to rounding: between which groups a gap of 0 is."""
    found = report.to_dict()
    return found | {"gaps": [each for each in found["gaps"] if each["when"] == "before"]}


def undirected():
    """Ties; nodes without a group are kept."""
    frame, people, _, _ = make(nodes=30, ties=True)
    return frame, people[:-4], {"unknown": "keep"}


def directed():
    """Logits, weights, and both directions of a pair."""
    frame, people, _, _ = make(nodes=25, directed=True)
    logit = np.log(frame.score) - np.log1p(-frame.score)
    frame = with_weights(frame.assign(logit=logit).drop(columns="score"))
    return frame, people, {"directed": True, "weight": "w"}


def bipartite():
    """Groups of users alone; those without one are a group."""
    frame, people, _, _ = make(bipartite=True)
    return frame, people[:12], {"bipartite": True, "unknown": "group"}


def in_columns():
    """Groups of two attributes in the table of scores; repeated pairs and self-loops."""
    frame, people, _, _ = make(nodes=25)
    people = people.assign(age=np.where(np.arange(len(people)) % 3 == 0, "old", "young"))
    for end in ("source", "target"):
        for name in ("kind", "age"):
            frame[f"{end}_{name}"] = frame[end].map(people.set_index("node")[name])
    back = {"source": "target", "target": "source"}
    back |= {f"{a}_{n}": f"{b}_{n}" for a, b in back.items() for n in ("kind", "age")}
    loop = frame[:1].assign(
        target=frame.source[0],
        target_kind=frame.source_kind[0],
        target_age=frame.source_age[0],
    )
    frame = pd.concat([frame[:40], loop, frame[:3].rename(columns=back), frame[40:]])
    options = {"duplicates": "first", "self_loops": "drop"}
    return frame.reset_index(drop=True), None, options


@pytest.mark.parametrize(
    "make_case",
    [
        pytest.param(undirected, marks=pytest.mark.standing),
        directed,
        bipartite,
        pytest.param(in_columns, marks=pytest.mark.standing),
    ],
)
def test_data_frames_give_what_tables_in_memory_give(session, make_case, many_places):
    frame, people, options = make_case()
    sensitive = "kind" if people is not None else "kind,age"
    given = session.createDataFrame(frame).coalesce(1)
    nodes = None if people is None else session.createDataFrame(people)
    known = lp.audit(frame, sensitive, people, **options)
    assert_same(known.to_dict(), lp.audit(given, sensitive, nodes, **options).to_dict())
    options |= {"explain": True, "report": True}
    if make_case is not directed:
        options["confidence"] = None
    expected, report = lp.project(frame, sensitive, people, **options)
    fair, found = lp.project(given, sensitive, nodes, **options)
    assert_same(*map(before_parity, (report, found)))
    assert isinstance(fair, type(given))
    assert fair.columns == list(expected.columns)
    rows = pd.DataFrame([row.asDict() for row in fair.collect()])
    ends = ["source", "target"]
    rows, expected = (each.sort_values(ends).reset_index(drop=True) for each in (rows, expected))
    pd.testing.assert_frame_equal(rows, expected, check_dtype=False, rtol=0, atol=1e-9)


@pytest.mark.standing
@pytest.mark.parametrize("make_case", [undirected, directed])
def test_a_change_is_that_of_tables_in_memory(session, make_case, many_places):
    frame, people, options = make_case()
    score = frame.score if "score" in frame else 1 / (1 + np.exp(-frame.logit))
    other = frame[["source", "target"]].assign(score=(0.9 * score**2 + 0.01).round(2))
    known = lp.audit(frame, "kind", people, compare=other[::-1], **options)
    given = session.createDataFrame(frame).coalesce(1)
    compare = session.createDataFrame(other[::-1]).coalesce(1)
    found = lp.audit(given, "kind", people, compare=compare, **options)
    assert_same(known.to_dict(), found.to_dict())
    assert {"auc", "dp", "eo", "rdp"} <= set(found.change.intervals)
    with pytest.raises(ValueError, match=r"compare: row 1: the pair .* is not in scores"):
        lp.audit(given.where(f"source <> '{other.source.iloc[-1]}'"), "kind", people,
                 compare=compare, **options)  # fmt: skip
    with pytest.raises(TypeError, match="scores is a Spark DataFrame and compare is not"):
        lp.audit(given, "kind", people, compare=other)


def test_files_give_what_duckdb_gives(files, capfd):
    file, nodes, place = files
    common = (file, "--nodes", nodes, "--sensitive", "kind", "--json")
    assert_same(
        *(results(capfd, "audit", *common, "--engine", each) for each in ("duckdb", "spark"))
    )
    for engine in ("duckdb", "spark"):
        out = place / f"{engine}.csv"
        results(capfd, "project", *common, "--engine", engine, "--out", out, "--explain")
        out = place / f"{engine}.parquet"
        results(capfd, "project", *common, "--engine", engine, "--out", out)
    duck, spark = read(place / "duckdb.csv"), read(place / "spark.csv")
    pd.testing.assert_frame_equal(spark, duck, rtol=0, atol=1e-9)
    duck, spark = (pq.read_table(place / f"{e}.parquet") for e in ("duckdb", "spark"))
    assert duck.schema.equals(spark.schema)
    assert str(spark.schema.field("score").type) == "double"
    assert spark.drop_columns(["fair_score"]).equals(duck.drop_columns(["fair_score"]))


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param("tsv", marks=pytest.mark.standing),
        pytest.param("csv.gz", marks=pytest.mark.standing),
        "parquet",
    ],
)
def test_files_are_read_as_they_are(shape, tmp_path, capfd):
    scores, people, _ = make_scores(extreme=True)
    path = write(scores.assign(note='a "b",\tc'), tmp_path / f"s [1].{shape}")
    nodes = write(people, tmp_path / "n.csv")
    common = (path, "--nodes", nodes, "--sensitive", "kind", "--json")
    for engine in ("duckdb", "spark"):
        out = tmp_path / f"{engine}.tsv.gz"
        results(capfd, "project", *common, "--engine", engine, "--out", out)
    duck, spark = (read(tmp_path / f"{engine}.tsv.gz") for engine in ("duckdb", "spark"))
    pd.testing.assert_frame_equal(spark, duck, rtol=0, atol=1e-9)


def cut(path):
    make_scores()[0].to_parquet(path)
    path.write_bytes(path.read_bytes()[:-40])


BAD = {
    "ragged.csv": (
        b"source,target,score\na,b,0.5\na,b,0.4,9\n",
        "Spark cannot read it (Malformed CSV record: a,b,0.4,9); fix the file; DuckDB names",
    ),
    "latin.csv": (
        "source,target,score\né,b,0.5\n".encode("latin-1"),
        "is not UTF-8 text throughout; save the file with the encoding UTF-8; DuckDB names the row",
    ),
    "nul.csv": (b"source,target\0,score\na,b,0.5\n", "the header has a NUL character"),
    "not.parquet": (b"source,target,score\n", "Spark cannot read it ("),
    "cut.parquet": (cut, "Spark cannot read it ("),
    "score.csv": (
        b"source,target,score\na,b,0.5\na,c,7.5\n",
        "row 2, column 'score': holds '7.5', which is not a probability in [0, 1]",
    ),
    "id.csv": (
        b"source,target,score\na,b,0.5\n,c,0.5\n",
        "row 2, column 'source': the id is missing",
    ),
    "loop.csv": (b"source,target,score\na,a,0.5\n", "row 1, column 'target': node 'a' is paired"),
    "unknown.csv": (
        b"source,target,score\na,b,0.5\na,x,0.5\n",
        "row 2, column 'target': node 'x' is not in",
    ),
    "twice.csv": (
        b"source,target,score\na,b,0.5\nb,c,0.1\nb,a,0.5\n",
        "row 3, column 'source': the pair ('b', 'a') repeats row 1; keep the first",
    ),
    "empty.csv": (b"source,target,score\n", "has column names but no rows"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_one_line(name, tmp_path, capfd):
    content, told = BAD[name]
    path, nodes = tmp_path / name, tmp_path / "n.csv"
    nodes.write_text("node,kind\na,x\nb,y\nc,z\n")
    if callable(content):
        content(path)
    else:
        path.write_bytes(content)
    args = ("audit", path, "--nodes", nodes, "--sensitive", "kind", "--engine", "spark")
    assert exit_code(*args) == 2
    lines = [line for line in capfd.readouterr().err.splitlines() if "Error" in line]
    assert len(lines) == 1
    where, *rest = told.split(": ", 1) if told.startswith("row ") else ("", told)
    assert lines[0].startswith(f"Error: {path}: {where}")
    assert rest[0] in lines[0]


def test_nodes_of_two_groups_are_named(session, tmp_path):
    rows = [("a", "b", 0.5, "x", "y"), ("b", "c", 0.4, "z", "x"), ("a", "c", 0.4, "x", "x")]
    columns = ["source", "target", "score", "source_kind", "target_kind"]
    given = session.createDataFrame(rows, columns).coalesce(1)
    with pytest.raises(ValueError, match=r"row 1, column 'target': node 'b' has two groups in"):
        lp.audit(given, "kind")


@pytest.mark.standing
def test_a_hundred_thousand_ids_are_told_apart(tmp_path, capfd):
    count = 150_000
    rows = [f"s,t{i},0.5,a,{'abc'[i % 3]}" for i in range(count)]
    file = tmp_path / "many.csv"
    file.write_text("source,target,score,source_kind,target_kind\n" + "\n".join(rows) + "\n")
    found = results(capfd, "audit", str(file), "--sensitive", "kind", "--json", "--engine", "spark")
    assert found["pairs"] == count
    assert found["groups"] == {"a": 50_001, "b": 50_000, "c": 50_000}


def test_the_essence_of_a_message():
    worker = 'Traceback (most recent call last):\n  File "x"\nValueError: no\n\n\tat org.apache.x\n'
    assert cause(f"An exception was thrown from the Python worker.\n{worker}") == "ValueError: no"
    assert (
        cause("An error occurred while calling o1.count.\n: java.x: lost\n\tat y") == "java.x: lost"
    )


def without_session(*args, **more):
    """Run a command in a process of its own, which has no session yet."""
    code = "import sys; from linkparity.cli.command import main; main(sys.argv[1:])"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        capture_output=True, text=True, check=False, **more,
    )  # fmt: skip


def test_without_java_it_says_so(files, tmp_path):
    file, nodes, _ = files
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("bash", "env", "dirname"):
        (bare / name).symlink_to(shutil.which(name))
    args = ["audit", file, "--nodes", nodes, "--sensitive", "kind", "--engine", "spark"]
    env = {"PATH": str(bare), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = without_session(*args, env=env)
    assert done.returncode == 2
    assert "no Spark session here (" in done.stderr.splitlines()[-1]
    assert "check that Java 17 is installed" in done.stderr.splitlines()[-1]


@contextmanager
def running_master(place):
    """The URL of a cluster of one worker on this machine."""
    home = Path(pyspark.__file__).parent
    env = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"spark://127.0.0.1:{port}"
    work = ("--work-dir", str(place / "work"))
    parts = {
        "master.Master": ("--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"),
        "worker.Worker": ("--cores", "1", "--memory", "1g", "--webui-port", "0", *work, url),
    }
    running = []
    try:
        for name, args in parts.items():
            log = (place / name).open("w")
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *args]
            running.append(subprocess.Popen(command, env=env, cwd=place, stdout=log, stderr=log))
        for _ in range(300):
            if "Registering worker" in (place / "master.Master").read_text():
                break
            time.sleep(0.2)
        yield url
    finally:
        for process in running:
            process.terminate()
            process.wait()


@pytest.mark.standing
def test_a_cluster_by_its_url_equals_duckdb(files, tmp_path):
    file, nodes, _ = files
    env = os.environ | {"PYSPARK_PYTHON": sys.executable}
    with running_master(tmp_path) as master:
        for engine in ("duckdb", master):
            args = ["project", file, "--nodes", nodes, "--sensitive", "kind", "--engine", engine]
            done = without_session(*args, "--out", tmp_path / f"{engine[:5]}.csv", env=env)
            assert done.returncode == 0, done.stderr
    duck, spark = read(tmp_path / "duckd.csv"), read(tmp_path / "spark.csv")
    pd.testing.assert_frame_equal(spark, duck, rtol=0, atol=1e-9)


@pytest.mark.standing
def test_a_second_session_leaves_nothing_behind_either(files, tmp_path):
    """In a process of its own: what Java remembers lasts as long as the process."""
    file, nodes, _ = files
    args = ["audit", str(file), "--nodes", str(nodes), "--sensitive", "kind"]
    args += ["--tmp", str(tmp_path), "--engine", "spark", "--intervals", "pairs"]
    lines = (
        "from linkparity.cli.command import app",
        *[f"app({args!r}, standalone_mode=False)"] * 2,
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, capture_output=True)
    assert not list(tmp_path.iterdir())
