"""The SQL that turns the rows of a table of scores into numbers."""

from dataclasses import dataclass

from linkparity.reading.columns import Columns, ReadOptions
from linkparity.reading.duckdb import ROW, Input
from linkparity.reading.groups import NO_GROUP
from linkparity.reading.nodes import Groups, alike, join_groups
from linkparity.reading.row_checks import BITS, NO_LABEL, WRONG_LABEL
from linkparity.reading.sql import Column


@dataclass(frozen=True, eq=False)
class RowQuery:
    """Which columns of a table hold what, for :meth:`sql`.

    Attributes:
        given: the table.
        columns: which column holds what.
        options: how it is read.
        ids: comparable ids of sources and targets.
        groups: the groups, where the rows have them; None where nodes have them.
    """

    given: Input
    columns: Columns
    options: ReadOptions
    ids: tuple[Column, Column]
    groups: Groups | None

    def sql(self, ends: tuple[str, str] | None) -> str:
        """Row, ends, flags and, where there are such, score, weight, label and groups.

        Args:
            ends: tables ``id, number`` of sources and targets, whose numbers are ``a`` and ``b``;
                None for the ids as text, ``source`` and ``target``.
        """
        inner, chosen = self._inner(), {"row": "p.row"}
        joins = ""
        if ends is None:
            for name, column in zip(("source", "target"), self.ids, strict=True):
                chosen[name] = Column(f"p.{name}", column.kind, column.type).as_text.sql
        else:
            chosen |= {"a": "coalesce(e.number, -1)", "b": "coalesce(f.number, -1)"}
            joins = (
                f" LEFT JOIN {ends[0]} e ON p.source = e.id"
                f" LEFT JOIN {ends[1]} f ON p.target = f.id"
            )
        chosen["flags"] = "CAST(p.flags AS TINYINT)"
        for name in ("score", "weight"):
            if name in inner:
                chosen[name] = f"coalesce(p.{name}, 'nan'::DOUBLE)"
        if "label" in inner:
            chosen["label"] = "p.label"
        if self.groups is not None:
            for name, values in zip(("ga", "gb"), self._values(), strict=False):
                inner |= {f"{name}{i}": each.sql for i, each in enumerate(values)}
                at = [f"p.{name}{i}" for i in range(len(values))]
                joins += join_groups(at, f"m{name}", self.groups)
                chosen[name] = f"coalesce(m{name}.grp, {NO_GROUP})"
        return (
            f"SELECT {_listed(chosen)} FROM (SELECT {_listed(inner)} FROM {self.given.view}) p"
            f"{joins}"
        )

    def _inner(self) -> dict[str, str]:
        """Expressions over the columns of the table, by name."""
        columns, given = self.columns, self.given
        source, target = self.ids
        found = {"row": ROW, "source": source.sql, "target": target.sql}
        flags = [(source.absent, BITS["source"]), (target.absent, BITS["target"])]
        if columns.value:
            found["score"] = Column.of(given, columns.value).number
            flags.append((f"{found['score']} IS NULL", BITS["score"]))
        if columns.weight is not None:
            found["weight"] = Column.of(given, columns.weight).number
        if not self.options.bipartite:
            flags.append((f"coalesce({source.sql} = {target.sql}, false)", BITS["loop"]))
        found["flags"] = " + ".join(
            f"CASE WHEN {sign} THEN {bit} ELSE 0 END" for sign, bit in flags
        )
        if columns.label is not None:
            found["label"] = _label_code(Column.of(given, columns.label))
        return found

    def _values(self) -> list[list[Column]]:
        """The columns that make the groups of each end that has groups."""
        ends = [each for each in (self.columns.source_groups, self.columns.target_groups) if each]
        return alike([[Column.of(self.given, name) for name in end] for end in ends])


def _listed(expressions: dict[str, str]) -> str:
    return ", ".join(f"{sql} AS {name}" for name, sql in expressions.items())


def _label_code(column: Column) -> str:
    """0, 1, :data:`NO_LABEL` where the label is missing; :data:`WRONG_LABEL` for anything else."""
    return (
        f"CAST(CASE WHEN {column.missing} THEN {NO_LABEL} WHEN {column.label} = 0.0 THEN 0 "
        f"WHEN {column.label} = 1.0 THEN 1 ELSE {WRONG_LABEL} END AS TINYINT)"
    )
