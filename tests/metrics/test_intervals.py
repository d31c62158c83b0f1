"""Intervals against double loops over pairs, against DeLong and against the truth."""

import itertools
import math

import numpy as np
import pytest
from array_intervals import (
    PairClusters,
    RowCovariance,
    against_rest,
    clustered,
    delong,
    levels,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import expit, logit
from scipy.stats import norm, t

from linkparity.metrics import VIEWS, ScoredPairs
from linkparity.metrics.intervals.covariance import Spread
from linkparity.metrics.intervals.estimates import gap_interval, largest_interval, mean_intervals
from linkparity.metrics.intervals.placements import placement_covariances, rank_spreads
from linkparity.metrics.intervals.spreads import mean_covariances
from linkparity.metrics.measures import MEASURES
from linkparity.metrics.ranks import link_classes

EXAMPLES = settings(deadline=None, max_examples=50)
small_scores = st.lists(st.integers(0, 5), min_size=2, max_size=12)


def brute_delong(positives, negatives):
    """DeLong's structural components from every comparison."""
    beats = np.array([[(a > b) + (a == b) / 2 for b in negatives] for a in positives])
    by_positive, by_negative = beats.mean(axis=1), beats.mean(axis=0)
    variance = by_positive.var(ddof=1) / len(positives) + by_negative.var(ddof=1) / len(negatives)
    return beats.mean(), variance


def brute_clustered(clusters):
    """Obuchowski's variance, from every comparison; a cluster is (score, positives, negatives)."""
    positives = [(i, x) for i, (x, p, _) in enumerate(clusters) for _ in range(p)]
    negatives = [(i, x) for i, (x, _, n) in enumerate(clusters) for _ in range(n)]
    m, n, size = len(positives), len(negatives), len(clusters)
    beats = np.array([[(a > b) + (a == b) / 2 for _, b in negatives] for _, a in positives])
    area = beats.mean()
    up, down = np.zeros(size), np.zeros(size)
    for row, (i, _) in enumerate(positives):
        up[i] += beats[row].mean() - area
    for column, (i, _) in enumerate(negatives):
        down[i] += beats[:, column].mean() - area
    with_up, with_down = len({i for i, _ in positives}), len({i for i, _ in negatives})
    s10 = with_up / ((with_up - 1) * m) * (up**2).sum()
    s01 = with_down / ((with_down - 1) * n) * (down**2).sum()
    s11 = size / (size - 1) * (up * down).sum()
    return area, s10 / m + s01 / n + 2 * s11 / (m * n)


@EXAMPLES
@given(small_scores, small_scores)
def test_delong_agrees_with_all_comparisons(positives, negatives):
    label = np.repeat([1, 0], [len(positives), len(negatives)])
    found = delong(levels(np.array(positives + negatives)), label, 1 - label)
    assert found == pytest.approx(brute_delong(positives, negatives), abs=1e-12)


@EXAMPLES
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([(2, 0), (1, 1), (0, 2), (1, 0), (0, 1)])),
        min_size=4,
        max_size=12,
    )
)
def test_pairs_that_count_on_both_sides_are_clusters(rows):
    clusters = [(x, p, n) for x, (p, n) in rows]
    score, positive, negative = (np.array(column) for column in zip(*clusters, strict=True))
    assume(np.count_nonzero(positive) > 1)
    assume(np.count_nonzero(negative) > 1)
    area, variance = brute_clustered(clusters)
    found = delong(levels(score), positive, negative)
    assert found == pytest.approx((area, max(variance, 0)), abs=1e-12)


@EXAMPLES
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2)), min_size=2),
)
def test_every_cell_against_the_rest_is_delong_of_both(rows):
    level, first, second = np.array(rows).T
    used = first + second > 0
    level, first, second = level[used], first[used], second[used]
    assume(first.any())
    assume(second.any())
    cells = [(np.flatnonzero(inside), inside[inside > 0]) for inside in (first, second)]
    found = list(against_rest(level, first + second, cells))
    expected = [delong(level, first, second), delong(level, second, first)]
    assert np.array(found) == pytest.approx(np.array(expected), abs=1e-12, nan_ok=True)


