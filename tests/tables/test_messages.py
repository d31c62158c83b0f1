"""Errors and warnings of the Python functions: arguments by keyword, the caller's line."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from table_cases import make_scores

import linkparity as lp
from linkparity.support.errors import InputError


def scores(**columns):
    return make_scores()[0].assign(**columns)


def people(**columns):
    return make_scores()[1].assign(**columns)


def without(column):
    return scores().drop(columns=column)


def repeated():
    given = scores()
    return pd.concat([given, given[:2]])


def reversed_pair():
    given = scores()
    return pd.concat([given, given[:1].rename(columns={"source": "target", "target": "source"})])


def loop():
    return pd.concat([scores(), pd.DataFrame([("7", "7", 0.5, 0)], columns=scores().columns)])


def stranger():
    return pd.concat([scores(), pd.DataFrame([("7", "who", 0.5, 0)], columns=scores().columns)])


def frozen():
    groups = make_scores()[2]
    return scores(score=np.where((groups == 1).all(axis=1), 0.0, scores().score))


#: Tables and arguments that are refused, with a part of what is said in Python.
REFUSED = {
    "no score": (without("score"), people(), {}, "name it with score=… or logit=…"),
    "both": (scores(logit=0.0), people(), {}, "choose one with score='score' or logit='logit'"),
    "two given": (scores(), people(), {"score": "score", "logit": "x"}, "leave out score=… or l"),
    "not there": (scores(), people(), {"score": "p"}, "scores: score 'p' is not a column"),
    "no source": (without("source"), people(), {}, "name both with source=… and target_column=…"),
    "same ends": (
        scores(), people(), {"source": "source", "target_column": "source"}, "and target_column=…"
    ),
    "no nodes": (scores(), None, {}, "or a table of nodes with nodes=…"),
    "no attribute": (scores(), people().rename(columns={"kind": "k"}), {}, "nodes: no column 'ki"),
    "node": (scores(), people(), {"node": "id"}, "nodes: node 'id' is not a column"),
    "sensitive": (scores(), people(), {"sensitive": ""}, "such as sensitive='gender'"),
    "twice": (scores(), people(), {"sensitive": "kind,kind"}, "sensitive must name a column once"),
    "unknown": (stranger(), people(), {}, "use unknown='group' (a group of their own) or unknown="),
    "guessed ids": (
        stranger(), people().rename(columns={"node": "id"}), {}, "another column of ids with node=…"
    ),
    "no target": (
        scores(target=[f"t{i}" for i in range(435)]), people(), {}, "use bipartite=True if"
    ),
    "choice": (scores(), people(), {"unknown": "drp"}, "did you mean 'drop'?"),
    "repeated": (repeated(), people(), {}, "keep the first of each with duplicates='first'"),
    "reversed": (reversed_pair(), people(), {}, "or use directed=True if (a, b) and (b, a) are"),
    "loop": (loop(), people(), {}, "leave such rows out with self_loops='drop'"),
    "high": (scores(score=1.5), people(), {}, "if these are logits, name the column with logit=…"),
    "infinite": (scores(score=np.inf), people(), {"logit": "score"}, "not a finite logit"),
    "no labels": (without("label"), people(), {"criterion": "eo"}, "add it, name it with label=…"),
    "no links": (scores(label=0), people(), {"criterion": "eo"}, "it needs links (label 1)"),
    "no weight": (scores(w=0.0), people(), {"weight": "w"}, "give pairs a weight above 0"),
    "criterion": (scores(), people(), {"criterion": "dpp"}, "unknown criterion 'dpp'; did you"),
    "two groups": (scores(), pd.concat([people(), people(kind="x")]), {}, "listed twice with two"),
    "one group": (scores(), people(kind="x"), {}, "parity compares two or more"),
    "values": (scores(), people(kind=[[1]] * 30), {}, "holds lists or records"),
    "date": (scores(score=pd.Timestamp("2024-01-01")), people(), {}, "not numbers"),
    "column": (scores(_lp_x=1), people(), {}, "are reserved; rename the column"),
}  # fmt: skip
ONLY_AUDIT = {
    "confidence": ({"confidence": 1.0}, "audit: confidence must lie strictly between 0 and 1"),
    "top": ({"top": 0}, "audit: top must be at least 1 place per list"),
    "half": ({"top": 1.5}, "audit: top must be a whole number, got 1.5"),
    "seed": ({"seed": -1}, "audit: seed must be at least 0"),
}
ONLY_PROJECT = {
    "target": (scores(), {"target": 1.5}, "target must lie strictly between 0 and 1"),
    "name": (scores(), {"target": "modle"}, "did you mean 'model'?"),
    "tolerance": (scores(), {"tolerance": -1}, "tolerance must lie in"),
    "out of reach": (frozen(), {}, "another target=…, or a tolerance=…"),
    "no tilts": (scores(), {"apply": "none.json"}, "none.json: no such file; make one with save_"),
    "has it": (scores(fair_score=1), {}, "which project would write; rename it"),
}


def refusal(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lp.GraphWarning)
        with pytest.raises(InputError) as caught:
            function(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize("function", [lp.audit, lp.project])
@pytest.mark.parametrize("name", REFUSED)
def test_python_is_spoken_to_in_keywords(name, function):
    given, nodes, options, said = REFUSED[name]
    options = {"sensitive": "kind"} | options
    text = refusal(function, given, nodes=nodes, **options)
    assert said in text
    assert "--" not in text


@pytest.mark.parametrize("name", ONLY_AUDIT)
def test_arguments_of_audit(name):
    options, said = ONLY_AUDIT[name]
    text = refusal(lp.audit, scores(), "kind", people(), **options)
    assert said in text
    assert "--" not in text


@pytest.mark.parametrize("name", ONLY_PROJECT)
def test_arguments_of_project(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given, options, said = ONLY_PROJECT[name]
    text = refusal(lp.project, given, "kind", people(), **options)
    assert said in text
    assert "--" not in text


def test_saved_tilts_of_another_kind(tmp_path):
    file = tmp_path / "t.json"
    lp.project(scores(), "kind", people(), save_tilts=file)
    both = people(other=people().kind)
    for options, said in (
        ({"sensitive": "other"}, "has tilts for 'kind', not for 'other'; use sensitive='kind'"),
        ({"directed": True}, "its tilts were fitted to undirected pairs; leave out directed=…"),
        ({"criterion": "eo"}, "leave out criterion=…, or fit new tilts without apply=…"),
        ({"tolerance": 0.1}, "leave out target=… and tolerance=…"),
        ({"nodes": both.replace("red", "pink")}, "has no tilt for blue – pink, of which scores"),
    ):
        given = {"sensitive": "kind", "nodes": both, "apply": file} | options
        text = refusal(lp.project, scores(), **given)
        assert said in text
        assert "--" not in text


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_results_say_nothing_of_the_command_line():
    audit = lp.audit(frozen(), "kind", people())
    _, report = lp.project(scores(), "kind", people(kind=people().node), report=True)
    for shown in (audit, report):
        assert "--" not in str(shown).replace("──", "")
        assert "--" not in shown._repr_html_()


WARNED = {
    "a group of one": (people(kind=np.where(people().node == "7", "violet", people().kind)), {}),
    "labels under another name": (people(), {"label": "lable"}),
}


@pytest.mark.parametrize("function", [lp.audit, lp.project])
@pytest.mark.parametrize("name", WARNED)
def test_a_warning_points_at_the_callers_line(name, function):
    nodes, renamed = WARNED[name]
    with pytest.warns(lp.GraphWarning) as caught:
        function(scores().rename(columns=renamed), "kind", nodes)
    assert len(caught) == 1
    assert Path(caught[0].filename).name == Path(__file__).name
    assert "--" not in str(caught[0].message)
