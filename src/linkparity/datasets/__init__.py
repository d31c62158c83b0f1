"""Data sets by name, each with a card, and a generator of graphs whose gaps are known."""

from os import PathLike
from typing import TYPE_CHECKING

from linkparity.datasets import facebook, jobs, ml100k, polblogs, polbooks
from linkparity.datasets.base import Card, Dataset
from linkparity.datasets.cache import DataError, data_directory, find
from linkparity.datasets.examples import example
from linkparity.support.errors import require
from linkparity.support.lazy_names import lazy_names
from linkparity.support.registry import Registry

if TYPE_CHECKING:
    from linkparity.datasets.synthetic import BlockGraph, BlockTruth, block_model
    from linkparity.graph.graph import Graph

__all__ = [
    "DATASETS",
    "BlockGraph",
    "BlockTruth",
    "Card",
    "DataError",
    "Dataset",
    "block_model",
    "data_directory",
    "example",
    "load",
    "on_disk",
]

__getattr__ = lazy_names(
    __name__, dict.fromkeys(("BlockGraph", "BlockTruth", "block_model"), "synthetic")
)

DATASETS: Registry[Dataset] = Registry(
    "data set",
    {
        "polblogs": polblogs.DATASET,
        "polbooks": polbooks.DATASET,
        "ml100k": ml100k.DATASET,
        "facebook": facebook.DATASET,
        "jobs": jobs.DATASET,
    },
)


def load(name: str, data: str | PathLike[str] | None = None) -> "Graph":
    """Load the data set ``name`` as a graph with the counts of its card.

    The data directory is ``data``, else ``$LINKPARITY_DATA``, else the user's cache directory; it
    may hold the published archive or its files. A missing archive is downloaded to it.

    >>> load("polbooks")
    Graph(105 nodes, 441 links, leaning: conservative 49, liberal 43, neutral 13)
    """
    chosen = DATASETS[name]
    require("torch", "load")
    return chosen.load(data)


def on_disk(name: str, data: str | PathLike[str] | None = None) -> bool:
    """Whether :func:`load` works without a download."""
    archive = DATASETS[name].archive
    return archive is None or find(archive, data) is not None
