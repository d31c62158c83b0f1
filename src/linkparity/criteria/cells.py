"""The criteria by name, and cells: the pairs that a criterion treats alike, sorted once."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria.accuracy import AccuracyEquality
from linkparity.criteria.base import Criterion, Layout, same_content
from linkparity.criteria.churn import ChurnEquality
from linkparity.criteria.dp import DemographicParity
from linkparity.criteria.eo import EqualOpportunity
from linkparity.criteria.equalized_odds import EqualizedOdds
from linkparity.criteria.group_pairs import (
    GroupPairs,
    check_groups,
    cross_groups,
    number_group_pairs,
)
from linkparity.criteria.several_attributes import overlap
from linkparity.criteria.weak_dp import WeakParity
from linkparity.support.arrays import (
    PART_SIZE,
    SMALL,
    Chunk,
    check_labels,
    check_weights,
    smallest_integer,
    sort_segments,
    split_chunks,
    sum_segments,
)
from linkparity.support.errors import InputError
from linkparity.support.registry import Registry

#: The literature's names of criteria.
ALIASES = {"demographic-parity": "dp", "equal-opportunity": "eo"}
#: The criteria by name; a new criterion is one line here.
CRITERIA: Registry[Criterion] = Registry(
    "criterion",
    {
        "dp": DemographicParity(),
        "eo": EqualOpportunity(),
        "weak-dp": WeakParity(),
        "equalized-odds": EqualizedOdds(),
        "accuracy": AccuracyEquality(),
        "churn": ChurnEquality(),
    },
    ALIASES,
)
_TRAINABLE = Registry(
    "criterion",
    {name: each for name, each in CRITERIA.items() if not each.for_given_pairs_only},
    ALIASES,
)


def trainable() -> Registry[Criterion]:
    """The criteria that the pairs, groups and links of a graph define."""
    return _TRAINABLE


def find_criterion(criterion: object) -> Criterion:
    """Return the criterion of a name, or ``criterion`` itself if it is a :class:`Criterion`."""
    if isinstance(criterion, Criterion):
        return criterion
    if not isinstance(criterion, str):
        raise InputError(
            f"must be a name ({', '.join(CRITERIA)}) or a Criterion, got {criterion!r}",
            argument="criterion",
        )
    return CRITERIA[criterion]


@dataclass(frozen=True, eq=False)
class Cells:
    """Pairs sorted into the cells of a criterion. Holds nothing derived from logits.

    Attributes:
        criterion: what the cells were made for.
        layout: names, keys and constraints of the M cells.
        code: ``(P,)`` cell of each pair in the smallest integer type, −1 unconstrained.
        order: positions of the constrained pairs, cell by cell; None when they are sorted already.
        start: ``(M + 1,)`` where each cell begins in that order.
        weight: weights of the constrained pairs in that order; None when all are 1.
        mass: ``(M,)`` total weight of each cell.
        label_mass: ``(M,)`` total weight of each cell's links, where labels were given.
        pool: working memory that is reused between projections.
    """

    criterion: Criterion
    layout: Layout
    code: Tensor
    order: Tensor | None
    start: np.ndarray
    weight: Tensor | None
    mass: np.ndarray
    label_mass: np.ndarray | None
    pool: list[Tensor] = field(default_factory=list, repr=False)

    @classmethod
    def prepare(
        cls,
        groups: object = None,
        criterion: str | Criterion = "dp",
        labels: object = None,
        weight: object = None,
        *,
        directed: bool = False,
        combine: str | None = None,
    ) -> "Cells":
        """Sort pairs into cells once, for many projections of the same pairs.

        Args:
            groups: ``(P, 2)`` or ``(P,)`` integers, −1 for none, or a dict of them by attribute.
            criterion: a name of the table, or a :class:`Criterion` such as ``Custom(cells, A, b)``.
            labels: ``(P,)`` 0/1, where the criterion or the target needs them.
            weight: ``(P,)`` non-negative weights; 1 each by default.
            directed: whether (0, 1) and (1, 0) are different pairs of groups.
            combine: with several attributes, ``"cross"`` or ``"each"``.
        """
        chosen = find_criterion(criterion)
        parts = _parts(groups, chosen, directed, combine)
        first = next(iter(parts.values())).groups
        count, device = len(first), first.device
        label, weights = (
            None if values is None else values.to(device)
            for values in (
                _check_labels(labels, count, chosen),
                None if weight is None else check_weights(weight, count, "weight"),
            )
        )
        layout, code, sizes = _assign(parts, chosen, label, count)
        start = np.concatenate([[0], np.cumsum(sizes)])
        order = sort_segments(code, start)
        sorted_weight = weights if weights is None or order is None else weights[order]
        if sorted_weight is weights and weights is not None:
            sorted_weight = weights.clone()
        cells = cls(chosen, layout, code, order, start, sorted_weight, sizes.astype(float), None)
        if sorted_weight is not None:
            cells = replace(cells, mass=cells.sum(sorted_weight))
        if label is not None and chosen.data_target:
            linked = label if order is None else label[order]
            linked = linked if sorted_weight is None else linked * sorted_weight
            cells = replace(cells, label_mass=cells.sum(linked))
        return cells

    @property
    def cell(self) -> Tensor:
        """``(P,)`` int64: the cell of each pair, −1 unconstrained."""
        return self.code.long()

    @property
    def empty(self) -> tuple[str, ...]:
        """Names of cells, or of constraints over several attributes, that no weight falls into."""
        layout = self.layout
        names, mass = layout.names, self.mass
        if layout.overlapping:
            names, mass = layout.rows, layout.weight(self.mass)
        return tuple(name for name, weight in zip(names, mass, strict=True) if weight == 0)

    @property
    def total(self) -> float:
        """Total weight of the constrained pairs."""
        return float(self.mass[self.layout.constrained].sum())

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The constrained pairs in sorted order, in chunks that are computed one at a time."""
        return split_chunks(self.start)

    def __len__(self) -> int:
        return len(self.code)

    def to(self, device: torch.device) -> "Cells":
        """The same cells on another device."""
        if self.code.device == device:
            return self
        move = {
            name: value.to(device)
            for name in ("code", "order", "weight")
            if (value := getattr(self, name)) is not None
        }
        return replace(self, **move, pool=[])

    def borrow_buffer(self, like: Tensor, count: int) -> Tensor:
        """``(count, len(like))`` of working memory, uninitialised; the returned one if it fits."""
        try:
            buffer = self.pool.pop()
        except IndexError:
            buffer = None
        if buffer is not None and buffer.shape == (count, len(like)) and buffer.dtype == like.dtype:
            return buffer
        with torch.inference_mode(False):
            return torch.empty((count, len(like)), dtype=like.dtype, device=like.device)

    def return_buffer(self, buffer: Tensor) -> None:
        """Keep working memory for the next projection of these cells."""
        self.pool[:] = [buffer]

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name != "chunks"}
        return kept | {"pool": []}

    def sum(self, values: Tensor) -> np.ndarray:
        """``(M,)`` float64 sums of values given in the sorted order."""
        if len(values) < SMALL * len(self.mass):  # all at once
            return sum_segments(values.double().cpu().numpy(), self.start)
        bounds = zip(self.start[:-1], self.start[1:], strict=True)
        return np.array([float(values[a:b].sum(dtype=torch.float64)) for a, b in bounds])


