"""``project`` with one tilt per pair of groups: gaps on links, order, rows without a label."""

import json

import numpy as np
import pandas as pd
import pytest
from oracles import constraints_of, primal, shared_tilts
from scipy.special import expit, logit
from table_cases import exit_code, make_scores, read, write

import linkparity as lp

LABELLED = ["eo", "equalized-odds", "accuracy"]


@pytest.fixture(scope="module")
def case():
    return make_scores(nodes=40)


def codes(groups):
    """A number per unordered pair of groups."""
    return groups.min(axis=1) * 10 + groups.max(axis=1)


def distance(logits, groups, criterion, labels, targets, tilt):
    """Root of the sum of squared distances of one pair of groups' means from the targets."""
    p = expit(logits + tilt)
    means = [
        np.mean([p[k] if sign else 1 - p[k] for k, sign in members]) - targets[key]
        for key, members in constraints_of(groups, criterion, labels)
    ]
    return np.sqrt(np.sum(np.square(means))), np.abs(means).max()


@pytest.mark.parametrize("target", ["model", "free", 0.4])
def test_gap_on_links_is_closed_and_every_pair_is_tilted(case, target):
    scores, people, groups = case
    asked = {"criterion": "eo", "target": target, "explain": True, "report": True}
    fair, report = lp.project(scores, "kind", people, **asked)
    code, links = codes(groups), scores.label.to_numpy() == 1
    means = [fair.fair_score[links & (code == c)].mean() for c in np.unique(code)]
    assert max(means) - min(means) <= 1e-6
    assert report.after["eo"] <= 1e-6
    assert report.residual <= 1e-6
    labelwise = lp.i_project(
        logit(scores.score.to_numpy()), groups, "eo", scores.label.to_numpy(copy=True),
        target=target,
    )  # fmt: skip
    for c in np.unique(code):
        tilts = fair.tilt[code == c]
        assert np.ptp(tilts) == 0
        wanted = labelwise.tilt[labelwise.cell[np.flatnonzero(links & (code == c))[0]]]
        assert tilts.iloc[0] == pytest.approx(float(wanted), abs=1e-8)
    assert report.kl == pytest.approx(float(labelwise.kl) / links.sum(), rel=1e-8)
    x, z = logit(scores.score), logit(scores.score) + fair.tilt
    each = expit(z) * (np.logaddexp(0, -x) - np.logaddexp(0, -z))
    each += expit(-z) * (np.logaddexp(0, x) - np.logaddexp(0, z))
    assert report.kl_applied == pytest.approx(each.mean(), rel=1e-9)
    assert report.tilt_by == "groups"


@pytest.mark.parametrize("criterion", LABELLED)
def test_order_within_a_pair_of_groups_is_kept_and_scores_are_predictions(case, criterion):
    scores, people, groups = case
    fair, report = lp.project(scores, "kind", people, criterion=criterion, report=True)
    code = codes(groups)
    for c in np.unique(code):
        order = np.argsort(scores.score[code == c].to_numpy(), kind="stable")
        assert (np.diff(fair.fair_score[code == c].to_numpy()[order]) > 0).all()
    audit = lp.audit(fair, "kind", people, score="fair_score")
    assert report.after["auc"] == pytest.approx(audit.auc, abs=1e-12)
    assert "order of the scores is kept" in report.notes[0]
    assert not any("cannot be used" in note for note in report.notes)


