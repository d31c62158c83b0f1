"""The audit as one HTML file: no script, no network, everything escaped."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from linkparity.metrics.cell_means import VIEW_TITLES, about_groups
from linkparity.metrics.measures import MEASURES
from linkparity.metrics.printing import end_of_scale
from linkparity.metrics.results import CellScore
from linkparity.report.rendering import render
from linkparity.support.display import cell_label, counted, format_number
from linkparity.support.files import write_text

if TYPE_CHECKING:
    from linkparity.metrics.tables.audit_table import Audit

#: Ends of the colour scale of mean scores, light to dark.
LIGHT, DARK = (239, 244, 250), (24, 62, 112)
NO_PAIRS = CellScore((), 0, 0, nan, nan)
#: Rows of the table of group pairs; the JSON output has all of them.
MAX_CELLS = 400


class Square(NamedTuple):
    """One pair of groups in a heatmap: its tooltip, colour, text and the colour of the text."""

    tip: str
    fill: str = "url(#none)"
    text: str = ""
    ink: str = ""


def write_html(
    name: str, audit: "Audit", conditions: list[str], failed: list[str], force: bool = False
) -> None:
    """Write :func:`audit_html` to a file."""
    write_text(name, audit_html(audit, conditions, failed), force)


def audit_html(audit: "Audit", conditions: list[str], failed: list[str]) -> str:
    """The whole page.

    Args:
        audit: What to show.
        conditions: Conditions of ``--fail-if``, such as ``dp>0.05``.
        failed: A sentence for each of them that holds.
    """
    shown = [measure for measure in MEASURES.values() if measure.in_tables]
    return render(
        "audit.html.j2",
        audit=audit,
        conditions=conditions,
        failed=failed,
        measures=sorted(shown, key=lambda measure: measure.parity is None),
        view_measures=[measure for measure in shown if measure.in_views],
        view_titles=VIEW_TITLES,
        words=about_groups if audit.one_sided else str,
        maps=_heatmaps(audit),
        largest_share=max((max(p.share, p.slot_share) for p in audit.exposure), default=1.0),
        cells=sorted(audit.cells, key=lambda cell: (isnan(cell.mean), -cell.mean)),
        max_cells=MAX_CELLS,
        largest_mean=end_of_scale((cell.mean, cell.interval) for cell in audit.cells) or 1.0,
        change_span=_change_span(audit),
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _change_span(audit: "Audit") -> float:
    """Largest distance from 0 of a change or an end of its interval, to two digits."""
    if audit.change is None:
        return 1.0
    values, intervals = audit.change.values, audit.change.intervals
    pairs = ((abs(values[name]), (abs(low), abs(high))) for name, (low, high) in intervals.items())
    return end_of_scale(pairs) or 1.0


def _heatmaps(audit: "Audit") -> dict[str, list[Square]]:
    """Squares by caption: over all pairs, over true links; none where a cell is one group."""
    cells: dict[tuple[str, ...], CellScore] = {
        cell.groups: cell for cell in audit.cells if len(cell.groups) == 2
    }
    if not cells:
        return {}
    if not audit.directed:
        cells |= {groups[::-1]: cell for groups, cell in cells.items()}
    ends = list(product(audit.groups, repeat=2))
    found = [cells.get(pair, NO_PAIRS) for pair in ends]
    means = [(cell.mean, counted(cell.pairs, "pair")) for cell in found]
    maps = {"Mean score over all pairs": _squares(ends, means)}
    if audit.links:
        means = [(cell.link_mean, counted(cell.links or 0, "link")) for cell in found]
        maps["Mean score over true links"] = _squares(ends, means)
    return maps


def _squares(ends: Sequence[tuple[str, ...]], means: Sequence[tuple[float, str]]) -> list[Square]:
    known = [mean for mean, _ in means if not isnan(mean)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    span = max(high - low, 0.02 * high) or 1.0  # at parity all squares have one shade
    squares = []
    for pair, (mean, count) in zip(ends, means, strict=True):
        name = cell_label(pair)
        if isnan(mean):
            squares.append(Square(f"{name}: no pairs"))
            continue
        part, text = (mean - low) / span, format_number(mean)
        shade = (round(a + (b - a) * part) for a, b in zip(LIGHT, DARK, strict=True))
        fill, ink = f"rgb({','.join(map(str, shade))})", "#fff" if part > 0.5 else "#14202e"
        squares.append(Square(f"{name}: {text}, {count}", fill, text, ink))
    return squares
