"""The same command twice at the same time, with one output."""

import pytest
from fork_server import Job
from world import COMMANDS, changed, is_whole, leftovers, snapshot

TRIALS = 50


@pytest.mark.parametrize("name", ["train", "predict", "top", "project", "audit"])
def test_two_processes_write_one_whole_output(name, world, servers, tmp_path, tried):
    """In turn, with and without ``--force``, and whether there is an output before."""
    command = COMMANDS[name]
    reference = world.copy(tmp_path / "reference")
    servers.run(Job([list(command.args)], str(reference), world.env(reference)))

    def trial(number):
        force, old = number % 2 == 0, number % 4 == 0
        place = world.copy(tmp_path / str(number))
        if old:
            world.put_old_outputs(place, command.outputs)
        before = snapshot(place)
        args = [*command.args, *(["--force"] if force else [])]
        both = servers.run(*[Job([args], str(place), world.env(place))] * 2)
        ended = [done.ended[0] for done in both]
        codes = sorted(each.code for each in ended)
        said = [each.err for each in ended]
        assert codes == ([0, 0] if force else [0, 2]), said
        assert force or "exists already" in "".join(said), said
        assert all(is_whole(place, reference, output) for output in command.outputs), said
        assert not changed(place, before, exclude=command.outputs), said
        assert not leftovers(place, before), said
        kept = [path for path in snapshot(place) if path.endswith("run/notes.txt")]
        assert len(kept) == (old and name == "train")

    for number in range(TRIALS):
        trial(number)
    tried.append(f"{TRIALS} times two processes of {name} with one output")
