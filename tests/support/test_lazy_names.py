"""Names that need an extra: imported by name without it, one line when they are used."""

import inspect
import sys
import warnings
from contextlib import suppress

import pytest
from without import EXTRAS, run_without

from linkparity.support.errors import require_extra
from linkparity.support.lazy_names import lazy_names

MESSAGE = (
    'needs PyTorch: pip install "linkparity[train]" (for the small CPU build, install torch first, '
    "see README)"
)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """The name ``Thing`` of a package whose module needs PyTorch, which is absent."""
    (tmp_path / "needy").mkdir()
    (tmp_path / "needy" / "__init__.py").write_text("")
    (tmp_path / "needy" / "things.py").write_text("import torch\nclass Thing: ...\n")
    (tmp_path / "needy" / "wrong.py").write_text("import no_such_module\n")
    (tmp_path / "needy" / "plain.py").write_text("value = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "torch", None)
    import needy

    homes = {"Thing": "things", "wrong": "", "value": "plain", "plain": ""}
    yield lazy_names(needy.__name__, homes)
    for name in [each for each in sys.modules if each.partition(".")[0] == "needy"]:
        del sys.modules[name]


def test_a_stand_in_says_what_is_missing_when_it_is_used(stand_in):
    thing = stand_in("Thing")
    for use in (thing, lambda: thing.fit, lambda: type("Own", (thing,), {})):
        with pytest.raises(ModuleNotFoundError) as error:
            use()
        assert str(error.value) == f"Thing {MESSAGE}"
        assert error.value.name == "torch"


def test_a_stand_in_may_be_looked_at_and_stand_in_filters(stand_in):
    thing = stand_in("Thing")
    assert inspect.isclass(thing)
    assert not isinstance(3, thing)
    assert not hasattr(thing, "_repr_html_")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", thing)
    with pytest.raises(ZeroDivisionError), suppress(thing):  # as except does
        1 / 0  # noqa: B018


def test_other_names_are_imported_once_and_other_errors_stay(stand_in):
    assert stand_in("value") == 3
    assert sys.modules["needy"].value == 3
    assert stand_in("plain") is sys.modules["needy.plain"]
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_module'"):
        stand_in("wrong")
    with pytest.raises(AttributeError, match="module 'needy' has no attribute 'other'"):
        stand_in("other")


def test_an_extra_is_whole_or_the_first_missing_package_is_named(monkeypatch):
    require_extra("train,report", "demo")
    monkeypatch.setitem(sys.modules, "altair", None)
    require_extra("train,report", "demo")
    with pytest.raises(ModuleNotFoundError, match=r'^report needs altair: pip install "linkp'):
        require_extra("report", "report")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    said = r'^demo needs scikit-learn: pip install "linkparity\[train,report\]"$'
    with pytest.raises(ModuleNotFoundError, match=said):
        require_extra("train,report", "demo")


NAMES = """
import linkparity as lp
from linkparity import *
from linkparity.datasets import BlockGraph, BlockTruth, block_model

print(*dir(lp))
print(*lp.__all__)
known = [name for name in lp.__all__ if type(getattr(lp, name)).__name__ != "_StandIn"]
print(*known)
for use in (lp.train, lp.Graph, block_model, lp.load, lp.evaluate):
    try:
        use("polbooks", None)
    except ModuleNotFoundError as error:
        print(error)
try:
    lp.Graph.from_frames(None)
except ModuleNotFoundError as error:
    print(error)
assert not {name.partition(".")[0] for name in sys.modules} & {"torch", "sklearn", "pandas"}
"""


RESULTS = """
import linkparity as lp
scores = lp.score_pairs([0.0, 1.0, 2.0], [[0, 0], [0, 1], [1, 1]], [0, 1, 1], confidence=None)
nodes = {"embedding": [[0.0]] * 10, "node_group": [0, 1] * 5, "measures": ["rb"]}
for use in (
    lambda: scores.to_frame(),
    lambda: scores.frame,
    lambda: lp.Results(()).to_frame(),
    lambda: lp.score_pairs([0.0, 1.0], [0, 1], **nodes),
):
    try:
        use()
    except ModuleNotFoundError as error:
        print(error)
"""


def test_frames_and_rb_say_what_they_need():
    done = run_without(EXTRAS, RESULTS)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        'Scores.to_frame needs pandas: pip install "pandas"',
        'Scores.frame needs pandas: pip install "pandas"',
        'Results.to_frame needs pandas: pip install "pandas"',
        'rb needs scikit-learn: pip install "linkparity[train]"',
    ]


TORCH_ALONE = """
import linkparity as lp, torch
x, groups = torch.zeros(3, requires_grad=True), torch.tensor([[0, 0], [0, 1], [1, 1]])
lp.FairnessRegularizer("dp")(x, groups).backward()
graph = lp.load("polbooks")
model = lp.LinkPredictor("maxent").fit(graph)
for use in (lambda: model.save("run"), lambda: lp.LinkPredictor.load("run"), lp.tune):
    try:
        use()
    except ModuleNotFoundError as error:
        print(error)
"""


def test_who_has_torch_alone_has_the_regularizer(tmp_path):
    absent = [name for name in EXTRAS if name != "torch"]
    done = run_without(absent, TORCH_ALONE, cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f'{name} needs safetensors: pip install "linkparity[train]"'
        for name in ("LinkPredictor.save", "LinkPredictor.load", "tune")
    ]


def test_public_names_without_extras():
    import linkparity as lp

    done = run_without(EXTRAS, NAMES)
    assert done.stderr == ""
    names, every, known, *errors = done.stdout.splitlines()
    assert names.split() == dir(lp)
    assert every.split() == lp.__all__
    assert set(known.split()) == {
        "load", "example", "datasets", "GraphWarning", "criteria", "Cells", "Criterion",
        "i_project", "Projection", "Infeasible", "NotConverged", "evaluate", "score_pairs",
        "Scores", "audit", "project", "Results", "Report",
    }  # fmt: skip
    said = ("train", "Graph", "block_model", "load", "evaluate", "Graph")
    assert errors == [f"{name} {MESSAGE}" for name in said]
