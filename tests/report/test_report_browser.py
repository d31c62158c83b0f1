"""The report in headless Chromium, with the network off."""

import json
import re

import pytest
from browser import CHROMIUM, chromium
from made_up_rows import EVIL, made_up_results

from linkparity.paper.report import Report
from linkparity.report.chart_data import points
from linkparity.report.choices import ALL_SEEDS
from linkparity.report.findings import pareto_front

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs headless Chromium"),
]
RESULTS = made_up_results(datasets=("mine", f"other {EVIL}"))
READY = "document.documentElement.classList.contains('ready')"
SYMBOLS = "document.querySelectorAll('#chart-tradeoff .mark-symbol path')"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    Report(RESULTS, command="linkparity report rows.jsonl").save(folder / "report.html")
    with chromium(folder / "profile") as page:
        page.folder = folder
        yield page


@pytest.fixture
def page(browser):
    browser.size(1100)
    browser.dark(False)
    browser.complaints.clear()
    browser.open(browser.folder / "report.html", READY)
    yield browser
    assert browser.complaints == []


def choose(page, name, value):
    page.run(
        f"(() => {{const e = document.getElementById('{name}'); e.value = {json.dumps(value)};"
        "e.dispatchEvent(new Event(e.tagName == 'SELECT' ? 'change' : 'input')); })()"
    )
    settle(page)


def settle(page):
    page.run("new Promise((done) => setTimeout(done, 250))")


def centre(page, selector):
    return page.run(
        f"(() => {{const e = document.querySelector({selector!r});"
        "e.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]})()"
    )


def rows_shown(page, table="means"):
    return page.run(
        f"[...document.querySelectorAll('#{table} tbody tr')].filter(e => !e.hidden)"
        ".map(e => [...e.cells].map(c => c.textContent.trim()))"
    )


def test_every_panel_is_drawn_and_nothing_is_asked_of_the_network(page):
    assert page.run("document.querySelectorAll('.chart svg').length") == 8
    for panel in ("tradeoff", "strength", "groups", "distribution", "training", "times"):
        page.picture(page.folder / f"{panel}.png", f"#{panel}")
        assert (page.folder / f"{panel}.png").stat().st_size > 5_000
    assert page.run(f"{SYMBOLS}.length") == 10


def test_the_grey_steps_are_the_pareto_front(page):
    path = page.run("document.querySelector('#chart-tradeoff .mark-line path').getAttribute('d')")
    corners = len(re.findall("[ML]", path))
    own = [
        e for e in points(RESULTS.summaries()) if (e["dataset"], e["seed"]) == ("mine", ALL_SEEDS)
    ]
    front = pareto_front([(e["dp"], e["auc"]) for e in own])
    assert corners == 1 + 2 * (len(front) - 1)


def test_hovering_shows_the_numbers_of_a_method(page):
    x, y = centre(page, "#chart-tradeoff .mark-symbol path")
    page.mouse(x, y)
    page.wait("document.querySelector('#vg-tooltip-element.visible')")
    said = page.run("document.querySelector('#vg-tooltip-element').innerText")
    assert "method" in said
    assert re.search(r"dp\s+0\.\d{4}", said)


def test_clicking_a_method_follows_it_through_all_panels(page):
    x, y = centre(page, "#chart-times .mark-rect path")
    page.mouse(x, y, click=True)
    settle(page)
    followed = page.run("document.querySelector('.method[aria-pressed=true]').dataset.method")
    assert f"Following {followed}: auc 0." in page.run("document.getElementById('said').innerText")
    faint = page.run(f"[...{SYMBOLS}].filter(e => +e.getAttribute('opacity') < 0.5).length")
    assert faint == 9
    assert page.run("document.querySelectorAll('#means tr.followed').length") == 1
    title = page.run("document.querySelector('#chart-groups-after .role-title').textContent")
    assert title == f"after: {followed}"
    page.press("Escape")
    settle(page)
    assert page.run(f"[...{SYMBOLS}].filter(e => +e.getAttribute('opacity') < 0.5).length") == 0


def test_the_filter_changes_figures_and_tables(page):
    choose(page, "filter", "cne dp")
    assert page.run(f"{SYMBOLS}.length") == 2
    assert page.run("document.querySelectorAll('#chart-times .mark-rect path').length") == 2
    assert [row[1] for row in rows_shown(page)] == ["cne + dp, gamma 10", "cne + dp, gamma 100"]
    choose(page, "filter", "")
    assert page.run(f"{SYMBOLS}.length") == 10


