"""The numbering of pairs of groups: groups of the ends of each pair → one number per pair.

Reading order, everywhere: (0,0), (0,1) … (0,S−1), (1,1) …, then the groups alone, where the other
end has none.
"""

from dataclasses import dataclass, replace

import numpy as np

from linkparity.reading.groups import NO_GROUP
from linkparity.support.arrays import PART_SIZE, array
from linkparity.support.errors import InputError

LARGEST = 2000  # groups, of which every two make a cell
#: Up to this many groups, cells of pairs are computed in bytes.
BYTES = 11
#: Numbers of group pairs that may be looked up, however few pairs there are.
DENSE = 1 << 16


@dataclass(frozen=True)
class GroupPairs:
    """The numbered group pairs, and how to find the number of a pair.

    Attributes:
        key: ``(G, 2)`` group at either end of each cell, −1 for none; ``(G, 1)`` for instances.
        names: G names, such as ``"0-1"``.
        groups: ``(P, 2)`` or ``(P,)`` integers, as they were given.
        size: S, the largest group + 1.
        directed: whether (0, 1) and (1, 0) are two cells.
        known: whether no group is −1.
    """

    key: np.ndarray
    names: tuple[str, ...]
    groups: np.ndarray
    size: int
    directed: bool
    known: bool = False

    def __len__(self) -> int:
        return len(self.names)

    @property
    def paired(self) -> bool:
        """Whether the groups came as ``(P, 2)``, not as one group per instance."""
        return self.groups.ndim == 2

    @property
    def code(self) -> np.ndarray:
        """``(P,)`` int64: the cell of every pair, −1 where no group is known."""
        return self.code_of(slice(None)).astype(np.int64)

    def code_of(self, part: slice) -> np.ndarray:
        """The cells of a slice of the pairs, in a small type; of few at a time, in the cache."""
        group = self.groups[part]
        if not self.paired:
            return np.asarray(group.astype(np.int64))
        if self.known and 0 < self.size <= BYTES:
            return self._bytes(group)
        first, second = group.T.astype(np.int32)
        low, high = np.minimum(first, second), np.maximum(first, second)
        if self.directed:
            code = first * self.size + second
        else:
            code = low * (2 * self.size - low - 1) // 2 + high
        if self.known:
            return np.asarray(code)
        alone = high + (len(self.key) - self.size)
        return np.where(low == NO_GROUP, np.where(high == NO_GROUP, NO_GROUP, alone), code)

    def _bytes(self, group: np.ndarray) -> np.ndarray:
        """The cells of pairs with two of few groups, computed in bytes."""
        both = np.ascontiguousarray(group.astype(np.uint8)).view("<u2").ravel()
        first, second = both.astype(np.uint8), (both >> 8).astype(np.uint8)
        if self.directed:
            return (first * np.uint8(self.size) + second).view(np.int8)
        low, high = np.minimum(first, second), np.maximum(first, second)
        code = low * (np.uint8(2 * self.size - 1) - low)
        code >>= 1
        code += high
        return code.view(np.int8)


def unordered_pairs(size: int) -> np.ndarray:
    """``(S(S+1)/2, 2)`` every unordered pair of ``size`` groups, in reading order.

    >>> unordered_pairs(3).tolist()
    [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]
    """
    return np.stack(np.triu_indices(size), axis=1)


def reading_order(key: np.ndarray) -> np.ndarray:
    """``(G,)`` positions that sort keys ``(G, 2)`` or ``(G, 1)`` into reading order.

    >>> reading_order(np.array([[2, -1], [1, 2], [0, 2]]))
    array([2, 1, 0])
    """
    return np.lexsort([*key.T[::-1], key[:, -1] == NO_GROUP])


