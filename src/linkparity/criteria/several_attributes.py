"""Several attributes at once: a cell per combination of their cells that occurs."""

from collections.abc import Hashable

import numpy as np

from linkparity.criteria.base import Layout
from linkparity.reading.groups import NO_GROUP
from linkparity.support.arrays import smallest_integer


def overlap(
    names: list[Hashable], layouts: list[Layout], code: np.ndarray, radix: list[int]
) -> tuple[Layout, np.ndarray, np.ndarray]:
    """Join layouts: a cell per combination that occurs, the constraints of every layout.

    Args:
        names: of the attributes.
        layouts: one per attribute.
        code: ``(P,)`` int64 combination of each pair: cells + 1 as digits of a number, less 1.
        radix: base of each digit.

    Returns:
        The joint layout, ``(P,)`` the joint cell of each pair, and ``(M,)`` pairs per joint cell.
    """
    found, place, counts = np.unique(code, return_inverse=True, return_counts=True)
    unconstrained = int(len(found) > 0 and found[0] == NO_GROUP)
    place = (place - unconstrained).astype(smallest_integer(len(found) + 1))
    used = found[unconstrained:]
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
    return joint, place, counts[unconstrained:]


def _entries(layout: Layout, digit: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cell, row and value of one attribute's constraints, its cells replaced by combinations."""
    order = np.argsort(layout.cell, kind="stable")
    cell = layout.cell[order]
    low, high = np.searchsorted(cell, digit), np.searchsorted(cell, digit, side="right")
    sizes = np.where(digit == NO_GROUP, 0, high - low)
    combination = np.repeat(np.arange(len(digit)), sizes)
    inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = order[np.repeat(low, sizes) + inside]
    return combination, layout.row[place], layout.value[place]


def _joint_name(names: list[Hashable], layouts: list[Layout], digit: np.ndarray) -> str:
    return ", ".join(
        f"{name} {layout.names[d] if d != NO_GROUP else 'none'}"
        for name, layout, d in zip(names, layouts, digit, strict=True)
    )


def _joint_key(layouts: list[Layout], digits: np.ndarray) -> np.ndarray:
    keys = [
        np.vstack([layout.key, np.full((1, layout.key.shape[1]), -2)])[digit]
        for layout, digit in zip(layouts, digits, strict=True)
    ]
    return np.hstack(keys)
