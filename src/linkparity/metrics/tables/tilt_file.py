"""Tilts in a file: fitted to one table, used for later ones."""

import json
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from linkparity.criteria import Cells, Criterion, trainable
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.pairs.fit import (
    CellTilt,
    Tilted,
    cell_groups,
    cell_name,
    cells_of,
    group_cells,
)
from linkparity.pairs.totals import SourceSums
from linkparity.projection.group_tilts import LARGEST_TILT, TILT_BY, owners
from linkparity.reading.pair_table import PairTable
from linkparity.support.errors import InputError
from linkparity.support.files import read_json

FORMAT = "linkparity tilts 2"
#: Files of this format have no ``tilt_by``: tilts are by label where the criterion looks at labels.
OLD_FORMAT = "linkparity tilts 1"
MAKE_ONE = "make one with {save_tilts=}"


@dataclass(frozen=True)
class SavedTilts:
    """Tilts, with what they were fitted for.

    Attributes:
        name: of the file, for messages.
        criterion: which parity.
        tilt_by: ``"groups"`` or ``"labels"``.
        attribute: the attribute that made the groups.
        directed: whether (a, b) and (b, a) were two pairs.
        target: the common mean; a dict by label where there are several.
        cells: the tilts.
    """

    name: str
    criterion: str
    tilt_by: str
    attribute: str
    directed: bool
    target: float | dict[Hashable, float]
    cells: tuple[CellTilt, ...]


def tilts_text(table: PairTable, tilted: Tilted, cells: tuple[CellTilt, ...]) -> str:
    """The content of a tilt file."""
    target = tilted.target
    if isinstance(target, dict):
        target = {str(key): value for key, value in target.items() if not math.isnan(value)}
    saved = {
        "format": FORMAT,
        "criterion": tilted.criterion.name,
        "tilt_by": tilted.tilt_by,
        "attribute": table.options.attribute,
        "directed": table.options.directed,
        "target": target,
        "cells": [cell.to_dict() for cell in cells],
    }
    return json.dumps(saved, indent=2, ensure_ascii=False) + "\n"


def read_tilts(
    file: str | Path,
    criterion: str | None = None,
    target: object = "model",
    tolerance: float = 0.0,
    tilt_by: str | None = None,
) -> SavedTilts:
    """Read a tilt file; nothing may be asked of the tilts but what they were fitted for."""
    name, path = str(file), Path(file)
    if not path.exists():
        raise InputError("no such file", MAKE_ONE, where=name)
    try:
        found = _parse(name, read_json(path))
    except (KeyError, TypeError, AttributeError):
        raise InputError("is not a tilt file", MAKE_ONE, where=name) from None
    if target != "model" or tolerance:
        fix = "leave out {target=} and {tolerance=}"
        raise InputError("its tilts are used as they are", fix, where=name)
    if criterion not in (None, found.criterion):
        problem = f"holds tilts for {found.criterion}, not for {criterion}"
        fix = "leave out {criterion=}, or fit new tilts without {apply=}"
        raise InputError(problem, fix, where=name)
    if tilt_by not in (None, found.tilt_by) and not trainable()[found.criterion].tilts_by_group:
        problem = f"holds tilts by {found.tilt_by}, not by {tilt_by}"
        fix = "leave out {tilt_by=}, or fit new tilts without {apply=}"
        raise InputError(problem, fix, where=name)
    return found


def _parse(name: str, saved: dict[str, Any]) -> SavedTilts:
    """The content of a file; a key that is missing, and an object that is none, are any error."""
    if saved["format"] not in (FORMAT, OLD_FORMAT):
        raise KeyError("format")
    values = {"tilt_by": "labels", **saved} if saved["format"] == OLD_FORMAT else saved
    read = partial(_read_value, name, values)
    criterion = read("criterion", lambda value: _is_text(value) and value in trainable())
    directed = read("directed", lambda value: isinstance(value, bool))
    cells = tuple(_read_cell(name, at, cell) for at, cell in enumerate(saved["cells"], 1))
    if len({_key(cell.groups, cell.label, directed) for cell in cells}) < len(cells):
        raise InputError("key 'cells' has a cell twice", MAKE_ONE, where=name)
    return SavedTilts(
        name,
        criterion,
        read("tilt_by", lambda value: value in TILT_BY),
        read("attribute", _is_text),
        directed,
        _read_target(name, saved),
        cells,
    )


