"""Registries: names with what they stand for, and suggestions for misspelled names."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TypeVar

from linkparity.support.errors import InputError

T = TypeVar("T")
#: Maximum number of ids that are searched for a similar one.
LOOKED_AT = 10_000


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The start of a fix such as ``did you mean 'dot-product'?``; empty when no name is near.

    >>> did_you_mean("dotproduct", ["cne", "dot-product"])
    "did you mean 'dot-product'? "
    >>> did_you_mean("G", ["node", "g"])
    "did you mean 'g'? "
    """
    spelled = {each.lower(): each for each in reversed(list(known))}
    close = get_close_matches(name.lower(), spelled, n=1)
    return f"did you mean {spelled[close[0]]!r}? " if close else ""


def nearest(name: str, known: list[str]) -> str:
    """As :func:`did_you_mean`, to be put between a problem and its fix.

    >>> nearest("dotproduct", ["cne", "dot-product"])
    "; did you mean 'dot-product'?"
    """
    return f"; {did_you_mean(name, known)}".rstrip()


class Registry(dict[str, T]):
    """A dict from public names to things of one kind.

    >>> Registry("tool", {"cne": 1, "gae": 2})["cen"]
    Traceback (most recent call last):
    ...
    linkparity.support.registry.UnknownName: unknown tool 'cen'; did you mean 'cne'? known: cne, gae
    """

    def __init__(self, kind: str, entries: dict[str, T]) -> None:
        super().__init__(entries)
        self.kind = kind

    def __missing__(self, name: object) -> T:
        known = sorted(self)
        fix = f"{did_you_mean(str(name), known)}known: {', '.join(known)}"
        raise UnknownName(f"unknown {self.kind} {name!r}", fix)


class UnknownName(InputError, KeyError):
    """A name that is not in a registry."""

    def __str__(self) -> str:  # a KeyError would show the quoted text
        return self.message.for_python()
