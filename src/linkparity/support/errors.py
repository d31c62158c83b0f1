"""Errors and warnings as values: the problem, where it is, and a fix.

The same value reads ``score='p'`` in Python and ``--score p`` on the command line, so that nothing
has to parse a message.
"""

import re
import sys
import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import FrameType
from typing import Any

#: Modules whose frames are skipped to find the line that a warning is about.
INTERNAL = ("linkparity", "torch", "contextlib")
#: ``{unknown=drop}`` in a fix: an argument with its value; ``{score=}`` names it alone.
ARGUMENT = re.compile(r"\{(\w+)=([^{}]*)\}")
#: Packages that a plain installation lacks, with the extra that brings them.
EXTRAS = {
    **dict.fromkeys(("torch", "sklearn", "safetensors", "requests"), "train"),
    **dict.fromkeys(("altair", "vl_convert"), "report"),
    **dict.fromkeys(("pyspark", "pandas"), "spark"),
    "torch_geometric": "pyg",
    "distributed": "dask",
}
NAMES = {"torch": "PyTorch", "sklearn": "scikit-learn"}
SMALL_BUILD = " (for the small CPU build, install torch first, see README)"


@dataclass(frozen=True)
class Message:
    """The content of an error or a warning.

    Attributes:
        problem: what was received and why it does not work; begins with a verb after ``argument``.
        fix: what would work; may name arguments as ``{unknown=drop}``, ``{bipartite=True}`` or
            ``{score=}``.
        where: the file or table, with row and column where they are known.
        argument: the argument that the problem is about.
        caller: the function that was called; part of the text in Python only.

    >>> message = Message("must be ≥ 1, got 0", "leave {top=} out", argument="top", caller="f")
    >>> message.for_python()
    'f: top must be ≥ 1, got 0; leave top=… out'
    >>> message.for_command()
    '--top must be ≥ 1, got 0; leave --top out'
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
    """An argument, a file or a row that cannot be used as it is."""


class PlainError(Explained, RuntimeError):
    """A failure that is not a bug; the message says why and what would help."""


class InputWarning(Explained, UserWarning):
    """Input that was used in a way that may not be expected."""


def warn(
    kind: type[InputWarning], problem: str, fix: str = "", *, where: str = "", caller: str = ""
) -> None:
    """Warn, with the location of the first line outside this package in the call stack."""
    message = kind(problem, fix, where=where, caller=caller)
    warnings.warn(message, stacklevel=_stack_level(sys._getframe(1)))


def _stack_level(frame: FrameType | None) -> int:
    """The stack level, counted from :func:`warn`, of the first frame that is not internal."""
    level = 2
    while frame is not None and _is_internal(frame):
        frame, level = frame.f_back, level + 1
    return level


def _is_internal(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] in INTERNAL


def require(module: str, where: str, install: str = "") -> Any:
    """Import ``module``, or raise an error with the pip command that ``where`` needs.

    Args:
        module: what is imported.
        where: what needs it.
        install: what pip is to install, by default the extra that brings the package.

    >>> require("no_such_module", "Graph.to_pyg", "linkparity[pyg]")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: Graph.to_pyg needs no_such_module: pip install "linkparity[pyg]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{module}.".startswith(f"{missing.name}."):
            raise
        raise not_installed(module, where, install) from None


def require_extra(extras: str, where: str) -> None:
    """Raise an error if a package of the first of ``extras`` is not installed."""
    for package, extra in EXTRAS.items():
        if extra == extras.partition(",")[0] and find_spec(package) is None:
            raise not_installed(package, where, f"linkparity[{extras}]")


def not_installed(module: str, where: str, install: str = "") -> ModuleNotFoundError:
    """The error of ``where``, which needs a module that is not installed."""
    package = module.partition(".")[0]
    command = f'pip install "{install or f"linkparity[{EXTRAS[package]}]"}"'
    more = SMALL_BUILD if package == "torch" else ""
    name = NAMES.get(package, package)
    return ModuleNotFoundError(f"{where} needs {name}: {command}{more}", name=package)