def check_prepared(caller: str, cells: Cells, criterion: object, *others: object) -> None:
    """Refuse arguments that prepared cells already hold."""
    if any(other is not None and other is not False for other in others):
        raise InputError(
            "give either cells, or groups, labels, weight, directed and combine; not both",
            caller=caller,
        )
    if criterion is None or same_content(chosen := find_criterion(criterion), cells.criterion):
        return
    other = "another of that name" if chosen.name == cells.criterion.name else f"{chosen.name!r}"
    raise InputError(
        f"cells were prepared for {cells.criterion.name!r}, not for {other}",
        "prepare them for the same criterion",
        caller=caller,
    )


def _parts(
    groups: object, criterion: Criterion, directed: bool, combine: str | None
) -> dict[Hashable, GroupPairs]:
    """The numbered pairs of groups by attribute; one entry unless each is constrained alone."""
    if combine not in (None, "cross", "each"):
        raise InputError(f"must be 'cross' or 'each', got {combine!r}", argument="combine")
    if criterion.cells is not None:
        return {"": number_group_pairs(criterion.cells)}
    if groups is None:
        raise InputError("groups are missing", "give (P,) or (P, 2) integers", where=criterion.name)
    if not isinstance(groups, Mapping):
        return {"": number_group_pairs(groups, directed)}
    if not groups:
        raise InputError("must name at least one attribute, got an empty dict", argument="groups")
    checked = {name: check_groups(group) for name, group in groups.items()}
    if len({tuple(group.shape) for group in checked.values()}) > 1:
        shapes = ", ".join(f"{name} {tuple(group.shape)}" for name, group in checked.items())
        raise InputError(f"of all attributes must have one shape, got {shapes}", argument="groups")
    if len(checked) == 1 or combine == "cross":
        return {"": cross_groups(list(checked.values()), directed)}
    if combine != "each":
        raise InputError(
            f"must be 'cross' or 'each' with {len(checked)} attributes, got {combine!r}",
            "'cross' forms one group per combination, 'each' constrains every attribute separately",
            argument="combine",
        )
    return {name: number_group_pairs(group, directed) for name, group in checked.items()}


def _check_labels(labels: object, count: int, criterion: Criterion) -> Tensor | None:
    if labels is None and criterion.needs_labels:
        raise InputError("labels are missing", "give (P,) zeros and ones", where=criterion.name)
    return None if labels is None else check_labels(labels, count, "labels")


def _assign(
    parts: dict[Hashable, GroupPairs], criterion: Criterion, label: Tensor | None, count: int
) -> tuple[Layout, Tensor, np.ndarray]:
    """Layout, cell of each pair and number of pairs per cell, computed in parts."""
    layouts = [criterion.layout(groups) for groups in parts.values()]
    radix = [len(layout.names) + 1 for layout in layouts]
    several = len(layouts) > 1
    device = next(iter(parts.values())).groups.device
    dtype = torch.int64 if several else smallest_integer(radix[0])
    code = torch.empty(count, dtype=dtype, device=device)
    sizes = torch.zeros(1 if several else radix[0], dtype=torch.int64, device=device)
    for low in range(0, count, PART_SIZE):
        part = slice(low, low + PART_SIZE)
        known = torch.zeros(()) if label is None else label[part].long()
        joint = torch.zeros((), dtype=torch.int64, device=device)
        for groups, base in zip(parts.values(), radix, strict=True):
            cell = criterion.assign(groups.code_of(part), known, groups)
            cell = torch.as_tensor(cell, device=device).long().reshape(-1)  # arrays too
            joint = joint * base + cell + 1
        code[part] = joint - 1
        if not several:
            sizes += torch.bincount(joint, minlength=len(sizes))
    if not several:
        return layouts[0], code, sizes[1:].cpu().numpy()
    return overlap(list(parts), layouts, code, radix)
