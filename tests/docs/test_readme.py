"""README is short, its code runs as printed, and does what the text around it says."""

import re
import shlex
from pathlib import Path

import pytest
import torch
from prose import FENCE, LINK, cell_sentences, sentences, words
from table_cases import exit_code

import linkparity as lp

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
AUDITING = (ROOT / "docs" / "auditing.md").read_text()
BLOCK = re.compile(r"<!-- run: (\w+) -->\n```python\n(.*?)```", re.DOTALL)
BLOCKS = dict(BLOCK.findall(README + AUDITING))
CONSOLE = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
HEADINGS = [
    "linkparity", "In ten lines", "Four ways in", "Install", "What the numbers mean",
    "Three lines for PyTorch", "Limits", "Which tool when", "The paper", "More",
]  # fmt: skip


def run(code):
    names = {}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        exec(compile(code, "README.md", "exec"), names)
    return names


def test_readme_is_short_and_in_order():
    assert len(README.splitlines()) <= 150
    assert len(README.split()) <= 1300
    assert re.findall(r"^#+ (.+)$", FENCE.sub("", README), re.MULTILINE) == HEADINGS
    said = [*sentences(README), *cell_sentences(README), *re.findall(r"!\[(.*?)\]", README)]
    assert not [sentence for sentence in said if words(LINK.sub(r"\1", sentence)) > 30]


def test_every_python_block_is_run():
    assert set(BLOCKS) == {"jobs", "loop", "scores"}
    assert README.count("```python") + AUDITING.count("```python") == len(BLOCKS)


def test_the_first_commands_run_and_print_what_readme_prints(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    rows = []
    for command in CONSOLE[0].splitlines():
        text, _, expected = command.removeprefix("$ linkparity ").partition("  # exit ")
        assert exit_code(*shlex.split(text)) == int(expected or 0), command
        rows += [re.split(r"[\s│┃]+", line) for line in capfd.readouterr().out.splitlines()]
    excerpt = re.search(r"^```\n(measure .*?)```", README, re.DOTALL | re.MULTILINE)[1]
    for line in filter(str.strip, excerpt.splitlines()):
        assert any(is_part(line.split(), row) for row in rows), line
    assert (tmp_path / "fair.csv").read_text().startswith("source,target,score,label,fair_score\n")


def is_part(words, row):
    """Whether words stand in a row, in their order."""
    rest = iter(row)
    return all(word in rest for word in words)


def test_the_job_board_in_python(capsys):
    assert len([line for line in BLOCKS["jobs"].splitlines() if line]) <= 10
    names = run(BLOCKS["jobs"])
    assert names["before"].intervals["dp"][0] > 0.05
    assert names["after"].dp < 1e-9
    assert re.fullmatch(r"gap 0\.11 -> \S+, auc 0\.754 -> 0\.\d+\n", capsys.readouterr().out)


def test_three_lines_bring_a_plain_loop_to_parity():
    with_term = run(BLOCKS["loop"])
    marked = [line for line in BLOCKS["loop"].splitlines() if re.search(r"# [123]$", line)]
    assert len(marked) == 3
    without = run("\n".join(line for line in BLOCKS["loop"].splitlines() if "# 3" not in line))
    before, after = (
        lp.score_pairs(names["logits"].detach(), names["groups"], names["labels"], confidence=None)
        for names in (without, with_term)
    )
    assert before.dp > 0.1
    assert after.dp < 0.01
    assert after.eo > before.eo
    row = re.search(r"^\| 0 \|(.*)\|$", (ROOT / "docs" / "own-model.md").read_text(), re.MULTILINE)
    printed = [float(cell) for cell in row[1].split("|")]
    assert printed == pytest.approx([before.dp, after.dp, before.eo, after.eo], abs=2e-3)


def test_scores_example_closes_the_gap(capsys):
    assert len([line for line in BLOCKS["scores"].splitlines() if line]) <= 12
    names = run(BLOCKS["scores"])
    assert names["before"].dp > 1e-4
    assert names["after"].dp == pytest.approx(0, abs=1e-9)
    printed = capsys.readouterr().out
    assert re.fullmatch(r"gap 0\.\d+ -> \S+, auc 0\.\d+ -> 0\.\d+\n", printed)