def _read_target(name: str, saved: dict[str, Any]) -> float | dict[Hashable, float]:
    target = saved["target"]
    if not isinstance(target, dict):
        return float(_read_value(name, saved, "target", _is_probability))
    _read_value(name, saved, "target", bool)  # a mean for one label at least
    place = f"{name}: key 'target'"
    return {
        int(_read_value(place, {"label": key}, "label", lambda text: text in ("0", "1"))): float(
            _read_value(place, target, key, _is_probability)
        )
        for key in target
    }


def _read_cell(name: str, at: int, cell: dict[str, Any]) -> CellTilt:
    place = f"{name}: key 'cells', entry {at}"
    groups = _read_value(
        place, cell, "groups", lambda value: isinstance(value, list) and all(map(_is_text, value))
    )
    label = cell.get("label")
    if label is not None:
        _read_value(place, cell, "label", lambda value: _is_number(value) and value in (0, 1))
    tilt = _read_value(
        place, cell, "tilt", lambda value: _is_number(value) and abs(value) <= LARGEST_TILT
    )
    return CellTilt(tuple(groups), label, float(tilt))


def _read_value(where: str, values: dict[str, Any], key: str, fits: Callable[[Any], bool]) -> Any:
    """The value of a key; an error that names it where it is not as it was written."""
    if not fits(value := values[key]):
        raise InputError(f"key {key!r} cannot hold {value!r:.60}", MAKE_ONE, where=where)
    return value


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_probability(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def apply_tilts(table: PairTable, scored: ScoredPairs, saved: SavedTilts) -> Tilted:
    """Use saved tilts for another table; every cell with pairs must have one."""
    _check_same(table, saved)
    criterion, totals, kinds = trainable()[saved.criterion], scored.totals, scored.source.kinds
    by_groups = saved.tilt_by == "groups"
    cells = (
        group_cells(kinds, totals, criterion)
        if by_groups
        else cells_of(kinds, totals, criterion, table.given.name)
    )
    known = {_key(cell.groups, cell.label, saved.directed): cell.tilt for cell in saved.cells}
    tilt = np.zeros(len(cells.mass))
    for m in np.flatnonzero(cells.mass > 0).tolist():
        groups, label = cell_groups(table.names, cells, m)
        if (key := _key(groups, label, saved.directed)) not in known:
            name = cell_name(groups, label)
            problem = f"has no tilt for {name}, of which {table.given.name} has pairs"
            raise InputError(problem, "fit new tilts without {apply=}", where=saved.name)
        tilt[m] = known[key]
    sums = SourceSums(scored.source, totals, cells.code, len(tilt))
    applied = float(sums.divergence(tilt).sum()) / (cells.total or math.nan)
    kl = applied
    if by_groups and criterion.needs_labels:
        kl = _kl_of_constrained(table, scored, criterion, cells, tilt)
    return Tilted(criterion, saved.tilt_by, cells, sums, tilt, saved.target, kl, applied, None)


def _kl_of_constrained(
    table: PairTable, scored: ScoredPairs, criterion: Criterion, groups: Cells, tilt: np.ndarray
) -> float:
    """Nats per pair that the criterion constrains, at tilts by groups; NaN without labels."""
    if not table.labelled:
        return math.nan
    totals = scored.totals
    cells = cells_of(scored.source.kinds, totals, criterion)
    sums = SourceSums(scored.source, totals, cells.code, len(cells.mass))
    total = float(sums.divergence(tilt[owners(cells, groups)]).sum())
    return total / (cells.total or math.nan)


def _check_same(table: PairTable, saved: SavedTilts) -> None:
    """Refuse a table whose groups are made otherwise."""
    if saved.attribute != table.options.attribute:
        problem = f"has tilts for {saved.attribute!r}, not for {table.options.attribute!r}"
        fix = f"use {{sensitive={saved.attribute.replace(' & ', ',')}}}"
        raise InputError(problem, fix, where=saved.name)
    if saved.directed != table.options.directed:
        kind = "directed" if saved.directed else "undirected"
        fix = "use {directed=True}" if saved.directed else "leave out {directed=}"
        raise InputError(f"its tilts were fitted to {kind} pairs", fix, where=saved.name)


def _key(groups: tuple[str, ...], label: int | None, directed: bool) -> tuple[object, ...]:
    """What a cell is recognized by; the order of its groups matters only when directed."""
    return (*(groups if directed else sorted(groups)), label)
