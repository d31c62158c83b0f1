"""The command ``linkparity``: options in, results out, no logic."""

from linkparity.cli.app import main

__all__ = ["main"]
