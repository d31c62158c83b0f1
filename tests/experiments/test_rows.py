"""Rows of runs: every key, and back from JSON without loss."""

import copy
import json
import math
import pickle

import pytest
import torch

import linkparity as lp
from linkparity.experiments.rows import Row
from linkparity.experiments.train import train_run
from linkparity.metrics.measures import MEASURES
from linkparity.metrics.results import CellScore
from linkparity.support.errors import InputError

KEYS = (
    "dataset model criterion gamma strength seed auc auc_candidates ap dp eo rdp rb kl fit_seconds "
    "epochs pairs links intervals cells reasons notes error test_pairs settings versions threads "
    "id data_sha256 peak_memory history quantiles"
)


@pytest.fixture(scope="module")
def run():
    predictor = lp.LinkPredictor("maxent", "dp", gamma=3.5, seed=2)
    return train_run(lp.load("polbooks"), predictor, dataset="polbooks", test_pairs="paper")


def test_a_row_has_the_keys_of_train_json_and_the_runs_own_numbers(run):
    row = Row.of(run)
    assert set(row.to_dict()) == set(KEYS.split())
    assert run.to_dict() == row.to_dict()
    assert (row.dataset, row.model, row.criterion, row.gamma, row.seed) == (
        ("polbooks", "maxent", "dp", 3.5, 2)
    )
    assert row.values.keys() == MEASURES.keys()
    assert math.isnan(row.auc_candidates)
    assert row.dp == run.scores.dp
    assert math.isnan(row.rb)
    assert row.to_dict()["rb"] is None
    assert row.fit_seconds == run.predictor.fit_seconds_


def test_a_row_comes_back_from_json_as_it_was(run):
    row = Row.of(run)
    back = Row.from_json(row.to_json())
    assert back == row
    for name in ("values", "cells", "intervals", "notes"):
        assert repr(getattr(back, name)) == repr(getattr(row, name))
    assert math.isnan(back.rb)
    assert "\n" not in row.to_json()
    assert json.loads(row.to_json()) == row.to_dict()
    for other in (copy.deepcopy(back), pickle.loads(pickle.dumps(back))):
        assert other == row


def test_a_row_has_the_number_of_threads_and_an_older_one_has_none(run):
    before = torch.get_num_threads()
    torch.set_num_threads(before + 1)
    try:
        assert run.to_dict()["threads"] == before + 1
    finally:
        torch.set_num_threads(before)
    older = run.to_dict()
    del older["threads"]
    assert Row.from_dict(older).threads is None


def test_undefined_numbers_are_null_wherever_they_are():
    nan = math.nan
    row = Row(
        None, "cne", "none", 0, 0, {"dp": nan, "auc": 0.1 + 0.2}, intervals={"dp": (nan, nan)},
        cells=(CellScore(("a", "b"), 0, None, nan, nan),), error="NotConverged: “é”",
    )  # fmt: skip
    text = row.to_json()
    assert "NaN" not in text
    assert json.loads(text)["intervals"] == {"dp": [None, None]}
    back = Row.from_json(text)
    assert back == row
    assert back.auc == 0.1 + 0.2
    assert math.isnan(back.cells[0].mean)
    assert back != Row(None, "cne", "none", 0, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"modle": "cne"}, r"unknown key 'modle' in a row; did you mean 'model'\?"),
        ({"acu": 0.5}, r"unknown key 'acu' in a row; did you mean 'auc'\?"),
        ({"values": {}}, "unknown key 'values' in a row"),
    ],
)
def test_unknown_keys_are_refused_with_the_nearest_name(run, change, message):
    with pytest.raises(InputError, match=message):
        Row.from_dict(run.to_dict() | change)


def test_what_is_no_row_is_refused(run):
    with pytest.raises(InputError, match="the row has no 'seed'"):
        Row.from_dict({key: value for key, value in run.to_dict().items() if key != "seed"})
    with pytest.raises(InputError, match="is not JSON"):
        Row.from_json(Row.of(run).to_json()[:50])
    with pytest.raises(InputError, match="is not a JSON object"):
        Row.from_json("[1, 2]")


def test_an_unknown_measure_is_an_attribute_error(run):
    with pytest.raises(
        AttributeError, match="Row has no 'aux'; measures: auc, auc_candidates, ap, dp"
    ):
        _ = Row.of(run).aux
