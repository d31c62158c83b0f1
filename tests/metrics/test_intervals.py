"""DeLong against all comparisons; the bootstrap against a naive one and against the truth."""

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from linkparity.metrics import METRICS, VIEWS, ScoredPairs
from linkparity.metrics.intervals import bootstrap
from linkparity.metrics.intervals.bootstrap import gap_interval, resampled_sums
from linkparity.metrics.intervals.delong import against_rest, delong, largest_interval, levels

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
    assert METRICS["auc"](scored).interval == pytest.approx((area - half, area + half))


def test_rdp_interval_holds_every_cell_at_once():
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 3, size=(300, 2))
    score = rng.normal(size=300) + (groups[:, 0] == groups[:, 1])
    found = METRICS["rdp"](ScoredPairs.of(score, groups))
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
    ends = np.array([largest_interval(draw, error**2, 0.95) for draw in draws])
    assert np.mean((ends[:, 0] <= 0.62) & (ends[:, 1] >= 0.62)) > 0.95


# --- the bootstrap -----------------------------------------------------------------------------


def sample(rng, size=600, groups=3, shift=0.0):
    pair = rng.integers(0, groups, size=(size, 2))
    label = rng.integers(0, 2, size=size)
    logit = rng.normal(size=size) + label + shift * (pair[:, 0] == pair[:, 1])
    return {"logits": logit, "groups": pair, "labels": label, "weight": np.where(label, 1.0, 20.0)}


def naive_means(prob, weight, code, rng, resamples):
    """Efron's bootstrap: draw each cell's pairs with replacement, loop by loop."""
    means = np.empty((resamples, code.max() + 1))
    for b in range(resamples):
        for c in range(code.max() + 1):
            rows = rng.choice(np.flatnonzero(code == c), size=(code == c).sum())
            means[b, c] = np.average(prob[rows], weights=weight[rows])
    return means


@pytest.mark.parametrize("exact", [25_000, 0])
def test_resampled_means_spread_like_those_of_a_naive_bootstrap(exact, monkeypatch):
    monkeypatch.setattr(bootstrap, "MAX_EXACT", exact)
    rng = np.random.default_rng(4)
    prob, weight = rng.beta(1, 3, size=450), rng.choice([1.0, 5.0], size=450)
    code = np.repeat([0, 1, 2], [250, 120, 80])
    naive = naive_means(prob, weight, code, rng, 1500)
    mass, total = resampled_sums(prob, weight, code, 3, generator=rng, resamples=4000)
    means = mass / total
    assert means.mean(axis=0) == pytest.approx(naive.mean(axis=0), abs=0.003)
    assert means.std(axis=0) == pytest.approx(naive.std(axis=0), rel=0.08)
    for level in (0.05, 0.95):
        expected = np.quantile(naive, level, axis=0)
        assert np.quantile(means, level, axis=0) == pytest.approx(expected, abs=0.006)
    assert np.abs(np.corrcoef(means.T) - np.eye(3)).max() < 0.08


@pytest.mark.parametrize("exact", [25_000, 0])
def test_resampled_sums_vary_together_as_exponential_weights_make_them(exact, monkeypatch):
    monkeypatch.setattr(bootstrap, "MAX_EXACT", exact)
    rng = np.random.default_rng(14)
    prob = rng.beta(1, 3, size=900)
    weight = np.where(prob > 0.3, 5.0, 1.0)
    code = np.repeat([0, 2], [600, 300])
    mass, total = resampled_sums(prob, weight, code, 3, generator=rng, resamples=6000)
    for cell in (0, 2):
        h, w = prob[code == cell], weight[code == cell]
        expected = [[w**2 @ h**2, w**2 @ h], [w**2 @ h, w**2 @ np.ones_like(w)]]
        assert np.cov(mass[:, cell], total[:, cell]) == pytest.approx(np.array(expected), rel=0.1)
        assert total[:, cell].mean() == pytest.approx(w.sum(), rel=0.01)
    assert not mass[:, 1].any()


def brute_gap_interval(mean, draws, confidence):
    """Every difference between two cells on its own, in loops."""
    pairs = list(itertools.permutations(range(len(mean)), 2))
    off = {(a, b): draws[:, a] - draws[:, b] - (mean[a] - mean[b]) for a, b in pairs}
    error = {pair: math.sqrt((values**2).mean()) for pair, values in off.items()}
    largest = [max(abs(off[p][i]) / error[p] for p in pairs) for i in range(len(draws))]
    t = np.quantile(largest, confidence)
    low = max(mean[a] - mean[b] - t * error[a, b] for a, b in pairs)
    high = max(mean[a] - mean[b] + t * error[a, b] for a, b in pairs)
    return max(low, 0), min(high, 1)


@pytest.mark.parametrize("spread", [0.01, 0.2])
def test_gap_interval_agrees_with_loops_over_differences(spread):
    rng = np.random.default_rng(15)
    mean = np.array([0.2, 0.5, 0.45, 0.3])
    mixing = rng.normal(size=(4, 4))
    draws = mean + spread * (0.3 + rng.normal(size=(80, 4)) @ mixing)
    expected = brute_gap_interval(mean, draws, 0.9)
    assert gap_interval(mean, draws, 0.9) == pytest.approx(expected)


def test_small_cells_are_as_wide_as_their_unbiased_standard_error():
    rng = np.random.default_rng(16)
    ratios = []
    for seed in range(40):
        prob = np.concatenate([rng.uniform(0.1, 0.3, size=7), rng.uniform(0.6, 0.8, size=7)])
        scored = ScoredPairs.of(prob=prob, groups=np.repeat([0, 2], 7), seed=seed)
        low, high = METRICS["dp"](scored).interval
        error = math.sqrt(prob[:7].var(ddof=1) / 7 + prob[7:].var(ddof=1) / 7)
        ratios.append((high - low) / (2 * 1.96 * error))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.04)


