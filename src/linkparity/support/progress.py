"""How far passes over many rows have come: reported where rows are read, shown by who asks."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
#: Called with what is done, the rows done so far, and all rows.
Listener = Callable[[str, int, int], object]

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Report the progress of everything in the block to a listener."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def with_progress(
    work: str, rows: int, parts: Iterable[T], size: Callable[[Any], int] = len
) -> Iterator[T]:
    """The same parts, ``size`` rows each; each is reported when the next is asked for."""
    done = 0
    for part in parts:
        yield part
        done += size(part)
        listener = _LISTENER.get()
        if listener is not None:
            listener(work, done, rows)
