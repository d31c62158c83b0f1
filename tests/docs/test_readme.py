"""README's code runs as printed, and does what the text around it says."""

import re
from pathlib import Path

import pytest
import torch

import linkparity as lp

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"<!-- run: (\w+) -->\n```python\n(.*?)```", re.DOTALL)
BLOCKS = dict(BLOCK.findall((ROOT / "README.md").read_text()))


def run(code):
    names = {}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        exec(compile(code, "README.md", "exec"), names)
    return names


def test_every_python_block_of_readme_is_run():
    text = (ROOT / "README.md").read_text()
    assert set(BLOCKS) == {"loop", "scores"}
    assert text.count("```python") == len(BLOCKS)


def test_three_lines_bring_a_plain_loop_to_parity():
    with_term = run(BLOCKS["loop"])
    marked = [line for line in BLOCKS["loop"].splitlines() if re.search(r"# [123]$", line)]
    assert len(marked) == 3
    without = run("\n".join(line for line in BLOCKS["loop"].splitlines() if "# 3" not in line))

    def gap(names):
        return lp.score_pairs(names["logits"].detach(), names["groups"], confidence=None).dp

    assert gap(without) > 0.1
    assert gap(with_term) < 0.01


def test_scores_example_closes_the_gap(capsys):
    assert len([line for line in BLOCKS["scores"].splitlines() if line]) <= 12
    names = run(BLOCKS["scores"])
    assert names["before"].dp > 1e-4
    assert names["after"].dp == pytest.approx(0, abs=1e-9)
    assert re.fullmatch(r"gap 0\.\d+ -> 0\.0000, auc 0\.\d+ -> 0\.\d+\n", capsys.readouterr().out)
