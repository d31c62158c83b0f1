"""The pairs that the measures of a run were taken on, as a table that ``audit`` reads."""

from typing import Any

import numpy as np

from linkparity.graph.graph import Graph
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.pairs.source import Chunk, Kinds
from linkparity.reading.column_rules import ENDS
from linkparity.reading.duckdb import Format
from linkparity.reading.files import format_of
from linkparity.reading.tables import write_arrow
from linkparity.support.errors import InputError
from linkparity.support.files import STREAM, check_output
from linkparity.support.randomness import random_distinct, stream

#: Rows of the table at most; of more pairs, a sample of every pair of groups and label.
MAX_ROWS = 10_000_000


def check_pairs_table(out: str, force: bool, inputs: tuple[str | None, ...] = ()) -> Format:
    """The format of the table; refuse a name that cannot be written, before any work."""
    check_output(out, force, inputs)
    return format_of("out.csv" if out == STREAM else out)


def save_pairs_table(
    out: str, force: bool, sets: dict[str, ScoredPairs], graph: Graph, with_groups: bool = False
) -> int:
    """Write ``source, target, label, weight, score``; return the number of rows.

    Every measure that is taken on these pairs can be recomputed from the table: dp and kl with
    the weights, the others without.

    Args:
        out: the file, ``-`` for stdout.
        force: whether an older file may be replaced.
        sets: what :func:`~linkparity.metrics.evaluation.scored_sets` made, with nodes.
        graph: for the ids of nodes, and their groups.
        with_groups: whether to add the groups of both ends, as ``source_COL`` and ``target_COL``.
    """
    shape = check_pairs_table(out, force)
    scored = sets["means" if "means" in sets else "test"]
    rows = sample_rows(scored, MAX_ROWS)
    if not len(rows):
        problem = "there are no test pairs to write"
        raise InputError(problem, "hold out some links", argument="save_test")
    table = _table(rows, scored.source.kinds, graph, with_groups)
    write_arrow(table, out, force, shape)
    return len(rows)


def _table(rows: Chunk, kinds: Kinds, graph: Graph, with_groups: bool) -> Any:
    import pyarrow as pa

    from linkparity.experiments.predict import id_column

    names = graph.names if graph.names is not None else range(graph.num_nodes)
    ids, nodes = id_column(list(names)), (np.asarray(rows.first), np.asarray(rows.second))
    columns = {name: ids.take(pa.array(end)) for name, end in zip(ENDS, nodes, strict=True)}
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    columns |= {"label": pa.array(kinds.label[rows.kind].astype(np.int8)), "weight": weight}
    columns |= {"score": rows.prob}
    if with_groups:
        group = graph.group.numpy()
        values = pa.array([*graph.group_names, None])
        name = graph.attribute or "group"
        for side, end in zip(ENDS, nodes, strict=True):
            columns[f"{side}_{name}"] = values.take(pa.array(group[end] % len(values)))
    return pa.table(columns)


def sample_rows(scored: ScoredPairs, most: int) -> Chunk:
    """At most about ``most`` of the pairs, equally many of every pair of groups and label.

    A sampled pair weighs as much as those that it represents.
    """
    rows = scored.rows
    if len(rows) <= most:
        return rows
    _, stratum, sizes = np.unique(rows.kind, return_inverse=True, return_counts=True)
    share, generator = max(1, most // len(sizes)), stream(scored.seed, "test table")
    order = np.argsort(stratum, kind="stable")
    starts = np.cumsum(sizes) - sizes
    chosen = [
        order[start + random_distinct(min(size, share), size, generator).numpy()]
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]
    at = np.sort(np.concatenate(chosen))
    represented = (sizes / np.minimum(sizes, share))[stratum[at]]
    weight = represented if rows.weight is None else rows.weight[at] * represented
    ends = (None if end is None else end[at] for end in (rows.first, rows.second))
    return Chunk(rows.kind[at], rows.score[at], rows.logits, None, weight, *ends)
