"""The pages of docs: their first screens, their links, and the names in them."""

import re
from pathlib import Path

import pytest
from names import faults, members
from prose import (
    CODE,
    FENCE,
    LINK,
    anchors,
    blocks,
    cell_sentences,
    first_screen,
    is_prose,
    sentences,
    words,
)

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
LONGEST = 30
COMMAND = re.compile(r"(\$ )?(linkparity|make|python) ")


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_first_screen_is_short_sentences_and_no_table_comes_first(page):
    text = page.read_text()
    said = [*sentences(first_screen(text)), *cell_sentences(first_screen(text))]
    long = [each for each in said if words(each) > LONGEST]
    assert not long
    title, second, *_ = blocks(text)
    assert title.startswith("# ")
    assert is_prose(second) or second.startswith("![")


def test_the_index_asks_a_question_for_every_page():
    text = (ROOT / "docs" / "index.md").read_text()
    listed = {target.partition("#")[0]: question for question, target in LINK.findall(text)}
    assert {name(page).removeprefix("docs/") for page in PAGES} - {"index.md"} <= set(listed)
    assert all(question.endswith("?") for question in listed.values())


def test_every_link_leads_to_a_file_and_a_heading():
    for page in [*ROOT.glob("*.md"), *PAGES]:
        for _, target in LINK.findall(page.read_text()):
            if target.startswith("http"):
                continue
            file, _, anchor = target.partition("#")
            there = page.parent / file if file else page
            assert there.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(there.read_text()), f"{page.name}: {target}"


def named(text):
    """Every text in backticks, with the classes that its sentence names; commands in blocks."""
    for block in filter(is_prose, blocks(text)):
        for sentence in re.split(r"(?<=[.?!])\s+", block):
            codes = CODE.findall(sentence)
            classes = [code for code in codes if code in members()]
            yield from ((code, classes) for code in codes)
    for block in FENCE.finditer(text):
        lines = re.sub(r"\\\n", " ", block[0]).splitlines()
        yield from (
            (line.lstrip("$ ").partition("  #")[0], ()) for line in lines if COMMAND.match(line)
        )


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "README.md"], ids=name)
def test_names_in_backticks_exist(page):
    wrong = [(code, fault) for code, classes in named(page.read_text())
             for fault in faults(code, page, classes)]  # fmt: skip
    assert not wrong
