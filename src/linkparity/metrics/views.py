"""Views: how unordered group pairs are put together before they are compared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from linkparity.registry import Registry


@dataclass(frozen=True, eq=False)
class ViewCells:
    """The cells of a view, as counts over the G group pairs of ``code_groups``.

    Attributes:
        member: ``(G, M)`` how often a pair of group pair g counts in cell m: 0, 1 or 2.
        groups: M tuples of group names, such as ``("left", "right")``.
    """

    member: np.ndarray
    groups: tuple[tuple[str, ...], ...]


def view_cells(key: np.ndarray, view: str = "subgroup", names: Sequence[str] = ()) -> ViewCells:
    """The cells of ``view`` over group pairs ``key (G, 2)``, or groups ``(G, 1)``.

    ``subgroup`` compares every unordered pair of groups; ``mixed`` compares pairs within a group
    with pairs between groups, and leaves out pairs with fewer than two groups; ``group`` compares
    endpoints: a pair counts once for each of its ends, so twice where both ends share a group,
    and a cell's mean is what a node of that group meets on average.

    >>> view_cells(np.array([[0, 0], [0, 1], [1, 1]]), "group").member.tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    return VIEWS[view](key, names)


def _subgroup(key: np.ndarray, names: Sequence[str]) -> ViewCells:
    groups = tuple(tuple(_name(g, names) for g in row if g >= 0) for row in key.tolist())
    return ViewCells(np.eye(len(key), dtype=np.int64), groups)


def _mixed(key: np.ndarray, names: Sequence[str]) -> ViewCells:
    member = np.zeros((len(key), 2), dtype=np.int64)
    if key.shape[1] == 2:
        both = (key >= 0).all(axis=1)
        member[:, 0] = both & (key[:, 0] == key[:, 1])
        member[:, 1] = both & (key[:, 0] != key[:, 1])
    return ViewCells(member, (("within",), ("between",)))


def _group(key: np.ndarray, names: Sequence[str]) -> ViewCells:
    size = int(key.max()) + 1 if key.size else 0
    member = sum(
        ((end[:, None] == np.arange(size)).astype(np.int64) for end in key.T),
        start=np.zeros((len(key), size), dtype=np.int64),
    )
    return ViewCells(member, tuple((_name(g, names),) for g in range(size)))


def _name(group: int, names: Sequence[str]) -> str:
    return str(names[group]) if group < len(names) else str(group)


VIEWS: Registry[Callable[[np.ndarray, Sequence[str]], ViewCells]] = Registry(
    "view", {"subgroup": _subgroup, "mixed": _mixed, "group": _group}
)
