"""Views (which group pairs form one cell), means per cell, and the gaps between the means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkparity.pairs.source import membership
from linkparity.support.arrays import whole_number
from linkparity.support.display import Grid, cell_label, counted, format_number, or_none
from linkparity.support.errors import InputError
from linkparity.support.registry import Registry

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Pairs (links, for eo) behind a mean that is named in words.
RELIABLE = 30
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
    labels = [cell_label(names) for names in groups]
    return labels if len(set(labels)) == len(labels) else [str(names) for names in groups]


def about_groups(text: str) -> str:
    """Text about pairs of groups, where a cell is one group: a side of the graph has none.

    >>> about_groups("Within a pair of groups; two group pairs' means")
    "Within a group; two groups' means"
    """
    for plural in ("s", ""):
        text = text.replace(f"pair{plural} of groups", f"group{plural}")
    return text.replace("group pair", "group")


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
    return ViewCells(membership(np.arange(len(key))[:, None], len(key)), groups)


def _mixed(key: np.ndarray, names: Sequence[str]) -> ViewCells:
    cell = np.full(len(key), -1)
    if key.shape[1] == 2:
        both = (key >= 0).all(axis=1)
        cell[both] = key[both, 0] != key[both, 1]
    return ViewCells(membership(cell[:, None], 2), (("within",), ("between",)))


def _group(key: np.ndarray, names: Sequence[str]) -> ViewCells:
    size = int(key.max(initial=-1)) + 1
    # All of few groups; of numbers like years only those that occur.
    groups = np.arange(size) if size <= len(key) else np.unique(key[key >= 0])
    cell = np.where(key >= 0, np.searchsorted(groups, key), -1)
    return ViewCells(
        membership(cell, len(groups)), tuple((_name(g, names),) for g in groups.tolist())
    )


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

    @property
    def dp(self) -> float:
        """Largest gap between weighted mean predictions."""
        return gap(self.mean)

    @property
    def eo(self) -> float:
        """Largest gap between mean predictions over true links."""
        return gap(self.link_mean)


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


def check_min_pairs(value: object, caller: str) -> int:
    """The number of pairs that a cell must have to count: whole, and not negative."""
    least = whole_number(value, "min_pairs", caller)
    if least < 0:
        raise InputError(f"must be at least 0, got {least}", argument="min_pairs", caller=caller)
    return least


@dataclass(frozen=True)
class GapEnd:
    """A pair of groups at one end of a gap: its mean, and the pairs or links behind it."""

    groups: tuple[str, ...]
    mean: float
    count: int

    def __str__(self) -> str:
        return f"{cell_label(self.groups)} ({format_number(self.mean)})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"groups": list(self.groups), "mean": self.mean, "count": self.count}


@dataclass(frozen=True)
class GapDetails:
    r"""What makes ``dp`` or ``eo``.

    .. math:: \text{weighted} = \sum_{c,c'} \frac{W_c W_{c'}}{W^2} |\bar h_c - \bar h_{c'}|

    The largest gap is between two pairs of groups, which may have few pairs. ``weighted`` is the
    expected difference between the means of two random pairs' groups: 0 is parity, and it is at
    most the largest gap.

    Attributes:
        high: the pair of groups with the highest mean; None with fewer than two.
        low: the one with the lowest mean.
        weighted: the gap weighted by pairs (for eo, by links); ``nan`` with fewer than two.
        reliable: the highest and the lowest among those with at least 30 pairs (links), if any.
        unit: ``"pairs"`` or ``"links"``.
    """

    high: GapEnd | None
    low: GapEnd | None
    weighted: float
    reliable: tuple[GapEnd, GapEnd] | None
    unit: str = "pairs"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; what is undefined is None."""
        reliable = None
        if self.reliable is not None:
            high, low = self.reliable
            reliable = {"value": high.mean - low.mean, "high": high.to_dict(), "low": low.to_dict()}
        return {
            "high": self.high and self.high.to_dict(),
            "low": self.low and self.low.to_dict(),
            "weighted": or_none(self.weighted),
            "reliable": reliable,
        }

    def sentence(self, name: str) -> str:
        """The largest gap that is not made by a few pairs, in words; empty if it is the gap."""
        if self.reliable == (self.high, self.low):
            return ""
        if self.reliable is None:
            return f"{name}: fewer than two pairs of groups have {RELIABLE} {self.unit} or more."
        high, low = self.reliable
        value = format_number(high.mean - low.mean)
        return (
            f"{name} among pairs of groups with at least {RELIABLE} {self.unit}: {value}, between "
            f"{high}, {counted(high.count, self.unit[:-1])}, and {low}, "
            f"{counted(low.count, self.unit[:-1])}."
        )


def gap_details(means: CellMeans, links: bool = False, min_pairs: int = 0) -> GapDetails:
    """What makes the gap between the means of cells.

    Args:
        means: of the cells.
        links: whether the means are those over true links.
        min_pairs: number of pairs (links) that a cell must have to count.
    """
    mean, count = (means.link_mean, means.links) if links else (means.mean, means.pairs)
    weight = means.links if links else means.weight
    known = np.flatnonzero(~np.isnan(mean) & (count >= min_pairs))

    def ends(cells: np.ndarray) -> tuple[GapEnd, GapEnd] | None:
        if len(cells) < 2:
            return None
        two = cells[mean[cells].argmax()], cells[mean[cells].argmin()]
        high, low = (GapEnd(means.groups[c], float(mean[c]), int(count[c])) for c in two)
        return high, low

    high, low = ends(known) or (None, None)
    weighted = mean_difference(mean[known], weight[known]) if high is not None else float("nan")
    reliable = ends(known[count[known] >= RELIABLE])
    return GapDetails(high, low, weighted, reliable, "links" if links else "pairs")


def all_gap_details(means: CellMeans, labelled: bool, min_pairs: int = 0) -> dict[str, GapDetails]:
    """What makes dp, and eo where labels are known."""
    found = {"dp": gap_details(means, min_pairs=min_pairs)}
    return found | ({"eo": gap_details(means, True, min_pairs)} if labelled else {})


def mean_difference(mean: np.ndarray, weight: np.ndarray) -> float:
    r"""Expected difference :math:`\sum_{c,c'} w_c w_{c'} |m_c - m_{c'}| / W^2`, by sorting.

    >>> round(mean_difference(np.array([0.2, 0.4]), np.array([1.0, 3.0])), 6)
    0.075
    """
    order = np.argsort(mean)
    values, share = mean[order], weight[order] / weight.sum()
    below = np.cumsum(share) - share
    mass = np.cumsum(share * values) - share * values
    return float(2 * (share * (values * below - mass)).sum())


def gaps_grid(gaps: dict[str, GapDetails], values: dict[str, float]) -> Grid:
    """One row per gap: its ends, and the gap weighted by pairs."""
    rows = [
        [name, format_number(values[name]), str(each.high), str(each.low),
         format_number(each.weighted)]
        for name, each in gaps.items()
        if each.high is not None
    ]  # fmt: skip
    columns = ("gap", "value", "highest mean", "lowest mean", "weighted by pairs")
    return Grid(columns, rows, "what makes each gap")
