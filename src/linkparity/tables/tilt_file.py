"""Tilts in a file: kept from one table, used on later ones."""

import json
import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkparity.criteria import trainable
from linkparity.support.errors import InputError
from linkparity.support.files import check_output, read_json
from linkparity.tables.fit_table import Tilted, cell_groups, cell_name, check_criterion
from linkparity.tables.measures.row_sums import TableSums, cells_of
from linkparity.tables.measures.statistics import Statistics
from linkparity.tables.reading.score_table import ScoreTable

FORMAT = "linkparity tilts 1"


@dataclass(frozen=True)
class CellTilt:
    """What is added to the logits of one cell."""

    groups: tuple[str, ...]
    label: int | None
    tilt: float

    def to_dict(self) -> dict[str, Any]:
        """Groups, label where it matters, tilt."""
        label = {} if self.label is None else {"label": self.label}
        return {"groups": list(self.groups), **label, "tilt": self.tilt}


@dataclass(frozen=True)
class SavedTilts:
    """Tilts with what they were fitted for."""

    criterion: str
    attribute: str
    directed: bool
    target: float | dict[Hashable, float]
    cells: tuple[CellTilt, ...]


def cell_tilts(table: ScoreTable, tilted: Tilted) -> tuple[CellTilt, ...]:
    """The tilts of the cells that have pairs, by the names of their groups."""
    used = np.flatnonzero(tilted.cells.mass > 0).tolist()
    return tuple(
        CellTilt(*cell_groups(table, tilted.cells, m), float(tilted.tilt[m])) for m in used
    )


def tilts_text(table: ScoreTable, tilted: Tilted) -> str:
    """The file's text."""
    target = tilted.target
    if isinstance(target, dict):
        target = {str(key): value for key, value in target.items() if not math.isnan(value)}
    saved = {
        "format": FORMAT,
        "criterion": tilted.criterion,
        "attribute": table.reading.attribute,
        "directed": table.reading.directed,
        "target": target,
        "cells": [cell.to_dict() for cell in cell_tilts(table, tilted)],
    }
    return json.dumps(saved, indent=2, ensure_ascii=False) + "\n"


def saved_tilts(
    name: str | Path,
    criterion: str | None = None,
    target: object = "model",
    tolerance: float = 0.0,
) -> SavedTilts:
    """Tilts to use as they are: nothing else may be asked for than what they were fitted for."""
    path = Path(name)
    if not path.exists():
        raise ValueError(f"{name}: no such file; make it with project --save-tilts")
    try:
        found = _read(read_json(path))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(
            f"{name}: is no file of tilts; make it with linkparity project --save-tilts"
        ) from None
    if target != "model" or tolerance:
        raise ValueError(
            f"{name}: --apply uses saved tilts as they are; leave out --target and --tolerance"
        )
    if criterion not in (None, found.criterion):
        raise ValueError(
            f"{name}: holds tilts for {found.criterion}, not for {criterion}; "
            "leave out --criterion, or fit anew without --apply"
        )
    return found


def check_tilts_output(name: str | Path, inputs: Iterable[str | Path | None]) -> None:
    """Refuse to replace a file that is not a tilt file, or one that is read."""
    check_output(str(name), True, inputs)
    path = Path(name)
    if not path.is_file():
        return
    try:
        _read(read_json(path))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            "exists and is not a tilt file", "choose another name", where=str(name)
        ) from None


def _read(saved: dict[str, Any]) -> SavedTilts:
    """What the file says; an error of whatever kind for anything that cannot be so."""
    if saved["format"] != FORMAT or saved["criterion"] not in trainable():
        raise KeyError("format")
    cells = tuple(
        CellTilt(tuple(map(_text, c["groups"])), c.get("label"), _finite(c["tilt"]))
        for c in saved["cells"]
    )
    if any(cell.label not in (None, 0, 1) for cell in cells):
        raise ValueError("label")
    target = saved["target"]
    told: float | dict[Hashable, float] = (
        {int(key): _finite(value) for key, value in target.items()}
        if isinstance(target, dict)
        else _finite(target)
    )
    found = SavedTilts(
        saved["criterion"], _text(saved["attribute"]), bool(saved["directed"]), told, cells
    )
    if len({(frozen(cell.groups, found.directed), cell.label) for cell in cells}) < len(cells):
        raise ValueError("a cell twice")
    return found


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _finite(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    if isinstance(value, str) or not math.isfinite(number):
        raise ValueError(value)
    return number


def apply_tilts(table: ScoreTable, stats: Statistics, saved: SavedTilts, where: str) -> Tilted:
    """Use saved tilts on another table; every cell with pairs must have one."""
    if saved.attribute != table.reading.attribute:
        raise ValueError(
            f"{where}: tilts are for {saved.attribute!r}, not {table.reading.attribute!r}; "
            f"say --sensitive {saved.attribute.replace(' & ', ',')}"
        )
    if saved.directed != table.reading.directed:
        way = "with" if saved.directed else "without"
        raise ValueError(f"{where}: tilts were fitted {way} --directed; use them {way} it")
    check_criterion(saved.criterion, table)
    cells = cells_of(stats, saved.criterion, table.reading.directed, table.labelled)
    known = {(frozen(cell.groups, saved.directed), cell.label): cell.tilt for cell in saved.cells}
    tilt = np.zeros(len(cells.mass))
    for m in np.flatnonzero(cells.mass > 0).tolist():
        groups, label = cell_groups(table, cells, m)
        key = (frozen(groups, saved.directed), label)
        if key not in known:
            raise ValueError(
                f"{where}: has no tilt for {cell_name(table, cells, m)}, which "
                f"{table.given.name} has pairs of; fit anew without --apply"
            )
        tilt[m] = known[key]
    cell = cells.cell.numpy()
    sums = TableSums(table, stats, cell, len(tilt))
    kl = float(sums.divergence(tilt).sum())
    return Tilted(saved.criterion, cells, sums, tilt, saved.target, kl, None)


def frozen(groups: tuple[str, ...], directed: bool) -> tuple[str, ...]:
    """Names of a group pair, in one order unless that matters."""
    return groups if directed else tuple(sorted(groups))
