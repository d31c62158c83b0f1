"""Values of an attribute, as users have them → group numbers and names."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

import numpy as np

Unknown = Literal["group", "drop", "error"]
UNKNOWN_NAME = "unknown"
NONE = -1
SPARSE = 100  # numbers up to here are group numbers, however many of them are unused


class GraphWarning(UserWarning):
    """Something of the input was left out or set apart; the message counts it."""


@dataclass(frozen=True)
class Grouping:
    """Groups of n nodes.

    Attributes:
        group: ``(n,)`` int64, −1 for none.
        names: one name per group.
        keep: ``(n,)`` bool, False for nodes to leave out.
    """

    group: np.ndarray
    names: tuple[str, ...]
    keep: np.ndarray

    @classmethod
    def none(cls, count: int, names: tuple[str, ...] = ()) -> "Grouping":
        """``count`` nodes of which none has a group."""
        return cls(np.full(count, NONE), names, np.ones(count, dtype=bool))


def check_unknown(unknown: Unknown, where: str) -> None:
    """Refuse what says nothing about nodes without a value."""
    if unknown not in get_args(Unknown):
        raise ValueError(
            f"{where}: unknown must be 'group', 'drop' or 'error', got {unknown!r}; "
            "it says what becomes of nodes without a value"
        )


def number_groups(
    values: Sequence[object],
    unknown: Unknown,
    where: str,
    side: np.ndarray | None = None,
    names: tuple[str, ...] = (),
    coded: bool = True,
) -> Grouping:
    """Number the distinct ``values``, one per node, in sorted order or in that of ``names``.

    ``None``, NaN, empty text and, where ``coded``, the number −1 are unknown: ``"group"`` makes
    them a group of their own, ``"drop"`` leaves their nodes out (both with a :class:`GraphWarning`
    that counts them), ``"error"`` refuses. A side of a bipartite graph on which no value is known
    has no group, −1.

    >>> number_groups(["b", "a", "c", "a"], "error", "example").group
    array([1, 0, 2, 0])
    """
    check_unknown(unknown, where)
    known = np.array([not _is_unknown(value, coded) for value in values], dtype=bool)
    if not known.any():
        raise ValueError(
            f"{where}: none of the {len(known):,} nodes has a known group; "
            "check that the attribute is filled in and that ids are written alike"
        )
    told = [value for value, is_told in zip(values, known, strict=True) if is_told]
    distinct = _distinct(told, where)
    own = tuple(group_name(value) for value in distinct)
    if names and not set(own) <= set(names):
        lacking = next(name for name in own if name not in names)
        raise ValueError(
            f"{where}: group_names {names} lack the value {lacking!r}; "
            "name every value, in the order wanted, or leave group_names out"
        )
    names = names or own
    number = {value: names.index(name) for value, name in zip(distinct, own, strict=True)}
    group = np.full(len(known), NONE)
    group[known] = [number[value] for value in told]
    return _set_apart(group, names, unknown, where, side)


def take_numbers(
    numbers: np.ndarray,
    unknown: Unknown,
    where: str,
    side: np.ndarray | None = None,
    names: tuple[str, ...] = (),
) -> Grouping:
    """Group ``numbers`` 0, 1, 2 … as they are, −1 for none.

    None is not unknown: ``"error"`` leaves such nodes without a group, while ``"group"`` and
    ``"drop"`` do with them as :func:`number_groups` does. Numbers that skip most of those below
    the largest, such as years, are values: they are numbered, and keep their value as a name.

    >>> take_numbers(np.array([1990, 2010, -1, 1990]), "error", "example").names
    ('1990', '2010')
    """
    check_unknown(unknown, where)
    group, known = numbers.copy(), numbers > NONE
    size = int(group.max(initial=NONE)) + 1
    distinct = np.unique(group[known])
    if not names and size > max(SPARSE, 2 * len(distinct)):
        group[known] = np.searchsorted(distinct, group[known])
        names = tuple(str(value) for value in distinct)
    names = names or tuple(str(g) for g in range(size))
    return _set_apart(group, names, unknown, where, side, none_is_fine=True)


def _set_apart(
    group: np.ndarray,
    names: tuple[str, ...],
    unknown: Unknown,
    where: str,
    side: np.ndarray | None,
    none_is_fine: bool = False,
) -> Grouping:
    """Do with nodes of group −1 what ``unknown`` says, save on a side without any group."""
    lost = (group == NONE) & _side_has_values(group != NONE, side)
    keep = np.ones(len(group), dtype=bool)
    if not lost.any() or (none_is_fine and unknown == "error"):
        return Grouping(group, names, keep)
    count = f"{int(lost.sum()):,} of {len(group):,} nodes have no known group"
    if unknown == "error":
        raise ValueError(
            f"{where}: {count}; fill the values in, or pass unknown='group' "
            "(a group of their own) or unknown='drop' (leave them and their links out)"
        )
    if unknown == "drop":
        warnings.warn(f"{where}: {count} and are left out", GraphWarning, stacklevel=5)
        return Grouping(group, names, ~lost)
    if UNKNOWN_NAME in names:
        raise ValueError(
            f"{where}: {count}, and a group named {UNKNOWN_NAME!r} exists already; "
            "rename that value, or pass unknown='drop'"
        )
    text = f"{where}: {count} and form the group {UNKNOWN_NAME!r}"
    warnings.warn(text, GraphWarning, stacklevel=5)
    group[lost] = len(names)
    return Grouping(group, (*names, UNKNOWN_NAME), keep)


def warn_of_one(names: Sequence[str], sizes: Sequence[int], where: str, level: int) -> None:
    """Say which groups have a single node."""
    for name, size in zip(names, sizes, strict=True):
        if size == 1:
            text = f"group {name!r} has a single node; its numbers describe one individual"
            warnings.warn(f"{where}: {text}", GraphWarning, stacklevel=level + 1)


def missing(value: object) -> bool:
    """Whether ``value`` is None, blank text, or one of NaN, NaT and pandas.NA."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)  # noqa: PLR0124  (only those three differ from themselves)
    except (TypeError, ValueError):
        return True


