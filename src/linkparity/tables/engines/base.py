"""Where tables are worked on: an Ibis backend, and the little that Ibis does not say for all."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkparity.support.optional import require
from linkparity.tables.reading.files import OURS, Format

if TYPE_CHECKING:
    from linkparity.tables.reading.score_table import ScoreTable

#: Number of a row from 0, in every table that has an order.
ROW = f"{OURS}row"
EXTRA = "linkparity[tables]"
#: Rows of a long result at a time: few enough to stay in the processor's cache.
BATCH = 1 << 16


@dataclass(frozen=True)
class Input:
    """A table to work on.

    Attributes:
        name: for messages.
        table: an Ibis table; a relation where DuckDB is used without Ibis.
        ordered: whether it has :data:`ROW`.
        names: the columns as given, where the table holds only those that are needed.
        text: whether every value is text, because the file is.
    """

    name: str
    table: Any
    ordered: bool = True
    names: tuple[str, ...] | None = None
    text: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns as given."""
        if self.names is not None:
            return list(self.names)
        return [name for name in self.table.columns if name != ROW]


class Engine:
    """An Ibis backend that counts its scans over rows.

    Args:
        con: the Ibis backend.
    """

    def __init__(self, con: Any) -> None:
        self.con = con
        self.scans = 0
        self._taken: list[str] = []

    def take(self, frame: Any, name: str) -> Any:
        """An Arrow table in memory as a numbered table of this backend."""
        self._taken.append(require("ibis", name, EXTRA).util.gen_name("linkparity"))
        return self.con.create_table(self._taken[-1], numbered(frame, name), temp=True)

    def keep(self, expression: Any, name: str) -> Any:
        """Work the expression out once and keep the result as a table."""
        self.scans += 1
        return expression.cache()

    def lookup(self, data: Any) -> Any:
        """A few numbers in an Arrow table, to be joined."""
        return require("ibis", "audit and project", EXTRA).memtable(data)

    def number(self, ids: Any) -> Any:
        """A number of 64 bits that tells ids apart."""
        return ids.hash()

    def small(self, expression: Any) -> dict[str, np.ndarray]:
        """A result of few rows as numpy arrays by column; one scan."""
        self.scans += 1
        found = expression.to_pyarrow()
        return {name: found.column(name).to_numpy() for name in found.column_names}

    def batches(self, expression: Any) -> Iterator[tuple[np.ndarray, ...]]:
        """A long result piece by piece, numpy arrays in the order of the columns; one scan."""
        self.scans += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            for batch in expression.to_pyarrow_batches(chunk_size=BATCH):
                yield tuple(column.to_numpy(zero_copy_only=False) for column in batch.columns)

    def position(self, table: Input, row: int) -> int:
        """The row's number as a person counts, from 1."""
        return row + 1

    def write(
        self, table: "ScoreTable", fair: Any, names: list[str], path: str, shape: Format
    ) -> None:
        """Write the input with the new columns ``names`` of ``fair``, its rows in their order."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what is kept."""
        for name in self._taken:
            self.con.drop_table(name, force=True)


def numbered(frame: Any, name: str) -> Any:
    """An Arrow table with the number of each row."""
    pa = require("pyarrow", "audit and project", EXTRA)
    return frame.append_column(ROW, pa.array(np.arange(frame.num_rows)))
