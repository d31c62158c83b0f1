"""Views: which group pairs form one cell before cells are compared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkparity.support.registry import Registry

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: What each view compares, for people.
VIEW_TITLES = {
    "subgroup": "every pair of groups",
    "mixed": "within a group, between groups",
    "group": "what a node of each group meets",
}


@dataclass(frozen=True, eq=False)
class ViewCells:
    """The cells of a view, as counts over G group pairs.

    Attributes:
        member: sparse ``(G, M)``, how often a pair of group pair g counts in cell m: 0, 1 or 2.
        groups: M tuples of group names, such as ``("left", "right")``.
    """

    member: "csr_array"
    groups: tuple[tuple[str, ...], ...]


def cell_labels(groups: Sequence[tuple[str, ...]]) -> list[str]:
    """Texts for cells, such as ``left – right``; tuples where two texts would be equal.

    >>> cell_labels([("a", "b"), ("a",)]), cell_labels([("a", "b"), ("a – b",)])
    (['a – b', 'a'], ["('a', 'b')", "('a – b',)"])
    """
    labels = [" – ".join(names) for names in groups]
    return labels if len(set(labels)) == len(labels) else [str(names) for names in groups]


def view_cells(key: np.ndarray, view: str = "subgroup", names: Sequence[str] = ()) -> ViewCells:
    """The cells of ``view`` over group pairs ``key (G, 2)``, or groups ``(G, 1)``.

    ``subgroup`` compares every unordered pair of groups; ``mixed`` compares pairs within a group
    with pairs between groups, and leaves out pairs with fewer than two groups; ``group`` compares
    endpoints: a pair counts once for each of its ends, so twice where both ends share a group,
    and a cell's mean is what a node of that group meets on average.

    >>> view_cells(np.array([[0, 0], [0, 1], [1, 1]]), "group").member.toarray().tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    return VIEWS[view](key, names)


def _subgroup(key: np.ndarray, names: Sequence[str]) -> ViewCells:
    groups = tuple(tuple(_name(g, names) for g in row if g >= 0) for row in key.tolist())
    return ViewCells(_member(np.arange(len(key))[:, None], len(key)), groups)


def _mixed(key: np.ndarray, names: Sequence[str]) -> ViewCells:
    cell = np.full(len(key), -1)
    if key.shape[1] == 2:
        both = (key >= 0).all(axis=1)
        cell[both] = key[both, 0] != key[both, 1]
    return ViewCells(_member(cell[:, None], 2), (("within",), ("between",)))


def _group(key: np.ndarray, names: Sequence[str]) -> ViewCells:
    size = int(key.max(initial=-1)) + 1
    # All of few groups; of numbers like years only those that occur.
    groups = np.arange(size) if size <= len(key) else np.unique(key[key >= 0])
    cell = np.where(key >= 0, np.searchsorted(groups, key), -1)
    return ViewCells(_member(cell, len(groups)), tuple((_name(g, names),) for g in groups.tolist()))


def _member(cell: np.ndarray, size: int) -> "csr_array":
    """Counts ``(G, size)`` from the cells ``(G, K)`` each group pair counts in, −1 for none."""
    from scipy.sparse import csr_array

    row, column = np.nonzero(cell >= 0)
    ones = np.ones(len(row), dtype=np.int64)
    return csr_array((ones, (row, cell[row, column])), shape=(len(cell), size))


def _name(group: int, names: Sequence[str]) -> str:
    return str(names[group]) if group < len(names) else str(group)


VIEWS: Registry[Callable[[np.ndarray, Sequence[str]], ViewCells]] = Registry(
    "view", {"subgroup": _subgroup, "mixed": _mixed, "group": _group}
)
