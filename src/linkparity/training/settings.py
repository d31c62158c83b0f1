"""How a training goes about it: checked with a sentence, and blocks or samples chosen."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from linkparity.graph.graph import Graph
from linkparity.support.validation import real_number, whole_number
from linkparity.training.contract import checked_factors

if TYPE_CHECKING:
    from linkparity.models import LinkModel

#: Nanoseconds per pair, and per pair and column of the factors; measured, see docs/training.md.
BLOCK_COST = (6.0, 0.13)
SAMPLE_COST = (50.0, 8.0)
#: Nanoseconds per pair of groups, each of which is a product of its own.
STRETCH_COST = 25_000.0
#: Pairs that blocks may hold in memory.
MOST_PAIRS = 10**8
#: Beyond, a step is no number that float32 can hold.
MOST_LR = 1e30


@dataclass(frozen=True)
class Settings:
    """How long, how fast and on which pairs; see :func:`~linkparity.train`."""

    epochs: int | None = None
    lr: float | None = None
    negatives: int = 100
    pairs: str = "sampled"
    method: str | None = None
    patience: int | None = None
    generator: torch.Generator = field(default_factory=torch.Generator)

    def __post_init__(self) -> None:
        for name, least in (("epochs", 0), ("negatives", 1), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and whole_number(value, name, "train") < least:
                raise ValueError(f"train: {name} must be at least {least}, got {value}")
        if self.lr is not None and not 0 <= real_number(self.lr, "lr", "train") <= MOST_LR:
            raise ValueError(f"train: lr must lie between 0 and {MOST_LR:g}, got {self.lr!r}")
        if self.pairs not in ("sampled", "all"):
            raise ValueError(f"train: pairs must be 'sampled' or 'all', got {self.pairs!r}")
        if self.method not in (None, "blocks", "samples"):
            raise ValueError(f"train: method must be 'blocks' or 'samples', got {self.method!r}")
        if self.pairs == "all" and self.method == "samples":
            raise ValueError("train: pairs='all' is every pair and no sample; use method='blocks'")


def check_pairs(graph: Graph) -> None:
    """Refuse a graph that has nothing to learn from."""
    if not graph.num_pairs:
        raise ValueError("train: the graph has no pair of nodes that could be a link")


def choose(model: "LinkModel", graph: Graph, settings: Settings) -> str:
    """``"blocks"`` or ``"samples"``: as asked for, else the faster for this model and size."""
    factors = checked_factors(model, graph)
    if settings.method == "samples":
        return "samples"
    if settings.method == "blocks" or settings.pairs == "all":
        if factors is None or graph.num_pairs > MOST_PAIRS:
            asked = "pairs='all'" if settings.pairs == "all" else "method='blocks'"
            raise ValueError(
                f"train: {asked} needs a model with factors and at most {MOST_PAIRS:,} pairs, "
                f"got {graph.num_pairs:,}; use sampled pairs"
            )
        return "blocks"
    if factors is None or graph.num_pairs > MOST_PAIRS:
        return "samples"
    width = factors[0].shape[1]
    rows = graph.num_nodes if graph.side is None else int((graph.side == 0).sum())
    drawn = rows * settings.negatives + graph.num_links * (1 if graph.bipartite else 2)
    blocks = graph.num_pairs * (BLOCK_COST[0] + BLOCK_COST[1] * width)
    blocks += STRETCH_COST * _group_pairs(graph)
    samples = drawn * (SAMPLE_COST[0] + SAMPLE_COST[1] * width)
    return "blocks" if blocks <= samples else "samples"


def _group_pairs(graph: Graph) -> int:
    """How many pairs of groups pairs may join; nodes without a group count as one."""
    if graph.side is None:
        count = len(torch.unique(graph.group))
        return count * (count + 1) // 2
    rows, columns = (len(torch.unique(graph.group[graph.side == side])) for side in (0, 1))
    return rows * columns
