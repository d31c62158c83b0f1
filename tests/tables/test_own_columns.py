"""Columns that the commands do not use come back as they were, whatever they are called."""

import csv
import gzip
import io

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from table_cases import exit_code

import linkparity as lp

#: Names that the engines use on the way, or that databases give a meaning to.
INTERNAL = [
    *("_row", "row", "cell", "z", "y", "tilt", "rowid", "a", "b", "ga", "gb", "code", "p", "x"),
    *("e", "s", "issue", "f", "g", "t", "k", "v0", "group", "number", "yes", "no", "spread", "key"),
    *("low", "high", "first", "again", "n", "owner", "place", "edge", "order", "select", "c0"),
]
VALUES = ["", "NaN", "NULL", "nan", "001", "9007199254740993", 'a "b", c', "one\ntwo\n", " s ", "é"]
IDS = [f"n{i}" for i in range(7)]
PAIRS = [(a, b) for i, a in enumerate(IDS) for b in IDS[:i]]
HEAD = ["source", "target", "score", *INTERNAL]


def rows():
    """A value of every kind in every column."""
    return [
        [a, b, f"{(k + 1) / 30:.3f}", *(VALUES[(k + j) % 10] for j in range(len(INTERNAL)))]
        for k, (a, b) in enumerate(PAIRS)
    ]


def write_people(path):
    lines = [f"{node},{'xyz'[i % 3]},1,2,3" for i, node in enumerate(IDS)]
    path.write_text("\n".join(["node,group,row,number,v0", *lines]) + "\n")
    return path


def write_text(path, table):
    out = io.StringIO()
    csv.writer(out, delimiter="\t" if ".tsv" in path.name else ",").writerows(table)
    data = out.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read_text(path):
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    delimiter = "\t" if ".tsv" in path.name else ","
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


@pytest.mark.parametrize("shape", ["csv", "csv.gz", "tsv", "tsv.gz"])
def test_text_is_passed_through(tmp_path, shape):
    file = write_text(tmp_path / f"s.{shape}", [HEAD, *rows()])
    nodes, out = write_people(tmp_path / "n.csv"), tmp_path / f"o.{shape}"
    assert exit_code("project", file, "--nodes", nodes, "--sensitive", "group", "--out", out) == 0
    head, *back = read_text(out)
    assert head == [*HEAD, "fair_score"]
    assert [row[:-1] for row in back] == rows()


def test_parquet_is_passed_through(tmp_path):
    columns = list(zip(*rows(), strict=True))
    given = pa.table(
        {
            "source": columns[0],
            "target": columns[1],
            "score": [float(value) for value in columns[2]],
            **dict(zip(INTERNAL, columns[3:], strict=True)),
            "real": pa.array([None, float("nan"), 0.1] * 7, pa.float64()),
            "whole": pa.array([None, 2**53 + 1, -1] * 7, pa.int64()),
            "word": pa.array([None, "", "a\nb"] * 7),
        }
    )
    file, out = tmp_path / "s.parquet", tmp_path / "o.parquet"
    pq.write_table(given, file)
    nodes = write_people(tmp_path / "n.csv")
    assert exit_code("project", file, "--nodes", nodes, "--sensitive", "group", "--out", out) == 0
    back = pq.read_table(out)
    assert back.column_names == [*given.column_names, "fair_score"]
    for name in given.column_names:
        assert str(back[name].to_pylist()) == str(given[name].to_pylist()), name
        assert back[name].type == given[name].type


@pytest.mark.parametrize("shape", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ("Score", "columns 'score' and 'Score' differ only in upper and lower case; rename one"),
        ("_lp_row", "names that begin with '_lp_', such as column '_lp_row', are reserved; rename"),
        ("Fair_Score", "has a column 'Fair_Score' already, which project would write; rename"),
    ],
)
def test_names_that_cannot_be_kept_are_refused(tmp_path, monkeypatch, capfd, shape, extra, said):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rows(), columns=HEAD)[["source", "target", "score"]].assign(x="1")
    frame = frame.astype({"score": float}).rename(columns={"x": extra})
    frame.to_parquet("s.parquet") if shape == "parquet" else frame.to_csv("s.csv", index=False)
    write_people(tmp_path / "n.csv")
    args = ("--nodes", "n.csv", "--sensitive", "group", "--out", "o.csv")
    assert exit_code("project", f"s.{shape}", *args) == 2
    err = capfd.readouterr().err
    assert err.startswith(f"Error: s.{shape}: ")
    assert err.count("\n") == 1
    assert said in err
    with pytest.raises(ValueError, match=said.split("'")[0]):
        lp.project(frame, "group", pd.read_csv("n.csv"))


def test_only_what_is_written_must_be_new(tmp_path):
    frame = pd.DataFrame(rows(), columns=HEAD).astype({"score": float})
    people = pd.read_csv(write_people(tmp_path / "n.csv"))
    assert lp.project(frame, "group", people).tilt.tolist() == frame.tilt.tolist()
    with pytest.raises(ValueError, match=r"has a column 'tilt' already.*such as to 'old_tilt'"):
        lp.project(frame, "group", people, explain=True)
