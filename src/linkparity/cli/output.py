"""What a command prints: its result on stdout, everything else on stderr, errors in one line."""

import json
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from io import TextIOWrapper
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from linkparity.support.display import without_controls
from linkparity.support.errors import Message
from linkparity.support.files import to_stdout
from linkparity.support.progress import progress_to

#: Columns of a table that goes to a file or a pipe, unless $COLUMNS says otherwise.
WIDTH = 110
#: What tables hold that an encoding other than UTF-8 may lack.
ASCII = str.maketrans(dict(zip("–−…├─┤●", "--.[-]o", strict=True)))
#: Characters of an error, which may quote a value of any length.
LONGEST = 800
#: Seconds of silence after which the stage at work is told.
QUIET = 5.0
#: Control characters that JSON leaves as they are.
UNESCAPED = re.compile("[\x7f-\x9f]")


class SafeConsole(Console):
    """A console that no control character in what it prints can reach, for any encoding."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render, without control characters; in ASCII where the stream is not UTF-8."""
        plain = ASCII if (options or self.options).ascii_only else {}
        for part in super().render(renderable, options):
            text = without_controls(part.text).translate(plain)
            yield part if part.control else part._replace(text=text)

    def on_broken_pipe(self) -> None:
        """Raise, where rich would exit with 1."""
        raise BrokenPipeError


def prepare_streams() -> None:
    """Have a character that stdout cannot encode replaced; print warnings in one line."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    warnings.showwarning = _warning_printer()


def show(*parts: object, on_stderr: bool = False) -> None:
    """Print tables and sentences, the result of a command."""
    stream = sys.stderr if on_stderr else sys.stdout
    console = SafeConsole(file=stream, width=_width(stream), highlight=False, markup=False)
    with nullcontext() if on_stderr else to_stdout():
        for part in parts:
            console.print(part)


def _width(stream: TextIO) -> int | None:
    """The columns of a terminal are its own (None); those of a pipe are $COLUMNS, or WIDTH."""
    columns = os.environ.get("COLUMNS", "")
    return (
        None if stream.isatty() else int(columns) if columns.isdecimal() and int(columns) else WIDTH
    )


def show_json(value: Mapping[str, object]) -> None:
    """Print one JSON object to stdout; a number that is not finite must be None by now."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2, allow_nan=False)
    with to_stdout():
        print(UNESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def say(text: str) -> None:
    """Print a line about the work to stderr."""
    print(without_controls(text), file=sys.stderr, flush=True)


@contextmanager
def stages() -> Iterator[Callable[[str], None]]:
    """A function to call with each stage of the work, which ends the one before.

    The stage at work is told when nothing was said for five seconds, so that fast work is silent.
    """
    timer: threading.Timer | None = None
    last = time.monotonic()

    def tell(stage: str) -> None:
        nonlocal last
        last = time.monotonic()
        say(f"{stage} …")

    def begin(stage: str) -> None:
        nonlocal timer
        if timer is not None:
            timer.cancel()
        wait = max(0.0, last + QUIET - time.monotonic())
        timer = threading.Timer(wait, tell, (stage,))
        timer.daemon = True
        timer.start()

    try:
        yield begin
    finally:
        if timer is not None:
            timer.cancel()


@contextmanager
def row_progress() -> Iterator[None]:
    """Show how many rows the work in the block has done: a bar on a terminal, else lines."""
    if sys.stderr.isatty():
        from rich import progress as rich

        columns = (
            rich.TextColumn("{task.description}", markup=False), rich.BarColumn(),
            rich.TaskProgressColumn(), rich.TimeElapsedColumn(),
        )  # fmt: skip
        with rich.Progress(*columns, console=SafeConsole(stderr=True), transient=True) as bar:
            task = bar.add_task("opening tables", total=None)
            with progress_to(
                lambda work, done, rows: bar.update(
                    task, description=work, completed=done, total=rows
                )
            ):
                yield
        return
    last = time.monotonic()

    def report(work: str, done: int, rows: int) -> None:
        nonlocal last
        if time.monotonic() - last >= QUIET:
            last = time.monotonic()
            say(f"{work}: {done:,} of {rows:,}")

    with progress_to(report):
        yield


def one_line(error: BaseException) -> str | None:
    """The sentence for an error that a user can fix; None for a bug, which keeps its traceback.

    >>> from linkparity.support.errors import InputError
    >>> one_line(InputError("unknown engine 'x'"))
    "unknown engine 'x'"
    >>> one_line(ValueError("operands could not be broadcast together"))
    """
    text = _sentence(error)
    return None if text is None else _shortened(" ".join(text.split()))


def _shortened(text: str) -> str:
    """Text without its middle where it is long: the place is at its start, the fix at its end."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"


def _sentence(error: BaseException) -> str | None:
    message = getattr(error, "message", None)
    if isinstance(message, Message):
        return message.for_command()
    usage = getattr(error, "format_message", None)  # click's errors, whoever carries click
    if usage is not None:
        return str(usage())
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    missing = isinstance(error, ModuleNotFoundError) and "pip install" in str(error)
    return str(error) if missing or isinstance(error, OSError) else None


def _warning_printer() -> Callable[..., None]:
    """A function that prints a warning in one line; the same line, of several fits, once."""
    printed: set[str] = set()

    def show_warning(message: Warning | str, *place: Any, **more: Any) -> None:
        explained = getattr(message, "message", None)
        text = explained.for_command() if isinstance(explained, Message) else str(message)
        line = f"Warning: {' '.join(text.split())}"
        if line not in printed:
            printed.add(line)
            say(line)

    return show_warning
