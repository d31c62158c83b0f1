"""Runs: only the missing rows, each once, whatever happens to the processes."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_jobs import killed_at, made_up, run_made_up

import linkparity as lp
from linkparity.cli.command import main
from linkparity.experiments.results import Spread, method_labels
from linkparity.experiments.rows import Row
from linkparity.experiments.rows_file import RowsFile, read_rows
from linkparity.support.errors import InputError
from linkparity.support.files import PREFIX

STUDY = """
data = ["polbooks"]
models = ["maxent", {name = "dot-product", epochs = 2}]
criteria = ["none", "dp"]
gammas = [1, 10]
seeds = 2
measures = ["auc", "dp", "eo"]
"""
#: Keys of a row that say how it was measured, not what.
CLOCK = ("fit_seconds", "peak_memory")


@pytest.fixture(scope="module")
def fits():
    return lp.Experiment(["polbooks"], ["maxent"], seeds=5).fits()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The file of an experiment, and its rows from a serial run."""
    file = tmp_path_factory.mktemp("study") / "study.toml"
    file.write_text(STUDY)
    return file, lp.run(file)


def plain(rows):
    """Rows by id, without times."""
    found = {row.id: row.to_dict() for row in rows}
    return {key: {k: v for k, v in row.items() if k not in CLOCK} for key, row in found.items()}


def command(file, out, *options):
    arguments = [sys.executable, "-m", "linkparity", "run", file, "--out", out, *options]
    return list(map(str, arguments))


def check_whole(out, wanted):
    """Every line but a last one that was cut off is a row that was asked for, each once."""
    if not out.exists():
        return 0
    lines = out.read_bytes().split(b"\n")
    ids = [json.loads(line)["id"] for line in lines[:-1]]
    assert len(set(ids)) == len(ids)
    assert set(ids) <= set(wanted)
    return len(ids)


def test_a_killed_run_goes_on_wherever_it_was_killed(fits, tmp_path):
    wanted = {fit.id: made_up(fit) for fit in fits}
    most = 0
    for call in range(1, 200):
        out = tmp_path / str(call) / "rows.jsonl"
        out.parent.mkdir()
        if not killed_at(call, fits, out):
            break
        before = check_whole(out, wanted)
        assert before >= most - 1  # a later kill leaves no fewer rows; one may be cut off
        most = max(most, before)
        done = run_made_up(fits, out)
        assert list(done) == list(wanted.values())
        assert sorted(read_rows(str(out)), key=lambda row: row.seed) == list(wanted.values())
        left = {path.name for path in out.parent.iterdir() if not path.name.startswith(PREFIX)}
        assert left == {"rows.jsonl"}
    assert call > 15
    assert most == len(fits)


def test_failed_rows_are_replaced_wherever_the_run_is_killed(fits, tmp_path):
    wanted = [made_up(fit) for fit in fits]
    for call in range(1, 200):
        out = tmp_path / str(call) / "rows.jsonl"
        out.parent.mkdir()
        first = run_made_up(fits, out, failing=(1, 3))
        assert [row.seed for row in first.failed] == [1, 3]
        killed = killed_at(call, fits, out)
        rows = read_rows(str(out))
        assert len({row.id for row in rows}) == len(rows)
        assert {row.seed for row in rows if row.error is None} >= {0, 2, 4}
        assert list(run_made_up(fits, out)) == wanted
        assert sorted(read_rows(str(out)), key=lambda row: row.seed) == wanted
        if not killed:
            break
    assert 15 < call < 199


def test_two_kills_are_no_worse_than_one(fits, tmp_path):
    wanted = [made_up(fit) for fit in fits]
    for first, second in ((3, 5), (8, 2), (9, 9), (12, 4), (5, 12)):
        out = tmp_path / f"{first}-{second}.jsonl"
        killed_at(first, fits, out, failing=(2,))
        killed_at(second, fits, out)
        check_whole(out, {row.id for row in wanted})
        assert list(run_made_up(fits, out)) == wanted


