"""Values of an attribute, as users have them → group numbers and names."""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

Unknown = Literal["group", "drop", "error"]
UNKNOWN_NAME = "unknown"
NONE = -1


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


def number_groups(
    values: Sequence[object], unknown: Unknown, where: str, side: np.ndarray | None = None
) -> Grouping:
    """Number the distinct ``values``, one per node, in sorted order.

    ``None``, NaN and empty text are unknown: ``"group"`` makes them a group of their own,
    ``"drop"`` leaves their nodes out (both with a :class:`GraphWarning` that counts them),
    ``"error"`` refuses. A side of a bipartite graph on which no value is known has no group, −1.

    >>> number_groups(["b", "a", "c", "a"], "error", "example").group
    array([1, 0, 2, 0])
    """
    if unknown not in get_args(Unknown):
        raise ValueError(
            f"{where}: unknown must be 'group', 'drop' or 'error', got {unknown!r}; "
            "it says what becomes of nodes without a value"
        )
    known = np.array([not _missing(value) for value in values], dtype=bool)
    if not known.any():
        raise ValueError(
            f"{where}: none of the {len(known):,} nodes has a known group; "
            "check that the attribute is filled in and that ids are written alike"
        )
    distinct = _sorted({value for value, told in zip(values, known, strict=True) if told})
    number = {value: code for code, value in enumerate(distinct)}
    told = zip(values, known, strict=True)
    group = np.array([number[v] if k else NONE for v, k in told], dtype=np.int64)
    names = _names(distinct, where)
    lost = ~known & _side_has_values(known, side)
    keep = np.ones(len(group), dtype=bool)
    if not lost.any():
        return Grouping(group, names, keep)
    count = f"{int(lost.sum()):,} of {len(group):,} nodes have no known group"
    if unknown == "error":
        raise ValueError(
            f"{where}: {count}; fill the values in, or pass unknown='group' "
            "(a group of their own) or unknown='drop' (leave them and their links out)"
        )
    if unknown == "drop":
        warnings.warn(f"{where}: {count} and are left out", GraphWarning, stacklevel=4)
        return Grouping(group, names, ~lost)
    if UNKNOWN_NAME in names:
        raise ValueError(
            f"{where}: {count}, and a group named {UNKNOWN_NAME!r} exists already; "
            "rename that value, or pass unknown='drop'"
        )
    text = f"{where}: {count} and form the group {UNKNOWN_NAME!r}"
    warnings.warn(text, GraphWarning, stacklevel=4)
    group[lost] = len(names)
    return Grouping(group, (*names, UNKNOWN_NAME), keep)


def _missing(value: object) -> bool:
    # NaN, NaT and pandas.NA are the values that do not equal themselves.
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    if isinstance(value, tuple):
        return any(_missing(part) for part in value)
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):
        return True


def _side_has_values(known: np.ndarray, side: np.ndarray | None) -> np.ndarray:
    if side is None:
        return np.ones(len(known), dtype=bool)
    left, right = (bool(known[side == s].any()) for s in (0, 1))
    return np.where(side == 0, left, right)


def _sorted(values: set[object]) -> list[object]:
    try:
        return sorted(values)  # type: ignore[type-var]
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def _names(values: Sequence[object], where: str) -> tuple[str, ...]:
    names = tuple(group_name(value) for value in values)
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        both = [value for value, name in zip(values, names, strict=True) if name == twice]
        raise ValueError(
            f"{where}: the values {both[0]!r} and {both[1]!r} would be two groups of one name; "
            "write them alike, or differently"
        )
    return names


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
