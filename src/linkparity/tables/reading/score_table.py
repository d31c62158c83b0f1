"""The classified score table: every row with its groups, code, probability and logit."""

from dataclasses import dataclass, field
from typing import Any

import ibis
import numpy as np

from linkparity.graph.groups import NO_GROUP
from linkparity.support.errors import InputError
from linkparity.tables.engines.base import ROW, Engine, Input
from linkparity.tables.reading.columns import Columns, ReadOptions
from linkparity.tables.reading.nodes import (
    Groups,
    absent,
    comparable,
    described_side,
    missing,
    number_values,
    read_nodes,
    with_group,
)

#: What may be wrong with a row, in the order in which it is reported.
OK, NO_SOURCE, NO_TARGET, NO_SCORE, BAD_SCORE, BAD_LABEL, BAD_WEIGHT, LOOP = range(8)
#: Labels in a code: 0, 1, and none.
LABELS, NO_LABEL = 3, 2
#: A larger logit is a probability of exactly 0 or 1 in float64.
MAX_LOGIT = 700.0


@dataclass(frozen=True)
class ScoreTable:
    """A score table, classified.

    Attributes:
        engine: where it is stored.
        given: the table as given.
        columns: which column holds what.
        options: how it was read.
        groups: values and nodes with their groups.
        names: names of the groups.
        rows: Ibis table, one row per row of the input: ``row, a, b`` (nodes), ``ga, gb`` (groups,
            −1 for none), ``code`` (groups and label in one number; no groups where one is unknown
            and kept), ``p``, ``x``, ``issue``; with weights also ``w``.
        good: the same, only the rows that count.
        one_sided: whether only sources have groups.
        grid: number of values of a group in a code: every group, none, and unknown.
        total: rows of the input.
        dropped: number of rows that are left out, by reason.
        sizes: nodes of each group.
        other: another table of scores to compare with, if there is one.
    """

    engine: Engine
    given: Input
    columns: Columns
    options: ReadOptions
    groups: Groups
    names: tuple[str, ...]
    rows: Any
    good: Any
    one_sided: bool
    grid: int
    total: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    other: "ScoreTable | None" = None

    @property
    def labelled(self) -> bool:
        """Whether there are labels."""
        return self.columns.label is not None

    @property
    def weighted(self) -> bool:
        """Whether rows have weights, for dp and kl."""
        return self.columns.weight is not None

    def to_write(self, numbers: bool) -> Any:
        """The input; with ``numbers``, the scores and labels of a text file as numbers."""
        given, label = self.given.table, self.columns.label
        if not numbers or not self.given.text:
            return given
        found = {self.columns.value: number(given[self.columns.value])}
        if self.columns.weight is not None:
            found[self.columns.weight] = number(given[self.columns.weight])
        if label is not None:
            found[label] = label_number(given[label]).cast("int8")
        return given.mutate(**found)

    def keys(self, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``(K, 2)`` groups and ``(K,)`` labels of codes, −1 for none."""
        pair, label = np.divmod(code.astype(np.int64), LABELS)
        first, second = np.divmod(pair, self.grid)
        return np.stack([first - 1, second - 1], axis=1), np.where(label == NO_LABEL, -1, label)


def classify(
    engine: Engine, scores: Input, nodes: Input | None, columns: Columns, options: ReadOptions
) -> ScoreTable:
    """Join and classify a score table, once; :func:`check_rows` checks the result."""
    base = _base(scores, columns)
    if nodes is None:
        first, second = _renamed("s", columns.source_groups), _renamed("t", columns.target_groups)
        ends = [(base, first), (base, second)] if second else [(base, first)]
        groups = number_values(engine, ends, scores.name, columns.source_groups, options.missing)
        one_sided = not columns.target_groups
        joined = _join_columns(engine, base, first, second, groups)
    else:
        groups = read_nodes(engine, nodes, str(columns.node), options)
        side = described_side(engine, base, groups, scores.name) if options.bipartite else "both"
        one_sided = side != "both"
        if side == "targets":
            columns, base = columns.exchanged, base.mutate(source=base.target, target=base.source)
        joined = _join_nodes(engine, base, groups, one_sided, options.unlisted)
    grid = len(groups.names) + 2
    rows = engine.keep(_classified(joined, columns, grid, options, one_sided), "classified")
    return ScoreTable(
        engine, scores, columns, options, groups, groups.names, rows, rows, one_sided, grid
    )


def _base(scores: Input, columns: Columns) -> Any:
    """Row, ends, score and label under our own names, numbers as numbers."""
    table = scores.table
    value, label = table[columns.value], ibis.literal(0)
    extra = {f"s{i}": table[name] for i, name in enumerate(columns.source_groups)}
    for i, name in enumerate(columns.target_groups):
        extra[f"s{i}"], extra[f"t{i}"] = comparable(extra[f"s{i}"], table[name])
    source, target = comparable(table[columns.source], table[columns.target])
    for name in filter(None, (columns.value, columns.label, columns.weight)):
        kind = table[name].type()
        if not (kind.is_numeric() or kind.is_boolean() or kind.is_string()):
            problem = f"column {name!r} holds values of the type {kind}, not numbers"
            raise InputError(problem, "name another column", where=scores.name)
    if columns.label is not None:
        label = _label_code(table[columns.label])
    if columns.weight is not None:
        extra["weight"] = number(table[columns.weight])
    return table.select(
        row=table[ROW] if scores.ordered else ibis.literal(0),
        source=source,
        target=target,
        value=number(value),
        label=label.cast("float64"),
        **extra,
    )


def _renamed(end: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the group columns of one end in the base table."""
    return tuple(f"{end}{i}" for i in range(len(names)))


def _join_columns(
    engine: Engine, base: Any, first: tuple[str, ...], second: tuple[str, ...], groups: Groups
) -> Any:
    """Groups from columns of the score table; a node's number is a hash of its id."""
    joined = with_group(base, first, groups.mapping, "ga")
    joined = (
        with_group(joined, second, groups.mapping, "gb")
        if second
        else joined.mutate(gb=ibis.literal(NO_GROUP, "int32"))
    )
    return joined.mutate(a=engine.hash_ids(joined.source), b=engine.hash_ids(joined.target))


def _join_nodes(engine: Engine, base: Any, groups: Groups, one_sided: bool, apart: bool) -> Any:
    """Groups from the table of nodes; a node that is not in it has number and group −1.

    With ``apart``, such nodes are told from each other: their number is a hash of their id.
    """
    nodes, none = groups.nodes, ibis.literal(NO_GROUP, "int32")

    def look_up(table: Any, end: str, number: str, group: str) -> Any:
        ids, here = comparable(nodes.node, table[end])
        known = nodes.select(
            **{f"{number}_id": ids, f"{number}_no": nodes.number, f"{group}_no": nodes.group}
        )
        joined = table.left_join(known, here == known[f"{number}_id"])
        unlisted = engine.hash_ids(joined[end].cast("string")) if apart else none
        return joined.select(
            *[joined[c] for c in table.columns],
            **{
                number: ibis.coalesce(joined[f"{number}_no"], unlisted),
                group: ibis.coalesce(joined[f"{group}_no"], none),
            },
        )

    joined = look_up(base, "source", "a", "ga")
    if one_sided:
        return joined.mutate(b=engine.hash_ids(joined.target), gb=none)
    return look_up(joined, "target", "b", "gb")


def _classified(
    joined: Any, columns: Columns, grid: int, options: ReadOptions, one_sided: bool
) -> Any:
    """The rows as they are kept: nodes, groups, code, probability, logit, what is wrong."""
    if options.untidy.unknown == "group":
        own = grid - 2
        spare = {"ga": ibis.ifelse(joined.ga == NO_GROUP, own, joined.ga).cast("int32")}
        if not one_sided:
            spare["gb"] = ibis.ifelse(joined.gb == NO_GROUP, own, joined.gb).cast("int32")
        joined = joined.mutate(**spare)
    x, p = both_scales(joined.value, columns.logits)
    low, high = joined.ga, joined.gb
    if not options.directed and not one_sided:
        low, high = ibis.least(low, high), ibis.greatest(low, high)
    if options.untidy.unknown == "keep" and not one_sided:
        lost = (low == NO_GROUP) | (high == NO_GROUP)
        low, high = (ibis.ifelse(lost, NO_GROUP, group) for group in (low, high))
    label = joined.label.fill_null(0.0)
    code = ((low + 1) * grid + (high + 1)) * LABELS + label.cast("int32")
    weight = {} if columns.weight is None else {"w": joined.weight}
    return joined.select(
        row=joined.row, a=joined.a, b=joined.b, ga=joined.ga, gb=joined.gb,
        code=code.cast("int32"), p=p, x=x, issue=_issue(joined, columns, options), **weight,
    )  # fmt: skip


def _issue(joined: Any, columns: Columns, options: ReadOptions) -> Any:
    value = joined.value
    low, high = (-1.7e308, 1.7e308) if columns.logits else (0.0, 1.0)
    checks = [
        (absent(joined.source), NO_SOURCE),
        (absent(joined.target), NO_TARGET),
        (value.isnull(), NO_SCORE),
        (value.isnan() | (value < low) | (value > high), BAD_SCORE),
    ]
    if columns.label is not None:
        wrong = joined.label.isnull()
        if not options.unlabelled:
            wrong |= joined.label == NO_LABEL
        checks.append((wrong, BAD_LABEL))
    if columns.weight is not None:
        weight = joined.weight
        bad = weight.isnan() | (weight < 0.0) | (weight > 1.7e308)
        checks.append((weight.isnull() | bad, BAD_WEIGHT))
    if not options.bipartite:
        checks.append((joined.source == joined.target, LOOP))
    return ibis.cases(*checks, else_=OK).cast("int8")


def number(column: Any) -> Any:
    """A column of numbers, booleans or text as numbers; other text becomes null."""
    if column.type().is_boolean():
        return column.cast("int8").cast("float64")
    return column.try_cast("float64") if column.type().is_string() else column.cast("float64")


def label_number(column: Any) -> Any:
    """A label as a number; text may also be true or false."""
    if not column.type().is_string():
        return number(column)
    word = column.lower()
    return ibis.cases((word == "true", 1.0), (word == "false", 0.0), else_=number(column))


def _label_code(column: Any) -> Any:
    """0, 1 or :data:`NO_LABEL` where the label is missing; null for anything else."""
    value = label_number(column)
    return ibis.cases(
        (missing(column), float(NO_LABEL)),
        (value == 0.0, 0.0),
        (value == 1.0, 1.0),
        else_=ibis.null(),
    )


def both_scales(value: Any, logits: bool) -> tuple[Any, Any]:
    """Logit and probability; a probability of 0 or 1 has an infinite logit."""
    if logits:
        return value, sigmoid(value)
    inside = (value > 0) & (value < 1)
    safe = ibis.ifelse(inside, value, 0.5)
    edge = ibis.ifelse(value >= 1, float("inf"), float("-inf"))
    return ibis.ifelse(inside, safe.ln() - (1 - safe).ln(), edge), value


def sigmoid(z: Any) -> Any:
    """σ(z) as an expression, from exp(−|z|)."""
    small = (-z.abs()).exp()
    return ibis.ifelse(z > 0, 1 / (1 + small), small / (1 + small))


def movable(rows: Any) -> Any:
    """Whether a tilt can change a row's score; one of exactly 0 or 1 stays as it is."""
    return rows.x.abs() <= MAX_LOGIT
