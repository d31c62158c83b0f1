"""Options that several commands have, with one help text each."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, not tables.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite outputs that exist.")]
Source = Annotated[str | None, typer.Option(help="Column of the first node.")]
Target = Annotated[str | None, typer.Option("--target-column", help="Column of the second node.")]
Node = Annotated[str | None, typer.Option(help="Column of ids in --nodes.")]
Loops = Annotated[str, typer.Option("--self-loops", help="A node with itself: error or drop.")]
Bipartite = Annotated[
    bool, typer.Option("--bipartite", help="Sources and targets are two kinds of nodes.")
]
