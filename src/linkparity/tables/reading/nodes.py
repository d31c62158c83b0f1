"""Groups of a score table: attribute values → group numbers, and the nodes that have them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import ibis
import pyarrow as pa

from linkparity.graph.groups import NO_GROUP, GraphWarning, number_groups, whole_numbers
from linkparity.support.display import counted, place
from linkparity.support.errors import InputError, warn
from linkparity.tables.engines.base import ROW, Engine, Input
from linkparity.tables.reading.columns import ReadOptions

#: Largest number of distinct values; S groups make S(S + 1)/2 cells.
MAX_GROUPS = 300
#: Number of ids that a warning shows.
SHOWN = 3


@dataclass(frozen=True)
class Groups:
    """The groups of a score table.

    Attributes:
        names: one name per group, in the order of their numbers.
        mapping: Ibis table from values ``v0, v1 …`` to ``group``.
        nodes: Ibis table ``node, number, group, row``, or None without a table of nodes.
        given: the table of nodes as given, for messages.
    """

    names: tuple[str, ...]
    mapping: Any
    nodes: Any = None
    given: Input | None = None


def absent(column: Any) -> Any:
    """Whether an id is null, NaN or empty; blanks are an id like any other."""
    if column.type().is_floating():
        return column.isnull() | column.isnan()
    return column.isnull() | (column == "") if column.type().is_string() else column.isnull()


def missing(column: Any) -> Any:
    """Whether a value is null, NaN or blank."""
    if column.type().is_string():
        return column.isnull() | (column.strip() == "")
    if column.type().is_floating():
        return column.isnull() | column.isnan()
    return column.isnull()


def id_text(column: Any) -> Any:
    """Ids as text; a whole number that pandas stored as a float reads as a whole number.

    NaN becomes null. A number beyond 2^53 or a fraction stays as it is written.
    """
    if not column.type().is_floating():
        return column.cast("string")
    whole = ibis.ifelse(column.abs() < 2.0**53, column, None).try_cast("int64")
    text = ibis.ifelse(whole == column, whole.cast("string"), column.cast("string"))
    return ibis.ifelse(column.isnan(), None, text)


def comparable(*columns: Any) -> tuple[Any, ...]:
    """The columns as they are where they have one type, else as text."""
    if len({column.type().copy(nullable=True) for column in columns}) == 1:
        return columns
    return tuple(id_text(column) for column in columns)


def number_values(
    engine: Engine,
    ends: Sequence[tuple[Any, tuple[str, ...]]],
    where: str,
    names: tuple[str, ...],
    codes: tuple[str, ...] = (),
) -> Groups:
    """Number the distinct values of the columns ``names``, which one or two ends of pairs have.

    ``codes`` are values that mean unknown.
    """
    parts = []
    for table, columns in ends:
        for name, column in zip(names, columns, strict=True):
            if table[column].type().is_nested():
                problem = f"column {name!r} holds lists or records, which cannot be groups"
                raise InputError(problem, "name a column of single values", where=where)
        part = table.select(**{f"v{i}": table[name] for i, name in enumerate(columns)}).distinct()
        for name in part.columns:
            part = part.filter(~missing(part[name]))
            if codes:
                part = part.filter(~id_text(part[name]).isin(codes))
        parts.append(part)
    both = parts[0] if len(parts) == 1 else ibis.union(*parts, distinct=True)
    engine.scans += 1
    found = both.limit(MAX_GROUPS + 1).to_pyarrow()
    _check_values(found.num_rows, ends[0][0], where, ", ".join(map(repr, names)))
    lists = (whole_numbers(found.column(name).to_pylist()) for name in found.column_names)
    values = list(zip(*lists, strict=True))
    single = [value[0] for value in values] if found.num_columns == 1 else values
    numbered = number_groups(single, "error", where, minus_one_is_none=False)
    mapping = found.append_column("group", pa.array(numbered.group, pa.int32()))
    return Groups(numbered.names, engine.lookup(mapping))


def _check_values(count: int, table: Any, where: str, names: str) -> None:
    if count > MAX_GROUPS:
        problem = f"column {names} has more than {MAX_GROUPS} distinct values, too many for groups"
        fix = "name another column, or merge values into fewer groups"
        raise InputError(problem, fix, where=where)
    if not count and not table.count().to_pyarrow().as_py():
        raise no_rows(where)
    if not count:
        problem = f"column {names} is empty in every row"
        raise InputError(problem, "fill it in, or name another column", where=where)


def no_rows(where: str) -> InputError:
    """A table that is empty below its header."""
    return InputError("has column names but no rows", "add rows", where=where)


def with_group(table: Any, columns: tuple[str, ...], mapping: Any, name: str) -> Any:
    """The table and its rows' group number as the column ``name``, −1 where no value is known."""
    renamed = mapping.rename({f"{name}_v{i}": f"v{i}" for i in range(len(columns))})
    renamed = renamed.rename({f"{name}_code": "group"})
    same = [table[column] == renamed[f"{name}_v{i}"] for i, column in enumerate(columns)]
    joined = table.left_join(renamed, same)
    code = ibis.coalesce(joined[f"{name}_code"], NO_GROUP).cast("int32")
    return joined.select(*[joined[c] for c in table.columns], **{name: code})


