"""Groups of nodes → one number per pair: which unordered pair of groups it joins."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

NONE = -1


@dataclass(frozen=True)
class GroupCells:
    """Which group cell each pair lies in.

    Attributes:
        code: ``(P,)`` int64, −1 where no group is known.
        key: ``(G, 2)`` group at either end of each cell, −1 for none; ``(G, 1)`` for instances.
        names: G names, such as ``"0-1"``.
    """

    code: Tensor
    key: np.ndarray
    names: tuple[str, ...]

    @property
    def paired(self) -> bool:
        """Whether each row had a group at both ends to give, not one group per instance."""
        return self.key.shape[1] == 2


def code_groups(groups: object, directed: bool = False) -> GroupCells:
    """Number the group pairs of ``groups``, ``(P, 2)`` or ``(P,)`` integers, −1 for none.

    Unordered pairs stand in the order (0,0), (0,1) … (0,S−1), (1,1) …, with S the largest group + 1;
    behind them the S groups alone, where the other end has none (only those, when no pair has two
    groups). With ``directed`` the S² ordered pairs come first. Groups ``(P,)`` are S cells.

    >>> code_groups([[0, 0], [2, 1], [1, 2]]).code
    tensor([0, 4, 4])
    """
    group = check_groups(groups)
    size = int(group.max()) + 1 if group.numel() else 0
    if group.ndim == 1:
        key = np.arange(size)[:, None]
        return GroupCells(group, key, tuple(str(g) for g in range(size)))
    first, second = group[:, 0], group[:, 1]
    code, key = _ordered(first, second, size) if directed else _unordered(first, second, size)
    lone = (first == NONE) ^ (second == NONE)
    if lone.any():
        if not ((first != NONE) & (second != NONE)).any():
            key = key[:0]
        code = torch.where(lone, torch.maximum(first, second) + len(key), code)
        alone = np.stack([np.arange(size), np.full(size, NONE)], axis=1)
        key = np.concatenate([key, alone])
    code = torch.where((first == NONE) & (second == NONE), NONE, code)
    return GroupCells(code, key, tuple(_name(a, b) for a, b in key))


def check_groups(groups: object) -> Tensor:
    """``groups`` as an int64 tensor ``(P,)`` or ``(P, 2)`` of numbers ≥ −1, or a sentence."""
    group = torch.as_tensor(groups)
    if group.is_floating_point() or group.is_complex():
        raise ValueError(
            f"groups must be integers (−1 for none), got {group.dtype}; number the groups 0, 1, 2 …"
        )
    if group.ndim not in (1, 2) or (group.ndim == 2 and group.shape[1] != 2):
        raise ValueError(
            f"groups must have the shape (P,) or (P, 2), got {tuple(group.shape)}; "
            "give one group per instance, or the two groups of each pair"
        )
    group = group.long()
    if group.numel() and int(group.min()) < NONE:
        raise ValueError(
            f"groups must be −1 (none) or 0, 1, 2 …, got {int(group.min())}; "
            "use −1 for a node without a group"
        )
    return group


def _unordered(first: Tensor, second: Tensor, size: int) -> tuple[Tensor, np.ndarray]:
    low, high = torch.minimum(first, second), torch.maximum(first, second)
    code = low * (2 * size - low - 1) // 2 + high
    return code, np.stack(np.triu_indices(size), axis=1)


def _ordered(first: Tensor, second: Tensor, size: int) -> tuple[Tensor, np.ndarray]:
    key = np.stack(np.divmod(np.arange(size * size), max(size, 1)), axis=1)
    return first * size + second, key


def _name(first: int, second: int) -> str:
    return f"{first}" if second == NONE else f"{first}-{second}"
