"""Whether some cells rank above others: ``rdp``."""

import numpy as np

from linkparity.metrics.intervals.delong import against_rest, largest_interval, levels
from linkparity.metrics.scored_pairs import NAN, Estimate, ScoredPairs
from linkparity.metrics.views import cell_labels


def rdp(scored: ScoredPairs) -> Estimate:
    r"""Largest AUC of the scores as a classifier of one cell against all others.

    .. math:: \max_c \; P(x_c > x_{\bar c}) + \tfrac12 P(x_c = x_{\bar c})

    0.5 is parity of ranks, 1 the worst: a cell scores above all others. Unlike ``dp`` it does not
    change when the scores are rescaled. Unweighted, over pairs with a group; DeLong's interval,
    simultaneous for all cells. ``nan`` with fewer than two cells.
    """
    used = scored.in_cells
    count = len(used)
    unknown = (NAN, NAN) if scored.confidence is not None else None
    occupied = np.flatnonzero(scored.means.pairs)
    if len(occupied) < 2:
        reason = f"needs pairs in two cells of the view {scored.view!r}, got {len(occupied)}"
        return Estimate(NAN, count, interval=unknown, reason=reason)
    labels = cell_labels(scored.cells.groups)
    inside = scored.cells.member[scored.code[used]].tocsc()
    bounds = [slice(*inside.indptr[c : c + 2]) for c in occupied]
    cells = ((inside.indices[part], inside.data[part]) for part in bounds)
    found = against_rest(levels(scored.rank[used]), inside.sum(axis=1), cells)
    area, variance = np.array(list(found)).T
    value = float(area.max())
    if scored.confidence is None:
        return Estimate(value, count)
    known = variance > 0
    if not known[area.argmax()]:
        name = labels[occupied[area.argmax()]]
        reason = f"DeLong's variance is 0 or unknown for {name}, where the AUC is largest"
        return Estimate(value, count, interval=unknown, reason=reason)
    interval = largest_interval(area[known], variance[known], scored.confidence, 0.5)
    left = [labels[c] for c, s in zip(occupied, variance, strict=True) if not s > 0]
    note = f"the interval leaves out {', '.join(left)}, without a variance" if left else ""
    return Estimate(value, count, interval=interval, note=note)
