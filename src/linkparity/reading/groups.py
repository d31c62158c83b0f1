"""Values of an attribute → group numbers and names; the policy for untidy input."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

import numpy as np

from linkparity.reading.untidy_errors import KEEP_FIX, UNKNOWN_FIX
from linkparity.support.errors import InputError, InputWarning, warn
from linkparity.support.registry import did_you_mean

#: The group number of a node without a group.
NO_GROUP = -1
#: Name of the group of nodes whose value is not known.
UNKNOWN_NAME = "unknown"
#: Integers up to here are group numbers, even if most of them are unused.
MAX_SPARSE_NUMBER = 100

Unknown = Literal["error", "group", "drop", "keep"]
Duplicates = Literal["error", "first"]
SelfLoops = Literal["error", "drop"]

CHOICES: dict[str, tuple[str, ...]] = {
    "unknown": get_args(Unknown),
    "duplicates": get_args(Duplicates),
    "self_loops": get_args(SelfLoops),
}


class GraphWarning(InputWarning):
    """Part of the input was left out or interpreted; the message says how much."""


@dataclass(frozen=True)
class UntidyPolicy:
    """What happens to rows that are valid but untidy; by default each is an error.

    Attributes:
        unknown: nodes without a known group: an error, a group of their own, dropped, or kept
            without a group, so that their pairs are unconstrained.
        duplicates: a pair that occurs more than once: an error, or only its first row is kept.
        self_loops: a pair of a node with itself: an error, or dropped.
    """

    unknown: Unknown = "error"
    duplicates: Duplicates = "error"
    self_loops: SelfLoops = "error"

    def __post_init__(self) -> None:
        for name in CHOICES:
            check_choice(name, getattr(self, name))


def check_choice(
    argument: str, value: object, caller: str = "", choices: Sequence[str] = ()
) -> None:
    """Refuse a value that is not a choice of ``argument``.

    Args:
        argument: ``"unknown"``, ``"duplicates"`` or ``"self_loops"``.
        value: what was given.
        caller: the function that was called.
        choices: where only some of :data:`CHOICES` apply.
    """
    known = list(choices or CHOICES[argument])
    if value not in known:
        allowed = ", ".join(map(repr, known[:-1])) + f" or {known[-1]!r}"
        hint = did_you_mean(str(value), known).strip()
        problem = f"must be {allowed}, got {value!r}"
        raise InputError(problem, hint, argument=argument, caller=caller)


@dataclass(frozen=True)
class Grouping:
    """Groups of n nodes.

    Attributes:
        group: ``(n,)`` int64, −1 for a node without a group.
        names: one name per group.
        keep: ``(n,)`` bool, False for nodes to leave out.
    """

    group: np.ndarray
    names: tuple[str, ...]
    keep: np.ndarray

    @classmethod
    def of(cls, group: np.ndarray, names: tuple[str, ...]) -> "Grouping":
        """All nodes, with their group numbers."""
        return cls(group, names, np.ones(len(group), dtype=bool))


def number_groups(
    values: Sequence[object],
    unknown: Unknown,
    where: str = "",
    side: np.ndarray | None = None,
    names: tuple[str, ...] = (),
    *,
    minus_one_is_none: bool = True,
    caller: str = "",
) -> Grouping:
    """Number the distinct ``values``, one per node, in sorted order or in that of ``names``.

    ``None``, NaN, empty text and, if ``minus_one_is_none``, the number −1 are unknown: ``"group"``
    makes them a group of their own, ``"drop"`` leaves their nodes out, ``"keep"`` leaves them
    without a group (all three with a :class:`GraphWarning` that counts them), ``"error"`` refuses
    them. A side of a bipartite graph without any known value has no groups.

    >>> number_groups(["b", "a", "c", "a"], "error").group
    array([1, 0, 2, 0])
    """
    check_choice("unknown", unknown, caller)
    known = np.array([not is_unknown(value, minus_one_is_none) for value in values], dtype=bool)
    if not known.any():
        raise InputError(
            f"none of the {len(known):,} nodes has a known group",
            "check that the attribute has values and that ids are written alike",
            where=where,
            caller=caller,
        )
    known_values = [value for value, is_known in zip(values, known, strict=True) if is_known]
    distinct = _distinct(known_values, where, caller)
    value_names = tuple(group_name(value) for value in distinct)
    lacking = [name for name in value_names if names and name not in names]
    if lacking:
        raise InputError(
            f"{names} lack the value {lacking[0]!r}",
            "name every value, in the order wanted, or leave group_names out",
            argument="group_names",
            caller=caller,
        )
    names = names or value_names
    number = {value: names.index(name) for value, name in zip(distinct, value_names, strict=True)}
    group = np.full(len(known), NO_GROUP)
    group[known] = [number[value] for value in known_values]
    return apply_unknown(Grouping.of(group, names), unknown, side, where, caller)


def take_numbers(
    numbers: np.ndarray,
    unknown: Unknown,
    side: np.ndarray | None = None,
    names: tuple[str, ...] = (),
    caller: str = "",
) -> Grouping:
    """Use group ``numbers`` 0, 1, 2 … as they are, −1 for no group.

    No group is not the same as unknown: ``"error"`` leaves such nodes without a group, while
    ``"group"``, ``"drop"`` and ``"keep"`` treat them as :func:`number_groups` does. Numbers that
    skip most of those below the largest, such as years, are values: they are numbered, and become
    the names.

    >>> take_numbers(np.array([1990, 2010, -1, 1990]), "error").names
    ('1990', '2010')
    """
    check_choice("unknown", unknown, caller)
    group, known = numbers.copy(), numbers > NO_GROUP
    size = int(group.max(initial=NO_GROUP)) + 1
    distinct = np.unique(group[known])
    if not names and size > max(MAX_SPARSE_NUMBER, 2 * len(distinct)):
        group[known] = np.searchsorted(distinct, group[known])
        names = tuple(str(value) for value in distinct)
    names = names or tuple(str(g) for g in range(size))
    found = Grouping.of(group, names)
    return found if unknown == "error" else apply_unknown(found, unknown, side, "", caller)


def apply_unknown(
    found: Grouping,
    unknown: Unknown,
    side: np.ndarray | None,
    where: str = "",
    caller: str = "",
) -> Grouping:
    """Apply the policy to nodes without a group, except on a side without any group."""
    lost = (found.group == NO_GROUP) & sides_with_groups(found.group, side)
    if not lost.any():
        return found
    problem = f"{int(lost.sum()):,} of {len(lost):,} nodes have no known group"
    if unknown == "error":
        fix = f"fill the values in, or {UNKNOWN_FIX}; {KEEP_FIX}"
        raise InputError(problem, fix, where=where, caller=caller)
    if unknown == "drop":
        warn(GraphWarning, f"{problem} and are left out", where=where, caller=caller)
        return Grouping(found.group, found.names, ~lost)
    if unknown == "keep":
        problem = f"{problem} and stay without one"
        warn(GraphWarning, problem, "their pairs are unconstrained", where=where, caller=caller)
        return found
    names = add_unknown(found.names, where, caller)
    problem = f"{problem} and form the group {UNKNOWN_NAME!r}"
    warn(GraphWarning, problem, where=where, caller=caller)
    return Grouping(np.where(lost, len(found.names), found.group), names, found.keep)


def add_unknown(names: tuple[str, ...], where: str = "", caller: str = "") -> tuple[str, ...]:
    """The names and one more, for the nodes without a known value."""
    if UNKNOWN_NAME in names:
        raise InputError(
            f"some nodes have no known group, and a group named {UNKNOWN_NAME!r} exists already",
            "rename that value, or use {unknown=drop}",
            where=where,
            caller=caller,
        )
    return (*names, UNKNOWN_NAME)


def warn_of_one(names: Sequence[str], sizes: Sequence[int], where: str) -> None:
    """Warn of every group that has a single node."""
    for name, size in zip(names, sizes, strict=True):
        if size == 1:
            problem = f"group {name!r} has a single node"
            warn(GraphWarning, problem, "its numbers describe one individual", where=where)


def missing(value: object) -> bool:
    """Whether ``value`` is None, blank text, or one of NaN, NaT and pandas.NA."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)  # noqa: PLR0124  (only those three differ from themselves)
    except (TypeError, ValueError):
        return True


