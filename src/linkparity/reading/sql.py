"""The SQL of the door: ids that can be compared, numbers and labels, as expressions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkparity.reading.duckdb import Format, Input, quoted, text

if TYPE_CHECKING:
    from linkparity.reading.columns import Columns


@dataclass(frozen=True)
class Column:
    """A column of a table in SQL.

    Attributes:
        sql: the expression.
        kind: ``number``, ``float``, ``bool``, ``text``, ``nested`` or ``other``.
        type: DuckDB's name of its type.
    """

    sql: str
    kind: str
    type: str

    @classmethod
    def of(cls, table: Input, name: str, alias: str = "") -> "Column":
        """A column of a table; text of any type is plain text."""
        sql, type_name = f"{alias}{quoted(name)}", table.types[name]
        if type_name.startswith("ENUM"):
            return cls(f"CAST({sql} AS VARCHAR)", "text", "VARCHAR")
        return cls(sql, table.type(name), type_name)

    @property
    def absent(self) -> str:
        """Whether an id is null, NaN or empty; blanks are an id like any other."""
        if self.kind == "float":
            return f"({self.sql} IS NULL OR isnan({self.sql}))"
        empty = f" OR {self.sql} = ''" if self.kind == "text" else ""
        return f"({self.sql} IS NULL{empty})"

    @property
    def missing(self) -> str:
        """Whether a value is null, NaN or blank."""
        if self.kind == "text":
            return f"({self.sql} IS NULL OR trim({self.sql}, {BLANKS}) = '')"
        return self.absent

    def unknown(self, codes: Sequence[str]) -> str:
        """Whether a value is missing or one of ``codes``, which mean the same."""
        if not codes:
            return self.missing
        return f"({self.missing} OR {self.as_text.sql} IN ({', '.join(map(text, codes))}))"

    @property
    def whole(self) -> bool:
        """Whether the type is one of whole numbers."""
        return self.kind == "number" and not self.type.startswith("DECIMAL")

    @property
    def as_text(self) -> "Column":
        """Ids as text; a whole number that pandas stored as a float reads as a whole number.

        NaN becomes null. A number beyond 2^53 or a fraction stays as it is written.
        """
        if self.kind == "text":
            return self
        sql = f"CAST({self.sql} AS VARCHAR)"
        if self.kind == "float":
            x = self.sql
            whole = f"TRY_CAST(CASE WHEN abs({x}) < {2.0**53!r} THEN {x} END AS BIGINT)"
            sql = (
                f"CASE WHEN isnan({x}) THEN NULL WHEN {whole} = {x} "
                f"THEN CAST({whole} AS VARCHAR) ELSE {sql} END"
            )
        return Column(sql, "text", "VARCHAR")

    @property
    def number(self) -> str:
        """Numbers, booleans or text as numbers; other text becomes null."""
        if self.kind == "bool":
            return f"CAST(CAST({self.sql} AS TINYINT) AS DOUBLE)"
        return f"{'TRY_CAST' if self.kind == 'text' else 'CAST'}({self.sql} AS DOUBLE)"

    @property
    def label(self) -> str:
        """A label as a number; text may also be true or false."""
        if self.kind != "text":
            return self.number
        word = f"lower({self.sql})"
        words = f"WHEN {word} = 'true' THEN 1.0 WHEN {word} = 'false' THEN 0.0"
        return f"CASE {words} ELSE {self.number} END"

    @property
    def numeric(self) -> bool:
        """Whether the column may hold numbers."""
        return self.kind in ("number", "float", "bool", "text")


#: What is stripped from values of attributes.
BLANKS = "' \t\n\r\x0b\x0c'"


def comparable(*columns: Column) -> tuple[Column, ...]:
    """The columns as they are where they have one type, else as text."""
    if len({column.type for column in columns}) == 1:
        return columns
    return tuple(column.as_text for column in columns)


def written_columns(given: Input, columns: "Columns", shape: Format) -> list[str]:
    """The columns of a table ``g`` as they are written; in Parquet, numbers are no text."""
    found = {name: f"g.{quoted(name)}" for name in given.columns}
    if given.text and shape.kind == "parquet":
        for name in filter(None, (columns.value, columns.weight)):
            found[name] = Column.of(given, name, "g.").number
        if columns.label is not None:
            label = Column.of(given, columns.label, "g.").label
            found[columns.label] = f"CAST({label} AS TINYINT)"
    return [f"{sql} AS {quoted(name)}" for name, sql in found.items()]
