"""A table of scores as scored pairs."""

from typing import Any

import numpy as np

from linkparity.criteria.group_pairs import reading_order
from linkparity.metrics.intervals.estimates import IntervalOptions
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.pairs.arrays import ArrayPairs, Columns, weight_unit
from linkparity.pairs.source import Kinds, Nodes, PairSource
from linkparity.pairs.spark import SparkPairs
from linkparity.pairs.spark_tasks import RowDecoder
from linkparity.reading.groups import NO_GROUP
from linkparity.reading.pair_table import PairTable
from linkparity.reading.scores import ArrayTable
from linkparity.reading.spark_place import SparkTable


def pairs_of(table: PairTable) -> PairSource:
    """The rows that count."""
    codes = np.flatnonzero(table.counts)
    groups, label = table.groups(codes)
    known = (groups >= 0).any(axis=1)
    key = np.unique(groups[known], axis=0)
    key = key[reading_order(key)]
    place = {tuple(each): number for number, each in enumerate(key.tolist())}
    pair = np.array([place.get(tuple(each), NO_GROUP) for each in groups.tolist()], dtype=np.int64)
    if not table.labelled:
        label = np.zeros_like(label)
    kinds = Kinds(key, pair, label, table.names, table.labelled, table.options.directed)
    recode = np.zeros(len(table.counts), dtype=np.min_scalar_type(max(len(codes), 1)))
    recode[codes] = np.arange(len(codes))
    options = table.options
    nodes = Nodes(table.ends.count, table.ends.group, options.directed and not options.bipartite)
    other_logits = table.other is not None and table.other.columns.logits
    if isinstance(table, SparkTable):
        weighted = table.columns.weight is not None
        unit = weight_unit(table.largest_weight) if weighted else 1.0
        decoder = RowDecoder(recode, table.columns.logits, unit, other_logits)
        rows = int(table.counts.sum())
        return SparkPairs(table.frame, decoder, kinds, rows, nodes, weighted)
    assert isinstance(table, ArrayTable)
    columns = Columns(
        table.code, table.score, table.columns.logits, table.logit, table.weight,
        table.first, table.second, table.before,
        other_logits, table.used, recode,
    )  # fmt: skip
    return ArrayPairs(columns, kinds, nodes, table.duck.workspace.path)


def scored_table(
    table: PairTable, options: IntervalOptions, views: tuple[str, ...], criterion: object = "dp"
) -> ScoredPairs:
    """The rows that count, and how they are measured."""
    more: dict[str, Any] = {"by_node": options.by_node, "views": views, "name": table.given.name}
    return ScoredPairs(
        pairs_of(table), criterion, "subgroup", options.confidence, options.seed,
        options.min_pairs, **more,
    )  # fmt: skip
