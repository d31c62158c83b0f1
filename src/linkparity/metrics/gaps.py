"""Gaps between mean predictions: ``dp`` over all pairs, ``eo`` over true links."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkparity.metrics.cell_sums import gap
from linkparity.metrics.intervals.bootstrap import gap_interval, resampled_sums
from linkparity.metrics.scored_pairs import NAN, Estimate, ScoredPairs
from linkparity.metrics.views import ViewCells, cell_labels

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Draw = Callable[[], tuple[np.ndarray, np.ndarray]]


def dp(scored: ScoredPairs) -> Estimate:
    r"""Demographic parity: largest gap between two cells' weighted mean predictions.

    .. math:: \max_{c,c'} |\bar h_c - \bar h_{c'}|, \quad
       \bar h_c = \tfrac{1}{W_c} \sum_{k \in c} w_k h_k

    0 is parity on this measure, 1 the worst. Cells without a pair have no mean and are left out;
    with fewer than two cells left the answer is ``nan``. The interval is bootstrapped.
    """
    return _gap(scored, scored.weight, np.ones(len(scored.prob), dtype=bool), "pairs")


def eo(scored: ScoredPairs) -> Estimate:
    r"""Equal opportunity: largest gap between two cells' mean predictions over true links.

    .. math:: \max_{c,c'} |\bar h_c - \bar h_{c'}|, \quad
       \bar h_c = \frac{1}{|E_c|} \sum_{k \in E_c} h_k

    0 is parity on this measure, 1 the worst. Unweighted. Cells without a link have no mean and are
    left out; with fewer than two cells left the answer is ``nan``. The interval is bootstrapped.
    """
    if scored.label is None:
        unknown = (NAN, NAN) if scored.confidence is not None else None
        return Estimate(NAN, 0, "links", unknown, "no labels were given")
    return _gap(scored, np.ones(len(scored.prob)), scored.label == 1, "links")


def _gap(scored: ScoredPairs, weight: np.ndarray, among: np.ndarray, unit: str) -> Estimate:
    rows = scored.in_cells
    rows = rows[among[rows]]
    means = scored.means.mean if unit == "pairs" else scored.means.link_mean
    value = gap(means)
    if np.isnan(value):
        cells = int((~np.isnan(means)).sum())
        reason = f"needs {unit} in two cells of the view {scored.view!r}, got {cells}"
        interval = (NAN, NAN) if scored.confidence is not None else None
        return Estimate(value, len(rows), unit, interval, reason)
    if scored.confidence is None:
        return Estimate(value, len(rows), unit)
    code, view = scored.code[rows], scored.cells
    size = _effective_size(weight[rows], code, view.member)

    def draw() -> tuple[np.ndarray, np.ndarray]:
        generator = np.random.default_rng(scored.seed)
        given = (scored.prob[rows], weight[rows], code, view.member.shape[0])
        return resampled_sums(*given, generator=generator)

    about = GapOf(means, view, size, len(rows), unit)
    return gap_estimate(about, draw, scored.confidence)


@dataclass(frozen=True, eq=False)
class GapOf:
    """What a gap's interval rests on.

    Attributes:
        means: ``(M,)`` of the cells, ``nan`` where empty.
        cells: of the view.
        size: ``(M,)`` effective number of pairs in each.
        count: pairs or links in all.
        unit: which of the two.
    """

    means: np.ndarray
    cells: ViewCells
    size: np.ndarray
    count: int
    unit: str


def gap_estimate(about: GapOf, draw: Draw, confidence: float) -> Estimate:
    """The gap with its bootstrap interval, or with the reason why there is none.

    ``draw`` gives ``(B, G)`` drawn sums of w h and of w per group pair.
    """
    means, member, size, unit = about.means, about.cells.member, about.size, about.unit
    lone = np.flatnonzero(~np.isnan(means) & (size < 2))
    labels = cell_labels(about.cells.groups)
    names = ", ".join(labels[c] for c in lone)
    value, count = gap(means), about.count
    if np.nanargmax(means) in lone or np.nanargmin(means) in lone:
        reason = f"an end of the gap rests on a single pair's worth of {unit} ({names})"
        return Estimate(value, count, unit, (NAN, NAN), reason)
    mass, total = draw()
    used = np.flatnonzero(size >= 2)
    mean, n = means[used], size[used]
    off = (mass @ member[:, used]) / (total @ member[:, used]) - mean
    interval = gap_interval(mean, mean + off * np.sqrt((n + 1) / (n - 1)), confidence)
    note = f"the interval leaves out {names}: a single pair's worth of {unit}" if names else ""
    return Estimate(value, count, unit, interval, note=note)


def _effective_size(weight: np.ndarray, code: np.ndarray, member: "csr_array") -> np.ndarray:
    r"""Kish's number of pairs per cell, :math:`(\sum w)^2 / \sum w^2`; 0 where empty."""
    groups = member.shape[0]
    total = np.bincount(code, weight, groups) @ member
    square = np.bincount(code, weight**2, groups) @ member.power(2)
    size: np.ndarray = np.divide(total**2, square, out=np.zeros_like(total), where=square > 0)
    return size
