"""What every graph must hold: numbered nodes, each link once."""

from collections.abc import Hashable, Sequence

import torch
from torch import Tensor

from linkparity.support.validation import check_unique


def check_nodes(
    num_nodes: int, group: Tensor, side: Tensor | None, names: Sequence[Hashable] | None
) -> None:
    """One group, one side and one name per node, names distinct within a side."""
    for what, value in (("group", group), ("side", side)):
        if value is not None and value.shape != (num_nodes,):
            raise ValueError(
                f"Graph: {what} must have the shape ({num_nodes},), one number per node, "
                f"got {tuple(value.shape)}"
            )
    if num_nodes and int(group.min()) < -1:
        raise ValueError(
            f"Graph: groups are −1 (none) or 0, 1, 2 …, got {int(group.min())}; "
            "use −1 for a node without a group"
        )
    if side is not None and not bool(((side == 0) | (side == 1)).all()):
        wrong = int(side[(side != 0) & (side != 1)][0])
        raise ValueError(
            f"Graph: side must be 0 or 1 for every node, got {wrong}; "
            "leave side out for a graph that is not bipartite"
        )
    if names is None:
        return
    if len(names) != num_nodes:
        raise ValueError(
            f"Graph: {num_nodes} nodes need as many names, got {len(names)}; names may be None"
        )
    parts = [names]
    if side is not None:
        at = [torch.nonzero(side == s)[:, 0].tolist() for s in (0, 1)]
        parts = [[names[i] for i in part] for part in at]
    for part in parts:
        check_unique(part, "Graph: names")


def check_group_names(group_names: Sequence[str], needed: int) -> None:
    """A name for every group, each its own."""
    if isinstance(group_names, str):
        raise ValueError(
            f"Graph: group_names must be one name per group, got the text {group_names!r}; "
            f"write ({group_names!r},)"
        )
    if len(group_names) < needed:
        raise ValueError(
            f"Graph: group {needed - 1} has no name among {tuple(group_names)}; "
            f"give {needed} group_names or none"
        )
    check_unique(group_names, "Graph: group_names")


def check_links(links: Tensor, num_nodes: int, side: Tensor | None) -> None:
    """Links between nodes there are, no self-loops, from side 0 to side 1."""
    if links.ndim != 2 or links.shape[1] != 2:
        raise ValueError(
            f"Graph: links must have the shape (E, 2), got {tuple(links.shape)}; "
            "give the two nodes of each link"
        )
    if not len(links):
        return
    if int(links.min()) < 0 or int(links.max()) >= num_nodes:
        row = _first(((links < 0) | (links >= num_nodes)).any(dim=1))
        raise ValueError(
            f"Graph: links, row {row} joins {links[row].tolist()}; nodes are 0 … {num_nodes - 1}"
        )
    loops = links[:, 0] == links[:, 1]
    if bool(loops.any()):
        row = _first(loops)
        raise ValueError(
            f"Graph: links, row {row} joins node {int(links[row, 0])} to itself; "
            "leave self-loops out"
        )
    if side is not None:
        wrong = (side[links[:, 0]] != 0) | (side[links[:, 1]] != 1)
        if bool(wrong.any()):
            row = _first(wrong)
            raise ValueError(
                f"Graph: links, row {row} joins {links[row].tolist()} of sides "
                f"{side[links[row]].tolist()}; links go from side 0 to side 1"
            )


def check_once(codes: Tensor, num_nodes: int) -> None:
    """No link twice, given the sorted :func:`pair_codes`."""
    twice = codes[1:] == codes[:-1]
    if bool(twice.any()):
        pair = list(divmod(int(codes[_first(twice)]), num_nodes))
        raise ValueError(
            f"Graph: links hold {pair} more than once; (a, b) and (b, a) are one link, give it once"
        )


def pair_codes(index: Tensor, num_nodes: int) -> Tensor:
    """``(P, 2)`` pairs → ``(P,)`` one number per unordered pair."""
    low, high = torch.minimum(index[:, 0], index[:, 1]), torch.maximum(index[:, 0], index[:, 1])
    return low * num_nodes + high


def simple_links(links: Tensor, num_nodes: int, side: Tensor | None = None) -> tuple[Tensor, int]:
    """Links with repeats and self-loops → each link once, sorted, and how many were self-loops.

    >>> simple_links(torch.tensor([[2, 1], [1, 2], [0, 1], [1, 1]]), 3)
    (tensor([[0, 1],
            [1, 2]]), 1)
    """
    loops = links[:, 0] == links[:, 1]
    codes = torch.unique(pair_codes(links[~loops], num_nodes))
    once = torch.stack([codes // max(num_nodes, 1), codes % max(num_nodes, 1)], dim=1)
    if side is not None and len(once):
        once = torch.where((side[once[:, 0]] > side[once[:, 1]])[:, None], once.flip(1), once)
    return once, int(loops.sum())


def _first(mask: Tensor) -> int:
    return int(torch.nonzero(mask)[0, 0])
