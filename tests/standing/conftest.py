"""Standing tests: servers that fork commands, a small world of files, and what was tried."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fork_server import ForkServer, ForkServers, Job, build_faults
from world import COMMANDS, World, make_world

TRIED = pytest.StashKey[list[str]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.standing)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TRIED] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in terminalreporter.config.stash[TRIED]:
        terminalreporter.write_line(f"standing: {line}")


@pytest.fixture(scope="session")
def tried(request: pytest.FixtureRequest) -> list[str]:
    """Lines about what was tried, which pytest prints at its end."""
    return request.config.stash[TRIED]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A directory with valid inputs of every command, and a server's answer to each command."""
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory, world: World) -> Iterator[ForkServers]:
    """Servers that have imported what the commands need."""
    library = build_faults(tmp_path_factory.mktemp("faults"))
    servers = ForkServers(library)

    def rehearse(server: ForkServer) -> None:
        place = world.copy(tmp_path_factory.mktemp("rehearsal") / "world")
        for name, command in COMMANDS.items():
            done = server.rehearse(Job([command.forced], str(place), world.env(place)))
            assert done.ended[0].code == 0, (name, done)

    with ThreadPoolExecutor() as threads:
        list(threads.map(rehearse, servers.all))
    yield servers
    for server in servers.all:
        server.close()
