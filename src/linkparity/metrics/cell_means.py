"""Views (which group pairs form one cell), sums and means per cell, and the gap between means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from linkparity.criteria.group_pairs import occurring_pairs, reading_order
from linkparity.metrics.checks import check_scores, group_array, label_array, weight_array
from linkparity.support.errors import InputError
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


def gap(means: np.ndarray) -> float:
    r"""Largest difference between two cells' means.

    .. math:: \max_{c,c'} |\bar h_c - \bar h_{c'}|

    0 is parity on this measure, 1 the worst. A cell without a mean (``nan``) is left out; with
    fewer than two cells left the gap is ``nan``.

    >>> gap(np.array([0.25, np.nan, 0.75, 0.5]))
    0.5
    """
    known = means[~np.isnan(means)]
    return float(known.max() - known.min()) if len(known) > 1 else float("nan")


@dataclass(frozen=True, eq=False)
class CellMeans:
    """Mean predictions per cell of a view; every array has the shape ``(M,)``.

    Attributes:
        view: The name of the view.
        groups: M tuples of group names.
        pairs: Number of pairs (of endpoints, in the view ``group``).
        links: Number of true links among them, ``nan`` where labels are unknown.
        weight: Total weight.
        mean: Weighted mean prediction, ``nan`` without weight.
        link_mean: Unweighted mean prediction over true links, ``nan`` without links.
    """

    view: str
    groups: tuple[tuple[str, ...], ...]
    pairs: np.ndarray
    links: np.ndarray
    weight: np.ndarray
    mean: np.ndarray
    link_mean: np.ndarray

    def small(self, min_pairs: int, links: bool = False) -> np.ndarray:
        """``(M,)`` whether a cell has fewer pairs, or links, than ``min_pairs``."""
        count = self.links if links else self.pairs
        return np.asarray(np.nan_to_num(count) < min_pairs)

    def restricted(self, min_pairs: int) -> "CellMeans":
        """Without the means of fewer than ``min_pairs`` pairs, and of links likewise."""
        mean = np.where(self.small(min_pairs), np.nan, self.mean)
        link_mean = np.where(self.small(min_pairs, links=True), np.nan, self.link_mean)
        return replace(self, mean=mean, link_mean=link_mean)

    @property
    def dp(self) -> float:
        """Largest gap between weighted mean predictions."""
        return gap(self.mean)

    @property
    def eo(self) -> float:
        """Largest gap between mean predictions over true links."""
        return gap(self.link_mean)


class CellSums:
    r"""The sums :math:`\sum 1, \sum y, \sum w, \sum w h, \sum y h` per unordered group pair.

    Batches and processes may be added in any order. Groups are identified by number, so a batch
    may lack some of them.

    >>> sums = CellSums().update([0.2, 0.4], [[0, 0], [1, 0]])
    >>> other = CellSums().update([0.9], [[2, 1]])
    >>> round(sums.merge(other).result().dp, 3)
    0.7
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[int, ...], np.ndarray] = {}

    def update(
        self, prob: object, groups: object, labels: object = None, weight: object = None
    ) -> Self:
        """Add pairs: ``prob (P,)``, ``groups (P, 2)`` or ``(P,)``, 0/1 ``labels``, ``weight``.

        Pairs without a group are left out. Once a batch of a group pair has no labels, its number
        of links and its mean over links are unknown.
        """
        caller = "CellSums.update"
        _, h, _ = check_scores(caller, None, prob)
        key, code = occurring_pairs(group_array(caller, groups, len(h)))
        w, y = weight_array(caller, weight, len(h)), label_array(caller, labels, len(h))
        y = np.full_like(h, np.nan) if y is None else y
        in_cell = code >= 0
        code, h, w, y = code[in_cell], h[in_cell], w[in_cell], y[in_cell]
        terms = (np.ones_like(h), y, w, w * h, y * h)
        sums = np.stack([np.bincount(code, term, len(key)) for term in terms], axis=1)
        for ends, row in zip(key.tolist(), sums, strict=True):
            self._add(tuple(ends), row)
        return self

    def merge(self, other: "CellSums") -> Self:
        """Add the sums of ``other``, which is not changed."""
        for key, row in list(other._rows.items()):
            self._add(key, row)
        return self

    def result(self, view: str = "subgroup", names: Sequence[str] = ()) -> CellMeans:
        """Means per cell of ``view``, over the group pairs that have been seen."""
        seen = list(self._rows)
        key = np.array(seen, dtype=np.int64).reshape(len(seen), -1 if seen else 2)
        key = key[reading_order(key)]
        return cell_means(key, self.table(key), view, names)

    def table(self, key: np.ndarray) -> np.ndarray:
        """The five sums ``(G, 5)`` of group pairs ``key (G, 2)``, 0 for those never seen."""
        zero = np.zeros(5)
        rows = [self._rows.get(tuple(k), zero) for k in key.tolist()]
        return np.array(rows).reshape(len(key), 5)

    def _add(self, key: tuple[int, ...], row: np.ndarray) -> None:
        if self._rows and len(key) != len(next(iter(self._rows))):
            raise InputError(
                "groups of the shape (P,) and (P, 2) cannot be added together",
                "always give one group per instance, or always two per pair", caller="CellSums",
            )  # fmt: skip
        self._rows[key] = self._rows[key] + row if key in self._rows else row


def cell_means(
    key: np.ndarray, sums: np.ndarray, view: str = "subgroup", names: Sequence[str] = ()
) -> CellMeans:
    """Means per cell of ``view`` from the five ``sums (G, 5)`` of each group pair."""
    cells = view_cells(key, view, names)
    pairs, links, weight, mass, link_mass = (_gather(cells.member, term) for term in sums.T)
    return CellMeans(
        view, cells.groups, pairs.astype(np.int64), links, weight,
        mean=_ratio(mass, weight), link_mean=_ratio(link_mass, links),
    )  # fmt: skip


def _gather(member: "csr_array", term: np.ndarray) -> np.ndarray:
    """Sums per cell of the view; a ``nan`` affects its own cells only."""
    unknown = np.isnan(term)
    total: np.ndarray = member.T @ np.where(unknown, 0.0, term)
    return np.where(member.T @ unknown.astype(np.int64) > 0, np.nan, total)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    ratio: np.ndarray = np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)
    return ratio
