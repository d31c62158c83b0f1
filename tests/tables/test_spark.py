"""Spark gives what DuckDB gives."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from table_cases import exit_code, make_scores, read, write
from test_table_intervals import make, with_weights

import linkparity as lp

pyspark = pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(shutil.which("java") is None, reason="needs Java"),
    pytest.mark.filterwarnings("ignore"),
]


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
    if isinstance(value, list):
        return {k: v for i, part in enumerate(value) for k, v in flat(part, f"{path}.{i}").items()}
    return {path: value}


def test_audit_and_project_equal_duckdb(files, capfd):
    file, nodes, place = files
    common = (file, "--nodes", nodes, "--sensitive", "kind", "--json")
    one, other = (
        flat(results(capfd, "audit", *common, "--engine", engine)) for engine in ("duckdb", "spark")
    )
    assert set(one) == set(other)
    for key, value in one.items():
        if key != ".scans":
            same = pytest.approx(value, abs=1e-9) if isinstance(value, float) else value
            assert other[key] == same, key
    for engine in ("duckdb", "spark"):
        out = place / f"{engine}.csv"
        results(capfd, "project", *common, "--engine", engine, "--out", out, "--explain")
    duck, spark = read(place / "duckdb.csv"), read(place / "spark.csv")
    assert list(duck.columns) == list(spark.columns)
    for column in ("source", "target", "score", "label"):
        assert duck[column].tolist() == spark[column].tolist()
    assert np.abs(duck.fair_score - spark.fair_score).max() < 1e-9
    assert np.abs(duck.tilt - spark.tilt).max() < 1e-9


def intervals(result):
    """Every interval in a result, by its place."""
    return {key: value for key, value in flat(result).items() if "interval" in key}


def test_weighted_and_paired_intervals_equal_duckdb(capfd, tmp_path):
    frame, people, _, _ = make(nodes=25, directed=True)
    frame = with_weights(frame)
    paths = [write(frame, tmp_path / "s.csv"), write(people, tmp_path / "n.csv")]
    other = write(frame.assign(score=0.9 * frame.score**2 + 0.01), tmp_path / "o.csv")
    common = (
        paths[0],
        "--nodes",
        paths[1],
        "--sensitive",
        "kind",
        "--directed",
        "--weight",
        "w",
        "--json",
    )
    found = {}
    for engine in ("duckdb", "spark"):
        args = (*common, "--weight", "w", "--engine", engine)
        out = tmp_path / f"{engine}.csv"
        audit = results(capfd, "audit", *args, "--compare", other)
        project = results(capfd, "project", *args, "--out", out, "--target", "0.4")
        found[engine] = intervals(audit) | intervals(project)
    duck, spark = found["duckdb"], found["spark"]
    assert set(duck) == set(spark)
    assert {".intervals.dp.1", ".change.intervals.dp.1", ".intervals.after.dp.1"} <= set(duck)
    for key, value in duck.items():
        assert spark[key] == pytest.approx(value, abs=1e-9), key


def test_an_error_names_the_row(files, capfd, tmp_path):
    file, nodes, _ = files
    bad = tmp_path / "bad.csv"
    lines = file.read_text().splitlines()
    lines[7] = lines[7].rsplit(",", 2)[0] + ",7.5,1"
    bad.write_text("\n".join(lines) + "\n")
    args = ("audit", bad, "--nodes", nodes, "--sensitive", "kind", "--engine", "spark")
    assert exit_code(*args) == 2
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("Error")]
    assert len(said) == 1
    assert "bad.csv: row 7, column 'score': holds '7.5'" in said[0]
    bad.write_bytes(file.read_bytes() + "é,ü,0.5,1".encode("latin-1"))
    assert exit_code(*args) == 2
    assert "bad.csv: is not UTF-8 text throughout; save the file" in capfd.readouterr().err


def test_any_ibis_table_will_do(tmp_path):
    """A table of a backend that the caller brought, here an in-memory DuckDB of their own."""
    import ibis

    scores, people, _ = make_scores()
    con = ibis.duckdb.connect()
    table = con.read_parquet(write(scores, tmp_path / "s.parquet"))
    nodes = con.read_parquet(write(people, tmp_path / "n.parquet"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = lp.audit(table, "kind", nodes)
        fair = lp.project(table, "kind", nodes)
    assert found.values == pytest.approx(lp.audit(scores, "kind", people).values, abs=1e-9)
    known = lp.project(scores, "kind", people).set_index(["source", "target"]).fair_score
    mine = fair.execute().set_index(["source", "target"]).fair_score
    assert np.abs(mine - known).max() < 1e-9


def test_a_hundred_thousand_ids_are_told_apart(tmp_path, capfd):
    """A hash of 32 bits would take some of these for one another."""
    count = 150_000
    rows = [f"s,t{i},0.5,a,{'abc'[i % 3]}" for i in range(count)]
    file = tmp_path / "many.csv"
    file.write_text("source,target,score,source_kind,target_kind\n" + "\n".join(rows) + "\n")
    found = results(capfd, "audit", str(file), "--sensitive", "kind", "--json", "--engine", "spark")
    assert found["pairs"] == count


def test_numbers_in_text_become_numbers_in_parquet(files, capfd):
    file, nodes, place = files
    common = (file, "--nodes", nodes, "--sensitive", "kind", "--json")
    for engine in ("duckdb", "spark"):
        out = place / f"{engine}.parquet"
        results(capfd, "project", *common, "--engine", engine, "--out", out)
    duck, spark = (pq.read_table(place / f"{e}.parquet") for e in ("duckdb", "spark"))
    assert duck.schema.equals(spark.schema)
    assert str(spark.schema.field("score").type) == "double"
    assert spark.drop_columns(["fair_score"]).equals(duck.drop_columns(["fair_score"]))


def test_a_row_that_does_not_fit_is_one_line(files, capfd):
    file, nodes, place = files
    lines = file.read_text().splitlines()
    ragged = place / "ragged.csv"
    ragged.write_text("\n".join([*lines[:40], lines[40] + ",9", *lines[41:]]))
    args = ("audit", ragged, "--nodes", nodes, "--sensitive", "kind", "--engine", "spark")
    assert exit_code(*args) == 2
    err = capfd.readouterr().err
    assert f"Error: {ragged}: Spark cannot read it (Malformed CSV record: {lines[40]},9)" in err
    assert "Traceback" not in err
    assert "\tat " not in err


def test_without_java_it_says_so(files, tmp_path):
    file, nodes, _ = files
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("bash", "env", "dirname"):
        (bare / name).symlink_to(shutil.which(name))
    code = "import sys; from linkparity.cli.command import main; main(sys.argv[1:])"
    args = ["audit", str(file), "--nodes", str(nodes), "--sensitive", "kind", "--engine", "spark"]
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        env={"PATH": str(bare), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "no Spark session here (" in done.stderr.splitlines()[-1]
    assert "check that Java 17 is installed" in done.stderr.splitlines()[-1]


@pytest.fixture
def master(tmp_path):
    """The URL of a cluster of one worker on this machine."""
    home = Path(pyspark.__file__).parent
    env = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"spark://127.0.0.1:{port}"
    parts = {
        "master.Master": ("--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"),
        "worker.Worker": ("--cores", "1", "--memory", "1g", "--webui-port", "0", url),
    }
    running = []
    try:
        for name, args in parts.items():
            log = (tmp_path / name).open("w")
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *args]
            running.append(subprocess.Popen(command, env=env, cwd=tmp_path, stdout=log, stderr=log))
        for _ in range(300):
            if "Registering worker" in (tmp_path / "master.Master").read_text():
                break
            time.sleep(0.2)
        yield url
    finally:
        for process in running:
            process.terminate()
            process.wait()


@pytest.mark.standing
def test_a_cluster_by_its_url_equals_duckdb(files, master, tmp_path):
    """In a process of its own: a session of this one would be taken for the cluster's."""
    file, nodes, _ = files
    code = "import sys; from linkparity.cli.command import main; main(sys.argv[1:])"
    for engine in ("duckdb", master):
        args = ["project", str(file), "--nodes", str(nodes), "--sensitive", "kind", "--engine"]
        args += [engine, "--out", str(tmp_path / f"{engine[:5]}.csv")]
        subprocess.run([sys.executable, "-c", code, *args], check=True, capture_output=True)
    duck, spark = read(tmp_path / "duckd.csv"), read(tmp_path / "spark.csv")
    assert duck.drop(columns="fair_score").equals(spark.drop(columns="fair_score"))
    assert np.abs(duck.fair_score - spark.fair_score).max() < 1e-9


@pytest.mark.standing
def test_a_second_session_leaves_nothing_behind_either(files, tmp_path):
    """In a process of its own: what Java remembers lasts as long as the process."""
    file, nodes, _ = files
    args = [
        "audit",
        str(file),
        "--nodes",
        str(nodes),
        "--sensitive",
        "kind",
        "--tmp",
        str(tmp_path),
    ]
    args += ["--engine", "spark", "--intervals", "pairs"]
    lines = (
        "from linkparity.cli.command import app",
        *[f"app({args!r}, standalone_mode=False)"] * 2,
    )
    code = "\n".join(lines)
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert not list(tmp_path.iterdir())