def test_delong_variance_is_that_of_repeated_samples():
    rng = np.random.default_rng(0)
    label = np.repeat([1, 0], [60, 90])
    runs = [delong(levels(rng.normal(size=150) + label), label, 1 - label) for _ in range(1500)]
    areas, variances = np.array(runs).T
    assert variances.mean() == pytest.approx(areas.var(), rel=0.12)


def test_auc_interval_is_the_normal_one():
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, size=80)
    score = rng.normal(size=80) + label
    scored = ScoredPairs.of(score, rng.integers(0, 3, size=(80, 2)), label, confidence=0.9)
    area, variance = brute_delong(score[label == 1], score[label == 0])
    half = norm.ppf(0.95) * math.sqrt(variance)
    assert MEASURES["auc"].function(scored).interval == pytest.approx((area - half, area + half))


def test_rdp_interval_holds_every_cell_at_once():
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 3, size=(300, 2))
    score = rng.normal(size=300) + (groups[:, 0] == groups[:, 1])
    found = MEASURES["rdp"].function(ScoredPairs.of(score, groups))
    z = norm.ppf(1 - 0.05 / 12)
    ends = []
    for pair in itertools.combinations_with_replacement(range(3), 2):
        inside = (np.sort(groups, axis=1) == pair).all(axis=1)
        area, variance = brute_delong(score[inside], score[~inside])
        ends.append((area - z * math.sqrt(variance), area + z * math.sqrt(variance)))
    assert found.interval == pytest.approx(tuple(np.max(ends, axis=0)))


def test_interval_for_the_largest_auc_covers_the_largest():
    rng = np.random.default_rng(3)
    truth, error = np.array([0.5, 0.62, 0.61, 0.6]), np.array([0.01, 0.02, 0.05, 0.02])
    draws = truth + error * rng.normal(size=(2000, 4))
    ends = np.array([largest_interval(d, Spread.independent(error**2), 0.95) for d in draws])
    assert np.mean((ends[:, 0] <= 0.62) & (ends[:, 1] >= 0.62)) > 0.95


# --- pairs that share nodes --------------------------------------------------------------------


@st.composite
def networks(draw):
    """Few nodes, so that dyads repeat and turn round; bipartite ones have ids 0–5 and 6–11."""
    size = draw(st.integers(12, 40))
    seed, bipartite = draw(st.integers(0, 10_000)), draw(st.booleans())
    rng = np.random.default_rng(seed)
    nodes = rng.integers(0, draw(st.sampled_from([4, 7, 12])), size=(size, 2))
    if bipartite:
        nodes[:, 1] += 12
    group = rng.integers(0, 3, size=24)
    return {
        "logits": rng.integers(-4, 5, size=size) / 2,
        "groups": group[nodes],
        "labels": rng.integers(0, 2, size=size),
        "weight": rng.choice([0.0, 1.0, 2.5, 7.0], size=size),
        "nodes": nodes,
    }


def share_a_node(first, second):
    return bool(set(first) & set(second))


def loop_covariance(rows, nodes):
    """Over all two pairs that share a node; ``rows`` are (w, h, {cell: times}) of each pair."""
    cells = sorted({c for _, _, times in rows for c in times})
    total = {c: sum(w * t.get(c, 0) for w, _, t in rows) for c in cells}
    cells = [c for c in cells if total[c]]
    mean = {c: sum(w * h * t.get(c, 0) for w, h, t in rows) / total[c] for c in cells}
    size = len(cells)
    squares, weights = np.zeros((size, size)), np.zeros((size, size))
    for (w, h, t1), own in zip(rows, nodes, strict=True):
        for (w2, h2, t2), other in zip(rows, nodes, strict=True):
            if share_a_node(own, other):
                for (i, c), (j, d) in itertools.product(enumerate(cells), repeat=2):
                    both = w * t1.get(c, 0) * w2 * t2.get(d, 0) / (total[c] * total[d])
                    squares[i, j] += both * (h - mean[c]) * (h2 - mean[d])
                    weights[i, j] += both
    return squares, weights


