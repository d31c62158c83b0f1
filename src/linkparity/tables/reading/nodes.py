"""Values of attributes in a table → group numbers, and the table of nodes with their groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkparity.graph.groups import UNKNOWN_NAME, number_groups, whole_numbers
from linkparity.support.optional import require
from linkparity.tables.engines.base import EXTRA, ROW, Engine, Input
from linkparity.tables.reading.columns import Reading, pick_node_column

NONE = -1
#: More distinct values than this are no groups; S groups make S(S + 1)/2 cells.
MOST = 300


@dataclass(frozen=True)
class Groups:
    """The groups of a score table.

    Attributes:
        names: one name per group, in the order of their numbers.
        mapping: Ibis table from values ``v0, v1 …`` to ``group``.
        nodes: Ibis table ``node, number, group, row``, or None without a node table.
        source: the node table's name and columns, for messages.
    """

    names: tuple[str, ...]
    mapping: Any
    nodes: Any = None
    source: Input | None = None


def absent(column: Any) -> Any:
    """Whether an id is none or empty; blanks are an id like any other."""
    return column.isnull() | (column == "") if column.type().is_string() else column.isnull()


def missing(column: Any) -> Any:
    """Whether a value is none, NaN or blank."""
    if column.type().is_string():
        return column.isnull() | (column.strip() == "")
    if column.type().is_floating():
        return column.isnull() | column.isnan()
    return column.isnull()


def id_text(column: Any) -> Any:
    """Ids as text; a whole number that pandas stored as a float beside empty cells reads whole."""
    ibis = require("ibis", "reading ids", EXTRA)
    if not column.type().is_floating():
        return column.cast("string")
    whole = (column == column.floor()) & (column.abs() < 2.0**53)
    return ibis.ifelse(whole, column.try_cast("int64").cast("string"), column.cast("string"))


def alike(*columns: Any) -> tuple[Any, ...]:
    """Columns that can be compared: as they are where their types are one, else as text."""
    if len({column.type().copy(nullable=True) for column in columns}) == 1:
        return columns
    return tuple(id_text(column) for column in columns)


def number_values(
    engine: Engine,
    ends: Sequence[tuple[Any, tuple[str, ...]]],
    where: str,
    names: tuple[str, ...],
) -> Groups:
    """Number the distinct values of columns that stand in one or two places, ``names`` in all."""
    ibis = require("ibis", where, EXTRA)
    pa = require("pyarrow", where, EXTRA)
    parts = []
    for table, columns in ends:
        for name, column in zip(names, columns, strict=True):
            if table[column].type().is_nested():
                raise ValueError(
                    f"{where}: column {name!r} holds lists or records, which are no groups; "
                    "name a column of single values"
                )
        part = table.select(**{f"v{i}": table[name] for i, name in enumerate(columns)}).distinct()
        for name in part.columns:
            part = part.filter(~missing(part[name]))
        parts.append(part)
    both = parts[0] if len(parts) == 1 else ibis.union(*parts, distinct=True)
    engine.scans += 1
    found = both.limit(MOST + 1).to_pyarrow()
    named = ", ".join(map(repr, names))
    if found.num_rows > MOST:
        raise ValueError(
            f"{where}: column {named} has more than {MOST} distinct values, which are no groups; "
            "name another column, or put values together into fewer groups"
        )
    if not found.num_rows:
        if not ends[0][0].count().to_pyarrow().as_py():
            raise ValueError(f"{where}: has column names but no rows; there is nothing to do")
        raise ValueError(
            f"{where}: column {named} is empty in every row; fill it in, or name another column"
        )
    lists = (whole_numbers(found.column(name).to_pylist()) for name in found.column_names)
    values = list(zip(*lists, strict=True))
    single = [value[0] for value in values] if found.num_columns == 1 else values
    numbered = number_groups(single, "error", where, minus_one_is_none=False)
    code = pa.array(numbered.group, pa.int32())
    mapping = engine.lookup(found.append_column("group", code))
    return Groups(numbered.names, mapping)


def with_group(table: Any, columns: tuple[str, ...], mapping: Any, name: str) -> Any:
    """The table and its rows' group number as the column ``name``, −1 where no value is known."""
    ibis = require("ibis", "audit and project", EXTRA)
    renamed = mapping.rename({f"{name}_v{i}": f"v{i}" for i in range(len(columns))})
    renamed = renamed.rename({f"{name}_code": "group"})
    same = [table[column] == renamed[f"{name}_v{i}"] for i, column in enumerate(columns)]
    joined = table.left_join(renamed, same)
    code = ibis.coalesce(joined[f"{name}_code"], NONE).cast("int32")
    return joined.select(*[joined[c] for c in table.columns], **{name: code})


def read_nodes(engine: Engine, nodes: Input, reading: Reading) -> Groups:
    """Number the nodes and their groups; a node may not have two."""
    ibis = require("ibis", "audit and project", EXTRA)
    column = pick_node_column(nodes, reading.sensitive, reading.node)
    table = nodes.table
    sensitive = reading.sensitive
    groups = number_values(engine, [(table, sensitive)], nodes.name, sensitive)
    values = {f"v{i}": table[name] for i, name in enumerate(reading.sensitive)}
    row = table[ROW] if nodes.ordered else ibis.literal(0)
    plain = table.select(node=table[column], row=row, **values)
    plain = with_group(plain, tuple(values), groups.mapping, "group")
    each = plain.group_by("node").aggregate(
        group=plain.group.max(), other=plain.group.min(), row=plain.row.min(), last=plain.row.max()
    )
    number = ibis.row_number().over(order_by=["row", "node"]).cast("int32")
    kept = engine.keep(each.mutate(number=number), "nodes_kept")
    _check_nodes(engine, kept, nodes, column, groups)
    return Groups(groups.names, groups.mapping, kept, nodes)


def _check_nodes(engine: Engine, kept: Any, nodes: Input, column: str, groups: Groups) -> None:
    wrong = kept.filter(absent(kept.node) | (kept.group != kept.other)).order_by("row").limit(1)
    engine.scans += 1
    found = wrong.to_pyarrow().to_pylist()
    if not found:
        return
    first = found[0]
    row = f"row {first['row'] + 1:,}" if nodes.ordered else "a row"
    where = f"{nodes.name}: {row}, column {column!r}"
    if first["group"] == first["other"] or first["node"] is None:
        raise ValueError(f"{where} holds no id; fill it in or leave the row out")
    names = (*groups.names, "no value")
    both = f"{names[first['other']]!r} and {names[first['group']]!r}"
    again = f", again in row {first['last'] + 1:,}" if nodes.ordered else ""
    raise ValueError(
        f"{where}: node {first['node']!r} is listed twice with two groups, {both}{again}; "
        "keep one of them"
    )


def unknown_named(names: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The names with one more for the nodes without a value."""
    if UNKNOWN_NAME in names:
        raise ValueError(
            f"{where}: a group named {UNKNOWN_NAME!r} exists already; rename that value, "
            "or use --unknown drop"
        )
    return (*names, UNKNOWN_NAME)
