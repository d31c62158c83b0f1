"""Experiments: which fits there are, and errors with row and key."""

import json
import math
import re
import time
from itertools import product

import pytest

import linkparity as lp
from linkparity.experiments import experiment_checks
from linkparity.experiments.experiment_file import find_row
from linkparity.experiments.fit import LEVELS, DataSource, Fit, _quantiles
from linkparity.experiments.rows import Row
from linkparity.metrics.measures import MEASURES
from linkparity.models import MODELS
from linkparity.models.maxent import MaxEnt
from linkparity.support.errors import InputError

START = 'data = ["polbooks"]\nmodels = ["cne"]\n'


class Adversary(MaxEnt):
    """A method with a strength of its own."""

    strength = 1.0


def combinations(experiment):
    """(model, criterion, gamma, strength, postprocess, seed) of every fit."""
    keys = ("model", "criterion", "gamma", "strength", "postprocess", "seed")
    return [tuple(fit.parameters.get(key) for key in keys) for fit in experiment.fits()]


def test_every_combination_is_one_fit_and_none_has_no_gammas(monkeypatch):
    monkeypatch.setitem(MODELS, "adversary", Adversary)
    experiment = lp.Experiment(
        ["polbooks"], ["cne", {"name": "adversary"}], ["none", "dp", "eo"], [10, 100], [3, 1],
        strengths=[0, 5],
    )  # fmt: skip
    wanted = set()
    for seed, (model, strengths) in product((3, 1), (("cne", [None]), ("adversary", [0.0, 5.0]))):
        wanted |= {(model, None, None, s, None, seed) for s in strengths}
        wanted |= {
            (model, criterion, gamma, s, None, seed)
            for criterion, gamma, s in product(("dp", "eo"), (10.0, 100.0), strengths)
        }
    found = combinations(experiment)
    assert len(found) == len(set(found)) == 30
    assert set(found) == wanted


def test_post_processing_is_an_axis_that_plain_fits_do_not_have():
    experiment = lp.Experiment(
        ["polbooks"], ["cne"], ["none", "dp"], [0, 10], postprocess=["none", "i-projection"]
    )
    assert combinations(experiment) == [
        ("cne", None, None, None, None, 0),
        ("cne", "dp", 0.0, None, None, 0),
        ("cne", "dp", 0.0, None, "i-projection", 0),
        ("cne", "dp", 10.0, None, None, 0),
        ("cne", "dp", 10.0, None, "i-projection", 0),
    ]


