"""Gaps between mean predictions: ``dp`` over all pairs, ``eo`` over true links."""

import numpy as np

from linkparity.metrics.cell_means import cell_labels
from linkparity.metrics.intervals.estimates import (
    NAN,
    Estimate,
    gap_estimate,
    no_interval,
)
from linkparity.metrics.scored_pairs import LINKS, PAIRS, ScoredPairs


def dp(scored: ScoredPairs) -> Estimate:
    r"""Demographic parity: largest gap between two cells' weighted mean predictions.

    .. math:: \max_{c,c'} |\bar h_c - \bar h_{c'}|, \quad
       \bar h_c = \tfrac{1}{W_c} \sum_{k \in c} w_k h_k

    0 is parity on this measure, 1 the worst. Cells without weight have no mean and are left out;
    with fewer than two cells left the gap is ``nan``. So are cells of fewer than
    ``scored.min_pairs`` pairs.
    """
    return _gap(scored, PAIRS)


def eo(scored: ScoredPairs) -> Estimate:
    r"""Equal opportunity: largest gap between two cells' mean predictions over true links.

    .. math:: \max_{c,c'} |\bar h_c - \bar h_{c'}|, \quad
       \bar h_c = \frac{1}{|E_c|} \sum_{k \in E_c} h_k

    0 is parity on this measure, 1 the worst. Unweighted. Cells without a link have no mean and are
    left out; with fewer than two cells left the gap is ``nan``.
    """
    if not scored.labelled:
        reason = "no labels were given"
        return Estimate(NAN, 0, LINKS, no_interval(scored.confidence), reason)
    return _gap(scored, LINKS)


def _gap(scored: ScoredPairs, unit: str) -> Estimate:
    means, totals = scored.means, scored.totals
    mean = means.mean if unit == PAIRS else means.link_mean
    small = means.small(scored.min_pairs, links=unit == LINKS)
    counted = scored.member @ (~small).astype(np.int64) > 0
    rows = totals.heavy if unit == PAIRS else totals.plain.count * (scored.source.kinds.label == 1)
    spread = None if scored.confidence is None else scored.spread(unit)
    size = (int(rows[counted].sum()), unit)
    labels = cell_labels(scored.cells.groups)
    return gap_estimate(
        mean, spread, labels, size, scored.view, scored.confidence, scored.seed, small
    )
