"""The table of measures: one line each."""

from collections.abc import Callable

from linkparity.metrics.auc import ap, auc
from linkparity.metrics.gaps import dp, eo
from linkparity.metrics.kl import kl
from linkparity.metrics.rb import rb
from linkparity.metrics.rdp import rdp
from linkparity.metrics.scored_pairs import Estimate, ScoredPairs
from linkparity.support.registry import Registry

#: Every measure by its name: scored pairs in, an estimate out.
METRICS: Registry[Callable[[ScoredPairs], Estimate]] = Registry(
    "metric",
    {"auc": auc, "ap": ap, "dp": dp, "eo": eo, "rdp": rdp, "rb": rb, "kl": kl},
)
