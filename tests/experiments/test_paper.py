"""Each model's rows of the paper's tables, one seed; benchmarks/quality.py has all three seeds."""

import importlib.util
from pathlib import Path

import pytest

from linkparity.experiments.paper import published

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
spec = importlib.util.spec_from_file_location("quality", BENCHMARKS / "quality.py")
quality = importlib.util.module_from_spec(spec)
spec.loader.exec_module(quality)
PAPER = published()


def check(dataset, model, criterion):
    theirs = {
        name: PAPER[key]
        for name in quality.MEASURES
        if (key := (dataset, model, criterion, name)) in PAPER
        and not (name == "rb" and criterion != "none")
    }
    ours = quality.score(dataset, model, criterion, seed=0)
    for name, known in theirs.items():
        if (dataset, model, criterion, name) not in quality.KNOWN:
            said = quality.verdict(criterion, name, ours, theirs)
            assert said != "beyond", (name, ours[name], known)


@pytest.mark.parametrize("criterion", quality.CRITERIA)
@pytest.mark.parametrize("model", quality.MODELS)
def test_polblogs_rows_are_the_papers(model, criterion):
    check("polblogs", model, criterion)


@pytest.mark.filterwarnings("ignore:debayes:linkparity.GraphWarning")
def test_polblogs_row_of_debayes_is_the_papers():
    check("polblogs", "debayes", "none")


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["none", "dp"])
@pytest.mark.parametrize("model", ["maxent", "gae"])
@pytest.mark.parametrize("dataset", ["ml100k", "facebook"])
def test_rows_of_the_larger_data_sets_are_the_papers(dataset, model, criterion):
    check(dataset, model, criterion)
