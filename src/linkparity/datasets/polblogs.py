"""Political blogs of the 2004 US election, linked by hyperlinks; groups: party."""

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from linkparity.datasets.base import Card, Dataset, read_packaged

if TYPE_CHECKING:
    from linkparity.graph.graph import Graph

CARD = Card(
    name="polblogs",
    title="Political blogs before the 2004 US election, linked where one cites the other",
    nodes=1222,
    links=16714,
    attribute="party",
    groups={"left": 586, "right": 636},
    bipartite=False,
    source="https://websites.umich.edu/~mejn/netdata/",
    terms="public domain; free with citation",
    citation=(
        "L. A. Adamic and N. Glance, The political blogosphere and the 2004 US Election, "
        "WWW-2005 Workshop on the Weblogging Ecosystem (2005)"
    ),
    harms=(
        "Names the political leaning of identifiable authors; leanings come from directories and "
        "hand labels that its authors call prone to error. Links are those of front pages "
        "crawled in February 2005."
    ),
)


def read(data: str | PathLike[str] | None = None) -> "Graph":
    """The largest component of the undirected simple graph, as in the paper."""
    import torch

    whole = read_packaged(CARD.name, CARD.attribute)
    return whole.subgraph(torch.from_numpy(_largest_component(whole)))


def _largest_component(graph: "Graph") -> np.ndarray:
    """``(num_nodes,)`` bool: the nodes of the largest connected component."""
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(graph.adjacency(), directed=False)
    largest: np.ndarray = component == np.bincount(component).argmax()
    return largest


DATASET = Dataset(CARD, read)
