"""The commands' tables, for people; ``--json`` has the same numbers for programs."""

from collections.abc import Iterable

from rich import box
from rich.table import Table

from linkparity.datasets import Card
from linkparity.demo import MODEL, Demo, Row, cell_names

HEADINGS = {"none": "plain", "dp": "dp-projected", "eo": "eo-projected"}
EXPLAINED = {
    "auc": "auc",
    "dp": "dp: largest gap, all pairs",
    "eo": "eo: largest gap, links",
    "rdp": "rdp: of ranks; parity is 0.5",
}


def demo_tables(demo: Demo) -> list[object]:
    """What was scored, means before and after, measures before and after, how to read them."""
    return [
        f"Model: {MODEL}, fitted to 80 % of the links without sight of the groups.\n"
        f"Scored: all {demo.pairs:,} pairs that are no training link; "
        f"{demo.links:,} of them are held-out links.\n",
        _means(demo.rows, "mean", "Mean prediction over all pairs"),
        _means(demo.rows, "link_mean", "Mean prediction over held-out links"),
        _measures(demo.rows),
        "A projection is the nearest model at parity on its own criterion: its own gap is 0 up to "
        "the solver's accuracy, and the other rows say what that does and what it does not do.\n"
        "The eo-projection tilts by the true label. It measures how far the model is from parity, "
        "and can train one; it predicts nothing, so it has no auc.",
    ]


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


def _means(rows: tuple[Row, ...], which: str, title: str) -> Table:
    table = _table("groups", title)
    for row in rows:
        table.add_column(HEADINGS[row.criterion], justify="right", min_width=12)
    for k, name in enumerate(cell_names(rows[0])):
        values = [getattr(row.scores.cells[k], which) for row in rows]
        table.add_row(name, *(f"{100 * value:.2f} %" for value in values))
    return table


def _measures(rows: tuple[Row, ...]) -> Table:
    table = _table("measure", "Measures")
    for row in rows:
        table.add_column(HEADINGS[row.criterion], justify="right", min_width=12)
    for name, explained in EXPLAINED.items():
        table.add_row(explained, *(_number(row.measures[name]) for row in rows))
    table.add_row("kl: nats per pair from plain", *(_number(row.kl) for row in rows))
    return table


def _table(first: str, title: str | None) -> Table:
    return Table(first, title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if value == 0 or abs(value) >= 1e-4 else f"{value:.0e}"
