"""Tables of runs and data sets for the terminal; ``--json`` has the same numbers for programs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from linkparity.datasets import Card
from linkparity.experiments.paper import Published
from linkparity.experiments.rows import Row
from linkparity.metrics.measures import MEASURES
from linkparity.support.display import format_number, format_rounded

if TYPE_CHECKING:
    from linkparity.experiments.demo import Demo
    from linkparity.experiments.train import Run


def demo_tables(demo: "Demo") -> list[object]:
    """One row per model and criterion, each measure with the paper's; then what measures mean."""
    from linkparity.experiments.demo import beside

    rows = [Row.of(run) for run in demo.runs]
    papers = [beside(row) for row in rows]
    measures = [measure for measure in MEASURES.values() if measure.in_runs]
    table = _table(None, f"Held-out pairs of {rows[0].dataset}, one seed")
    for column in ("model", "criterion", "pairs"):
        table.add_column(column, no_wrap=True)
    for measure in measures:
        published = any(measure.name in paper for paper in papers)
        heading = f"{measure.name}\n(paper)" if published else measure.name
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("seconds", justify="right")
    for row, paper in zip(rows, papers, strict=True):
        cells = [_with_paper(row.values[each.name], paper.get(each.name)) for each in measures]
        pairs = "" if row.criterion == "none" else row.settings["pairs"]
        table.add_row(row.model, row.criterion, pairs, *cells, f"{row.fit_seconds:.1f}")
    return [
        table,
        "The paper's figures are means over ten seeds. Its authors bring their sampled training "
        "pairs to parity, linkparity by default the candidates: all pairs that are no training "
        "link.\n",
        *(f"  {measure.name}: {measure.sentence}" for measure in measures),
        "\nThe regularizer closes the gap of its own criterion. The other columns show what it "
        "does to the other measures.",
    ]


def run_tables(run: "Run") -> list[object]:
    """What was trained, then every measure with its interval and the mean of every group pair."""
    row = Row.of(run)
    regularizer = f"criterion {row.criterion}, gamma {row.gamma:g}"
    objective = "plain" if row.criterion == "none" else regularizer
    epochs = f"{row.epochs} epochs, " if row.epochs else ""
    heading = f"{row.model}, {objective}, seed {row.seed}: {epochs}{row.fit_seconds:.2f} s"
    return [heading, run.scores]


def datasets_table(cards: Iterable[tuple[Card, bool]]) -> Table:
    """One row per data set: counts, attribute, terms, whether it is on disk."""
    table = _table("name", None)
    for column in ("nodes", "links"):
        table.add_column(column, justify="right")
    for column in ("groups of", "on disk", "terms of use"):
        table.add_column(column)
    for card, here in cards:
        groups = f"{card.attribute} ({len(card.groups)})"
        found = "yes" if here else "no"
        table.add_row(card.name, f"{card.nodes:,}", f"{card.links:,}", groups, found, card.terms)
    return table


def card_table(card: Card, here: bool) -> Table:
    """Everything known about one data set."""
    groups = ", ".join(f"{name} {count:,}" for name, count in card.groups.items())
    kind = "bipartite" if card.bipartite else "not bipartite"
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in (
        ("name", card.name),
        ("title", card.title),
        ("nodes, links", f"{card.nodes:,}, {card.links:,}; {kind}"),
        (card.attribute, groups),
        ("on disk", "yes" if here else "no; downloaded when it is first loaded"),
        ("source", card.source),
        ("terms of use", card.terms),
        ("cite", card.citation),
        ("known harms", card.harms),
    ):
        table.add_row(key, value)
    return table


def _with_paper(ours: float, paper: Published | None) -> str:
    """Ours, and below it the paper's with as many digits as it prints."""
    return (
        format_number(ours) if paper is None else f"{format_rounded(ours, 3)}\n({paper.mean:.3f})"
    )


def _table(first: str | None, title: str | None) -> Table:
    columns = () if first is None else (first,)
    return Table(
        *columns, title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
