"""What the JSON of a row may hold, so that a damaged file is found when it is read."""

from typing import Any

from linkparity.metrics.measures import MEASURES
from linkparity.support.errors import InputError

#: Levels of the quantiles of predictions.
LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
#: A larger number is damage, and overflows what is computed from it.
LARGEST = 1e100
TEXT, NUMBER, WHOLE, NONE = (str,), (int, float), (int,), (type(None),)
#: By key: types, a list of them, or a mapping from text to them.
SHAPES: dict[str, Any] = {
    "dataset": TEXT + NONE, "model": TEXT, "criterion": TEXT, "gamma": NUMBER, "seed": WHOLE,
    "fit_seconds": NUMBER + NONE, "strength": NUMBER + NONE, "epochs": WHOLE, "pairs": WHOLE,
    "links": WHOLE + NONE, "intervals": {"": [NUMBER + NONE]}, "reasons": {"": TEXT},
    "notes": [TEXT], "error": TEXT + NONE, "traceback": TEXT + NONE, "test_pairs": TEXT,
    "settings": {"": (object,)}, "versions": {"": TEXT}, "threads": WHOLE + NONE,
    "id": TEXT + NONE, "data_sha256": TEXT + NONE, "peak_memory": WHOLE + NONE,
    "history": {"": [NUMBER + NONE]}, "cells": [(dict,)], "quantiles": [(dict,)],
}  # fmt: skip
CELL: dict[str, Any] = {
    "groups": [TEXT], "pairs": WHOLE, "links": WHOLE + NONE, "mean": NUMBER + NONE,
    "link_mean": NUMBER + NONE, "interval": [NUMBER + NONE], "link_interval": [NUMBER + NONE],
}  # fmt: skip
QUANTILES: dict[str, Any] = {
    "groups": [TEXT], "pairs": [NUMBER + NONE], "links": [NUMBER + NONE],
}  # fmt: skip


def check_row(row: dict[str, Any]) -> None:
    """Refuse values that no row has.

    Raises:
        InputError: Names the key and the value.
    """
    _check(row, SHAPES | dict.fromkeys(MEASURES, NUMBER + NONE), "")
    for cell in row.get("cells", ()):
        _check(cell, CELL, " of cells")
    for part in row.get("quantiles", ()):
        _check(part, QUANTILES, " of quantiles")
        lists = [part.get(key) or LEVELS for key in ("pairs", "links")]
        if part.keys() != QUANTILES.keys() or any(len(each) != len(LEVELS) for each in lists):
            problem = f"key 'quantiles' must hold groups and {len(LEVELS)} numbers, twice"
            raise InputError(problem, caller="Row.from_dict")
    if len({len(column) for column in row.get("history", {}).values()}) > 1:
        problem = "key 'history' holds columns of several lengths"
        raise InputError(problem, caller="Row.from_dict")


def _check(values: dict[str, Any], shapes: dict[str, Any], inside: str) -> None:
    for key, value in values.items():
        absent = value is None and inside  # what a pair of groups does not have
        if key in shapes and not absent and not _has_shape(value, shapes[key]):
            raise InputError(f"key {key!r}{inside} holds {value!r:.60}", caller="Row.from_dict")


def _has_shape(value: Any, shape: Any) -> bool:
    if isinstance(shape, list):
        return isinstance(value, list | tuple) and all(_has_shape(v, shape[0]) for v in value)
    if isinstance(shape, dict):
        named = isinstance(value, dict) and all(isinstance(key, str) for key in value)
        return named and all(_has_shape(each, shape[""]) for each in value.values())
    if isinstance(value, int | float) and object not in shape:
        return not isinstance(value, bool) and isinstance(value, shape) and abs(value) < LARGEST
    return isinstance(value, shape)