def test_a_pair_within_a_group_counts_twice_but_is_one_pair():
    groups = [[0, 0]] + [[1, 1], [1, 2], [2, 2]] * 30
    prob = np.concatenate([[0.9], np.linspace(0.1, 0.5, 90)])
    found = METRICS["dp"](ScoredPairs.of(prob=prob, groups=groups, view="group"))
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
        found = METRICS["dp"](ScoredPairs.of(prob=prob, groups=groups, weight=weight, seed=run))
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
    low, high = METRICS["dp"](scored).interval
    error = math.sqrt(prob[:400].var() / 400 + prob[400:].var() / 300)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.12)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["dp", "eo", "rdp"])
def test_more_confidence_is_wider_and_holds_the_value(name, view):
    problem = sample(np.random.default_rng(8), shift=0.5)
    found = [
        METRICS[name](ScoredPairs.of(**problem, view=view, confidence=c)) for c in (0.5, 0.9, 0.99)
    ]
    lows, highs = zip(*(f.interval for f in found), strict=True)
    assert list(lows) == sorted(lows, reverse=True)
    assert list(highs) == sorted(highs)
    assert lows[0] <= found[0].value <= highs[0]
    assert highs[0] < highs[2]


def test_seed_fixes_the_interval():
    problem = sample(np.random.default_rng(9))
    found = [METRICS["dp"](ScoredPairs.of(**problem, seed=s)).interval for s in (0, 0, 1)]
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
    expected = gap_interval(scored.means.mean, np.array(means), 0.95)
    assert METRICS["dp"](scored).interval == pytest.approx(expected, abs=0.008)


def test_a_cell_of_one_pair_takes_no_part_in_an_interval_and_is_named():
    problem = sample(np.random.default_rng(11), shift=1.5)
    problem["logits"] = np.append(problem["logits"], 1.05)
    problem["groups"] = np.append(problem["groups"], [[3, 3]], axis=0)
    problem["labels"] = np.append(problem["labels"], 1)
    problem["weight"] = np.append(problem["weight"], 1.0)
    for name in ("dp", "eo", "rdp"):
        found = METRICS[name](ScoredPairs.of(**problem))
        assert np.isfinite(found.interval).all()
        assert "leaves out 3 – 3" in found.note
    problem["logits"][-1] = 9.0
    for name in ("dp", "eo", "rdp"):
        found = METRICS[name](ScoredPairs.of(**problem))
        assert np.isnan(found.interval).all()
        assert "3 – 3" in found.reason
        assert not math.isnan(found.value)


def test_a_lone_heavy_pair_is_a_single_pair_however_many_light_ones_there_are():
    groups = [0] * 50 + [1] * 50 + [2] * 50
    weight = np.ones(150)
    weight[0] = 1e6
    prob = np.linspace(0.1, 0.9, 150)
    found = METRICS["dp"](ScoredPairs.of(prob=prob, groups=groups, weight=weight))
    assert "single pair's worth of pairs (0)" in found.reason


def test_separated_scores_have_no_interval_rather_than_certainty():
    groups = [[0, 0], [0, 1], [1, 2], [2, 2]]
    found = METRICS["auc"](ScoredPairs.of([0.0, 1.0, 2.0, 3.0], groups, [0, 0, 1, 1]))
    assert found.value == 1.0
    assert np.isnan(found.interval).all()
    assert "variance is 0" in found.reason


def test_equal_predictions_are_known_exactly():
    scored = ScoredPairs.of(prob=[0.25] * 9, groups=[0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert METRICS["dp"](scored).interval == pytest.approx((0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("groups", [7, 60])
def test_a_thousand_resamples_of_forty_thousand_pairs_in_under_two_seconds(groups):
    problem = sample(np.random.default_rng(12), size=40_000, groups=groups)
    scored = ScoredPairs.of(**problem)
    assert bootstrap.RESAMPLES == 1000
    start = time.perf_counter()
    found = METRICS["dp"](scored)
    assert time.perf_counter() - start < 2.0
    assert found.interval[0] < found.value < found.interval[1]


def test_many_cells_are_held_at_once_by_a_little_wider_an_interval(monkeypatch):
    rng = np.random.default_rng(17)
    mean = np.linspace(0.3, 0.4, 200)
    draws = mean + rng.uniform(0.005, 0.02, size=200) * rng.normal(size=(1000, 200))
    exact = gap_interval(mean, draws, 0.95)
    monkeypatch.setattr(bootstrap, "MAX_PAIRWISE", 100)
    wider = gap_interval(mean, draws, 0.95)
    assert wider[0] <= exact[0] <= 0.1 <= exact[1] <= wider[1]
    assert wider[1] - wider[0] < 1.4 * (exact[1] - exact[0])


def test_tiny_gaps_keep_their_precision():
    """Means near 1e-9 are resampled without being lost beside float32."""
    rng = np.random.default_rng(13)
    logits = np.concatenate([rng.normal(-20, 0.1, 300), rng.normal(-19, 0.1, 300)])
    scored = ScoredPairs.of(logits, np.repeat([[0, 1], [2, 2]], 300, axis=0))
    low, high = METRICS["dp"](scored).interval
    gap = expit(logits[300:]).mean() - expit(logits[:300]).mean()
    assert 0.8 * gap < low < gap < high < 1.2 * gap
