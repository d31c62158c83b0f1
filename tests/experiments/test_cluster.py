"""Experiments on a real Dask cluster: a scheduler and two worker processes that the test starts."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest
from test_run import STUDY, exit_code, plain

import linkparity as lp
from linkparity.experiments.rows_file import read_rows

pytestmark = pytest.mark.slow
ENVIRONMENT = os.environ | {
    "PYTHONPATH": str(Path(lp.__file__).parents[1]),
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "None",
    "OMP_NUM_THREADS": "1",
}


class Cluster:
    """A scheduler and its workers, one fit at a time each."""

    def __init__(self, folder, workers=2):
        self.file = folder / "scheduler.json"
        here = ["--host", "127.0.0.1"]
        self.processes = [self.start("scheduler", *here, "--port", "0", "--no-dashboard")]
        self.workers = [
            self.start("worker", *here, "--nthreads", "1", "--no-nanny", "--no-dashboard")
            for _ in range(workers)
        ]
        self.processes += self.workers

    def start(self, kind, *options):
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", self.file, *options]
        return subprocess.Popen(
            list(map(str, command)), env=ENVIRONMENT, cwd=self.file.parent,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    @property
    def address(self):
        for _ in range(600):
            if self.file.exists() and self.file.stat().st_size:
                return json.loads(self.file.read_text())["address"]
            time.sleep(0.1)
        raise TimeoutError("the scheduler has not started")

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    yield made
    made.end()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    file = tmp_path_factory.mktemp("study") / "study.toml"
    file.write_text(STUDY)
    return file, lp.run(file)


def test_rows_are_those_of_the_serial_run(study, cluster, tmp_path, capfd):
    file, serial = study
    told = []
    results = lp.run(file, tmp_path / "rows.jsonl", scheduler=cluster.address, on_row=told.append)
    assert plain(results) == plain(serial)
    assert [row.id for row in results] == [row.id for row in serial]
    assert plain(read_rows(str(tmp_path / "rows.jsonl"))) == plain(serial)
    assert len(told) == len(serial)
    smaller, out = tmp_path / "smaller.toml", tmp_path / "again.jsonl"
    smaller.write_text(STUDY.replace("seeds = 2", "seeds = 1"))
    assert not exit_code("run", smaller, "--out", out, "--scheduler", cluster.address)
    assert "6 rows, 0 failed" in capfd.readouterr().err
    assert plain(read_rows(str(out))).items() <= plain(serial).items()


def test_a_killed_worker_costs_its_fits_in_flight_only(cluster, tmp_path):
    slow = [{"name": "dot-product", "epochs": 60}]
    experiment = lp.Experiment(["polbooks"], slow, seeds=6, measures=["auc", "dp"])
    out, told = tmp_path / "rows.jsonl", []
    run = Thread(
        target=lambda: told.append(lp.run(experiment, out, scheduler=cluster.address)), daemon=True
    )
    run.start()
    while not (out.exists() and out.read_bytes().count(b"\n") >= 2):
        time.sleep(0.02)
    before = read_rows(str(out))
    cluster.workers[0].send_signal(signal.SIGKILL)
    run.join(240)
    (results,) = told
    assert not results.failed
    rows = read_rows(str(out))
    assert rows[: len(before)] == before
    assert sorted(row.seed for row in rows) == list(range(6))
    assert plain(results) == plain(lp.run(experiment, jobs=2))


def test_no_scheduler_is_one_line(study, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr("linkparity.experiments.cluster.TIMEOUT", 1)
    file, _ = study
    out = tmp_path / "rows.jsonl"
    assert exit_code("run", file, "--out", out, "--scheduler", "tcp://127.0.0.1:9") == 2
    said = capfd.readouterr().err.splitlines()[-1]
    assert "Error: --scheduler tcp://127.0.0.1:9 is not answered by a Dask scheduler" in said
    assert "start one with: dask scheduler" in said
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert exit_code("run", file, "--out", out, "--scheduler", "tcp://127.0.0.1:9") == 2
    said = capfd.readouterr().err.splitlines()[-1]
    assert said == 'Error: --scheduler needs distributed: pip install "linkparity[dask]"'
