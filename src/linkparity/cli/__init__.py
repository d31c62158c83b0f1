"""The command ``linkparity``: options in, results out, no logic."""

import sys


def main(args: list[str] | None = None) -> None:
    """Run a command; Ctrl-C is one line on stderr and exit code 2 from its import on."""
    try:
        try:
            from linkparity.cli.command import main as run
        except KeyboardInterrupt:
            print("Error: interrupted; nothing was written", file=sys.stderr)
            raise SystemExit(2) from None
        run(args)
    finally:
        exec("")  # python -m ends by the signal if the last string executed was interrupted


__all__ = ["main"]
