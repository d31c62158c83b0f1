"""What a command says: its result on stdout, everything else on stderr, errors in one line."""

import json
import re
import sys
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from rich.console import Console

from linkparity.support.errors import Message, PlainError
from linkparity.support.files import to_stdout

#: Errors whose message is a sentence for the user.
EXPECTED = (ValueError, OSError, PlainError)
#: Columns of a table that goes to a file or a pipe.
WIDTH = 110
#: Who speaks, where that is a function of the library, which nobody called on the command line.
CALLER = re.compile(r"^(?:i_project|split_links|Graph|Graph\.from_frames|LinkPredictor|train): ")
#: An argument of such a function: the option has its name.
OPTION = re.compile(
    r"^(confidence|dimension|duplicates|epochs|gamma|lr|postprocess|seed|self_loops|sensitive|target|"
    r"test|tolerance|top|unknown)(?= must | 'data' |=)"
)


class _Console(Console):
    """Leaves it to us what becomes of a reader that has gone; rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def show(*things: object, aside: bool = False) -> None:
    """Print tables and sentences, the result of a command, to stdout; to stderr if aside."""
    stream = sys.stderr if aside else sys.stdout
    width = None if stream.isatty() else WIDTH
    console = _Console(file=stream, width=width, highlight=False, markup=False, soft_wrap=False)
    with nullcontext() if aside else to_stdout():
        for thing in things:
            console.print(thing)


def show_json(value: Mapping[str, object]) -> None:
    """Print one JSON object to stdout; a number that is not finite must be None by now."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    with to_stdout():
        print(text)


def say(text: str) -> None:
    """Tell how the work goes, on stderr."""
    print(text, file=sys.stderr, flush=True)


def one_line(error: Exception) -> str | None:
    r"""The sentence for an error that a user can mend; None for a bug, which keeps its traceback.

    >>> one_line(ValueError("split_links: test must lie\n between 0 and 1"))
    '--test must lie between 0 and 1'
    >>> one_line(ZeroDivisionError())
    """
    text = _sentence(error)
    return None if text is None else OPTION.sub(_option, CALLER.sub("", _flat(text)))


def _sentence(error: Exception) -> str | None:
    message = getattr(error, "message", None)
    if isinstance(message, Message):
        return message.for_command()
    usage = getattr(error, "format_message", None)  # click's errors, whoever carries click
    if usage is not None:
        return str(usage())
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    missing = isinstance(error, ModuleNotFoundError) and "pip install" in str(error)
    return str(error) if missing or isinstance(error, EXPECTED) else None


def warn_in_one_line() -> None:
    """Have every warning print as ``Warning: …`` on stderr, without a line of source."""

    def tell(message: Warning | str, *place: Any, **more: Any) -> None:
        said = getattr(message, "message", None)
        text = said.for_command() if isinstance(said, Message) else str(message)
        say(f"Warning: {CALLER.sub('', _flat(text))}")

    warnings.showwarning = tell


def _option(argument: re.Match[str]) -> str:
    return "--" + argument[0].replace("_", "-")


def _flat(text: str) -> str:
    return " ".join(text.split())
