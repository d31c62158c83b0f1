"""What a gap is made of: the two pairs of groups at its ends, and the gap weighted by pairs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkparity.metrics.cell_means import CellMeans
from linkparity.support.display import Grid, counted, format_number, or_none

#: Pairs (links, for eo) behind a mean that is named in words.
RELIABLE = 30


@dataclass(frozen=True)
class GapEnd:
    """A pair of groups at one end of a gap: its mean, and the pairs or links behind it."""

    groups: tuple[str, ...]
    mean: float
    count: int

    def __str__(self) -> str:
        return f"{' – '.join(self.groups)} ({format_number(self.mean)})"

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
        """The largest gap that is not made by a few pairs, in words."""
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
