"""Exposure: who fills the k best places of the lists that the scores make, against their share."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkparity.optional import require
from linkparity.tables.engine import EXTRA
from linkparity.tables.scores import ScoreTable

PRIME = 2**31 - 1


@dataclass(frozen=True)
class GroupExposure:
    """One group's part of the lists.

    Attributes:
        group: its name.
        candidates: places its nodes compete for, one per list a node may appear in.
        share: its share of all candidates.
        slots: how many of the k best places its nodes fill.
        slot_share: its share of these.
    """

    group: str
    candidates: int
    share: float
    slots: int
    slot_share: float

    @property
    def ratio(self) -> float:
        """1 is as many places as candidates; below 1 is fewer."""
        return self.slot_share / self.share if self.share else float("nan")


def exposure(table: ScoreTable, k: int) -> tuple[GroupExposure, ...]:
    """Rank the candidates of every list by score, and count who stands in the first ``k``.

    Every node has a list of the nodes it is scored with; with ``directed`` only sources have one,
    filled with targets. Where targets have no group, every target has a list, filled with
    sources. Ties are broken by a number drawn from the node, the same for all lists.
    """
    ibis = require("ibis", "audit and project", EXTRA)
    lists = _lists(table)
    mixed = (lists.node % PRIME + PRIME) % PRIME * 48271 % PRIME
    place = ibis.row_number().over(group_by="owner", order_by=[lists.x.desc(), mixed])
    top = lists.mutate(place=place)
    best = top.filter(top.place < k)
    every = table.engine.small(lists.group_by("group").aggregate(n=lists.count()))
    first = table.engine.small(best.group_by("group").aggregate(n=best.count()))
    size = len(table.names)
    candidates, slots = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    candidates[every["group"]], slots[first["group"]] = every["n"], first["n"]
    parts = zip(table.names, candidates.tolist(), slots.tolist(), strict=True)
    total, filled = int(candidates.sum()), int(slots.sum())
    return tuple(
        GroupExposure(name, have, have / total, got, got / filled)
        for name, have, got in parts
        if have
    )


def _lists(table: ScoreTable) -> Any:
    rows = table.good
    if table.bare:
        return rows.select(owner=rows.b, node=rows.a.cast("int64"), group=rows.ga, x=rows.x)
    onward = rows.select(owner=rows.a, node=rows.b.cast("int64"), group=rows.gb, x=rows.x)
    if table.reading.ordered:
        return onward
    back = rows.select(owner=rows.b, node=rows.a.cast("int64"), group=rows.ga, x=rows.x)
    return onward.union(back)
