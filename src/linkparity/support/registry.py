"""Registries: names with what they stand for, and suggestions for misspelled names."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

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
    """A dict from public names to things of one kind; ``aliases`` are other names of them.

    >>> Registry("tool", {"cne": 1, "gae": 2})["cen"]
    Traceback (most recent call last):
    ...
    linkparity.support.registry.UnknownName: unknown tool 'cen'; did you mean 'cne'? known: cne, gae
    >>> tools = Registry("tool", {"cne": 1}, {"conditional": "cne"})
    >>> tools["conditional"], "conditional" in tools, list(tools)
    (1, True, ['cne'])
    """

    def __init__(
        self, kind: str, entries: Mapping[str, T], aliases: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(entries)
        self.kind = kind
        self.aliases = aliases or {}

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.aliases

    def get(self, name: str, default: Any = None) -> Any:
        """The entry of a name or an alias, or ``default``."""
        return super().get(self.aliases.get(name, name), default)

    def __missing__(self, name: str) -> T:
        if name in self.aliases:
            return self[self.aliases[name]]
        known = sorted(self)
        fix = f"{did_you_mean(str(name), known)}known: {', '.join(known)}"
        raise UnknownName(f"unknown {self.kind} {name!r}", fix)


class UnknownName(InputError, KeyError):
    """A name that is not in a registry."""

    def __str__(self) -> str:  # a KeyError would show the quoted text
        return self.message.for_python()
