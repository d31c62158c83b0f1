"""docs/reproduction: what it says follows from the rows beside it."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from linkparity.experiments.results import Results
from linkparity.paper.comparison import compare, count_verdicts
from linkparity.paper.tables import differences, verdict_sentence

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"
RESULTS = Results.read(FOLDER / "rows.jsonl.gz")
CELLS = compare(RESULTS.summaries())


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(FOLDER.parent))
    try:
        import reproduction
    finally:
        sys.path.pop(0)
    return reproduction


def test_the_script_writes_the_tables_and_keeps_what_is_written_by_hand(script, tmp_path):
    page = FOLDER / "README.md"
    written, mark, kept = page.read_text().partition(script.BY_HAND)
    assert script.comparison(CELLS) in written
    assert script.by_hand(page) == mark + kept
    assert "| as good | seeds |" in kept
    assert script.by_hand(tmp_path / "new.md") == script.BY_HAND


def test_the_rows_are_small_whole_and_unique():
    assert (FOLDER / "rows.jsonl.gz").stat().st_size < 2_000_000
    assert not RESULTS.failed
    assert max(Counter(row.id for row in RESULTS).values()) == 1
    assert {row.dataset for row in RESULTS} == {"polblogs", "ml100k", "facebook"}


def test_the_page_says_what_the_rows_say():
    text = (FOLDER / "README.md").read_text()
    assert verdict_sentence(CELLS) in text
    assert all(said in text for said in differences(CELLS))
    assert count_verdicts(CELLS)["agree"] > 150
    page = (FOLDER / "report.html").read_text()
    assert len(page.encode()) < 3_000_000
    assert f"<b>{count_verdicts(CELLS)['agree']} agree</b>" in page
