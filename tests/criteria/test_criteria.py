"""What every criterion says of itself, checked against what it does with pairs."""

import re

import numpy as np
import pytest
import torch

import linkparity as lp
from linkparity.criteria import CRITERIA, Cells, Custom, trainable
from linkparity.criteria.cells import find_criterion
from linkparity.criteria.constrained_group_pairs import Restricted

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
    assert CRITERIA["churn"].needs_baseline
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


class Weighed(lp.Criterion):
    """One of one's own, with settings beyond those of every criterion."""

    name, share, for_given_pairs_only = "weighed", 0.25, True

    def __init__(self):
        self.cells, self.limit = torch.zeros(3, dtype=torch.int64), 7


@pytest.mark.parametrize("criterion", [*CRITERIA.values(), Weighed()], ids=lambda c: c.name)
def test_a_restricted_criterion_says_of_itself_what_the_criterion_does(criterion):
    restricted = Restricted(criterion, np.ones((4, 4), dtype=bool))
    public = [name for name in dir(criterion) if not name.startswith("_")]
    assert len(public) >= 9
    for name in public:
        if not callable(value := getattr(criterion, name)):
            assert getattr(restricted, name) is value, name


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
