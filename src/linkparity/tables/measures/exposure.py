"""Exposure: each group's share of the first k places of all lists, against its candidates."""

from dataclasses import dataclass
from typing import Any

import ibis
import numpy as np

from linkparity.tables.reading.score_table import ScoreTable

#: With more candidates, only some of the lists are counted, with all their places.
MAX_CANDIDATES = 2_000_000


@dataclass(frozen=True)
class GroupExposure:
    """One group's part of the lists.

    Attributes:
        group: its name.
        candidates: number of times that its nodes are in a list.
        share: its share of all candidates.
        slots: number of the first k places that its nodes fill; ties share a place.
        slot_share: its share of all first k places.
    """

    group: str
    candidates: int
    share: float
    slots: float
    slot_share: float

    @property
    def ratio(self) -> float:
        """1 is as many places as candidates; below 1 is fewer."""
        return self.slot_share / self.share if self.share else float("nan")


def exposure(table: ScoreTable, k: int, rows: int) -> tuple[tuple[GroupExposure, ...], int]:
    r"""Rank the candidates of every list by score, and count the groups of the first ``k``.

    .. math:: \text{slots}_g = \sum_{\text{lists}} \#\{g \text{ above}\} +
              \#\{g \text{ tied for the last places}\} \cdot \frac{\text{places left}}{\text{tied}}

    Places of candidates whose group is unknown count for no group, but among all places.
    Every node has a list of the nodes it is scored with; with ``directed`` only sources have one,
    filled with targets. Where targets have no group, every target has a list, filled with
    sources. Of very long tables every m-th list is counted, and m is returned too.
    """
    lists = _lists(table)
    candidates = rows * (1 if table.one_sided or table.options.ordered else 2)
    every = _next_prime(-(-candidates // MAX_CANDIDATES))
    if every > 1:
        lists = table.engine.keep(lists.filter(lists.owner % every == 0), "lists")
    names = table.names
    have, got = np.zeros((2, len(names) + 1))  # the last, at −1, is for candidates without a group
    counted = table.engine.small(lists.group_by("group").aggregate(n=lists.count()))
    have[counted["group"]] = counted["n"]
    filled = table.engine.small(_filled(lists, k))
    got[filled["group"]] = filled["n"]
    share, slot_share = have / max(have.sum(), 1), got / max(got.sum(), 1)
    columns = (have.astype(int), share, got, slot_share)
    parts = zip(names, *(column[:-1].tolist() for column in columns), strict=True)
    return tuple(GroupExposure(*part) for part in parts if part[1]), every


def _filled(lists: Any, k: int) -> Any:
    """``group, n``: places filled by each group, a tie for the last places shared out."""
    placed = lists.mutate(place=ibis.row_number().over(group_by="owner", order_by=lists.x.desc()))
    best = placed.filter(placed.place < k)
    last = best.group_by("owner").aggregate(edge=best.x.min())
    last = last.rename(whose="owner")
    near = lists.inner_join(last, lists.owner == last.whose)
    near = near.filter(near.x >= near.edge)
    sides = near.group_by("owner", "group").aggregate(
        above=(near.x > near.edge).sum(), tied=(near.x == near.edge).sum()
    )
    per_list = sides.group_by("owner").mutate(
        all_above=sides.above.sum(), all_tied=sides.tied.sum()
    )
    left = ibis.least(k - per_list.all_above, per_list.all_tied)
    part = per_list.mutate(n=per_list.above + per_list.tied * left / per_list.all_tied)
    return part.group_by("group").aggregate(n=part.n.sum())


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


def _lists(table: ScoreTable) -> Any:
    rows = table.good
    back = rows.select(owner=rows.b.cast("int64"), group=rows.ga, x=rows.x)
    if table.one_sided:
        return back
    onward = rows.select(owner=rows.a.cast("int64"), group=rows.gb, x=rows.x)
    return onward if table.options.ordered else onward.union(back)
