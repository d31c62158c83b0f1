"""The report: one file, no network, everything escaped, readable without a script."""

import base64
import csv
import gzip
import hashlib
import io
import json
import os
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from made_up_rows import EVIL, made_up_results, write_rows

import linkparity as lp
from linkparity.cli.command import main
from linkparity.experiments.results import Results
from linkparity.experiments.rows import Row
from linkparity.paper.report import Report
from linkparity.report.inlined_assets import library
from linkparity.report.report_page import FORMATS, MAX_DOWNLOAD
from linkparity.support.display import CONTROLS, without_controls
from linkparity.support.errors import InputError

RESULTS = made_up_results()
NO_CLOSING = ("meta", "link", "input", "br", "hr", "img")


@pytest.fixture(scope="module")
def page():
    failed = replace(RESULTS[0], seed=9, error=f"Diverged: {EVIL}", id="failed")
    return Report(Results((*RESULTS, failed)), command=f"linkparity report {EVIL}").to_html()


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.open, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in NO_CLOSING:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" not in self.open and "style" not in self.open:
            self.text.append(data)


def parse(page):
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    return tags


def packed(page, name):
    found = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', page)
    return gzip.decompress(base64.b64decode(found[1])).decode()


def test_nothing_is_loaded_from_anywhere(page):
    tags = parse(page)
    assert not {tag for tag, _ in tags.seen} & {"img", "iframe", "object", "embed", "base"}
    for _, attrs in tags.seen:
        for name, value in attrs.items():
            assert not name.startswith("on")
            if name in ("src", "href", "action", "xlink:href"):
                assert value == "data:," or value.startswith("#")
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?\s*(?:https?:)?//", page)
    assert not re.search(r"url\(\s*[\"']?\s*(?:https?:)?//", page)
    assert len(page.encode()) < 3_000_000


def test_only_the_two_scripts_of_the_page_may_run(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    allowed = re.findall(r"'sha256-([^']+)'", policy.replace("&#39;", "'"))
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert allowed == hashes
    assert len(scripts) == 2


def test_labels_stay_text(page):
    assert EVIL not in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    text = "".join(parse(page).text)
    assert f"Diverged: {EVIL}" in text
    assert f"linkparity report {EVIL}" in text


def test_without_a_script_the_text_and_the_figures_are_there(page):
    tags = parse(page)
    text = " ".join("".join(tags.text).split())
    for said in (
        "What was found", "has the largest gap", "Not beaten on dp and auc", "Up is more accurate",
        "Limits", "What was asked", "linkparity 0.1.0", "it is not a finding that a system is fair",
        "polbooks", "Failed fits",
    ):  # fmt: skip
        assert said in text
    charts = [a for tag, a in tags.seen if tag == "div" and a.get("class") == "chart"]
    assert len(charts) == 8
    assert all(a["role"] == "img" and len(a["aria-label"]) > 20 for a in charts)
    assert len([tag for tag, _ in tags.seen if tag == "svg"]) == 8
    for row in RESULTS:
        assert f"{row.auc:.4f}" in page


def test_every_figure_has_one_line_on_how_to_read_it(page):
    for figure in re.findall(r"<figure>.*?</figure>", page, re.DOTALL):
        assert len(re.findall(r"<figcaption>[^<]{60,}", figure)) == 1


def test_downloads_hold_the_rows(page):
    rows = json.loads(packed(page, "rows-json"))
    assert rows[: len(RESULTS)] == [row.to_dict() for row in RESULTS]
    table = list(csv.DictReader(io.StringIO(packed(page, "rows-csv"))))
    assert [float(row["auc"]) for row in table[: len(RESULTS)]] == [row.auc for row in RESULTS]
    assert table[-1]["error"] == f"Diverged: {EVIL}"


def test_old_rows_give_a_page_without_those_panels():
    page = Report(made_up_results(seeds=1, bare=True, gammas=(5.0,))).to_html()
    parse(page)
    assert page.count("<figure>") == 2
    for name in ("strength", "groups", "distribution", "training"):
        assert f"Not shown: {name};" in page


def test_rows_with_few_measures_have_a_page_too():
    rows = made_up_results(seeds=1, bare=True, datasets=("mine",))
    for row in rows:
        for name in ("auc", "dp"):
            row.values[name] = float("nan")
    report = Report(Results(tuple(replace(row, dataset=None) for row in rows)))
    parse(report.to_html())
    assert report.choices.datasets == ["own files"]
    assert "tradeoff" not in report.charts


def test_many_rows_stay_small(monkeypatch):
    from linkparity.report import report_page

    monkeypatch.setattr(report_page, "MAX_DOWNLOAD", 15_000)
    rows = made_up_results(seeds=4)
    found = Report(rows)._downloads()
    assert found["left_out"][:2] == ["quantiles", "history"]
    assert len(found["json"]) + len(found["csv"]) <= 15_000
    assert MAX_DOWNLOAD < 1_500_000


def exit_code(*args):
    with pytest.raises(SystemExit) as done:
        main([str(arg) for arg in args])
    return done.value.code or 0


@pytest.mark.slow
def test_the_command_writes_page_and_figures(tmp_path, capfd):
    rows = write_rows(made_up_results(seeds=1, datasets=("mine",)), tmp_path / "rows.jsonl")
    out, figures = tmp_path / "report.html", tmp_path / "new" / "figures"
    args = ("report", rows, "--out", out)
    assert exit_code(*args, "--figures", figures, "--json") == 0
    told = json.loads(capfd.readouterr().out)
    assert told["rows"] == 10
    assert "has the largest gap: dp 0." in told["findings"]["mine"][0]
    assert sorted(map(str, figures.iterdir())) == sorted(told["figures"])
    assert len(told["figures"]) == 8 * len(FORMATS)
    begins = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}
    for file in figures.iterdir():
        assert file.read_bytes().startswith(begins[file.suffix[1:]])
    assert f"linkparity report {rows} --out {out}" in out.read_text()
    assert exit_code(*args) == 2
    assert "exists already" in capfd.readouterr().err
    assert exit_code(*args, "--against", "papers") == 2
    assert "did you mean 'paper'?" in capfd.readouterr().err
    assert exit_code(*args, "--against", "paper", "--force") == 0
    assert "has the largest gap: dp 0." in capfd.readouterr().out


