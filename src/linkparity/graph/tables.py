"""Tables of links and nodes → numbered nodes, links and groups."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkparity.graph.readers import RawGraph
from linkparity.reading.column_rules import choose_ends, choose_node
from linkparity.reading.groups import (
    NO_GROUP,
    GraphWarning,
    Unknown,
    UntidyPolicy,
    check_choice,
)
from linkparity.support.errors import InputError, warn
from linkparity.support.files import Workspace
from linkparity.support.registry import did_you_mean

if TYPE_CHECKING:
    from linkparity.reading.columns import ReadOptions
    from linkparity.reading.faults import Faults
    from linkparity.reading.links import Links, ValuesAt

FRAMES = "Graph.from_frames"
#: Ids shown in a warning.
SHOWN = 3


def read_frames(
    links: Any, nodes: Any, sensitive: str | Sequence[str] | None, unknown: Unknown, bipartite: bool
) -> RawGraph:
    """Tables in memory, or streams of Arrow batches, each read once."""
    from linkparity.reading.columns import Columns, ReadOptions
    from linkparity.reading.duckdb import Duck
    from linkparity.reading.faults import UNKNOWN_CHOICES, Faults
    from linkparity.reading.frames import Frame
    from linkparity.reading.links import read_links

    check_choice("unknown", unknown, FRAMES)
    names = _column_names(sensitive)
    frames = {"links": Frame.of(links, "links", FRAMES)}
    if nodes is not None:
        frames["nodes"] = Frame.of(nodes, "nodes", FRAMES)
    source, target = choose_ends(frames["links"].columns, argument="links", caller=FRAMES)
    node = _column_of_ids(frames["nodes"].columns if nodes is not None else None, names)
    policy = UntidyPolicy(unknown, "first", "drop")
    options = ReadOptions(names, node=node, untidy=policy, bipartite=bipartite, missing=("-1",))
    faults = Faults(UNKNOWN_CHOICES)
    with Workspace() as workspace, Duck(workspace, frames["links"].nbytes) as duck:
        used = {"links": {source, target}, "nodes": {str(node), *names}}
        tables = {name: each.put_into(duck, name, used[name]) for name, each in frames.items()}
        found = read_links(
            duck, tables["links"], tables.get("nodes"), Columns(source, target, node=node),
            options, faults, tidy=False,
        )  # fmt: skip
        return checked_graph(
            found, options, faults,
            lambda table, column, rows: frames[table].values(column, rows, duck, tables[table]),
        )  # fmt: skip


def _column_names(sensitive: Any) -> tuple[str, ...]:
    """Names of the columns that are crossed, none for None."""
    if sensitive is None:
        return ()
    names = sensitive if isinstance(sensitive, (list, tuple)) else [sensitive]
    if not names:
        raise InputError(
            f"names no column, got {sensitive!r}",
            "name at least one, or pass None for a graph without groups",
            argument="sensitive",
            caller=FRAMES,
        )
    return tuple(map(str, names))


def _column_of_ids(columns: tuple[str, ...] | None, sensitive: tuple[str, ...]) -> str | None:
    """The column of ids of a table of nodes, if there is one; it must have the attributes too."""
    if columns is None:
        if sensitive:
            raise InputError(
                f"sensitive={' & '.join(sensitive)!r} names a column of nodes, but nodes is None",
                "pass the table of nodes too",
                caller=FRAMES,
            )
        return None
    for name in sensitive:
        if name not in columns:
            fix = f"{did_you_mean(name, columns)}columns: {', '.join(columns)}"
            raise InputError(f"has no column {name!r}", fix, argument="nodes", caller=FRAMES)
    return str(choose_node(columns, sensitive, argument="nodes", caller=FRAMES))


def checked_graph(
    links: "Links", options: "ReadOptions", faults: "Faults", values: "ValuesAt"
) -> RawGraph:
    """The graph of tables that were read; raises all of their faults at once.

    Args:
        links: the tables.
        options: the attributes, the policy for unknown groups, whether the graph is bipartite.
        faults: what is wrong with the tables so far.
        values: ids as the graph is to have them.
    """
    from linkparity.reading.links import check_known, names_of

    if options.sensitive and options.untidy.unknown == "error":
        check_known(links, options, faults)
    faults.raise_any()
    names = [
        value if isinstance(value, Hashable) else str(value) for value in names_of(links, values)
    ]
    return assemble(names, links, " & ".join(options.sensitive) or None, options.bipartite)


def assemble(
    names: list[Hashable], links: "Links", attribute: str | None, bipartite: bool
) -> RawGraph:
    """Number the nodes of a graph.

    Listed nodes come first, then sources, then targets, each in the order of their rows; in a
    bipartite graph first all sources, listed or not, then all targets.

    Args:
        names: the id of each number that ``links`` use.
        links: links and nodes.
        attribute: what the groups are groups of; None for a graph without groups.
        bipartite: whether sources and targets are two kinds of nodes.
    """
    first, second = links.ends
    listed = np.arange(links.listed)
    is_source, is_target = (np.zeros(len(names), dtype=bool) for _ in range(2))
    is_source[first], is_target[second] = True, True
    if len(listed) and len(first) and not (is_source | is_target)[listed].any():
        raise InputError(
            f"no id of nodes occurs in links, which hold {names[first[0]]!r} where nodes hold "
            f"{names[0]!r}",
            "write the ids alike",
            caller=FRAMES,
        )
    if not bipartite:
        order, (start, end) = _renumbered((listed, first, second), (first, second))
        side, group = None, links.group[order]
    else:
        ambiguous = bool((is_source & is_target).any())
        sources_only = ambiguous or not is_target[listed].any()
        _warn_of_sides(names, listed, is_source, is_target, sources_only)
        on_target_side = is_target[listed] & (not sources_only)
        left, (start,) = _renumbered((listed[~on_target_side], first), (first,))
        right, (end,) = _renumbered((listed[on_target_side], second), (second,))
        end += len(left)
        order, side = np.concatenate([left, right]), np.repeat([0, 1], [len(left), len(right)])
        group = links.group[order]
        if ambiguous:  # the table of nodes describes the sources
            group = np.where(side == 0, group, NO_GROUP)
    ids = [names[i] for i in order.tolist()]
    return RawGraph(
        FRAMES, len(order), np.stack([start, end], axis=1), ids,
        None if attribute is None else group, attribute, side, group_names=links.group_names,
    )  # fmt: skip


def _renumbered(
    order_of: Sequence[np.ndarray], columns: Sequence[np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The numbers in order of first appearance, and columns of them numbered in that order."""
    every = np.concatenate(order_of)
    first_seen = np.full(int(every.max(initial=-1)) + 1, len(every))
    np.minimum.at(first_seen, every, np.arange(len(every)))
    order = every[np.sort(first_seen[first_seen < len(every)])]
    number = np.empty_like(first_seen)
    number[order] = np.arange(len(order))
    return order, [number[column] for column in columns]


