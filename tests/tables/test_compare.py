"""Two score tables over the same pairs: changes against arrays, errors, the gate."""

import json
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from array_intervals import PairClusters, levels, placements
from table_cases import exit_code, write
from test_table_intervals import make, with_weights

import linkparity as lp
from linkparity.metrics import ScoredPairs
from linkparity.metrics.intervals.changes import difference_interval, gap_change_interval
from linkparity.metrics.intervals.covariance import Spread

CASES = {"undirected": {}, "directed": {"directed": True}, "bipartite": {"bipartite": True}}


def before(frame):
    """Other scores of the same pairs, in another order, some of them turned round."""
    rng = np.random.default_rng(1)
    return frame.assign(score=(0.8 * frame.score + 0.15 * rng.random(len(frame))))


def stacked(frame, other, groups, ids, directed):
    """Both scores as one set of pairs, those before in cells of their own; number of cells."""
    pair = groups if directed else np.sort(groups, axis=1)
    _, cell = np.unique(3 * pair[:, 0] + pair[:, 1], return_inverse=True)
    size = int(cell.max()) + 1
    prob = np.concatenate([frame.score, other.score])
    return prob, np.concatenate([cell, cell + size]), np.tile(ids, (2, 1)), size


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", CASES)
def test_the_change_of_a_gap_is_that_of_arrays(name, weight):
    frame, people, groups, ids = make(**CASES[name])
    frame = with_weights(frame) if weight else frame
    options = CASES[name] | {"weight": weight}
    other = before(frame)
    given = other.drop(columns=weight or [])  # weights are those of the first table
    found = lp.audit(frame, "kind", people, compare=given, **options)
    for measure, value in lp.audit(other, "kind", people, **options).values.items():
        assert found.change.was[measure] == pytest.approx(value, abs=1e-9)
        change = found.values[measure] - value
        assert found.change.values[measure] == pytest.approx(change, abs=1e-9)
    prob, cell, nodes, size = stacked(frame, other, groups, ids, name == "directed")
    weights = np.tile(frame.w, 2) if weight else np.ones(len(prob))
    scored = ScoredPairs.of(prob=prob, groups=cell, nodes=nodes, weight=weights)
    mean = scored.means.mean
    spread = scored.spread("pairs")
    ends = gap_change_interval(mean[:size], mean[size:], spread, 0.95)
    assert found.change.intervals["dp"] == pytest.approx(ends, abs=1e-9)


def test_the_change_of_a_gap_of_which_the_ends_are_clear_is_known_as_well_as_one_difference():
    now, was = np.array([0.1, 0.5, 0.9]), np.array([0.2, 0.5, 0.7])
    variance = np.array([1, 2, 3, 1, 2, 3]) * 1e-4
    endless = np.full(6, np.inf)
    spread = Spread(variance, np.diag(variance), endless, endless, alone=np.zeros((6, 6)))
    half = NormalDist().inv_cdf(1 - 0.045 / 2) * np.sqrt(2 * (1e-4 + 3e-4))
    ends = gap_change_interval(now, was, spread, 0.95)
    assert ends == pytest.approx((0.3 - half, 0.3 + half))
    close = now - [0, 0.39, 0]  # the lowest mean may be that of another cell
    assert gap_change_interval(close, was, spread, 0.95)[1] > 0.3 + half


def test_the_change_of_auc_of_independent_pairs_is_that_of_delong():
    frame, people, _, _ = make()
    other = before(frame)
    found = lp.audit(frame, "kind", people, compare=other, intervals="pairs").change
    link = frame.label.to_numpy() == 1
    above = [
        np.subtract.outer(scores[link].to_numpy(), scores[~link].to_numpy()) > 0
        for scores in (frame.score, other.score)
    ]
    apart = above[0].astype(float) - above[1]
    error = np.sqrt(
        sum(np.var(part, ddof=1) / len(part) for part in (apart.mean(0), apart.mean(1)))
    )
    known = apart.mean() + np.array([-1, 1]) * 1.959964 * error
    assert found.intervals["auc"] == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_change_of_auc_is_that_of_arrays(name):
    frame, people, _, ids = make(**CASES[name])
    other = before(frame)
    found = lp.audit(frame, "kind", people, compare=other, **CASES[name])
    links = frame.label.to_numpy(dtype=float)
    columns, area = [], []
    for scores in (frame.score, other.score):
        level = levels(scores.to_numpy())
        beats, beaten = placements(level, links, 1 - links)
        columns += [beats[level], beaten[level]]
        area.append(float(links @ beats[level] / links.sum()))
    one, zero = np.array([links, 1 - links]).T, np.zeros((len(links), 2))
    weight = np.block([[one, zero], [zero, one]])
    values = np.tile(np.array(columns).T, (2, 1))
    clusters = PairClusters.of(np.tile(ids, (2, 1)))
    spread = clusters.sum_covariance(values, weight, np.repeat(area, 2)).result()
    change = area[0] - area[1]
    known = difference_interval(change, spread.of_sum(np.array([1, 1, -1, -1])), 0.95)
    assert found.change.values["auc"] == pytest.approx(change, abs=1e-12)
    assert found.change.intervals["auc"] == pytest.approx(known, abs=1e-9)
    low, high = found.change.intervals["rdp"]
    assert low <= found.change.values["rdp"] <= high


