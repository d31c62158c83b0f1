"""What makes a gap: its ends, the gap weighted by pairs, and pairs of groups with few pairs."""

import itertools
import json
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkparity as lp
from linkparity.metrics.cell_means import mean_difference
from linkparity.metrics.scored_pairs import ScoredPairs

NAMES = ("a", "b", "c", "d")


def problem(seed=0, count=600, groups=4):
    rng = np.random.default_rng(seed)
    # Group d is rare, and its pairs have extreme scores.
    group = rng.choice(groups, (count, 2), p=[0.5, 0.3, 0.19, 0.01])
    prob = rng.beta(2, 5, count)
    prob[(group == 3).any(axis=1)] = rng.choice([0.001, 0.999], int((group == 3).any(axis=1).sum()))
    return {
        "prob": prob, "groups": group, "labels": rng.integers(0, 2, count),
        "weight": rng.uniform(0.1, 3, count),
    }  # fmt: skip


def by_loops(given, links, least=0):
    """Mean, count and weight of each pair of groups that has at least ``least`` pairs."""
    found = {}
    for k, (first, second) in enumerate(np.sort(given["groups"], axis=1).tolist()):
        if links and not given["labels"][k]:
            continue
        weight = 1.0 if links else given["weight"][k]
        mass, total, count = found.get((first, second), (0.0, 0.0, 0))
        found[first, second] = mass + weight * given["prob"][k], total + weight, count + 1
    return {
        (NAMES[g], NAMES[h]): (mass / total, count, total)
        for (g, h), (mass, total, count) in found.items()
        if count >= least
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("least", [0, 5, 40])
@pytest.mark.parametrize("name", ["dp", "eo"])
def test_ends_and_weighted_gap_are_those_of_loops(name, least, seed):
    given = problem(seed)
    scores = lp.score_pairs(**given, group_names=NAMES, min_pairs=least)
    cells = by_loops(given, name == "eo", least)
    found = scores.gaps[name]
    high, low = (pick(cells, key=lambda c: cells[c][0]) for pick in (max, min))
    assert (found.high.groups, found.low.groups) == (high, low)
    assert found.high.mean == pytest.approx(cells[high][0])
    assert (found.high.count, found.low.count) == (cells[high][1], cells[low][1])
    assert scores.values[name] == pytest.approx(cells[high][0] - cells[low][0], abs=1e-12)
    total = sum(weight for _, _, weight in cells.values())
    weighted = sum(
        abs(m - n) * v * w / total**2
        for (m, _, v), (n, _, w) in itertools.product(cells.values(), repeat=2)
    )
    assert found.weighted == pytest.approx(weighted)
    assert scores.counts[name][0] == sum(count for _, count, _ in cells.values())


def test_the_finding_names_a_gap_that_a_few_pairs_did_not_make():
    given = problem()
    scores = lp.score_pairs(**given, group_names=NAMES)
    found, cells = scores.gaps["dp"], by_loops(given, False, 30)
    assert "d" in (*found.high.groups, *found.low.groups)
    high, low = found.reliable
    assert {high.groups, low.groups} == {
        pick(cells, key=lambda c: cells[c][0]) for pick in (max, min)
    }
    sentence = scores.findings()[0]
    assert sentence.startswith("dp among pairs of groups with at least 30 pairs: 0.")
    assert f"between {high.groups[0]} – {high.groups[1]} (" in sentence
    assert "what makes each gap" in str(scores)
    assert sentence.split(",")[0] in str(scores).replace("\n", " ")
    plain = json.loads(json.dumps(scores.to_dict()))
    assert plain["gaps"]["dp"]["high"]["groups"] == list(found.high.groups)
    assert plain["gaps"]["dp"]["reliable"]["value"] == pytest.approx(high.mean - low.mean)
    assert plain["findings"] == scores.findings()


def test_a_gap_that_many_pairs_make_is_said_once():
    given = problem()
    scores = lp.score_pairs(**given, group_names=NAMES, min_pairs=30)
    assert scores.gaps["dp"].reliable == (scores.gaps["dp"].high, scores.gaps["dp"].low)
    assert scores.findings() == scores.to_dict()["findings"] == []


def test_few_pairs_everywhere_are_said():
    given = problem(count=40)
    scores = lp.score_pairs(**given, group_names=NAMES)
    assert scores.findings()[0] == "dp: fewer than two pairs of groups have 30 pairs or more."
    none = lp.score_pairs(**given, group_names=NAMES, min_pairs=1000)
    assert isnan(none.dp)
    assert isnan(none.gaps["dp"].weighted)
    assert none.gaps["dp"].high is None
    assert none.findings() == []
    with pytest.raises(ValueError, match="min_pairs must be at least 0, got -1"):
        lp.score_pairs(**given, min_pairs=-1)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 9)), min_size=2, max_size=9))
def test_the_weighted_gap_is_at_most_the_largest(cells):
    mean, weight = np.array(cells).T
    found = mean_difference(mean, weight)
    slow = np.abs(mean[:, None] - mean) * weight[:, None] * weight / weight.sum() ** 2
    assert found == pytest.approx(slow.sum(), abs=1e-12)
    assert found <= mean.max() - mean.min() + 1e-12


def test_many_cells_are_shown_by_their_extremes():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 12, (5000, 2))
    scores = lp.score_pairs(prob=rng.random(5000), groups=group, confidence=None)
    means = sorted((cell.mean for cell in scores.cells), reverse=True)
    grid = next(
        part for part in scores.document() if getattr(part, "title", "") == "view: subgroup"
    )
    shown = [float(row[2]) for row in grid.rows]
    assert shown == pytest.approx([*means[:15], *means[-15:]], abs=1e-4)
    assert "48 more rows" in str(scores)


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning", "ignore::linkparity.SplitWarning")
def test_intervals_of_candidates_with_cells_that_the_test_pairs_lack():
    graph = lp.datasets.block_model((4,) * 42, degree=6, homophily=8, seed=2)
    split = lp.split_links(graph, seed=0)
    model = lp.LinkPredictor("maxent").fit(split.train)
    scores = lp.evaluate(model, split, over="candidates", measures=["dp", "eo"])
    tested = ScoredPairs.of(
        prob=model.predict_proba(split.test), groups=graph.group[split.test.index]
    )
    assert len(tested.means.groups) < len(scores.cells)
    assert any(cell.link_mean == cell.link_mean for cell in scores.cells)
