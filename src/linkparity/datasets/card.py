"""What is known of a data set: counts, attribute, source, terms, citation, harms."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike

from linkparity.datasets.cache import Archive
from linkparity.graph.graph import Graph


@dataclass(frozen=True)
class Card:
    """A data set in words and counts.

    Attributes:
        name: what :func:`linkparity.load` calls it.
        title: one line.
        nodes: how many.
        links: how many.
        attribute: what the groups are groups of.
        groups: nodes per group, by name and in order.
        bipartite: whether links join two sides.
        source: address of the page that publishes it.
        terms: what its publishers allow.
        citation: whom to cite.
        harms: what is known to be wrong or risky about it.
    """

    name: str
    title: str
    nodes: int
    links: int
    attribute: str
    groups: dict[str, int]
    bipartite: bool
    source: str
    terms: str
    citation: str
    harms: str


@dataclass(frozen=True)
class Dataset:
    """A card, how to read the graph, and the archive it is in (None: carried in the package)."""

    card: Card
    read: Callable[[str | PathLike[str] | None], Graph]
    archive: Archive | None = None

    def load(self, data: str | PathLike[str] | None = None) -> Graph:
        """Read the graph and hold it against the counts of its card."""
        graph = self.read(data)
        sizes = [int((graph.group == g).sum()) for g in range(graph.num_groups)]
        groups = dict(zip(graph.group_names, sizes, strict=True))
        got = (graph.num_nodes, graph.num_links, groups)
        if got != (self.card.nodes, self.card.links, self.card.groups):
            raise RuntimeError(
                f"load: {self.card.name} should have {self.card.nodes} nodes, {self.card.links} "
                f"links and the groups {self.card.groups}, read {got}; please report this"
            )
        return graph
