"""Figures are tested by their data."""

import json
import re

import numpy as np
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st
from made_up_rows import EVIL, PAIRS, made_up_results, made_up_row

import linkparity as lp
from linkparity.experiments.fit import LEVELS
from linkparity.experiments.results import Results
from linkparity.experiments.rows import Row
from linkparity.models import MODELS
from linkparity.paper.published import published, published_seconds
from linkparity.paper.report import published_points
from linkparity.report import chart_data
from linkparity.report.chart_style import ChartStyle
from linkparity.report.charts import tradeoff
from linkparity.report.choices import ALL_SEEDS, Choices
from linkparity.report.findings import facts, findings, notes, pareto_front
from linkparity.report.method_charts import NUMBER

RESULTS = made_up_results()
SUMMARIES = RESULTS.summaries()
FRAME = RESULTS.to_frame()


def test_points_are_means_with_deviations_and_every_seed():
    found = chart_data.points(SUMMARIES)
    means = [each for each in found if each["seed"] == ALL_SEEDS]
    assert (len(means), len(found)) == (20, 20 + 60)
    keys = ["dataset", "model", "criterion", "gamma"]
    oracle = FRAME.groupby(keys)[["auc", "dp"]].agg(["mean", "std"])
    for each in means:
        gamma = float(each["method"].rpartition(" ")[2]) if "gamma" in each["method"] else 0.0
        own = oracle.loc[(each["dataset"], each["model"], each["criterion"], gamma)]
        assert each["auc"] == pytest.approx(own[("auc", "mean")], rel=1e-4)
        low, high = (
            own[("dp", "mean")] - own[("dp", "std")],
            own[("dp", "mean")] + own[("dp", "std")],
        )
        assert (each["dp_low"], each["dp_high"]) == pytest.approx((low, high), rel=1e-3)
        assert "rb" not in each
    one = next(each for each in found if each["seed"] == "2")
    assert one["dp_high"] - one["dp_low"] == pytest.approx(0.02, abs=1e-4)  # its interval


def test_a_single_seed_has_intervals_for_bars():
    found = chart_data.points(made_up_results(seeds=1).summaries())
    assert {each["seed"] for each in found} == {ALL_SEEDS}
    assert all(e["dp_high"] - e["dp_low"] == pytest.approx(0.02, abs=1e-4) for e in found)


def test_strength_curves_start_at_the_plain_model():
    found = [e for e in chart_data.strength_curves(SUMMARIES) if e["seed"] == ALL_SEEDS]
    curves = {(e["dataset"], e["curve"]) for e in found}
    assert len(curves) == 2 * 4
    for dataset, curve in curves:
        own = [e for e in found if (e["dataset"], e["curve"]) == (dataset, curve)]
        assert [e["weight"] for e in own] == [0, 10, 100]
        assert own[0]["method"] == curve.split(" + ")[0]
        assert own[0]["dp"] > own[1]["dp"] > own[2]["dp"]
    assert not chart_data.strength_curves(made_up_results(gammas=(100.0,)).summaries())


def test_charts_show_small_numbers_with_their_digits():
    for chart in lp.Report(RESULTS).charts.values():
        text = json.dumps(chart.to_dict())
        assert set(re.findall(r'"format": "(\.\d~?f)"', text)) <= {".2f"}  # seconds
    values = {0.25: "0.250", 0.0123: "0.0123", 3.2e-5: "3.2e-5", 0.0: "0.0000"}
    spec = {
        "data": {"values": [{"value": value} for value in values]},
        "transform": [{"calculate": NUMBER, "as": "label"}],
        "mark": "text",
        "encoding": {"text": {"field": "label"}},
    }
    drawn = vl_convert.vegalite_to_svg(spec)
    assert re.findall(r"<text[^>]*>([^<]+)</text>", drawn) == list(values.values())


def test_heatmaps_have_both_triangles_and_means_over_the_seeds():
    found = chart_data.heatmaps(SUMMARIES)
    mean = next(e for e in found if e["seed"] == ALL_SEEDS)
    rows = [r for r in RESULTS if (r.dataset, r.model, r.criterion) == ("polbooks", "cne", "none")]
    squares = dict(zip(zip(mean["a"], mean["b"], strict=True), mean["pairs"], strict=True))
    assert len(squares) == 9
    for place, (a, b) in enumerate(PAIRS):
        assert squares[a, b] == squares[b, a]
        assert squares[a, b] == pytest.approx(
            np.mean([r.cells[place].mean for r in rows]), rel=1e-4
        )
    assert len(found) == 20 * 4


