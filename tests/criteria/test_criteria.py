"""What every criterion says of itself, checked against what it does with pairs."""

import copy
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

import linkparity as lp
from linkparity.criteria import CRITERIA, Cells, Custom, trainable
from linkparity.criteria.base import ConstraintMatrix
from linkparity.criteria.cells import find_criterion
from linkparity.criteria.constrained_group_pairs import Restricted
from linkparity.projection.chunks import placed
from linkparity.support.errors import InputError

GROUPS = torch.tensor([[a, b] for a in range(3) for b in range(a, 3)]).repeat(4, 1)
LABELS = (torch.arange(len(GROUPS)) // 6) % 2


def cells_of(name, groups=GROUPS, labels=LABELS):
    return Cells.prepare(groups, name, labels).cell


@pytest.mark.parametrize("name", CRITERIA)
def test_name_is_the_key_of_the_table(name):
    assert CRITERIA[name].name == name
    assert find_criterion(name) is CRITERIA[name]


@pytest.mark.parametrize(
    ("alias", "name"), [("demographic-parity", "dp"), ("equal-opportunity", "eo")]
)
def test_names_of_the_literature_are_aliases(alias, name):
    assert find_criterion(alias) is CRITERIA[name]
    assert torch.equal(cells_of(alias), cells_of(name))
    logits = torch.linspace(-2, 2, len(GROUPS), dtype=torch.float64)
    asked = {"groups": GROUPS, "labels": LABELS, "criterion": alias}
    cells = Cells.prepare(GROUPS, name, LABELS)
    assert float(lp.i_project(logits, **asked).kl) == float(lp.i_project(logits, cells=cells).kl)
    lp.i_project(logits, cells=cells, criterion=alias)
    assert lp.FairnessRegularizer(alias).criterion is CRITERIA[name]
    scores = lp.score_pairs(
        logits=logits, groups=GROUPS, labels=LABELS, criterion=alias, measures=["kl"]
    )
    assert scores.criterion == name
    assert lp.Experiment(data=["polbooks"], models=["maxent"], criteria=[alias]).criteria == (name,)
    graph = lp.load("polbooks")
    model = lp.LinkPredictor("maxent", alias, seed=0)
    assert model.fit(graph).get_params()["criterion"] == alias
    assert lp.evaluate(model, lp.split_links(graph, seed=0), measures=["auc"]).criterion == name


@pytest.mark.parametrize("name", CRITERIA)
def test_criteria_that_need_labels_refuse_to_do_without(name):
    if CRITERIA[name].needs_labels:
        with pytest.raises(ValueError, match=f"{name}: labels are missing"):
            Cells.prepare(GROUPS, name)
        assert not torch.equal(cells_of(name), cells_of(name, labels=1 - LABELS))
    else:
        assert torch.equal(Cells.prepare(GROUPS, name).cell, cells_of(name))


@pytest.mark.parametrize("name", CRITERIA)
def test_tilts_by_group_alone_are_the_same_for_both_labels(name):
    by_pair = {}
    for pair, cell in zip(GROUPS.tolist(), cells_of(name).tolist(), strict=True):
        by_pair.setdefault(tuple(pair), set()).add(cell)
    alone = all(len(cells) == 1 for cells in by_pair.values())
    assert alone == CRITERIA[name].tilts_by_group == (not CRITERIA[name].needs_labels)


@pytest.mark.parametrize("name", CRITERIA)
def test_cells_by_group_pair_survive_any_numbering_of_the_pairs(name):
    """One group per pair of groups, in any order, sorts the pairs alike."""
    pair = Cells.prepare(GROUPS).cell
    shuffled = torch.tensor([4, 0, 5, 2, 1, 3])[pair]
    if not CRITERIA[name].by_group_pair:
        with pytest.raises(ValueError, match="within and between need"):
            cells_of(name, groups=shuffled)
        return
    first, second = cells_of(name), cells_of(name, groups=shuffled)
    matches = set(zip(first.tolist(), second.tolist(), strict=True))
    assert len(matches) == len(set(first.tolist())) == len(set(second.tolist()))


def test_within_crossed_attributes_is_within_both():
    """A pair that shares one attribute of two is between."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(-1, 3, (2, 200, 2))
    groups = {"sex": first, "age": second}
    expected = []
    for (a, b), (c, d) in zip(first.tolist(), second.tolist(), strict=True):
        known = min(a, b, c, d) >= 0
        expected.append((0 if a == b and c == d else 1) if known else -1)
    share_one = [a == b and c != d and min(a, b, c, d) >= 0 for (a, b), (c, d) in zip(
        first.tolist(), second.tolist(), strict=True)]  # fmt: skip
    assert sum(share_one) > 10
    assert Cells.prepare(groups, "weak-dp", combine="cross").cell.tolist() == expected
    p = lp.i_project(torch.linspace(-3, 2, 200).double(), groups, "weak-dp", combine="cross")
    mean = [torch.sigmoid(p.logits)[np.array(expected) == kind].mean().item() for kind in (0, 1)]
    assert mean == pytest.approx([p.target] * 2)


@pytest.mark.parametrize("name", CRITERIA)
def test_target_of_the_data_exists_where_it_is_said_to(name):
    x = torch.linspace(-2, 2, len(GROUPS))
    if CRITERIA[name].data_target:
        found = lp.i_project(x, GROUPS, name, LABELS, target="data").target
        assert found == pytest.approx(LABELS.double().mean().item())
    else:
        with pytest.raises(ValueError, match="'data' does not exist"):
            lp.i_project(x, GROUPS, name, LABELS, target="data")


def test_trainable_criteria_are_those_that_a_graph_defines():
    assert set(trainable()) == set(CRITERIA) - {"churn"}
    assert [name for name, each in CRITERIA.items() if each.needs_baseline] == ["churn"]
    assert Custom([0], A=[[1.0]], b=[0.5]).for_given_pairs_only
    with pytest.raises(ValueError, match="unknown criterion 'churn'; known: accuracy, dp"):
        trainable()["churn"]


@pytest.mark.parametrize("name", CRITERIA)
def test_constraints_and_matrix_agree(name):
    """The sparse products are those of the dense matrix."""
    entries = Cells.prepare(GROUPS, name, LABELS).layout.entries
    rng = np.random.default_rng(0)
    constraints, cells = entries.shape
    v, u, no = rng.random(cells), rng.random(constraints), rng.random(cells)
    dense = entries.dense
    assert entries.times(v) == pytest.approx(dense @ v)
    assert entries.absolute_times(v) == pytest.approx(np.abs(dense) @ v)
    assert entries.transpose_times(u) == pytest.approx(dense.T @ u)
    plus, minus = np.maximum(dense, 0), np.maximum(-dense, 0)
    total, complement = entries.statistic_sums(v, no)
    assert total == pytest.approx(plus @ v + minus @ no)
    assert complement == pytest.approx(plus @ no + minus @ v)
    rows, kept = rng.random(constraints) < 0.6, rng.random(cells) < 0.6
    assert (entries.submatrix(rows, kept).dense == dense[rows][:, kept]).all()


@pytest.mark.parametrize("name", CRITERIA)
def test_every_cell_has_a_name_and_a_key_of_its_own(name):
    layout = Cells.prepare(GROUPS, name, LABELS).layout
    assert len(set(layout.names)) == len(np.unique(layout.key, axis=0)) == len(layout.names)
    assert len(set(layout.rows)) == len(layout.rows)
    if len(layout.names) == 12:
        pairs = [f"{a}-{b}" for a in range(3) for b in range(a, 3)]
        assert list(layout.names) == [f"{pair}, label {y}" for y in (0, 1) for pair in pairs]
        assert layout.key[:, -1].tolist() == [0] * 6 + [1] * 6


@pytest.mark.parametrize(
    ("matrix", "separable"),
    [
        ([[1, 0, 0, 0], [0, -1, 1, 0], [0, 0, 0, 0]], True),
        ([[1, 0, 0, 0], [0, -1, 1, 0], [0, 0, 1, 0]], False),
        ([[1, 0, 0, 0], [0, 2, 1, 0], [0, 0, 0, 1]], False),
        ([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], True),
    ],
)
def test_sparse_matrices_with_rows_and_columns_of_zeros(matrix, separable):
    dense = np.array(matrix, dtype=float)
    row, cell = np.nonzero(dense)
    entries = ConstraintMatrix(row, cell, dense[row, cell], dense.shape)
    assert entries.separable == separable
    assert entries.counts.tolist() == np.count_nonzero(dense, axis=1).tolist()
    assert np.array_equal(entries.dense, dense)
    v, u = np.arange(1.0, 5.0), np.arange(2.0, 5.0)
    assert entries.times(v).tolist() == (dense @ v).tolist()
    assert entries.absolute_times(v).tolist() == (np.abs(dense) @ v).tolist()
    assert entries.transpose_times(u).tolist() == (dense.T @ u).tolist()
    yes, no = entries.statistic_sums(v, 10 * v)
    assert yes.tolist() == (np.maximum(dense, 0) @ v + np.maximum(-dense, 0) @ (10 * v)).tolist()
    assert no.tolist() == (np.maximum(dense, 0) @ (10 * v) + np.maximum(-dense, 0) @ v).tolist()


@pytest.mark.parametrize("small", [1, 10**9])
def test_sums_and_masses_per_cell_are_those_of_the_pairs(small, monkeypatch):
    """At once and cell by cell."""
    monkeypatch.setattr("linkparity.criteria.cells.SMALL", small)
    rng = np.random.default_rng(0)
    ends, label, weight = rng.integers(-1, 3, (300, 2)), rng.integers(0, 2, 300), rng.random(300)
    cells = Cells.prepare(ends, "dp", label, weight)
    mine = [np.flatnonzero(cells.cell.numpy() == m) for m in range(len(cells.mass))]
    assert cells.mass == pytest.approx([weight[k].sum() for k in mine])
    assert cells.label_mass == pytest.approx([(weight * label)[k].sum() for k in mine])
    values = rng.random(300)
    expected = [values[k].sum() for k in mine]
    assert cells.sum(values[cells.order]) == pytest.approx(expected)
    counted = Cells.prepare(ends, "dp", label)
    assert counted.mass.tolist() == [len(k) for k in mine]
    assert counted.label_mass.tolist() == [label[k].sum() for k in mine]
    empty = {name for name, k in zip(cells.layout.names, mine, strict=True) if not len(k)}
    assert set(cells.empty) == empty


def test_cells_are_copied_to_the_device_of_the_logits_once():
    cells = Cells.prepare(GROUPS.flip(0), "eo", LABELS, torch.ones(len(GROUPS)))
    here = placed(cells, torch.device("cpu"))
    assert np.shares_memory(here.order.numpy(), cells.order)
    assert np.shares_memory(here.weight.numpy(), cells.weight)
    there = placed(cells, torch.device("meta"))
    assert {part.device for part in there} == {torch.device("meta")}
    assert placed(cells, torch.device("meta")) is there
    assert placed(replace(cells, weight=None), torch.device("cpu")).weight is None
    assert cells.to(torch.device("meta")) is cells


def test_pickled_cells_have_no_working_memory():
    cells = Cells.prepare(GROUPS.flip(0), "eo", LABELS)
    cells.pool.append(torch.empty(3, 2))
    placed(cells, torch.device("cpu"))
    again = pickle.loads(pickle.dumps(cells))
    assert (again.pool, again.kept) == ([], {})
    assert again.layout.names == cells.layout.names


def test_within_and_between_need_two_groups_also_of_crossed_attributes():
    alone = {"sex": [[0, -1], [1, -1], [2, -1]], "age": [[1, -1], [0, -1], [1, -1]]}
    with pytest.raises(ValueError, match="every pair has a group at one end only"):
        Cells.prepare(alone, "weak-dp", combine="cross")


class Weighed(lp.Criterion):
    """One of one's own, with settings beyond those of every criterion."""

    name, share, for_given_pairs_only = "weighed", 0.25, True

    def __init__(self):
        self.cells, self.limit = torch.zeros(3, dtype=torch.int64), 7
        self._scale, self.counts = 3, 0

    def weigh(self, mean):
        return self._helper(mean) * self._scale

    def _helper(self, mean):
        return mean - self.share

    @property
    def calls(self):
        self.counts += 1
        return self.counts


@pytest.mark.parametrize("criterion", [*CRITERIA.values(), Weighed()], ids=lambda c: c.name)
def test_a_restricted_criterion_says_of_itself_what_the_criterion_does(criterion):
    restricted = Restricted(criterion, np.ones((4, 4), dtype=bool))
    public = [name for name in dir(criterion) if not name.startswith("_")]
    assert len(public) >= 9
    for name in public:
        if not callable(value := getattr(criterion, name)) and name != "calls":
            assert getattr(restricted, name) is value, name


def test_a_restricted_criterion_has_the_methods_and_helpers_of_the_criterion():
    criterion = Weighed()
    restricted = Restricted(criterion, np.ones((4, 4), dtype=bool))
    assert restricted.weigh(1.0) == 2.25
    assert restricted._helper(1.0) == 0.75
    assert (restricted._scale, restricted.calls, restricted.calls) == (3, 1, 2)
    criterion.limit = 8
    assert restricted.limit == 8
    again = pickle.loads(pickle.dumps(restricted))
    assert (again.weigh(1.0), copy.deepcopy(restricted).limit) == (2.25, 8)
    with pytest.raises(AttributeError, match="'Weighed' object has no attribute 'nothing'"):
        restricted.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("cells", "matrix", "right", "said"),
    [
        ([0, 1, 2], [1.0, 1.0, 1.0], [0.5], "A must be (C, M) and b (C,)"),
        ([0, 1, 2], [[1.0, 1.0, 1.0]], [0.5, 0.5], "A must be (C, M) and b (C,)"),
        ([0, 1, 2], np.zeros((0, 3)), [], "no rows or no columns"),
        ([0, 1, 2], [[1.0, np.nan, 1.0]], [0.5], "A and b must be finite"),
        ([0, 1, 2], np.eye(3), [0.5, np.inf, 0.5], "A and b must be finite"),
        ([0.0, 1.0], [[1.0, 1.0, 1.0]], [0.5], "cells must be (P,) integers"),
        ([[0, 1], [2, 0]], [[1.0, 1.0, 1.0]], [0.5], "cells must be (P,) integers"),
        ([0, -2], [[1.0, 1.0, 1.0]], [0.5], "must lie between −1 and 2"),
        ([0, 3], [[1.0, 1.0, 1.0]], [0.5], "must lie between −1 and 2"),
    ],
)
def test_custom_refuses_what_does_not_fit_together(cells, matrix, right, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        Custom(cells, matrix, right)


def test_custom_takes_every_cell_none_and_no_pair():
    for cells in ([-1, 0, 2], np.empty(0, dtype=np.int64)):
        assert Custom(cells, np.eye(3), [0.5] * 3).cells.tolist() == list(cells)


class WithTensors(lp.Criterion):
    """A criterion whose ``assign`` takes tensors only."""

    name = "tensors"
    data_target = tilts_by_group = True

    def assign(self, code, label, groups):
        return code.clone().where(label == 0, torch.full_like(code, -1))


@pytest.mark.parametrize("restricted", [False, True])
def test_a_criterion_that_needs_tensors_gets_them(restricted):
    criterion = WithTensors()
    if restricted:
        counted = np.ones((4, 4), dtype=bool)
        counted[0, 1] = counted[1, 0] = False
        criterion = Restricted(criterion, counted)
    cell = Cells.prepare(GROUPS, criterion, LABELS).cell
    out = (torch.tensor([0, 1]) == GROUPS).all(dim=1) & restricted
    assert torch.equal(cell, torch.where((LABELS == 0) & ~out, cells_of("dp"), -1))


class Wrong(lp.Criterion):
    name = "wrong"

    def __init__(self, answer):
        self.answer = answer

    def assign(self, code, label, groups):
        return self.answer(code)


@pytest.mark.parametrize(
    "answer", [lambda code: code + 6, lambda code: code[1:], lambda code: code - 2]
)
def test_answers_that_are_no_cells_are_refused(answer):
    with pytest.raises(InputError, match="wrong: assign must give 6 numbers"):
        Cells.prepare(GROUPS, Wrong(answer))


def test_a_failure_of_a_criterion_is_its_own():
    with pytest.raises(ZeroDivisionError):
        Cells.prepare(GROUPS, Wrong(lambda code: 1 // 0))
