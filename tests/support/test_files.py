import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

import linkparity as lp
from linkparity.cli.command import main
from linkparity.support import files
from linkparity.support.errors import InputError
from linkparity.support.files import (
    PREFIX,
    AlreadyWritten,
    Workspace,
    check_output,
    read_json,
    whole_file,
    whole_files,
    write_text,
)

NODES = [f"n{i:02d}" for i in range(12)]
SCORES = pd.DataFrame(
    [(a, b, (3 * i % 7 + 1) / 9) for i, (a, b) in enumerate(combinations(NODES, 2))],
    columns=["source", "target", "score"],
)
PEOPLE = pd.DataFrame({"node": NODES, "kind": list("xyz") * 4})


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SCORES.to_csv("s.csv", index=False)
    PEOPLE.to_csv("n.csv", index=False)
    return tmp_path


def exit_code(*args):
    with pytest.raises(SystemExit) as done:
        main([str(arg) for arg in args])
    return done.value.code


def names(path):
    return sorted(os.listdir(path))


AUDIT = ("audit", "s.csv", "--nodes", "n.csv", "--sensitive", "kind")
PROJECT = ("project", *AUDIT[1:])


def test_an_output_has_its_name_only_when_it_is_whole(tmp_path):
    out = tmp_path / "out.txt"
    with whole_file(str(out)) as path:
        Path(path).write_text("new")
        assert not out.exists()
    assert out.read_text() == "new"
    with pytest.raises(ZeroDivisionError), whole_file(str(out), force=True) as path:
        Path(path).write_text(str(1 / 0))
    assert out.read_text() == "new"
    with pytest.raises(InputError, match="exists already; choose another name"):
        write_text(str(out), "other")
    write_text(str(out), "newest", force=True)
    assert (out.read_text(), names(tmp_path)) == ("newest", ["out.txt"])


@pytest.mark.parametrize("checked", [True, False])
def test_a_file_that_appears_meanwhile_stays(tmp_path, monkeypatch, checked):
    out = tmp_path / "out.txt"
    if not checked:  # it appears between the last check and the link
        monkeypatch.setattr(files, "check_output", lambda *_: None)
    with pytest.raises(InputError, match="exists already"), whole_file(str(out)) as path:
        Path(path).write_text(str(out.write_text("theirs")))
    assert (out.read_text(), names(tmp_path)) == ("theirs", ["out.txt"])


