"""What audit and project return in Python: values, tables to print, HTML, files of tilts."""

import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit, rel_entr
from table_cases import exit_code, make_scores, write

import linkparity as lp
from linkparity.metrics.printing import cells_grid
from linkparity.metrics.tables.audit_table import GroupExposure
from linkparity.report.audit_page import audit_html
from linkparity.support.display import format_number

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def case():
    scores, people, _ = make_scores()
    return scores, people


def test_the_report_is_that_of_the_command(case, tmp_path, capfd):
    scores, people = case
    fair, report = lp.project(scores, "kind", people, report=True)
    pd.testing.assert_frame_equal(fair, lp.project(scores, "kind", people))
    file, nodes = write(scores, tmp_path / "s.csv"), write(people, tmp_path / "n.csv")
    args = ("--nodes", nodes, "--sensitive", "kind", "--out", tmp_path / "o.csv", "--json")
    assert exit_code("project", file, *args) == 0
    said = json.loads(capfd.readouterr().out)
    for name, value in report.to_dict().items():
        if isinstance(value, float | dict) and name != "intervals":
            assert said[name] == pytest.approx(value, abs=1e-9), name
    for when, found in report.intervals.items():
        for name, ends in found.items():
            assert said["intervals"][when][name] == pytest.approx(ends, abs=1e-9)
    assert [cell["groups"] for cell in said["tilts"]] == [list(c.groups) for c in report.tilts]


def test_the_report_agrees_with_the_rows(case):
    scores, people = case
    fair, report = lp.project(scores, "kind", people, criterion="weak-dp", report=True)
    p, h = fair.fair_score.to_numpy(), scores.score.to_numpy()
    divergence = rel_entr(p, h) + rel_entr(1 - p, 1 - h)
    assert report.kl == pytest.approx(divergence.mean(), abs=1e-9)
    before, after = (lp.audit(fair, "kind", people, score=name) for name in ("score", "fair_score"))
    for found, audit in ((report.before, before), (report.after, after)):
        for name in ("auc", "dp", "eo", "rdp"):
            assert found[name] == pytest.approx(audit.values[name], abs=1e-9)
        assert found["weak-dp"] == pytest.approx(audit.views["mixed"]["dp"].value, abs=1e-9)
    assert report.after["weak-dp"] < 1e-9 < report.before["weak-dp"]
    kind = people.set_index("node").kind
    same = kind[scores.source].to_numpy() == kind[scores.target].to_numpy()
    tilts = {cell.groups: cell.tilt for cell in report.tilts}
    added = np.where(same, tilts[("within",)], tilts[("between",)])
    assert p == pytest.approx(expit(logit(h) + added), abs=1e-12)


