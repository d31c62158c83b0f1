"""Equal opportunity in validation, corrected for the draw of the validation links."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkparity as lp
from linkparity.experiments.steady_eo import SteadyEo, validation_splits
from linkparity.metrics.scored_pairs import ScoredPairs

NAMES = ("a", "b", "c")


def scored(prob, groups, label):
    return ScoredPairs.of(prob=prob, groups=groups, labels=label, names=NAMES, confidence=None)


def drawn(seed, count=120):
    """Groups, labels and predictions of random pairs among three groups."""
    rng = np.random.default_rng(seed)
    groups, label = rng.integers(0, 3, (count, 2)), rng.random(count) < 0.7
    return groups, label.astype(int), rng.random(count)


@given(st.integers(0, 10_000), st.floats(0.0, 0.5), st.floats(0.05, 0.5))
def test_a_setting_that_follows_the_plain_model_gets_the_mean_over_all_splits(seed, shift, slope):
    parts = [drawn(seed + k) for k in range(4)]
    plain = [scored(prob, groups, label) for groups, label, prob in parts]
    steady = SteadyEo.of(plain)
    groups, label, prob = parts[0]
    found, variance = steady.link_means(scored(shift + slope * prob, groups, label))
    assert (variance >= 0).all()
    every = ScoredPairs.of(
        prob=np.concatenate([part[2] for part in parts]),
        groups=np.concatenate([part[0] for part in parts]),
        labels=np.concatenate([part[1] for part in parts]),
        names=NAMES, confidence=None,
    )  # fmt: skip
    wanted = dict(zip(every.means.groups, shift + slope * every.means.link_mean, strict=True))
    known = plain[0].means.links > 0
    for cell, groups in enumerate(plain[0].means.groups):
        if known[cell]:
            assert found[cell] == pytest.approx(wanted[groups], abs=1e-12)
        else:
            assert np.isnan(found[cell])


def test_one_split_and_a_constant_plain_model_change_nothing():
    groups, label, prob = drawn(3)
    own, constant = scored(prob, groups, label), scored(np.full(len(prob), 0.3), groups, label)
    for plain in (scored(prob[::-1], groups, label), constant):
        assert SteadyEo.of([plain]).gap(own)[0] == pytest.approx(own.means.eo, abs=1e-12)
    other = scored(np.full(len(prob), 0.9), *drawn(4)[:2])
    assert SteadyEo.of([constant, other]).gap(own)[0] == pytest.approx(own.means.eo, abs=1e-12)


def test_a_few_links_correct_nothing_and_means_stay_between_0_and_1():
    groups, label = [[0, 0], [0, 0], [0, 1]], [1, 1, 1]
    first, other = scored([0.9, 0.901, 0.8], groups, label), scored([0.1] * 3, groups, label)
    own = scored([0.2, 0.6, 0.4], groups, label)
    means, variance = SteadyEo.of([first, other]).link_means(own)
    np.testing.assert_array_equal(means, own.means.link_mean)
    assert variance[own.means.groups.index(("a", "a"))] == pytest.approx(0.08 / 2)
    groups, label, prob = drawn(5, count=400)
    low = SteadyEo.of([scored(prob, groups, label), scored(prob * 0, groups, label)])
    means, _ = low.link_means(scored(prob / 9, groups, label))
    assert (means[~np.isnan(means)] >= 0).all()


def test_the_corrected_gap_scatters_less_about_the_truth():
    """Draws of 200 links of a population, whose gap is known."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, (4000, 2))
    plain = rng.beta(2, 2, 4000)
    setting = np.clip(0.8 * plain + 0.1 * groups.min(axis=1) + rng.normal(0, 0.03, 4000), 0, 1)
    ones = np.ones(4000, dtype=int)
    truth = scored(setting, groups, ones).means.eo
    errors = []
    for _ in range(40):
        parts = [rng.choice(4000, 200, replace=False) for _ in range(5)]
        steady = SteadyEo.of([scored(plain[part], groups[part], ones[part]) for part in parts])
        own = scored(setting[parts[0]], groups[parts[0]], ones[:200])
        errors.append((own.means.eo - truth, steady.gap(own)[0] - truth))
    naive, corrected = np.sqrt(np.mean(np.square(errors), axis=0))
    assert corrected < 0.6 * naive


@pytest.mark.parametrize("noise", [0.03, 0.3])
def test_standard_errors_are_those_of_repeated_draws(noise):
    rng = np.random.default_rng(1)
    means, variances = [], []
    for _ in range(300):
        parts = []
        for _ in range(3):
            groups = np.sort(rng.integers(0, 3, (240, 2)), axis=1)
            parts.append((groups, rng.beta(2, 2, 240)))
        ones = np.ones(240, dtype=int)
        steady = SteadyEo.of([scored(plain, groups, ones) for groups, plain in parts])
        groups, plain = parts[0]
        setting = 0.5 * plain + 0.25 + noise * (rng.random(240) - 0.5)
        mean, variance = steady.link_means(scored(setting, groups, ones))
        means.append(mean)
        variances.append(variance)
    ratio = np.sqrt(np.mean(variances, axis=0)) / np.std(means, axis=0)
    assert (ratio > 0.85).all()
    assert (ratio < 1.18).all()


def test_the_first_split_is_that_of_its_seed_and_the_others_differ():
    graph = lp.load("polbooks")
    splits = validation_splits(graph, 0.2, 3, 7)
    first = lp.split_links(graph, test=0.2, seed=7)
    assert splits[0].test.index.tolist() == first.test.index.tolist()
    assert len({str(split.test.index.tolist()) for split in splits}) == 3


def test_a_single_link_has_the_variance_of_the_others():
    groups = np.array([[0, 0]] * 3 + [[0, 1]] * 2 + [[1, 2]])
    prob = np.array([0.1, 0.2, 0.6, 0.3, 0.4, 0.9])
    own = scored(prob, groups, np.ones(6, dtype=int))
    variance = SteadyEo.of([own]).link_means(own)[1]
    within = [np.var(prob[:3], ddof=1), np.var(prob[3:5], ddof=1)]
    pooled = (2 * within[0] + within[1]) / 3
    known = variance[np.isfinite(own.means.link_mean)]
    assert sorted(known) == pytest.approx(sorted([within[0] / 3, within[1] / 2, pooled]))
    alone = scored(prob[[0, 3, 5]], groups[[0, 3, 5]], np.ones(3, dtype=int))
    assert SteadyEo.of([alone]).gap(alone)[1] == np.inf
