"""How audits and corrections print."""

from math import isnan
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from linkparity.metrics.printing import cells_grid, measures_grid, omitted_cells
from linkparity.metrics.views import VIEW_TITLES
from linkparity.support.numbers import format_interval, format_number

if TYPE_CHECKING:
    from linkparity.tables.audit_table import Audit
    from linkparity.tables.project_table import Correction

SHOWN = 30


def audit_table(audit: "Audit") -> Group:
    """Measures, gaps in the three views, cells, exposure, then every sentence."""
    sentences = [Text(f"{name}: {reason}.") for name, reason in audit.reasons.items()]
    sentences += _view_reasons(audit)
    sentences += [Text(note) for note in audit.notes]
    return Group(
        measures_grid(audit), _views(audit), cells_grid(audit), *map(Text, omitted_cells(audit)),
        _exposure(audit), *sentences,
    )  # fmt: skip


def _views(audit: "Audit") -> Table:
    table = Table("gaps between", title="views", title_justify="left")
    for name in ("dp", "eo"):
        table.add_column(name, justify="right")
        if audit.confidence is not None:
            table.add_column(f"{name} interval", justify="right")
    for view, found in audit.views.items():
        row = [VIEW_TITLES[view]]
        for name in ("dp", "eo"):
            row.append(format_number(found[name].value))
            if audit.confidence is not None:
                row.append(format_interval(found[name].interval))
        table.add_row(*row)
    return table


def _view_reasons(audit: "Audit") -> list[Text]:
    """Why a view has no gap, where no measure has said so already."""
    from linkparity.metrics.results import about

    told = set(audit.reasons.values())
    return [
        Text(f"{about(name, estimate)} ({VIEW_TITLES[view]}): {estimate.reason}.")
        for view, found in audit.views.items()
        for name, estimate in found.items()
        if estimate.reason and estimate.reason not in told
    ]


def _exposure(audit: "Audit") -> Table:
    title = f"first {audit.top} places of every list"
    table = Table(audit.attribute, title=title, title_justify="left")
    for column in ("nodes", "candidates", "share", "share of places", "ratio"):
        table.add_column(column, justify="right")
    for part in audit.exposure[:SHOWN]:
        table.add_row(
            Text(part.group), f"{audit.groups[part.group]:,}", f"{part.candidates:,}",
            f"{part.share:.4f}", f"{part.slot_share:.4f}", f"{part.ratio:.2f}",
        )  # fmt: skip
    if len(audit.exposure) > SHOWN:
        table.caption = f"{len(audit.exposure) - SHOWN} more groups stand in --json."
    return table


def correction_table(found: "Correction") -> Group:
    """Gaps before and after, tilts, then every sentence."""
    target = found.target
    if not isinstance(target, dict):
        aim = f"target {target:.6g}"
    else:
        told = {key: value for key, value in target.items() if not isnan(value)}
        aim = ", ".join(f"target of label {key} {value:.6g}" for key, value in told.items())
    measures = Table("measure", title=f"{found.criterion}: {aim}", title_justify="left")
    for column in ("before", "after"):
        measures.add_column(column, justify="right")
    for name in found.before:
        measures.add_row(name, _or_dash(found.before[name]), _or_dash(found.after[name]))
    measures.add_row("kl", "", format_number(found.kl))
    tilts = Table("cell", title="added to the logits", title_justify="left")
    tilts.add_column("tilt", justify="right")
    for cell in found.tilts[:SHOWN]:
        label = "" if cell.label is None else f", label {cell.label}"
        tilts.add_row(Text(" – ".join(cell.groups) + label), f"{cell.tilt:+.6f}")
    more = len(found.tilts) - SHOWN
    rest = [Text(f"{more} more tilts stand in --save-tilts.")] if more > 0 else []
    if None in found.before.values():
        rest.append(Text("–: undefined on these rows; linkparity audit says why."))
    return Group(measures, tilts, *rest, *[Text(note) for note in found.notes])


def _or_dash(value: float | None) -> str:
    return "–" if value is None else format_number(value)
