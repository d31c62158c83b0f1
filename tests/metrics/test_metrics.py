"""Every measure against a reference that walks over the pairs one by one."""

import itertools
import math
import sys
import types
import warnings

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split

import linkparity as lp
from linkparity.criteria import Custom, one_mean_per_cell
from linkparity.criteria.group_pairs import occurring_pairs
from linkparity.metrics import VIEWS, CellSums, ScoredPairs, gap
from linkparity.metrics.cell_means import view_cells
from linkparity.metrics.measures import MEASURES
from linkparity.projection.solver import Infeasible, NotConverged

EXAMPLES = settings(deadline=None, max_examples=40)


@st.composite
def problems(draw, min_pairs=2):
    """Few distinct logits (ties), groups −1 … 3, uneven weights."""
    size = draw(st.integers(min_pairs, 30))
    rows = st.lists(st.integers(-6, 6), min_size=size, max_size=size)
    logits = np.array(draw(rows)) / 2
    group = st.integers(-1, 3)
    pair = st.tuples(group, group)
    groups = np.array(draw(st.lists(pair, min_size=size, max_size=size)), dtype=int).reshape(
        size, 2
    )
    labels = np.array(draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)), dtype=int)
    weight = np.where(labels == 1, 1.0, draw(st.sampled_from([1.0, 7.5, 218.16])))
    return {"logits": logits, "groups": groups, "labels": labels, "weight": weight}


def memberships(pair, view):
    """The cells a pair counts in, one entry per time it counts."""
    known = [int(g) for g in pair if g >= 0]
    if view == "subgroup":
        return [tuple(sorted(known))] if known else []
    if view == "mixed":
        return ["within" if known[0] == known[1] else "between"] if len(known) == 2 else []
    return known


def members(problem, view):
    """Cell → rows (logit, label, weight), with repetition."""
    cells = {}
    rows = zip(*(problem[k] for k in ("groups", "logits", "labels", "weight")), strict=True)
    for pair, x, y, w in rows:
        for cell in memberships(pair, view):
            cells.setdefault(cell, []).append((float(x), int(y), float(w)))
    return cells


def loop_gap(means):
    return max((abs(a - b) for a, b in itertools.combinations(means, 2)), default=math.nan)


def loop_dp(problem, view):
    means = []
    for rows in members(problem, view).values():
        means.append(sum(w * expit(x) for x, _, w in rows) / sum(w for _, _, w in rows))
    return loop_gap(means)


def loop_eo(problem, view):
    means = []
    for rows in members(problem, view).values():
        probs = [expit(x) for x, y, _ in rows if y == 1]
        if probs:
            means.append(sum(probs) / len(probs))
    return loop_gap(means)


def loop_rdp(problem, view):
    cells = members(problem, view)
    areas = []
    for cell, rows in cells.items():
        rest = [row for other, more in cells.items() if other != cell for row in more]
        wins = [(a > b) + (a == b) / 2 for a, _, _ in rows for b, _, _ in rest]
        if wins:
            areas.append(sum(wins) / len(wins))
    return max(areas, default=math.nan)


def measure(name, problem, **options):
    return MEASURES[name].function(ScoredPairs.of(**problem, **{"confidence": None, **options}))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("name", "loop"), [("dp", loop_dp), ("eo", loop_eo), ("rdp", loop_rdp)])
@EXAMPLES
@given(problem=problems(min_pairs=0))
def test_disparities_agree_with_a_loop_over_pairs(name, loop, view, problem):
    found = measure(name, problem, view=view)
    assert found.value == pytest.approx(loop(problem, view), nan_ok=True, abs=1e-12)
    assert bool(found.reason) == math.isnan(found.value)
    counted = [bool(memberships(pair, view)) for pair in problem["groups"]]
    among = problem["labels"] == 1 if name == "eo" else np.ones(len(counted), dtype=bool)
    assert found.count == np.count_nonzero(among & np.array(counted, dtype=bool))


@EXAMPLES
@given(problem=problems())
def test_auc_and_ap_agree_with_scikit_learn(problem):
    assume(0 < problem["labels"].sum() < len(problem["labels"]))
    y, x = problem["labels"], problem["logits"]
    assert measure("auc", problem).value == pytest.approx(roc_auc_score(y, x))
    assert measure("ap", problem).value == pytest.approx(average_precision_score(y, x))


