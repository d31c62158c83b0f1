"""Commands: results on stdout, the rest on stderr, one-line errors with exit code 2."""

import inspect
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import typer

from linkparity import datasets
from linkparity.cli import command as cli
from linkparity.cli import options
from linkparity.cli.output import one_line
from linkparity.criteria import CRITERIA
from linkparity.datasets import DATASETS
from linkparity.models import MODELS
from linkparity.models.prediction import LinkPredictor
from linkparity.models.training.objective import PAIRS
from linkparity.paper.demo import run_demo
from linkparity.paper.published import published
from linkparity.projection.group_tilts import TILT_BY
from linkparity.projection.solver import NotConverged
from linkparity.reading.groups import CHOICES
from linkparity.support.errors import InputError, require

ROOT = Path(__file__).parents[2]
COMMANDS = sorted(typer.main.get_command(cli.app).commands)


@pytest.fixture(scope="module")
def demo():
    return run_demo()


@pytest.fixture
def run(capfd, monkeypatch):
    """``run("datasets", "--json")`` → exit code, stdout, stderr."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def call(*args):
        with pytest.raises(SystemExit) as stop:
            cli.main(list(args))
        out, err = capfd.readouterr()
        return stop.value.code or 0, out, err

    return call


def is_one_line(err):
    return err.startswith("Error: ") and err.count("\n") == 1 and err.endswith("\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_with_an_example_and_json(run, command):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert f"Example: linkparity {command}" in out
    assert "--json" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command):
    readme = (ROOT / "README.md").read_text()
    page = (ROOT / "docs" / "commands.md").read_text()
    assert f"`linkparity {command}" in readme
    section = re.search(rf"^## `linkparity {command}\b.*?(?=^## |\Z)", page, re.M | re.S)
    assert section, f"docs/commands.md lacks a section on {command}"
    known = {"--help"}
    params = typer.main.get_command(cli.app).commands[command].params
    options = {name for param in params for name in param.opts if name.startswith("--")}
    assert all(option in page for option in options - known)


def test_no_arguments_show_help(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert all(f"\n  {command} " in out for command in COMMANDS)


def test_version(run):
    assert run("--version") == (0, "linkparity 0.1.0\n", "")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["dem"], "No such command 'dem'"),
        (["demo", "--jso"], "No such option: --jso"),
        (["demo", "extra"], "unexpected extra argument"),
        (["train", "polblogs", "--model", "dotproduct"], "did you mean 'dot-product'? known: cfc"),
        (["train", "polblogs", "--criterion", "pd"], "unknown criterion 'pd'"),
        (["train", "polblogs", "--criterion", "churn"], "unknown criterion 'churn'; known: acc"),
        (["train", "polblogs", "--postprocess", "x"], "unknown postprocess 'x'; known: i-proj"),
        (["train", "polblogs", "--unknown", "gruop"], "got 'gruop'; did you mean 'group'?"),
        (["audit", "-", "--sensitive", "a", "--format", "cvs"], "did you mean 'csv'? known: csv"),
        (["train", "polblogs", "--nodes", "n.csv"], "--nodes goes with --links; leave it out"),
        (["train", "--links", "l.csv", "--data", "d"], "--data goes with the NAME of a data set"),
        (["train", "polblogs", "--tolerance", "0.1"], "--tolerance goes with --criterion"),
        (["train", "polbooks", "--criterion", "dp", "--gamma", "-1"], "gamma"),
        (["train", "polbooks", "--criterion", "dp", "--target", "0"], "between 0 and 1"),
        (["train", "polbooks", "--test", "2"], "test must lie strictly between 0 and 1"),
        (["train"], "give either the NAME of a data set, or --links"),
        (
            ["audit", "s.csv", "--sensitive", "a", "--sensitive", "b"],
            "--sensitive is given 2 times; cross the columns with --sensitive a,b",
        ),
        (
            ["train", "--links", "l", "--nodes", "n", "--sensitive", "a", "--sensitive", "b"],
            "--sensitive is given 2 times",
        ),
        (
            ["audit", "s.csv", *2 * ["--sensitive", "a"]],
            "--sensitive must name a column once, got 'a' twice",
        ),
        (["datasets", "polblog"], "unknown data set 'polblog'; did you mean 'polblogs'?"),
    ],
)
def test_mistakes_are_one_line_with_exit_code_2(run, args, said):
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert is_one_line(err)
    assert said in err


NOT_UTF8 = "\udcff"


#: Names of outputs and directories, which need not be text.
WRITTEN = {"out", "html", "save_test", "save_tilts", "figures", "data", "tmp"}
COMPLETE = {
    "audit": ["s.csv", "--sensitive", "kind"],
    "predict": ["r", "--out", "o.csv", "--top", "3"],
    "project": ["s.csv", "--sensitive", "kind", "--out", "o.csv"],
    "report": ["r", "--out", "o"],
    "reproduce": ["polblogs"],
    "run": ["e.toml", "--out", "o"],
    "train": ["polbooks"],
    "tune": ["polbooks", "--max-gap", "dp=0.1"],
}


@pytest.mark.parametrize("command", [each for each in COMMANDS if each != "demo"])
def test_text_that_is_not_utf8_is_one_line(run, monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text("source,target,score,label\na,b,0.5,1\nb,c,0.1,0\nc,d,0.3,1\n")
    Path("n.csv").write_text("node,kind\na,x\nb,y\nc,x\nd,y\n")
    args = COMPLETE.get(command, [])
    args = [*args, "--nodes", "n.csv"] if "s.csv" in args else args
    takes = next(c.callback for c in cli.app.registered_commands if c.callback.__name__ == command)
    kinds = {name: str(p.annotation) for name, p in inspect.signature(takes).parameters.items()}
    for param in typer.main.get_command(cli.app).commands[command].params:
        if "[str" not in kinds.get(param.name, "") or param.name in WRITTEN:
            continue
        option = param.param_type_name == "option"
        given = [*args, param.opts[0], NOT_UTF8] if option else [NOT_UTF8, *args[1:]]
        code, out, err = run(command, *given)
        assert (code, out) == (2, ""), (given, err)
        assert is_one_line(err), (given, err)


def test_a_code_that_is_not_utf8_is_named(run):
    code, _, err = run("audit", "s.csv", "--sensitive", "kind", "--missing", "0,\udcff")
    said = "--missing must be UTF-8 text, got '0,\\udcff'; type it in a UTF-8 locale"
    assert (code, err) == (2, f"Error: {said}\n")


def test_choices_are_those_of_the_registries(run):
    assert set(options.MODELS) == set(MODELS)
    assert set(options.CRITERIA) == set(CRITERIA) - {"churn"}  # needs a baseline
    assert CRITERIA.aliases == options.ALIASES
    _, out, _ = run("train", "--help")
    assert f"--model [{'|'.join(options.MODELS)}]" in out
    assert f"--criterion [{'|'.join(('none', *options.CRITERIA))}]" in out
    assert options.PAIRS == PAIRS
    assert options.TILT_BY == TILT_BY
    assert f"--pairs [{'|'.join(PAIRS)}]" in out
    for argument, names in CHOICES.items():
        assert f"--{argument.replace('_', '-')} [{'|'.join(names)}]" in out
    _, out, _ = run("audit", "--help")
    assert "--format [csv|tsv|parquet]" in out


def broken(error):
    def command(*args):
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InputError("gamma must be positive,\n   got −1"), "Error: gamma must be positive, got −1"),
        (
            InputError("must be positive", "use {gamma=1}", argument="gamma", caller="train"),
            "Error: --gamma must be positive; use --gamma 1\n",
        ),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), "a.csv: No such file"),
        (NotConverged("i_project: 1e-3 from the target"), "1e-3 from the target"),
        (datasets.DataError("load: damaged"), "load: damaged"),
    ],
)
def test_expected_errors_are_one_line(run, monkeypatch, error, said):
    monkeypatch.setattr(datasets, "on_disk", broken(error))
    code, out, err = run("datasets")
    assert (code, out) == (2, "")
    assert is_one_line(err)
    assert said in err


def test_a_missing_extra_is_one_line_with_the_pip_command(run, monkeypatch):
    def needy(*args):
        require("no_such_module", "datasets", "linkparity[spark]")

    monkeypatch.setattr(datasets, "on_disk", needy)
    code, _, err = run("datasets")
    assert code == 2
    assert err == 'Error: datasets needs no_such_module: pip install "linkparity[spark]"\n'


@pytest.mark.parametrize(
    "fault",
    [
        ZeroDivisionError(),
        ValueError("operands could not be broadcast together with shapes (3,) (4,)"),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "invalid start byte"),
    ],
)
def test_a_bug_keeps_its_traceback(monkeypatch, capsys, fault):
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(datasets, "on_disk", broken(fault))
    with pytest.raises(SystemExit) as stop:
        cli.main(["datasets"])
    assert stop.value.code == 70  # neither a failed gate nor bad input
    said = capsys.readouterr().err
    assert f"\n{type(fault).__name__}" in said
    assert said.endswith("this is a fault of linkparity, not of the input; please report it\n")
    assert one_line(ModuleNotFoundError("No module named 'torch'")) is None


def test_warnings_are_one_line_on_stderr_and_said_once(run, monkeypatch):
    def warn(*args):
        for _ in range(3):
            warnings.warn("links stood twice,\n once is kept", UserWarning, stacklevel=2)
        return True

    monkeypatch.setattr(datasets, "on_disk", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        code, _, err = run("datasets", "polbooks")
    assert code == 0
    assert err == "Warning: links stood twice, once is kept\n"


def test_datasets_lists_what_the_table_holds(run, tmp_path):
    code, out, err = run("datasets", "--data", str(tmp_path), "--json")
    assert (code, err) == (0, "")
    listed = {row["name"]: row for row in json.loads(out)["datasets"]}
    assert set(listed) == set(DATASETS)
    assert listed["polbooks"]["on_disk"] is True
    assert listed["ml100k"]["on_disk"] is False
    _, table, _ = run("datasets", "--data", str(tmp_path))
    assert all(f"{row['links']:,}" in table for row in listed.values())


def test_one_data_set_tells_its_terms_and_harms(run):
    card = DATASETS["polblogs"].card
    _, out, _ = run("datasets", "polblogs", "--json")
    assert json.loads(out)["groups"] == {"left": 586, "right": 636}
    _, table, _ = run("datasets", "polblogs")
    assert card.terms in table
    assert " ".join(card.harms.split()[:5]) in table


def test_demo_closes_the_gaps_it_trains_for_and_stands_beside_the_paper(demo):
    told = demo.to_dict()
    as_published = [row for row in told["rows"] if row["settings"]["pairs"] == "sampled"]
    plain_rows = [row for row in told["rows"] if row["criterion"] == "none"]
    rows = {(row["model"], row["criterion"]): row for row in plain_rows + as_published}
    assert (len(rows), len(told["rows"])) == (6, 10)
    for row in told["rows"]:
        if row["settings"]["pairs"] == "candidates" and row["criterion"] != "none":
            assert row["auc"] > rows[row["model"], row["criterion"]]["auc"] - 0.005
            assert row["paper"] == {}
    for model in ("dot-product", "cne"):
        plain, dp, eo = (rows[model, criterion] for criterion in ("none", "dp", "eo"))
        assert plain["gamma"] == 0
        assert dp["gamma"] == 100
        assert dp["dp"] < 0.25 * plain["dp"]
        assert eo["eo"] < 0.5 * plain["eo"]
        assert dp["auc"] < plain["auc"]
        assert plain["paper"]["auc"] == published()["polblogs", model, "none", "auc"].mean
        for row in (plain, dp, eo):
            assert row["auc"] == pytest.approx(row["paper"]["auc"], abs=0.02)


def test_train_gives_the_promised_json_and_saves(run, tmp_path):
    args = ["train", "polbooks", "--model", "cne", "--criterion", "dp", "--epochs", "20"]
    code, out, err = run(*args, "--gamma", "10", "--out", str(tmp_path / "run"), "--json")
    assert code == 0
    told = json.loads(out)
    keys = "dataset model criterion gamma seed auc dp eo rdp rb kl fit_seconds intervals"
    assert set(keys.split()) <= set(told)
    assert told["dataset"] == "polbooks"
    assert (told["criterion"], told["gamma"], told["seed"]) == ("dp", 10, 0)
    assert {"auc", "dp", "eo", "rdp"} <= set(told["intervals"])
    assert "epoch 20/20" in err
    kept = LinkPredictor.load(tmp_path / "run")
    assert kept.graph_.num_nodes == 105
    code, table, _ = run("train", "polbooks", "--model", "maxent")
    assert code == 0
    assert "maxent, plain, seed 0" in table


def test_plain_training_has_no_criterion_and_no_gamma(run):
    _, out, _ = run("train", "polbooks", "--model", "maxent", "--json")
    told = json.loads(out)
    assert (told["criterion"], told["gamma"], told["rb"]) == ("none", 0, None)


@pytest.fixture
def quick_demo(monkeypatch, demo, tmp_path):
    """The demo's results at once, in an empty folder."""

    def quick(tell):
        tell("working …")
        return demo

    monkeypatch.setattr("linkparity.paper.demo.run_demo", quick)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_demo_prints_tables_or_json_on_stdout_and_writes_its_report(run, quick_demo, demo):
    said = f"working …\nwrote {cli.DEMO_PAGE}\n"
    code, out, err = run("demo", "--json")
    assert (code, err) == (0, said)
    told = json.loads(out)
    assert told == json.loads(json.dumps(demo.to_dict() | {"report": cli.DEMO_PAGE}))
    page = (quick_demo / cli.DEMO_PAGE).read_text()
    assert "Beside the paper" in page
    assert page.count("<figure>") == 5  # one strength: no curves
    code, out, err = run("demo")
    assert (code, err) == (0, said)
    assert len(re.findall(r"^  (dot-product|cne) +none ", out, re.M)) == 2
    for pairs in ("sampled", "candidates"):
        assert len(re.findall(rf"^  (dot-product|cne) +(dp|eo) +{pairs} ", out, re.M)) == 4
    assert "(0.962)" in out
    assert "means over ten seeds" in out