def test_rows_of_two_files_count_once(tmp_path):
    from linkparity.report.report_page import make_report

    results = made_up_results(seeds=1, datasets=("mine",), bare=True)
    failed = Results((replace(results[0], error="Diverged: x"), *results[1:4]))
    files = [write_rows(failed, tmp_path / "a"), write_rows(results, tmp_path / "b")]
    report, _ = make_report(Report, list(map(str, files)), str(tmp_path / "r.html"))
    assert list(report.results) == list(results)


def test_without_the_extra_it_is_one_line(tmp_path, capfd, monkeypatch):
    rows = write_rows(made_up_results(seeds=1), tmp_path / "rows.jsonl")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert exit_code("report", rows, "--out", tmp_path / "r.html") == 2
    said = 'Error: report needs vl_convert: pip install "linkparity[report]"\n'
    assert capfd.readouterr().err == said


def test_files_without_a_finished_row_are_one_line(tmp_path, capfd):
    row = replace(RESULTS[0], error="Diverged: x")
    rows = write_rows(Results((row,)), tmp_path / "rows.jsonl")
    assert exit_code("report", rows, "--out", tmp_path / "r.html") == 2
    assert "there are no finished rows; the first failed: Diverged: x" in capfd.readouterr().err
    with pytest.raises(InputError, match="unknown comparison 'x'; known: paper"):
        lp.Report(RESULTS, against="x")
    assert not (tmp_path / "r.html").exists()


def with_group(name, results):
    """The results with another name of the group EVIL."""
    old, new = json.dumps(EVIL)[1:-1], json.dumps(name)[1:-1]
    texts = (json.dumps(row.to_dict()).replace(old, new) for row in results)
    return Results(tuple(Row.from_dict(json.loads(text)) for text in texts))


@pytest.mark.parametrize("name", ["a\x1b]0;t\x07", "a\x00b", "a\ufffe", "a\x9b31m\u202eb"])
def test_names_with_control_characters_are_shown_without_them(name, tmp_path):
    results = with_group(name, made_up_results(seeds=1, gammas=(10.0,), datasets=(name,)))
    report = Report(results, command=f"linkparity report {name}")
    page = report.to_html()
    shown = page.replace(library(), "")
    assert not CONTROLS.search(shown)
    assert without_controls(name) in shown
    assert json.loads(packed(page, "rows-json"))[0]["dataset"] == name
    files = report.save_figures(tmp_path / "figures")
    drawn = [file for file in files if file.endswith(".svg")]
    assert drawn
    assert not any(CONTROLS.search(Path(file).read_text()) for file in drawn)


def test_a_file_name_that_is_not_utf8(tmp_path):
    rows = write_rows(made_up_results(seeds=1, bare=True), tmp_path / os.fsdecode(b"r\xff"))
    assert exit_code("report", rows, "--out", tmp_path / "r.html") == 0
    assert "r\\udcff" in (tmp_path / "r.html").read_text()


def test_figures_replace_neither_rows_nor_the_page(tmp_path, capfd):
    rows = write_rows(made_up_results(seeds=1, bare=True), tmp_path / "times.svg")
    text, page = rows.read_text(), tmp_path / "r.html"
    assert exit_code("report", rows, "--out", page, "--figures", tmp_path, "--force") == 2
    assert "times.svg: is also read as an input" in capfd.readouterr().err
    for out in (page, tmp_path / "new" / "times.png"):
        out.parent.mkdir(exist_ok=True)
        figures = out if out == page else out.parent
        assert exit_code("report", rows, "--out", out, "--figures", figures, "--force") == 2
        assert "the figures would go to the same place" in capfd.readouterr().err
    assert rows.read_text() == text
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["new", "times.svg"]
