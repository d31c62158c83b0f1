"""The commands in a plain installation: one line for each that needs more, the others work."""

import re
from pathlib import Path

import pytest
from made_up_rows import made_up_results, write_rows
from without import EXTRAS, command_without

from linkparity.cli.command import EXTRAS as NEEDED
from linkparity.cli.command import app

ARGUMENTS = {
    "train": ["polbooks"],
    "tune": ["polbooks", "--max-gap", "dp=0.1"],
    "predict": ["run", "--top", "3", "--out", "top.csv"],
    "run": ["study.toml", "--out", "rows.jsonl"],
    "reproduce": ["polblogs"],
    "demo": [],
    "report": ["rows.jsonl", "--out", "report.html"],
}
TORCH = " (for the small CPU build, install torch first, see README)"


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_command_without_its_extra_is_one_line(tmp_path, name):
    done = command_without(EXTRAS, name, *ARGUMENTS[name], cwd=tmp_path)
    extras = {"demo": "train,report", "report": "report"}.get(name, "train")
    package, more = ("altair", "") if name == "report" else ("PyTorch", TORCH)
    said = f'Error: {name} needs {package}: pip install "linkparity[{extras}]"{more}\n'
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert not list(tmp_path.iterdir())


def test_every_command_that_needs_an_extra_is_tried():
    assert ARGUMENTS.keys() == NEEDED.keys()


def test_help_does_not_depend_on_extras():
    for name in ([], *([each.callback.__name__] for each in app.registered_commands)):
        texts = {command_without(absent, *name, "--help").stdout for absent in ([], EXTRAS)}
        assert len(texts) == 1, name
        assert "Example: linkparity" in texts.pop()


def test_report_needs_its_own_extra_alone(tmp_path):
    rows = write_rows(made_up_results(seeds=1, datasets=("mine",), bare=True), tmp_path / "rows")
    absent = [name for name in EXTRAS if name not in ("altair", "vl_convert")]
    done = command_without(absent, "report", rows, "--out", tmp_path / "r.html", "--json")
    assert (done.returncode, done.stderr) == (0, f"wrote {tmp_path / 'r.html'}\n")
    assert "<figure>" in (tmp_path / "r.html").read_text()


def test_data_sets_need_no_extra(tmp_path):
    done = command_without(EXTRAS, "datasets", "--data", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("polblogs", "polbooks", "ml100k", "facebook", "jobs"):
        assert re.search(rf"^ *{name} ", done.stdout, re.MULTILINE)
    done = command_without(EXTRAS, "datasets", "polblogs", "--json")
    assert (done.returncode, '"nodes": 1222' in done.stdout) == (0, True)
    done = command_without(EXTRAS, "datasets", "jobs", "--out", "jobs", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "wrote jobs/scores.csv and jobs/people.csv\n")
    assert (Path(tmp_path) / "jobs" / "scores.csv").stat().st_size > 100_000