def cells_of(pair, view):
    known = sorted(int(g) for g in pair)
    if view == "subgroup":
        return {tuple(known): 1}
    if view == "mixed":
        return {("a within" if known[0] == known[1] else "between"): 1}
    return {g: known.count(g) for g in known}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["dp", "eo"])
@EXAMPLES
@given(problem=networks())
def test_covariance_is_the_double_loop_over_pairs_that_share_a_node(name, view, problem):
    scored = ScoredPairs.of(**problem, view=view)
    weight = problem["weight"] if name == "dp" else problem["labels"].astype(float)
    assume(weight.sum() > 0)
    times = [cells_of(pair, view) for pair in problem["groups"]]
    rows = list(zip(weight, expit(problem["logits"]), times, strict=True))
    squares, weights = loop_covariance(rows, problem["nodes"])
    means = scored.means
    given = (means.mean, means.weight) if name == "dp" else (means.link_mean, means.links)
    cells = scored.cell_set("pairs" if name == "dp" else "links")
    [found] = mean_covariances(scored.source, [scored.totals], [cells], name == "dp", True)
    filled = np.flatnonzero(given[1] > 0)
    scale = np.outer(cells.total, cells.total)[np.ix_(filled, filled)]
    for part, expected in zip(found.nodes - found.dyads, (squares, weights), strict=True):
        assert part[np.ix_(filled, filled)] / scale == pytest.approx(expected, abs=1e-12)
    plenty = np.diag(weights) < 0.99
    corrected = (squares / (1 - np.where(weights < 0.99, weights, 0)))[np.ix_(plenty, plenty)]
    if plenty.any() and np.linalg.eigvalsh(corrected).min() > 1e-9 and (weights < 0.99).all():
        covariance = found.result().covariance[np.ix_(filled, filled)]
        kept = np.isclose(np.diag(covariance), np.diag(corrected))  # not raised to that of pairs
        off = ~np.eye(len(filled), dtype=bool) & np.outer(kept, kept)
        assert covariance[off] == pytest.approx(corrected[off])
        assert (np.diag(covariance) > np.diag(corrected) - 1e-12).all()


@EXAMPLES
@given(problem=networks(), view=st.sampled_from(list(VIEWS)))
def test_covariance_is_semidefinite_and_no_less_than_that_of_independent_pairs(problem, view):
    dyads = [tuple(sorted(pair)) for pair in problem["nodes"].tolist()]
    once = [k for k, pair in enumerate(dyads) if pair[0] != pair[1] and dyads.index(pair) == k]
    problem = {key: value[once] for key, value in problem.items()}
    assume(problem["weight"].sum() > 0)
    by_node, by_pair = (
        ScoredPairs.of(**problem | more, view=view).spread("pairs")
        for more in ({}, {"nodes": None})
    )
    known = np.flatnonzero(~np.isnan(by_node.variance))
    assert np.linalg.eigvalsh(by_node.covariance[np.ix_(known, known)]).min(initial=0) > -1e-12
    assert (by_node.variance[known] > by_pair.variance[known] - 1e-12).all()


@EXAMPLES
@given(problem=networks())
def test_auc_variance_is_the_double_loop_over_placements(problem):
    score, label, nodes = (problem[key] for key in ("logits", "labels", "nodes"))
    m, n = int(label.sum()), int((1 - label).sum())
    assume(m > 1)
    assume(n > 1)
    wins = (score[:, None] > score) + (score[:, None] == score) / 2
    placement = np.where(
        label == 1, wins[:, label == 0].mean(axis=1), wins[label == 1].mean(axis=0)
    )
    area = placement[label == 1].mean()
    residual = (placement - area) / np.where(label == 1, m, n)
    expected, shared = np.zeros((2, 2)), np.zeros((2, 2))
    for k, other in itertools.product(range(len(score)), repeat=2):
        if share_a_node(nodes[k], nodes[other]):
            expected[label[k], label[other]] += residual[k] * residual[other]
            shared[label[k], label[other]] += 1 / np.prod([(n, m)[label[i]] for i in (k, other)])
    assume((shared < 0.99).all())
    corrected = expected / (1 - shared)
    assume(np.linalg.eigvalsh(corrected).min() > 1e-9)
    scored = ScoredPairs.of(**problem)
    [(areas, found)] = placement_covariances([scored.source], [link_classes(scored)])
    assert areas[0, 1] == pytest.approx(area)
    squares = (found.nodes - found.dyads)[0, 0, ::-1, ::-1]  # links come first there
    assert squares / np.outer([n, m], [n, m]) == pytest.approx(expected, abs=1e-12)
    least = found.result().covariance.sum()
    assert found.result().of_sum().variance[0] == pytest.approx(least)
    assert least > corrected.sum() - 1e-12


