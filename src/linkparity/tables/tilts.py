"""Tilts in a file: kept from one table, used on later ones."""

import json
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkparity.tables.cellsums import TableSums, cells_of
from linkparity.tables.parity import Tilted, cell_groups, cell_name, check_criterion
from linkparity.tables.scores import ScoreTable
from linkparity.tables.statistics import Statistics

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
        target = {str(key): value for key, value in target.items()}
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
    name: str | Path, criterion: str = "dp", target: object = "model", tolerance: float = 0.0
) -> SavedTilts:
    """Tilts to use as they are: nothing else may be asked for than what they were fitted for."""
    found = _read_tilts(Path(name))
    if target != "model" or tolerance:
        raise ValueError(
            f"{name}: --apply uses saved tilts as they are; leave out --target and --tolerance"
        )
    if criterion not in ("dp", found.criterion):
        raise ValueError(
            f"{name}: holds tilts for {found.criterion}, not for {criterion}; "
            "leave out --criterion, or fit anew without --apply"
        )
    return found


def _read_tilts(path: Path) -> SavedTilts:
    """A file written by ``--save-tilts``."""
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        if saved["format"] != FORMAT:
            raise KeyError("format")
        cells = tuple(
            CellTilt(tuple(c["groups"]), c.get("label"), float(c["tilt"])) for c in saved["cells"]
        )
        target = saved["target"]
        if isinstance(target, dict):
            target = {int(key): float(value) for key, value in target.items()}
        return SavedTilts(
            saved["criterion"], saved["attribute"], bool(saved["directed"]), target, cells
        )
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file; make it with project --save-tilts") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(
            f"{path}: is no file of tilts; make it with linkparity project --save-tilts"
        ) from None


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
