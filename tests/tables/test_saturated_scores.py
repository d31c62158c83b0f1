"""Scores of exactly 0 and 1, which no tilt moves: what can still be reached, and what is said."""

import numpy as np
import pytest
from scipy.special import logit, rel_entr
from table_cases import exit_code, make_scores, write

import linkparity as lp


def test_scores_of_0_and_1_are_kept_and_their_weight_counts():
    scores, people, groups = make_scores(extreme=True)
    edge = scores.score.isin([0.0, 1.0])
    fair = lp.project(scores, "kind", people, explain=True)
    assert (fair.fair_score[edge] == scores.score[edge]).all()
    assert (fair.tilt[edge] == 0).all()
    found = lp.audit(fair, "kind", people, score="fair_score")
    assert found.dp <= 1e-9
    assert found.kept == int(edge.sum())
    # an oracle: the rest of each cell is brought to what is left of the target
    low, high = groups.min(axis=1), groups.max(axis=1)
    target = scores.score.mean()
    for a, b in {*zip(low.tolist(), high.tolist(), strict=True)}:
        mine = (low == a) & (high == b)
        rest = mine & ~edge.to_numpy()
        wanted = (target * mine.sum() - scores.score[mine & edge].sum()) / rest.sum()
        known = lp.i_project(
            logit(scores.score[rest].to_numpy()),
            groups=np.zeros(rest.sum(), dtype=int),
            target=wanted,
        )
        assert np.abs(fair.fair_score[rest] - known.logits.sigmoid().numpy()).max() < 1e-9


def test_a_target_out_of_reach_is_said_to_be():
    scores, people, groups = make_scores()
    low, high = groups.min(axis=1), groups.max(axis=1)
    mine = np.flatnonzero((low == 1) & (high == 2))
    scores.loc[mine[:-2], "score"] = 1.0
    said = r"green – red: .*only lie between 0\.\d+ and 1: the target 0\.\d+ is out of reach"
    with pytest.raises(lp.Infeasible, match=said):
        lp.project(scores, "kind", people)
    found = lp.audit(scores, "kind", people)
    assert np.isnan(found.kl)
    assert "out of reach" in found.reasons["kl"]
    wide = lp.project(scores, "kind", people, tolerance=0.9)
    assert np.allclose(wide.fair_score, scores.score)


def frozen(kind):
    """The scores of green – green, or all of them, are 0 or 1 throughout."""
    scores, people, groups = make_scores()
    green = np.flatnonzero((groups == 1).all(axis=1))
    if kind == "zeros":
        scores.loc[green, "score"] = 0.0
    elif kind == "mixed":
        scores.loc[green[::3], "score"], scores.loc[green[1::3], "score"] = 0.0, 1.0
        scores.loc[green[2::3], "score"] = 1.0
    else:
        scores["score"] = float(kind == "all 1")
    return scores, people


def means(fair, people):
    found = lp.audit(fair, "kind", people, score="fair_score", confidence=None)
    return np.array([cell.mean for cell in found.cells])


def divergence(fair):
    p, h = fair.fair_score, fair.score
    return float((rel_entr(p, h) + rel_entr(1 - p, 1 - h)).sum())


@pytest.mark.parametrize("kind", ["all 0", "all 1"])
@pytest.mark.parametrize("criterion", ["dp", "weak-dp", "eo", "equalized-odds"])
@pytest.mark.parametrize("target", ["model", "free"])
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_a_table_of_one_score_is_at_parity_as_it_stands(kind, criterion, target, tolerance):
    scores, people = frozen(kind)
    fair = lp.project(
        scores,
        "kind",
        people,
        criterion=criterion,
        target=target,
        tolerance=tolerance,
        tilt_by="labels",
    )
    assert (fair.fair_score == scores.score).all()


@pytest.mark.parametrize("kind", ["all 0", "all 1"])
def test_audit_of_a_table_of_one_score_scans_no_more_than_another(kind):
    scores, people = frozen(kind)
    found = lp.audit(scores, "kind", people)
    assert found.kl == 0
    assert found.scans <= 15


