"""A model with a training of its own, outside the package: the adversary of docs/own-model.md."""

import re
from pathlib import Path

from planted import planted

from linkparity import LinkPredictor


def test_an_adversarial_model_brings_its_own_training(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "own-model.md").read_text()
    names: dict = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[1], names)
    assert len(names["predictor"].history_) == 60
    made, graph = names["Adversarial"], planted()
    plain = LinkPredictor(made, strength=0).fit(graph)
    hidden = LinkPredictor(made, strength=3.0).fit(graph)
    assert plain.history_[-1].fit < 0.7 * plain.history_[0].fit
    assert hidden.history_[-1].extra["adversary"] > 2 * plain.history_[-1].extra["adversary"]
    hidden.save(tmp_path / "run")
    again = LinkPredictor.load(tmp_path / "run", made)
    assert again.history_[-1].extra == hidden.history_[-1].extra
    assert again.embedding_.tolist() == hidden.embedding_.tolist()
