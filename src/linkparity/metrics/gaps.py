"""Gaps between mean predictions: ``dp`` over all pairs, ``eo`` over true links."""

import numpy as np

from linkparity.metrics.cell_means import cell_labels
from linkparity.metrics.intervals.clusters import add_single_pairs
from linkparity.metrics.intervals.covariance import CellCovariance
from linkparity.metrics.intervals.estimates import (
    NAN,
    Estimate,
    gap_estimate,
    no_interval,
)
from linkparity.metrics.scored_pairs import ScoredPairs


def dp(scored: ScoredPairs) -> Estimate:
    r"""Demographic parity: largest gap between two cells' weighted mean predictions.

    .. math:: \max_{c,c'} |\bar h_c - \bar h_{c'}|, \quad
       \bar h_c = \tfrac{1}{W_c} \sum_{k \in c} w_k h_k

    0 is parity on this measure, 1 the worst. Cells without weight have no mean and are left out;
    with fewer than two cells left the gap is ``nan``. So are cells of fewer than
    ``scored.min_pairs`` pairs.
    """
    return _gap(scored, scored.weight, scored.weight > 0, "pairs")


def eo(scored: ScoredPairs) -> Estimate:
    r"""Equal opportunity: largest gap between two cells' mean predictions over true links.

    .. math:: \max_{c,c'} |\bar h_c - \bar h_{c'}|, \quad
       \bar h_c = \frac{1}{|E_c|} \sum_{k \in E_c} h_k

    0 is parity on this measure, 1 the worst. Unweighted. Cells without a link have no mean and are
    left out; with fewer than two cells left the gap is ``nan``.
    """
    if scored.label is None:
        reason = "no labels were given"
        return Estimate(NAN, 0, "links", no_interval(scored.confidence), reason)
    return _gap(scored, np.ones(len(scored.prob)), scored.label == 1, "links")


def _gap(scored: ScoredPairs, weight: np.ndarray, counted: np.ndarray, unit: str) -> Estimate:
    means = scored.means.mean if unit == "pairs" else scored.means.link_mean
    small = scored.means.small(scored.min_pairs, links=unit == "links")
    member = scored.cells.member
    large = np.append(member @ (~small).astype(np.int64) > 0, False)
    rows = scored.in_cells[(counted & large[scored.code])[scored.in_cells]]
    spread = None
    if scored.confidence is not None:
        heaviest = weight.max(initial=0.0) or 1.0  # so that fourth powers of weights are finite
        spread = cell_covariance(scored, np.where(counted, weight / heaviest, 0.0), means).result()
    labels = cell_labels(scored.cells.groups)
    size = (len(rows), unit)
    return gap_estimate(
        means, spread, labels, size, scored.view, scored.confidence, scored.seed, small
    )


def cell_covariance(scored: ScoredPairs, weight: np.ndarray, mean: np.ndarray) -> CellCovariance:
    """Of the means of the cells ``mean (M,)``, with the weights ``weight (P,)`` of the pairs."""
    member, used = scored.cells.member, scored.in_cells
    code, prob = scored.code, scored.prob
    total = np.bincount(code[used], weight[used], member.shape[0]) @ member
    if scored.clusters is not None:
        return scored.clusters.cell_covariance(prob, weight, code, member, mean, total)
    found = CellCovariance(mean, total, by_node=False)
    add_single_pairs(found, prob[used], weight[used], code[used], member)
    return found
