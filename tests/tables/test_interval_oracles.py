"""Intervals of arrays and of tables against sums over every two pairs and against scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from scipy.stats import norm, t, ttest_ind
from test_table_intervals import in_memory, make, with_weights

import linkparity as lp


class Loops:
    """Covariance of means, by comparing every two pairs; ``mine (M, P)`` are weights by cell."""

    def __init__(self, ids, values, mine):
        self.mean = (mine * values).sum(axis=1) / mine.sum(axis=1)
        share = (ids[:, None, :, None] == ids[None, :, None, :]).any(axis=(2, 3))
        dyad = (np.sort(ids, axis=1)[:, None] == np.sort(ids, axis=1)[None]).all(axis=2)
        off = mine * (values - self.mean[:, None]) / mine.sum(axis=1, keepdims=True)
        part = mine / mine.sum(axis=1, keepdims=True)
        self.kappa = part @ share @ part.T
        self.covariance = off @ share @ off.T / (1 - self.kappa)
        self.alone = off @ dyad @ off.T / (1 - part @ dyad @ part.T)
        self.variance, alone = np.diag(self.covariance), np.diag(self.alone)
        assert np.linalg.eigvalsh(self.covariance).min() > 0
        assert (self.variance > 1.01 * alone).all()
        nodes = []
        for weights in mine:
            sums = np.array([weights[(ids == node).any(axis=1)].sum() for node in np.unique(ids)])
            nodes.append((sums**2).sum() ** 2 / (sums**4).sum())
        few = (1 - alone / self.variance) / np.sqrt(np.array(nodes) - 1)
        self.freedom = (few + alone / self.variance * np.sqrt(np.diag(self.kappa))) ** -2

    def error(self, sign):
        """Standard error of the sum of means with signs, a difference no less than by pair."""
        variance = sign @ self.covariance @ sign
        return np.sqrt(max(variance, sign @ self.alone @ sign) if sign.min() < 0 else variance)


def welch(*parts):
    """Degrees of freedom of a sum of the means of all parts."""
    variance = np.concatenate([part.variance for part in parts])
    freedom = np.concatenate([part.freedom for part in parts])
    return variance.sum() ** 2 / (variance**2 / freedom).sum()


def two_cells(groups, weight):
    """``(2, P)`` weights of the pairs within a group and between groups."""
    within = groups[:, 0] == groups[:, 1]
    return np.array([within * weight, ~within * weight], dtype=float)


@pytest.mark.parametrize(("weighted", "confidence"), [(False, 0.95), (True, 0.8)])
def test_two_means_and_their_gap_have_the_intervals_of_students_t(weighted, confidence):
    frame, people, groups, ids = make(seed=1)
    frame = with_weights(frame) if weighted else frame
    column = "w" if weighted else None
    audit = lp.audit(frame, "kind", people, weight=column, confidence=confidence)
    arrays = in_memory(frame, groups, ids, view="mixed", confidence=confidence)
    tail = (1 - confidence) / 2
    for name, weight in (("dp", frame.w if weighted else 1.0), ("eo", frame.label)):
        loops = Loops(ids, frame.score.to_numpy(), two_cells(groups, np.asarray(weight)))
        gap = loops.mean[0] - loops.mean[1]
        half = t.isf(tail, welch(loops)) * loops.error(np.array([1.0, -1.0]))
        expected = pytest.approx((max(gap - half, 0), gap + half), abs=1e-9)
        table = audit.views["mixed"][name]
        assert gap > 0
        assert arrays.intervals[name] == expected
        assert table.interval == expected
        # each mean on the logit scale
        half = t.isf(tail, loops.freedom) * np.sqrt(loops.variance)
        half /= loops.mean * (1 - loops.mean)
        ends = np.stack([expit(logit(loops.mean) + sign * half) for sign in (-1, 1)], axis=1)
        means = [c.interval if name == "dp" else c.link_interval for c in arrays.cells]
        assert np.array(means) == pytest.approx(ends, abs=1e-9)
        assert table.cell_intervals == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("kind", ["nodes", "pairs"])
def test_pairs_that_share_no_node_have_welchs_interval(kind):
    """Of pairs that are independent by node, with few, by scipy; by pair, the normal one."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 60)
    ids = rng.permutation(60).reshape(-1, 2)
    within = group[ids[:, 0]] == group[ids[:, 1]]
    score = rng.beta(3, 4, 30) + 0.1 * within
    frame = pd.DataFrame({"source": ids[:, 0], "target": ids[:, 1], "score": score})
    people = pd.DataFrame({"node": np.arange(60), "kind": np.array(list("abc"))[group]})
    test = ttest_ind(score[within], score[~within], equal_var=False)
    low, high = test.confidence_interval(0.9)
    if kind == "pairs":
        error = (score[within].mean() - score[~within].mean()) / test.statistic
        half = norm.isf(0.05) * error
        low, high = (low + high) / 2 - half, (low + high) / 2 + half
    sign = 1 if low + high > 0 else -1
    expected = sorted((sign * low, sign * high))
    expected[0] = max(expected[0], 0)
    audit = lp.audit(frame, "kind", people, intervals=kind, confidence=0.9)
    arrays = lp.score_pairs(
        prob=score, groups=group[ids], nodes=ids if kind == "nodes" else None, view="mixed",
        confidence=0.9,
    )  # fmt: skip
    assert audit.views["mixed"]["dp"].interval == pytest.approx(expected, abs=1e-9)
    assert arrays.intervals["dp"] == pytest.approx(expected, abs=1e-9)