@pytest.mark.parametrize("name", ["auc", "ap"])
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_of_labels_has_no_ranking_and_says_so(name, label):
    problem = {"logits": [0.0, 1.0, 2.0], "groups": [[0, 1], [1, 2], [2, 2]], "labels": [label] * 3}
    found = measure(name, problem)
    assert math.isnan(found.value)
    assert "needs links and non-links" in found.reason


@pytest.mark.parametrize("name", ["dp", "eo", "rdp", "auc", "ap"])
@EXAMPLES
@given(problem=problems(), data=st.data())
def test_order_of_pairs_and_of_their_ends_does_not_matter(name, problem, data):
    order = data.draw(st.permutations(range(len(problem["logits"]))))
    turned = {key: value[order] for key, value in problem.items()}
    turned["groups"] = turned["groups"][:, ::-1]
    expected = measure(name, problem).value
    assert measure(name, turned).value == pytest.approx(expected, nan_ok=True, abs=1e-12)


@EXAMPLES
@given(problem=problems())
def test_only_dp_feels_the_weights(problem):
    heavier = {**problem, "weight": problem["weight"] * np.linspace(1, 9, len(problem["weight"]))}
    for name in ("auc", "ap", "eo", "rdp"):
        expected = measure(name, problem).value
        assert measure(name, heavier).value == pytest.approx(expected, nan_ok=True)
    assert measure("dp", heavier).value == pytest.approx(
        loop_dp(heavier, "subgroup"), nan_ok=True, abs=1e-12
    )


@EXAMPLES
@given(problem=problems(), data=st.data())
def test_a_pair_of_weight_0_counts_in_unweighted_measures_alone(problem, data):
    size = len(problem["logits"])
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    zeroed = {**problem, "weight": np.where(kept, problem["weight"], 0.0)}
    without = {key: value[kept] for key, value in problem.items()}
    for name in ("dp", "kl"):
        expected, found = measure(name, without), measure(name, zeroed)
        assert found.value == pytest.approx(expected.value, nan_ok=True, abs=1e-9)
        assert found.count == expected.count
        assert bool(found.reason) == bool(expected.reason)
    for name in ("auc", "ap", "eo", "rdp"):
        found, expected = measure(name, zeroed), measure(name, problem)
        assert found.value == pytest.approx(expected.value, nan_ok=True)
        assert found.count == expected.count
    in_kept = {tuple(sorted(pair)) for pair in without["groups"].tolist()}
    scored = ScoredPairs.of(**zeroed)
    for pair, mean in zip(scored.source.kinds.key.tolist(), scored.means.mean, strict=True):
        assert math.isnan(mean) == (tuple(sorted(pair)) not in in_kept)
    interval = measure("dp", zeroed, confidence=0.9).interval
    assert interval == pytest.approx(measure("dp", without, confidence=0.9).interval, nan_ok=True)


def test_squeezed_predictions_shrink_dp_and_leave_rdp_alone():
    groups = np.array([[0, 0], [0, 1], [1, 2], [2, 2], [0, 0], [0, 2]])
    logits = np.array([2.0, -1.0, 0.0, 0.5, 1.0, -2.0])
    wide, narrow = ({"logits": logits * s, "groups": groups} for s in (1.0, 0.1))
    assert measure("dp", narrow).value < measure("dp", wide).value / 3
    assert measure("rdp", narrow).value == measure("rdp", wide).value


def test_group_view_is_the_mean_a_node_of_each_group_meets():
    rng = np.random.default_rng(0)
    group = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, -1])
    prob = rng.random((10, 10))
    prob = (prob + prob.T) / 2
    index = np.array(list(itertools.combinations(range(10), 2)))
    node_means = [np.delete(prob[v], v).mean() for v in range(10)]
    expected = [np.mean([node_means[v] for v in np.flatnonzero(group == g)]) for g in range(3)]
    scored = ScoredPairs.of(prob=prob[index[:, 0], index[:, 1]], groups=group[index], view="group")
    assert scored.means.mean == pytest.approx(expected)


