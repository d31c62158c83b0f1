"""Which side of a bipartite score table the node table describes."""

import warnings
from typing import Any, Literal

from linkparity.graph.groups import GraphWarning
from linkparity.support.wording import counted
from linkparity.tables.engines.base import Engine
from linkparity.tables.reading.nodes import NONE, Groups, alike

#: Ids that a warning shows.
SHOWN = 3


def described_side(
    engine: Engine, base: Any, groups: Groups, where: str
) -> Literal["both", "sources", "targets"]:
    """Which ends of the pairs the node table gives groups to.

    Users and movies are often numbered from 1 each: an id that is a source and a target then says
    that the node table is about sources. If that leaves targets without their groups, a warning
    says so, since a single stray row has the same effect.
    """
    grouped = groups.nodes.filter(groups.nodes.group != NONE)
    known = grouped.select(node=alike(grouped.node, base.source)[0])
    sources, targets = (
        base.select(node=alike(end, groups.nodes.node)[0]).distinct()
        for end in (base.source, base.target)
    )
    described = targets.semi_join(known, "node")
    if not _count(engine, described):
        return "sources"
    both = targets.semi_join(sources, "node")
    if not (count := _count(engine, both)):
        return "both" if _count(engine, sources.semi_join(known, "node")) else "targets"
    if lost := _count(engine, described.anti_join(sources, "node")):
        shown = both.order_by("node").limit(SHOWN).to_pyarrow()["node"].to_pylist()
        some = ", ".join(map(repr, shown)) + (" …" if count > SHOWN else "")
        stand = "stands" if count == 1 else "stand"
        assert groups.source is not None
        warnings.warn(
            f"{where}: {counted(count, 'id')} {stand} for a source and for a target ({some}), so "
            f"{groups.source.name} is read as describing sources alone, and the groups of "
            f"{counted(lost, 'target')} in it are not used; write ids of the two sides "
            "differently, or mend the stray rows",
            GraphWarning,
            stacklevel=5,
        )
    return "sources"


def _count(engine: Engine, table: Any) -> int:
    return int(engine.small(table.aggregate(n=table.count()))["n"][0])
