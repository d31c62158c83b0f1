"""The audit's HTML: one file, no network, everything escaped."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest
from table_cases import make_scores, write

import linkparity as lp
from linkparity.report.audit_page import audit_html
from linkparity.support.display import CONTROLS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
    "--v=0",
]
EVIL = "<script>alert(1)</script>\"'&"


@pytest.fixture
def page():
    scores, people, _ = make_scores()
    people["kind"] = people.kind.replace("red", EVIL)
    return audit_html(lp.audit(scores, "kind", people), [f"dp>{EVIL}"], [f"dp is {EVIL}"])


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parse(page):
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    return tags.seen


def test_the_page_is_whole_and_loads_nothing(page):
    seen = parse(page)
    assert not {tag for tag, _ in seen} & {"script", "img", "iframe", "object", "form", "a"}
    for _, attrs in seen:
        for name, value in attrs.items():
            assert not name.startswith("on")
            if name in ("src", "href", "action"):
                assert value == "data:,"
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_heatmap_has_every_pair_of_groups(page):
    seen = parse(page)
    squares = [
        attrs for tag, attrs in seen if tag == "rect" and attrs.get("fill", "").startswith("rgb")
    ]
    assert len(squares) == 2 * 9  # all pairs and true links, both triangles


def test_numbers_of_the_page_are_those_of_the_audit():
    scores, people, _ = make_scores()
    audit = lp.audit(scores, "kind", people)
    page = audit_html(audit, [], [])
    for name in ("dp", "eo", "rdp", "auc", "kl"):
        assert f"{audit.values[name]:.4f}" in page
    for cell in audit.cells:
        assert f"{cell.mean:.4f}" in page
        assert " – ".join(cell.groups) in page
    assert "not fair" not in page
    assert re.search(r"is parity on that measure", page)


def test_pairs_without_scores_are_hatched_and_many_groups_fit():
    scores, people, _ = make_scores(40)
    people["kind"] = [f"group {k % 20}" for k in range(40)]
    few = scores[(np.arange(len(scores)) % 3) > 0]
    page = audit_html(lp.audit(few, "kind", people), [], [])
    parse(page)
    assert "few pairs" in page
    assert "no pairs" in page


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs headless Chromium")
def test_chromium_opens_it_without_network_and_without_complaint(page, tmp_path):
    file = tmp_path / "audit.html"
    file.write_text(page, encoding="utf-8")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}"]
    shot = tmp_path / "audit.png"
    done = subprocess.run(
        [*command, "--window-size=1100,2400", f"--screenshot={shot}", file.as_uri()],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr
    assert shot.stat().st_size > 50_000
    dumped = subprocess.run(
        [*command, "--dump-dom", file.as_uri()],
        capture_output=True, text=True, check=True, timeout=120,
    ).stdout  # fmt: skip
    assert "<script" not in dumped
    assert EVIL.split('"', maxsplit=1)[0].replace("<", "&lt;").replace(">", "&gt;") in dumped


def test_the_command_writes_it(tmp_path, capfd):
    from table_cases import exit_code

    scores, people, _ = make_scores()
    file, nodes = write(scores, tmp_path / "s.csv"), write(people, tmp_path / "n.csv")
    report = tmp_path / "r.html"
    args = ("audit", file, "--nodes", nodes, "--sensitive", "kind", "--html", report)
    assert exit_code(*args, "--fail-if", "dp>0.01") == 1
    assert "Gate failed" in report.read_text()


def test_control_characters_are_left_out():
    scores, people, _ = make_scores()
    people["kind"] = people.kind.replace("red", "r\x1b[31me\x9bd\u202e")
    result = lp.audit(scores, "kind", people)
    for shown in (audit_html(result, ["dp>\x07"], ["dp\x1b"]), result._repr_html_()):
        assert not CONTROLS.search(shown)
        assert "r[31med" in shown
