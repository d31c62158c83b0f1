"""The TOML file of an experiment: reading it, and the row that a key is in."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkparity.experiments.experiment_checks import KeyPath, SettingError, key_text
from linkparity.support.errors import InputError

#: Comments, strings of four kinds, words, and single characters such as brackets and line ends.
TOKEN = re.compile(
    r"""
    \#[^\n]* | "{3} (?:\\.|[^\\])*? "{3,5} | '{3} .*? '{3,5} | " (?:\\.|[^"\\\n])* " | ' [^'\n]* '
    | [^\s\[\]{},\#"']+ | .
    """,
    re.DOTALL | re.VERBOSE,
)


def read_toml(name: str) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file and its keys."""
    try:
        text = Path(name).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        fix = "save the file in that encoding"
        raise InputError("is not UTF-8 text", fix, where=name) from None
    try:
        return text, tomllib.loads(text + "\n")  # errors then name the last line, not the end
    except (ValueError, RecursionError) as error:
        fix = 'write key = value, such as data = ["polbooks"]'
        raise InputError(f"is not valid TOML: {error}", fix, where=name) from None


def located(error: SettingError, name: str, text: str) -> InputError:
    """The same error with the file, the row and the key."""
    row = find_row(text, error.path)
    parts = [name if row is None else f"{name}: row {row}", key_text(error.path, quoted=True)]
    where = ", ".join(part for part in parts if part)
    return InputError(error.message.problem, error.message.fix, where=where)


def find_row(text: str, path: KeyPath) -> int | None:
    r"""The row that a key, or an entry of a list, is in, counted from 1; None if it is in none.

    Where the key is not there, that of the table or list that should hold it. Time is linear in
    the length of the text.

    >>> find_row('data = "a"\n\nmodels = [\n  "cne",\n  {name = "gae"},\n]', ("models", 1))
    5
    """
    placed = list(_place_statements(text))
    while path:
        for table, values, statement in placed:
            if values is None and path == table[: len(path)]:
                return statement.row
            inside = path[len(table) :]
            if values is not None and path[: len(table)] == table and _has(values, inside):
                entry = next((key for key in inside if isinstance(key, int)), None)
                return statement.row if entry is None else statement.row_of(entry)
        path = path[:-1]
    return None


@dataclass(frozen=True)
class _Statement:
    """A key with its value, or the header of a table.

    Attributes:
        text: all of it, with the comments before it.
        row: of its first word.
        header: whether it is a header.
        entries: the row of each entry of the list that is its value.
    """

    text: str
    row: int
    header: bool
    entries: tuple[int, ...]

    def row_of(self, entry: int) -> int:
        """The row of an entry; that of the statement where its value is no list."""
        return self.entries[entry] if entry < len(self.entries) else self.row


def _place_statements(text: str) -> Iterator[tuple[KeyPath, dict[str, Any] | None, _Statement]]:
    """The path of the table that each statement is in, its values (None: a header), and itself."""
    count: Counter[KeyPath] = Counter()
    table: KeyPath = ()
    for statement in _statements(text):
        found: Any = tomllib.loads(statement.text)
        if not statement.header:
            yield table, found, statement
            continue
        table = ()
        while found:
            ((key, found),) = found.items()
            table += (key,)
            if isinstance(found, list):
                count[table] += 1
                found = found[0]
            if count[table]:
                table += (count[table] - 1,)
        yield table, None, statement


def _statements(text: str) -> Iterator[_Statement]:
    """The statements of a text that is valid TOML."""
    begin, row, depth, first, header, entries = 0, 1, 0, 0, False, list[int]()
    in_list = next_entry = False
    for found in TOKEN.finditer(text + "\n"):
        token = found[0]
        if token == "\n" and not depth:
            if first:
                yield _Statement(found.string[begin : found.end()], first, header, tuple(entries))
            begin, first, entries, in_list = found.end(), 0, [], False
        elif not token.isspace() and token[0] != "#":
            if not first:
                first, header = row, token == "["
            if next_entry and token != "]":
                entries.append(row)
            next_entry = depth == 1 and in_list and token == ","
            if token in ("[", "{"):
                depth += 1
                if depth == 1:
                    next_entry = in_list = token == "["
            elif token in ("]", "}"):
                depth -= 1
        row += token.count("\n")


def _has(found: Any, path: KeyPath) -> bool:
    """Whether a path leads to a value."""
    for key in path:
        inside = (
            len(found) > key
            if isinstance(found, list) and isinstance(key, int)
            else (isinstance(found, dict) and key in found)
        )
        if not inside:
            return False
        found = found[key]
    return bool(path)
