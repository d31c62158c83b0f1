"""Damaged files, pipes, odd names and foreign SQL: one line that names the file; nothing leaks."""

import gzip
import os
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from table_cases import exit_code, make_scores, write

import linkparity as lp
from linkparity.reading.duckdb import Duck
from linkparity.reading.files import open_table_file
from linkparity.support.files import Workspace

COMMON = ("--nodes", "n.csv", "--sensitive", "kind")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scores, people, _ = make_scores(60)
    write(scores, Path("s.csv"))
    write(people, Path("n.csv"))
    return scores, people


def refused(capfd, *args):
    """The one line that a command ends with; nothing else may appear."""
    before = sorted(os.listdir(b"."))
    assert exit_code(*args) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert sorted(os.listdir(b".")) == before
    return err.removeprefix("Error: ")


@pytest.mark.parametrize("verb", ["audit", "project"])
@pytest.mark.parametrize("where", [0.2, 0.5, 0.8])
def test_a_damaged_gzip(here, capfd, verb, where):
    data = bytearray(gzip.compress(Path("s.csv").read_bytes()))
    at = int(where * len(data))
    data[at : at + 8] = bytes(255 - byte for byte in data[at : at + 8])
    Path("s.csv.gz").write_bytes(data)
    out = ("--out", "o.csv") if verb == "project" else ()
    said = refused(capfd, verb, "s.csv.gz", *COMMON, *out)
    assert said.startswith("s.csv.gz: is not a complete gzip file (")
    assert said.endswith("compress it again, or remove .gz from the name\n")


def damage_column(path, column):
    """Overwrite the data of one column, past what is read when the file is opened."""
    from pyarrow import parquet

    group = parquet.read_metadata(path).row_group(0)
    chunk = next(
        group.column(i)
        for i in range(group.num_columns)
        if group.column(i).path_in_schema == column
    )
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 24] = b"\xff" * 24
    path.write_bytes(data)


@pytest.mark.parametrize("column", ["score", "target", "note"])
def test_a_damaged_page_of_scores_is_found_when_it_is_read(here, capfd, column):
    scores, _ = here
    notes = [f"{i * 7919 % 1009} words" for i in range(len(scores))]
    path = Path("s.parquet")
    scores.assign(note=notes).to_parquet(path, index=False)
    damage_column(path, column)
    said = refused(capfd, "project", "s.parquet", *COMMON, "--out", "o.csv")
    assert said == (
        "s.parquet: is not a complete Parquet file; write it again, or correct its extension\n"
    )


@pytest.mark.parametrize("value", [-3.0, 7.5, float("nan"), float("inf")])
@pytest.mark.parametrize("verb", ["audit", "project"])
def test_values_are_checked_whatever_the_statistics_of_a_parquet_file_say(here, capfd, verb, value):
    """An optimizer that believes the file's minimum and maximum leaves out checks of values."""
    scores, _ = here
    path = Path("s.parquet")
    plain = {"use_dictionary": False, "compression": "none"}
    scores.to_parquet(path, index=False, **plain)
    found = np.float64(scores.score[5]).tobytes()
    data = path.read_bytes()
    assert data.count(found) == 1
    path.write_bytes(data.replace(found, np.float64(value).tobytes()))
    out = ("--out", "o.csv") if verb == "project" else ()
    said = refused(capfd, verb, "s.parquet", *COMMON, *out)
    assert said.startswith(f"s.parquet: row 6, column 'score': holds {value!r}, which is not")


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, 2.5])
def test_numbers_that_are_no_ids(here, capfd, value):
    scores, people = here
    number = {name: float(i) for i, name in enumerate(people.node)}
    ends = ["source", "target"]
    numbered = scores.assign(**{end: scores[end].map(number) for end in ends})
    write(people.assign(node=range(len(people))), Path("n.csv"))
    links = write(numbered[numbered.label == 1], Path("l.parquet"))
    assert exit_code("train", "--links", links, *COMMON, "--model", "maxent", "--out", "run") == 0
    numbered.loc[2, "source"] = value
    write(numbered, Path("s.parquet"))
    write(numbered[ends], Path("p.parquet"))
    capfd.readouterr()
    for args in (
        ("project", "s.parquet", *COMMON, "--out", "o.csv"),
        ("predict", "run", "--pairs", "p.parquet", "--out", "o.csv"),
    ):
        said = refused(capfd, *args)
        file = "p.parquet" if args[0] == "predict" else "s.parquet"
        assert said.startswith(f"{file}: row 3, column 'source': ")
        assert ("the id is missing" in said) == np.isnan(value)