@pytest.mark.parametrize("target", ["model", "free", 0.2])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_a_frozen_pair_of_groups_keeps_the_others_from_an_exact_target(target, tolerance):
    scores, people = frozen("zeros")
    if target == "free" and tolerance:
        fair = lp.project(scores, "kind", people, target=target, tolerance=tolerance)
        assert means(fair, people).max() == pytest.approx(2 * tolerance, abs=1e-9)
        return
    with pytest.raises(lp.Infeasible, match=r"green – green: .* only be 0: .* is out of reach"):
        lp.project(scores, "kind", people, target=target, tolerance=tolerance)


def test_a_free_target_is_where_a_frozen_mean_is():
    scores, people = frozen("mixed")
    green = lp.audit(scores, "kind", people, confidence=None).cells[3].mean
    fair = lp.project(scores, "kind", people, target="free")
    assert means(fair, people) == pytest.approx(green, abs=1e-9)


@pytest.mark.parametrize(("kind", "criterion"), [("zeros", "dp"), ("mixed", "accuracy")])
def test_a_free_target_with_a_tolerance_beats_every_fixed_one(kind, criterion):
    scores, people = frozen(kind)
    options = {"criterion": criterion, "tolerance": 0.07}
    best = divergence(lp.project(scores, "kind", people, target="free", **options))

    def at(target):
        try:
            return divergence(lp.project(scores, "kind", people, target=target, **options))
        except lp.Infeasible:
            return np.inf

    low, high = 0.02, 0.98
    for _ in range(4):  # ever finer around the best
        grid = np.linspace(low, high, 7)
        found = [at(target) for target in grid]
        assert best <= min(found) + 1e-9
        place = int(np.argmin(found))
        low, high = grid[max(place - 1, 0)], grid[min(place + 1, 6)]
    assert best == pytest.approx(min(found), rel=0.05)


def test_equalized_odds_with_one_label_frozen():
    scores, people = frozen("zeros")
    scores["score"] = np.where(scores.label == 0, 0.0, scores.score)
    scores["score"] = np.where((scores.label == 1) & (scores.score == 0), 0.5, scores.score)
    fair = lp.project(
        scores, "kind", people, criterion="equalized-odds", target="free", tilt_by="labels"
    )
    found = lp.audit(fair, "kind", people, score="fair_score", confidence=None)
    assert found.eo <= 1e-9
    assert (fair.fair_score[scores.label == 0] == 0).all()


def test_equalized_odds_without_a_label():
    scores, people = frozen("mixed")
    scores["label"] = 1
    fair = lp.project(
        scores, "kind", people, criterion="equalized-odds", target="free", tilt_by="labels"
    )
    assert lp.audit(fair, "kind", people, score="fair_score", confidence=None).eo <= 1e-9
    with pytest.raises(lp.Infeasible, match=r"green – green, label 1: .* out of reach"):
        lp.project(scores, "kind", people, criterion="equalized-odds")


def test_logits_beyond_double_precision_are_kept_as_they_are():
    scores, people, _ = make_scores()
    scores = scores.drop(columns="score")
    scores["logit"] = np.where(np.arange(len(scores)) % 3, np.linspace(-3, 3, len(scores)), -1e5)
    fair = lp.project(scores, "kind", people, target=0.2, explain=True)
    far = scores.logit == -1e5
    assert (fair.fair_logit[far] == -1e5).all()
    assert (fair.tilt[far] == 0).all()
    assert (fair.fair_score[far] == 0).all()
    assert means(fair.drop(columns="logit"), people) == pytest.approx(0.2, abs=1e-9)
    scores["logit"] = -1e5
    assert lp.audit(scores, "kind", people).kl == 0


def test_a_target_out_of_reach_is_one_line(tmp_path, capfd):
    scores, people = frozen("all 0")
    file, nodes = write(scores, tmp_path / "s.csv"), write(people, tmp_path / "n.csv")
    args = ("project", file, "--nodes", nodes, "--sensitive", "kind", "--out", tmp_path / "o.csv")
    assert exit_code(*args, "--target", "0.3", "--tolerance", "0.05") == 2
    err = capfd.readouterr().err
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert "blue – blue: scores of exactly 0 or 1" in err
    assert not (tmp_path / "o.csv").exists()
