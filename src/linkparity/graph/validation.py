"""What every graph must satisfy: numbered nodes, each link once, no self-loops."""

from collections.abc import Hashable, Sequence

import torch
from torch import Tensor

from linkparity.support.arrays import check_unique
from linkparity.support.errors import InputError

CALLER = "Graph"


def check_nodes(
    num_nodes: int, group: Tensor, side: Tensor | None, names: Sequence[Hashable] | None
) -> None:
    """One group, one side and one name per node; names are unique within a side."""
    for argument, value in (("group", group), ("side", side)):
        if value is not None and value.shape != (num_nodes,):
            problem = (
                f"must have the shape ({num_nodes},), one number per node, got {tuple(value.shape)}"
            )
            raise InputError(problem, argument=argument, caller=CALLER)
    if num_nodes and int(group.min()) < -1:
        problem = f"groups are −1 (none) or 0, 1, 2 …, got {int(group.min())}"
        raise InputError(problem, "use −1 for a node without a group", caller=CALLER)
    if side is not None and not bool(((side == 0) | (side == 1)).all()):
        wrong = int(side[(side != 0) & (side != 1)][0])
        problem = f"must be 0 or 1 for every node, got {wrong}"
        fix = "leave side out for a graph that is not bipartite"
        raise InputError(problem, fix, argument="side", caller=CALLER)
    if names is None:
        return
    if len(names) != num_nodes:
        problem = f"{num_nodes} nodes need as many names, got {len(names)}"
        raise InputError(problem, "names may be None", caller=CALLER)
    if side is None:
        check_unique(names, "names", CALLER)
        return
    for each in (0, 1):
        nodes = torch.nonzero(side == each)[:, 0].tolist()
        check_unique([names[node] for node in nodes], "names", CALLER)


def check_group_names(group_names: Sequence[str], needed: int) -> None:
    """A unique name for every group."""
    if isinstance(group_names, str):
        problem = f"must be one name per group, got the text {group_names!r}"
        fix = f"write ({group_names!r},)"
        raise InputError(problem, fix, argument="group_names", caller=CALLER)
    if len(group_names) < needed:
        problem = f"group {needed - 1} has no name among {tuple(group_names)}"
        raise InputError(problem, f"give {needed} group_names or none", caller=CALLER)
    check_unique(group_names, "group_names", CALLER)


def check_links(links: Tensor, num_nodes: int, side: Tensor | None) -> None:
    """Links between existing nodes, no self-loops, from side 0 to side 1."""
    if links.ndim != 2 or links.shape[1] != 2:
        problem = f"must have the shape (E, 2), got {tuple(links.shape)}"
        fix = "give the two nodes of each link"
        raise InputError(problem, fix, argument="links", caller=CALLER)
    if not len(links):
        return
    if int(links.min()) < 0 or int(links.max()) >= num_nodes:
        row = _first(((links < 0) | (links >= num_nodes)).any(dim=1))
        problem = f"links, row {row} joins {links[row].tolist()}"
        raise InputError(problem, f"nodes are 0 … {num_nodes - 1}", caller=CALLER)
    loops = links[:, 0] == links[:, 1]
    if bool(loops.any()):
        row = _first(loops)
        problem = f"links, row {row} joins node {int(links[row, 0])} to itself"
        raise InputError(problem, "leave self-loops out", caller=CALLER)
    if side is not None:
        wrong = (side[links[:, 0]] != 0) | (side[links[:, 1]] != 1)
        if bool(wrong.any()):
            row = _first(wrong)
            ends = f"{links[row].tolist()} of sides {side[links[row]].tolist()}"
            problem = f"links, row {row} joins {ends}"
            raise InputError(problem, "links go from side 0 to side 1", caller=CALLER)


def check_once(codes: Tensor, num_nodes: int) -> None:
    """No link twice, given the sorted :func:`pair_codes`."""
    repeated = codes[1:] == codes[:-1]
    if bool(repeated.any()):
        pair = list(divmod(int(codes[_first(repeated)]), num_nodes))
        problem = f"links hold {pair} more than once"
        raise InputError(problem, "(a, b) and (b, a) are one link, give it once", caller=CALLER)


def pair_codes(index: Tensor, num_nodes: int) -> Tensor:
    """``(P, 2)`` pairs → ``(P,)`` one number per unordered pair."""
    low, high = torch.minimum(index[:, 0], index[:, 1]), torch.maximum(index[:, 0], index[:, 1])
    return low * num_nodes + high


def simple_links(links: Tensor, num_nodes: int, side: Tensor | None = None) -> tuple[Tensor, int]:
    """Remove duplicates and self-loops: each link once, sorted, and the number of self-loops.

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