def _warn_of_sides(
    names: Sequence[Hashable],
    listed: np.ndarray,
    is_source: np.ndarray,
    is_target: np.ndarray,
    sources_only: bool,
) -> None:
    """Warn of listed nodes that are put on side 0 though they may belong on side 1."""
    both = [names[i] for i in np.flatnonzero(is_source & is_target).tolist()]
    moved = [names[i] for i in listed[is_target[listed] & ~is_source[listed]].tolist()]
    unlinked = [names[i] for i in listed[~is_target[listed] & ~is_source[listed]].tolist()]
    if both and moved:
        warn(
            GraphWarning,
            f"{len(both):,} ids are a source and a target at once ({_some(both)}), so nodes is "
            f"read as describing sources only; {len(moved):,} ids that are only targets "
            f"({_some(moved)}) become sources without a link, and no target has a group",
            "write ids of the two sides differently",
            caller=FRAMES,
        )
    elif unlinked and not sources_only:
        warn(
            GraphWarning,
            f"{len(unlinked):,} nodes have no link ({_some(unlinked)}) and are taken for sources",
            "leave them out of nodes if they are targets",
            caller=FRAMES,
        )


def _some(names: list[Hashable]) -> str:
    return ", ".join(map(repr, names[:SHOWN])) + (" …" if len(names) > SHOWN else "")