def test_processes_give_the_rows_of_the_serial_run(study, tmp_path):
    file, serial = study
    told = []
    parallel = lp.run(file, tmp_path / "rows.jsonl", jobs=3, on_row=told.append)
    assert not parallel.failed
    assert len(parallel) == 12
    assert [row.id for row in parallel] == [row.id for row in serial]
    assert plain(parallel) == plain(serial)
    assert plain(read_rows(str(tmp_path / "rows.jsonl"))) == plain(serial)
    assert plain(told) == plain(serial)
    again = lp.run(file, tmp_path / "rows.jsonl", on_row=told.append)
    assert list(again) == list(parallel)
    assert len(told) == 12


def test_a_larger_experiment_fits_only_what_is_new(study, tmp_path):
    file, serial = study
    out = tmp_path / "rows.jsonl"
    out.write_text("".join(row.to_json() + "\n" for row in serial if row.seed == 0))
    told = []
    results = lp.run(file, out, on_row=told.append)
    assert {row.seed for row in told} == {1}
    assert plain(results) == plain(serial)


@pytest.mark.slow
@settings(max_examples=2, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.floats(0, 0.3)), min_size=2, max_size=2))
def test_kill_9_at_any_moment_costs_the_rows_in_flight_only(study, tmp_path_factory, moments):
    file, serial = study
    out = tmp_path_factory.mktemp("killed") / "rows.jsonl"
    for rows, later in sorted(moments):
        before = check_whole(out, plain(serial))
        process = subprocess.Popen(command(file, out, "--jobs", "2"), stderr=subprocess.PIPE)
        while process.poll() is None and check_whole(out, plain(serial)) < max(rows, before):
            time.sleep(0.005)
        time.sleep(later)
        workers = children(process.pid)
        process.kill()
        process.communicate()
        assert check_whole(out, plain(serial)) >= before
        assert ended(workers)
    done = subprocess.run(command(file, out), capture_output=True, text=True, check=True)
    assert "12 rows, 0 failed" in done.stderr
    assert plain(read_rows(str(out))) == plain(serial)


def children(process):
    path = Path(f"/proc/{process}/task/{process}/children")
    return path.read_text().split() if path.exists() else []


def ended(processes):
    for _ in range(1000):
        if not any(Path(f"/proc/{each}").exists() for each in processes):
            return True
        time.sleep(0.02)
    return False


def exit_code(*args):
    with pytest.raises(SystemExit) as done:
        main([str(arg) for arg in args])
    return done.value.code


def test_failures_are_rows_and_exit_code_1_until_they_are_mended(tmp_path, capfd):
    file, out = tmp_path / "study.toml", tmp_path / "rows.jsonl"
    text = 'data = "polbooks"\nmodels = ["maxent", {name = "cne", epochs = 4, lr = %s}]\n'
    file.write_text(text % "1e25")
    assert exit_code("run", file, "--out", out, "--json") == 1
    printed = capfd.readouterr()
    told = json.loads(printed.out)
    assert {k: told[k] for k in ("fitted", "kept", "failed")} == {
        "fitted": 2,
        "kept": 0,
        "failed": 1,
    }
    assert "2/2 polbooks, cne, none, seed 0: failed: Diverged: " in printed.err
    assert [row["error"] is None for row in told["rows"]] == [True, False]
    assert len(read_rows(str(out))) == 2
    assert exit_code("run", file, "--out", out) == 1
    printed = capfd.readouterr()
    assert "2 fits, 1 of them done before" in printed.err
    assert "Failed: polbooks, cne, none, seed 0: Diverged" in printed.out.replace("\n", " ")
    assert len(read_rows(str(out))) == 2
    file.write_text(text % "0.1")
    assert exit_code("run", file, "--out", out) == 0
    assert [row.error is None for row in lp.Results.read(out)] == [True, False, True]


def test_a_process_that_dies_is_a_failed_row_and_is_replaced(tmp_path, monkeypatch):
    from linkparity.experiments import worker_pool

    fits = lp.Experiment(["polbooks"], ["maxent"], seeds=3).fits()
    real = worker_pool.Worker.row

    def dying(self, fit):
        if fit.parameters["seed"] == 1:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        return real(self, fit)

    monkeypatch.setattr(worker_pool.Worker, "row", dying)
    rows = {row.seed: row for _, row in worker_pool.fit_in_processes(fits, 1)}
    assert [rows[seed].error is None for seed in range(3)] == [True, False, True]
    assert rows[1].error == (
        "the process of the fit was ended by signal 9; was there enough memory?"
    )