def test_rdp_is_the_largest_of_the_cells_each_on_the_logit_scale():
    rng = np.random.default_rng(2)
    nodes = np.array(list(itertools.combinations(range(45), 2)))
    groups = nodes % 3
    score = rng.normal(size=45)[nodes].sum(axis=1) + 2 * (groups == 0).all(axis=1)
    found = MEASURES["rdp"].function(ScoredPairs.of(score, groups, nodes=nodes, confidence=0.9))
    clusters, ends = PairClusters.of(nodes), []
    for pair in itertools.combinations_with_replacement(range(3), 2):
        inside = (np.sort(groups, axis=1) == pair).all(axis=1).astype(float)
        area, spread = clustered(clusters, levels(score), inside, 1 - inside)
        half = t.ppf(1 - 0.1 / 12, spread.freedom[0]) * math.sqrt(spread.variance[0])
        half /= area * (1 - area)
        ends.append(expit(logit(area) + np.array([-half, half])))
    low, high = np.max(ends, axis=0)
    assert found.interval == pytest.approx((max(low, 0.5), high))


@pytest.mark.parametrize("sizes", [(9,), (5, 12)])
def test_the_correction_makes_the_variance_unbiased_over_all_pairs_of_one_group_or_of_two(sizes):
    rng = np.random.default_rng(0)
    side = np.repeat(np.arange(len(sizes)), sizes)
    nodes = np.array(
        [
            p
            for p in itertools.combinations(range(len(side)), 2)
            if len(set(side[list(p)])) == len(sizes)
        ]
    )
    clusters, ones = PairClusters.of(nodes), np.ones((len(nodes), 1))
    means, variances = [], []
    for _ in range(4000):
        h = rng.normal(size=len(side))[nodes].sum(axis=1) + 0.7 * rng.normal(size=len(nodes))
        found = clusters.sum_covariance(h[:, None], ones, h.mean(keepdims=True))
        squares, weights = found.nodes - found.dyads
        kappa = weights[0, 0] / len(nodes) ** 2
        means.append(h.mean())
        variances.append(squares[0, 0] / len(nodes) ** 2 / (1 - kappa))
    truth = sum((2 / n if len(sizes) == 1 else 1 / n) for n in sizes) * (
        2 if len(sizes) == 1 else 1
    )
    truth += 0.49 / len(nodes)
    assert np.mean(variances) == pytest.approx(truth, rel=0.05)
    assert np.var(means) == pytest.approx(truth, rel=0.08)


def test_direction_order_and_names_of_nodes_do_not_matter():
    rng = np.random.default_rng(5)
    problem = sample(rng) | {"nodes": rng.integers(0, 40, size=(600, 2))}
    order, turn = rng.permutation(600), rng.random(600) < 0.5
    other = {key: value[order] for key, value in problem.items()}
    for key in ("nodes", "groups"):
        other[key] = np.where(turn[:, None], other[key][:, ::-1], other[key])
    other["nodes"] = 1000 - 7 * other["nodes"]
    for name in ("auc", "dp", "eo", "rdp"):
        expected = MEASURES[name].function(ScoredPairs.of(**problem)).interval
        assert MEASURES[name].function(ScoredPairs.of(**other)).interval == pytest.approx(expected)


def test_a_pair_given_twice_adds_nothing_that_was_not_known():
    """Repeated rows of all dyads leave the variance as it is: a dyad is one cluster."""
    rng = np.random.default_rng(6)
    nodes = np.array(list(itertools.combinations(range(30), 2)))
    problem = {
        "logits": rng.normal(size=30)[nodes].sum(axis=1),
        "groups": nodes % 3,
        "nodes": nodes,
    }
    twice = {key: np.concatenate([value, value]) for key, value in problem.items()}
    for name in ("dp", "rdp"):
        expected = MEASURES[name].function(ScoredPairs.of(**problem)).interval
        assert MEASURES[name].function(ScoredPairs.of(**twice)).interval == pytest.approx(expected)


