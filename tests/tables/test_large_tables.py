"""Tables that do not fit into memory: the same numbers in parts, buckets and files."""

import errno
import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from table_cases import exit_code, make_scores, write
from test_compare import before
from test_table_intervals import CASES, make, with_weights

import linkparity as lp
from linkparity.metrics.intervals import placements
from linkparity.pairs import nodes, sorting, source
from linkparity.reading import duckdb, scores, store
from linkparity.reading.store import FileArray


@pytest.fixture
def small(monkeypatch):
    """Limits of memory that a table of some hundred rows exceeds."""

    def lower():
        for module, name, value in (
            (sorting, "AT_ONCE", 100), (sorting, "BUCKET", 60), (sorting, "PIECE", 16),
            (sorting, "SAMPLE", 8), (store, "IN_MEMORY", 0), (scores, "KEYS_AT_ONCE", 150),
            (scores, "BATCH", 70), (duckdb, "IN_MEMORY", 0), (nodes, "PART_BYTES", 500),
            (nodes, "ROWS_AT_ONCE", 150), (nodes, "SLICE", 40), (placements, "MAX_BYTES", 20_000),
            (placements, "CHUNK", 20),
        ):  # fmt: skip
            assert hasattr(module, name)
            monkeypatch.setattr(module, name, value)
        monkeypatch.setattr("linkparity.pairs.arrays.CHUNK", 50)
        assert source.CHUNK > 50

    return lower


@pytest.mark.parametrize(
    ("name", "weight"),
    [("ties", "w"), ("directed", None), ("directed, ties", "w"), ("bipartite", None)],
)
def test_an_audit_in_parts_is_that_in_memory(name, weight, small):
    frame, people, _, _ = make(nodes=22 if "directed" in name else 40, **CASES[name])
    frame = with_weights(frame) if weight else frame
    options = {key: True for key in ("directed", "bipartite") if key in CASES[name]}
    options |= {"weight": weight, "compare": before(frame).drop(columns=weight or [])}
    known = lp.audit(frame, "kind", people, **options).to_dict()
    small()
    found = lp.audit(frame, "kind", people, **options).to_dict()
    assert found.pop("scans") > known.pop("scans")
    assert_same(found, known)


def assert_same(found, known):
    """The same nested values, numbers to 1e-9."""
    if isinstance(known, dict):
        assert found.keys() == known.keys()
        found, known = list(found.values()), list(known.values())
    if isinstance(known, list):
        assert len(found) == len(known)
        for one, two in zip(found, known, strict=True):
            assert_same(one, two)
    elif isinstance(known, float):
        assert found == pytest.approx(known, abs=1e-9)
    else:
        assert found == known


@pytest.mark.parametrize("shape", ["csv", "parquet"])
def test_a_correction_in_parts_is_that_in_memory(tmp_path, shape, small):
    frame, people, _ = make_scores(extreme=True)
    doubled = frame.iloc[np.r_[0 : len(frame), 3:9]]
    file, listed = write(doubled, tmp_path / f"s.{shape}"), write(people[1:], tmp_path / "n.csv")
    args = ("project", file, "--nodes", listed, "--sensitive", "kind", "--duplicates", "first")
    args = (*args, "--unknown", "drop", "--explain", "--tmp", tmp_path, "--out")
    assert exit_code(*args, tmp_path / "known.csv") == 0
    small()
    assert exit_code(*args, tmp_path / "found.csv") == 0
    known, found = (
        np.genfromtxt(tmp_path / name, delimiter=",", skip_header=1, usecols=(-2, -1))
        for name in ("known.csv", "found.csv")
    )
    assert (
        len(known)
        == (~frame.source.isin(people.node[:1]) & ~frame.target.isin(people.node[:1])).sum()
    )
    assert found == pytest.approx(known, abs=1e-12)
    assert sorted(os.listdir(tmp_path)) == ["found.csv", "known.csv", "n.csv", f"s.{shape}"]


