"""Graphs that the package carries, as compressed tables of links and nodes."""

import csv
import gzip
import io

import torch
from torch import Tensor

from linkparity.datasets.cache import packaged
from linkparity.graph.graph import Graph
from linkparity.graph.validation import simple_links


def read_embedded(name: str, attribute: str) -> Graph:
    """The graph ``files/name-links.csv.gz`` and ``-nodes.csv.gz``; undirected and simple."""
    nodes = _rows(f"{name}-nodes.csv.gz")
    links = [(int(row["source"]), int(row["target"])) for row in _rows(f"{name}-links.csv.gz")]
    names = sorted({row[attribute] for row in nodes})
    once, _ = simple_links(torch.tensor(links), len(nodes))
    group = torch.tensor([names.index(row[attribute]) for row in nodes])
    labels = tuple(row["label"] for row in nodes)
    return Graph(len(nodes), once, group, tuple(names), None, labels, attribute)


def largest_component(graph: Graph) -> Tensor:
    """``(num_nodes,)`` bool: the nodes of the component with most of them."""
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(graph.adjacency(), directed=False)
    label = torch.from_numpy(component).long()
    return label == torch.bincount(label).argmax()


def _rows(name: str) -> list[dict[str, str]]:
    text = gzip.decompress(packaged(name)).decode()
    return list(csv.DictReader(io.StringIO(text)))