def test_pairs_without_a_node_in_common_are_independent_pairs():
    rng = np.random.default_rng(7)
    problem = sample(rng, size=300)
    nodes = np.arange(600).reshape(300, 2)
    by_node, by_pair = (ScoredPairs.of(**problem, **more) for more in ({"nodes": nodes}, {}))
    found, expected = (each.spread("pairs") for each in (by_node, by_pair))
    assert found.covariance == pytest.approx(expected.covariance)
    label = problem["labels"]
    [(_, spread)] = rank_spreads(by_node.source, [link_classes(by_node)], by_node=True)
    assert spread.variance[0] == pytest.approx(
        delong(levels(problem["logits"]), label, 1 - label)[1]
    )


def test_nodes_behind_a_cell_are_counted_by_their_weight():
    """Two hubs among a hundred nodes are two."""
    hubs = np.array([(h, i) for h in (0, 1) for i in range(2, 102)])
    prob = np.random.default_rng(8).random(200)
    scored = ScoredPairs.of(prob=prob, groups=hubs[:, :1] * [1, 0] + [0, 2], nodes=hubs)
    spread = scored.spread("pairs")
    filled = scored.means.pairs > 0
    assert spread.nodes[filled] == pytest.approx(1.0, abs=0.05)
    clusters = PairClusters.of(hubs)
    found = clusters.sum_covariance(prob[:, None], np.ones((200, 1)), prob.mean(keepdims=True))
    assert found.result().nodes[0] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("unit", [1e-120, 1e120])
def test_the_unit_of_the_weights_does_not_matter(unit):
    rng = np.random.default_rng(2)
    nodes = np.stack(np.triu_indices(30, 1), axis=1)
    given = {"prob": rng.random(len(nodes)), "groups": nodes % 3, "nodes": nodes}
    weight = rng.exponential(size=len(nodes))
    known, found = (
        MEASURES["dp"].function(ScoredPairs.of(**given, weight=each))
        for each in (weight, unit * weight)
    )
    assert found.interval == pytest.approx(known.interval, abs=1e-12)
    assert found.nodes == pytest.approx(known.nodes)


def test_too_few_nodes_give_no_interval_and_say_so():
    nodes = [[0, 1], [0, 2], [1, 2], [3, 4], [4, 5], [5, 6], [6, 7], [7, 3], [3, 8], [9, 8], [4, 9]]
    groups = [[0, 0]] * 3 + [[1, 1]] * 8
    prob = np.linspace(0.05, 0.9, 11)
    found = MEASURES["dp"].function(ScoredPairs.of(prob=prob, groups=groups, nodes=nodes))
    assert "an end of the gap has too few nodes for a variance (0 – 0)" in found.reason
    assert np.isnan(found.interval).all()
    assert not math.isnan(found.value)


# --- from covariances to intervals -------------------------------------------------------------


def sample(rng, size=600, groups=3, shift=0.0):
    pair = rng.integers(0, groups, size=(size, 2))
    label = rng.integers(0, 2, size=size)
    logit = rng.normal(size=size) + label + shift * (pair[:, 0] == pair[:, 1])
    return {"logits": logit, "groups": pair, "labels": label, "weight": np.where(label, 1.0, 20.0)}


def random_spread(rng, size=4, scale=0.05):
    mixing = scale * rng.normal(size=(size, size))
    cov = mixing @ mixing.T
    return Spread(np.diag(cov), cov, np.full(size, 30.0), rng.uniform(8, 40, size=size))