def test_a_file_says_what_keywords_say(tmp_path):
    for name in ("links.csv", "people.csv"):
        (tmp_path / name).write_text("")
    file = tmp_path / "study.toml"
    file.write_text(
        '# own graph\nmodels = ["cne", {name = "gae", dimension = 32, hidden = 8}]\nseeds = 2\n'
        'criteria = ["none", "weak-dp"]\npairs = "sampled"\nmeasures = ["auc", "dp"]\n'
        '[[files]]\nlinks = "links.csv"\nnodes = "people.csv"\nsensitive = "gender, age"\n'
        'target_column = "to"\nbipartite = true\nunknown = "group"\n'
    )
    found = lp.Experiment.read(file)
    entry = {
        "links": str(tmp_path / "links.csv"), "nodes": str(tmp_path / "people.csv"),
        "sensitive": "gender, age", "target_column": "to", "bipartite": True, "unknown": "group",
    }  # fmt: skip
    assert found == lp.Experiment(
        models=["cne", {"name": "gae", "dimension": 32, "hidden": 8}], seeds=[0, 1],
        criteria=("none", "weak-dp"), pairs="sampled", measures=["auc", "dp"], files=[entry],
    )  # fmt: skip
    (source,) = found.sources()
    assert source.name == "links"
    assert source.files.sensitive == ("gender", "age")
    assert source.files.target == "to"
    assert source.files.policy.unknown == "group"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gamas = [1]", "row 3, key 'gamas': is unknown; did you mean 'gammas'? known: data, mod"),
        ('criteria = ["none", "pd"]', "row 3, key 'criteria', entry 2: unknown criterion 'pd'"),
        ('measures = ["acu"]', "row 3, key 'measures', entry 1: unknown measure 'acu'; did you"),
        ('\n# why\n\nmeasures = "acu"', "row 6, key 'measures', entry 1: unknown measure 'acu'"),
        ("gammas = [1, -2]", "row 3, key 'gammas', entry 2: must be finite and not negative"),
        ("gammas = [nan]", "row 3, key 'gammas', entry 1: must be finite and not negative"),
        ('gammas = ["1"]', "row 3, key 'gammas', entry 1: must be a number, got '1'"),
        ("gammas = [1, 1.0]", "row 3, key 'gammas', entry 2: repeats 1.0; leave it out"),
        ("gammas = []", "row 3, key 'gammas': is empty; give at least one value"),
        ("strengths = [inf]", "row 3, key 'strengths', entry 1: must be finite"),
        ("seeds = 0", "row 3, key 'seeds': must be a number of seeds or a list, got 0"),
        ("seeds = true", "row 3, key 'seeds': must be a number of seeds or a list, got True"),
        ("seeds = [1, true]", "row 3, key 'seeds', entry 2: must be a whole number, got True"),
        ("seeds = [\n  1,\n  2,\n  1.5,\n]", "row 6, key 'seeds', entry 3: must be a whole numb"),
        (
            "seeds = 1000000000",
            "row 3, key 'seeds': has 1,000,000,000 values; an exp",
        ),
        ("seeds = 99999\ngammas = [1, 2]\ncriteria = 'dp'", "asks for too many fits (1 graph, 99,"),
        (
            "gammas = [1" + 400 * "0" + "]",
            "row 3, key 'gammas', entry 1: must be a number",
        ),
        ("seeds = -1", "row 3, key 'seeds': must be at least 0 and below 2^32, got -1"),
        ('pairs = "al"', "row 3, key 'pairs': "),
        ('postprocess = "tilt"', "row 3, key 'postprocess', entry 1: unknown post-processing"),
        ("files = 3", "row 3, key 'files', entry 1: must be a table of keys, got 3"),
        ('[[files]]\nlinks = "a"', "row 3, key 'files', entry 1: has no 'nodes'"),
        (
            '[[files]]\nlinks = "a"\nnodes = "b"\nsensitive = "c"\n\n[[files]]\nlink = "a"',
            "row 9, key 'files', entry 2, key 'link': is unknown; did you mean 'links'?",
        ),
        (
            '[[files]]\nlinks = "a"\nnodes = "b"\nsensitive = [["c"]]',
            "key 'files', entry 1",
        ),
        (
            '[[files]]\nlinks = "a"\nnodes = "b"\nsensitive = "c"\nunknown = "x"',
            "row 7, key 'files', entry 1, key 'unknown': must be 'error', 'group', 'drop'",
        ),
        (
            '[[files]]\nlinks = "a"\nnodes = "-"\nsensitive = "c"',
            "row 5, key 'files', entry 1, key 'nodes': must be a name, got '-'",
        ),
        (
            '[[files]]\nname = "polbooks"\nlinks = "a"\nnodes = "b"\nsensitive = "c"',
            "row 3, key 'files', entry 1: is a second 'polbooks'; give it another name",
        ),
    ],
)
def test_mistakes_name_the_file_the_row_and_the_key(tmp_path, text, said):
    refused(tmp_path, START + text, said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no data are given; write data = "),
        ('data = ["polbooks"]', "no models are given; write models = "),
        (
            'data = [["polbooks"]]\nmodels = "cne"',
            "row 1, key 'data', entry 1: must be the name",
        ),
        ('data = ["polbook"]\nmodels = "cne"', "row 1, key 'data', entry 1: unknown data set 'pol"),
        (
            'data = "polbooks"\nmodels = [\n\n  "cne",  # yes\n  "gea",\n]',
            "row 5, key 'models', en",
        ),
        (
            'data = "polbooks"\nmodels = [\n  "cne",\n  {name = "gae", dimensoin = 3},\n]',
            "row 4, key 'models', entry 2, key 'dimensoin': is unknown; did you mean 'dimension'?",
        ),
        (
            'data = "polbooks"\nmodels = ["cne", {name = "gae", epochs = -3}]',
            "row 2, key 'models', entry 2, key 'epochs': ",
        ),
        (
            'data = "polbooks"\nmodels = [{name = "cfc", ends = "left"}]',
            "row 2, key 'models', entry 1, key 'ends': must give ends 'one' or 'both', got 'left'",
        ),
        ('data = "polbooks"\nmodels = [{lr = 1}]', "row 2, key 'models', entry 1: has no name"),
        ('data = ["polbooks"\nmodels = 1', "is not valid TOML: "),
        ("models = 1\nmodels = 2", "is not valid TOML: Cannot overwrite a value (at line 2"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_said(tmp_path, text, said):
    refused(tmp_path, text, said)


def refused(tmp_path, text, said):
    file = tmp_path / "study.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        lp.Experiment.read(file)
    message = caught.value.message.for_command()
    assert message.startswith(f"{file}: ")
    assert said in message


def test_in_python_errors_name_the_keyword():
    with pytest.raises(InputError, match=re.escape("Experiment: seeds, entry 2 repeats 1")):
        lp.Experiment(["polbooks"], ["cne"], seeds=[1, 1])
    with pytest.raises(InputError, match="entry 1, dimension must lie between 1 and 10,000"):
        lp.Experiment(["polbooks"], [{"name": "cne", "dimension": 0}])


def test_rows_of_keys_are_found_as_by_counting():
    text = "\n".join(
        [
            'a = """',
            "b = 1",
            '"""',
            "b = [ # 1",
            "1, 2,",
            "",
            "3]",
            "[[c]]",
            "d = 1",
            "[[c]]",
            "d=2",
        ]
    )
    rows = {("a",): 1, ("b",): 4, ("b", 0): 5, ("b", 1): 5, ("b", 2): 7}
    rows |= {("c", 0): 8, ("c", 0, "d"): 9, ("c", 1): 10, ("c", 1, "d"): 11, ("c", 1, "e"): 10}
    assert {path: find_row(text, path) for path in rows} == rows
    assert find_row(text, ("z",)) is None


def test_brackets_and_quotes_in_strings_and_comments_are_no_lists():
    text = r"""a = ['[', "]\"],", # ] ,
  ''', [''', {b = [1, 2], c = "}"},
  "last",
]
"b.c" . 'd' = { e = [1,
2] }
[ x . "y z" ] # [[no]]
k = 1
[[ x."y z".l ]]
k = 2
"""
    rows = {("a", 0): 1, ("a", 1): 1, ("a", 2): 2, ("a", 3): 2, ("a", 3, "b", 1): 2, ("a", 4): 3}
    rows |= {("b.c", "d"): 5, ("b.c", "d", "e", 1): 5, ("x", "y z"): 7, ("x", "y z", "k"): 8}
    rows |= {("x", "y z", "l", 0, "k"): 10, ("x", "y z", "l", 1): 9}
    assert {path: find_row(text, path) for path in rows} == rows


def test_long_files_are_searched_once():
    count = 4000
    lists = ["models = [", *(f'  {{name = "cne", dimension = {i}}},' for i in range(count)), "]"]
    tables = [line for i in range(count) for line in ("[[files]]", f"links = '{i}'")]
    text = "\n".join([*lists, *tables])
    began = time.process_time()
    assert find_row(text, ("models", count - 1, "dimensoin")) == count + 1
    assert find_row(text, ("files", count - 1, "links")) == 3 * count + 2
    assert time.process_time() - began < 5


def test_names_of_many_graphs_are_compared_once():
    entry = {"links": "l.csv", "nodes": "n.csv", "sensitive": "group"}
    files = [{**entry, "name": f"graph {number}"} for number in range(20_000)]
    experiment = lp.Experiment(models=["cne"], files=files[:1])
    object.__setattr__(experiment, "files", files)
    began = time.process_time()
    assert len(experiment.sources()) == len(files)
    assert time.process_time() - began < 5
    with pytest.raises(ValueError, match="files, entry 2 is a second 'graph 0'"):
        lp.Experiment(models=["cne"], files=[files[0]] * 2)


def test_no_value_of_a_setting_is_a_fault_of_the_program():
    odd = [None, True, -1, 1.5, math.nan, 10**400, "", "x", [], [[]], {}, {"a": 1}, [[3]], object()]
    keys = {"data", "criteria", "gammas", "seeds", "pairs", "strengths", "measures", "files"}
    keys |= {"models", "postprocess"}
    entries = [{key: value} for key in keys for value in odd]
    for key in ("dimension", "lr", "hidden", "target", "tolerance", "patience", "name"):
        entries += [{"models": [{"name": "gae", key: value}], "criteria": "dp"} for value in odd]
    refused = 0
    for entry in entries:
        try:
            lp.Experiment(**({"data": ["polbooks"], "models": ["cne"]} | entry))
        except InputError:
            refused += 1
    assert refused > len(entries) / 2


def test_a_fault_of_the_program_is_no_setting(monkeypatch):
    monkeypatch.setattr(experiment_checks, "check_parameters", lambda *_: 1 + "1")
    with pytest.raises(TypeError, match="unsupported operand"):
        lp.Experiment(["polbooks"], [{"name": "cne", "lr": 1}])


def test_ids_tell_fits_apart_by_what_decides_the_result():
    def ids(**changes):
        given = {"data": ["polbooks"], "models": ["cne"], "criteria": ["dp"]} | changes
        return {fit.id for fit in lp.Experiment(**given).fits()}

    one = ids()
    assert ids(gammas=[100]) == ids(gammas=[100.0]) == one
    assert ids(models=[{"name": "cne", "dimension": MODELS["cne"].dimension}]) == one
    plain = {"models": ["fairadj"], "criteria": ["none"]}
    assert ids(**plain, strengths=[MODELS["fairadj"].strength]) == ids(**plain)
    assert ids(**plain, strengths=[0]) != ids(**plain)
    assert one < ids(seeds=2)
    others = [
        ids(gammas=[10]), ids(seeds=[1]), ids(measures=["auc"]), ids(pairs="all"),
        ids(models=[{"name": "cne", "s2": 8.0}]), ids(criteria=["none"]), ids(data=["polblogs"]),
    ]  # fmt: skip
    assert all(len(other | one) == 2 for other in others)


def test_the_hash_of_a_graph_is_about_links_and_groups_not_about_their_order():
    links, group = [[0, 1], [1, 2], [2, 3]], [0, 1, 2, 2]
    first = lp.Graph(4, links, group)

    def digest(graph):
        source = DataSource("x")
        source.__dict__["graph"] = lambda: graph
        return source.sha256()

    assert digest(first) == digest(lp.Graph(4, [[3, 2], [1, 0], [2, 1]], group))
    for other in (lp.Graph(4, links[:2], group), lp.Graph(4, links, [0, 1, 2, 1])):
        assert digest(other) != digest(first)
    assert digest(lp.Graph(4, links, group, ("a", "b", "c"))) != digest(first)


def test_a_fit_is_a_row_with_everything_about_it():
    (fit,) = lp.Experiment(
        ["polbooks"], [{"name": "cne", "epochs": 60}], ["dp"], [7], [4], measures=["auc", "dp"]
    ).fits()
    row = fit.row()
    assert (row.id, row.dataset, row.seed, row.gamma) == (fit.id, "polbooks", 4, 7)
    assert (row.settings["epochs"], row.settings["dimension"]) == (60, 8)
    assert row.data_sha256 == fit.data_sha256
    assert row.versions["linkparity"] == lp.__version__
    assert row.peak_memory > 10**7
    assert row.reasons["eo"] == "not among the measures of the experiment"
    assert row.to_dict().keys() >= MEASURES.keys()
    assert row.to_dict()["eo"] is None
    assert set(row.intervals) == {"auc", "dp"}
    assert row.history["epoch"][0] == 1
    assert row.history["epoch"][-1] == 60
    assert len(row.history["loss"]) == len(row.history["gap"]) == 40
    direct = lp.LinkPredictor("cne", "dp", 7, seed=4, epochs=60)
    split = lp.split_links(lp.load("polbooks"), seed=4)
    scores = lp.evaluate(direct.fit(split.train), split, seed=4, over="candidates")
    assert row.test_pairs == "candidates"
    assert (row.auc, row.dp) == (scores.auc, scores.dp)
    assert json.loads(row.to_json()) == row.to_dict()
    assert [tuple(each["groups"]) for each in row.quantiles] == [c.groups for c in scores.cells]


def test_a_row_of_sampled_pairs_says_why_it_has_no_measure_of_candidates():
    fits = lp.Experiment(["polbooks"], ["maxent"], pairs="sampled", seeds=1).fits()
    row = fits[0].row()
    assert row.error is None
    assert math.isnan(row.auc_candidates)
    assert row.reasons["auc_candidates"] == "measured over candidates"


def test_quantiles_are_those_of_every_pair_repeated_by_its_weight():
    import numpy as np

    draw = np.random.default_rng(0)
    for size in (1, 2, 7, 50):
        values, weight = draw.random(size), draw.integers(1, 6, size)
        every = np.sort(np.repeat(values, weight))
        at = np.ceil(np.array(LEVELS) * len(every) - 1e-9).astype(int) - 1
        expected = every[np.maximum(at, 0)]
        assert _quantiles(values, weight.astype(float)) == pytest.approx(expected, rel=1e-5)
    assert _quantiles(np.empty(0), np.empty(0)) == [None] * len(LEVELS)


def test_a_failure_is_a_row_with_the_keys_of_any_other():
    source = DataSource("polbooks")
    fit = Fit(source, source.sha256(), {"model": "cne", "seed": 0, "lr": 1e25}, ("auc",))
    row = fit.row()
    assert row.error.startswith("Diverged: ")
    assert row.id == fit.id
    assert row.to_dict().keys() - {"traceback"} == fit.failed("x").to_dict().keys()
    assert row.to_dict().keys() >= MEASURES.keys()
    assert row.traceback.startswith("Traceback (most recent call last)")
    assert "training/loop.py" in row.traceback
    assert Row.from_json(row.to_json()) == row