def whole_numbers(values: list[object]) -> list[object]:
    """Convert text to integers where all known values are integers as text.

    >>> sorted(whole_numbers(["10", "9", "-1"]))
    [-1, 9, 10]
    >>> whole_numbers(["7", "007"])
    ['7', '007']
    """
    known = [None if missing(value) else value for value in values]
    try:
        whole = [value if value is None else int(value) for value in known]  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return values
    alike = all(str(a) == b for a, b in zip(whole, known, strict=True) if b is not None)
    return list(whole) if alike else values


def is_unknown(value: object, minus_one: bool = True) -> bool:
    """Whether a value names no group: None, NaN, empty text or, if ``minus_one``, the number −1."""
    if isinstance(value, tuple):
        return any(is_unknown(part, minus_one) for part in value)
    return missing(value) or (minus_one and isinstance(value, Real) and value == NO_GROUP)


def sides_with_groups(group: np.ndarray, side: np.ndarray | None) -> np.ndarray:
    """``(n,)`` whether any node of a node's side has a group; true where there are no sides."""
    known = group != NO_GROUP
    if side is None:
        return np.ones(len(known), dtype=bool)
    left, right = (bool(known[side == s].any()) for s in (0, 1))
    return np.where(side == 0, left, right)


def _sorted(values: list[object]) -> list[object]:
    try:
        return sorted(values)  # type: ignore[type-var]
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def _distinct(values: Sequence[object], where: str, caller: str) -> list[object]:
    """The distinct values, sorted; each must have a name of its own."""
    typed: dict[object, object] = {}
    for value in values:
        kind = tuple(map(type, value)) if isinstance(value, tuple) else type(value)
        typed.setdefault((kind, value), value)
    by_name: dict[str, object] = {}
    by_value: dict[object, object] = {}
    for value in _sorted(list(typed.values())):
        name = group_name(value)
        for other in (by_name.setdefault(name, value), by_value.setdefault(value, value)):
            if other != value or group_name(other) != name:
                raise InputError(
                    f"the values {other!r} and {value!r} would be two groups of one name",
                    "write them alike, or differently",
                    where=where,
                    caller=caller,
                )
    return list(by_value)


def group_name(value: object) -> str:
    """The name of the group of a value; crossed values are joined by ``" & "``.

    >>> group_name(("F", 25.0))
    'F & 25'
    """
    if isinstance(value, tuple):
        return " & ".join(group_name(part) for part in value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
