"""Sums per list: who fills the first places among the candidates of each owner."""

import numpy as np

from linkparity.pairs.source import Chunk, PairSource
from linkparity.support.arrays import narrow

#: With more candidates, only some of the lists are counted, with all their places.
MAX_CANDIDATES = 2_000_000


class ListRows:
    """Owner, group and score of the candidates of some lists.

    Every node has a list of the nodes that it is scored with; of directed pairs only sources have
    one, filled with targets. Where targets have no group, every target has a list of sources.

    Args:
        group: ``(N,)`` group of each node, −1 for none.
        ends: ``"both"``, or the owners: ``"first"`` or ``"second"``.
        every: of the owners, those whose number is a multiple of it.
    """

    def __init__(self, group: np.ndarray, ends: str, every: int) -> None:
        self.group, self.ends, self.every = group, ends, every
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, chunk: Chunk) -> None:
        """Add some rows."""
        first, second = chunk.ends
        for owner, other, whose in (
            (first, second, "first"), (second, first, "second")
        ):  # fmt: skip
            if self.ends in ("both", whose):
                rows = np.flatnonzero(owner % self.every == 0)
                lists = owner[rows] // self.every
                self.parts.append((lists, self.group[other[rows]], chunk.score[rows]))

    def merge(self, other: "ListRows") -> None:
        """Add other rows."""
        self.parts += other.parts

    @property
    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All of them."""
        owner, group, score = (np.concatenate(each) for each in zip(*self.parts, strict=True))
        return owner, group, score


def filled_places(
    owner: np.ndarray, group: np.ndarray, score: np.ndarray, k: int, groups: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""``(G + 1,)`` candidates of each group, and places that it fills among the first ``k``.

    .. math:: \text{slots}_g = \sum_{\text{lists}} \#\{g \text{ above}\} +
              \#\{g \text{ tied for the last places}\} \cdot \frac{\text{places left}}{\text{tied}}

    The last is for candidates whose group is unknown, −1.

    >>> owner, score = np.zeros(3, dtype=int), np.array([0.9, 0.5, 0.5])
    >>> filled_places(owner, np.array([0, 1, 0]), score, 2, 2)[1]
    array([1.5, 0.5, 0. ])
    """
    order = np.argsort(-score)
    order = order[np.argsort(narrow(owner, int(owner.max()) + 1)[order], kind="stable")]
    owner, group, score = owner[order], group[order], score[order]
    start = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    sizes = np.diff(start, append=len(owner))
    edge = np.repeat(score[start + np.minimum(sizes, k) - 1], sizes)
    which = np.repeat(np.arange(len(start)), sizes)
    above, tied = score > edge, score == edge
    left = np.minimum(k, sizes) - np.bincount(which, above)
    share = (left / np.bincount(which, tied))[which]
    have = np.bincount(group % (groups + 1), minlength=groups + 1)
    places = np.where(above, 1.0, np.where(tied, share, 0.0))
    return have, np.bincount(group % (groups + 1), places, groups + 1)


def list_places(source: PairSource, ends: str, k: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Candidates and places of every group, as :func:`filled_places`, in one of so many lists."""
    nodes = source.nodes
    assert nodes is not None
    assert nodes.group is not None
    every = _next_prime(-(-source.size * (2 if ends == "both" else 1) // MAX_CANDIDATES))
    rows = ListRows(nodes.group, ends, every)
    source.run(rows)
    groups = max(len(source.kinds.names), int(nodes.group.max(initial=-1)) + 1)
    return *filled_places(*rows.columns, k, groups), every


def _next_prime(number: int) -> int:
    """The next prime, so that taking every m-th node follows no pattern in a table of nodes.

    >>> [_next_prime(n) for n in (0, 1, 2, 8)]
    [1, 1, 2, 11]
    """
    if number < 2:
        return 1
    while any(number % d == 0 for d in range(2, int(number**0.5) + 1)):
        number += 1
    return number
