"""The same command twice at the same time, with one output."""

import pytest
from fork_server import Job
from world import COMMANDS, changed, is_whole, leftovers, snapshot

TRIALS = 50


@pytest.mark.parametrize("name", COMMANDS)
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
        args = command.forced if force else list(command.args)
        both = servers.run(*[Job([args], str(place), world.env(place))] * 2)
        ended = [done.ended[0] for done in both]
        codes = sorted(each.code for each in ended)
        said = [each.err for each in ended]
        refusals = [text for each, text in zip(ended, said, strict=True) if each.code]
        if command.replaces:
            assert codes == ([0, 0] if force else [0, 2]), said
            assert all("exists already" in text for text in refusals), said
        else:  # one of two runs is refused while the other writes, or finds all rows in place
            assert codes in ([0, 0], [0, 2]), said
            assert all("is being written by another run" in text for text in refusals), said
        assert all(is_whole(place, reference, output) for output in command.outputs), said
        assert not changed(place, before, exclude=command.outputs), said
        assert not leftovers(place, before), said
        kept = [path for path in snapshot(place) if path.endswith("run/notes.txt")]
        assert len(kept) == (old and "new-run" in command.outputs)

    for number in range(TRIALS):
        trial(number)
    tried.append(f"{TRIALS} times two processes of {name} with one output")
