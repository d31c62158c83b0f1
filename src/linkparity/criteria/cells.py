"""Cells: which pairs a criterion treats alike, sorted once and used for any logits."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria.base import Criterion, Layout
from linkparity.criteria.custom import Custom
from linkparity.criteria.group_pairs import (
    NONE,
    GroupPairs,
    check_groups,
    cross_groups,
    number_group_pairs,
)
from linkparity.criteria.registry import CRITERIA
from linkparity.support.arrays import tensor
from linkparity.support.segments import SMALL, Chunk, split_chunks, sum_segments

CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class Cells:
    """Pairs sorted into the cells of a criterion. Holds nothing derived from logits.

    Attributes:
        criterion: what the cells were made for.
        layout: names, keys and constraints of the M cells.
        code: ``(P,)`` cell of each pair in the smallest integer type, −1 unconstrained.
        order: positions of the constrained pairs, cell by cell; None when they stand so already.
        start: ``(M + 1,)`` where each cell begins in that order.
        weight: weights of the constrained pairs in that order; None when all are 1.
        mass: ``(M,)`` total weight of each cell.
        label_mass: ``(M,)`` total weight of each cell's links, where labels were given.
        pool: working memory between projections.
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
            labels: ``(P,)`` 0/1, where the criterion or the target asks for them.
            weight: ``(P,)`` non-negative weights; 1 each by default.
            directed: tell (0, 1) from (1, 0).
            combine: with several attributes, ``"cross"`` or ``"each"``.
        """
        chosen = find_criterion(criterion)
        parts = _parts(groups, chosen, directed, combine)
        first = next(iter(parts.values())).groups
        count, device = len(first), first.device
        label = _check_labels(labels, count, chosen, device)
        weights = _check_weight(weight, count, device)
        layout, code, sizes = _assign(parts, chosen, label, count)
        start = np.concatenate([[0], np.cumsum(sizes)])
        order = _sort(code, start)
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
    def pages(self) -> list[Chunk]:
        """The constrained pairs in their order, a segment at a time."""
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

    def lend(self, like: Tensor, count: int) -> Tensor:
        """``(count, len(like))`` of working memory: what was given back, where that fits."""
        try:
            room = self.pool.pop()
        except IndexError:
            room = None
        if room is not None and room.shape == (count, len(like)) and room.dtype == like.dtype:
            return room
        with torch.inference_mode(False):
            return torch.empty((count, len(like)), dtype=like.dtype, device=like.device)

    def give_back(self, room: Tensor) -> None:
        """Keep working memory for the next projection of these cells."""
        self.pool[:] = [room]

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name != "pages"}
        return kept | {"pool": []}

    def sum(self, values: Tensor) -> np.ndarray:
        """``(M,)`` float64 sums of values that stand in the sorted order."""
        if len(values) < SMALL * len(self.mass):  # all at once
            return sum_segments(values.double().cpu().numpy(), self.start)
        bounds = zip(self.start[:-1], self.start[1:], strict=True)
        return np.array([float(values[a:b].sum(dtype=torch.float64)) for a, b in bounds])


def find_criterion(criterion: object) -> Criterion:
    """A criterion by its name, or itself."""
    if isinstance(criterion, Criterion):
        return criterion
    if not isinstance(criterion, str):
        raise ValueError(
            f"criterion must be a name ({', '.join(CRITERIA)}) or a Criterion, got {criterion!r}"
        )
    return CRITERIA[criterion]


def check_prepared(where: str, cells: Cells, criterion: object, *others: object) -> None:
    """Raise if anything that prepared cells already hold is given once more."""
    if any(other is not None and other is not False for other in others):
        raise ValueError(
            f"{where}: give either cells, or groups, labels, weight, directed and combine; not both"
        )
    if criterion is not None and find_criterion(criterion).name != cells.criterion.name:
        raise ValueError(
            f"{where}: cells were prepared for {cells.criterion.name!r}, not for "
            f"{find_criterion(criterion).name!r}; prepare them for the same criterion"
        )


def _parts(
    groups: object, criterion: Criterion, directed: bool, combine: str | None
) -> dict[Hashable, GroupPairs]:
    if combine not in (None, "cross", "each"):
        raise ValueError(f"Cells: combine must be 'cross' or 'each', got {combine!r}")
    if isinstance(criterion, Custom):
        return {"": number_group_pairs(criterion.cells)}
    if groups is None:
        raise ValueError(f"{criterion.name}: groups are missing; give (P,) or (P, 2) integers")
    if not isinstance(groups, Mapping):
        return {"": number_group_pairs(groups, directed)}
    if not groups:
        raise ValueError("Cells: groups must name at least one attribute, got an empty dict")
    checked = {name: check_groups(group) for name, group in groups.items()}
    if len({tuple(group.shape) for group in checked.values()}) > 1:
        shapes = ", ".join(f"{n} {tuple(g.shape)}" for n, g in checked.items())
        raise ValueError(f"Cells: groups of all attributes must have one shape, got {shapes}")
    if len(checked) == 1 or combine == "cross":
        return {"": cross_groups(list(checked.values()), directed)}
    if combine != "each":
        raise ValueError(
            f"Cells: combine must be 'cross' or 'each' with {len(checked)} attributes, got "
            f"{combine!r}; "
            "'cross' makes one group per combination, 'each' constrains every attribute on its own"
        )
    return {name: number_group_pairs(group, directed) for name, group in checked.items()}


def _check_labels(
    labels: object, count: int, criterion: Criterion, device: torch.device
) -> Tensor | None:
    if labels is None:
        if criterion.needs_labels:
            raise ValueError(f"{criterion.name}: labels are missing; give (P,) zeros and ones")
        return None
    label = tensor(labels).to(device)
    if label.shape != (count,):
        raise ValueError(
            f"Cells: labels must have the shape ({count},), got {tuple(label.shape)}; "
            "give one per pair"
        )
    wrong = (label != 0) & (label != 1)
    if wrong.any():
        where = int(wrong.nonzero()[0])
        raise ValueError(
            f"Cells: labels must be 0 or 1, got {label[where].item():g} at position {where}; "
            "use 1 for a link and 0 for a pair without one"
        )
    return label


def _check_weight(weight: object, count: int, device: torch.device) -> Tensor | None:
    if weight is None:
        return None
    weights = tensor(weight).to(device)
    if not weights.is_floating_point():
        weights = weights.double()
    if weights.shape != (count,):
        raise ValueError(
            f"Cells: weight must have the shape ({count},), got {tuple(weights.shape)}; "
            "give one per pair"
        )
    good = (weights >= 0) & (weights < torch.inf)
    if not good.all():
        where = int((~good).nonzero()[0])
        raise ValueError(
            f"Cells: weight must be finite and not negative, got {weights[where].item():g} "
            f"at position {where}; use 0 to leave a pair out"
        )
    if not torch.isfinite(weights.double().sum()):
        raise ValueError("Cells: weights add up to more than float64 holds; scale them down")
    return weights.detach()


def _assign(
    parts: dict[Hashable, GroupPairs], criterion: Criterion, label: Tensor | None, count: int
) -> tuple[Layout, Tensor, np.ndarray]:
    """Layout, cell of each pair and number of pairs per cell, in chunks of pairs."""
    layouts = [criterion.layout(groups) for groups in parts.values()]
    radix = [len(layout.names) + 1 for layout in layouts]
    several = len(layouts) > 1
    device = next(iter(parts.values())).groups.device
    narrow = torch.int64 if several else _smallest(radix[0])
    code = torch.empty(count, dtype=narrow, device=device)
    sizes = torch.zeros(1 if several else radix[0], dtype=torch.int64, device=device)
    for low in range(0, count, CHUNK):
        part = slice(low, low + CHUNK)
        known = torch.zeros(()) if label is None else label[part].long()
        joint = torch.zeros((), dtype=torch.int64, device=device)
        for groups, base in zip(parts.values(), radix, strict=True):
            joint = joint * base + criterion.assign(groups.code_of(part), known, groups) + 1
        code[part] = joint - 1
        if not several:
            sizes += torch.bincount(joint, minlength=len(sizes))
    if not several:
        return layouts[0], code, sizes[1:].cpu().numpy()
    return _overlap(list(parts), layouts, code, radix)


def _overlap(
    names: list[Hashable], layouts: list[Layout], code: Tensor, radix: list[int]
) -> tuple[Layout, Tensor, np.ndarray]:
    """Several layouts at once: a cell per combination that occurs, the rows of every layout."""
    found, place, counts = torch.unique(code, return_inverse=True, return_counts=True)
    unconstrained = int(len(found) > 0 and found[0] == NONE)
    place = (place - unconstrained).to(_smallest(len(found) + 1))
    used = found[unconstrained:].cpu().numpy()
    digits = np.array(np.unravel_index(used + 1, radix)) - 1
    entries = [_entries(layout, digit) for layout, digit in zip(layouts, digits, strict=True)]
    above = np.cumsum([0] + [len(layout.rows) for layout in layouts])
    targets = np.cumsum([0] + [len(layout.blocks) for layout in layouts])
    single = all(layout.blocks == (None,) for layout in layouts)
    joint = Layout(
        names=tuple(_joint_name(names, layouts, digit) for digit in digits.T),
        key=_joint_key(layouts, digits),
        cell=np.concatenate([cell for cell, _, _ in entries]),
        row=np.concatenate([row + k for (_, row, _), k in zip(entries, above, strict=False)]),
        value=np.concatenate([value for _, _, value in entries]),
        rows=tuple(
            f"{n}: {r}" for n, layout in zip(names, layouts, strict=True) for r in layout.rows
        ),
        block=np.concatenate(
            [layout.block + k for layout, k in zip(layouts, targets, strict=False)]
        ),
        blocks=tuple(
            name if single else (name, block)
            for name, layout in zip(names, layouts, strict=True)
            for block in layout.blocks
        ),
        overlapping=True,
    )
    return joint, place, counts[unconstrained:].cpu().numpy()


def _entries(layout: Layout, digit: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cell, row and value of one attribute's constraints, its cells replaced by combinations."""
    order = np.argsort(layout.cell, kind="stable")
    cell = layout.cell[order]
    low, high = np.searchsorted(cell, digit), np.searchsorted(cell, digit, side="right")
    sizes = np.where(digit == NONE, 0, high - low)
    combination = np.repeat(np.arange(len(digit)), sizes)
    inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = order[np.repeat(low, sizes) + inside]
    return combination, layout.row[place], layout.value[place]