def test_live_runs_refuse_each_other(study, tmp_path, capfd):
    file, _ = study
    out = tmp_path / "rows.jsonl"
    with RowsFile(str(out)):
        assert exit_code("run", file, "--out", out) == 2
    assert capfd.readouterr().err == (
        f"Error: {out}: is being written by another run; wait for it, or choose another name\n"
    )


def test_ctrl_c_says_what_is_in_place_and_ends_the_workers(study, tmp_path):
    file, _ = study
    out = tmp_path / "rows.jsonl"
    process = subprocess.Popen(command(file, out), stderr=subprocess.PIPE, text=True)
    while not (out.exists() and out.read_bytes().count(b"\n") > 1):
        time.sleep(0.01)
    workers = children(process.pid)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 2
    assert f"of 12 rows are in {out}; the same command goes on from there" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert ended(workers)


def test_mistakes_are_said_before_anything_is_fitted(study, tmp_path, capfd):
    file, _ = study
    assert exit_code("run", file, "--out", file) == 2
    assert "is also read as an input" in capfd.readouterr().err
    assert exit_code("run", tmp_path / "no.toml", "--out", tmp_path / "rows") == 2
    assert "No such file" in capfd.readouterr().err
    with pytest.raises(InputError, match="jobs must be at least 1, got 0"):
        lp.run(file, jobs=0)
    assert not (tmp_path / "rows").exists()


def test_results_are_means_over_the_seeds_and_a_frame(study):
    _, results = study
    frame = results.to_frame()
    assert list(frame.seed) == [row.seed for row in results]
    assert set(frame["settings.pairs"]) == {"all", "candidates"}  # maxent, others
    assert frame["auc.low"].notna().all()
    labels = [each.method for each in results.summaries()]
    assert labels == [
        f"{model}{rest}"
        for model in ("maxent", "dot-product")
        for rest in ("", " + dp, gamma 1", " + dp, gamma 10")
    ]
    for each in results.summaries():
        own = frame[[row.id in {r.id for r in each.rows} for row in results]]
        assert each.measures["auc"] == pytest.approx((own.auc.mean(), own.auc.std()))
        assert each.fit_seconds == pytest.approx(own.fit_seconds.median())
        assert f"{own.auc.mean():.4f} ± {own.auc.std():.4f}" in str(results)
    assert "<table>" in results._repr_html_()


def test_labels_name_what_tells_methods_apart():
    def row(model="cne", criterion="none", gamma=0, strength=None, **settings):
        return Row("x", model, criterion, gamma, 0, strength=strength, settings=settings)

    rows = [
        row(dimension=8, postprocess=None), row(dimension=16, postprocess=None),
        row("cfc", strength=0.0), row("cfc", strength=100.0), row("gae"),
        row("cne", "dp", 10, dimension=8, postprocess=None),
        row("cne", "dp", 10, dimension=8, postprocess="i-projection"),
        row("fairdrop", strength=0.0), row("fairadj", strength=20),
    ]  # fmt: skip
    assert list(method_labels(rows).values()) == [
        "cne, dimension 8", "cne, dimension 16", "cfc, strength 0", "cfc, strength 100", "gae",
        "cne + dp", "cne + dp, i-projection", "fairdrop, strength 0", "fairadj",
    ]  # fmt: skip
    nan = float("nan")
    assert str(Spread.of([0.5, nan])) == "0.5000"
    assert str(Spread.of([nan])) == "–"


@pytest.mark.parametrize("sent", [b"", bytes(7), (99).to_bytes(8) + b"half a fit"])
def test_a_worker_ends_with_its_parent_also_while_it_starts(tmp_path, monkeypatch, sent):
    """What the end of a killed parent does: its end of the pipe is closed."""
    from linkparity.experiments.worker_pool import Worker

    (tmp_path / "torch.py").write_text("import time; time.sleep(60)")
    root = Path(lp.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{root}")
    worker = Worker()
    worker._process.stdin.write(sent)
    worker._process.stdin.close()
    try:
        assert worker._process.wait(10) == 0
    finally:
        worker.end()
