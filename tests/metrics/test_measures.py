"""The table of measures: consistent, and the only place that lists them."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from table_cases import make_scores

import linkparity as lp
from linkparity.experiments.rows import Row
from linkparity.metrics import Estimate, ScoredPairs
from linkparity.metrics.measures import MEASURES, TABLE_MEASURES, VIEW_MEASURES, Measure
from linkparity.report.audit_page import audit_html

DOCS = Path(__file__).parents[2] / "docs"


def scored_problem(**change):
    rng = np.random.default_rng(0)
    group = np.arange(60) % 3
    index = rng.integers(0, 60, size=(400, 2))
    problem = {
        "logits": rng.normal(size=400),
        "groups": group[index],
        "labels": rng.integers(0, 2, size=400),
        "embedding": rng.normal(size=(60, 4)),
        "node_group": group,
    }
    return {**problem, **change}


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_an_entry_says_what_its_function_does(measure):
    assert measure.sentence[0].isupper()
    assert measure.sentence.endswith(".")
    found = measure.function(ScoredPairs.of(**scored_problem()))
    assert found.unit == measure.unit
    assert not math.isnan(found.value)
    for need in set(measure.needs) - {"candidates"}:
        without = measure.function(ScoredPairs.of(**scored_problem(**{need: None})))
        assert math.isnan(without.value)
    others = {"labels", "embedding"} - set(measure.needs)
    bare = measure.function(ScoredPairs.of(**scored_problem(**dict.fromkeys(others))))
    assert bare.value == pytest.approx(found.value, rel=1e-12)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_an_entry_says_whether_its_estimate_has_an_interval(measure):
    found = measure.function(ScoredPairs.of(**scored_problem()))
    assert measure.has_interval == (found.interval is not None)


def test_tables_of_runs_have_a_column_for_each_measure_of_the_paper():
    shown = {name for name, measure in MEASURES.items() if measure.in_runs}
    assert shown == {"auc", "dp", "eo", "rdp", "rb", "kl"}


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_the_sentence_names_the_value_at_parity(measure):
    if measure.parity is not None:
        assert re.search(rf"\b{measure.parity:g} is (parity|chance)", measure.sentence)
    if measure.worst is None:
        assert "no upper bound" in measure.sentence


def test_parity_is_reached_where_all_scores_are_equal():
    same = ScoredPairs.of(**scored_problem(logits=np.zeros(400), embedding=np.ones((60, 4))))
    for measure in MEASURES.values():
        if measure.parity is not None:
            assert measure.function(same).value == pytest.approx(measure.parity, abs=1e-12)


def test_an_audit_has_the_measures_of_tables():
    scores, people, _ = make_scores()
    audit = lp.audit(scores, "kind", people)
    assert tuple(audit.values) == TABLE_MEASURES
    assert all(tuple(found) == VIEW_MEASURES for found in audit.views.values())
    page = audit_html(audit, [], [])
    for name in TABLE_MEASURES:
        assert MEASURES[name].title in page


def test_the_table_of_the_documentation_is_the_registry():
    text = (DOCS / "auditing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.*) \| (.+) \|$", text, re.M)
    assert rows == [
        (
            measure.name,
            measure.sentence,
            "" if measure.parity is None else f"{measure.parity:g}",
            "no bound" if measure.worst is None else f"{measure.worst:g}",
        )
        for measure in MEASURES.values()
        if measure.in_tables
    ]


def test_an_entry_is_all_that_a_new_measure_needs(monkeypatch):
    def spread(scored):
        return Estimate(float(scored.rows.prob.std()), len(scored.rows), interval=(0.0, 1.0))

    entry = Measure("spread", "Spread", "Standard deviation of the scores.", spread, None, None)
    monkeypatch.setitem(MEASURES, "spread", entry)
    problem = scored_problem()
    scores = lp.score_pairs(**problem)
    assert scores.spread == pytest.approx(np.std(1 / (1 + np.exp(-problem["logits"]))))
    assert scores.intervals["spread"] == (0.0, 1.0)
    assert re.search(rf"spread +│ +{scores.spread:.4f}", str(scores))
    assert scores.to_frame().loc["spread", "count"] == 400
    row = Row(None, "cne", "none", 0, 0, scores.values)
    assert Row.from_json(row.to_json()).spread == scores.spread