def test_of_two_parquet_files_the_damaged_one_is_named(here, capfd):
    scores, people = here
    write(scores, Path("s.parquet"))
    write(people.assign(node=people.node + "z" * 50), Path("n.parquet"))
    damage_column(Path("n.parquet"), "node")
    nodes = ("--nodes", "n.parquet", "--sensitive", "kind")
    assert refused(capfd, "audit", "s.parquet", *nodes).startswith("n.parquet: is not a complete")
    links = write(scores[scores.label == 1], Path("l.csv"))
    said = refused(capfd, "train", "--links", links, *nodes, "--model", "maxent")
    assert said.startswith("n.parquet: is not a complete")


def test_an_error_that_no_file_explains_is_a_bug(here):
    write(here[0], Path("s.parquet"))
    with Workspace() as workspace, Duck(workspace) as engine:
        engine.load(open_table_file("s.parquet", workspace), "scores")
        with pytest.raises(duckdb.CatalogException) as caught:
            engine.run("SELECT * FROM nowhere")
        assert engine.explain(caught.value) is None


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning", "ignore::linkparity.GraphWarning")
@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris"])
def test_groups_of_zoned_timestamps(here, capfd, zone):
    scores, people = here
    days = pd.to_datetime(
        people.kind.map({"red": "2020-01-01", "green": "2021-07-01", "blue": "2022-01-01"})
    )
    people.assign(kind=days.dt.tz_localize(zone)).to_parquet("n.parquet")
    nodes = ("--nodes", "n.parquet", "--sensitive", "kind")
    assert exit_code("audit", "s.csv", *nodes) == 0
    links = write(scores[scores.label == 1], Path("l.csv"))
    assert exit_code("train", "--links", links, *nodes, "--model", "maxent", "--out", "run") == 0
    shown = capfd.readouterr().out
    for day in pd.unique(days.dt.tz_localize(zone).dt.tz_convert("UTC")):
        assert shown.count(str(day)) > 2


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_pairs_of_zoned_timestamps(here, capfd):
    scores, _ = here
    links = write(scores[scores.label == 1], Path("l.csv"))
    assert exit_code("train", "--links", links, *COMMON, "--model", "maxent", "--out", "run") == 0
    days = pd.Series(pd.to_datetime(["2020-01-01"] * len(scores), utc=True))
    write(scores[["source"]].assign(target=days), Path("p.parquet"))
    capfd.readouterr()
    said = refused(capfd, "predict", "run", "--pairs", "p.parquet", "--out", "o.csv")
    assert said.startswith("p.parquet: row 1, column 'target': node")
    assert "was not trained on" in said


@pytest.mark.parametrize("verb", ["audit", "train"])
def test_a_nul_in_a_header(here, capfd, verb):
    Path("z.csv").write_bytes(b"source,target,sco\0re,label\na,b,0.5,1\n")
    given = ("audit", "z.csv") if verb == "audit" else ("train", "--links", "z.csv")
    said = refused(capfd, *given, *COMMON)
    assert said == (
        "z.csv: the header has a NUL character; save the file as text with the encoding UTF-8\n"
    )
    wide = "source,target,score\na,b,0.5\n".encode("utf-16-le")
    Path("z.csv").write_bytes(wide)
    assert "the header has a NUL character" in refused(capfd, *given, *COMMON)


@pytest.mark.parametrize("role", ["scores", "nodes", "links", "nodes of links"])
def test_a_fifo_or_a_device_is_not_read(here, capfd, role):
    os.mkfifo("pipe.csv")
    args = {
        "scores": ("audit", "pipe.csv", *COMMON),
        "nodes": ("audit", "s.csv", "--nodes", "pipe.csv", "--sensitive", "kind"),
        "links": ("train", "--links", "pipe.csv", *COMMON),
        "nodes of links": (
            "train",
            "--links",
            "s.csv",
            "--nodes",
            "pipe.csv",
            "--sensitive",
            "kind",
        ),
    }[role]
    assert refused(capfd, *args) == (
        "pipe.csv: is a pipe or a device, not a file; copy it to a file, or pipe it into stdin and "
        "give - as the name\n"
    )


