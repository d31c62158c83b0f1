"""train, predict, audit and project from own files: formats, ids, and what is refused."""

import csv
import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from table_cases import exit_code

import linkparity as lp
from linkparity.experiments.graph_files import GraphFiles, read_graph

IDS = ["007", "7", 'a"b', "x,y", "é", "9007199254740993", "9007199254740992", "NULL", " s ", "n'q"]
IDS += ["<script>alert(1)</script>", "line\ntwo", *(f"n{i:02d}" for i in range(12))]
KINDS = ["<script>", "b & b", "é"]
LINKS = [(i, (i + step) % len(IDS)) for i in range(len(IDS)) for step in (1, 3, 7)]
PAIRS = [(i, j) for i in range(len(IDS)) for j in range(i)]
SENSITIVE = ("--sensitive", "kind")


def write_rows(path, rows, bom="", end="\n"):
    """Rows by the path's extensions; ``bom`` and ``end`` for text."""
    if path.suffix == ".parquet":
        pd.DataFrame(rows[1:], columns=rows[0]).to_parquet(path)
        return
    out = io.StringIO()
    delimiter = "\t" if ".tsv" in path.name else ","
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(rows)
    data = (bom + out.getvalue()).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def read_rows(path):
    if path.suffix == ".parquet":
        frame = pd.read_parquet(path)
        return [tuple(frame.columns), *frame.itertuples(index=False, name=None)]
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    delimiter = "\t" if ".tsv" in path.name else ","
    return [tuple(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)]


def write_graph(place, shape="csv", ids=IDS, **form):
    """Links, nodes and all pairs, as ``l.csv``, ``n.csv`` and ``p.csv``."""
    tables = {
        "l": [("source", "target"), *((ids[a], ids[b]) for a, b in LINKS)],
        "n": [("node", "kind"), *((each, KINDS[i % 3]) for i, each in enumerate(ids))],
        "p": [("source", "target", "note"), *((ids[a], ids[b], "a\nb") for a, b in PAIRS)],
    }
    for name, rows in tables.items():
        write_rows(place / f"{name}.{shape}", rows, **form)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(here, capfd):
    """A run trained on the files here."""
    write_graph(here)
    args = ("--links", "l.csv", "--nodes", "n.csv", *SENSITIVE, "--model", "maxent")
    assert exit_code("train", *args, "--out", "run") == 0
    capfd.readouterr()
    return "run"


def refused(capfd, *args):
    """The one line that a command answers with; it writes nothing."""
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    assert exit_code(*args) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before
    return err.removeprefix("Error: ")


NUMBERS = [2**53 + i for i in range(len(IDS))]
JOURNEYS = {
    "csv": ("csv", {}),
    "csv.gz": ("csv.gz", {}),
    "tsv": ("tsv", {}),
    "tsv.gz": ("tsv.gz", {}),
    "parquet": ("parquet", {}),
    "numbers": ("parquet", {"ids": NUMBERS}),
    "CRLF": ("csv", {"end": "\r\n"}),
    "BOM": ("csv", {"bom": "\ufeff"}),
}


