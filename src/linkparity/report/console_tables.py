"""Tables of runs and data sets for the terminal; ``--json`` has the same numbers for programs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from linkparity.datasets import Card
from linkparity.experiments.rows import Row

if TYPE_CHECKING:
    from linkparity.experiments.train import Run


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
    table = Table("name", box=box.SIMPLE_HEAD)
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
