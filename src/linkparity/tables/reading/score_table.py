"""Join and classify once: every row of a score table gets its groups, its code, its logit."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkparity.support.optional import require
from linkparity.tables.engines.base import EXTRA, ROW, Engine, Input
from linkparity.tables.reading.bipartite import described_side
from linkparity.tables.reading.columns import Columns, Reading, pick_columns
from linkparity.tables.reading.expressions import both_scales, label_number, number
from linkparity.tables.reading.nodes import (
    NONE,
    Groups,
    absent,
    alike,
    number_values,
    read_nodes,
    with_group,
)

#: What may be wrong with a row; the number is the order in which it is told.
OK, NO_SOURCE, NO_TARGET, NO_SCORE, BAD_SCORE, BAD_LABEL, LOOP = range(7)
LABELS = 2


@dataclass(frozen=True)
class ScoreTable:
    """A score table, classified.

    Attributes:
        engine: where it lies.
        given: the table as it came.
        columns: which column holds what.
        reading: how it was to be read.
        groups: values and nodes with their groups.
        names: names of the groups.
        rows: Ibis table, one row per row of the input: ``row, a, b`` (nodes), ``ga, gb`` (groups,
            −1 for none), ``code`` (groups and label in one number), ``p``, ``x``, ``issue``.
        good: the same, only the rows that count.
        bare: whether targets have no group by their nature.
        grid: how many numbers a group may have in a code: every group, none, and unknown.
        total: rows of the input.
        dropped: how many rows are left out, by reason.
        sizes: nodes of each group.
    """

    engine: Engine
    given: Input
    columns: Columns
    reading: Reading
    groups: Groups
    names: tuple[str, ...]
    rows: Any
    good: Any
    bare: bool
    grid: int
    total: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()

    @property
    def labelled(self) -> bool:
        """Whether there are labels."""
        return self.columns.label is not None

    def written(self, numbers: bool) -> Any:
        """The input as it is written; with ``numbers``, those that came in a text file as such."""
        given, label = self.given.table, self.columns.label
        if not numbers or not self.given.text:
            return given
        found = {self.columns.value: number(given[self.columns.value])}
        if label is not None:
            found[label] = label_number(given[label]).cast("int8")
        return given.mutate(**found)

    def keys(self, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``(K, 2)`` groups and ``(K,)`` labels that codes stand for."""
        pair, label = np.divmod(code.astype(np.int64), LABELS)
        first, second = np.divmod(pair, self.grid)
        return np.stack([first - 1, second - 1], axis=1), label


def classify(engine: Engine, scores: Input, nodes: Input | None, reading: Reading) -> ScoreTable:
    """Read, join and classify a score table, once; :func:`tidied` checks what came out."""
    columns = pick_columns(scores, reading, nodes is not None)
    base = _base(scores, columns)
    if nodes is None:
        first, second = _placed("s", columns.source_groups), _placed("t", columns.target_groups)
        ends = [(base, first), (base, second)] if second else [(base, first)]
        groups = number_values(engine, ends, scores.name, columns.source_groups)
        bare = not columns.target_groups
        joined = _from_columns(engine, base, columns, groups)
    else:
        groups = read_nodes(engine, nodes, reading)
        side = described_side(engine, base, groups, scores.name) if reading.bipartite else "both"
        bare = side != "both"
        if side == "targets":
            columns, base = columns.turned, base.mutate(source=base.target, target=base.source)
        joined = _from_nodes(engine, base, groups, bare, reading.unknown == "group")
    grid = len(groups.names) + 2
    rows = engine.keep(_classified(joined, columns, grid, reading, bare), "classified")
    return ScoreTable(
        engine, scores, columns, reading, groups, groups.names, rows, rows, bare, grid
    )


def _base(scores: Input, columns: Columns) -> Any:
    """Row, ends, score and label under our own names, numbers as numbers."""
    ibis = require("ibis", "audit and project", EXTRA)
    table = scores.table
    value, label = table[columns.value], ibis.literal(0)
    extra = {f"s{i}": table[name] for i, name in enumerate(columns.source_groups)}
    for i, name in enumerate(columns.target_groups):
        extra[f"s{i}"], extra[f"t{i}"] = alike(extra[f"s{i}"], table[name])
    source, target = alike(table[columns.source], table[columns.target])
    for name in filter(None, (columns.value, columns.label)):
        kind = table[name].type()
        if not (kind.is_numeric() or kind.is_boolean() or kind.is_string()):
            raise ValueError(
                f"{scores.name}: column {name!r} holds values of the type {kind}, not numbers; "
                "name another column"
            )
    if columns.label is not None:
        label = label_number(table[columns.label])
    return table.select(
        row=table[ROW] if scores.ordered else ibis.literal(0),
        source=source,
        target=target,
        value=number(value),
        label=label.cast("float64"),
        **extra,
    )