@pytest.mark.parametrize("tolerance", [0.0, 0.02])
@pytest.mark.parametrize("criterion", ["equalized-odds", "accuracy"])
def test_no_other_tilt_comes_nearer_to_the_targets(case, criterion, tolerance):
    scores, people, groups = case
    asked = {"criterion": criterion, "tolerance": tolerance, "explain": True, "report": True}
    fair, report = lp.project(scores, "kind", people, **asked)
    targets = report.target if criterion == "equalized-odds" else {None: report.target}
    code, x = codes(groups), logit(scores.score.to_numpy())
    worst = 0.0
    for c in np.unique(code):
        mine = code == c
        given = (x[mine], groups[mine], criterion, scores.label.to_numpy()[mine], targets)
        tilt = fair.tilt[mine].iloc[0]
        here, largest = distance(*given, tilt)
        worst = max(worst, largest)
        if not tolerance:
            others = [distance(*given, t)[0] for t in np.linspace(-4, 4, 161)]
            assert here <= min(others) + 2e-4
    assert report.residual == pytest.approx(worst, abs=1e-9)
    said = any("does not meet every target exactly" in note for note in report.notes)
    assert said == (report.residual > tolerance + 1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", ["equalized-odds", "accuracy"])
def test_tilts_are_those_of_an_independent_solver(criterion, seed):
    scores, people, groups = make_scores(nodes=14, seed=seed)
    rng = np.random.default_rng(seed)
    scores["weight"] = rng.choice([0.5, 1.0, 4.0], len(scores))
    scores["score"] = expit(2 * logit(scores.score) + rng.normal(0, 1, 6)[codes(groups) % 6])
    x, label = logit(scores.score.to_numpy()), scores.label.to_numpy()
    weight = scores.weight.to_numpy()
    asked = {"criterion": criterion, "weight": "weight", "explain": True}
    fair = lp.project(scores, "kind", people, **asked)
    wanted = shared_tilts(x, groups, criterion, label, weight)
    by_code = {10 * a + b: tilt for (a, b), tilt in wanted.items()}
    far = np.abs(fair.tilt - [by_code[code] for code in codes(groups)]).max()
    assert far <= 1e-5
    assert len(wanted) == 6
    labelwise = lp.project(scores, "kind", people, tilt_by="labels", **asked)
    _, p = primal(x, constraints_of(groups, criterion, label), weight, "model")
    off = np.abs(labelwise.fair_score - p).max()
    assert off <= 1e-5
    print(f"{criterion}, seed {seed}: tilts to {far:.0e}, scores by label to {off:.0e}")  # -rP


@pytest.mark.parametrize("criterion", [*LABELLED, "dp"])
def test_rows_without_a_label_are_tilted_and_have_no_part_in_the_fit(case, criterion, tmp_path):
    scores, people, groups = case
    rng = np.random.default_rng(1)
    hidden = rng.random(len(scores)) < 0.4
    hidden |= codes(groups) == 22  # one pair of groups has no label at all
    partly = scores.assign(label=scores.label.astype("Int64").mask(hidden))
    options = {"criterion": criterion, "explain": True, "report": True}
    fair, report = lp.project(partly, "kind", people, **options)
    known, _ = lp.project(scores[~hidden], "kind", people, **options)
    assert fair.label.isna().to_numpy().tolist() == hidden.tolist()
    if criterion != "dp":
        assert np.abs(fair.tilt[~hidden] - known.tilt).max() < 1e-9
        assert (fair.tilt[codes(groups) == 22] == 0).all()
        assert any("not tilted: red – red" in note for note in report.notes)
    for c in np.unique(codes(groups)):
        assert np.ptp(fair.tilt[codes(groups) == c]) == 0
    file, nodes = write(partly, tmp_path / "s.csv"), write(people, tmp_path / "p.csv")
    out = tmp_path / "f.csv"
    args = ("project", file, "--nodes", nodes, "--sensitive", "kind", "--explain")
    assert exit_code(*args, "--out", out, "--criterion", criterion) == 0
    assert np.abs(read(out).tilt - fair.tilt.to_numpy()).max() < 1e-9


def test_a_missing_label_is_an_error_where_labels_decide(case, tmp_path, capfd):
    scores, people, _ = case
    partly = scores.assign(label=scores.label.astype("Int64").mask(scores.index == 3))
    for call in (
        lambda: lp.project(partly, "kind", people, criterion="eo", tilt_by="labels"),
        lambda: lp.audit(partly, "kind", people),
    ):
        with pytest.raises(ValueError, match="row 4, column 'label': the label is missing"):
            call()
    with pytest.raises(ValueError, match="target 'data' needs a label in every row"):
        lp.project(partly, "kind", people, target="data")
    wrong = scores.assign(label=scores.label.where(scores.index != 3, 2))
    with pytest.raises(ValueError, match="row 4, column 'label': holds 2, which is not 0 or 1"):
        lp.project(wrong, "kind", people, criterion="eo")


@pytest.mark.parametrize("criterion", LABELLED)
def test_saved_tilts_apply_to_a_table_without_labels(case, criterion, tmp_path, capfd):
    scores, people, _ = case
    file, nodes = write(scores, tmp_path / "s.csv"), write(people, tmp_path / "p.csv")
    later = write(scores.drop(columns="label"), tmp_path / "later.csv")
    tilts = tmp_path / "t.json"
    common = ("--nodes", nodes, "--sensitive", "kind", "--json", "--explain")
    first = ("project", file, *common, "--out", tmp_path / "a.csv", "--save-tilts", tilts)
    assert exit_code(*first, "--criterion", criterion) == 0
    fitted = json.loads(capfd.readouterr().out)
    second = ("project", later, *common, "--out", tmp_path / "b.csv", "--apply", tilts)
    assert exit_code(*second) == 0
    applied = json.loads(capfd.readouterr().out)
    assert (read(tmp_path / "a.csv").tilt == read(tmp_path / "b.csv").tilt).all()
    assert applied["kl"] is None
    assert applied["kl_applied"] == pytest.approx(fitted["kl_applied"], rel=1e-9)
    assert applied["tilts"] == fitted["tilts"]
    assert all("label" not in cell for cell in fitted["tilts"])
    _, report = lp.project(scores, "kind", people, apply=tilts, report=True)
    assert report.after == pytest.approx(fitted["after"], rel=1e-9)
    if criterion == "eo":
        assert report.kl == pytest.approx(fitted["kl"], rel=1e-8)
    with pytest.raises(ValueError, match=r"t.json: holds tilts by groups, not by labels; leave"):
        lp.project(scores, "kind", people, apply=tilts, tilt_by="labels")


@pytest.mark.parametrize("criterion", LABELLED)
def test_an_old_file_of_tilts_stays_label_wise(case, criterion, tmp_path):
    scores, people, _ = case
    tilts = tmp_path / "t.json"
    labels = {"criterion": criterion, "tilt_by": "labels"}
    fair, report = lp.project(
        scores, "kind", people, save_tilts=tilts, report=True, explain=True, **labels
    )
    assert report.kl_applied == report.kl
    old = json.loads(tilts.read_text())
    assert old.pop("tilt_by") == "labels"
    tilts.write_text(json.dumps(old | {"format": "linkparity tilts 1"}))
    again = lp.project(scores, "kind", people, apply=tilts, explain=True)
    assert (again.tilt == fair.tilt).all()
    with pytest.raises(ValueError, match="needs a column 'label'"):
        lp.project(scores.drop(columns="label"), "kind", people, apply=tilts)


@pytest.mark.parametrize("criterion", LABELLED)
def test_scores_of_0_and_1_stay_and_count(criterion):
    scores, people, groups = make_scores(nodes=40, extreme=True)
    asked = {"criterion": criterion, "explain": True, "report": True}
    fair, report = lp.project(scores, "kind", people, **asked)
    edge = scores.score.isin([0.0, 1.0])
    assert (fair.fair_score[edge] == scores.score[edge]).all()
    assert (fair.tilt[edge] == 0).all()
    code, links = codes(groups), scores.label.to_numpy() == 1
    if criterion == "eo":
        means = [fair.fair_score[links & (code == c)].mean() for c in np.unique(code)]
        assert max(means) - min(means) <= 1e-6
    for c in np.unique(code):
        assert np.ptp(fair.tilt[(code == c) & ~edge]) == 0
    targets = report.target if criterion == "equalized-odds" else {None: report.target}
    p = fair.fair_score.to_numpy()
    rows = [
        np.abs(np.mean([p[k] if s else 1 - p[k] for k, s in m]) - targets[key])
        for key, m in constraints_of(groups, criterion, scores.label.to_numpy())
    ]
    assert report.residual == pytest.approx(max(rows), abs=1e-9)


def test_directed_pairs_one_sided_groups_and_crossed_attributes():
    scores, people, _ = make_scores(nodes=40)
    people = people.assign(age=np.where(np.arange(40) % 3, "old", "young"))
    for options in ({"directed": True}, {"sensitive": ["kind", "age"]}):
        given = {"sensitive": "kind", **options}
        _, report = lp.project(scores, nodes=people, criterion="eo", report=True, **given)
        assert report.residual <= 1e-6
    one = scores.merge(people, left_on="source", right_on="node").rename(
        columns={"kind": "source_kind"}
    )
    fair, report = lp.project(one, "kind", criterion="eo", report=True, bipartite=True)
    linked = fair[fair.label == 1]
    assert np.ptp(linked.groupby("source_kind").fair_score.mean()) <= 1e-6
    assert report.residual <= 1e-6


def test_a_wrong_tilt_by_and_a_damaged_file_are_one_line(case, tmp_path):
    scores, people, _ = case
    with pytest.raises(ValueError, match="tilt_by must be 'groups' or 'labels', got 'nodes'"):
        lp.project(scores, "kind", people, tilt_by="nodes")
    tilts = tmp_path / "t.json"
    lp.project(scores, "kind", people, criterion="eo", save_tilts=tilts)
    saved = json.loads(tilts.read_text())
    assert saved["tilt_by"] == "groups"
    tilts.write_text(json.dumps(saved | {"tilt_by": "nodes"}))
    with pytest.raises(ValueError, match=r"t.json: key 'tilt_by' cannot hold 'nodes'; make"):
        lp.project(scores, "kind", people, apply=tilts)
    assert isinstance(lp.project(scores, "kind", people, criterion="weak-dp"), pd.DataFrame)