def test_a_file_system_without_hard_links(tmp_path, monkeypatch):
    def no_links(*_, **__):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr("os.link", no_links)
    write_text(str(tmp_path / "out.txt"), "new")
    assert (tmp_path / "out.txt").read_text() == "new"
    assert names(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
@pytest.mark.parametrize("force", [False, True])
def test_outputs_respect_the_umask(here, mask, force):
    before = os.umask(mask)
    try:
        if force:
            for name in ("f.csv", "t.json", "page.html"):
                Path(name).write_text("old")
        forced = ("--force",) if force else ()
        assert exit_code(*PROJECT, "--out", "f.csv", "--save-tilts", "t.json", *forced) == 0
        assert exit_code(*AUDIT, "--html", "page.html", *forced) == 0
    finally:
        os.umask(before)
    for name in ("f.csv", "t.json", "page.html"):
        assert stat.S_IMODE(os.stat(name).st_mode) == 0o666 & ~mask


def test_a_machine_without_a_temporary_directory(monkeypatch):
    def nowhere():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", nowhere)
    workspace = Workspace()  # fine as long as nothing needs it
    with pytest.raises(InputError, match="no directory for temporary files; set TMPDIR"):
        workspace.path.exists()


def test_a_workspace_is_private_made_on_first_use_and_removed_at_the_end(tmp_path):
    with Workspace(tmp_path) as mine, Workspace(tmp_path) as other:
        assert names(tmp_path) == []
        assert stat.S_IMODE(mine.path.stat().st_mode) == 0o700
        assert other.path != mine.path
        (mine.path / "deep").mkdir()
        (mine.path / "deep" / "rows").write_text("x")
    assert names(tmp_path) == []


def test_files_of_others_stay(here):
    for name in (".f.csv.anything.tmp", f"{PREFIX}note", f"{PREFIX}mine/thesis.tex"):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text("theirs")
    before = set(names(here))
    assert exit_code(*PROJECT, "--out", "f.csv", "--tmp", here) == 0
    assert exit_code(*AUDIT, "--html", "page.html", "--tmp", here) == 0
    assert set(names(here)) == before | {"f.csv", "page.html"}
    assert names(here / f"{PREFIX}mine") == ["thesis.tex"]


def test_the_null_device_stays_a_device(here):
    """A node of our own, so that the machine's stays whole whatever the code does."""
    null = here / "null"
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        null.write_text("x")
    except OSError:
        pytest.skip("cannot make device nodes here")
    (here / "link.html").symlink_to(null)
    for name in (null, "link.html"):
        for forced in ((), ("--force",)):
            assert exit_code(*AUDIT, "--html", name, *forced) == 0
            assert null.is_char_device()
    assert (here / "link.html").is_symlink()
    assert names(here) == ["link.html", "n.csv", "null", "s.csv"]


@pytest.mark.parametrize("forced", [(), ("--force",)])
def test_a_fifo_is_written_through(here, forced):
    os.mkfifo("fair.csv")
    got = []
    reader = threading.Thread(target=lambda: got.append(Path("fair.csv").read_bytes()), daemon=True)
    reader.start()
    assert exit_code(*PROJECT, "--out", "fair.csv", *forced) == 0
    reader.join()
    assert exit_code(*PROJECT, "--out", "plain.csv") == 0
    assert got == [Path("plain.csv").read_bytes()]
    assert Path("fair.csv").is_fifo()
    assert names(here) == ["fair.csv", "n.csv", "plain.csv", "s.csv"]


def test_a_reader_that_leaves_is_an_error(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    with (
        subprocess.Popen(["head", "-c", "1", tmp_path / "pipe.txt"], stdout=subprocess.PIPE),
        pytest.raises(BrokenPipeError, match="did not take the whole output"),
    ):
        write_text(str(tmp_path / "pipe.txt"), "x" * (1 << 20))


def test_sockets_and_block_devices_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("sock")
        with pytest.raises(InputError, match="sock: is a block device or a socket; give the name"):
            check_output("sock", force=True)
    try:
        os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(7, 99))
    except OSError:
        return
    with pytest.raises(InputError, match="disk: is a block device or a socket"):
        check_output("disk", force=True)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("there/real.txt")
    write_text(str(tmp_path / "link.txt"), "new", force=True)
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "there" / "real.txt").read_text() == "new"
    assert names(tmp_path / "there") == ["real.txt"]


def test_an_input_is_never_an_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("x")
    os.link("in.csv", "hard.csv")
    Path("soft.csv").symlink_to("in.csv")
    for name in ("in.csv", "./in.csv", "hard.csv", "soft.csv"):
        with pytest.raises(InputError, match="is also read as an input; choose another name"):
            check_output(name, True, (None, "other.csv", "in.csv"))
    with open("in.csv") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(InputError, match="is also read as an input"):
            check_output("in.csv", True, ("-",))
    check_output("out.csv", True, ("in.csv", "-"))


@pytest.mark.filterwarnings("ignore::linkparity.SplitWarning")
def test_every_input_of_every_command_is_refused_as_output(here, capfd):
    SCORES[SCORES.score > 0.5][["source", "target"]].to_csv("links.csv", index=False)
    own = ("--links", "links.csv", "--nodes", "n.csv", "--sensitive", "kind")
    assert exit_code("train", *own, "--model", "maxent", "--out", "run") == 0
    assert exit_code(*PROJECT, "--out", "f.csv", "--save-tilts", "t.json") == 0
    Path("who.csv").write_text("n00\n")
    SCORES[["source", "target"]].to_csv("p.csv", index=False)
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    capfd.readouterr()
    for args in (
        ("predict", "run", "--top", "1", "--for", "who.csv", "--out", "who.csv"),
        ("predict", "run", "--pairs", "p.csv", "--out", "p.csv"),
        (*PROJECT, "--out", "s.csv"),
        (*PROJECT, "--out", "n.csv"),
        (*PROJECT, "--out", "new.csv", "--save-tilts", "s.csv"),
        (*PROJECT, "--out", "new.csv", "--save-tilts", "n.csv"),
        (*PROJECT, "--apply", "t.json", "--out", "new.csv", "--save-tilts", "t.json"),
        (*AUDIT, "--html", "s.csv"),
        (*AUDIT, "--html", "n.csv"),
    ):
        assert exit_code(*args, "--force") == 2
        assert "is also read as an input" in capfd.readouterr().err
    for name in ("links.csv", "n.csv"):
        assert exit_code("train", *own, "--model", "maxent", "--out", name, "--force") == 2
        assert "left alone" in capfd.readouterr().err
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


