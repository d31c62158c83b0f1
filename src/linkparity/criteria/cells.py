"""The criteria by name, and cells: the pairs that a criterion treats alike, sorted once."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkparity.criteria.accuracy import AccuracyEquality
from linkparity.criteria.base import Criterion, Layout, ask, same_content
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
from linkparity.reading.groups import NO_GROUP
from linkparity.support.arrays import (
    PART_SIZE,
    SMALL,
    as_result,
    check_labels,
    check_weights,
    smallest_integer,
    sort_segments,
    sum_segments,
)
from linkparity.support.errors import InputError
from linkparity.support.registry import Registry

#: Pairs whose kinds are computed at once: few enough for a processor's cache.
CACHED = 1 << 15
#: Up to this many kinds are counted one by one.
FEW = 6
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
        kept: what is made of these cells once, such as tensors on the device of the logits.
    """

    criterion: Criterion
    layout: Layout
    code: np.ndarray
    order: np.ndarray | None
    start: np.ndarray
    weight: np.ndarray | None
    mass: np.ndarray
    label_mass: np.ndarray | None
    pool: list[Any] = field(default_factory=list, repr=False)
    kept: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

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
        count = len(next(iter(parts.values())).groups)
        label = _check_labels(labels, count, chosen)
        weights = None if weight is None else check_weights(weight, count, "weight")
        layout, code, sizes = _assign(parts, chosen, label, count)
        start = np.concatenate([[0], np.cumsum(sizes)])
        order = sort_segments(code, start)
        if weights is not None:
            weights = weights.copy() if order is None else weights[order]
        cells = cls(chosen, layout, code, order, start, weights, sizes.astype(float), None)
        if weights is not None:
            cells = replace(cells, mass=cells.sum(weights))
        if label is not None and chosen.data_target:
            linked = label if order is None else label[order]
            cells = replace(
                cells, label_mass=cells.sum(linked if weights is None else linked * weights)
            )
        return cells

    @property
    def cell(self) -> Any:
        """``(P,)`` int64: the cell of each pair, −1 unconstrained; a tensor where PyTorch is."""
        return as_result(self.code.astype(np.int64))

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

    def __len__(self) -> int:
        return len(self.code)

    def to(self, device: object) -> "Cells":
        """The cells themselves, which projections copy to the device of the logits."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"pool": [], "kept": {}}

    def sum(self, values: np.ndarray) -> np.ndarray:
        """``(M,)`` float64 sums of values given in the sorted order."""
        if len(values) < SMALL * len(self.mass):  # all at once
            return sum_segments(values.astype(np.float64), self.start)
        bounds = zip(self.start[:-1], self.start[1:], strict=True)
        return np.array([values[a:b].sum(dtype=np.float64) for a, b in bounds])


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


def _check_labels(labels: object, count: int, criterion: Criterion) -> np.ndarray | None:
    if labels is None and criterion.needs_labels:
        raise InputError("labels are missing", "give (P,) zeros and ones", where=criterion.name)
    return None if labels is None else check_labels(labels, count, "labels")


def _assign(
    parts: dict[Hashable, GroupPairs], criterion: Criterion, label: np.ndarray | None, count: int
) -> tuple[Layout, np.ndarray, np.ndarray]:
    """Layout, cell of each pair and number of pairs per cell."""
    layouts = [criterion.layout(groups) for groups in parts.values()]
    radix = [len(layout.names) + 1 for layout in layouts]
    joint = np.zeros(count, dtype=np.int64)
    for groups, layout, base in zip(parts.values(), layouts, radix, strict=True):
        kind, counts = _kinds(groups, label)
        cell = _cell_of_kinds(criterion, groups, counts > 0, len(layout.names))
        if len(parts) == 1:
            sizes = np.zeros(base, dtype=np.int64)
            np.add.at(sizes, cell, counts)
            return layout, _look_up(cell, counts, kind), sizes[:-1]
        joint = joint * base + cell[kind] + 1
    return overlap(list(parts), layouts, joint - 1, radix)


def _kinds(groups: GroupPairs, label: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Kind of each pair: its pair of groups, −1 for none, and G + 1 more where it is a link.

    Returns:
        ``(P,)`` the kind of each pair, and ``(K,)`` number of pairs per kind; −1 is last.
    """
    size = len(groups) + 1
    total = size if label is None else 2 * size
    kind = np.empty(len(groups.groups), dtype=smallest_integer(total))
    for low in range(0, len(kind), CACHED):
        part = slice(low, low + CACHED)
        kind[part] = groups.code_of(part)
        if label is not None:
            kind[part] += (label[part] == 1).astype(kind.dtype) * kind.dtype.type(size)
    return kind, _counted(kind, total)


def _counted(kind: np.ndarray, total: int) -> np.ndarray:
    """``(K,)`` how often each kind occurs; kind −1 is last."""
    if total <= FEW:
        return np.array([np.count_nonzero(kind == m) for m in (*range(total - 1), NO_GROUP)])
    counts = np.zeros(total, dtype=np.int64)
    for low in range(0, len(kind), PART_SIZE):
        part = kind[low : low + PART_SIZE]
        if kind.itemsize > 1:
            counts += np.roll(np.bincount(part + np.int64(1), minlength=total), -1)
            continue
        even = part[: len(part) // 2 * 2].view(np.uint16)  # two kinds at a time
        both = np.bincount(even, minlength=1 << 16).reshape(256, 256)
        found = both.sum(axis=0) + both.sum(axis=1)
        found += np.bincount(part[len(part) // 2 * 2 :].view(np.uint8), minlength=256)
        counts += np.append(found[: total - 1], found[-1])
    return counts


def _cell_of_kinds(
    criterion: Criterion, groups: GroupPairs, occurs: np.ndarray, size: int
) -> np.ndarray:
    """``(K,)`` the criterion's cell of each kind, −1 for those that do not occur; kind −1 last."""
    kinds = np.flatnonzero(np.roll(occurs, 1))
    label, code = np.divmod(kinds, len(groups) + 1)
    answer = ask(criterion, code - 1, label, groups)
    cell = answer.astype(np.int64).reshape(-1)
    wrong = (cell < NO_GROUP) | (cell >= size)
    if cell.size not in (1, len(kinds)) or wrong.any():
        raise InputError(
            f"assign must give {len(kinds)} numbers from −1 to {size - 1}, got {answer!r:.60}",
            where=criterion.name,
        )
    table = np.full(len(occurs), NO_GROUP)
    table[kinds - 1] = cell
    return table


def _look_up(cell: np.ndarray, counts: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """``(P,)`` cells of kinds, in the smallest type; the kinds themselves where they are equal."""
    dtype = smallest_integer(int(cell.max(initial=-1)) + 1)
    own = np.append(np.arange(len(cell) - 1), NO_GROUP)
    if dtype == kind.dtype and (cell == own)[counts > 0].all():
        return kind
    code = np.empty(len(kind), dtype=dtype)
    table = cell.astype(dtype)
    for low in range(0, len(kind), CACHED):
        code[low : low + CACHED] = table[kind[low : low + CACHED]]
    return code
