"""Tables of pairs to score: their nodes are those that a model was trained on."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from linkparity.reading.columns import Columns, ReadOptions
from linkparity.reading.duckdb import Duck, Input, text
from linkparity.reading.faults import Faults
from linkparity.reading.links import NO_GROUPS, check_header
from linkparity.reading.nodes import Ends, NodeTable, locate, nearest_ids
from linkparity.reading.scores import ArrayReader, ArrayTable
from linkparity.reading.sql import Column
from linkparity.reading.untidy_errors import such
from linkparity.support.errors import InputError
from linkparity.support.registry import did_you_mean


def read_known_pairs(
    duck: Duck,
    pairs: Input,
    columns: Columns,
    options: ReadOptions,
    names: Sequence[object],
    side: np.ndarray | None,
) -> ArrayTable:
    """Read pairs of nodes that a model was trained on; a pair may occur more than once.

    Args:
        duck: where the table is.
        pairs: the table of pairs.
        columns: which column holds what.
        options: what happens to unknown nodes, ``"error"`` or ``"drop"``, and to self-loops.
        names: the id of each node.
        side: ``(n,)`` 0 for sources, 1 for targets, if there are two kinds of nodes.
    """
    options = replace(options, bipartite=side is not None)
    ends = _number_nodes(duck, names, side)
    check_header(duck, pairs, columns)
    source, target = (Column.of(pairs, name).as_text for name in (columns.source, columns.target))
    faults = Faults(("{self_loops=drop}", "{unknown=drop}"))
    nodes = NodeTable(pairs, columns.source, len(names))
    reader = _KnownPairs(duck, pairs, columns, options, NO_GROUPS, False, ends, (nodes, source))
    table = reader.rows((source, target), faults)
    faults.raise_any()
    return table


def _number_nodes(duck: Duck, names: Sequence[object], side: np.ndarray | None) -> Ends:
    """Tables of ids with the places of ``names`` as their numbers; ``side`` as above."""
    import pyarrow as pa

    count = len(names)
    listed = {
        "node": pa.array(list(map(_text, names)), pa.string()),
        "number": np.arange(count, dtype=np.int32), "row": np.arange(count),
        "side": np.zeros(count, dtype=np.int8) if side is None else side,
    }  # fmt: skip
    duck.run(f"CREATE TABLE listed_nodes AS SELECT * FROM {duck.lookup(pa.table(listed))}")
    tables = ("ends_0", "ends_0" if side is None else "ends_1")
    for number, table in enumerate(dict.fromkeys(tables)):
        duck.run(
            f"CREATE TABLE {table} AS SELECT node AS id, min(number) AS number "
            f"FROM listed_nodes WHERE side = {number} GROUP BY node"
        )
    return Ends(tables, count, count, np.zeros(count, dtype=np.int64))


def _text(node: object) -> str:
    """An id as text, as :attr:`Column.as_text` has it."""
    return str(int(node)) if isinstance(node, float) and node.is_integer() else str(node)


class _KnownPairs(ArrayReader):
    """Reads pairs of nodes that a model was trained on."""

    may_be_bipartite = False

    def unknown(self, row: int, count: int) -> InputError:
        """A row has a node that was not trained on, or as an end of the other kind."""
        end = 0 if self.first[row] < 0 else 1
        columns = (self.columns.source, self.columns.target)
        where, node = locate(self.duck, self.given, row, columns[end])
        sql = f"SELECT 1 FROM listed_nodes WHERE node = {text(_text(node))} LIMIT 1"
        if self.duck.rows(sql):
            kind, other = ("target", "source") if end == 0 else ("source", "target")
            return InputError(
                f"node {node!r} was trained on as a {kind}, not as a {other}",
                f"put sources in column {columns[0]!r} and targets in column {columns[1]!r}",
                where=where,
            )
        assert self.nodes is not None
        hint = did_you_mean(str(node), nearest_ids(self.duck, self.nodes))
        fix = f"{hint}write ids alike, or leave such rows out with {{unknown=drop}}"
        return InputError(f"node {node!r} was not trained on{such(count)}", fix, where=where)