def test_pairs_of_groups_that_some_seeds_lack_are_means_over_the_others():
    rows = [made_up_row("polbooks", "cne", "none", 0.0, seed) for seed in range(2)]
    short = rows[0].to_dict()
    short["cells"], short["quantiles"] = short["cells"][1:], short["quantiles"][1:]
    summaries = Results((Row.from_dict(short), rows[1])).summaries()
    mean = chart_data.heatmaps(summaries)[0]
    squares = dict(zip(zip(mean["a"], mean["b"], strict=True), mean["pairs"], strict=True))
    assert squares["left", "left"] == pytest.approx(rows[1].cells[0].mean, rel=1e-4)
    assert squares["right", "right"] == pytest.approx(
        np.mean([row.cells[5].mean for row in rows]), rel=1e-4
    )
    pairs = chart_data.distributions(summaries)[0]["pair"]
    assert len(set(pairs)) == 6


def test_distributions_are_the_quantiles_on_the_scale_of_log_odds():
    found = next(e for e in chart_data.distributions(SUMMARIES) if e["seed"] == "1")
    row = next(r for r in RESULTS if r.seed == 1)
    for place, (pair, over) in enumerate(zip(found["pair"], found["over"], strict=True)):
        own = next(q for q in row.quantiles if " – ".join(q["groups"]) == pair)
        drawn = [found[f"q{100 * level:g}"][place] for level in LEVELS]
        assert 1 / (1 + np.exp(-np.array(drawn))) == pytest.approx(np.array(own[over]), rel=1e-3)
    assert chart_data.logit(1.0) == chart_data.MAX_LOGIT == -chart_data.logit(0.0)


def test_training_is_there_for_every_fit():
    found = chart_data.histories(SUMMARIES)
    assert len(found) == len(RESULTS)
    assert found[0]["epoch"] == RESULTS[0].history["epoch"]


def test_choices_are_what_the_rows_have():
    choices = Choices.of(SUMMARIES)
    assert choices.seeds == ["all", "0", "1", "2"]
    assert (choices.gaps, choices.qualities) == (["dp", "eo"], ["auc"])
    assert choices.plain["cne + dp, gamma 100"] == "cne"
    assert choices.plain["dot-product"] == "dot-product"
    assert choices.shown["mine"].endswith("gamma 100")


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_the_front_is_what_nobody_beats(points):
    front = {points[place] for place in pareto_front(points)}

    def beaten(gap, quality):
        return any(g <= gap and q >= quality and (g, q) != (gap, quality) for g, q in points)

    assert front == {point for point in points if not beaten(*point)}


def test_findings_name_the_worst_first():
    worse = [made_up_row("bad", "cne", "none", 0.0, 0), made_up_row("bad", "cne", "dp", 100.0, 0)]
    worse[0].values["dp"] = 0.9
    worse[1].values["eo"] = 0.8
    found = findings(Results((*RESULTS, *worse)).summaries())
    assert next(iter(found)) == "bad"
    said = " ".join(found["bad"])
    assert "cne has the largest gap: dp 0.9000" in said
    assert "cne + dp, gamma 100 takes dp from 0.9000 to" in said
    assert "cne + dp, gamma 100 widens eo from" in said
    assert f"for {' – '.join(PAIRS[-1])}" in said
    assert "3 seeds" in " ".join(found["mine"])


def test_facts_and_notes():
    told = facts(SUMMARIES, 2)
    assert told["dp, rdp and kl are over"].startswith("the held-out links")
    assert told["weights of the regularizer"] == "10, 100"
    assert told["fits"] == "60, and 2 that failed"
    assert notes(RESULTS) == [f"A note of {EVIL}."]


def test_charts_are_altair_objects_that_a_notebook_shows():
    report = lp.Report(RESULTS)
    names = "tradeoff strength-quality strength-gap groups-before groups-after distribution"
    assert set(report.charts) == {*names.split(), "training", "times"}
    chart = report.charts["tradeoff"]
    assert type(chart).__module__.startswith("altair")
    bound = {p["name"] for p in chart.to_dict()["params"] if "bind" in p}
    assert bound == {"dataset", "seed", "gap", "quality", "followed"}


def test_the_papers_points_are_tied_to_ours():
    rows = tuple(made_up_row("polblogs", "cne", "none", 0.0, seed) for seed in range(2))
    for row in rows:
        row.settings.update({n: getattr(MODELS["cne"], n) for n in ("dimension", "epochs", "lr")})
    summaries = Results(rows).summaries()
    charts = ChartStyle(summaries, published=published_points(summaries))
    (point,) = charts.published
    assert point["auc"] == published()["polblogs", "cne", "none", "auc"].mean
    assert point["paper_seconds"] == published_seconds()["polblogs", "cne", "none"]
    ours = np.mean([row.auc for row in rows])
    (tied,) = [
        each
        for data in tradeoff(charts).to_dict()["datasets"].values()
        for each in data
        if "our_auc" in each
    ]
    assert tied["our_auc"] == pytest.approx(ours, rel=1e-4)


def test_rows_without_extras_have_fewer_charts():
    found = lp.Report(made_up_results(bare=True)).charts
    assert set(found) == {"tradeoff", "strength-quality", "strength-gap", "times"}
