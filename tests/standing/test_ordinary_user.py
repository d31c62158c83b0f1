"""A user without rights: directories that cannot be written, no HOME, no cache, a small disk."""

import shutil
import subprocess

import pytest
from fork_server import Job
from world import COMMANDS, FRONT, ROWS, changed, is_whole, leftovers, snapshot


@pytest.fixture
def place(world, tmp_path):
    place = world.copy(tmp_path / "world")
    yield place
    for path in (place, *place.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)


def run(servers, world, place, name, args=None, **env):
    """A command as a user whom permissions bind; root gives up its capabilities for it."""
    given = list(COMMANDS[name].args) if args is None else args
    job = Job([given], str(place), world.env(place) | env, powerless=True)
    return servers.run(job)[0].ended[0]


def assert_refused(ended, *texts):
    assert ended.code == 2, ended
    errors = [line for line in ended.err.splitlines() if line.startswith("Error: ")]
    assert errors == ended.err.splitlines()[-1:], ended
    assert all(text in errors[0] for text in texts), ended


@pytest.mark.parametrize("name", [*FRONT, "run"])
def test_a_directory_that_cannot_be_written(name, world, servers, place):
    place.chmod(0o555)
    before = snapshot(place)
    ended = run(servers, world, place, name)
    assert_refused(ended, "cannot be written")
    assert not changed(place, before)
    assert not leftovers(place, before)


@pytest.mark.parametrize("name", [*FRONT, "run"])
def test_an_output_elsewhere_from_inputs_that_cannot_be_written(name, world, servers, place):
    for path in place.rglob("*"):
        if path.parts[-1] not in ("tmp", "home"):
            path.chmod(0o555 if path.is_dir() else 0o444)
    place.chmod(0o555)
    outputs = COMMANDS[name].outputs
    args = [f"home/{arg}" if arg in outputs else arg for arg in COMMANDS[name].args]
    job = Job([args], str(place), world.env(place), powerless=True)
    ended = servers.run(job)[0].ended[0]
    assert ended.code == 0, ended
    assert all((place / "home" / output).exists() for output in outputs)


@pytest.mark.parametrize("name", [*FRONT, "run"])
def test_no_home_and_no_directory_for_temporary_files(name, world, servers, place):
    """Small tables need no temporary files: only the output's directory is written."""
    (place / "tmp").chmod(0o555)
    (place / "home").chmod(0o000)
    for env in ({"HOME": None}, {"HOME": "/nonexistent"}, {}):
        before = snapshot(place)
        ended = run(servers, world, place, name, COMMANDS[name].forced, **env)
        assert ended.code == 0, ended
        assert not changed(place, before, exclude=COMMANDS[name].outputs)


@pytest.mark.parametrize("name", [*FRONT, "run"])
def test_an_input_that_cannot_be_read(name, world, servers, place):
    args = COMMANDS[name].args
    read = [arg for arg in args[1:] if (place / arg).exists() and arg not in COMMANDS[name].outputs]
    for each in read:
        (place / each).chmod(0o000)
        assert_refused(run(servers, world, place, name), each)
        (place / each).chmod(0o755)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 256 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


#: Kilobytes of the small disk that are in use, in turn.
BALLAST = (0, 208, 224, 232, 240, 244, 248, 252, 256)


@pytest.mark.parametrize("name", FRONT)
def test_a_full_disk(name, world, servers, place, small_disk):
    output, *others = COMMANDS[name].outputs
    args = [f"{small_disk}/{arg}" if arg == output else arg for arg in COMMANDS[name].args]
    codes = []
    for ballast in BALLAST:
        (small_disk / "ballast").write_bytes(b"x" * (ballast << 10))
        before = snapshot(small_disk)
        ended = servers.run(Job([args], str(place), world.env(place)))[0].ended[0]
        codes.append(ended.code)
        if ended.code == 0:
            for path in (small_disk / output, *(place / other for other in others)):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        else:
            assert_refused(ended, output, "free some space")
            assert not changed(small_disk, before)
            assert not leftovers(small_disk, before)
            assert not any((place / other).exists() for other in others)
    assert codes == sorted(codes)
    assert set(codes) == {0, 2}


def test_rows_on_a_full_disk(world, servers, place, small_disk):
    """Rows that fit are kept, and the rest follows when there is space."""
    args = ["run", "study.toml", "--out", f"{small_disk}/{ROWS}"]
    job = Job([args], str(place), world.env(place))
    reference = servers.run(Job([COMMANDS["run"].forced], str(place), world.env(place)))
    assert reference[0].ended[0].code == 0
    for ballast in BALLAST:
        (small_disk / "ballast").write_bytes(b"x" * (ballast << 10))
        ended = servers.run(job)[0].ended[0]
        if ended.code:
            assert_refused(ended, ROWS, "rows are in place; free some space and run it again")
            (small_disk / "ballast").unlink()
            assert servers.run(job)[0].ended[0].code == 0
        assert is_whole(small_disk, place, ROWS)
        (small_disk / ROWS).unlink()
    assert ended.code == 2
