"""Every call that opens or changes a file fails, or the process is killed there.

Afterwards each output is absent, old or whole, inputs and files of others are untouched, and the
next run succeeds.
"""

import errno
import itertools
import shutil

import pytest
from fork_server import CREATE, MKDIR, READ, REMOVE, RENAME, SYNC, WRITE, Fault, Job
from world import COMMANDS, changed, is_as_before, is_whole, leftovers, snapshot

#: Ways to fail: error number (0: killed), kinds of calls, whether later calls fail too.
WAYS = {
    "killed": (0, READ | CREATE | WRITE | SYNC | RENAME | REMOVE | MKDIR, False),
    "full disk": (errno.ENOSPC, CREATE | WRITE | SYNC | RENAME | MKDIR, True),
    "i/o error": (errno.EIO, READ | CREATE | WRITE | SYNC | RENAME | REMOVE | MKDIR, False),
    "no permission": (errno.EACCES, READ | CREATE | RENAME | REMOVE | MKDIR, True),
}
#: After an error, the next run is tried for one point in so many; after a kill, for all.
NEXT_RUN_AT = 4
NEVER = 10**6
#: Further formats of a command that is tried whole: only in place of an old output, in two ways.
FORMATS = ("project gzip", "project parquet")
#: Commands, and whether their outputs exist before.
CASES = [
    (name, old)
    for name in COMMANDS
    for old in (False, True)
    if name != "top" and (old or name not in FORMATS)
]


class Trials:
    """Trials of one command, each in a new copy of the world."""

    def __init__(self, world, servers, place, name, old):
        self.world, self.place, self.old = world, place, old
        self.command = COMMANDS[name]
        self.args = self.command.forced if old else list(self.command.args)
        self.servers = servers
        self.number = itertools.count()
        self.failures = []
        self.reference = self.new_copy()
        self.calls = self.run(self.reference, self.args, Fault(NEVER)).calls

    def new_copy(self):
        place = self.world.copy(self.place / str(next(self.number)))
        if self.old:
            self.world.put_old_outputs(place, self.command.outputs)
        return place

    def run(self, place, args, fault=None):
        return self.servers.run(Job([args], str(place), self.world.env(place), fault=fault))[0]

    def trial(self, way, at):
        """Fail at one point; whether a call was there to fail."""
        number, kinds, sticky = WAYS[way]
        place = self.new_copy()
        before = snapshot(place)
        done = self.run(place, self.args, Fault(at, number, kinds, sticky))
        hits = [call for call in done.calls if call[1]]
        if hits:
            said = f"{way} at call {at}, {hits[0][0]} {hits[0][2]}: {_told(done)}"
            try:
                self.check_first(way, place, before, done, said)
                if way == "killed" or at % NEXT_RUN_AT == 0:
                    self.check_next(place, before, said)
            except AssertionError as error:
                self.failures.append(str(error).split("\n")[0])
        shutil.rmtree(place)
        return bool(hits)

    def check_first(self, way, place, before, done, said):
        ended = done.ended[-1]
        whole = [is_whole(place, self.reference, name) for name in self.command.outputs]
        same = [is_as_before(place, before, name) for name in self.command.outputs]
        assert all(a or b for a, b in zip(whole, same, strict=True)), f"half an output; {said}"
        assert not changed(place, before, exclude=self.command.outputs), said
        if way == "killed":
            assert ended.code == -9, said
            return
        assert "Traceback" not in ended.err, said
        assert way != "full disk" or not leftovers(place, before), said
        if self.command.args[0] == "run" and ended.code == 1:
            return  # a fit failed, which the next run repeats
        assert ended.code in (0, 2, 74), said
        if ended.code == 0:
            assert all(whole), f"exit 0 without its output; {said}"
            return
        lines = [line for line in ended.err.splitlines() if line.startswith("Error: ")]
        assert lines == ended.err.splitlines()[-1:], said
        if ended.code == 2:
            assert all(same), f"exit 2, but something was written; {said}"
        else:
            assert not all(same), f"exit 74, but nothing was written; {said}"
            written = lines[0].partition("already written: ")[2].split(", ")
            assert [name in written for name in self.command.outputs] == whole, said

    def check_next(self, place, before, said):
        done = self.run(place, self.command.forced)
        said = f"next run: {_told(done)}, after {said}"
        assert done.ended[0].code == 0, said
        for name in self.command.outputs:
            assert is_whole(place, self.reference, name), said
        assert not changed(place, before, exclude=self.command.outputs), said


def _told(done):
    return f"exit {done.ended[-1].code} {done.ended[-1].err!r}"


@pytest.mark.parametrize(("name", "old"), CASES)
def test_a_fault_at_any_call_leaves_the_old_output_or_the_whole_new_one(
    name, old, world, servers, tmp_path, tried
):
    trials = Trials(world, servers, tmp_path, name, old)
    assert len(trials.calls) > 5
    outside = [path for _, _, path in trials.calls if str(trials.reference) not in path]
    assert not outside
    ways = ("killed", "full disk") if name in FORMATS else tuple(WAYS)
    points = [(way, at) for way in ways for at in range(1, len(trials.calls) + 1)]
    hits = servers.map(lambda point: trials.trial(*point), points)
    for way in ways:  # calls that the reference did not have
        at = len(trials.calls) + 1
        while trials.trial(way, at):
            hits.append(True)
            at += 1
    assert not trials.failures, "\n\n".join(trials.failures)
    tried.append(f"{sum(hits)} faults in {name}, {'old' if old else 'no'} output before")
