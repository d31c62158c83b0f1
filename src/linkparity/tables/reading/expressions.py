"""Scores and labels of any type as numbers, on both scales."""

from typing import Any

from linkparity.support.optional import require
from linkparity.tables.engines.base import EXTRA

#: A logit further out is a probability of 0 or 1 in double precision, on the smaller side too.
FAR = 700.0


def movable(rows: Any) -> Any:
    """Whether a tilt can move a row's score: one of exactly 0 or 1 stays."""
    return rows.x.abs() <= FAR


def number(column: Any) -> Any:
    """A column of numbers, text or booleans as numbers; text that is none becomes nothing."""
    if column.type().is_boolean():
        return column.cast("int8").cast("float64")
    return column.try_cast("float64") if column.type().is_string() else column.cast("float64")


def label_number(column: Any) -> Any:
    """A label as a number; text may also say true or false, as tables with booleans do."""
    ibis = require("ibis", "audit and project", EXTRA)
    if not column.type().is_string():
        return number(column)
    word = column.lower()
    return ibis.cases((word == "true", 1.0), (word == "false", 0.0), else_=number(column))


def both_scales(value: Any, logits: bool) -> tuple[Any, Any]:
    """Logit and probability; a probability of 0 or 1 has an infinite logit."""
    ibis = require("ibis", "audit and project", EXTRA)
    if logits:
        small = (-value.abs()).exp()
        return value, ibis.ifelse(value > 0, 1 / (1 + small), small / (1 + small))
    inside = (value > 0) & (value < 1)
    safe = ibis.ifelse(inside, value, 0.5)
    edge = ibis.ifelse(value >= 1, float("inf"), float("-inf"))
    return ibis.ifelse(inside, safe.ln() - (1 - safe).ln(), edge), value
