"""Several attributes at once, against the constraints written out pair by pair."""

from collections import Counter

import numpy as np
import pytest
import torch
from oracles import constraints_of, group_pair

from linkparity import Cells, i_project
from linkparity.criteria import CRITERIA, Criterion, one_mean_per_cell


def drawn_attributes(count=90, seed=0):
    rng = np.random.default_rng(seed)
    sizes = {"a": 3, "b": 2, "c": 4}
    groups = {name: rng.integers(-1, size, (count, 2)) for name, size in sizes.items()}
    return groups, rng.integers(0, 2, count), rng.uniform(0.5, 2, count)


@pytest.mark.parametrize("name", CRITERIA)
def test_joint_constraints_are_those_of_every_attribute(name):
    """The matrix times sums per cell is what each constraint's pairs add up to."""
    groups, labels, weight = drawn_attributes()
    cells = Cells.prepare(groups, name, labels, weight, combine="each")
    layout, p = cells.layout, np.random.default_rng(1).random(90)
    sums = np.array([(weight * p)[cells.cell == m].sum() for m in range(len(layout.names))])
    offset = np.array([weight[cells.cell == m].sum() for m in range(len(layout.names))])
    total, _ = layout.entries.statistic_sums(sums, offset - sums)
    found = {}
    for row, value in enumerate(total):
        if layout.weight(cells.mass)[row] > 0:
            found.setdefault(layout.blocks[layout.block[row]], []).append(value)
    expected = {}
    for attribute, pairs in groups.items():
        for target, members in constraints_of(pairs, name, labels):
            value = sum(weight[k] * (p[k] if sign else 1 - p[k]) for k, sign in members)
            key = attribute if target is None else (attribute, target)
            expected.setdefault(key, []).append(value)
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert sorted(found[key]) == pytest.approx(sorted(values))


def test_a_joint_cell_is_a_combination_that_occurs():
    groups, _, _ = drawn_attributes()
    cells = Cells.prepare(groups, combine="each")
    keys = [tuple(group_pair(pairs[k]) for pairs in groups.values()) for k in range(90)]
    none = (None, None, None)
    assert (cells.cell.numpy() < 0).tolist() == [key == none for key in keys]
    names = {
        ", ".join(
            f"{attribute} {'none' if pair is None else '-'.join(map(str, pair))}"
            for attribute, pair in zip(groups, key, strict=True)
        )
        for key in set(keys) - {none}
    }
    assert set(cells.layout.names) == names
    assert len(cells.layout.names) == len(names) == len(np.unique(cells.layout.key, axis=0))
    sizes = Counter(cells.cell.tolist())
    assert np.diff(cells.start).tolist() == [sizes[m] for m in range(len(names))]
    for k, key in enumerate(keys):
        if key != none:
            mine = cells.layout.names[cells.cell[k]]
            assert mine.startswith("a none" if key[0] is None else f"a {key[0][0]}")


def test_a_combination_has_the_same_key_in_another_batch():
    """The second batch lacks groups and combinations of the first."""
    groups, _, _ = drawn_attributes()
    first = Cells.prepare(groups, combine="each")
    some = [k for k in range(90) if max(pairs[k].max() for pairs in groups.values()) < 2][::2]
    second = Cells.prepare({name: pairs[some] for name, pairs in groups.items()}, combine="each")
    key = dict(zip(map(tuple, first.layout.key.tolist()), first.layout.names, strict=True))
    assert 3 < len(second.layout.names) < len(first.layout.names)
    for row, name in zip(second.layout.key.tolist(), second.layout.names, strict=True):
        assert key[tuple(row)] == name


def test_pairs_without_any_group_have_no_cell():
    none = np.full((4, 2), -1)
    cells = Cells.prepare({"a": none, "b": none}, combine="each")
    assert cells.cell.tolist() == [-1] * 4
    assert cells.total == 0
    p = i_project(torch.linspace(-1, 2, 4), cells=cells)
    assert p.kl == 0
    assert torch.equal(p.logits, p.given)
    nothing = Cells.prepare({"a": none[:0], "b": none[:0]}, combine="each")
    assert len(nothing) == nothing.total == 0


class MeanPerSize(Criterion):
    """Pairs within a group have a target of their own where there are three groups or more."""

    name = "mean-per-size"

    def layout(self, groups):
        within = groups.key[:, 0] == groups.key[:, 1]
        if groups.size < 3:
            return one_mean_per_cell(groups.names, groups.key)
        return one_mean_per_cell(
            groups.names, groups.key, within.astype(int), blocks=("between", "within")
        )


def test_attributes_may_have_different_numbers_of_targets():
    groups, _, _ = drawn_attributes()
    x = torch.linspace(-2, 1, 90, dtype=torch.float64)
    p = i_project(x, groups, MeanPerSize(), combine="each", target="free")
    assert set(p.target) == {("b", None)} | {(a, t) for a in "ac" for t in ("between", "within")}
    assert len(set(p.target.values())) == 5
    projected = torch.sigmoid(p.logits).numpy()
    for attribute, pairs in groups.items():
        for _, members in constraints_of(pairs, "dp", None):
            mine = [k for k, _ in members]
            pair = group_pair(pairs[mine[0]])
            kind = None
            if attribute != "b":
                kind = "within" if len(pair) == 2 and pair[0] == pair[1] else "between"
            assert projected[mine].mean() == pytest.approx(p.target[attribute, kind], abs=1e-8)
