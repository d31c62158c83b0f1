"""Graphs with groups, pairs of their nodes, and the split into training and test pairs."""

from linkparity.graph.graph import Graph
from linkparity.graph.pairs import Pairs, PairSpace, all_pairs, sample_nonlinks, sample_pairs
from linkparity.graph.split import Split, SplitWarning, split_links
from linkparity.reading.groups import GraphWarning

__all__ = [
    "Graph",
    "GraphWarning",
    "PairSpace",
    "Pairs",
    "Split",
    "SplitWarning",
    "all_pairs",
    "sample_nonlinks",
    "sample_pairs",
    "split_links",
]
