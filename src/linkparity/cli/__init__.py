"""The command ``linkparity``: options in, results out, no logic."""

from linkparity.cli.command import main

__all__ = ["main"]
