"""Parts of messages: counts with their nouns, places in tables, similar ids."""

import re
from collections.abc import Iterable
from itertools import islice

from linkparity.support.registry import nearest

#: Maximum number of ids that are searched for a similar one.
LOOKED_AT = 10_000
#: Characters that command a terminal or turn the direction of writing; not tab and newline.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def without_controls(text: str) -> str:
    r"""Text that is safe to show on a terminal: control characters are left out.

    >>> without_controls("a\x1b[31mb")
    'a[31mb'
    """
    return CONTROLS.sub("", text)


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "row"), counted(2000, "such row")
    ('1 row', '2,000 such rows')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def place(table: str, row: int | None = None, column: str | None = None) -> str:
    """Where a problem is, for the ``where`` of an error; rows are counted from 1.

    >>> place("scores.csv", 1200, "score")
    "scores.csv: row 1,200, column 'score'"
    """
    parts = [] if row is None else [f"row {row:,}"]
    parts += [] if column is None else [f"column {column!r}"]
    return f"{table}: {', '.join(parts)}" if parts else table


def nearest_id(wanted: object, ids: Iterable[object]) -> str:
    """As :func:`nearest`, for any number of ids of any type.

    >>> nearest_id("01007x", ["01000", "01007"])
    "; did you mean '01007'?"
    """
    return nearest(str(wanted), [str(each) for each in islice(ids, LOOKED_AT)])
