"""Data sets by name, each with a card, and a generator whose truth is known."""

from os import PathLike

from linkparity.datasets import facebook, ml100k, polblogs, polbooks
from linkparity.datasets.archive import DataError
from linkparity.datasets.cache import data_directory, find
from linkparity.datasets.card import Card, Dataset
from linkparity.datasets.synthetic import BlockGraph, BlockTruth, block_model
from linkparity.graph.graph import Graph
from linkparity.support.registry import Registry

__all__ = [
    "DATASETS",
    "BlockGraph",
    "BlockTruth",
    "Card",
    "DataError",
    "Dataset",
    "block_model",
    "data_directory",
    "load",
    "on_disk",
]

DATASETS: Registry[Dataset] = Registry(
    "data set",
    {
        "polblogs": polblogs.DATASET,
        "polbooks": polbooks.DATASET,
        "ml100k": ml100k.DATASET,
        "facebook": facebook.DATASET,
    },
)


def load(name: str, data: str | PathLike[str] | None = None) -> Graph:
    """The data set ``name`` as a graph, with the counts that its card states.

    Looked for in ``data``, else ``$LINKPARITY_DATA``, else the user's cache directory, as the
    published archive or as its files; downloaded to there if it is missing.

    >>> load("polbooks")
    Graph(105 nodes, 441 links, leaning: conservative 49, liberal 43, neutral 13)
    """
    return DATASETS[name].load(data)


def on_disk(name: str, data: str | PathLike[str] | None = None) -> bool:
    """Whether :func:`load` would need no network."""
    archive = DATASETS[name].archive
    return archive is None or find(archive, data) is not None