def changed(seed, shift=0.0, nodes=30):
    """Two scores of the same pairs of three groups, the second with other effects of nodes."""
    frame, people, groups, ids = make(nodes=nodes, seed=seed)
    rng = np.random.default_rng(seed)
    logits = logit(frame.score.to_numpy()) + shift * (groups[:, 0] == groups[:, 1])
    was = 0.6 * logits + 0.5 * rng.normal(size=nodes)[ids].sum(axis=1)
    was += 0.5 * rng.normal(size=len(was))
    return frame.assign(score=expit(logits)), frame.assign(score=expit(was)), people, groups, ids


@pytest.mark.parametrize("seed", [1, 3])
def test_the_change_of_auc_is_known_as_its_influence_on_every_two_pairs_says(seed):
    frame, other, people, _, ids = changed(seed)
    link = frame.label.to_numpy() == 1
    placements, areas = [], []
    for score in (frame.score.to_numpy(), other.score.to_numpy()):
        wins = (score[:, None] > score) + (score[:, None] == score) / 2
        placement = np.where(link, wins[:, ~link].mean(axis=1), wins[link].mean(axis=0))
        placements.append(placement)
        areas.append(placement[link].mean())
    sides = np.array([link, ~link], dtype=float)
    four = [Loops(ids, placement, sides) for placement in placements]
    both = Loops(ids, placements[0] - placements[1], sides)
    change = areas[0] - areas[1]
    half = t.isf(0.025, welch(*four)) * both.error(np.ones(2))
    found = lp.audit(frame, "kind", people, compare=other).change
    assert found.values["auc"] == pytest.approx(change, abs=1e-12)
    assert found.intervals["auc"] == pytest.approx((change - half, change + half), abs=1e-9)


@pytest.mark.parametrize(("seed", "shift", "nodes"), [(1, 3.0, 30), (2, 4.0, 12)])
def test_the_change_of_a_clear_gap_of_two_cells_is_that_of_one_difference(seed, shift, nodes):
    frame, other, people, groups, ids = changed(seed, shift, nodes)
    mine = two_cells(groups, np.ones(len(ids)))
    score, before = frame.score.to_numpy(), other.score.to_numpy()
    apart = np.array([1.0, -1.0])
    now, was, change = (Loops(ids, values, mine) for values in (score, before, score - before))
    errors = [loops.error(apart) for loops in (now, was, change)]
    tail = 0.9 * 0.05 / 2  # a tenth of the error chooses the cells
    middle, half = apart @ change.mean, t.isf(tail, welch(now, was)) * errors[2]
    assert min(apart @ now.mean, apart @ was.mean) > 3 * max(errors[:2])
    found = lp.audit(frame, "kind", people, compare=other).change.views["mixed"]["dp"]
    assert found.value == pytest.approx(middle, abs=1e-12)
    assert np.mean(found.interval) == pytest.approx(middle, abs=1e-9)
    assert np.ptp(found.interval) == pytest.approx(2 * half, rel=0.03)


@pytest.mark.parametrize(("seed", "shift", "largest"), [(1, 4.0, 1), (3, 3.0, 1), (2, 4.0, 5)])
def test_the_change_of_rdp_is_that_of_the_cells_that_may_be_the_largest(seed, shift, largest):
    frame, other, people, groups, ids = changed(seed, nodes=60)
    cell = np.sort(groups, axis=1) @ (3, 1)
    tables = [
        each.assign(score=expit(logit(each.score) + by * (cell == which)))
        for each, by, which in ((frame, shift, 1), (other, shift - 1, largest))
    ]
    areas, halves = [], []
    for inside in (cell == number for number in np.unique(cell)):
        sides, placements = np.array([inside, ~inside], dtype=float), []
        for score in (table.score.to_numpy() for table in tables):
            wins = (score[:, None] > score) + (score[:, None] == score) / 2
            places = wins[:, ~inside].mean(axis=1), wins[inside].mean(axis=0)
            placements.append(np.where(inside, *places))
        now, was, change = (
            Loops(ids, each, sides) for each in (*placements, placements[0] - placements[1])
        )
        areas.append([placement[inside].mean() for placement in placements])
        count, error = len(np.unique(cell)), 0.05  # a tenth of it chooses the cells
        tails = (0.1 * error / (4 * count),) * 2 + (0.9 * error / 2,)
        freedom = welch(now), welch(was), welch(now, was)
        both = np.ones(2)
        three = zip(tails, freedom, (now, was, change), strict=True)
        halves.append([t.isf(tail, nu) * loops.error(both) for tail, nu, loops in three])
    (now, was), (half, half0, less) = np.transpose(areas), np.transpose(halves)
    change = now - was
    high = (change + less)[now + half >= (now - half).max()].max()
    low = (change - less)[was + half0 >= (was - half0).max()].min()
    ends = [
        (max((area - wide).max(), 0.5), min((area + wide).max(), 1.0))
        for area, wide in ((now, half), (was, half0))
    ]
    wanted = max(low, ends[0][0] - ends[1][1]), min(high, ends[0][1] - ends[1][0])
    found = lp.audit(tables[0], "kind", people, compare=tables[1]).change
    assert found.values["rdp"] == pytest.approx(now.max() - was.max(), abs=1e-12)
    assert found.intervals["rdp"] == pytest.approx(wanted, abs=1e-9)
