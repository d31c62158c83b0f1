"""The pairs that the measures of a run were taken on, as a table that ``audit`` reads."""

from dataclasses import replace
from typing import Any

import numpy as np

from linkparity.graph.graph import Graph
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.support.errors import InputError
from linkparity.support.files import STREAM, Workspace, check_output, whole_file
from linkparity.support.randomness import random_distinct, stream
from linkparity.tables.engines.base import Format
from linkparity.tables.engines.duckdb import DuckEngine
from linkparity.tables.reading.files import format_of

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
    scored = sample_pairs_of(sets["means" if "means" in sets else "test"], MAX_ROWS)
    if not len(scored.prob):
        problem = "there are no test pairs to write"
        raise InputError(problem, "hold out some links", argument="save_test")
    table = _table(scored, graph, with_groups)
    with Workspace() as workspace, DuckEngine(workspace) as engine:
        engine.duck.register("test_pairs", table)
        with whole_file(out, force) as path:
            engine.copy("SELECT * FROM test_pairs", path, shape)
    return len(scored.prob)


def _table(scored: ScoredPairs, graph: Graph, with_groups: bool) -> Any:
    import pyarrow as pa

    from linkparity.experiments.predict import id_column

    assert scored.nodes is not None
    assert scored.label is not None
    names = graph.names if graph.names is not None else range(graph.num_nodes)
    ids, ends = id_column(list(names)), [pa.array(end) for end in scored.nodes.T]
    columns = {"source": ids.take(ends[0]), "target": ids.take(ends[1])}
    columns |= {"label": pa.array(scored.label.astype(np.int8)), "weight": scored.weight}
    columns |= {"score": scored.prob}
    if with_groups:
        group = graph.group.numpy()
        values = pa.array([*graph.group_names, None])
        name = graph.attribute or "group"
        for side, end in zip(("source", "target"), scored.nodes.T, strict=True):
            columns[f"{side}_{name}"] = values.take(pa.array(group[end] % len(values)))
    return pa.table(columns)


def sample_pairs_of(scored: ScoredPairs, most: int) -> ScoredPairs:
    """At most about ``most`` of the pairs, equally many of every pair of groups and label.

    A sampled pair weighs as much as those that it represents.
    """
    if len(scored.prob) <= most:
        return scored
    label = np.zeros(len(scored.prob)) if scored.label is None else scored.label
    _, stratum, sizes = np.unique(
        (scored.code + 1) * 2 + label, return_inverse=True, return_counts=True
    )
    share, generator = max(1, most // len(sizes)), stream(scored.seed, "test table")
    order = np.argsort(stratum, kind="stable")
    starts = np.cumsum(sizes) - sizes
    chosen = [
        order[start + random_distinct(min(size, share), size, generator).numpy()]
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]
    rows = np.sort(np.concatenate(chosen))
    sampled = _rows(scored, rows)
    represented = (sizes / np.minimum(sizes, share))[stratum[rows]]
    return replace(sampled, weight=sampled.weight * represented)


#: The arrays of scored pairs that have one row per pair.
_BY_PAIR = ("logits", "prob", "rank", "groups", "label", "weight", "nodes")


def _rows(scored: ScoredPairs, rows: np.ndarray) -> ScoredPairs:
    found = {name: getattr(scored, name) for name in _BY_PAIR}
    return replace(scored, **{k: v[rows] for k, v in found.items() if v is not None})