def test_view_counts_each_pair_where_it_belongs():
    key = np.array([[0, 0], [0, 1], [1, 1], [1, -1]])
    assert view_cells(key, "mixed").member.toarray().tolist() == [[1, 0], [0, 1], [1, 0], [0, 0]]
    assert view_cells(key, "group").member.toarray().tolist() == [[2, 0], [1, 1], [0, 2], [0, 1]]
    assert view_cells(key, "subgroup", ["left", "right"]).groups[-2:] == (
        ("right", "right"),
        ("right",),
    )


def test_groups_per_instance_are_compared_with_each_other():
    problem = {"prob": [0.1, 0.3, 0.9, 0.5], "groups": [0, 0, 2, -1]}
    assert measure("dp", problem).value == pytest.approx(0.7)
    assert measure("dp", problem, view="group").value == pytest.approx(0.7)
    assert "needs pairs in two cells" in measure("dp", problem, view="mixed").reason


def test_extreme_logits_keep_their_order():
    problem = {"logits": [800.0, 900.0, 700.0], "groups": [[0, 0], [1, 2], [2, 2]]}
    assert measure("auc", {**problem, "labels": [0, 1, 0]}).value == 1.0
    assert measure("rdp", problem).value == 1.0
    assert measure("dp", problem).value == 0.0


# --- sums in batches ---------------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS)
@EXAMPLES
@given(problem=problems(min_pairs=1), cuts=st.lists(st.integers(0, 30), max_size=4))
def test_batches_and_processes_add_up_to_the_whole(view, problem, cuts):
    size = len(problem["logits"])
    edges = [0, *sorted(min(cut, size) for cut in cuts), size]
    workers = [CellSums(), CellSums()]
    for i, (start, stop) in enumerate(itertools.pairwise(edges)):
        part = slice(start, stop)
        prob, groups = expit(problem["logits"][part]), problem["groups"][part]
        workers[i % 2].update(prob, groups, problem["labels"][part], problem["weight"][part])
    streamed = workers[0].merge(workers[1]).result(view)
    assert streamed.dp == pytest.approx(loop_dp(problem, view), nan_ok=True, abs=1e-12)
    assert streamed.eo == pytest.approx(loop_eo(problem, view), nan_ok=True, abs=1e-12)
    cells = members(problem, view)
    assert streamed.pairs.sum() == sum(map(len, cells.values()))
    assert streamed.links.sum() == sum(y for rows in cells.values() for _, y, _ in rows)


def test_merging_leaves_the_other_untouched():
    one = CellSums().update([0.5], [[0, 1]])
    two = CellSums().update([0.1, 0.2], [[0, 1], [2, 2]])
    one.merge(two).update([0.9], [[2, 2]])
    assert two.result().pairs.tolist() == [1, 1]
    assert one.result().pairs.tolist() == [2, 2]


def test_links_stay_unknown_once_a_batch_came_without_labels():
    sums = CellSums().update([0.5, 0.7], [[0, 1], [1, 1]], labels=[1, 1]).update([0.1], [[0, 1]])
    found = sums.result()
    assert np.isnan(found.links).tolist() == [True, False]
    assert math.isnan(found.eo)
    assert found.dp == pytest.approx(0.4)


def test_streaming_refuses_what_would_vanish_in_a_sum():
    with pytest.raises(ValueError, match=r"CellSums.update: prob has 1 nan of 2, .* position 1"):
        CellSums().update([0.1, math.nan], [[0, 0], [1, 1]])
    with pytest.raises(ValueError, match=r"\(P,\) and \(P, 2\) cannot be added"):
        CellSums().update([0.1], [[0, 1]]).update([0.1], [2])


def test_pairs_of_absurdly_many_groups_are_refused_before_they_fill_the_memory():
    with pytest.raises(ValueError, match=r"numbered below 2,000, got 1,000,000: .* number the gr"):
        lp.i_project([0.0, 1.0], groups=[[0, 10**6], [0, 0]])
    sums = CellSums().update([0.1, 0.7], [[0, 10**6], [5, 5]]).result("group")
    assert sums.groups == (("0",), ("5",), ("1000000",))
    assert sums.dp == pytest.approx(0.6)


def test_gap_needs_two_means():
    assert math.isnan(gap(np.array([0.5, math.nan])))
    assert gap(np.array([0.5, 0.5])) == 0


# --- rb ----------------------------------------------------------------------------------------


