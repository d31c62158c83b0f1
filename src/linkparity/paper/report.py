"""The report of experiments that can have the paper's numbers beside ours."""

from collections.abc import Sequence

from linkparity.experiments.results import Summary
from linkparity.paper.comparison import compare, count_verdicts, published_row
from linkparity.paper.published import published_seconds
from linkparity.paper.tables import comparison_tables, differences
from linkparity.report.chart_data import Record, about
from linkparity.report.choices import ALL_SEEDS
from linkparity.report.report_page import Comparison, ReportPage


def published_points(summaries: Sequence[Summary]) -> list[Record]:
    """The published means beside the methods that have the paper's settings, with its seconds."""
    found = []
    for each in summaries:
        theirs = published_row(each)
        if theirs:
            criterion = "adversary" if each.strength else each.criterion
            seconds = published_seconds().get((str(each.dataset), each.model, criterion))
            means = {name: value.mean for name, value in theirs.items()}
            found.append(about(each) | {"seed": ALL_SEEDS, "paper_seconds": seconds} | means)
    return found


def compare_with_paper(summaries: Sequence[Summary]) -> Comparison:
    """The paper's numbers beside ours: on the page, in its charts, in words."""
    cells = compare(summaries)
    return Comparison(
        cells, count_verdicts(cells), published_points(summaries), comparison_tables(cells),
        differences(cells),
    )  # fmt: skip


class Report(ReportPage):
    """What an experiment found: in words, as charts, as a page.

    Attributes:
        results: Rows of ``lp.run``, or of a file (``lp.Results.read``).
        against: ``"paper"`` compares with the published numbers, None does not.
        command: The command that made it, shown on the page.
    """

    comparisons = {"paper": compare_with_paper}  # noqa: RUF012 (never changed)