class Texts(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_results_print_as_tables_and_as_html(case):
    scores, people = case
    people = people.assign(kind=people.kind.replace("red", EVIL))
    audit = lp.audit(scores, "kind", people)
    _, report = lp.project(scores, "kind", people, report=True)
    groups = ("blue", "green", EVIL)
    cells = [f"{cell.mean:.4f}" for cell in audit.cells]
    gaps = [f"{found['dp'].value:.4f}" for found in audit.views.values()]
    places = [f"{part.slot_share:.4f}" for part in audit.exposure]
    tilts = [f"{cell.tilt:+.6f}" for cell in report.tilts]
    changes = [f"{report.before[name]:.4f}" for name in ("auc", "dp", "weak-dp", "eo", "rdp")]
    for shown, values in ((audit, [*cells, *gaps, *places]), (report, [*tilts, *changes])):
        page = Texts()
        page.feed(shown._repr_html_())
        assert "table" in page.tags
        assert "script" not in page.tags
        for text in (str(shown), "".join(page.texts)):
            for value in (*values, *groups):
                assert value in text
    assert repr(audit).startswith("Audit(auc=")


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_small_numbers_are_not_shown_as_0(case):
    scores, people = case
    audit = lp.audit(scores.assign(score=scores.score * 1e-5), "kind", people)
    part = GroupExposure("red", 1_000_000, 0.5, 20.0, 2e-5)
    audit = replace(audit, exposure=(part, *audit.exposure))
    assert 0 < audit.dp < 5e-5
    page = audit_html(audit, [], [])
    for text in (str(audit), page):
        assert format_number(audit.dp) in text
        assert "4e-05" in text  # the ratio
        assert not re.search(r"0\.0000(?! …| to )", text)  # but ends of intervals
    assert "2.0e-05" in str(audit)
    assert "0.002%" in page


def test_tilts_replace_no_file_unless_forced(case, tmp_path, monkeypatch):
    scores, people = case
    monkeypatch.chdir(tmp_path)
    lp.project(scores, "kind", people, save_tilts="t.json")
    first = (tmp_path / "t.json").read_text()
    with pytest.raises(ValueError, match=r"t.json: exists already; .* with force=True"):
        lp.project(scores, "kind", people, save_tilts="t.json", criterion="eo")
    assert (tmp_path / "t.json").read_text() == first
    lp.project(scores, "kind", people, save_tilts="t.json", criterion="eo", force=True)
    assert json.loads((tmp_path / "t.json").read_text())["criterion"] == "eo"
    with pytest.raises(ValueError, match=r"t.json: is .*read"):
        lp.project(scores, "kind", people, apply="t.json", save_tilts="./t.json", force=True)
    assert os.listdir() == ["t.json"]


def test_tilts_are_written_through_a_device(case):
    scores, people = case
    before = os.stat("/dev/null")
    lp.project(scores, "kind", people, save_tilts="/dev/null")
    assert os.stat("/dev/null") == before


def test_where_one_side_has_groups_a_cell_is_a_group(tmp_path, capfd):
    scores, people = lp.example("jobs")
    scores, people = (table.to_pandas() for table in (scores, people))
    scores = scores[scores.target < "v040"].rename(columns={"label": "applied"})
    audit = lp.audit(scores, "gender", people, bipartite=True)
    assert set(audit.views) == set(audit.to_dict()["views"]) == {"subgroup", "mixed", "group"}
    said = str(audit)
    page = audit_html(audit, [], [])
    for text in (said, page):
        assert "within a group" not in text
        assert "auc, eo: no labels were given." in text
        assert "name their column with label (--label); other columns: applied." in text
    assert not re.search("pairs? of groups|group pair|three views", said + page)
    _, report = lp.project(scores, "gender", people, bipartite=True, report=True)
    assert report.to_dict()["before"]["weak-dp"] is None
    assert not re.search("pairs? of groups|weak-dp", str(report))
    assert "Within a group the order of the scores is kept." in report.notes


def test_scales_of_means_begin_at_zero(case):
    scores, people = case
    scores = scores.assign(score=0.8 + scores.score / 10)
    grid = cells_grid(lp.audit(scores, "kind", people))
    assert [name.partition(" to ")[0] for name in grid.drawn] == ["0", "0"]
    assert all(line.startswith("       ") for row in grid.rows for line in (row[3], row[6]))


def test_a_page_of_two_tables_names_both(case):
    scores, people = case
    page = audit_html(lp.audit(scores, "kind", people, compare=scores), [], [])
    assert re.search("<title>Audit of .+ by kind, compared with .+</title>", page)


def test_tables_take_the_names_of_the_literature(case, tmp_path, capfd):
    scores, people = case
    assert lp.audit(scores, "kind", people, criterion="equal-opportunity").criterion == "eo"
    fair, report = lp.project(scores, "kind", people, criterion="demographic-parity", report=True)
    assert report.criterion == "dp"
    tilts = tmp_path / "t.json"
    lp.project(scores, "kind", people, save_tilts=tilts)
    again = lp.project(scores, "kind", people, criterion="demographic-parity", apply=tilts)
    pd.testing.assert_frame_equal(again, fair)
    file, nodes = write(scores, tmp_path / "s.csv"), write(people, tmp_path / "n.csv")
    args = ("--nodes", nodes, "--sensitive", "kind", "--criterion", "demographic-parity", "--json")
    assert exit_code("audit", file, *args, "--fail-if", "dp>0.9,group.eo>0.9") == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["criterion"] == "dp"
    assert json.loads(out)["failed"] == []
    assert "Gate passed: none of dp>0.9, group.eo>0.9 holds.\n" in err