def whole_numbers(values: list[object]) -> list[object]:
    """The values; where all that are known are whole numbers as text, these as numbers.

    >>> sorted(whole_numbers(["10", "9", "-1"]))
    [-1, 9, 10]
    >>> whole_numbers(["7", "007"])
    ['7', '007']
    """
    found = [None if missing(value) else value for value in values]
    try:
        plain = [value if value is None else int(value) for value in found]  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return values
    alike = all(str(a) == b for a, b in zip(plain, found, strict=True) if b is not None)
    return list(plain) if alike else values


def _is_unknown(value: object, coded: bool) -> bool:
    if isinstance(value, tuple):
        return any(_is_unknown(part, coded) for part in value)
    return missing(value) or (coded and isinstance(value, Real) and value == NONE)


def _side_has_values(known: np.ndarray, side: np.ndarray | None) -> np.ndarray:
    if side is None:
        return np.ones(len(known), dtype=bool)
    left, right = (bool(known[side == s].any()) for s in (0, 1))
    return np.where(side == 0, left, right)


def _sorted(values: list[object]) -> list[object]:
    try:
        return sorted(values)  # type: ignore[type-var]
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def _distinct(values: Sequence[object], where: str) -> list[object]:
    """The values, each once and sorted; two that are equal, or read alike, must be the same."""
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
                raise ValueError(
                    f"{where}: the values {other!r} and {value!r} would be two groups of one name; "
                    "write them alike, or differently"
                )
    return list(by_value)


def group_name(value: object) -> str:
    """How a value reads as a group's name; crossed values are joined by ``" & "``.

    >>> group_name(("F", 25.0))
    'F & 25'
    """
    if isinstance(value, tuple):
        return " & ".join(group_name(part) for part in value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
