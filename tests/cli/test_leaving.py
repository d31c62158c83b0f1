"""The end of a command."""

import gc
import sys
from types import SimpleNamespace

import pytest

from linkparity.cli.command import _leave_uncollected


@pytest.mark.parametrize(("version", "frozen"), [(None, True), ("1.4.5", True), ("2.0.0", False)])
def test_duckdb_2_is_collected_at_the_end(monkeypatch, version, frozen):
    """It lists what is not collected on stderr, after the one line of an error."""
    calls = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append(True))
    monkeypatch.delitem(sys.modules, "duckdb", raising=False)
    if version is not None:
        monkeypatch.setitem(sys.modules, "duckdb", SimpleNamespace(__version__=version))
    _leave_uncollected()
    assert bool(calls) == frozen
