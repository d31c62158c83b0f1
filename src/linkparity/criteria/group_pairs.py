"""Groups of nodes → one number per pair: which unordered pair of groups it joins."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from linkparity.support.arrays import tensor

NONE = -1
LARGEST = 2000  # groups, of which every two make a cell


@dataclass(frozen=True)
class GroupPairs:
    """The numbered group pairs, and how to find the number of a pair.

    Attributes:
        key: ``(G, 2)`` group at either end of each cell, −1 for none; ``(G, 1)`` for instances.
        names: G names, such as ``"0-1"``.
        groups: ``(P, 2)`` or ``(P,)`` integers, as they were given.
        size: S, the largest group + 1.
        directed: whether (0, 1) and (1, 0) are two cells.
    """

    key: np.ndarray
    names: tuple[str, ...]
    groups: Tensor
    size: int
    directed: bool

    def __len__(self) -> int:
        return len(self.names)

    @property
    def paired(self) -> bool:
        """Whether the groups came as ``(P, 2)``, not as one group per instance."""
        return self.groups.ndim == 2

    @property
    def code(self) -> Tensor:
        """``(P,)`` int64: the cell of every pair, −1 where no group is known."""
        return self.code_of(slice(None))

    def code_of(self, part: slice) -> Tensor:
        """The cells of a slice of the pairs, so that 10⁸ pairs need no large intermediate."""
        group = self.groups[part].long()
        if not self.paired:
            return group
        low, high = group.min(dim=1).values, group.max(dim=1).values
        if self.directed:
            code = group[:, 0] * self.size + group[:, 1]
        else:
            code = low * (2 * self.size - low - 1) // 2 + high
        alone = high + (len(self.key) - self.size)
        return torch.where(low == NONE, torch.where(high == NONE, NONE, alone), code)


def number_group_pairs(groups: object, directed: bool = False) -> GroupPairs:
    """Number the group pairs of ``groups``, ``(P, 2)`` or ``(P,)`` integers, −1 for none.

    Unordered pairs stand in the order (0,0), (0,1) … (0,S−1), (1,1) …, with S the largest group
    + 1; behind them the S groups alone, where the other end has none (only those, when no pair has
    two groups). With ``directed`` the S² ordered pairs come first. Groups ``(P,)`` are S cells.

    >>> number_group_pairs([[0, 0], [2, 1], [1, 2]]).code
    tensor([0, 4, 4])
    """
    group = check_groups(groups)
    size = int(group.max()) + 1 if group.numel() else 0
    if group.ndim == 2 and size > LARGEST:
        raise ValueError(
            f"groups must be numbered below {LARGEST:,}, got {size - 1:,}: their pairs would be "
            f"{size * (size + 1) // 2:,} cells; number the groups 0, 1, 2 …"
        )
    if group.ndim == 1:
        key = np.arange(size)[:, None]
        return GroupPairs(key, tuple(str(g) for g in range(size)), group, size, directed)
    both, lone = _ends(group)
    key = np.empty((0, 2), dtype=np.int64)
    if both or not lone:
        key = _ordered(size) if directed else _unordered(size)
    if lone:
        alone = np.stack([np.arange(size), np.full(size, NONE)], axis=1)
        key = np.concatenate([key, alone])
    return GroupPairs(key, tuple(_name(a, b) for a, b in key), group, size, directed)


def check_groups(groups: object) -> Tensor:
    """``groups`` as an integer tensor ``(P,)`` or ``(P, 2)`` of numbers ≥ −1, or a sentence."""
    group = tensor(groups)
    if group.dtype in (torch.uint16, torch.uint32, torch.uint64):
        group = group.long()
    if group.is_floating_point() or group.is_complex():
        raise ValueError(
            f"Cells: groups must be integers (−1 for none), got {group.dtype}; "
            "number the groups 0, 1, 2 …"
        )
    if group.ndim not in (1, 2) or (group.ndim == 2 and group.shape[1] != 2):
        raise ValueError(
            f"Cells: groups must have the shape (P,) or (P, 2), got {tuple(group.shape)}; "
            "give one group per instance, or the two groups of each pair"
        )
    if group.numel() and int(group.min()) < NONE:
        raise ValueError(
            f"Cells: groups must be −1 (none) or 0, 1, 2 …, got {int(group.min())}; "
            "use −1 for a node without a group"
        )
    return group


def cross_groups(attributes: list[Tensor], directed: bool = False) -> GroupPairs:
    """Cells of the combinations of several attributes' groups; −1 where any of them is −1.

    Keys and names hold the groups of every attribute, so that a combination is known again in a
    batch with other groups.

    >>> cross_groups([torch.tensor([0, 1, -1]), torch.tensor([2, 0, 1])]).names[:4]
    ('0+0', '0+1', '0+2', '1+0')
    """
    sizes = [int(group.max()) + 1 if group.numel() else 0 for group in attributes]
    crossed = attributes[0].long()
    for group, size in zip(attributes[1:], sizes[1:], strict=True):
        none = (crossed == NONE) | (group == NONE)
        crossed = torch.where(none, NONE, crossed * size + group.long())
    cells = number_group_pairs(crossed, directed)
    if len(attributes) == 1:
        return cells
    digits = np.stack(np.unravel_index(np.maximum(cells.key, 0), sizes), axis=-1)
    digits = np.where(cells.key[..., None] == NONE, NONE, digits)
    names = tuple(
        "-".join("+".join(map(str, end)) for end in ends if end[0] != NONE)
        for ends in digits.tolist()
    )
    return replace(cells, key=digits.reshape(len(cells), -1), names=names)


def _ends(group: Tensor) -> tuple[bool, bool]:
    """Whether some pair has a group at both ends, and whether some has one at a single end."""
    both = lone = False
    for part in torch.split(group, 1 << 20):
        known = (part != NONE).sum(dim=1)
        both, lone = both or bool((known == 2).any()), lone or bool((known == 1).any())
    return both, lone


def _unordered(size: int) -> np.ndarray:
    return np.stack(np.triu_indices(size), axis=1)


def _ordered(size: int) -> np.ndarray:
    return np.stack(np.divmod(np.arange(size * size), max(size, 1)), axis=1)


def _name(first: int, second: int) -> str:
    return f"{first}" if second == NONE else f"{first}-{second}"
