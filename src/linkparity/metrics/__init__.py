"""Measures of link predictions and of disparity between groups, one line each in the table."""

from collections.abc import Callable

from linkparity.metrics.divergence import kl
from linkparity.metrics.parity import dp, eo
from linkparity.metrics.rank_parity import rdp
from linkparity.metrics.ranking import ap, auc
from linkparity.metrics.representation import rb
from linkparity.metrics.scored import Estimate, ScoredPairs
from linkparity.metrics.sums import CellMeans, CellSums, gap
from linkparity.metrics.views import VIEWS
from linkparity.registry import Registry

__all__ = ["METRICS", "VIEWS", "CellMeans", "CellSums", "Estimate", "ScoredPairs", "gap"]

#: Every measure by its name: scored pairs in, an estimate out.
METRICS: Registry[Callable[[ScoredPairs], Estimate]] = Registry(
    "metric",
    {"auc": auc, "ap": ap, "dp": dp, "eo": eo, "rdp": rdp, "rb": rb, "kl": kl},
)
