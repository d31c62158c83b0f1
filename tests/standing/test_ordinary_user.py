"""A user without rights: directories that cannot be written, no HOME, no cache, a small disk."""

import shutil
import subprocess

import pytest
from fork_server import Job
from world import COMMANDS, FRONT, changed, leftovers, snapshot


@pytest.fixture
def place(world, tmp_path):
    place = world.copy(tmp_path / "world")
    yield place
    for path in (place, *place.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)


def run(servers, world, place, name, *more, cwd=None, **env):
    """A command as a user whom permissions bind; root gives up its capabilities for it."""
    args = [*COMMANDS[name].args, *more]
    job = Job([args], str(cwd or place), world.env(place) | env, powerless=True)
    return servers.run(job)[0].ended[0]


def assert_refused(ended, *texts):
    assert ended.code == 2, ended
    errors = [line for line in ended.err.splitlines() if line.startswith("Error: ")]
    assert errors == ended.err.splitlines()[-1:], ended
    assert all(text in errors[0] for text in texts), ended


@pytest.mark.parametrize("name", FRONT)
def test_a_directory_that_cannot_be_written(name, world, servers, place):
    place.chmod(0o555)
    before = snapshot(place)
    ended = run(servers, world, place, name)
    assert_refused(ended, "cannot be written")
    assert not changed(place, before)
    assert not leftovers(place, before)


@pytest.mark.parametrize("name", FRONT)
def test_an_output_elsewhere_from_inputs_that_cannot_be_written(name, world, servers, place):
    for path in place.rglob("*"):
        if path.parts[-1] not in ("tmp", "home"):
            path.chmod(0o555 if path.is_dir() else 0o444)
    place.chmod(0o555)
    (output,) = COMMANDS[name].outputs[:1]
    args = list(COMMANDS[name].args)
    args[args.index(output)] = f"home/{output}"
    args = args[: args.index("--save-tilts")] if "--save-tilts" in args else args
    job = Job([args], str(place), world.env(place), powerless=True)
    ended = servers.run(job)[0].ended[0]
    assert ended.code == 0, ended
    assert (place / "home" / output).exists()


@pytest.mark.parametrize("name", FRONT)
def test_no_home_and_no_directory_for_temporary_files(name, world, servers, place):
    """Small tables need no temporary files: only the output's directory is written."""
    (place / "tmp").chmod(0o555)
    (place / "home").chmod(0o000)
    for env in ({"HOME": None}, {"HOME": "/nonexistent"}, {}):
        before = snapshot(place)
        ended = run(servers, world, place, name, "--force", **env)
        assert ended.code == 0, ended
        assert not changed(place, before, exclude=COMMANDS[name].outputs)


@pytest.mark.parametrize("name", FRONT)
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


@pytest.mark.parametrize("name", FRONT)
def test_a_full_disk(name, world, servers, place, small_disk):
    output = COMMANDS[name].outputs[0]
    args = [f"{small_disk}/{arg}" if arg == output else arg for arg in COMMANDS[name].args]
    args = args[: args.index("--save-tilts")] if "--save-tilts" in args else args
    codes = []
    for ballast in (0, 208, 224, 232, 240, 244, 248, 252, 256):
        (small_disk / "ballast").write_bytes(b"x" * (ballast << 10))
        before = snapshot(small_disk)
        ended = servers.run(Job([args], str(place), world.env(place)))[0].ended[0]
        codes.append(ended.code)
        if ended.code == 0:
            path = small_disk / output
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        else:
            assert_refused(ended, output, "free some space")
            assert not changed(small_disk, before)
            assert not leftovers(small_disk, before)
    assert codes == sorted(codes)
    assert set(codes) == {0, 2}