def clusters(sizes, spread, dim=4, seed=0):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    centre = rng.normal(size=(len(sizes), dim))
    return centre[group] + spread * rng.normal(size=(len(group), dim)), group


def rb(points, group, **options):
    problem = {"logits": [0.0], "groups": [[0, 1]], "embedding": points, "node_group": group}
    return measure("rb", problem, **options)


def loop_rb(points, group, seed):
    """The grid search by hand: standardise, fit and score in loops."""
    multi = {} if len(set(group)) == 2 else {"multi_class": "ovr", "average": "weighted"}

    def fit_and_score(x, y, x_test, y_test, setting):
        C, l1_ratio = setting
        mean, deviation = x.mean(axis=0), x.std(axis=0)
        model = LogisticRegression(
            solver="saga", C=C, l1_ratio=l1_ratio, max_iter=100, random_state=seed
        ).fit((x - mean) / deviation, y)
        chance = model.predict_proba((x_test - mean) / deviation)
        return roc_auc_score(y_test, chance if multi else chance[:, 1], **multi)

    x, x_test, y, y_test = train_test_split(
        points, group, test_size=0.2, stratify=group, random_state=seed
    )
    best = (-1.0, None)
    for setting in itertools.product([1e-4, 1e-2, 1.0, 1e2, 1e4], [0.0, 1.0]):
        scores = [
            fit_and_score(x[a], y[a], x[b], y[b], setting)
            for a, b in StratifiedKFold(3).split(x, y)
        ]
        if np.mean(scores) > best[0]:
            best = (np.mean(scores), setting)
    return fit_and_score(x, y, x_test, y_test, best[1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sizes", [(40, 30), (30, 25, 20)])
def test_rb_is_the_grid_search_written_out(sizes):
    points, group = clusters(sizes, spread=1.5)
    found = rb(points, group, seed=3)
    assert found.value == pytest.approx(loop_rb(points, group, seed=3))
    assert (found.count, found.unit) == (sum(sizes), "nodes")


def test_rb_is_high_when_groups_lie_apart_and_half_when_nothing_is_there():
    points, group = clusters((30, 30, 30), spread=0.05)
    assert rb(points, group).value == 1.0
    assert rb(np.ones_like(points), group).value == pytest.approx(0.5)


def test_rb_leaves_out_small_groups_and_nodes_without_one_and_says_so():
    points, group = clusters((20, 20, 4), spread=1.0)
    with_strangers = np.concatenate([points, 100 + points[:7]])
    unknown = np.concatenate([group, np.full(7, -1)])
    found = rb(with_strangers, unknown, names=("a", "b", "rare"))
    assert found.note == "groups of fewer than 5 nodes are left out: rare (4)"
    assert found.count == 40
    assert found.value == rb(points[:40], group[:40]).value


def test_rb_of_many_nodes_is_that_of_a_sample_with_the_share_of_every_group(monkeypatch):
    points, group = clusters((1200, 600, 200, 7), spread=1.0)
    whole = rb(points, group)
    rb_module = sys.modules["linkparity.metrics.rb"]
    monkeypatch.setattr(rb_module, "MAX_NODES", 500)
    found = rb(points, group)
    assert found.note == "over a random sample of 500 of 2,007 nodes"
    nodes = rb_module._sample(np.arange(len(group)), group, 0)
    assert np.bincount(group[nodes]).tolist() == [299, 149, 50, 5]
    assert found.count == len(nodes) == len(set(nodes))
    monkeypatch.setattr(rb_module, "MAX_NODES", 1000)
    assert found.value == rb(points[nodes], group[nodes]).value
    assert abs(found.value - whole.value) < 0.05


def test_rb_without_embeddings_or_second_group_is_nan_with_a_reason():
    assert rb(None, None).reason == "the model has no embeddings"
    assert rb(np.empty((4, 0)), [0, 1, 2, 2]).reason == "the model has no embeddings"
    assert rb(np.ones((4, 2)), None).reason == "no groups of nodes were given"
    points, group = clusters((20, 3, 4), spread=1.0)
    found = rb(points, group)
    assert math.isnan(found.value)
    assert found.reason == "needs two groups of 5 nodes or more, got 1"


def test_rb_is_driven_by_its_seed_and_silences_nothing_for_others():
    points, group = clusters((25, 25, 25), spread=3.0, dim=8)
    values = [rb(points, group, seed=seed).value for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]
    with pytest.raises(ConvergenceWarning):
        warnings.warn("still an error", ConvergenceWarning, stacklevel=1)


# --- kl ----------------------------------------------------------------------------------------


def loop_kl(problem):
    """Tilt each group pair by bisection until its mean is the overall one; sum the divergence."""
    cells = members(problem, "subgroup")
    weight = sum(w for rows in cells.values() for _, _, w in rows)
    target = sum(w * expit(x) for rows in cells.values() for x, _, w in rows) / weight
    total = 0.0
    for rows in cells.values():
        x, _, w = np.array(rows).T
        tilt = brentq(lambda t, x=x, w=w: w @ expit(x + t) / w.sum() - target, -50, 50, xtol=1e-14)
        p, h = expit(x + tilt), expit(x)
        total += w @ (p * np.log(p / h) + (1 - p) * np.log((1 - p) / (1 - h)))
    return total / weight


def test_kl_is_the_divergence_per_constrained_weight():
    pytest.importorskip("linkparity.projection.i_projection")
    rng = np.random.default_rng(5)
    problem = {
        "logits": rng.normal(size=200),
        "groups": rng.integers(-1, 3, size=(200, 2)),
        "labels": rng.integers(0, 2, size=200),
        "weight": rng.choice([1.0, 30.0], size=200),
    }
    found = measure("kl", problem)
    assert found.value == pytest.approx(loop_kl(problem), rel=1e-6)
    assert found.count == (problem["groups"].max(axis=1) >= 0).sum()


@pytest.mark.parametrize("criterion", ["dp", "eo", "weak-dp", "equalized-odds", "accuracy"])
def test_kl_does_not_depend_on_how_groups_are_numbered(criterion):
    rng = np.random.default_rng(6)
    groups = rng.integers(-1, 4, size=(300, 2))
    problem = {"logits": rng.normal(size=300), "labels": rng.integers(0, 2, size=300)}
    years = np.append([3, 1980, 2007, 10**6], -1)[groups]
    few = measure("kl", {**problem, "groups": groups}, criterion=criterion)
    many = measure("kl", {**problem, "groups": years}, criterion=criterion)
    direct = lp.i_project(
        problem["logits"], groups=groups, labels=problem["labels"], criterion=criterion
    )
    assert few.value == pytest.approx(float(direct.kl) / few.count)
    assert (many.value, many.count) == (pytest.approx(few.value), few.count)


def test_kl_for_a_custom_criterion_about_these_pairs_and_for_churn_with_a_baseline():
    rng = np.random.default_rng(7)
    logits, groups = rng.normal(size=90), rng.integers(0, 3, size=(90, 2))
    cells, baseline = rng.integers(-1, 3, size=90), rng.integers(0, 2, size=90)
    own = Custom(cells, np.eye(3), [0.4 * (cells == c).sum() for c in range(3)])
    found = measure("kl", {"logits": logits, "groups": groups}, criterion=own)
    kl = float(lp.i_project(logits, criterion=own).kl)
    assert found.value == pytest.approx(kl / (cells >= 0).sum())
    problem = {"logits": logits, "groups": groups, "labels": 1 - baseline, "baseline": baseline}
    found = measure("kl", problem, criterion="churn")
    kl = float(lp.i_project(logits, groups=groups, labels=baseline, criterion="churn").kl)
    assert found.value == pytest.approx(kl / 90)


class Touches(lp.Criterion):
    """Pairs with an end in one group, and all others."""

    name = "touches"

    def __init__(self, group, by_group_pair):
        self.group, self.by_group_pair = group, by_group_pair

    def layout(self, groups):
        return one_mean_per_cell(("others", "touching"), np.array([[0], [1]]))

    def assign(self, code, label, groups):
        first, second = groups.key.T
        return np.append((first == self.group) | (second == self.group), -1)[code]


@pytest.mark.parametrize("by_group_pair", [False, True])
def test_kl_shows_a_criterion_of_ones_own_the_groups_as_they_are(by_group_pair):
    rng = np.random.default_rng(9)
    logits, groups = rng.normal(size=90), rng.choice([-1, 2, 5, 9], size=(90, 2))
    found = measure("kl", {"logits": logits, "groups": groups}, criterion=Touches(5, by_group_pair))
    touching = np.where((groups < 0).all(axis=1), -1, (groups == 5).any(axis=1))
    wanted = measure("kl", {"logits": logits, "groups": touching})
    assert (found.value, found.count) == (pytest.approx(wanted.value), wanted.count)


def test_weak_parity_without_two_groups_is_nan_with_a_reason():
    found = measure("kl", {"logits": [0.0, 1.0], "groups": [[0, -1], [1, -1]]}, criterion="weak-dp")
    assert math.isnan(found.value)
    assert "every pair has a group at one end only" in found.reason


@pytest.mark.parametrize("view", VIEWS)
def test_measures_do_not_depend_on_how_groups_are_numbered(view):
    rng = np.random.default_rng(8)
    groups = rng.integers(-1, 4, size=(400, 2))
    problem = {"logits": rng.normal(size=400), "labels": rng.integers(0, 2, size=400)}
    years = np.append([3, 1980, 2007, 10**6], -1)[groups]
    for name in ("dp", "eo", "rdp"):
        few, many = (
            measure(name, {**problem, "groups": g}, view=view, confidence=0.9)
            for g in (groups, years)
        )
        assert many.value == few.value
        assert many.interval == pytest.approx(few.interval)


@pytest.fixture
def projection(monkeypatch):
    """A fit that leaves out the kinds without a group and diverges by half a nat."""
    seen = {}

    def fit_pairs(source, totals, criterion, **options):
        seen.update(options, criterion=criterion, weight=totals.weighted.count.sum())
        if criterion.name == "accuracy":
            raise NotConverged("stopped short of the tolerance")
        if criterion.name == "weak-dp":
            raise Infeasible("no model meets it")
        if criterion.name == "equalized-odds":
            raise ValueError("operands could not be broadcast together")
        cell = torch.from_numpy(source.kinds.pair)
        mass = source.kinds.of_pair.T @ totals.weighted.count
        return types.SimpleNamespace(cells=types.SimpleNamespace(code=cell, mass=mass), kl=0.5)

    monkeypatch.setattr("linkparity.metrics.kl.fit_pairs", fit_pairs)
    return seen


SMALL = {
    "logits": [0.0, 1.0, 2.0, 3.0],
    "groups": [[-1, -1], [0, 1], [1, 2], [2, 2]],
    "labels": [1, 0, 1, 0],
    "weight": [50.0, 1.0, 2.0, 9.0],
}


def test_kl_counts_the_constrained_pairs(projection):
    found = measure("kl", SMALL, criterion="eo")
    assert (found.value, found.count) == (0.5, 3)
    assert projection["criterion"].name == "eo"
    assert projection["weight"] == sum(SMALL["weight"])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"criterion": "accuracy"}, "stopped short"),
        ({"criterion": "weak-dp"}, "no model meets it"),
        ({"criterion": "churn"}, "baseline's decisions"),
        (
            {"criterion": Custom([0, 1, 1], [[1.0, -1.0]], [0.0])},
            "about 3 pairs, but there are 4",
        ),
        ({"labels": None, "criterion": "eo"}, "eo needs labels"),
        ({"logits": [0.0, 1.0, np.inf, 3.0]}, "1 probabilities are exactly 0 or 1"),
        ({k: v[:2] for k, v in SMALL.items()}, "needs pairs in two cells of dp, got 1"),
    ],
)
def test_kl_without_a_projection_is_nan_with_a_reason(projection, change, reason):
    found = measure("kl", {**SMALL, **change})
    assert math.isnan(found.value)
    assert reason in found.reason