@pytest.mark.parametrize("scale", [0.01, 0.2])
def test_gap_interval_agrees_with_loops_over_differences(scale):
    rng = np.random.default_rng(15)
    mean = np.array([0.2, 0.5, 0.45, 0.3])
    spread = random_spread(rng, scale=scale)
    draws = rng.multivariate_normal(np.zeros(4), spread.covariance, size=40_000)
    pairs = list(itertools.permutations(range(4), 2))
    error = {
        (a, b): np.sqrt(np.array([1, -1]) @ spread.covariance[np.ix_([a, b], [a, b])] @ [1, -1])
        for a, b in pairs
    }
    largest = np.max([np.abs(draws[:, a] - draws[:, b]) / error[a, b] for a, b in pairs], axis=0)
    tail = norm.sf(np.quantile(largest, 0.9))
    ends = []
    for a, b in pairs:
        v, w = spread.variance[a], spread.variance[b]
        freedom = (v + w) ** 2 / (v**2 / spread.freedom[a] + w**2 / spread.freedom[b])
        half = t.isf(tail, freedom) * error[a, b]
        ends.append((mean[a] - mean[b] - half, mean[a] - mean[b] + half))
    low, high = np.max(ends, axis=0)
    expected = (max(low, 0), min(high, 1))
    assert gap_interval(mean, spread, 0.9) == pytest.approx(expected, rel=0.03, abs=0.002)


def test_two_cells_have_the_plain_interval_of_their_difference():
    spread = random_spread(np.random.default_rng(1), size=2)
    error = math.sqrt(np.array([1, -1]) @ spread.covariance @ [1, -1])
    v, w = spread.variance
    freedom = (v + w) ** 2 / (v**2 / spread.freedom[0] + w**2 / spread.freedom[1])
    half = t.ppf(0.975, freedom) * error
    found = gap_interval(np.array([0.1, 0.6]), spread, 0.95)
    assert found == pytest.approx((0.5 - half, 0.5 + half))


def test_intervals_of_means_stay_between_0_and_1_and_are_exact_without_variance():
    mean = np.array([0.01, 0.5, 0.99, 1.0, 0.3])
    spread = Spread(np.array([0.01, 0.0, 0.01, 0.0, np.nan]), None, mean, np.full(5, 9.0))
    ends = mean_intervals(mean, spread, 0.95)
    assert ((ends[[0, 2]] > 0) & (ends[[0, 2]] < 1)).all()
    assert ends[1].tolist() == [0.5, 0.5]
    assert ends[3].tolist() == [1.0, 1.0]
    assert np.isnan(ends[4]).all()


def test_batches_of_nodes_and_classes_of_pairs_add_up_to_the_whole():
    rng = np.random.default_rng(3)
    nodes = np.array(list(itertools.combinations(range(30), 2)))
    cell = (nodes % 3).sum(axis=1) % 3
    h, one = rng.random(len(nodes)), np.eye(3)[cell]
    mean, total = one.T @ h / one.sum(axis=0), one.sum(axis=0)
    clusters = PairClusters.of(nodes)
    whole = clusters.sum_covariance(h[:, None], one, mean)
    parts = RowCovariance(mean, total)
    for some in np.array_split(np.arange(30), 4):
        ends = np.stack([(nodes == i).any(axis=1) for i in some]).astype(float)
        parts.add_nodes(csr_array(ends @ (one * h[:, None])), csr_array(ends @ one))
    square = np.array([((h - mean[c])[cell == c] ** 2).sum() for c in range(3)])
    parts.add_counted(total, mean, square, np.eye(3))
    assert parts.nodes == pytest.approx(whole.nodes)
    assert parts.dyads == pytest.approx(whole.dyads)
    assert parts.result().freedom == pytest.approx(whole.result().freedom)


# --- independent pairs -------------------------------------------------------------------------


def test_small_cells_are_as_wide_as_their_unbiased_standard_error():
    rng = np.random.default_rng(16)
    ratios = []
    for seed in range(40):
        prob = np.concatenate([rng.uniform(0.1, 0.3, size=7), rng.uniform(0.6, 0.8, size=7)])
        scored = ScoredPairs.of(prob=prob, groups=np.repeat([0, 2], 7), seed=seed)
        low, high = MEASURES["dp"].function(scored).interval
        error = math.sqrt(prob[:7].var(ddof=1) / 7 + prob[7:].var(ddof=1) / 7)
        ratios.append((high - low) / (2 * 1.96 * error))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.04)