def test_demo_opens_its_report_only_when_asked(run, quick_demo, monkeypatch):
    opened = []
    monkeypatch.setattr(typer, "launch", opened.append)
    assert run("demo", "--out", "mine.html")[0] == 0
    assert opened == []
    code, _, err = run("demo", "--out", "mine.html")
    assert code == 2
    assert "mine.html: exists already" in err
    assert run("demo", "--out", "mine.html", "--force", "--open")[0] == 0
    assert opened == ["mine.html"]


def test_demo_without_the_extra_prints_its_tables_and_one_line(run, quick_demo, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    code, out, err = run("demo")
    assert code == 0
    assert err == 'working …\nno report: a report needs altair: pip install "linkparity[report]"\n'
    assert "(0.962)" in out
    assert not list(quick_demo.iterdir())
    (quick_demo / cli.DEMO_PAGE).mkdir()
    code, out, err = run("demo")
    assert (code, err.splitlines()[1]) == (
        0, f"no report: {cli.DEMO_PAGE}: is a directory; give the name of a file in it",
    )  # fmt: skip


def test_figure_is_drawn_from_the_demo(demo, tmp_path):
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        from figures import draw_parity
    finally:
        sys.path.pop(0)
    draw_parity(demo, tmp_path / "parity.svg")
    assert (tmp_path / "parity.svg").read_text().count("<use") >= 12


def test_the_real_process_has_the_same_manners():
    command = [sys.executable, "-m", "linkparity", "datasets", "nope"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert is_one_line(done.stderr)


def test_training_that_diverges_is_one_line(run):
    code, out, err = run("train", "polbooks", "--lr", "1e25", "--epochs", "4")
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert re.search(r"^Error: the loss is \S+ in epoch \d; take a smaller lr", err, re.MULTILINE)
    code, out, err = run(
        "train", "polbooks", "--model", "maxent", "--criterion", "dp", "--gamma", "1e12"
    )
    assert (code, out) == (2, "")
    assert "Error: maxent: the largest gradient is" in err
    assert "take a smaller gamma" in err


def test_pairs_and_gamma_are_accepted_where_no_criterion_is_trained(run):
    told = [
        json.loads(run("train", "polbooks", "--epochs", "2", "--json", *more)[1])
        for more in ([], ["--pairs", "all", "--gamma", "7"])
    ]
    assert told[0]["auc"] == told[1]["auc"]
    assert told[1]["gamma"] == 0
    found = [
        json.loads(run("train", "polbooks", "--criterion", "dp", "--json", "--pairs", pairs)[1])
        for pairs in PAIRS
    ]
    assert len({each["dp"] for each in found}) == 3
    assert [each["settings"]["pairs"] for each in found] == list(PAIRS)


LATE = """
import sys, types
from linkparity.cli import main
def interrupted(*_, **__):
    exec("raise KeyboardInterrupt")
{}
main()
"""
DURING = {
    "import": "sys.meta_path.insert(0, types.SimpleNamespace(find_spec=interrupted))",
    "command": "from linkparity.cli import command; command.app = interrupted",
}


@pytest.mark.parametrize("during", DURING)
def test_ctrl_c_is_one_line_and_exit_code_2_of_python_m(tmp_path, during):
    """CPython ends by the signal after an interrupt within exec, as of a dataclass being made."""
    (tmp_path / "late.py").write_text(LATE.format(DURING[during]))
    done = subprocess.run(
        [sys.executable, "-m", "late"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, "Error: interrupted; nothing was written\n")
