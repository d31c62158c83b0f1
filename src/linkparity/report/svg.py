"""Drawings for the audit report, as inline SVG: a heatmap of group pairs, bars of shares."""

from collections.abc import Sequence
from html import escape
from math import isnan

#: Ends of the colour scale, light to dark.
LIGHT, DARK = (239, 244, 250), (24, 62, 112)
SIDE = 78


def heatmap(
    names: Sequence[str], values: dict[tuple[str, ...], tuple[float, str]], caption: str
) -> str:
    """One square per pair of groups, darker for a higher mean; ``values`` by the groups' names.

    A pair without a value, row first, is hatched. Each square carries its text as a tooltip.
    """
    count = len(names)
    side = SIDE if count <= 8 else max(14, 620 // count)
    known = [value for value, _ in values.values() if not isnan(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    left = 24 + min(max(len(name) for name in names), 18) * 7.4
    squares = [
        _square(row, column, names, values, (low, high), side)
        for row in range(count)
        for column in range(count)
    ]
    marks = "".join(_mark(name, i, side, count * side + 12) for i, name in enumerate(names))
    wide = left + count * side + 12
    tall = count * side + 12 + left * 0.75
    return (
        f'<svg role="img" aria-label="{escape(caption)}" viewBox="0 0 {wide:.0f} {tall:.0f}" '
        f'width="{wide:.0f}"><defs><pattern id="none" width="6" height="6" '
        'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" '
        'class="empty"/><line x1="0" y1="0" x2="0" y2="6" class="hatch"/></pattern></defs>'
        f'<g transform="translate({left:.0f},6)">{"".join(squares)}{marks}</g></svg>'
    )


def _square(
    row: int,
    column: int,
    names: Sequence[str],
    values: dict[tuple[str, ...], tuple[float, str]],
    ends: tuple[float, float],
    side: int,
) -> str:
    pair = (names[row], names[column])
    found = values.get(pair)
    place = f'x="{column * side}" y="{row * side}" width="{side - 2}" height="{side - 2}" rx="3"'
    if found is None or isnan(found[0]):
        tip = escape(f"{pair[0]} – {pair[1]}: no pairs")
        return f'<rect {place} fill="url(#none)"><title>{tip}</title></rect>'
    value, tip = found
    span = max(ends[1] - ends[0], 0.02 * ends[1])  # so that parity has one shade
    part = (value - ends[0]) / span if span else 0.0
    shade = ",".join(str(round(a + (b - a) * part)) for a, b in zip(LIGHT, DARK, strict=True))
    text = ""
    if side >= 38:
        size = 14 if side >= 60 else 11
        ink = "#fff" if part > 0.5 else "#14202e"
        x, y = column * side + side / 2 - 1, row * side + side / 2 + 4
        text = f'<text x="{x:g}" y="{y:g}" class="v" font-size="{size}" '
        text += f'fill="{ink}">{short(value)}</text>'
    tip = escape(f"{pair[0]} – {pair[1]}: {tip}")
    return f'<g><rect {place} fill="rgb({shade})"><title>{tip}</title></rect>{text}</g>'


def _mark(name: str, i: int, side: int, below: int) -> str:
    """A group's name beside its row and below its column."""
    shown = name if len(name) <= 18 else f"{name[:8]}…{name[-9:]}"  # long names often end apart
    middle = i * side + side / 2
    size = 13 if side >= 22 else 9
    return (
        f'<text x="-8" y="{middle + 4:g}" text-anchor="end" class="n" font-size="{size}">'
        f"{escape(shown)}<title>{escape(name)}</title></text>"
        f'<text transform="translate({middle:g},{below}) rotate(-35)" text-anchor="end" '
        f'class="n" font-size="{size}">{escape(shown)}<title>{escape(name)}</title></text>'
    )


def range_bar(value: float, ends: tuple[float, float] | None, top: float = 1.0) -> str:
    """A measure on a line from 0 to ``top``: a dot, and its interval as a band."""
    if isnan(value):
        return ""

    def at(number: float) -> float:
        return 4 + 192 * min(max(number / top, 0.0), 1.0)

    band = ""
    if ends is not None and not isnan(ends[0]):
        wide = max(at(ends[1]) - at(ends[0]), 1.0)
        band = (
            f'<rect x="{at(ends[0]):.1f}" y="5" width="{wide:.1f}" height="8" rx="2" class="band"/>'
        )
    return (
        '<svg class="range" viewBox="0 0 200 18" width="200" height="18" aria-hidden="true">'
        f'<line x1="4" y1="9" x2="196" y2="9" class="axis"/>{band}'
        f'<circle cx="{at(value):.1f}" cy="9" r="4" class="dot"/></svg>'
    )


def share_bars(share: float, slots: float, top: float) -> str:
    """Two bars, one above the other: share of candidates, share of places."""
    scale = 240 / top if top else 0.0
    return (
        '<svg class="bars" viewBox="0 0 244 22" width="244" height="22" aria-hidden="true">'
        f'<rect x="0" y="2" width="{share * scale:.1f}" height="7" rx="1.5" class="have"/>'
        f'<rect x="0" y="12" width="{slots * scale:.1f}" height="7" rx="1.5" class="got"/></svg>'
    )


def short(value: float) -> str:
    """Three digits, however small."""
    if isnan(value):
        return "–"
    if value == 0 or abs(value) >= 0.001:
        return f"{value:.3f}"
    return f"{value:.1e}"