def test_a_pair_within_a_group_counts_twice_but_is_one_pair():
    groups = [[0, 0]] + [[1, 1], [1, 2], [2, 2]] * 30
    prob = np.concatenate([[0.9], np.linspace(0.1, 0.5, 90)])
    found = MEASURES["dp"].function(ScoredPairs.of(prob=prob, groups=groups, view="group"))
    assert "single pair's worth of pairs (0)" in found.reason


def coverage(truth, sizes, runs=120, weights=(1.0,)):
    """Share of simulated data sets whose dp interval holds the true gap."""
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    held = 0
    for run in range(runs):
        mean = np.array(truth)[groups]
        weight = rng.choice(weights, size=len(groups))
        prob = rng.beta(4 * mean, 4 * (1 - mean))
        found = MEASURES["dp"].function(
            ScoredPairs.of(prob=prob, groups=groups, weight=weight, seed=run)
        )
        low, high = found.interval
        assert low <= found.value <= high
        held += low <= max(truth) - min(truth) <= high
    return held / runs


@pytest.mark.parametrize(
    ("truth", "sizes"),
    [
        ((0.3,) * 8, (80,) * 8),
        ((0.3, 0.32, 0.31), (150,) * 3),
        ((0.2, 0.3, 0.6), (150, 100, 60)),
        ((0.2, 0.59, 0.6, 0.58), (100, 80, 80, 80)),
    ],
)
def test_dp_interval_covers_the_true_gap_at_parity_and_away_from_it(truth, sizes):
    assert coverage(truth, sizes) >= 0.9
    assert coverage(truth, sizes, weights=(1.0, 10.0)) >= 0.88


def test_interval_is_not_needlessly_wide_for_two_clear_cells():
    rng = np.random.default_rng(7)
    prob = np.concatenate([rng.beta(2, 8, size=400), rng.beta(8, 2, size=300)])
    scored = ScoredPairs.of(prob=prob, groups=np.repeat([0, 1], [400, 300]))
    low, high = MEASURES["dp"].function(scored).interval
    error = math.sqrt(prob[:400].var() / 400 + prob[400:].var() / 300)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.12)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["dp", "eo", "rdp"])
def test_more_confidence_is_wider_and_holds_the_value(name, view):
    problem = sample(np.random.default_rng(8), shift=0.5)
    found = [
        MEASURES[name].function(ScoredPairs.of(**problem, view=view, confidence=c))
        for c in (0.5, 0.9, 0.99)
    ]
    lows, highs = zip(*(f.interval for f in found), strict=True)
    assert list(lows) == sorted(lows, reverse=True)
    assert list(highs) == sorted(highs)
    assert lows[0] <= found[0].value <= highs[0]
    assert highs[0] < highs[2]


def test_seed_fixes_the_interval():
    problem = sample(np.random.default_rng(9))
    found = [MEASURES["dp"].function(ScoredPairs.of(**problem, seed=s)).interval for s in (0, 0, 1)]
    assert found[0] == found[1] != found[2]


def test_group_view_resamples_pairs_not_their_ends():
    """Every pair joins 0 and another group, so the mean of 0 is tied to those of 1 and 2."""
    rng = np.random.default_rng(10)
    groups = np.stack([np.zeros(400, dtype=int), rng.integers(1, 3, size=400)], axis=1)
    prob = rng.random(400)
    scored = ScoredPairs.of(prob=prob, groups=groups, view="group")
    means = []
    for _ in range(2000):
        rows = rng.integers(0, 400, size=400)
        ends = [prob[rows[(groups[rows] == g).any(axis=1)]].mean() for g in range(3)]
        means.append(ends)
    cov = np.cov(np.array(means).T)
    spread = Spread(np.diag(cov), cov, np.full(3, 99.0), np.full(3, np.inf), by_node=False)
    expected = gap_interval(scored.means.mean, spread, 0.95)
    assert MEASURES["dp"].function(scored).interval == pytest.approx(expected, abs=0.008)


