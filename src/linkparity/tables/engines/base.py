"""What the method asks of the place where a table is stored: an Ibis backend, and files."""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from linkparity.support.errors import InputError, PlainError
from linkparity.support.files import Workspace

if TYPE_CHECKING:
    from linkparity.tables.reading.score_table import ScoreTable

#: Prefix of the columns that an engine adds for its own use.
OURS = "_lp_"
DELIMITER = {"csv": ",", "tsv": "\t"}
#: Number of a row from 0, in every table that has an order.
ROW = f"{OURS}row"
#: Rows of a long result at a time: few enough to stay in the processor's cache.
BATCH = 1 << 16


@dataclass(frozen=True)
class Format:
    """``csv``, ``tsv`` or ``parquet``, and whether it is compressed with gzip."""

    kind: str
    gzip: bool = False


@dataclass(frozen=True)
class TableFile:
    """An uncompressed file on disk, with the name that messages use.

    ``header`` has the column names of a text file; Parquet has them in its schema. ``separator``
    is the character between columns, where it is not that of the kind.
    """

    name: str
    path: Path
    kind: str
    header: tuple[str, ...] = ()
    separator: str = ""

    @property
    def delimiter(self) -> str:
        """The character between the columns of a text file."""
        return self.separator or DELIMITER[self.kind]


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

    This class serves tables that are in any backend already. A registered engine also reads and
    writes files: it defines :meth:`open`, :meth:`read`, :meth:`write` and :meth:`explain`. It is
    used in a ``with`` block, which closes it.

    Args:
        con: the Ibis backend.
        workspace: a directory for temporary files.
    """

    #: Prefixes of URLs that name this engine, besides its name in the registry.
    urls: ClassVar[tuple[str, ...]] = ()
    #: Name of the Ibis backend whose tables it serves better than this class.
    backend: ClassVar[str] = ""

    def __init__(self, con: Any, workspace: Workspace) -> None:
        self._con = con
        self.workspace = workspace
        self.scans = 0
        self.files: list[TableFile] = []
        self._taken: list[str] = []

    @property
    def con(self) -> Any:
        """The Ibis backend."""
        return self._con

    @classmethod
    def open(cls, workspace: Workspace, size: int, name: str) -> Self:
        """Start an engine for files.

        Args:
            workspace: for temporary files.
            size: number of bytes that the rows are expected to take.
            name: what the user called it: its name, or one of its :attr:`urls`.
        """
        raise NotImplementedError

    @classmethod
    def attach(cls, con: Any, workspace: Workspace) -> Self:
        """An engine over the caller's own backend."""
        return cls(con, workspace)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Close; turn an error that an input, the disk or this engine caused into one sentence."""
        explained = self.explain(error) if isinstance(error, Exception) else None
        self.close()
        if explained is not None:
            raise explained from None

    def explain(self, error: Exception) -> BaseException | None:
        """What to raise instead of an error that a file, the disk or the engine caused.

        Every error on the way passes here. None for one of another origin.
        """
        if isinstance(error, OSError) and error.errno == ENOSPC and error.filename is None:
            return disk_full(str(error))
        return None

    def read(self, file: TableFile, name: str) -> Input:
        """Read a file as the table ``name``, and remember it in ``files``, for errors."""
        raise NotImplementedError

    def write(
        self, table: "ScoreTable", fair: Any, names: list[str], path: str, shape: Format
    ) -> None:
        """Write the input with the new columns ``names`` of ``fair``, its rows in their order."""
        raise NotImplementedError

    def lock(self, *writable: Path) -> None:
        """Allow no further access to files, but for the inputs and the directories ``writable``."""

    def take(self, data: Any, name: str) -> Any:
        """An Arrow table, or a stream of Arrow batches, as a numbered table of this backend."""
        from ibis.util import gen_name

        self._taken.append(gen_name("linkparity"))
        return self.con.create_table(self._taken[-1], numbered(data), temp=True)

    def keep(self, expression: Any, name: str) -> Any:
        """Compute the expression once and keep the result as a table."""
        self.scans += 1
        return expression.cache()

    def lookup(self, data: Any) -> Any:
        """A small Arrow table, to be joined."""
        import ibis

        return ibis.memtable(data)

    def hash_ids(self, ids: Any) -> Any:
        """A hash of 64 bits for each id."""
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
        """The number of a row, counted from 1."""
        return row + 1

    def close(self) -> None:
        """Release what is kept."""
        for name in self._taken:
            self.con.drop_table(name, force=True)


def numbered(data: Any) -> Any:
    """An Arrow table, or a stream of batches, as an Arrow table with the number of each row."""
    import pyarrow as pa

    table = data if isinstance(data, pa.Table) else data.read_all()
    return table.append_column(ROW, pa.array(np.arange(table.num_rows)))


def disk_full(problem: str) -> PlainError:
    """The disk, or the space for temporary files, is full."""
    fix = "free some space, or use another directory for temporary files and outputs"
    return PlainError(f"{problem}; nothing was written", fix)


def literal_path(path: Path) -> str:
    """A path in which stars and brackets are characters, not a pattern for several files.

    >>> literal_path(Path("/tmp/scores[1].csv"))
    '/tmp/scores[[]1].csv'
    """
    return re.sub(r"[*?[]", lambda sign: f"[{sign[0]}]", str(path.absolute()))


def check_columns(where: str, names: Sequence[str]) -> None:
    """Refuse names that an engine cannot tell apart: it ignores upper and lower case."""
    known: dict[str, str] = {}
    for name in names:
        if not name:
            raise InputError("has a column without a name", "give every column one", where=where)
        if name.lower().startswith(OURS):
            problem = f"names that begin with {OURS!r}, such as column {name!r}, are reserved"
            raise InputError(problem, "rename the column", where=where)
        if name.lower() in known:
            other = known[name.lower()]
            problem = f"column {name!r} occurs twice"
            if other != name:
                problem = f"columns {other!r} and {name!r} differ only in upper and lower case"
            raise InputError(problem, "rename one of them in the header", where=where)
        known[name.lower()] = name