def test_a_change_is_known_better_than_its_ends():
    frame, people, _, _ = make(nodes=80)
    logit = np.log(frame.score / (1 - frame.score))
    shifted = 1 / (1 + np.exp(-(logit - 0.1)))
    found = lp.audit(frame, "kind", people, compare=frame.assign(score=shifted))
    assert np.ptp(found.change.intervals["auc"]) < 1e-9  # the order is the same
    assert np.ptp(found.change.intervals["dp"]) < np.ptp(found.intervals["dp"]) / 2
    same = lp.audit(frame, "kind", people, compare=frame).change
    assert set(same.intervals.values()) == {(0.0, 0.0)}
    assert list(same.values.values()) == pytest.approx([0.0] * 5, abs=1e-12)


def test_rows_may_be_in_any_order_and_columns_have_their_usual_names(tmp_path, capfd):
    frame, people, _, _ = make()
    fair, _ = lp.project(frame, "kind", people, report=True)
    other = frame.sample(frac=1, random_state=0)
    turned = other.rename(columns={"source": "target", "target": "source"})
    paths = [tmp_path / name for name in ("fair.csv", "n.csv", "was.parquet")]
    for table, path in zip((fair, people, turned), paths, strict=True):
        write(table, path)
    common = (paths[0], "--nodes", paths[1], "--sensitive", "kind", "--score", "fair_score")
    assert exit_code("audit", *common, "--compare", paths[2], "--json") == 0
    found = json.loads(capfd.readouterr().out)
    known = lp.audit(fair, "kind", people, score="fair_score", compare=other)
    for name, value in known.change.values.items():
        assert found["change"][name] == pytest.approx(value, abs=1e-9)
    for name, ends in known.change.intervals.items():
        assert found["change"]["intervals"][name] == pytest.approx(ends, abs=1e-9)
    assert found["change"]["dp"] == pytest.approx(-found["change"]["was"]["dp"], abs=1e-8)
    assert set(found["change"]["views"]) == {"subgroup", "mixed", "group"}
    assert exit_code("audit", *common, "--compare", paths[2]) == 0
    assert "change against" in capfd.readouterr().out


@pytest.mark.parametrize("rows", [slice(1, None), slice(None)])
def test_a_pair_in_one_table_alone_is_an_error(rows, tmp_path, capfd):
    frame, people, _, _ = make()
    other = pd.concat([frame[rows], frame[:1].assign(source="n39", target="n38")])
    other = other.drop_duplicates(["source", "target"])
    write(
        frame.drop(frame.index[(frame.source == "n38") & (frame.target == "n39")]),
        tmp_path / "s.csv",
    )
    write(other, tmp_path / "o.csv")
    write(people, tmp_path / "n.csv")
    args = (tmp_path / "s.csv", "--nodes", tmp_path / "n.csv", "--sensitive", "kind")
    code = exit_code("audit", *args, "--compare", tmp_path / "o.csv", "--duplicates", "first")
    said = capfd.readouterr().err
    assert code == 2
    assert "is not in" in said
    assert "such pair" in said
    assert "give both tables the same rows" in said


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [
        ("dp.upper>0.01", 1, "dp.upper is "),
        ("dp.upper>0.99", 0, ""),
        ("group.dp.upper>0.0001", 1, "group.dp.upper is "),
        ("dp.change>0.5", 0, ""),
        ("dp.change>-1", 1, "dp.change is "),
        ("mixed.dp.change>-1", 1, "mixed.dp.change is "),
        ("kl.change<1", 1, "kl.change is "),
        ("kl.upper>1", 2, "kl has no interval"),
        ("dp.uper>1", 2, "unknown part of dp 'uper'; did you mean 'upper'? known: upper, change"),
        ("dp.upper.upper>1", 2, "cannot be parsed"),
        ("a.dp.upper>1", 2, "unknown view 'a'"),
        ("group.mixed.dp.upper>1", 2, "cannot be parsed"),
    ],
)
def test_the_gate_judges_ends_and_changes(gate, code, said, tmp_path, capfd):
    frame, people, _, _ = make()
    write(frame, tmp_path / "s.csv")
    write(before(frame), tmp_path / "o.csv")
    write(people, tmp_path / "n.csv")
    args = (tmp_path / "s.csv", "--nodes", tmp_path / "n.csv", "--sensitive", "kind")
    assert exit_code("audit", *args, "--compare", tmp_path / "o.csv", "--fail-if", gate) == code
    assert said in capfd.readouterr().err
    if ".change" in gate:
        assert exit_code("audit", *args, "--fail-if", gate) == 2
        assert "needs two tables; give the other one with --compare" in capfd.readouterr().err
