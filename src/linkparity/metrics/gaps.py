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

    0 is parity on this measure, 1 the worst. Cells without weight have no mean and are left out;
    with fewer than two cells left the gap is ``nan``. The interval is bootstrapped.
    """
    return _gap(scored, scored.weight, scored.weight > 0, "pairs")


def eo(scored: ScoredPairs) -> Estimate:
    r"""Equal opportunity: largest gap between two cells' mean predictions over true links.

    .. math:: \max_{c,c'} |\bar h_c - \bar h_{c'}|, \quad
       \bar h_c = \frac{1}{|E_c|} \sum_{k \in E_c} h_k

    0 is parity on this measure, 1 the worst. Unweighted. Cells without a link have no mean and are
    left out; with fewer than two cells left the gap is ``nan``. The interval is bootstrapped.
    """
    if scored.label is None:
        unknown = (NAN, NAN) if scored.confidence is not None else None
        return Estimate(NAN, 0, "links", unknown, "no labels were given")
    return _gap(scored, np.ones(len(scored.prob)), scored.label == 1, "links")


def _gap(scored: ScoredPairs, weight: np.ndarray, counted: np.ndarray, unit: str) -> Estimate:
    rows = scored.in_cells[counted[scored.in_cells]]
    means = scored.means.mean if unit == "pairs" else scored.means.link_mean
    prob, weight, code, cells = scored.prob[rows], weight[rows], scored.code[rows], scored.cells
    groups = cells.member.shape[0]
    sums = (np.bincount(code, weight, groups), np.bincount(code, weight**2, groups))

    def draw() -> tuple[np.ndarray, np.ndarray]:
        generator = np.random.default_rng(scored.seed)
        return resampled_sums(prob, weight, code, groups, generator=generator)

    given = CellGap(means, cells, effective_size(*sums, cells.member), len(rows), unit, scored.view)
    return gap_estimate(given, draw, scored.confidence)


@dataclass(frozen=True, eq=False)
class CellGap:
    """Means of cells, and what the interval of their gap is computed from.

    Attributes:
        means: ``(M,)`` of the cells, ``nan`` where empty.
        cells: Cells of the view.
        size: ``(M,)`` effective number of pairs in each.
        count: Number of pairs or links in all cells.
        unit: ``pairs`` or ``links``.
        view: Name of the view.
    """

    means: np.ndarray
    cells: ViewCells
    size: np.ndarray
    count: int
    unit: str
    view: str


def gap_estimate(given: CellGap, draw: Draw, confidence: float | None) -> Estimate:
    """The gap with its bootstrap interval, or with the reason why either is undefined.

    ``draw`` returns ``(B, G)`` resampled sums of w h and of w per group pair.
    """
    means, size, count, unit = given.means, given.size, given.count, given.unit
    value = gap(means)
    if np.isnan(value):
        cells = int((~np.isnan(means)).sum())
        reason = f"needs {unit} in two cells of the view {given.view!r}, got {cells}"
        unknown = (NAN, NAN) if confidence is not None else None
        return Estimate(value, count, unit, unknown, reason)
    if confidence is None:
        return Estimate(value, count, unit)
    single = np.flatnonzero(~np.isnan(means) & (size < 2))
    labels = cell_labels(given.cells.groups)
    names = ", ".join(labels[c] for c in single)
    if np.nanargmax(means) in single or np.nanargmin(means) in single:
        reason = f"an end of the gap has a single pair's worth of {unit} ({names})"
        return Estimate(value, count, unit, (NAN, NAN), reason)
    mass, total = draw()
    used = np.flatnonzero(size >= 2)
    mean, n, member = means[used], size[used], given.cells.member[:, used]
    off = (mass @ member) / (total @ member) - mean
    interval = gap_interval(mean, mean + off * np.sqrt((n + 1) / (n - 1)), confidence)
    note = f"the interval leaves out {names}: a single pair's worth of {unit}" if names else ""
    return Estimate(value, count, unit, interval, note=note)


def effective_size(weight: np.ndarray, square: np.ndarray, member: "csr_array") -> np.ndarray:
    r"""Kish's number of pairs per cell, :math:`(\sum w)^2 / \sum w^2`; 0 where empty.

    ``weight`` and ``square`` are the sums of w and of w² per group pair, ``(G,)``.
    """
    total, squares = weight @ member, square @ member.power(2)
    size: np.ndarray = np.divide(total**2, squares, out=np.zeros(len(total)), where=squares > 0)
    return size
