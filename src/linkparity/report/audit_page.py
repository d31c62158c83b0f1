"""The audit as one HTML file: no script, no network, everything escaped."""

from datetime import UTC, datetime
from html import escape
from math import isnan
from typing import TYPE_CHECKING

from linkparity.metrics.views import VIEW_TITLES
from linkparity.report.page import EXPLAINED, LIMITS, PAGE, STYLE
from linkparity.report.svg import heatmap, range_bar, share_bars, short
from linkparity.support.files import write_text
from linkparity.support.wording import counted

if TYPE_CHECKING:
    from linkparity.tables.audit_table import Audit

TITLES = {
    "dp": "Gap between group pairs",
    "eo": "Gap among true links",
    "rdp": "Rank disparity",
    "auc": "Accuracy of the order",
    "kl": "Distance to parity",
}
MOST_CELLS = 400


def write_html(
    name: str, audit: "Audit", gates: list[str], failed: list[str], force: bool = False
) -> None:
    """Write the report to a file."""
    write_text(name, report_html(audit, gates, failed), force)


def report_html(audit: "Audit", gates: list[str], failed: list[str]) -> str:
    """The whole page as text."""
    links = "no labels" if audit.links is None else f"{audit.links:,} links"
    parts = [
        _gates(gates, failed),
        f'<section class="cards">{"".join(_card(audit, name) for name in TITLES)}</section>',
        _pairs(audit),
        _views(audit),
        _exposure(audit),
        _cells(audit),
        _notes(audit),
    ]
    return PAGE.format(
        style=STYLE,
        title=escape(f"Audit of {audit.name} by {audit.attribute}"),
        table=escape(audit.name),
        attribute=escape(audit.attribute),
        counts=f"{audit.pairs:,} pairs · {links} · {len(audit.groups)} groups",
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        body="".join(parts),
    )


def _gates(gates: list[str], failed: list[str]) -> str:
    if not gates:
        return ""
    if not failed:
        told = ", ".join(escape(gate) for gate in gates)
        return f'<p class="gate pass">Gate passed: none of <code>{told}</code> holds.</p>'
    told = "".join(f"<li>{escape(reason)}</li>" for reason in failed)
    return f'<div class="gate fail">Gate failed<ul>{told}</ul></div>'


def _card(audit: "Audit", name: str) -> str:
    value, ends = audit.values[name], audit.intervals.get(name)
    told = "undefined" if isnan(value) else short(value)
    under = escape(audit.reasons[name]) if name in audit.reasons else ""
    if ends is not None and not isnan(ends[0]):
        under = f"{100 * (audit.confidence or 0):g} % interval {short(ends[0])} to {short(ends[1])}"
    bar = range_bar(value, ends) if name != "kl" else ""
    none = " none" if isnan(value) else ""
    unit = f"nats per pair, for {audit.criterion}" if name == "kl" and not isnan(value) else ""
    return (
        f'<article><h3><code>{name}</code>{TITLES[name]}</h3><p class="big{none}">{told}'
        f'<small>{unit}</small></p>{bar}<p class="under">{under}</p>'
        f"<p>{EXPLAINED[name]}</p></article>"
    )


def _pairs(audit: "Audit") -> str:
    paired = [cell for cell in audit.cells if len(cell.groups) == 2]
    if not paired:
        return ""
    names = list(audit.groups)

    def drawn(which: str, unit: str, caption: str) -> str:
        values = {}
        for cell in paired:
            value, count = getattr(cell, which), getattr(cell, unit)
            told = (value, f"{short(value)}, {counted(count, unit[:-1])}")
            values[cell.groups] = told
            if not audit.directed:
                values[cell.groups[::-1]] = told
        return (
            f"<figure><figcaption>{caption}</figcaption>{heatmap(names, values, caption)}</figure>"
        )

    maps = drawn("mean", "pairs", "Mean score over all pairs")
    if audit.links:
        maps += drawn("link_mean", "links", "Mean score over true links")
    return (
        "<section><h2>Who is scored with whom</h2><p>Each square is a pair of groups; darker is a "
        "higher mean score. At parity all squares of a map have one shade. The shades span the "
        f'smallest to the largest mean.</p><div class="maps">{maps}</div>'
        "</section>"
    )