def occurring_pairs(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The unordered pairs of groups that occur in ``groups``, ``(P, 2)`` or ``(P,)``.

    Returns:
        ``(G, 2)`` or ``(G, 1)`` keys in reading order, −1 where the other end has no group; and
        ``(P,)`` which of them each pair is, −1 where it has no group.

    >>> occurring_pairs(np.array([[7, 2], [2, 7], [2, -1], [-1, -1]]))
    (array([[ 2,  7],
           [ 2, -1]]), array([ 0,  0,  1, -1]))
    """
    ends = groups[:, None] if groups.ndim == 1 else groups
    low, high = ends.min(axis=1).astype(np.int64), ends.max(axis=1).astype(np.int64)
    alone = low < 0
    first, second = np.where(alone, high, low), np.where(alone, NO_GROUP, high)
    size = int(high.max(initial=0)) + 2
    known = np.flatnonzero(first >= 0)
    number = ((alone * size + first) * size + second + 1)[known]
    if 2 * size**2 <= max(len(number), DENSE):  # looked up, without sorting all pairs
        distinct = np.flatnonzero(np.bincount(number, minlength=1))
        place = np.zeros(2 * size**2, dtype=np.int64)
        place[distinct] = np.arange(len(distinct))
        found = place[number]
    else:
        distinct, found = np.unique(number, return_inverse=True)
    code = np.full(len(groups), NO_GROUP)
    code[known] = found
    pair, last = np.divmod(distinct, size)
    return np.stack([pair % size, last - 1], axis=1)[:, : ends.shape[1]], code


def number_group_pairs(groups: object, directed: bool = False) -> GroupPairs:
    """Number the group pairs of ``groups``, ``(P, 2)`` or ``(P,)`` integers, −1 for none.

    Unordered pairs are in reading order, with S the largest group + 1; behind them the S groups
    alone, where the other end has none (only those, when no pair has two groups). With
    ``directed`` the S² ordered pairs come first. Groups ``(P,)`` are S cells.

    >>> number_group_pairs([[0, 0], [2, 1], [1, 2]]).code
    array([0, 4, 4])
    """
    group, known = _checked(groups)
    size = int(group.max()) + 1 if group.size else 0
    if group.ndim == 2 and size > LARGEST:
        raise InputError(
            f"must be numbered below {LARGEST:,}, got {size - 1:,}: they would form "
            f"{size * (size + 1) // 2:,} pairs of groups",
            "number the groups 0, 1, 2 …",
            argument="groups",
        )
    if group.ndim == 1:
        key = np.arange(size)[:, None]
        return GroupPairs(key, tuple(str(g) for g in range(size)), group, size, directed, known)
    both, lone = (bool(size), False) if known else _ends(group)
    key = np.empty((0, 2), dtype=np.int64)
    if both or not lone:
        key = _ordered_pairs(size) if directed else unordered_pairs(size)
    if lone:
        alone = np.stack([np.arange(size), np.full(size, NO_GROUP)], axis=1)
        key = np.concatenate([key, alone])
    names = tuple(_name(a, b) for a, b in key)
    return GroupPairs(key, names, group, size, directed, known)


def check_groups(groups: object) -> np.ndarray:
    """Return ``groups`` as an integer array ``(P,)`` or ``(P, 2)`` of numbers ≥ −1."""
    return _checked(groups)[0]


def _checked(groups: object) -> tuple[np.ndarray, bool]:
    """:func:`check_groups`, and whether none of them is −1."""
    group = array(groups)
    if group.dtype.kind not in "biu":
        raise InputError(
            f"must be integers (−1 for none), got {group.dtype}",
            "number the groups 0, 1, 2 …",
            argument="groups",
        )
    if group.ndim not in (1, 2) or (group.ndim == 2 and group.shape[1] != 2):
        raise InputError(
            f"must have the shape (P,) or (P, 2), got {tuple(group.shape)}",
            "give one group per instance, or the two groups of each pair",
            argument="groups",
        )
    least = int(group.min()) if group.size else 0
    if least < NO_GROUP:
        raise InputError(
            f"must be −1 (none) or 0, 1, 2 …, got {least}",
            "use −1 for a node without a group",
            argument="groups",
        )
    return group, least > NO_GROUP


def cross_groups(attributes: list[np.ndarray], directed: bool = False) -> GroupPairs:
    """Cells of the combinations of several attributes' groups; −1 where any of them is −1.

    Keys and names hold the groups of every attribute, so that a combination is recognised in a
    batch with other groups.

    >>> cross_groups([np.array([0, 1, -1]), np.array([2, 0, 1])]).names[:4]
    ('0+0', '0+1', '0+2', '1+0')
    """
    sizes = [int(group.max()) + 1 if group.size else 0 for group in attributes]
    crossed = attributes[0].astype(np.int64)
    for group, size in zip(attributes[1:], sizes[1:], strict=True):
        none = (crossed == NO_GROUP) | (group == NO_GROUP)
        crossed = np.where(none, NO_GROUP, crossed * size + group.astype(np.int64))
    cells = number_group_pairs(crossed, directed)
    if len(attributes) == 1:
        return cells
    digits = np.stack(np.unravel_index(np.maximum(cells.key, 0), sizes), axis=-1)
    digits = np.where(cells.key[..., None] == NO_GROUP, NO_GROUP, digits)
    names = tuple(
        "-".join("+".join(map(str, end)) for end in ends if end[0] != NO_GROUP)
        for ends in digits.tolist()
    )
    return replace(cells, key=digits.reshape(len(cells), -1), names=names)


def _ends(group: np.ndarray) -> tuple[bool, bool]:
    """Whether some pair has a group at both ends, and whether some has one at a single end."""
    both = lone = False
    for low in range(0, len(group), PART_SIZE):
        first, second = (group[low : low + PART_SIZE] != NO_GROUP).T
        both, lone = both or bool((first & second).any()), lone or bool((first != second).any())
    return both, lone


def _ordered_pairs(size: int) -> np.ndarray:
    return np.stack(np.divmod(np.arange(size * size), max(size, 1)), axis=1)


def _name(first: int, second: int) -> str:
    return f"{first}" if second == NO_GROUP else f"{first}-{second}"
