"""Data sets: a card each, the archive it is in, and the reader of packaged ones."""

import csv
import gzip
import io
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from linkparity.datasets.cache import Archive, packaged

if TYPE_CHECKING:
    from linkparity.graph.graph import Graph


@dataclass(frozen=True)
class Card:
    """Description of a data set.

    Attributes:
        name: its name for :func:`linkparity.load`.
        title: one line.
        nodes: number of nodes.
        links: number of links.
        attribute: what the groups are groups of.
        groups: number of nodes by group name, in order.
        bipartite: whether links join two sides.
        source: address of the page that publishes it.
        terms: terms of use.
        citation: the work to cite.
        harms: known errors and risks.
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
    """A card, a function that reads the graph, and its archive (None: carried in the package)."""

    card: Card
    read: "Callable[[str | PathLike[str] | None], Graph]"
    archive: Archive | None = None

    def load(self, data: str | PathLike[str] | None = None) -> "Graph":
        """Read the graph and compare it with the counts of its card."""
        graph = self.read(data)
        sizes = [int((graph.group == g).sum()) for g in range(graph.num_groups)]
        groups = dict(zip(graph.group_names, sizes, strict=True))
        found = (graph.num_nodes, graph.num_links, groups)
        if found != (self.card.nodes, self.card.links, self.card.groups):
            raise RuntimeError(
                f"load: {self.card.name} should have {self.card.nodes} nodes, {self.card.links} "
                f"links and the groups {self.card.groups}, read {found}; please report this"
            )
        return graph


def read_packaged(name: str, attribute: str) -> "Graph":
    """The graph in ``files/name-links.csv.gz`` and ``-nodes.csv.gz``; undirected and simple."""
    links = packaged_rows(f"{name}-links.csv.gz")
    nodes = packaged_rows(f"{name}-nodes.csv.gz")
    names = sorted({row[attribute] for row in nodes})
    group = [names.index(row[attribute]) for row in nodes]
    labels = tuple(row["label"] for row in nodes)
    pairs = [(int(row["source"]), int(row["target"])) for row in links]
    return simple_graph(pairs, group, tuple(names), labels, attribute)


def simple_graph(
    links: Sequence[tuple[int, int]],
    group: Sequence[int],
    group_names: tuple[str, ...],
    names: tuple[Hashable, ...],
    attribute: str,
) -> "Graph":
    """The graph of links that may be repeated, or join a node to itself."""
    import torch

    from linkparity.graph.graph import Graph
    from linkparity.graph.validation import simple_links

    once, _ = simple_links(torch.tensor(links), len(group))
    return Graph(len(group), once, torch.tensor(group), group_names, None, names, attribute)


def packaged_rows(name: str) -> list[dict[str, str]]:
    """The rows of a packaged table."""
    text = gzip.decompress(packaged(name)).decode()
    return list(csv.DictReader(io.StringIO(text)))
