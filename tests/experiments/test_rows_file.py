"""Files of rows: whatever happens, each row once and whole, and one writer at a time."""

import gzip
import json
import os
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkparity.experiments.experiment import Experiment
from linkparity.experiments.rows import Row
from linkparity.experiments.rows_file import RowsFile, read_rows
from linkparity.support.errors import InputError

ROWS = [
    Row("data “é”", "cne", "dp", 10, seed, {"auc": 0.25 + seed, "dp": float("nan")}, id=f"id{seed}")
    for seed in range(4)
]
BAD = Row("x", "cne", "none", 0, 9, error="Diverged: …", id="bad")


def content(*rows):
    return "".join(row.to_json() + "\n" for row in rows).encode()


def test_rows_come_back_in_order(tmp_path):
    name = str(tmp_path / "rows.jsonl")
    with RowsFile(name) as file:
        assert file.rows == []
        for row in ROWS[:2]:
            file.append(row)
            assert Path(name).read_bytes() == content(*file.rows)
    with RowsFile(name) as file:
        assert file.rows == ROWS[:2]
        file.append(ROWS[2])
    assert read_rows(name) == ROWS[:3]
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(Path(name).read_bytes()))
    assert read_rows(str(packed)) == ROWS[:3]
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"rows.jsonl.gz: is damaged: not a whole gzip file"):
        read_rows(str(packed))


@given(st.integers(0, len(content(*ROWS))))
def test_cut_off_anywhere_whole_rows_stay_and_the_rest_goes(tmp_path_factory, size):
    file = tmp_path_factory.mktemp("cut") / "rows.jsonl"
    file.write_bytes(content(*ROWS)[:size])
    lengths = [len(content(*ROWS[:k])) for k in range(len(ROWS) + 1)]
    # The last newline may be missing: such a row is whole, and is kept.
    whole = max(k for k, length in enumerate(lengths) if length - (k > 0) <= size)
    if size and not whole:  # nothing says that it is ours
        with pytest.raises(InputError, match="row 1: is not a row of results"):
            RowsFile(str(file))
        assert file.read_bytes() == content(*ROWS)[:size]
        return
    assert read_rows(str(file)) == ROWS[:whole]
    with RowsFile(str(file)) as rows:
        assert rows.rows == ROWS[:whole]
        for row in ROWS[whole:]:
            rows.append(row)
    assert file.read_bytes() == content(*ROWS)


def test_failed_rows_are_removed_for_a_new_try_and_only_then(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_bytes(content(ROWS[0], BAD, ROWS[1]))
    file.chmod(0o640)
    with RowsFile(str(file), again=["other"]) as rows:
        assert rows.rows == [ROWS[0], BAD, ROWS[1]]
    with RowsFile(str(file), again=["bad", "id0"]) as rows:
        assert rows.rows == ROWS[:2]
        assert file.read_bytes() == content(*ROWS[:2])
        with pytest.raises(InputError, match="is being written by another run"):
            RowsFile(str(file))
        rows.append(ROWS[2])
    assert read_rows(str(file)) == ROWS[:3]
    assert file.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["rows.jsonl"]


def test_of_two_rows_of_one_fit_one_stays(tmp_path):
    file = tmp_path / "rows.jsonl"
    again = Row("x", "cne", "none", 0, 9, {"auc": 0.5}, id="bad")
    file.write_bytes(content(BAD, ROWS[0], again, ROWS[0], BAD))
    with RowsFile(str(file)) as rows:
        assert rows.rows == [ROWS[0], again]
    assert file.read_bytes() == content(ROWS[0], again)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"source,target\na,b\n", "row 1: is not a row of results: 'source,target' is not JSON"),
        (b"hello", "row 1: is not a row of results"),
        (content(ROWS[0]) + b'{"auc": 1}\n', "row 2: is not a row of results: the row has no"),
        (content(ROWS[0]) + b"[]\n" + content(ROWS[1]), "row 2: is not a row"),
        (content(ROWS[0])[:40] + b"\n" + content(ROWS[1]), "row 1: is not a row"),
        (b"\xff\xfe\n", "row 1: is not a row of results"),
        (content(ROWS[0]).replace(b'"cells": []', b'"cells": [3]'), "row 1: is not a row"),
        (b'{"dataset": "mine", "accuracy": 0.5}', "row 1: is not a row of results: unknown key"),
        (b'{"dataset": {"name": "mine"', "row 1: is not a row of results"),
        (content(ROWS[0]) + b'{"dataset": "mine"}', "row 2: is not a row of results: the row has"),
    ],
)
def test_files_of_something_else_are_left_alone(tmp_path, text, said):
    file = tmp_path / "rows.jsonl"
    file.write_bytes(text)
    with pytest.raises(InputError) as caught:
        RowsFile(str(file))
    assert said in str(caught.value)
    assert file.read_bytes() == text
    with RowsFile(str(tmp_path / "other")):  # nothing is locked
        pass