def test_a_cell_of_one_pair_takes_no_part_in_an_interval_and_is_named():
    problem = sample(np.random.default_rng(11), shift=1.5)
    problem["logits"] = np.append(problem["logits"], 1.05)
    problem["groups"] = np.append(problem["groups"], [[3, 3]], axis=0)
    problem["labels"] = np.append(problem["labels"], 1)
    problem["weight"] = np.append(problem["weight"], 1.0)
    for name in ("dp", "eo", "rdp"):
        found = MEASURES[name].function(ScoredPairs.of(**problem))
        assert np.isfinite(found.interval).all()
        assert "leaves out 3 – 3" in found.note
    problem["logits"][-1] = 9.0
    for name in ("dp", "eo", "rdp"):
        found = MEASURES[name].function(ScoredPairs.of(**problem))
        assert np.isnan(found.interval).all()
        assert "3 – 3" in found.reason
        assert not math.isnan(found.value)


def test_a_lone_heavy_pair_is_a_single_pair_however_many_light_ones_there_are():
    groups = [0] * 50 + [1] * 50 + [2] * 50
    weight = np.ones(150)
    weight[0] = 1e6
    prob = np.linspace(0.1, 0.9, 150)
    found = MEASURES["dp"].function(ScoredPairs.of(prob=prob, groups=groups, weight=weight))
    assert "single pair's worth of pairs (0)" in found.reason


def test_separated_scores_have_no_interval_rather_than_certainty():
    groups = [[0, 0], [0, 1], [1, 2], [2, 2]]
    found = MEASURES["auc"].function(ScoredPairs.of([0.0, 1.0, 2.0, 3.0], groups, [0, 0, 1, 1]))
    assert found.value == 1.0
    assert np.isnan(found.interval).all()
    assert "variance is 0" in found.reason


def test_equal_predictions_are_known_exactly():
    scored = ScoredPairs.of(prob=[0.25] * 9, groups=[0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert MEASURES["dp"].function(scored).interval == pytest.approx((0.0, 0.0), abs=1e-12)


def test_many_cells_are_held_at_once_by_a_little_wider_an_interval(monkeypatch):
    problem = sample(np.random.default_rng(17), size=4000, groups=8)
    problem["nodes"] = np.random.default_rng(18).integers(0, 300, size=(4000, 2))
    exact = MEASURES["dp"].function(ScoredPairs.of(**problem))
    monkeypatch.setattr("linkparity.pairs.nodes.MAX_PAIRWISE", 10)
    wider = MEASURES["dp"].function(ScoredPairs.of(**problem))
    assert wider.interval[0] <= exact.interval[0] <= exact.interval[1] <= wider.interval[1]
    length = np.diff([wider.interval, exact.interval], axis=1).ravel()
    assert length[0] < 1.4 * length[1]
    assert wider.cell_intervals == pytest.approx(exact.cell_intervals, rel=0.1, nan_ok=True)


def test_tiny_gaps_keep_their_precision():
    """Means near 1e-9 are resampled without being lost beside float32."""
    rng = np.random.default_rng(13)
    logits = np.concatenate([rng.normal(-20, 0.1, 300), rng.normal(-19, 0.1, 300)])
    scored = ScoredPairs.of(logits, np.repeat([[0, 1], [2, 2]], 300, axis=0))
    low, high = MEASURES["dp"].function(scored).interval
    gap = expit(logits[300:]).mean() - expit(logits[:300]).mean()
    assert 0.8 * gap < low < gap < high < 1.2 * gap


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_pairs_does_not_matter_where_none_share_a_node(seed):
    """Both variances are then equal but for rounding, which must not choose the degrees."""
    rng = np.random.default_rng(seed)
    nodes, group = rng.permutation(40).reshape(-1, 2), rng.integers(3, size=40)
    prob, order = rng.random(len(nodes)), rng.permutation(len(nodes))
    found = []
    for pairs in (slice(None), order):
        given = {"prob": prob[pairs], "groups": group[nodes][pairs], "nodes": nodes[pairs]}
        scored = ScoredPairs.of(**given)
        found.append([MEASURES[name].function(scored).interval for name in ("dp", "rdp")])
    assert found[0] == [pytest.approx(ends, abs=1e-9, nan_ok=True) for ends in found[1]]