def test_a_name_that_is_not_utf_8(here, capfd):
    name = os.fsdecode(b"caf\xe9.csv")
    Path("s.csv").rename(name)
    said = "its path is not UTF-8 text; rename the file or its directory\n"
    assert refused(capfd, "audit", name, *COMMON).endswith(said)
    Path(name).rename("s.csv")
    folder = os.fsdecode(b"caf\xe9")
    os.mkdir(folder)
    assert refused(capfd, "project", "s.csv", *COMMON, "--out", f"{folder}/o.csv").endswith(said)
    Path("n.csv").rename(f"{folder}/n.csv")
    nodes = ("--nodes", f"{folder}/n.csv", "--sensitive", "kind")
    assert refused(capfd, "audit", "s.csv", *nodes).endswith(said)
    os.rename(f"{folder}/n.csv", "n.csv")
    assert exit_code("project", "s.csv", *COMMON, "--out", name) == 0
    assert os.path.exists(b"caf\xe9.csv")


def test_after_the_inputs_are_open_duckdb_reaches_no_other_file(here):
    Path("secret.csv").write_text("password\nx\n")
    write(here[0], Path("s[1].parquet"))
    out = Path("out")
    out.mkdir()
    with Workspace() as workspace, Duck(workspace) as engine:
        engine.load(open_table_file("s[1].parquet", workspace), "scores")
        engine.load(open_table_file("n.csv", workspace), "nodes")
        assert (
            str(workspace.path)
            in engine.run("SELECT current_setting('temp_directory')").fetchone()[0]
        )
        engine.lock(out)
        for sql in (
            "SELECT * FROM read_csv('secret.csv')",
            "SELECT * FROM read_text('/etc/hostname')",
            "SELECT * FROM glob('*')",
            "COPY nodes TO 'stolen.csv'",
            "COPY (SELECT 1) TO 'out/../stolen.csv'",
            "ATTACH 'other.duckdb'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SELECT * FROM 'https://example.org/x.csv'",
            "SET enable_external_access = true",
            "SET allowed_directories = ['/']",
            "SET autoinstall_known_extensions = true",
        ):
            with pytest.raises(duckdb.Error):
                engine.run(sql).fetchall()
        assert engine.run("SELECT count(*) FROM scores").fetchone() == (len(here[0]),)
        engine.run(f"COPY nodes TO '{out.absolute()}/n.csv'")
    assert sorted(os.listdir()) == ["n.csv", "out", "s.csv", "s[1].parquet", "secret.csv"]


@pytest.mark.parametrize("verb", ["audit", "project", "predict"])
def test_commands_lock_duckdb(here, capfd, monkeypatch, verb):
    """Every query after the inputs are read runs in a locked database."""
    scores, _ = here
    locked = []

    def run(engine, sql):
        if "allowed_paths" not in sql:
            state = engine.connection.execute("SELECT current_setting('enable_external_access')")
            locked.append((sql.split(" ", 1)[0], state.fetchone()[0] in (False, "false")))
        return engine.connection.execute(sql)

    if verb == "predict":
        write(scores[scores.label == 1], Path("l.csv"))
        train = ("train", "--links", "l.csv", *COMMON, "--model", "maxent", "--out", "run")
        assert exit_code(*train) == 0
        write(scores[["source", "target"]], Path("p.csv"))
    monkeypatch.setattr(Duck, "run", run)
    args = {
        "audit": ("audit", "s.csv", *COMMON),
        "project": ("project", "s.csv", *COMMON, "--out", "o.csv"),
        "predict": ("predict", "run", "--pairs", "p.csv", "--out", "o.csv"),
    }[verb]
    assert exit_code(*args) == 0, capfd.readouterr().err
    assert locked[-1] == ("COPY" if verb != "audit" else "SELECT", True)
    unlocked = [name for name, is_locked in locked if not is_locked]
    assert unlocked == ["CREATE", "CREATE", "DESCRIBE"] * (1 + (verb != "predict")) + ["SET", "SET"]
    assert len(locked) > len(unlocked)


def test_sparse_columns_of_pandas(here):
    scores, people = here
    plain = lp.project(scores, "kind", people)
    sparse = scores.assign(
        score=pd.arrays.SparseArray(scores.score),
        label=pd.arrays.SparseArray(scores.label, fill_value=0),
        extra=pd.arrays.SparseArray(np.arange(len(scores)) % 2),
    )
    coded = people.assign(
        kind=pd.arrays.SparseArray(people.kind.map({"red": 0, "green": 1, "blue": 2}))
    )
    fair = lp.project(sparse, "kind", coded)
    assert fair.dtypes.loc[sparse.columns].tolist() == sparse.dtypes.tolist()
    assert np.allclose(fair.fair_score, plain.fair_score)
    audit, known = lp.audit(sparse, "kind", coded), lp.audit(scores, "kind", people)
    assert audit.values == pytest.approx(known.values)
    assert audit.links == known.links