def test_saved_tilts_replace_a_file_only_when_told_to(tmp_path):
    out = tmp_path / "t.json"
    lp.project(SCORES, "kind", PEOPLE, save_tilts=out)
    first = out.read_text()
    with pytest.raises(ValueError, match=r"t\.json: exists already"):
        lp.project(SCORES, "kind", PEOPLE, target=0.3, save_tilts=out)
    assert out.read_text() == first
    lp.project(SCORES, "kind", PEOPLE, target=0.3, save_tilts=out, force=True)
    assert out.read_text() != first
    with pytest.raises(ValueError, match="is also read as an input"):
        lp.project(SCORES, "kind", PEOPLE, apply=out, save_tilts=out, force=True)


def write_all(outs, contents):
    with whole_files(outs) as paths:
        for path, content in zip(paths, contents, strict=True):
            Path(path).write_text(content)


def test_several_outputs_are_finished_before_one_is_published(tmp_path):
    outs = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    with pytest.raises(TypeError):
        write_all(outs, ["a", None])
    assert names(tmp_path) == []
    write_all(outs, ["a", "b"])
    assert [Path(out).read_text() for out in outs] == ["a", "b"]
    assert names(tmp_path) == ["a.txt", "b.txt"]


def test_outputs_that_were_published_before_an_error_are_named(tmp_path, monkeypatch):
    outs = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    link = os.link

    def fail_at_second(path, target):
        if str(target) == outs[1]:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        link(path, target)

    monkeypatch.setattr("os.link", fail_at_second)
    said = f"^{outs[1]}: Input/output error; already written: {outs[0]}$"
    with pytest.raises(AlreadyWritten, match=said):
        write_all(outs, "ab")
    assert names(tmp_path) == ["a.txt"]


def test_errors_name_the_output(tmp_path):
    out = str(tmp_path / "out.txt")
    for number, fix in ((errno.ENOSPC, "free some space"), (errno.EIO, "choose another place")):
        with pytest.raises(OSError, match=f"it was not written; {fix}") as said, whole_file(out):
            raise OSError(number, os.strerror(number))
        assert said.value.filename == out
    with pytest.raises(FileNotFoundError, match="elsewhere"), whole_file(out):
        (tmp_path / "elsewhere").read_text()
    with pytest.raises(RuntimeError, match=f"^cannot write {out}$"), whole_file(out) as path:
        raise RuntimeError(f"cannot write {path}")
    assert names(tmp_path) == []


@pytest.mark.parametrize("text", [b"[" * 100_000, b"{", b"\xff", b"[NaN]", b"[1" + b"0" * 9999])
def test_bad_json_is_one_sentence_with_the_file(tmp_path, text):
    (tmp_path / "x.json").write_bytes(text)
    with pytest.raises(InputError, match=r"x\.json: is damaged: not valid JSON \(") as said:
        read_json(tmp_path / "x.json")
    assert "\n" not in str(said.value)


def test_a_process_that_is_killed_leaves_the_old_output(tmp_path):
    out = tmp_path / "out.txt"
    out.write_text("old")
    code = (
        "import os, sys; from linkparity.support.files import whole_file\n"
        f"with whole_file({str(out)!r}, force=True) as path:\n"
        "    open(path, 'w').write('ne'); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    assert out.read_text() == "old"
    write_text(str(out), "new", force=True)
    assert out.read_text() == "new"
    assert all(name == "out.txt" or name.startswith(PREFIX) for name in names(tmp_path))
