"""The commands' tables, for people; ``--json`` has the same numbers for programs."""

import math
from collections.abc import Iterable

from rich import box
from rich.table import Table

from linkparity.datasets import Card
from linkparity.experiments import Run
from linkparity.experiments.demo import Demo, beside
from linkparity.experiments.paper import Published

#: What a measure is, in a few words.
EXPLAINED = {
    "auc": "auc: links ranked above non-links; 0.5 is chance",
    "dp": "dp: largest gap of mean predictions; 0 is parity",
    "eo": "eo: the same over true links; 0 is parity",
    "rdp": "rdp: largest gap of ranks; 0.5 is parity",
    "rb": "rb: how well the embedding tells the group; 0.5 is chance",
    "kl": "kl: nats per pair to the nearest model at parity on the criterion trained for",
}


def demo_tables(demo: Demo) -> list[object]:
    """One row per model and criterion, each measure beside the paper's; how to read them."""
    table = _table(None, f"Held-out pairs of {demo.runs[0].dataset}, one seed")
    for column in ("model", "criterion"):
        table.add_column(column, no_wrap=True)
    for name in EXPLAINED:
        heading = name if name == "kl" else f"{name}\n(paper)"
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("seconds", justify="right")
    for run in demo.runs:
        paper = beside(run)
        cells = [_beside(getattr(run.scores, name), paper.get(name)) for name in EXPLAINED]
        seconds = f"{run.predictor.fit_seconds_:.1f}"
        table.add_row(str(run.predictor.model), run.criterion, *cells, seconds)
    return [
        table,
        "The paper's figures are means over ten seeds.\n",
        *(f"  {text}" for text in EXPLAINED.values()),
        "\nThe regularizer closes the gap that its criterion is about. What it does to the other "
        "measures, the other columns say.",
    ]


def run_tables(run: Run) -> list[object]:
    """What was trained, then every measure with its interval and the mean of every group pair."""
    told = run.predictor
    plain = told.criterion is None
    aim = "plain" if plain else f"criterion {run.criterion}, gamma {told.gamma:g}"
    epochs = f"{len(told.history_)} epochs, " if told.history_ else ""
    return [f"{told.model}, {aim}, seed {told.seed}: {epochs}{told.fit_seconds_:.2f} s", run.scores]


def datasets_table(cards: Iterable[tuple[Card, bool]]) -> Table:
    """One line per data set: counts, attribute, terms, whether it is on disk."""
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
    """Everything that is known of one data set."""
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


def _beside(ours: float, paper: Published | None) -> str:
    return _number(ours) if paper is None else f"{ours:.3f}\n({paper.mean:.3f})"


def _table(first: str | None, title: str | None) -> Table:
    columns = () if first is None else (first,)
    return Table(
        *columns, title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )


def _number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.4f}" if value == 0 or abs(value) >= 1e-4 else f"{value:.0e}"
