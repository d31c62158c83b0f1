"""What errors have in common whose message is a sentence for the user, not a trace of a bug."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class PlainError(RuntimeError):
    """The work cannot be done as asked; the message says why and what would help."""


@contextmanager
def to_stdout() -> Iterator[None]:
    """Write a result to stdout; a reader that has gone is told of, not taken for a failed gate."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the end is quiet
        raise PlainError("stdout was closed before all was written") from None
