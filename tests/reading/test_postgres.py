"""A table in PostgreSQL, audited and corrected through a stream of Arrow batches."""

import os
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from table_cases import make_scores

import linkparity as lp

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
INITDB = shutil.which("initdb") or (str(PROGRAMS[-1]) if PROGRAMS else None)
pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(INITDB is None, reason="needs a PostgreSQL server (initdb)"),
]
dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")


def as_server():
    """Options of a process that may not be root, and its user."""
    if os.getuid() != 0:
        return {}, None
    users = {user.pw_name: user for user in pwd.getpwall()}
    user = users.get("postgres") or users["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid}, user


@pytest.fixture(scope="module")
def server():
    """The address of a server of its own, which ends with the tests."""
    rights, user = as_server()
    place = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    if user is not None:
        os.chown(place, user.pw_uid, user.pw_gid)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    programs, data = Path(str(INITDB)).parent, str(place / "data")

    def run(program, *args):
        command = [str(programs / program), "-D", data, *args]
        environment = {"PATH": os.environ["PATH"], "HOME": str(place), "LC_ALL": "C.UTF-8"}
        subprocess.run(
            command, check=True, cwd=place, env=environment, stdout=subprocess.DEVNULL, **rights
        )

    run("initdb", "-U", "tester", "-A", "trust", "--no-sync")
    settings = f"-c listen_addresses=127.0.0.1 -c port={port} -c fsync=off -k {place}"
    run("pg_ctl", "-w", "-l", str(place / "log"), "-o", settings, "start")
    yield f"postgresql://tester@127.0.0.1:{port}/postgres"
    run("pg_ctl", "-w", "-m", "immediate", "stop")
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="module")
def case(server):
    """Scores as decimals, labels as booleans, ids as text; the same as frames."""
    scores, people, _ = make_scores()
    scores["score"] = scores.score.round(6)
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE scores (source text, target text, score numeric(9, 6), label bool)"
        )
        cursor.execute("CREATE TABLE people (node text, kind varchar(10), born date)")
        rows = [
            (a, b, f"{s:.6f}", bool(y))
            for a, b, s, y in scores.itertuples(index=False)
        ]  # fmt: skip
        cursor.executemany(
            "INSERT INTO scores VALUES ($1, $2, CAST($3 AS text)::numeric, $4)", rows
        )
        cursor.executemany(
            "INSERT INTO people VALUES ($1, $2, '1990-01-01')",
            list(people.itertuples(index=False)),
        )
        connection.commit()
    return server, scores, people


def stream(cursor, table):
    """A table as a stream that can be read once."""
    cursor.execute(f"SELECT * FROM {table}")
    return cursor.fetch_record_batch()


def test_an_audit_of_a_postgres_table_is_that_of_frames(case):
    address, scores, people = case
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        nodes = stream(cursor, "people").read_all()
        found = lp.audit(stream(cursor, "scores"), "kind", nodes)
    known = lp.audit(scores, "kind", people)
    assert found.values == pytest.approx(known.values, abs=1e-12)
    assert found.intervals["rdp"] == pytest.approx(known.intervals["rdp"], abs=1e-12)
    assert found.links == known.links


def test_a_correction_of_a_postgres_table_is_an_arrow_table_with_its_columns(case):
    address, scores, people = case
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        fair = lp.project(stream(cursor, "scores"), "kind", people)
    known = lp.project(scores, "kind", people)
    assert fair.column_names == [*scores.columns, "fair_score"]
    assert np.abs(fair["fair_score"].to_numpy() - known.fair_score.to_numpy()).max() < 1e-12
    assert fair["source"].to_pylist() == scores.source.tolist()


def test_a_wrong_row_is_named(case):
    address, _, people = case
    query = "SELECT source, target, score + 1 AS score FROM scores"
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        with pytest.raises(
            ValueError, match=r"scores: row 1, column 'score': holds '?1\.\d+'?, wh"
        ):
            lp.audit(cursor.fetch_record_batch(), "kind", people)


def test_the_recipe_of_the_page_runs(case, capsys):
    address, scores, people = case
    page = (Path(__file__).parents[2] / "docs" / "databases.md").read_text()
    code = re.search(r"<!-- run: postgres -->\n```python\n(.*?)```", page, re.DOTALL)[1]
    assert code.count("postgresql://user:password@host:5432/database") == 1
    exec(code.replace("postgresql://user:password@host:5432/database", address), {})
    assert "rdp" in capsys.readouterr().out
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT source, target, fair_score FROM fair_scores")
        written = cursor.fetch_arrow_table().to_pandas()
    known = lp.project(scores, "kind", people)
    assert np.abs(written.fair_score.to_numpy() - known.fair_score.to_numpy()).max() < 1e-12