def test_one_score_of_most_rows_is_no_bucket_too_large(small):
    frame, people, _, _ = make()
    frame["score"] = np.where(np.arange(len(frame)) % 5, 0.25, frame.score)
    known = lp.audit(frame, "kind", people).to_dict()
    small()
    found = lp.audit(frame, "kind", people).to_dict()
    assert found.pop("scans") > known.pop("scans")
    assert_same(found, known)


def test_an_array_in_a_file_is_one(tmp_path):
    array = FileArray(tmp_path / "a", np.float32, 7)
    assert array[:].tolist() == [0] * 7
    array[2:5] = [1, 2, 3]
    array[np.array([6, 0])] = [9, 8]
    array[5:6] = 4
    assert array[:].tolist() == [8, 0, 1, 2, 3, 4, 9]
    assert array[1:3].tolist() == [0, 1]
    assert array[4:100].tolist() == [3, 4, 9]
    assert array[np.array([3, 3])].tolist() == [2, 2]
    assert array[4] == 3
    assert len(array) == 7
    assert (tmp_path / "a").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("verb", ["audit", "project"])
def test_a_disk_that_fills_with_columns_is_one_line(tmp_path, monkeypatch, capfd, small, verb):
    frame, people, _ = make_scores(60)
    file, listed = write(frame, tmp_path / "s.csv"), write(people, tmp_path / "n.csv")
    spare = tmp_path / "tmp"
    spare.mkdir()
    small()
    made = []

    def full(file, offset, length):
        made.append(length)
        if len(made) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    out = ("--out", tmp_path / "o.csv") if verb == "project" else ()
    args = (verb, file, "--nodes", listed, "--sensitive", "kind", "--tmp", spare, *out)
    assert exit_code(*args) == 2
    said = capfd.readouterr().err.removeprefix("Error: ")
    assert said.count("\n") == 1
    assert "No space left on device" in said
    assert "nothing was written; free some space" in said
    assert sorted(os.listdir(tmp_path)) == ["n.csv", "s.csv", "tmp"]
    assert not os.listdir(spare)


@pytest.mark.parametrize("name", ["s.csv.gz", "-"])
def test_a_disk_that_fills_while_a_table_is_unpacked_is_one_line(
    tmp_path, monkeypatch, capfd, name
):
    frame, people, _ = make_scores(60)
    file, listed = write(frame, tmp_path / "s.csv.gz"), write(people, tmp_path / "n.csv")
    spare = tmp_path / "tmp"
    spare.mkdir()

    def full(source, out, length):
        out.write(source.read(100))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with file.open("rb") as given:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=given, fileno=given.fileno))
        given_name = file if name != "-" else name
        args = ("audit", given_name, "--nodes", listed, "--sensitive", "kind", "--tmp", spare)
        assert exit_code(*args) == 2
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "No space left on device; nothing was written; free some space" in said
    assert not os.listdir(spare)


@pytest.mark.filterwarnings("always::linkparity.reading.store.SpaceWarning")
def test_large_temporary_files_are_announced_with_their_place(tmp_path, monkeypatch, capfd):
    frame, people, _ = make_scores(60)
    listed = write(people, tmp_path / "n.csv")
    for shape in ("csv", "parquet"):
        file = write(frame, tmp_path / f"s.{shape}")
        copied = (file.stat().st_size if shape == "csv" else 0) + listed.stat().st_size
        monkeypatch.setattr(store, "ANNOUNCED", 1 << 30)
        args = ("audit", file, "--nodes", listed, "--sensitive", "kind", "--tmp", tmp_path)
        assert exit_code(*args) == 0
        assert "temporary files" not in capfd.readouterr().err
        monkeypatch.setattr(store, "ANNOUNCED", copied + len(frame) * 50)
        assert exit_code(*args) == 0
        said = capfd.readouterr().err
        assert f"temporary files take up to 0.0 GB in {tmp_path}, which has" in said
        assert said.index("temporary files") < said.index("scans")
    monkeypatch.setattr(store, "ANNOUNCED", len(frame) * 50)
    with pytest.warns(store.SpaceWarning, match="TMPDIR names another directory"):
        lp.audit(frame, "kind", people, confidence=None)
