"""Errors and warnings: one value, a text for Python and one for the command line."""

import copy
import pickle
import warnings
from contextlib import contextmanager

import pytest

import linkparity as lp
from linkparity.cli.output import one_line
from linkparity.support.errors import InputError, InputWarning, Message, PlainError, warn
from linkparity.support.registry import Registry, UnknownName

CASES = [
    (
        Message("must lie in (0, 1), got 2", "use 0.2", argument="test", caller="split_links"),
        "split_links: test must lie in (0, 1), got 2; use 0.2",
        "--test must lie in (0, 1), got 2; use 0.2",
    ),
    (
        Message("node 'x' has no age", "use {unknown=group}", where="s.csv: row 3", caller="audit"),
        "s.csv: row 3: node 'x' has no age; use unknown='group'",
        "s.csv: row 3: node 'x' has no age; use --unknown group",
    ),
    (
        Message("needs both", "set {bipartite=True} or {target_column=}", caller="audit"),
        "audit: needs both; set bipartite=True or target_column=…",
        "needs both; set --bipartite or --target-column",
    ),
    (Message("two\nlines"), "two\nlines", "two lines"),
    (Message("must be 1", argument="self_loops"), "self_loops must be 1", "--self-loops must be 1"),
]


@pytest.mark.parametrize(("message", "python", "command"), CASES)
@pytest.mark.parametrize("kind", [InputError, PlainError, InputWarning])
def test_one_value_has_a_text_for_python_and_one_for_the_command_line(
    message, python, command, kind
):
    error = kind(**vars(message))
    assert error.message == message
    assert str(error) == python
    assert error.message.for_command() == command
    assert one_line(error) == command


def test_an_error_of_the_library_names_the_option_on_the_command_line():
    with pytest.raises(InputError) as error:
        lp.split_links(lp.load("polbooks"), test=2)
    assert str(error.value).startswith("split_links: test must lie strictly between 0 and 1, got 2")
    assert one_line(error.value).startswith("--test must lie strictly between 0 and 1, got 2")


@pytest.mark.parametrize("kind", [InputError, PlainError, InputWarning, UnknownName])
@pytest.mark.parametrize("twin", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_survive_pickling_and_copying(kind, twin):
    error = kind("is wrong", "use {top=}", where="a.csv", argument="k", caller="f")
    other = twin(error)
    assert type(other) is kind
    assert other.message == error.message
    assert str(other) == str(error) == "a.csv: k is wrong; use top=…"


def test_an_unknown_name_is_an_input_error_and_a_key_error_in_one_sentence():
    tools = Registry("tool", {"cne": 1, "gae": 2})
    with pytest.raises(KeyError) as error:
        tools["cen"]
    assert isinstance(error.value, InputError)
    assert str(error.value) == "unknown tool 'cen'; did you mean 'cne'? known: cne, gae"
    assert one_line(error.value) == str(error.value)


def from_frames():
    pd = pytest.importorskip("pandas")
    return lp.Graph.from_frames(pd.DataFrame({"source": [1, 1, 2, 3], "target": [2, 2, 3, 3]}))


def split_sparse_graph():
    tree = lp.Graph(6, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], [0, 1, 2, 0, 1, 2])
    return lp.split_links(tree, 0.8)


def group_unknown():
    ring = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    return lp.Graph.from_scipy(ring, ["a", None, "b"], unknown="group")


def nested():
    with working():
        return from_frames()


@contextmanager
def working():
    yield


@pytest.mark.parametrize("call", [from_frames, split_sparse_graph, group_unknown, nested])
def test_a_warning_is_located_at_the_line_of_the_user(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    for warning in caught:
        assert issubclass(warning.category, InputWarning)
        assert warning.filename == __file__


@pytest.mark.parametrize("module", ["linkparity.graph.graph", "torch.nn.modules.module"])
def test_frames_of_context_managers_and_of_torch_are_skipped(module):
    internal = {"__name__": module, "warn": warn, "Kind": InputWarning, "manager": contextmanager}
    source = """
@manager
def block():
    warn(Kind, "is odd")
    yield
def run():
    with block():
        pass
"""
    exec(compile(source, "internal.py", "exec"), internal)
    with pytest.warns(InputWarning, match="is odd") as caught:
        internal["run"]()
    assert caught[0].filename == __file__
    with pytest.warns(InputWarning, match="is odd") as caught, internal["block"]():
        pass
    assert caught[0].filename == __file__


def test_modules_of_users_with_similar_names_are_not_skipped():
    mine = {"__name__": "linkparity_study", "warn": warn, "Kind": InputWarning}
    exec(compile("def run(): warn(Kind, 'is odd')", "torch/study.py", "exec"), mine)
    with pytest.warns(InputWarning, match="is odd") as caught:
        mine["run"]()
    assert caught[0].filename == "torch/study.py"
