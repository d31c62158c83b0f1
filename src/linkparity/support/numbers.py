"""One format for numbers and intervals, wherever they are shown; JSON has every digit."""

from math import isfinite, isnan, nan

MISSING = "–"


def format_number(value: float) -> str:
    """Four decimals; below 0.001 two significant digits and the power of ten.

    >>> [format_number(value) for value in (0.5, 0, 3.14e-5, float("nan"))]
    ['0.5000', '0.0000', '3.1e-05', '–']
    """
    if isnan(value):
        return MISSING
    return f"{value:.4f}" if value == 0 or abs(value) >= 1e-3 else f"{value:.1e}"


def format_interval(ends: tuple[float, float] | None) -> str:
    """Both ends of an interval; a dash where it is missing or undefined.

    >>> format_interval((0.1, 0.25)), format_interval(None)
    ('0.1000 … 0.2500', '–')
    """
    if ends is None or isnan(ends[0]):
        return MISSING
    return f"{format_number(ends[0])} … {format_number(ends[1])}"


def or_none(value: float) -> float | None:
    """A finite number, or None, which JSON has in place of ``nan``."""
    return value if isfinite(value) else None


def or_nan(value: float | None) -> float:
    """The inverse of :func:`or_none`."""
    return nan if value is None else value