def test_measures_seeds_and_data_can_be_chosen(page):
    def title():
        return page.run("document.querySelector('#chart-tradeoff .role-title').textContent")

    def places():
        return page.run(f"[...{SYMBOLS}].map(e => e.getAttribute('transform')).join()")

    before = places()
    assert "dp, gap between group pairs" in title()
    choose(page, "gap", "eo")
    assert "eo, gap among true links" in title()
    eo = places()
    assert eo != before
    choose(page, "seed", "2")
    assert places() != eo
    choose(page, "dataset", f"other {EVIL}")
    assert {row[0] for row in rows_shown(page)} == {f"other {EVIL}"}
    assert page.run("document.querySelectorAll('main script').length") == 0


def test_the_table_sorts_by_any_column(page):
    def column(place):
        return [float(row[place].split()[0]) for row in rows_shown(page)]

    head = page.run("[...document.querySelectorAll('#means th')].map(e => e.textContent.trim())")
    place = head.index("dp")
    before = column(place)
    assert before != sorted(before)
    press = f"document.querySelectorAll('#means th button')[{place}].click()"
    page.run(press)
    assert column(place) == sorted(before)
    page.run(press)
    assert column(place) == sorted(before, reverse=True)
    sorts = page.run("[...document.querySelectorAll('#means th')].map(e => e.ariaSort)")
    assert [each for each in sorts if each] == ["descending"]


def test_the_downloads_hold_the_rows(page):
    for kind in ("json", "csv"):
        text = download(page, f"rows.{kind}")
        if kind == "json":
            assert json.loads(text) == [row.to_dict() for row in RESULTS]
        else:
            assert len(text.splitlines()) == 1 + len(RESULTS)


def download(page, name):
    """Click a download, and read the file that arrives."""
    folder = page.folder / "downloads"
    folder.mkdir(exist_ok=True)
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    page.run(f"document.querySelector('a[download=\"{name}\"]').click()")
    for _ in range(200):
        if (folder / name).exists():
            break
        page.run("new Promise((done) => setTimeout(done, 50))")
    return (folder / name).read_text()


def test_nothing_runs_over_at_360_pixels_nor_on_paper(page):
    for change, width in ((lambda: None, 360), (page.dark, 360), (page.printed, 720)):
        page.size(width, 740)
        change()
        settle(page)
        assert page.run("document.documentElement.scrollWidth") <= width
        over = page.run(
            "[...document.querySelectorAll('main *')].filter(e =>"
            " !e.closest('.wide, svg, .legend') && e.getBoundingClientRect().right > innerWidth + 1"
            ").map(e => e.outerHTML.slice(0, 80))"
        )
        assert over == []


def test_text_is_readable_in_light_and_dark(page):
    for dark in (False, True):
        page.dark(dark)
        for selector in ("body", "figcaption", ".method", "th", "dt", "a"):
            ratio = page.run(CONTRAST % selector)
            assert ratio >= 4.5, (dark, selector, ratio)
        fill = page.run(
            "getComputedStyle(document.querySelector('#chart-times .role-axis-label text')).fill"
        )
        assert fill == page.run(
            "(() => {const e = document.createElement('i'); e.style.color = 'var(--dim)';"
            "document.body.append(e); return getComputedStyle(e).color})()"
        )


CONTRAST = """(() => {
  const light = (rgb) => {
    const [r, g, b] = rgb.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let behind = document.querySelector('%s');
  const ink = getComputedStyle(behind).color;
  while (behind && /rgba\\(0, 0, 0, 0\\)/.test(getComputedStyle(behind).backgroundColor))
    behind = behind.parentElement;
  const [a, b] = [light(ink), light(getComputedStyle(behind).backgroundColor)].sort();
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
})()"""


def test_everything_can_be_reached_by_keyboard(page):
    page.run("document.querySelector('.method').focus()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", text="\r",
              windowsVirtualKeyCode=13)  # fmt: skip
    settle(page)
    assert page.run("document.activeElement.getAttribute('aria-pressed')") == "true"
    unreachable = page.run(
        "[...document.querySelectorAll('select, button, input, a, .wide, summary')]"
        ".filter(e => e.tabIndex < 0).length"
    )
    assert unreachable == 0
    unnamed = page.run(
        "[...document.querySelectorAll('select, input')].filter(e => !e.labels.length).length"
    )
    assert unnamed == 0
