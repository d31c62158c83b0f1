"""Which columns of a table hold the two ends of a pair, and which the ids of nodes.

One rule for data frames and for files: the usual names in any case, else the first columns.
"""

from collections.abc import Collection, Sequence
from typing import Any

from linkparity.support.errors import InputError
from linkparity.support.registry import did_you_mean

ENDS = ("source", "target")
NODE = "node"


def choose_ends(
    columns: Sequence[Any],
    given: Sequence[Any] = (None, None),
    reserved: Collection[Any] = (),
    options: tuple[str, str] | None = None,
    **place: str,
) -> tuple[Any, Any]:
    """The columns of the two ends: as ``given``, by their usual names, or the first two.

    The first two are taken only where neither usual name occurs in any case, and never a
    ``reserved`` one.

    Args:
        columns: the names of all columns.
        given: the columns that the caller names, None where it names none.
        reserved: columns that hold something else.
        options: arguments with which a caller could name the columns, if there are such.
        place: where the table is, as in :class:`~linkparity.support.errors.Message`.
    """
    if len(columns) < 2:
        problem = f"needs columns source and target, got {_listed(columns) or 'none'}"
        raise InputError(problem, **place)
    names = "call the columns source and target"
    if options is None:
        fix = f"{names}, or put them first under two other names"
    else:
        fix = f"name both with {{{options[0]}=}} and {{{options[1]}=}}, or {names}"
    found = [
        _usual(columns, usual, fix, place) if name is None else name
        for usual, name in zip(ENDS, given, strict=True)
    ]
    any_usual = any(_is_usual(each, *ENDS) for each in columns)
    for at, (usual, end) in enumerate(zip(ENDS, found, strict=True)):
        if end is not None:
            continue
        if any_usual or columns[at] in reserved:
            other = [str(c) for c in columns if c not in reserved and not _is_usual(c, *ENDS)]
            said = f"{did_you_mean(usual, other)}{fix}; columns: {_listed(columns)}"
            raise InputError(f"has no column {usual!r}", said, **place)
        found[at] = columns[at]
    return found[0], found[1]


def choose_node(columns: Sequence[Any], sensitive: Collection[str], **place: str) -> Any:
    """The column of ids in a table of nodes: ``node`` in any case, else the first other column."""
    other = [name for name in columns if str(name) not in sensitive]
    if NODE in columns:
        return NODE
    if (usual := _usual(other, NODE, f"call the column of ids {NODE}", place)) is not None:
        return usual
    if not other:
        beside = f" beside {', '.join(map(repr, sensitive))}" if sensitive else ""
        raise InputError(f"has no column of ids{beside}", "add one", **place)
    return other[0]


def _usual(columns: Sequence[Any], usual: str, fix: str, place: dict[str, str]) -> Any:
    """The column of a usual name, best as it is written here; None where there is none."""
    if usual in columns:
        return usual
    found = [each for each in columns if _is_usual(each, usual)]
    if len(found) > 1:
        problem = f"has several columns {usual!r} in other cases, {_listed(found)}"
        raise InputError(problem, fix, **place)
    return found[0] if found else None


def _is_usual(column: Any, *usual: str) -> bool:
    return str(column).lower() in usual


def _listed(columns: Sequence[Any]) -> str:
    return ", ".join(map(str, columns))