def test_a_fault_below_the_projection_is_no_reason(projection):
    with pytest.raises(ValueError, match="could not be broadcast"):
        measure("kl", {**SMALL, "criterion": "equalized-odds"})


# --- what comes in -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prob": [0.1] * 4}, "give either logits or prob, got both"),
        ({"logits": None}, "give either logits or prob, got neither"),
        ({"logits": [0.0, np.nan, 1.0, 1.0]}, "logits has 1 nan of 4, the first at position 1"),
        ({"logits": None, "prob": [0.1, 0.2, 1.5, 0]}, r"in \[0, 1\], got 1.5 at position 2"),
        ({"logits": [[0.0]] * 4}, r"logits must have the shape \(P,\), got \(4, 1\)"),
        ({"groups": None}, "groups are missing"),
        ({"groups": [[0, 1]]}, "groups must have one row per score, 4"),
        ({"groups": [[0.5, 1]] * 4}, "groups must be integers"),
        ({"labels": [0, 1, 2, 1]}, "labels must be 0 or 1, got 2 at position 2"),
        ({"labels": [0, 1]}, r"labels must have the shape \(4,\), got \(2,\)"),
        ({"weight": [1, 1, -1, 1]}, "weight must be finite and not negative, got -1 at position 2"),
        (
            {"weight": [1, 1, 1, np.inf]},
            "weight must be finite .* got inf at position 3",
        ),
        ({"confidence": 1.0}, "confidence must be between 0 and 1, both excluded, got 1"),
        ({"names": ("a", "b", "a")}, "group_names must be unique, got 'a' more than once"),
        ({"baseline": [0, 1, 3, 1]}, "baseline must be 0 or 1, got 3 at position 2"),
        ({"view": "subgroups"}, "unknown view 'subgroups'; did you mean 'subgroup'"),
        ({"embedding": np.ones((3, 2)), "node_group": [0, 1]}, r"shape \(2, dim\).*got \(3, 2\)"),
    ],
)
def test_bad_input_gets_a_sentence(change, message):
    with pytest.raises(ValueError, match=message):
        ScoredPairs.of(**{**SMALL, **change})


