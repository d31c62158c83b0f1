"""What reaches a terminal or a pipe: no control characters, any encoding, a stdout that fails."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from table_cases import exit_code, make_scores

from linkparity.cli import output
from linkparity.cli.output import SafeConsole
from linkparity.support.display import Displayed, Grid

ESCAPE = "\x1b]0;owned\x07\x1b[31m"
CONTROL = "\x9b2J"
COMMON = ("--nodes", "n.csv", "--sensitive", "kind")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A score table and its nodes, with ``s.csv`` and ``n.csv`` in the current directory."""
    monkeypatch.chdir(tmp_path)
    scores, nodes, _ = make_scores()
    scores.to_csv("s.csv", index=False)
    nodes.to_csv("n.csv", index=False)
    return tmp_path


def in_shell(rest, *args, encoding="utf-8"):
    """Run a command in a shell; ``rest`` follows it."""
    source = str(Path(__file__).parents[2] / "src")
    command = " ".join([sys.executable, "-m", "linkparity", *args, rest])
    settings = os.environ | {"PYTHONPATH": source, "PYTHONIOENCODING": encoding}
    return subprocess.run(["bash", "-c", command], env=settings, capture_output=True, check=False)


def has_controls(text):
    return any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in text)


def test_control_characters_in_groups_are_not_shown(here, capfd):
    nodes = pd.read_csv("n.csv", dtype=str, keep_default_na=False)
    nodes["kind"] = nodes["kind"].replace({"red": f"red{ESCAPE}", "blue": f"blue{CONTROL}"})
    nodes.to_csv("n.csv", index=False)
    assert exit_code("audit", "s.csv", *COMMON) == 0
    out, err = capfd.readouterr()
    assert "red]0;owned[31m" in out
    assert not has_controls(out + err)
    assert exit_code("project", "s.csv", *COMMON, "--out", "f.csv") == 0
    assert not has_controls("".join(capfd.readouterr()))
    assert exit_code("audit", "s.csv", *COMMON, "--json") == 0
    out = capfd.readouterr().out
    assert not has_controls(out)
    assert {f"red{ESCAPE}", f"blue{CONTROL}"} <= set(json.loads(out)["groups"])


def test_control_characters_in_ids_columns_and_files_are_not_shown(here, capfd):
    odd = f"odd{ESCAPE}{CONTROL}.csv"
    Path(odd).write_text(f"source,target,{ESCAPE}\n{ESCAPE},x,0.5\n")
    for args in (
        ("audit", odd, *COMMON),
        ("audit", odd, *COMMON, "--score", ESCAPE),
        ("audit", f"no{odd}", *COMMON),
        ("train", "--links", odd, *COMMON),
        ("train", "polbooks", f"--{ESCAPE}"),
        ("train", "polbooks", "--model", ESCAPE),
        ("datasets", ESCAPE),
    ):
        assert exit_code(*args) == 2
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        assert not has_controls(err)


def test_results_print_without_control_characters():
    class Result(Displayed):
        def document(self):
            return [Grid(["group", "mean"], [[f"a{ESCAPE}", "0.5"]], f"title{CONTROL}"), ESCAPE]

    assert not has_controls(str(Result()))
    console = SafeConsole(width=80, force_terminal=True, color_system=None)
    with console.capture() as shown:
        console.print(Result())
    assert not has_controls(shown.get())


FAILING = {
    "closed": ("| true; exit ${PIPESTATUS[0]}", "stdout was closed before all was written"),
    "full": ("> /dev/full", "stdout failed: No space left on device"),
}


@pytest.mark.parametrize("name", FAILING)
def test_outputs_in_place_are_named_when_stdout_fails(here, name):
    rest, problem = FAILING[name]
    done = in_shell(rest, "project", "s.csv", *COMMON, "--out", "f.csv", "--save-tilts", "t.json")
    assert done.returncode == 74
    last = done.stderr.decode().splitlines()[-1]
    assert last == f"Error: {problem}; already written: f.csv, t.json"
    assert len(pd.read_csv("f.csv")) == len(pd.read_csv("s.csv"))
    assert json.loads(Path("t.json").read_text())
    done = in_shell(rest, "audit", "s.csv", *COMMON)
    assert done.returncode == 2  # nothing was written
    assert done.stderr.decode().splitlines()[-1] == f"Error: {problem}"


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_any_encoding_of_stdout_will_do(here, encoding):
    nodes = Path("n.csv").read_text().replace("red", "rouge–é")
    Path("n.csv").write_text(nodes)
    scores = pd.read_csv("s.csv", dtype=str, keep_default_na=False).drop(columns="label")
    scores.to_csv("s.csv", index=False)
    done = in_shell("", "audit", "s.csv", *COMMON, encoding=encoding)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode(encoding)
    assert "rouge-é" in text or "rouge-?" in text
    assert "|" in text
    done = in_shell("", "audit", "s.csv", *COMMON, "--json", encoding=encoding)
    assert done.returncode == 0, done.stderr
    assert "rouge–é" in json.loads(done.stdout.decode(encoding))["groups"]
    done = in_shell("", "project", "s.csv", *COMMON, "--out", "f.csv", encoding=encoding)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("", 110), ("0", 110), ("wide", 110)])
def test_the_width_of_a_pipe_is_columns(columns, width, monkeypatch, capfd):
    monkeypatch.setenv("COLUMNS", columns)
    output.show(Grid(["name", "text"], [["a", "word " * 60]]))
    lines = capfd.readouterr().out.splitlines()
    assert width - 6 <= max(map(len, lines)) <= width


def test_completion_is_installed_and_completes(tmp_path):
    program = Path(sys.executable).with_name("linkparity")
    settings = os.environ | {"HOME": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", f"{program} --install-completion; exit $?"],
        env=settings, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "linkparity" in (tmp_path / ".bashrc").read_text()
    words = {"COMP_WORDS": "linkparity proj", "COMP_CWORD": "1"}
    settings |= {**words, "_LINKPARITY_COMPLETE": "complete_bash"}
    assert subprocess.check_output([program], env=settings, text=True) == "project\n"


@pytest.mark.parametrize("command", [["audit"], ["project", "--out", "f.csv"]])
def test_long_work_on_tables_says_how_many_rows_are_done(here, capfd, monkeypatch, command):
    monkeypatch.setattr(output, "QUIET", 0.0)
    verb, *rest = command
    assert exit_code(verb, "s.csv", *COMMON, *rest) == 0
    rows = len(pd.read_csv("s.csv"))
    lines = capfd.readouterr().err.splitlines()
    for work in ("reading rows", "adding up rows", "comparing ranks"):
        assert f"{work}: {rows:,} of {rows:,}" in lines
    monkeypatch.setattr(output, "QUIET", 60.0)
    assert exit_code(verb, "s.csv", *COMMON, *rest, *(["--force"] if rest else [])) == 0
    assert " of " not in capfd.readouterr().err


def test_stages_are_told_after_a_silence_and_fast_work_is_silent(capfd, monkeypatch):
    with output.stages() as stage:
        stage("reading")
        stage("splitting")
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(output, "QUIET", 0.05)
    with output.stages() as stage:
        stage("reading")
        time.sleep(0.3)
        for part in range(50):
            stage(f"ranking {part}")
            time.sleep(0.01)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "reading …"
    assert len(lines) > 1
    assert all(line.startswith("ranking ") for line in lines[1:])
