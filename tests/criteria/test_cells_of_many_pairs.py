"""Cells of every kind of integers and every number of groups, against a dict of pairs."""

import numpy as np
import pytest
import torch

from linkparity import Cells
from linkparity.criteria.group_pairs import number_group_pairs


@pytest.fixture(params=[50, 1 << 20], ids=["in parts", "at once"])
def parts(request, monkeypatch):
    for place in ("criteria.cells.PART_SIZE", "criteria.cells.CACHED", "support.arrays.PART_SIZE"):
        monkeypatch.setattr(f"linkparity.{place}", request.param)


def made_up(size, dtype, unknown, count=601):
    rng = np.random.default_rng(size)
    groups = rng.integers(-int(unknown), size, (count, 2)).astype(dtype)
    groups[:size, 0] = np.arange(size)[:count]
    return groups


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    ("size", "dtype", "unknown"),
    [
        (1, np.int64, False), (2, bool, False), (2, np.int64, False), (2, np.int8, True),
        (3, np.uint64, False), (7, np.int32, False), (11, np.uint8, False), (12, np.int64, False),
        (12, np.int16, True), (60, np.int64, True), (300, np.int64, False), (300, np.int16, True),
    ],
)  # fmt: skip
def test_cells_sizes_and_order_are_those_of_a_dict(size, dtype, unknown, directed, labelled):
    groups = made_up(size, dtype, unknown)
    label = np.arange(len(groups)) % 2 if labelled else None
    criterion = "equalized-odds" if labelled else "dp"
    cells = Cells.prepare(groups, criterion, label, directed=directed)
    keys = cells.layout.key.tolist()
    place = {tuple(key): m for m, key in enumerate(keys)}
    wanted = []
    for row, (a, b) in enumerate(groups.astype(int).tolist()):
        both = (a, b) if directed else (min(a, b), max(a, b))
        pair = (max(a, b), -1) if min(a, b) < 0 else both
        key = (*pair, row % 2) if labelled else pair
        wanted.append(-1 if pair == (-1, -1) else place[key])
    assert cells.cell.tolist() == wanted
    sizes = np.bincount(np.array(wanted) + 1, minlength=len(keys) + 1)[1:]
    assert np.diff(cells.start).tolist() == cells.mass.tolist() == sizes.tolist()
    order = np.argsort(wanted, kind="stable")[len(wanted) - sizes.sum() :]
    if cells.order is None:
        assert (order == np.arange(len(groups))).all()
    else:
        assert cells.order.tolist() == order.tolist()


@pytest.mark.parametrize("form", ["columns", "rows", "strided", "tensor", "list"])
def test_groups_may_lie_in_memory_in_any_way(form):
    groups = made_up(4, np.int64, unknown=False)
    wanted = number_group_pairs(groups).code.tolist()
    given = {
        "columns": np.asfortranarray(groups), "rows": groups[::-1][::-1],
        "strided": np.repeat(groups, 2, axis=1)[:, ::2], "list": groups.tolist(),
        "tensor": torch.from_numpy(groups).T.clone().T,
    }[form]  # fmt: skip
    assert Cells.prepare(given).cell.tolist() == wanted


@pytest.mark.usefixtures("parts")
def test_arrays_are_not_changed():
    groups, label = made_up(5, np.int64, unknown=True), np.arange(601) % 2
    weight = np.linspace(0, 1, 601)
    before = groups.copy(), label.copy(), weight.copy()
    for each in (groups, label, weight):
        each.flags.writeable = False
    cells = Cells.prepare(groups, "eo", label, weight)
    cells.weight[:] = 0
    for now, then in zip((groups, label, weight), before, strict=True):
        assert (now == then).all()
