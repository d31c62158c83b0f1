"""The audit as one HTML file: no script, no network, everything escaped."""

from datetime import UTC, datetime
from math import isnan
from typing import TYPE_CHECKING

from linkparity.metrics.measures import MEASURES
from linkparity.metrics.views import VIEW_TITLES
from linkparity.report.heatmap import Heatmap, heatmap, shortened
from linkparity.support.files import write_text
from linkparity.support.numbers import format_interval, format_number

if TYPE_CHECKING:
    from linkparity.tables.audit_table import Audit

#: Rows of the table of group pairs; the JSON output has all of them.
MAX_CELLS = 400


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
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("linkparity.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "number": format_number,
        "interval": format_interval,
        "thousands": "{:,}".format,
        "shortened": shortened,
    }
    shown = [measure for measure in MEASURES.values() if measure.in_tables]
    return environment.get_template("audit.html.j2").render(
        audit=audit,
        conditions=conditions,
        failed=failed,
        measures=sorted(shown, key=lambda measure: measure.parity is None),
        view_measures=[measure for measure in shown if measure.in_views],
        view_titles=VIEW_TITLES,
        maps=_heatmaps(audit),
        largest_share=max((max(p.share, p.slot_share) for p in audit.exposure), default=1.0),
        cells=sorted(audit.cells, key=lambda cell: (isnan(cell.mean), -cell.mean)),
        max_cells=MAX_CELLS,
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _heatmaps(audit: "Audit") -> list[Heatmap]:
    """Mean scores over all pairs and over true links; none where a cell is a single group."""
    cells = [cell for cell in audit.cells if len(cell.groups) == 2]
    shown = {"mean": "Mean score over all pairs", "link_mean": "Mean score over true links"}
    if not audit.links:
        del shown["link_mean"]
    return [
        heatmap(list(audit.groups), cells, of, caption, audit.directed)
        for of, caption in shown.items()
        if cells
    ]
