"""Scores for the pairs of a file, or the most likely new partners of each node."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from linkparity.graph.graph import Graph
from linkparity.models.prediction import LinkPredictor
from linkparity.reading.columns import Columns, ReadOptions, pick_ends
from linkparity.reading.duckdb import Duck, Format, Input
from linkparity.reading.files import format_of, loaded, open_table_file
from linkparity.reading.groups import SelfLoops, UntidyPolicy, check_choice
from linkparity.reading.known_pairs import read_known_pairs
from linkparity.reading.scores import ArrayTable
from linkparity.reading.tables import write_arrow, write_table
from linkparity.support.arrays import expit
from linkparity.support.display import counted
from linkparity.support.errors import InputError
from linkparity.support.files import STREAM, Workspace, check_output, whole_file
from linkparity.support.registry import LOOKED_AT, did_you_mean

SCORE = "score"


@dataclass(frozen=True)
class PairsFile:
    """A table of pairs, and how it is read.

    Attributes:
        name: the file, ``-`` for stdin.
        source: column of the first node of a pair, if it has another name.
        target: column of the second node of a pair, if it has another name.
        unknown: pairs with a node that was not trained on: an error, or dropped.
        self_loops: pairs of a node with itself: an error, or dropped.
        format: where the extension does not tell, ``csv``, ``tsv`` or ``parquet``.
        separator: character between the columns of a text file.
    """

    name: str
    source: str | None = None
    target: str | None = None
    unknown: Literal["error", "drop"] = "error"
    self_loops: SelfLoops = "error"
    format: str | None = None
    separator: str | None = None

    def __post_init__(self) -> None:
        check_choice("unknown", self.unknown, choices=("error", "drop"))
        check_choice("self_loops", self.self_loops)


def predict_pairs(
    run: str,
    pairs: PairsFile,
    out: str,
    force: bool = False,
    on_stage: Callable[[str], object] = lambda stage: None,
) -> int:
    """Write the table of pairs with a column ``score``; return the number of rows.

    ``on_stage`` is called with a few words when each stage of the work begins.
    """
    shape = _output_format(out, force, pairs.name, run)
    predictor = LinkPredictor.load(run)
    on_stage(f"reading {pairs.name}")
    with Workspace() as workspace:
        file = open_table_file(pairs.name, workspace, pairs.format, pairs.separator)
        with loaded({"pairs": file}, workspace, out) as (duck, inputs):
            table = _known_pairs(duck, inputs["pairs"], predictor.graph_, pairs)
            index = np.stack([table.first, table.second], axis=1).astype(np.int64)
            index = index if table.used is None else index[table.used]
            on_stage(f"scoring {counted(len(index), 'pair')}")
            scores = predictor.predict_proba(index)
            on_stage(f"writing {out}")
            with whole_file(out, force, workspace.path) as path:
                write_table(table, {SCORE: scores}, path, shape)
    return len(index)


def predict_top(
    run: str,
    k: int,
    nodes: str | None,
    out: str,
    force: bool = False,
    on_stage: Callable[[str], object] = lambda stage: None,
) -> int:
    """Write the ``k`` most likely new partners of each node; return the number of rows.

    ``nodes`` holds ids with commas between them, or is a file with one id per line; None is all
    nodes, in a bipartite graph all sources. A target in ``nodes`` is written in the column of
    targets, and its partners in the column of sources. ``on_stage`` is called with a few words when
    each stage of the work begins.
    """
    import pyarrow as pa

    if k < 1:
        raise InputError(f"must be at least 1 partner per node, got {k}", argument="top")
    wanted = None if nodes is None else _listed_nodes(nodes)
    shape = _output_format(out, force, run, nodes)
    predictor = LinkPredictor.load(run)
    names, side = _names(predictor.graph_), _sides(predictor.graph_)
    chosen = np.flatnonzero(side == 0) if wanted is None else _numbers_of(wanted, names)
    total = len(chosen)
    best = predictor.top(
        k, chosen, lambda done: on_stage(f"ranking: {done:,} of {total:,} nodes done")
    )
    on_stage(f"writing {out}")
    turned = side[best.node] == 1
    first = np.where(turned, best.partner, best.node)
    second = np.where(turned, best.node, best.partner)
    ends = [id_column([names[i] for i in end.tolist()]) for end in (first, second)]
    scores = expit(best.logit)
    best_pairs = pa.table({"source": ends[0], "target": ends[1], SCORE: scores})
    write_arrow(best_pairs, out, force, shape)
    return len(scores)


def _output_format(out: str, force: bool, *inputs: str | None) -> Format:
    shape = format_of("out.csv" if out == STREAM else out)
    check_output(out, force, inputs)
    return shape


def _listed_nodes(given: str) -> list[str]:
    """Ids from a file with one per line, or with commas between them."""
    if not os.path.isfile(given):
        return given.split(",")
    try:
        content = Path(given).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        fix = "save the file in that encoding"
        raise InputError("is not UTF-8 text", fix, where=given) from None
    nodes = [line for line in content.split("\n") if line]
    if not nodes:
        raise InputError("names no node", "write one id per line", where=given)
    return nodes


def _numbers_of(wanted: list[str], names: list[Any]) -> np.ndarray:
    """The number of each id, once."""
    number = {str(name): i for i, name in reversed(list(enumerate(names)))}
    for each in wanted:
        if each not in number:
            hint = did_you_mean(each, islice(number, LOOKED_AT))
            fix = f"{hint}write ids alike; ids with a comma go into a file, one per line"
            raise InputError(f"node {each!r} was not trained on", fix, where="--for")
    return np.array(list(dict.fromkeys(number[each] for each in wanted)))


def _names(graph: Graph) -> list[Any]:
    return list(graph.names if graph.names is not None else range(graph.num_nodes))


def _sides(graph: Graph) -> np.ndarray:
    """``(n,)`` 0 for sources, 1 for targets; all 0 where there is one kind of nodes."""
    return np.zeros(graph.num_nodes) if graph.side is None else graph.side.numpy()


def id_column(ids: list[Any]) -> Any:
    """Ids as an Arrow column; whole numbers beyond 63 bits keep their type."""
    import pyarrow as pa

    whole = all(isinstance(each, int) for each in ids)
    return pa.array(ids, pa.uint64() if whole and max(ids, default=0) >= 2**63 else None)


def _known_pairs(duck: Duck, given: Input, graph: Graph, pairs: PairsFile) -> ArrayTable:
    """The pairs to score."""
    for name in given.columns:
        if name.lower() == SCORE:
            raise InputError(
                f"has a column {name!r} already, which predict would write",
                f"rename it in the file, such as to 'old_{SCORE}', or leave it out",
                where=given.name,
            )
    columns = Columns(*pick_ends(given, pairs.source, pairs.target))
    options = ReadOptions((), untidy=UntidyPolicy(pairs.unknown, self_loops=pairs.self_loops))
    side = None if graph.side is None else graph.side.numpy()
    table = read_known_pairs(duck, given, columns, options, _names(graph), side)
    if not (table.total if table.used is None else table.used.any()):
        raise InputError("has no pair to score", "check the file and the options", where=given.name)
    return table