def test_every_metric_answers_an_empty_problem_with_a_reason(projection):
    scored = ScoredPairs.of(logits=[], groups=np.empty((0, 2), dtype=int), labels=[])
    for name, measure in MEASURES.items():
        found = measure.function(scored)
        assert math.isnan(found.value), name
        assert found.reason, name
        assert found.count == 0


def test_a_custom_criterion_about_no_pairs_has_no_divergence():
    none = np.zeros(0, dtype=np.int64)
    custom = lp.criteria.Custom(none, A=[[1.0, -1.0]], b=[0.0])
    groups = np.empty((0, 2), dtype=int)
    found = MEASURES["kl"].function(ScoredPairs.of(logits=[], groups=groups, criterion=custom))
    assert math.isnan(found.value)
    assert found.reason


@given(
    st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 5)), max_size=30),
    st.sampled_from([1, 1000, 10**8]),
)
def test_group_pairs_are_numbered_like_a_sorted_set(pairs, scale):
    """Small numbers are looked up, large ones sorted: the answer is the same."""
    scaled = [tuple(g * scale if g >= 0 else g for g in pair) for pair in pairs]
    key, code = occurring_pairs(np.array(scaled, dtype=np.int64).reshape(-1, 2))

    def ordered(pair):
        low, high = sorted(pair)
        return (low, high) if low >= 0 else (high, -1)

    known = [ordered(pair) for pair in scaled if max(pair) >= 0]
    distinct = sorted(set(known), key=lambda pair: (pair[1] < 0, pair))
    assert [tuple(row) for row in key.tolist()] == distinct
    assert [distinct[c] for c in code.tolist() if c >= 0] == known
    assert [c < 0 for c in code.tolist()] == [max(pair) < 0 for pair in scaled]


def test_groups_may_be_names():
    rng = np.random.default_rng(3)
    given = {"prob": rng.random(400), "labels": rng.integers(0, 2, 400)}
    number = rng.integers(-1, 3, (400, 2))
    name = np.array(["a", "b", "c", None], dtype=object)[number]
    known = lp.score_pairs(groups=number, group_names=["a", "b", "c"], **given).to_dict()
    for groups in (name, name.tolist(), np.where(number < 0, "", name.astype(str))):
        assert lp.score_pairs(groups=groups, **given).to_dict() == known
    turned = lp.score_pairs(groups=name, group_names=["c", "b", "a"], **given)
    assert [cell.groups for cell in turned.cells][:2] == [("c", "c"), ("c", "b")]
    assert turned.dp == pytest.approx(known["dp"], abs=1e-15)
    with pytest.raises(ValueError, match="lack the value 'c'"):
        lp.score_pairs(groups=name, group_names=["a", "b"], **given)
    one = lp.score_pairs(groups=name[:, 0], **given)
    assert [cell.groups for cell in one.cells] == [("a",), ("b",), ("c",)]
