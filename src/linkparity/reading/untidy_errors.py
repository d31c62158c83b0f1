"""Errors about untidy rows, the same for every table: unknown nodes, repeated pairs, self-loops."""

from linkparity.support.display import counted
from linkparity.support.errors import InputError

#: Fixes, to be used in the errors below and in others.
UNKNOWN_FIX = "use {unknown=group} (a group of their own) or {unknown=drop} (leave them out)"
KEEP_FIX = "{unknown=keep} leaves them in, unconstrained"
DUPLICATES_FIX = "keep the first of each with {duplicates=first}"
SELF_LOOPS_FIX = "leave such rows out with {self_loops=drop}"


def self_loop_error(
    where: str, node: object, count: int = 0, *, bipartite: bool = False
) -> InputError:
    """A row pairs a node with itself.

    Args:
        where: the row's :func:`~linkparity.support.display.place`.
        node: its id; None where it is not known.
        count: number of such rows.
        bipartite: whether the row would be right in a bipartite graph.
    """
    fix = SELF_LOOPS_FIX
    if bipartite:
        fix += ", or use {bipartite=True} if sources and targets are two kinds of nodes"
    return InputError(f"{_node(node)} is paired with itself{such(count)}", fix, where=where)


def duplicate_error(
    where: str,
    pair: tuple[object, object] | None,
    first: int | None,
    count: int = 0,
    *,
    reversed_pair: bool = False,
) -> InputError:
    """A row repeats the pair of an earlier row.

    Args:
        where: the later row's :func:`~linkparity.support.display.place`.
        pair: its two ids; None where they are not known.
        first: the earlier row's number; None where rows have no order.
        count: number of rows that repeat another.
        reversed_pair: whether the earlier row holds (b, a), which is another pair when directed.
    """
    named = "a pair" if pair is None else f"the pair ({pair[0]!r}, {pair[1]!r})"
    repeats = "is repeated" if first is None else f"repeats row {first:,}"
    fix = DUPLICATES_FIX
    if reversed_pair:
        fix += ", or use {directed=True} if (a, b) and (b, a) are two pairs"
    return InputError(f"{named} {repeats}{such(count, 'repeated row')}", fix, where=where)


def unknown_error(
    where: str,
    node: object,
    reason: str,
    advice: str = "fill it in",
    count: int = 0,
    *,
    without_groups: str = "",
) -> InputError:
    """A row has a node whose group is not known.

    Args:
        where: the row's :func:`~linkparity.support.display.place`.
        node: its id; None where it is not known.
        reason: such as ``"has no gender"`` or ``"is not in nodes.csv"``.
        advice: what would help apart from the policy.
        count: number of such rows.
        without_groups: the ends of pairs, ``"targets"`` or ``"sources"``, if none of them has a
            group and some of the others have.
    """
    fix = f"{advice}, or {UNKNOWN_FIX}"
    if without_groups:
        fix = f"use {{bipartite=True}} if {without_groups} have no groups; {fix}"
    return InputError(f"{_node(node)} {reason}{such(count)}", f"{fix}; {KEEP_FIX}", where=where)


def missing_id_error(where: str, count: int) -> InputError:
    """A row without an id; ``count`` is the number of such rows."""
    fix = "fill it in or leave the row out"
    return InputError(f"the id is missing{such(count)}", fix, where=where)


def _node(node: object) -> str:
    return "a node" if node is None else f"node {node!r}"


def such(count: int, noun: str = "such row") -> str:
    """`` (2 such rows)`` where there are several."""
    return f" ({counted(count, noun)})" if count > 1 else ""
