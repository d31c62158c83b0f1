"""Which columns of a table hold the two ends of a pair, and which the ids of nodes.

One rule for data frames and for files: the usual names, else the first columns.
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

    The first two are taken only where neither usual name occurs, and never a ``reserved`` one.

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
    ends: list[Any] = []
    for at, (usual, name) in enumerate(zip(ENDS, given, strict=True)):
        if name is not None:
            ends.append(name)
        elif usual in columns:
            ends.append(usual)
        elif set(ENDS) & set(columns) or columns[at] in reserved:
            other = [str(each) for each in columns if each not in (*ENDS, *reserved)]
            names = "call the columns source and target"
            fix = (
                f"name it with {{{options[at]}=}}, or {names}"
                if options
                else f"{names}, or put them first under two other names"
            )
            fix = f"{did_you_mean(usual, other)}{fix}; columns: {_listed(columns)}"
            raise InputError(f"has no column {usual!r}", fix, **place)
        else:
            ends.append(columns[at])
    return ends[0], ends[1]


def choose_node(columns: Sequence[Any], sensitive: Collection[str], **place: str) -> Any:
    """The column of ids in a table of nodes: ``node``, else the first that is no attribute."""
    if NODE in columns:
        return NODE
    other = [name for name in columns if str(name) not in sensitive]
    if not other:
        beside = f" beside {', '.join(map(repr, sensitive))}" if sensitive else ""
        raise InputError(f"has no column of ids{beside}", "add one", **place)
    return other[0]


def _listed(columns: Sequence[Any]) -> str:
    return ", ".join(map(str, columns))