def test_two_writers_refuse_each_other_and_a_dead_one_does_not(tmp_path):
    name = str(tmp_path / "rows.jsonl")
    ready, told = os.pipe()
    child = os.fork()
    if not child:
        RowsFile(name).append(ROWS[0])
        os.write(told, b"x")
        signal.pause()
    os.read(ready, 1)
    with pytest.raises(InputError, match="is being written by another run; wait for it, or choose"):
        RowsFile(name)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with RowsFile(name) as file:
        assert file.rows == ROWS[:1]


def test_odd_places_are_refused(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for name, said in (("fifo", "is not a regular file"), (".", "is a directory")):
        with pytest.raises(InputError, match=said):
            RowsFile(str(tmp_path / name))
    with pytest.raises(InputError, match="its directory does not exist"):
        RowsFile(str(tmp_path / "no" / "rows.jsonl"))


def test_a_full_disk_leaves_whole_rows_and_says_how_many(tmp_path, monkeypatch):
    name = str(tmp_path / "rows.jsonl")
    write = os.write

    def half(file, data):
        write(file, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with RowsFile(name) as file:
        file.append(ROWS[0])
        monkeypatch.setattr(os, "write", half)
        with pytest.raises(OSError, match="No space left on device; 1 rows are in place; free"):
            file.append(ROWS[1])
        assert Path(name).read_bytes() == content(ROWS[0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"auc": "0.5"}, "key 'auc' holds '0.5'"),
        ({"auc": True}, "key 'auc' holds True"),
        ({"fit_seconds": 1e300}, "key 'fit_seconds' holds 1e"),
        ({"seed": None}, "key 'seed' holds None"),
        ({"notes": ["\ud800"]}, ".*is not JSON .*surrogates not allowed"),
        ({"gamma": [1]}, r"key 'gamma' holds \[1\]"),
        ({"intervals": {"dp": [0, "x"]}}, "key 'intervals' holds"),
        ({"history": [1]}, "key 'history' holds"),
        ({"history": {"epoch": [1, 2], "loss": [0.5]}}, "key 'history' holds columns of several"),
        ({"cells": [{"groups": ["a"], "pairs": "1"}]}, "key 'pairs' of cells holds '1'"),
        ({"quantiles": [{"groups": 3}]}, "key 'groups' of quantiles holds 3"),
        ({"quantiles": [{"pairs": [0.5] * 9, "links": [0.5] * 9}]}, "key 'quantiles' must hold"),
        ({"quantiles": [{"groups": ["a"], "pairs": [0.5], "links": None}]}, "key 'quantiles' must"),
    ],
)
def test_values_that_no_row_has(tmp_path, change, said):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(ROWS[0].to_dict() | change) + "\n")
    with pytest.raises(InputError, match=f"rows.jsonl: row 1: is not a row of results: {said}"):
        read_rows(str(file))


def test_a_last_line_with_a_key_that_no_cell_has(tmp_path):
    file = tmp_path / "rows.jsonl"
    cell = {"groups": ["a"], "pairs": 1, "links": 0, "mean": 0.5, "link_mean": None, "x": 1}
    file.write_text(json.dumps(ROWS[0].to_dict() | {"cells": [cell]}))
    with pytest.raises(InputError, match="row 1: is not a row of results"):
        read_rows(str(file))


def test_nested_deeply(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"dataset": ' + "[" * 100_000 + "\n")
    with pytest.raises(InputError, match=r"rows.jsonl: row 1: is not a row of results"):
        read_rows(str(file))
    file.write_text("data = " + "[" * 100_000)
    with pytest.raises(InputError, match=r"rows.jsonl: is not valid TOML"):
        Experiment.read(file)