def read_nodes(engine: Engine, nodes: Input, column: str, options: ReadOptions) -> Groups:
    """Number the nodes, whose ids are in ``column``, and their groups; each node has one."""
    table, sensitive = nodes.table, options.sensitive
    groups = number_values(engine, [(table, sensitive)], nodes.name, sensitive, options.missing)
    values = {f"v{i}": table[name] for i, name in enumerate(sensitive)}
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
    row, last = (
        engine.position(nodes, first[name]) if nodes.ordered else None for name in ("row", "last")
    )
    where = place(nodes.name, row, column)
    if first["group"] == first["other"] or first["node"] is None:
        raise InputError("an id is missing", "fill it in or leave the row out", where=where)
    names = (*groups.names, "no value")
    both = f"{names[first['other']]!r} and {names[first['group']]!r}"
    again = "" if last is None else f", again in row {last:,}"
    problem = f"node {first['node']!r} is listed twice with two groups, {both}{again}"
    raise InputError(problem, "keep one of them", where=where)


def described_side(
    engine: Engine, base: Any, groups: Groups, where: str
) -> Literal["both", "sources", "targets"]:
    """Which ends of the pairs of a bipartite table the table of nodes gives groups to.

    Users and movies are often numbered from 1 each. An id that is both a source and a target is
    then a source in the table of nodes. A warning says so where that ignores groups of targets,
    since a single wrong row has the same effect.
    """
    grouped = groups.nodes.filter(groups.nodes.group != NO_GROUP)
    known = grouped.select(node=comparable(grouped.node, base.source)[0])
    sources, targets = (
        base.select(node=comparable(end, groups.nodes.node)[0]).distinct()
        for end in (base.source, base.target)
    )
    described = targets.semi_join(known, "node")
    if not _count(engine, described):
        return "sources"
    both = targets.semi_join(sources, "node")
    if not (count := _count(engine, both)):
        return "both" if _count(engine, sources.semi_join(known, "node")) else "targets"
    if lost := _count(engine, described.anti_join(sources, "node")):
        shown = both.order_by("node").limit(SHOWN).to_pyarrow()["node"].to_pylist()
        some = ", ".join(map(repr, shown)) + (" …" if count > SHOWN else "")
        nodes = "" if groups.given is None else groups.given.name
        problem = (
            f"{counted(count, 'id')} {'is' if count == 1 else 'are'} both a source and a target "
            f"({some}), so {nodes} is taken to describe sources only, and the groups of "
            f"{counted(lost, 'target')} in it are not used"
        )
        fix = "write the ids of the two sides differently, or correct the wrong rows"
        warn(GraphWarning, problem, fix, where=where)
    return "sources"


def _count(engine: Engine, table: Any) -> int:
    return int(engine.small(table.aggregate(n=table.count()))["n"][0])