def _placed(end: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """How the group columns of one end are called in the base table."""
    return tuple(f"{end}{i}" for i in range(len(names)))


def _from_columns(engine: Engine, base: Any, columns: Columns, groups: Groups) -> Any:
    """Groups from columns of the score table; nodes are told apart by a hash of their ids."""
    ibis = require("ibis", "audit and project", EXTRA)
    first, second = _placed("s", columns.source_groups), _placed("t", columns.target_groups)
    joined = with_group(base, first, groups.mapping, "ga")
    joined = (
        with_group(joined, second, groups.mapping, "gb")
        if second
        else joined.mutate(gb=ibis.literal(NONE, "int32"))
    )
    return joined.mutate(a=engine.number(joined.source), b=engine.number(joined.target))


def _from_nodes(engine: Engine, base: Any, groups: Groups, bare: bool, apart: bool) -> Any:
    """Groups from the node table; a node that is not there has number and group −1.

    With ``apart`` such nodes are told from each other, by a hash of their ids as number.
    """
    ibis = require("ibis", "audit and project", EXTRA)
    nodes = groups.nodes

    def look_up(table: Any, end: str, number: str, group: str) -> Any:
        ids, here = alike(nodes.node, table[end])
        small = nodes.select(
            **{f"{number}_id": ids, f"{number}_no": nodes.number, f"{group}_no": nodes.group}
        )
        joined = table.left_join(small, here == small[f"{number}_id"])
        none = ibis.literal(NONE, "int32")
        strange = engine.number(joined[end].cast("string")) if apart else none
        return joined.select(
            *[joined[c] for c in table.columns],
            **{
                number: ibis.coalesce(joined[f"{number}_no"], strange),
                group: ibis.coalesce(joined[f"{group}_no"], none),
            },
        )

    joined = look_up(base, "source", "a", "ga")
    if bare:
        return joined.mutate(b=engine.number(joined.target), gb=ibis.literal(NONE, "int32"))
    return look_up(joined, "target", "b", "gb")


def _classified(joined: Any, columns: Columns, grid: int, reading: Reading, bare: bool) -> Any:
    """The rows as they are kept: nodes, groups, code, probability, logit, what is wrong."""
    ibis = require("ibis", "audit and project", EXTRA)
    if reading.unknown == "group":
        own = grid - 2
        spare = {"ga": ibis.ifelse(joined.ga == NONE, own, joined.ga).cast("int32")}
        if not bare:
            spare["gb"] = ibis.ifelse(joined.gb == NONE, own, joined.gb).cast("int32")
        joined = joined.mutate(**spare)
    x, p = both_scales(joined.value, columns.logits)
    low, high = joined.ga, joined.gb
    if not reading.directed and not bare:
        low, high = ibis.least(low, high), ibis.greatest(low, high)
    label = ibis.ifelse(joined.label == 1.0, 1, 0)
    code = ((low + 1) * grid + (high + 1)) * LABELS + label
    return joined.select(
        row=joined.row, a=joined.a, b=joined.b, ga=joined.ga, gb=joined.gb,
        code=code.cast("int32"), p=p, x=x, issue=_issue(joined, columns, reading),
    )  # fmt: skip


def _issue(mixed: Any, columns: Columns, reading: Reading) -> Any:
    ibis = require("ibis", "audit and project", EXTRA)
    value = mixed.value
    bounds = (-1.7e308, 1.7e308) if columns.logits else (0.0, 1.0)
    checks = [
        (absent(mixed.source), NO_SOURCE),
        (absent(mixed.target), NO_TARGET),
        (value.isnull(), NO_SCORE),
        (value.isnan() | (value < bounds[0]) | (value > bounds[1]), BAD_SCORE),
    ]
    if columns.label is not None:
        good = (mixed.label == 0.0) | (mixed.label == 1.0)
        checks.append((mixed.label.isnull() | ~good, BAD_LABEL))
    if not reading.bipartite:
        checks.append((mixed.source == mixed.target, LOOP))
    return ibis.cases(*checks, else_=OK).cast("int8")