def _joint_name(names: list[Hashable], layouts: list[Layout], digit: np.ndarray) -> str:
    return ", ".join(
        f"{name} {layout.names[d] if d != NONE else 'none'}"
        for name, layout, d in zip(names, layouts, digit, strict=True)
    )


def _joint_key(layouts: list[Layout], digits: np.ndarray) -> np.ndarray:
    keys = [
        np.vstack([layout.key, np.full((1, layout.key.shape[1]), -2)])[digit]
        for layout, digit in zip(layouts, digits, strict=True)
    ]
    return np.hstack(keys)


def _smallest(size: int) -> torch.dtype:
    for dtype in (torch.int8, torch.int16, torch.int32):
        if size < torch.iinfo(dtype).max:
            return dtype
    return torch.int64


def _sort(code: Tensor, start: np.ndarray) -> Tensor | None:
    """Positions of the constrained pairs, cell by cell: a counting sort in chunks."""
    count = len(code)
    if start[-1] == count and bool((code[1:] >= code[:-1]).all()):
        return None
    wide = torch.int32 if count < 2**31 else torch.int64
    order = torch.empty(int(start[-1]), dtype=wide, device=code.device)
    fill = torch.as_tensor(start[:-1], device=code.device).clone()
    size = len(fill)
    for low in range(0, count, CHUNK):
        part = code[low : low + CHUNK]
        local = _argsort(part)
        cell = part[local].long()
        local, cell = local[cell != NONE], cell[cell != NONE]
        sizes = torch.bincount(cell, minlength=size)
        begin = fill - (sizes.cumsum(0) - sizes)
        order[begin[cell] + torch.arange(len(cell), device=code.device)] = (local + low).to(wide)
        fill += sizes
    return order


def _argsort(part: Tensor) -> Tensor:
    if part.device.type == "cpu":  # numpy sorts small integers by radix
        return torch.from_numpy(np.argsort(part.numpy(), kind="stable"))
    return torch.argsort(part, stable=True)
