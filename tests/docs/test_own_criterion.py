"""The page on criteria of one's own: its code works, and its numbers are those of an oracle."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import linkparity as lp
from linkparity.criteria.group_pairs import number_group_pairs

PAGE = Path(__file__).parents[2] / "docs" / "own-criterion.md"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    names: dict = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
            exec(code, names)
    return names


def test_its_kl_is_that_of_two_groups_of_pairs(page):
    test = page["split"].test
    inside = (page["graph"].group[test.index] == page["criterion"].group).any(dim=1)
    logits = page["predictor"].predict_logits(test.index)
    wanted = lp.score_pairs(logits, inside.long(), test.label, test.weight, confidence=None).kl
    assert page["scores"].kl == pytest.approx(wanted, rel=1e-9)


def test_training_with_it_and_tilting_by_it_close_its_gap(page):
    graph, criterion = page["split"].train, page["criterion"]
    index = next(lp.all_pairs(graph)).index
    index = index[~graph.is_link(index)]
    inside = (graph.group[index] == criterion.group).any(dim=1).numpy()

    def gap(predictor):
        prob = predictor.predict_proba(index)
        return abs(prob[inside].mean() - prob[~inside].mean())

    plain, tilted = (
        lp.LinkPredictor("cne", criterion, gamma=0, epochs=40, postprocess=each).fit(graph)
        for each in (None, "i-projection")
    )
    assert gap(page["predictor"]) < 0.2 * gap(plain)
    assert gap(tilted) < 1e-6


@pytest.mark.parametrize("count", [0, 1, 60])
def test_arrays_and_tensors_are_assigned_alike(page, count):
    pairs = np.random.default_rng(0).integers(-1, 4, (count, 2))
    cells = lp.Cells.prepare(pairs, page["OneGroup"](2))
    known = (pairs >= 0).any(axis=1)
    wanted = np.where(known, (pairs == 2).any(axis=1), -1)
    assert cells.cell.tolist() == wanted.tolist()
    groups = number_group_pairs(pairs)
    answers = [
        page["OneGroup"](2).assign(code, 0, groups)
        for code in (groups.code, torch.from_numpy(groups.code))
    ]
    assert answers[0].tolist() == np.reshape(answers[1], -1).tolist() == wanted.tolist()


def test_it_is_asked_once_about_what_occurs(page):
    asked = []

    class Asked(page["OneGroup"]):
        needs_labels = True

        def assign(self, code, label, groups):
            asked.append((code, label))
            return super().assign(code, label, groups)

    pairs = [[0, 1], [1, 0], [2, 2], [-1, -1], [0, 1]] * 100
    cells = lp.Cells.prepare(pairs, Asked(2), [0, 0, 1, 0, 1] * 100)
    assert cells.cell.tolist() == [0, 0, 1, -1, 0] * 100
    ((code, label),) = asked
    assert isinstance(code, np.ndarray)
    assert isinstance(label, np.ndarray)
    rows = set(zip(code.tolist(), label.tolist(), strict=True))
    assert rows == {(-1, 0), (1, 0), (1, 1), (5, 1)}
    assert len(code) == 4