@pytest.mark.parametrize("name", JOURNEYS)
def test_ids_survive_the_whole_journey(here, capfd, name):
    shape, form = JOURNEYS[name]
    write_graph(here, shape, **form)
    nodes = ("--nodes", f"n.{shape}", *SENSITIVE)
    train = ("train", "--links", f"l.{shape}", *nodes, "--model", "maxent", "--out", "run")
    for command in (
        train,
        ("predict", "run", "--pairs", f"p.{shape}", "--out", f"s.{shape}"),
        ("audit", f"s.{shape}", *nodes, "--html", "report.html"),
        ("audit", f"s.{shape}", *nodes, "--directed"),
        ("project", f"s.{shape}", *nodes, "--out", f"f.{shape}"),
        ("predict", "run", "--top", "3", "--out", f"t.{shape}"),
    ):
        code = exit_code(*command)
        assert code == 0, (command, capfd.readouterr().err)
    given, back = read_rows(here / f"p.{shape}"), read_rows(here / f"f.{shape}")
    assert back[0] == ("source", "target", "note", "score", "fair_score")
    assert [row[:3] for row in back[1:]] == given[1:]
    ids = form.get("ids", IDS)
    best = read_rows(here / f"t.{shape}")[1:]
    assert {row[0] for row in best} == set(ids)
    assert {row[1] for row in best} <= set(ids)
    page = Path("report.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_ids_of_two_kinds_are_compared_as_text(here, capfd):
    write_graph(here, "parquet", NUMBERS)
    write_graph(here, "csv", NUMBERS)
    args = ("--links", "l.parquet", "--nodes", "n.csv", *SENSITIVE, "--model", "maxent")
    assert exit_code("train", *args, "--out", "run") == 0
    assert exit_code("predict", "run", "--pairs", "p.parquet", "--out", "s.parquet") == 0
    assert pd.read_parquet("s.parquet").source.tolist() == [NUMBERS[i] for i, _ in PAIRS]


@pytest.mark.parametrize(
    ("rows", "args", "said"),
    [
        ("a,n00\n", (), "p.csv: row 1, column 'source': node 'a' was not trained on; write ids"),
        (
            "n00,n01\nn02,n05x\n",
            (),
            "p.csv: row 2, column 'target': node 'n05x' was not trained on; did you mean 'n05'?",
        ),
        ("n02,n0x\n", (), "or leave such rows out with --unknown drop"),
        (
            "n00,n01\nn02,n02\n",
            (),
            "p.csv: row 2, column 'target': node 'n02' is paired with itself; leave such rows out "
            "with --self-loops drop",
        ),
        ("n00,\n", (), "p.csv: row 1, column 'target': the id is missing; fill it in"),
        ("n00,\n", ("--unknown", "drop"), "row 1, column 'target': the id is missing"),
        ("n00,zz\n", ("--unknown", "drop"), "p.csv: has no pair to score"),
        ("", (), "p.csv: has no pair to score"),
        ("n00\n", (), "p.csv: row 1: has 1 column where the header has 2"),
        (
            "n00,n01\n",
            ("--source", "sorce"),
            "--source 'sorce' is not a column; did you mean 'source'",
        ),
        ("n00,n01\n", ("--source", "target"), "source and target are both column 'target'"),
        ("n00,n01\n", ("--unknown", "group"), "--unknown must be 'error' or 'drop', got 'group'"),
        ("n00,n01\n", ("--self-loops", "x"), "--self-loops must be 'error' or 'drop', got 'x'"),
        ("n00,n01\n", ("--for", "n00"), "--for goes with --top"),
        ("n00,n01\n", ("--out", "p.csv", "--force"), "p.csv: is also read as an input"),
        ("n00,n01\n", ("--out", "-", "--json"), "--json and --out - both write to stdout"),
    ],
)
def test_bad_pairs_for_predict_are_one_line(run, capfd, rows, args, said):
    Path("p.csv").write_text("source,target\n" + rows)
    out = () if "--out" in args else ("--out", "s.csv")
    assert said in refused(capfd, "predict", run, "--pairs", "p.csv", *out, *args)


def test_pairs_with_a_score_are_refused_with_a_way_on(run, capfd):
    Path("p.csv").write_text("source,target,Score\nn00,n01,1\n")
    said = refused(capfd, "predict", run, "--pairs", "p.csv", "--out", "s.csv")
    assert "p.csv: has a column 'Score' already, which predict would write; rename it" in said
    assert "'old_score'" in said


def test_predict_reads_other_columns_and_drops_when_told(run):
    rows = ["why,to,from", "1,n00,n01", "2,n02,n02", "3,n00,nobody", "4,n03,n02"]
    Path("p.csv").write_text("\n".join(rows) + "\n")
    args = ("--source", "from", "--target-column", "to", "--unknown", "drop")
    args += ("--self-loops", "drop", "--out", "s.csv")
    assert exit_code("predict", run, "--pairs", "p.csv", *args) == 0
    found = pd.read_csv("s.csv")
    assert found.why.tolist() == [1, 4]
    assert list(found.columns) == ["why", "to", "from", "score"]
    Path("q.csv").write_text("source,target\nn01,n00\nn02,n03\n")
    assert exit_code("predict", run, "--pairs", "q.csv", "--out", "t.csv") == 0
    assert found.score.tolist() == pd.read_csv("t.csv").score.tolist()


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning", "ignore::linkparity.GraphWarning")
def test_predict_says_on_which_side_a_node_stands(here, capfd):
    people = [f"p{i}" for i in range(9)]
    links = [(a, f"job {(i * k) % 5}") for i, a in enumerate(people) for k in (1, 2)]
    write_rows(here / "l.csv", [("source", "target"), *dict.fromkeys(links)])
    write_rows(
        here / "n.csv", [("node", "kind"), *((a, "xyz"[i % 3]) for i, a in enumerate(people))]
    )
    args = ("--links", "l.csv", "--nodes", "n.csv", *SENSITIVE, "--model", "maxent", "--bipartite")
    assert exit_code("train", *args, "--out", "run") == 0
    Path("p.csv").write_text("source,target\njob 1,p1\n")
    capfd.readouterr()
    said = refused(capfd, "predict", "run", "--pairs", "p.csv", "--out", "s.csv")
    assert (
        "row 1, column 'source': node 'job 1' was trained on as a target, not as a source" in said
    )


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_scores_of_far_logits_overflow_nothing(run, monkeypatch):
    top = lp.LinkPredictor.top

    def far(*args):
        found = top(*args)
        return found._replace(logit=found.logit - 800)

    monkeypatch.setattr(lp.LinkPredictor, "top", far)
    assert exit_code("predict", run, "--top", "2", "--out", "t.csv") == 0
    assert all(0 <= float(row[2]) < 1e-300 for row in read_rows(Path("t.csv"))[1:])


def test_ids_with_commas_come_from_a_file(run, capfd):
    said = refused(capfd, "predict", run, "--top", "2", "--for", "x,y", "--out", "t.csv")
    assert "--for: node 'x' was not trained on" in said
    assert "ids with a comma go into a file, one per line" in said
    Path("ids.txt").write_bytes("\ufeffx,y\r\n9007199254740993\r\n".encode())
    assert exit_code("predict", run, "--top", "2", "--for", "ids.txt", "--out", "t.csv") == 0
    rows = read_rows(Path("t.csv"))[1:]
    assert [row[0] for row in rows] == ["x,y"] * 2 + ["9007199254740993"] * 2
    many = ",".join(IDS[12:] * 40)
    assert exit_code("predict", run, "--top", "2", "--for", many, "--out", "u.csv") == 0
    capfd.readouterr()
    for content, said in ((b"\n", "names no node; write one id"), (b"\xe9\n", "is not UTF-8 text")):
        Path("ids.txt").write_bytes(content)
        args = ("predict", run, "--top", "2", "--for", "ids.txt", "--out", "v.csv")
        assert f"ids.txt: {said}" in refused(capfd, *args)


def test_predict_never_overwrites_its_list_of_nodes(run, capfd):
    Path("ids.csv").write_text("n00\nn01\n")
    args = ("--top", "2", "--for", "ids.csv", "--out", "ids.csv", "--force")
    assert "ids.csv: is also read as an input" in refused(capfd, "predict", run, *args)


OPTIONS = {
    "train": [
        (("--test", "2"), "--test must lie strictly between 0 and 1"),
        (("--criterion", "dp", "--target", "2"), "--target must lie strictly between 0 and 1"),
        (("--criterion", "dp", "--target", "modle"), "--target must be model, data, free or a"),
        (("--criterion", "dp", "--tolerance", "2"), "--tolerance must lie in [0, 1)"),
        (("--duplicates", "frist"), "--duplicates must be 'error' or 'first', got 'frist'; did"),
        (("--sensitive", "kind,kind"), "--sensitive must name a column once"),
    ],
    "audit": [
        (("--confidence", "2"), "--confidence must lie strictly between 0 and 1"),
        (("--top", "0"), "--top must be at least 1 place"),
        (("--engine", "foo"), "unknown engine 'foo'; known: duckdb, spark"),
        (("--html", "s.csv", "--force"), "s.csv: is also read as an input"),
        (("--html", "./n.csv", "--force"), "./n.csv: is also read as an input"),
    ],
    "project": [
        (("--target", "1"), "--target must lie strictly between 0 and 1"),
        (("--target", "modle"), "--target must be model, data, free or a number, got 'modle'"),
        (("--target", "data"), "--target 'data' is the mean of the labels; give labels"),
        (("--tolerance", "-1"), "--tolerance must lie in [0, 1)"),
        (("--save-tilts", "n.csv", "--force"), "n.csv: is also read as an input"),
    ],
    "predict": [(("--top", "0"), "--top must be at least 1 partner per node, got 0")],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("verb", "args", "said"), [(v, *o) for v in OPTIONS for o in OPTIONS[v]])
def test_messages_name_the_option(run, capfd, verb, args, said):
    write_rows(
        Path("s.csv"),
        [("source", "target", "score"), *((IDS[a], IDS[b], (a + b) / 60) for a, b in PAIRS)],
    )
    nodes = ("--nodes", "n.csv", *(() if "--sensitive" in args else SENSITIVE))
    command = {
        "train": ("train", "--links", "l.csv", *nodes, "--model", "maxent"),
        "audit": ("audit", "s.csv", *nodes),
        "project": ("project", "s.csv", *nodes, "--out", "f.csv"),
        "predict": ("predict", run, "--out", "t.csv"),
    }
    assert said in refused(capfd, *command[verb], *args)


def test_what_is_undefined_is_a_dash_with_a_reason(here, capfd):
    people = [(f"n{i}", "xyz"[i % 3]) for i in range(9)]
    write_rows(here / "n.csv", [("node", "kind"), *people])
    pairs = [(a, b) for i, (a, _) in enumerate(people) for b, _ in people[:i]]
    within = [(a, b, 0.5) for a, b in pairs if (int(a[1]) - int(b[1])) % 3]
    write_rows(here / "s.csv", [("source", "target", "score"), *within])
    assert exit_code("audit", "s.csv", "--nodes", "n.csv", *SENSITIVE) == 0
    out = capfd.readouterr().out
    assert "nan" not in out
    assert "eo: no labels were given." in out
    assert "dp (within a group, between groups): needs pairs in two cells of the view" in out
    assert exit_code("project", "s.csv", "--nodes", "n.csv", *SENSITIVE, "--out", "f.csv") == 0
    out = capfd.readouterr().out
    assert "nan" not in out
    assert "–: undefined for these rows; an audit says why." in out


SIGNALLED = """
import os, signal, sys, time
import linkparity.models.prediction.predictor, linkparity.experiments.predict
import linkparity.metrics.tables.audit_table

def stop(*args, **options):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)

def stop_in_a_loop(*args, **options):
    yield stop()

{place} = {stop}
from linkparity.cli.command import main
main(sys.argv[1:])
"""
HALF_WAY = {
    "train": ("linkparity.models.base.gradient_steps", "stop_in_a_loop"),
    "predict": ("linkparity.experiments.predict.write_table", "stop"),
    "audit": ("linkparity.metrics.tables.audit_table.audit_scores", "stop"),
    "project": ("linkparity.reading.tables.write_table", "stop"),
}


@pytest.mark.parametrize("verb", HALF_WAY)
def test_an_interrupted_command_writes_nothing(run, verb):
    """The signal comes when the output is being made."""
    assert exit_code("predict", run, "--pairs", "p.csv", "--out", "s.csv") == 0
    nodes = ("--nodes", "n.csv", *SENSITIVE)
    os.mkdir("out")
    args = {
        "train": ("--links", "l.csv", *nodes, "--out", "out/run"),
        "predict": (run, "--pairs", "p.csv", "--out", "out/t.csv"),
        "audit": ("s.csv", *nodes, "--html", "out/report.html"),
        "project": ("s.csv", *nodes, "--out", "out/f.csv", "--save-tilts", "out/t.json"),
    }
    place, stop = HALF_WAY[verb]
    code = SIGNALLED.format(place=place, stop=stop)
    command = [sys.executable, "-c", code, verb, *args[verb]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == "Error: interrupted; nothing was written"
    assert "Traceback" not in done.stderr
    assert os.listdir("out") == []


@pytest.mark.parametrize("given", ["csv", "csv.gz", "tsv", "parquet"])
@pytest.mark.parametrize("wanted", ["csv", "tsv", "parquet"])
def test_format_is_that_of_stdout(here, monkeypatch, capfdbinary, given, wanted):
    write_graph(here)
    rows = [(IDS[a], IDS[b], (a + b + 1) / 60) for a, b in PAIRS]
    write_rows(here / f"s.{given}", [("source", "target", "score"), *rows])
    stdin = io.TextIOWrapper(io.BytesIO(Path(f"s.{given}").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    args = ("--nodes", "n.csv", *SENSITIVE, "--out", "-", "--format", wanted)
    assert exit_code("project", "-", *args) == 0
    Path(f"f.{wanted}").write_bytes(capfdbinary.readouterr().out)
    head, *back = read_rows(here / f"f.{wanted}")
    assert head == ("source", "target", "score", "fair_score")
    assert [row[:2] for row in back] == [row[:2] for row in rows]


def test_all_faults_of_the_files_are_named_at_once(run, capfd):
    rows = [list(row) for row in read_rows(Path("n.csv"))]
    rows[2][1] = rows[4][1] = ""
    write_rows(Path("n.csv"), rows)
    links = Path("l.csv").read_text()
    first = links.splitlines()[1]
    Path("l.csv").write_text(f"{links}{first}\nn00,n00\nn00,nobody\nn01,nobody\n")
    found = refused(capfd, "train", "--links", "l.csv", "--nodes", "n.csv", "--sensitive", "kind")
    assert "node 'n00' is paired with itself" in found
    assert "repeats row 1" in found
    assert "has no kind (2 of" in found
    assert "node 'nobody' is not in n.csv (2 such rows)" in found
    assert found.count("also l.csv: row") == 2
    assert found.count("also n.csv: row") == 1


def test_all_faults_of_both_files_are_named_at_once_with_counts(here, capfd):
    Path("l.csv").write_text("source,target\na,b\n,b\na,\nb,b\nc,c\nb,a\nb,a\nc,x\ny,d\nc,d\nd,e\n")
    Path("n.csv").write_text("node,kind\na,u\nb,\nc,\nd,v\ne,w\n,w\na,w\n")
    said = refused(capfd, "train", "--links", "l.csv", "--nodes", "n.csv", *SENSITIVE)
    for part in (
        "n.csv: row 6, column 'node': the id is missing;",
        "l.csv: row 2, column 'source': the id is missing;",
        "l.csv: row 3, column 'target': the id is missing;",
        "l.csv: row 4, column 'target': node 'b' is paired with itself (2 such rows);",
        "l.csv: row 6, column 'source': the pair ('b', 'a') repeats row 1 (2 repeated rows);",
        "n.csv: row 1, column 'node': node 'a' is listed twice with two groups, 'u' and 'w', again "
        "in row 7",
        "n.csv: row 2, column 'kind': node 'b' has no kind (2 of 5 nodes have no kind);",
        "l.csv: row 8, column 'target': node 'x' is not in n.csv (2 such rows);",
    ):
        assert part in said


@pytest.mark.parametrize("listed", ["sources", "targets", "both"])
def test_a_side_with_groups_must_have_them_for_all_of_its_listed_nodes(here, capfd, listed):
    Path("l.csv").write_text("".join(f"{a},{b}\n" for a, b in [("who", "what"), *BIPARTITE]))
    nodes = {"sources": PEOPLE, "targets": JOBS, "both": (*PEOPLE, *JOBS)}[listed]
    kinds = "".join(f"{node},{'uvw'[i % 3]}\n" for i, node in enumerate(nodes))
    args = ("--links", "l.csv", "--nodes", "n.csv", *SENSITIVE, "--bipartite", "--model", "maxent")
    Path("n.csv").write_text(f"node,kind\n{kinds}".replace(f"{nodes[1]},v", f"{nodes[1]},"))
    said = refused(capfd, "train", *args)
    assert f"n.csv: row 2, column 'kind': node '{nodes[1]}' has no kind; fill it in" in said


def test_targets_without_values_may_mean_a_bipartite_graph(here, capfd):
    Path("l.csv").write_text("source,target\na,j\nb,k\n")
    Path("n.csv").write_text("node,kind\na,u\nb,v\nj,\nk,\n")
    said = refused(capfd, "train", "--links", "l.csv", "--nodes", "n.csv", *SENSITIVE)
    assert "(2 of 4 nodes have no kind); use --bipartite if targets have no groups; fill" in said


PEOPLE = tuple(f"p{i}" for i in range(8))
JOBS = tuple(f"j{i}" for i in range(6))
BIPARTITE = [(p, j) for i, p in enumerate(PEOPLE) for k, j in enumerate(JOBS) if (i + k) % 3]


TEXTS = {
    "l.txt tabs": ("l.txt", "\t", ()),
    "l.txt commas": ("l.txt", ",", ()),
    "l.txt semicolons": ("l.txt", ";", ()),
    "l.txt blanks": ("l.txt", " ", ()),
    "l.txt.gz tabs": ("l.txt.gz", "\t", ()),
    "semicolons in .csv": ("l.csv", ";", ("--separator", ";")),
    "bars in .txt": ("l.txt", "|", ("--separator", "|")),
    "format of .dat": ("l.dat", "\t", ("--format", "tsv")),
    "tab by name": ("l.dat", "\t", ("--format", "csv", "--separator", "tab")),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_files_of_any_separator(here, capfd, name):
    file, between, args = TEXTS[name]
    ids = [f"n{i:02d}" for i in range(len(IDS))]
    tables = {
        "l": [("source", "target"), *((ids[a], ids[b]) for a, b in LINKS)],
        "n": [("node", "kind"), *((each, KINDS[i % 3]) for i, each in enumerate(ids))],
        "p": [("source", "target"), *((ids[a], ids[b]) for a, b in PAIRS)],
    }
    files = {kind: file.replace("l.", f"{kind}.") for kind in tables}
    for kind, rows in tables.items():
        out = io.StringIO()
        csv.writer(out, delimiter=between, lineterminator="\n").writerows(rows)
        data = out.getvalue().encode()
        Path(files[kind]).write_bytes(gzip.compress(data) if file.endswith(".gz") else data)
    train = ("--links", files["l"], "--nodes", files["n"], *SENSITIVE, "--model", "maxent", *args)
    assert exit_code("train", *train, "--out", "run") == 0, capfd.readouterr().err
    saved = lp.LinkPredictor.load("run").graph_
    assert saved.names == tuple(ids)
    assert saved.group_names == tuple(sorted(KINDS))
    assert exit_code("predict", "run", "--pairs", files["p"], *args, "--out", "s.csv") == 0
    found = pd.read_csv("s.csv")
    assert list(zip(found.source, found.target, strict=True)) == tables["p"][1:]


def test_separators_that_are_none_are_refused(here, capfd):
    write_graph(here)
    train = ("train", "--links", "l.csv", "--nodes", "n.csv", *SENSITIVE)
    assert "--separator must be one character" in refused(capfd, *train, "--separator", ";;")
    Path("l.csv").rename("l.dat")
    said = refused(capfd, "train", "--links", "l.dat", *train[3:])
    assert "l.dat: cannot tell the format by the extension '.dat'; use .csv" in said
    assert "or name it with --format" in said


@pytest.mark.parametrize("columns", ["weight,source,target", "follower,followed", "target,source"])
def test_frames_and_files_take_the_same_columns(tmp_path, columns):
    rows = {"weight": [7, 8, 9], "source": [1, 2, 3], "target": [2, 3, 4]}
    rows |= {"follower": rows["source"], "followed": rows["target"]}
    links = pd.DataFrame({name: rows[name] for name in columns.split(",")})
    nodes = pd.DataFrame({"age": ["a", "b", "b", "a"], "id": [1, 2, 3, 4]})
    links.to_csv(tmp_path / "l.csv", index=False)
    nodes.to_csv(tmp_path / "n.csv", index=False)
    files = GraphFiles(str(tmp_path / "l.csv"), str(tmp_path / "n.csv"), ("age",))
    for graph in (lp.Graph.from_frames(links, nodes, "age"), read_graph(files)):
        assert [str(name) for name in graph.names] == ["1", "2", "3", "4"]
        assert graph.links.tolist() == [[0, 1], [1, 2], [2, 3]]
        assert graph.group.tolist() == [0, 1, 1, 0]
