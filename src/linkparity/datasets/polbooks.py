"""Books on US politics, linked where bought together; groups: leaning, three of them."""

from os import PathLike
from typing import TYPE_CHECKING

from linkparity.datasets.base import Card, Dataset, read_packaged

if TYPE_CHECKING:
    from linkparity.graph.graph import Graph

CARD = Card(
    name="polbooks",
    title="Books on US politics, linked where a seller's customers often bought both",
    nodes=105,
    links=441,
    attribute="leaning",
    groups={"conservative": 49, "liberal": 43, "neutral": 13},
    bipartite=False,
    source="https://websites.umich.edu/~mejn/netdata/",
    terms="public domain; free with citation",
    citation="V. Krebs, unpublished, orgnet.com; leanings by M. E. J. Newman",
    harms=(
        "Leanings were assigned by one reader of descriptions and reviews. Small and easy: a "
        "method that works here has shown little. Not among the paper's data sets."
    ),
)


def read(data: str | PathLike[str] | None = None) -> "Graph":
    """The whole graph, as published."""
    return read_packaged(CARD.name, CARD.attribute)


DATASET = Dataset(CARD, read)
