"""The TOML file of an experiment: reading it, and the row that a key is in."""

import tomllib
from pathlib import Path
from typing import Any

from linkparity.experiments.experiment_checks import KeyPath, SettingError, key_text
from linkparity.support.errors import InputError


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

    A key is in the statement after which the text up to there has the key. Within a list of
    several rows, the text is closed with a bracket to count the entries so far.

    >>> find_row('data = "a"\n\nmodels = [\n  "cne",\n  {name = "gae"},\n]', ("models", 1))
    5
    """
    lines = text.splitlines(keepends=True)
    begin = 0
    for end in range(1, len(lines) + 1):
        found = _parse("".join(lines[:end]))
        if found is None:
            continue
        if _has(found, path):
            for last in range(begin + 1, end):
                if _has(_parse("".join(lines[:last]) + "\n]"), path):
                    return last
            entry = any(isinstance(key, int) for key in path)
            return end if entry else begin + 1 + _blank(lines[begin:end])
        begin = end
    return find_row(text, path[:-1]) if path else None


def _parse(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


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
    return found is not None and bool(path)


def _blank(lines: list[str]) -> int:
    """Number of rows before the first that is neither empty nor a comment."""
    used = (place for place, line in enumerate(lines) if line.strip() and line.strip()[0] != "#")
    return next(used, 0)