def _views(audit: "Audit") -> str:
    rows = ""
    for view, found in audit.views.items():
        cells = "".join(
            f'<td class="r">{short(found[name].value)}</td>'
            f'<td class="r dim">{_ends(found[name].interval)}</td>'
            for name in ("dp", "eo")
        )
        rows += f"<tr><td>{VIEW_TITLES[view]}</td>{cells}</tr>"
    return (
        "<section><h2>The same gaps in three views</h2><table><thead><tr><th>largest gap between"
        '</th><th class="r">all pairs (dp)</th><th class="r">interval</th><th class="r">true links '
        f'(eo)</th><th class="r">interval</th></tr></thead><tbody>{rows}</tbody></table></section>'
    )


def _ends(ends: tuple[float, float] | None) -> str:
    return "" if ends is None or isnan(ends[0]) else f"{short(ends[0])} – {short(ends[1])}"


def _exposure(audit: "Audit") -> str:
    top = max((max(part.share, part.slot_share) for part in audit.exposure), default=1.0)
    rows = "".join(
        f"<tr><td>{escape(part.group)}</td>"
        f'<td class="r">{audit.groups[part.group]:,}</td>'
        f'<td class="r">{part.share:.1%}</td><td class="r">{part.slot_share:.1%}</td>'
        f'<td class="r"><b>{part.ratio:.2f}</b></td>'
        f"<td>{share_bars(part.share, part.slot_share, top)}</td></tr>"
        for part in audit.exposure
    )
    return (
        f"<section><h2>Who gets the first {audit.top} places</h2><p>Every list ranks its "
        'candidates by score. <span class="key have"></span> share of the candidates, '
        f'<span class="key got"></span> share of the first {audit.top} places. A ratio '
        "of 1 is as many places as candidates.</p><table><thead><tr><th>group</th>"
        '<th class="r">nodes</th><th class="r">of candidates</th><th class="r">of places</th>'
        f'<th class="r">ratio</th><th></th></tr></thead><tbody>{rows}</tbody></table></section>'
    )


def _cells(audit: "Audit") -> str:
    shown = sorted(audit.cells, key=lambda cell: -cell.mean)[:MOST_CELLS]
    small = {name.rsplit(" (", 1)[0] for name in audit.small}
    rows = ""
    for cell in shown:
        name = " – ".join(cell.groups)
        flag = ' <span class="flag">few pairs</span>' if name in small else ""
        links = "?" if cell.links is None else f"{cell.links:,}"
        rows += (
            f'<tr><td>{escape(name)}{flag}</td><td class="r">{cell.pairs:,}</td>'
            f'<td class="r">{short(cell.mean)}</td><td>{range_bar(cell.mean, None)}</td>'
            f'<td class="r">{links}</td><td class="r">{short(cell.link_mean)}</td></tr>'
        )
    more = len(audit.cells) - len(shown)
    rest = f"<p>{more:,} more group pairs stand in the JSON output.</p>" if more else ""
    return (
        "<section><h2>Every pair of groups</h2><table><thead><tr><th>groups</th>"
        '<th class="r">pairs</th><th class="r">mean</th><th>0 to 1</th><th class="r">links</th>'
        f'<th class="r">mean over links</th></tr></thead><tbody>{rows}</tbody></table>{rest}'
        "</section>"
    )


def _notes(audit: "Audit") -> str:
    told = [f"{name}: {reason}." for name, reason in audit.reasons.items()]
    told += [*audit.notes, *LIMITS]
    return f"<section><h2>Read this with the numbers</h2><ul>{_list(told)}</ul></section>"


def _list(sentences: list[str]) -> str:
    return "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
