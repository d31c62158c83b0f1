"""Errors and warnings as values: what is wrong, where, and what would help.

The same value reads ``score='p'`` in Python and ``--score p`` on the command line, so that nobody
is told of an option that they do not have, and nothing has to parse a message.
"""

import contextlib
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

PACKAGE = str(Path(__file__).parents[1])
#: ``{unknown=drop}`` in a fix: an argument with its value; ``{score=}`` names it alone.
ARGUMENT = re.compile(r"\{(\w+)=([^{}]*)\}")


@dataclass(frozen=True)
class Message:
    """What an error or a warning says.

    Attributes:
        problem: what was received and why it does not work; begins with a verb after ``argument``.
        fix: what would work; may name arguments as ``{unknown=drop}``, ``{bipartite=True}`` or
            ``{score=}``.
        where: the file or table, with row and column where they are known.
        argument: the argument that the problem is about.
        caller: the function that was called; said in Python only.

    >>> said = Message("must be at least 1, got 0", "leave {top=} out", argument="top", caller="f")
    >>> said.for_python()
    'f: top must be at least 1, got 0; leave top=… out'
    >>> said.for_command()
    '--top must be at least 1, got 0; leave --top out'
    """

    problem: str
    fix: str = ""
    where: str = ""
    argument: str = ""
    caller: str = ""

    def for_python(self) -> str:
        """The text for a caller in Python."""
        place = self.where or self.caller
        fix = ARGUMENT.sub(lambda found: _keyword(*found.groups()), self.fix)
        return _sentence(place, self.argument, self.problem, fix)

    def for_command(self) -> str:
        """The text for the command line, in one line."""
        fix = ARGUMENT.sub(lambda found: _option(*found.groups()), self.fix)
        argument = _option(self.argument, "") if self.argument else ""
        return " ".join(_sentence(self.where, argument, self.problem, fix).split())


def _sentence(place: str, argument: str, problem: str, fix: str) -> str:
    subject = f"{argument} {problem}" if argument else problem
    return (f"{place}: " if place else "") + subject + (f"; {fix}" if fix else "")


def _keyword(name: str, value: str) -> str:
    if not value:
        return f"{name}=…"
    return f"{name}={value}" if value in ("True", "False", "None") else f"{name}={value!r}"


def _option(name: str, value: str) -> str:
    option = "--" + name.replace("_", "-")
    return option if value in ("", "True") else f"{option} {value}"


class Explained(Exception):
    """An exception that is made of a :class:`Message`."""

    def __init__(
        self, problem: str, fix: str = "", *, where: str = "", argument: str = "", caller: str = ""
    ) -> None:
        self.message = Message(problem, fix, where, argument, caller)
        super().__init__(self.message.for_python())


class InputError(Explained, ValueError):
    """Something given cannot be used as it is: an argument, a file, a row."""


class PlainError(Explained, RuntimeError):
    """The work cannot be done as asked; the message says why and what would help."""


class InputWarning(Explained, UserWarning):
    """Something given was used otherwise than might be expected."""


def warn(
    kind: type[InputWarning], problem: str, fix: str = "", *, where: str = "", caller: str = ""
) -> None:
    """Warn, blaming the line outside this package that the call came from."""
    said = kind(problem, fix, where=where, caller=caller)
    warnings.warn(said, stacklevel=_level_outside(sys._getframe(1)))


def _level_outside(frame: FrameType | None) -> int:
    """The stack level, as :func:`warn` counts, of the first frame that is neither ours nor glue."""
    level = 2
    while frame is not None and _is_inside(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    return level


def _is_inside(file: str) -> bool:
    return file.startswith((PACKAGE, contextlib.__file__)) or "/torch/" in file
