"""Bad input: one line with file, row, column and fix; exit code 2; nothing written."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from table_cases import exit_code, make_scores, write

from linkparity.support.files import PREFIX

HEAD = "source,target,score,label\n"
GOOD = "a,b,0.5,1\nb,c,0.25,0\na,c,0.75,1\n"
NODES = "node,kind\na,x\nb,y\nc,z\n"


def case(scores=HEAD + GOOD, nodes=NODES, name="s.csv", args=()):
    return scores, nodes, name, args


BAD = {
    "missing file": (case(None), "s.csv: no such file"),
    "near file": (case(None, name="n.csvv"), "n.csvv: cannot tell the format by the extension"),
    "missing column": (
        case("source,target,scor,label\n" + GOOD),
        "s.csv: no column 'score' or 'logit'; did you mean 'scor'? name it with --score",
    ),
    "missing attribute": (
        case(nodes="node,kin\na,x\nb,y\n"),
        "n.csv: no column 'kind'; did you mean 'kin'? columns: node, kin",
    ),
    "groups nowhere": (case(nodes=None), "s.csv: no column 'source_kind'; did you mean 'source'?"),
    "named column": (
        case(args=("--score", "scores")),
        "s.csv: --score 'scores' is not a column; did you mean 'score'? columns: source,",
    ),
    "empty file": (case(""), "s.csv: the file is empty"),
    "empty nodes": (case(nodes=""), "n.csv: the file is empty"),
    "header only": (case(HEAD), "s.csv: has column names but no rows"),
    "empty header": (
        case("\n" + GOOD),
        "s.csv: the header is empty; it must hold the column names",
    ),
    "header twice": (
        case("source,target,score,score\n" + GOOD),
        "s.csv: column 'score' occurs twice; rename one of them in the header",
    ),
    "not utf-8": (case(HEAD.encode() + b"\xe9,b,0.5,1\n"), "s.csv: row 1: is not UTF-8 text; save"),
    "utf-16": (case((HEAD + GOOD).encode("utf-16")), "s.csv: the header is not UTF-8 text"),
    "ragged row": (
        case(HEAD + GOOD + "c,d,0.5\n"),
        "s.csv: row 4: has 3 columns where the header has 4; fix the row",
    ),
    "long row": (
        case(HEAD + "a,b,0.5,1,9\n"),
        "s.csv: row 1: has 5 columns where the header has 4",
    ),
    "open quote": (case(HEAD + GOOD + '"c,d,0.5,1\n'), "s.csv: row 4: opens a quote"),
    "score above 1": (
        case(HEAD + GOOD + "b,a,1.5,1\n"),
        "s.csv: row 4, column 'score': holds '1.5', which is not a probability in [0, 1]; if these "
        "are logits, name the column with --logit",
    ),
    "score nan": (
        case(HEAD + "a,b,nan,1\n"),
        "s.csv: row 1, column 'score': holds 'nan', which is not a prob",
    ),
    "score text": (
        case(HEAD + "a,b,high,1\n"),
        "row 1, column 'score': holds 'high', which is not a number",
    ),
    "score missing": (
        case(HEAD + "a,b,,1\n"),
        "s.csv: row 1, column 'score': the score is missing",
    ),
    "logit infinite": (
        case("source,target,logit\na,b,inf\n"),
        "s.csv: row 1, column 'logit': holds 'inf', which is not a finite logit",
    ),
    "label": (
        case(HEAD + GOOD + "c,b,0.5,2\n"),
        "row 4, column 'label': holds '2', which is not 0 or 1; use 1 for a link",
    ),
    "no id": (case(HEAD + ",b,0.5,1\n"), "s.csv: row 1, column 'source': the id is missing"),
    "unknown node": (
        case(HEAD + GOOD + "a,d,0.5,1\n"),
        "s.csv: row 4, column 'target': node 'd' is not in n.csv; write ids alike, "
        "or use --unknown group (a group of their own) or --unknown drop (leave them out); "
        "--unknown keep leaves them in, unconstrained\n",
    ),
    "mistyped node": (
        case(
            HEAD + "ann,bob,0.5,1\nbob,cid,0.5,1\nbob,amn,0.5,1\n",
            "node,kind\nann,x\nbob,y\ncid,z\n",
        ),
        "s.csv: row 3, column 'target': node 'amn' is not in n.csv; did you mean "
        "'ann'? write ids alike, or use --unknown group (a group of their own) or --unknown drop "
        "(leave them out); --unknown keep leaves them in, unconstrained\n",
    ),
    "strange targets": (
        case(HEAD + "a,d,0.5,1\nb,e,0.25,0\n"),
        "is not in n.csv (2 such rows); use --bipartite if targets have no groups; write ids alike",
    ),
    "strange sources": (
        case(HEAD + "d,a,0.5,1\ne,b,0.25,0\n"),
        "is not in n.csv (2 such rows); use --bipartite if sources have no groups; write ids alike",
    ),
    "targets without value": (
        case(HEAD + "a,d,0.5,1\nb,e,0.25,0\n", "node,kind\na,x\nb,y\nd,\ne,\n"),
        "node 'd' has no kind in n.csv (2 such rows); use --bipartite if targets have no groups; "
        "fill it in, or use",
    ),
    "strange on both sides": (
        case(HEAD + "a1,b1,0.5,1\nb1,c1,0.25,0\n"),
        "column 'source': node 'a1' is not in n.csv (2 such rows); did you mean 'a'? write ids",
    ),
    "node without value": (
        case(nodes="node,kind\na,x\nb,\nc,z\n"),
        "column 'target': node 'b' has no kind in n.csv (2 such rows); fill it in, or use",
    ),
    "two groups": (
        case(nodes=NODES + "a,z\n"),
        "n.csv: row 1, column 'node': node 'a' is listed twice with two groups, 'x' and 'z', "
        "again in row 4; keep one",
    ),
    "one group": (
        case(nodes="node,kind\na,x\nb,x\nc,x\n"),
        "s.csv: only one group, 'x', has scores, and parity compares two or more; check column",
    ),
    "no groups": (case(nodes="node,kind\na,\nb,\n"), "n.csv: column 'kind' is empty in every row"),
    "no crossed groups": (
        case(nodes="node,kind,side\na,x,\nb,,y\nc,,z\n", args=("--sensitive", "kind,side")),
        "n.csv: no row has a value in every one of the columns 'kind', 'side'; cross columns that",
    ),
    "score and logit": (
        case("source,target,score,logit\na,b,0.5,0\n"),
        "s.csv: has both columns 'score' and 'logit'; choose one with --score score or --logit",
    ),
    "duplicates": (
        case(HEAD + GOOD + "b,a,0.5,1\n"),
        "s.csv: row 4, column 'source': the pair ('b', 'a') repeats row 1; "
        "keep the first of each with --duplicates first, or use --directed",
    ),
    "same row again": (
        case(HEAD + GOOD + "a,b,0.5,1\n"),
        "repeats row 1; keep the first of each with --duplicates first\n",
    ),
    "self-loop": (
        case(HEAD + GOOD + "b,b,0.5,1\n"),
        "s.csv: row 4, column 'target': node 'b' is paired with itself; leave such "
        "rows out with --self-loops drop, or use --bipartite",
    ),
    "sensitive": (case(args=("--sensitive", "")), "--sensitive must name the column"),
    "sensitive twice": (
        case(args=("--sensitive", "kind, kind")),
        "--sensitive must name a column once, got 'kind' twice",
    ),
    "only cases differ": (
        case("source,target,score,Score\na,b,0.5,1\n"),
        "s.csv: columns 'score' and 'Score' differ only in upper and lower case; rename one",
    ),
    "semicolons": (
        case((HEAD + GOOD).replace(",", ";")),
        "s.csv: the header is one column, 'source;target;score;label'; separate columns by commas",
    ),
    "header only of nodes": (case(nodes="node,kind\n"), "n.csv: has column names but no rows"),
    "row below a long value": (
        case('source,target,score,note\na,b,0.5,"x\ny\nz"\nb,c,0.25\n'),
        "s.csv: row 2: has 3 columns where the header has 4",
    ),
    "no place for temporary files": (
        case(args=("--tmp", "nowhere")),
        "nowhere: is not a directory; create it first",
    ),
    "unknown option": (
        case(args=("--unknown", "drp")),
        "--unknown must be 'error', 'group', 'drop' or 'keep', got 'drp'; did you mean 'drop'?",
    ),
    "criterion": (
        case(args=("--criterion", "weakdp")),
        "unknown criterion 'weakdp'; did you mean 'weak-dp'",
    ),
    "no labels": (
        case("source,target,score\na,b,0.5\nb,c,0.25\n", args=("--criterion", "eo")),
        "s.csv: criterion 'eo' needs a column 'label' of 0 and 1",
    ),
    "no links": (
        case(HEAD + "a,b,0.5,0\nb,c,0.25,0\n", args=("--criterion", "eo")),
        "s.csv: no pair is constrained by eo; it needs links (label 1)",
    ),
    "engine": (
        case(args=("--engine", "duck")),
        "unknown engine 'duck'; did you mean 'duckdb'? known: duckdb, spark",
    ),
    "two columns": (case("a,b\n1,2\n"), "s.csv: needs columns source, target and score"),
    "not gzip": (case(HEAD + GOOD, name="s.csv.gz"), "s.csv.gz: is not a complete gzip file"),
    "cut gzip": (
        case(gzip.compress((HEAD + GOOD).encode())[:-12], name="s.csv.gz"),
        "s.csv.gz: is not a complete gzip file",
    ),
    "not parquet": (
        case(HEAD + GOOD, name="s.parquet"),
        "s.parquet: is not a complete Parquet file",
    ),
}


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
@pytest.mark.parametrize("verb", ["audit", "project"])
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(tmp_path, monkeypatch, capfd, name, verb):
    (scores, nodes, file, args), said = BAD[name]
    monkeypatch.chdir(tmp_path)
    for path, content in ((file, scores), ("n.csv", nodes)):
        if content is not None:
            Path(path).write_bytes(content if isinstance(content, bytes) else content.encode())
    command = [verb, file, *(() if "--sensitive" in args else ("--sensitive", "kind"))]
    command += ["--nodes", "n.csv"] if nodes is not None else []
    command += ["--out", "out.csv", "--save-tilts", "t.json"] if verb == "project" else []
    before = sorted(os.listdir())
    code = exit_code(*command, *args)
    out, err = capfd.readouterr()
    assert code == 2
    assert out == ""
    lines = [line for line in err.splitlines() if not line.startswith("Warning")]
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    assert said in lines[0] + "\n"
    assert sorted(os.listdir()) == before


def test_an_output_that_exists_stays(tmp_path, capfd):
    scores, people, _ = make_scores()
    file, nodes = write(scores, tmp_path / "s.csv"), write(people, tmp_path / "n.csv")
    out = tmp_path / "out.csv"
    out.write_text("mine")
    args = ("project", file, "--nodes", nodes, "--sensitive", "kind", "--out", out)
    assert exit_code(*args) == 2
    assert "out.csv: exists already; choose another name, or overwrite with --force" in (
        capfd.readouterr().err
    )
    assert out.read_text() == "mine"
    assert exit_code(*args, "--force") == 0
    assert out.read_text().startswith("source,target,score,label,fair_score\n")
    report = tmp_path / "r.html"
    report.write_text("mine")
    assert exit_code("audit", *args[1:6], "--html", report) == 2
    assert report.read_text() == "mine"
    assert exit_code("project", *args[1:6], "--out", tmp_path / "no" / "f.csv") == 2
    assert "its directory does not exist" in capfd.readouterr().err


def test_a_table_that_was_projected_is_not_projected_again(tmp_path, capfd):
    scores, people, _ = make_scores()
    nodes = write(people, tmp_path / "n.csv")
    file = write(scores.assign(fair_score=0.5), tmp_path / "s.csv")
    out = tmp_path / "o.csv"
    assert exit_code("project", file, "--nodes", nodes, "--sensitive", "kind", "--out", out) == 2
    assert "has a column 'fair_score' already" in capfd.readouterr().err


def test_tilts_of_something_else(tmp_path, capfd):
    scores, people, _ = make_scores()
    file, nodes = write(scores, tmp_path / "s.csv"), write(people, tmp_path / "n.csv")
    wrong = tmp_path / "wrong.json"
    args = ("project", file, "--nodes", nodes, "--sensitive", "kind", "--out", tmp_path / "o.csv")
    for content in ("{", "[]", json.dumps({"format": "other"}), "{}"):
        wrong.write_text(content)
        assert exit_code(*args, "--apply", wrong) == 2
        said = "is damaged: not valid JSON" if content == "{" else "is not a tilt file; make one w"
        assert f"wrong.json: {said}" in capfd.readouterr().err
    assert exit_code(*args, "--apply", tmp_path / "none.json") == 2
    assert "none.json: no such file" in capfd.readouterr().err


def large(tmp_path, rows=1200):
    """A table whose projection takes a while, through a database on disk."""
    scores, people, _ = make_scores(rows)
    return write(scores, tmp_path / "s.csv"), write(people, tmp_path / "n.csv")


def start(tmp_path, file, nodes, out):
    spare = tmp_path / "tmp"
    spare.mkdir(exist_ok=True)
    code = "import linkparity.reading.duckdb as e, sys; e.IN_MEMORY = 0\n"
    code += "from linkparity.cli.command import main; main(sys.argv[1:])"
    args = [sys.executable, "-c", code, "project", str(file), "--nodes", str(nodes)]
    args += ["--sensitive", "kind", "--out", str(out), "--tmp", str(spare)]
    run = subprocess.Popen(args, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for _ in range(600):
        if any(spare.glob(f"{PREFIX}*/rows.duckdb")) or run.poll() is not None:
            break
        time.sleep(0.05)
    return run, spare


@pytest.mark.parametrize(
    ("name", "wait"), [("fair.csv", 0.0), ("fair.csv", 0.3), ("fair.csv", 0.8), ("-", 0.5)]
)
def test_a_killed_projection_leaves_no_output(tmp_path, name, wait):
    file, nodes = large(tmp_path)
    out = tmp_path / "out" / "fair.csv"
    out.parent.mkdir()
    run, spare = start(tmp_path, file, nodes, name if name == "-" else out)
    assert run.poll() is None, run.communicate()[1]
    time.sleep(wait)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    if run.returncode == -signal.SIGKILL:
        assert all(left.startswith(PREFIX) for left in os.listdir(out.parent))
        assert all(left.startswith(PREFIX) for left in os.listdir(spare))


def test_an_interrupted_projection_says_so(tmp_path):
    file, nodes = large(tmp_path)
    out = tmp_path / "out" / "fair.csv"
    out.parent.mkdir()
    run, spare = start(tmp_path, file, nodes, out)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate()
    assert run.returncode == 2, err
    assert err == "Error: interrupted; nothing was written\n"
    assert os.listdir(out.parent) == []
    assert list(spare.iterdir()) == []


def test_a_full_disk_leaves_nothing(tmp_path, capfd):
    """A real full disk where the system lets us make one."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a small file system here")
    try:
        file, nodes = large(tmp_path, 300)
        run, _ = start(tmp_path, file, nodes, small / "fair.csv")
        _, err = run.communicate()
        assert run.returncode == 2, err
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        assert "No space left" in err
        assert "written" in err
        assert str(small / "fair.csv") in err
        assert os.listdir(small) == []
        (small / "filler").write_bytes(bytes(256 << 10))
        args = (
            "project",
            file,
            "--nodes",
            nodes,
            "--sensitive",
            "kind",
            "--out",
            tmp_path / "f.csv",
        )
        assert exit_code(*args, "--save-tilts", small / "t.json") == 2
        assert f"{small / 't.json'}: No space left on device" in capfd.readouterr().err
        assert not (tmp_path / "f.csv").exists()
        assert os.listdir(small) == ["filler"]
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_without_pyspark_the_pip_command_is_shown(monkeypatch, tmp_path, capfd):
    scores, people, _ = make_scores()
    file, nodes = write(scores, tmp_path / "s.csv"), write(people, tmp_path / "n.csv")
    for module in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, module, None)
    args = ("audit", file, "--nodes", nodes, "--sensitive", "kind", "--engine", "spark")
    assert exit_code(*args) == 2
    said = 'Error: --engine spark needs pyspark: pip install "linkparity[spark]"\n'
    assert capfd.readouterr().err == said
