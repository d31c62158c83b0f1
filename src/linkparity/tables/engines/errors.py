"""What DuckDB refuses, in one sentence with file, row and fix."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC

from linkparity.support.wording import counted
from linkparity.tables.reading.files import Source, odd_ending, row_of


@contextmanager
def readable_errors() -> Iterator[None]:
    """Errors of DuckDB that are no bug, such as a full disk, in one sentence."""
    import duckdb

    try:
        yield
    except (duckdb.InterruptException, RuntimeError) as error:
        if isinstance(error, RuntimeError) and str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None
    except (duckdb.IOException, duckdb.OutOfMemoryException, OSError) as error:
        if isinstance(error, OSError) and (error.errno != ENOSPC or error.filename is not None):
            raise
        line = str(error).split("\n")[0]
        full = "No space left" in str(error) or "max_temp_directory_size" in str(error)
        fix = "free some space, or point --tmp and --out elsewhere" if full else "try again"
        raise OSError(f"{line}; nothing was written; {fix}") from None


def unreadable(source: Source, message: str) -> str:
    """What DuckDB says about a file that it cannot read."""
    line = re.search(r"Error on Line: (\d+)", message)
    where = f"{source.name}: row {row_of(source, int(line[1])):,}" if line else source.name
    if counts := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        found = counted(int(counts[2]), "column")
        return f"{where} has {found} where the header has {counts[1]}; mend the row"
    if "invalid state" in message and (odd := odd_ending(source)) is not None:
        return f"{source.name}: {odd}; end every line alike, with LF or with CR LF"
    for sign, told in (
        ("utf-8", "is not UTF-8 text; save the file with the encoding UTF-8"),
        ("unterminated quote", "opens a quote that never closes; double the quotes inside a value"),
        ("Maximum line size", "is longer than 2 MB; look for a quote that never closes"),
    ):
        if sign in message:
            return f"{where} {told}"
    if source.kind == "parquet":
        return f"{where} is not a whole Parquet file; write it again, or mend its extension"
    return f"{where} cannot be read: {message.splitlines()[0]}"
