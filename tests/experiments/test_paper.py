"""The paper's tables beside ours: verdicts, and the rows themselves."""

import csv
import json
from pathlib import Path

import pytest
from planted import planted, planted_bipartite

import linkparity as lp
import linkparity.paper
from linkparity.cli.command import main
from linkparity.experiments.fit import DataSource
from linkparity.experiments.results import Spread, summarize
from linkparity.experiments.rows import Row
from linkparity.models import MODELS
from linkparity.paper.comparison import (
    KNOWN,
    compare,
    count_verdicts,
    has_paper_settings,
    verdict,
)
from linkparity.paper.published import Published, published, published_seconds
from linkparity.paper.reproduce import (
    PAPER_DATA,
    REGULARIZED,
    figure2,
    paper_fits,
    run_times,
    searches_beside,
)
from linkparity.paper.subsample_kl import subsample_kl, tilted_kl, training_pairs
from linkparity.paper.tables import comparison_tables, row_label
from linkparity.paper.tuned_fit import TunedFit

FOLDER = Path(linkparity.paper.__file__).parent
SETTINGS = {"pairs": "sampled", "postprocess": None, "tolerance": 0.0}


def row(dataset, model, criterion, seed=0, gamma=None, strength=None, **values):
    made = MODELS[model]
    settings = SETTINGS | {name: getattr(made, name) for name in ("dimension", "epochs", "lr")}
    weight = 100.0 * (criterion != "none") if gamma is None else gamma
    return Row(
        dataset, model, criterion, weight, seed, values, 2.0 + seed, strength, settings=settings
    )


@pytest.mark.parametrize(
    ("measure", "ours", "auc", "said"),
    [
        ("dp", 0.010, 0.880, "agrees"),
        ("dp", 0.024, 0.500, "agrees"),  # within 0.015
        ("dp", 0.026, 0.900, "differs"),
        ("dp", 0.000, 0.100, "agrees"),
        ("eo", 0.389, 0.880, "agrees"),  # within three deviations
        ("eo", 0.391, 0.880, "differs"),
        ("eo", 0.209, 0.880, "differs"),  # smaller, but not the gap that is trained for
        ("auc", 0.880, 0.880, "agrees"),
        ("auc", 0.910, 0.910, "differs"),
    ],
)
def test_verdicts(measure, ours, auc, said):
    theirs = {
        "auc": Published(0.88, 0.005),
        "dp": Published(0.01, 0.001),
        "eo": Published(0.3, 0.03),
    }
    found = {"auc": Spread(auc, 0.1), "dp": Spread(0.01, 0.0), "eo": Spread(0.3, 0.0)}
    found[measure] = Spread(ours, 9.0)
    assert verdict("cne", "dp", measure, found, theirs) == said


def test_a_smaller_gap_is_better_only_where_auc_is_kept():
    theirs = {"auc": Published(0.9, 0.001), "eo": Published(0.3, 0.01)}

    def said(eo, auc, criterion="eo", model="cne"):
        return verdict(model, criterion, "eo", {"auc": Spread(auc, 0), "eo": Spread(eo, 0)}, theirs)

    assert said(0.1, 0.8951) == "better"
    assert said(0.1, 0.8949) == "differs"
    assert said(0.5, 0.99) == "differs"
    assert said(0.1, 0.99, "none") == "differs"
    assert said(0.269, 0.0) == "differs"
    assert said(0.271, 0.0, "none", "cfc") == "agrees"  # within 0.03


def test_only_rows_with_the_papers_settings_are_compared():
    good = row("polblogs", "cne", "dp", auc=0.88, dp=0.01)
    (one,) = summarize([good])
    assert has_paper_settings(one)
    assert {cell.measure for cell in compare([one])} == {"auc", "dp"}
    for name, value in (("pairs", "all"), ("epochs", 3), ("postprocess", "i-projection")):
        other = Row.from_dict(good.to_dict() | {"settings": good.settings | {name: value}})
        assert not compare(summarize([other]))
    assert not compare(summarize([row("polblogs", "cne", "dp", gamma=10.0, auc=0.8)]))
    assert not compare(summarize([row("polbooks", "cne", "dp", auc=0.8)]))
    assert compare(summarize([row("polblogs", "cne", "none", auc=0.8)]))


def test_means_over_the_seeds_are_compared_and_counted():
    rows = [
        row("polblogs", "cne", "dp", seed, auc=0.872 + 0.01 * seed, dp=0.01, rb=0.1)
        for seed in range(3)
    ]
    rows.append(row("ml100k", "cne", "none", auc=0.93, rb=0.9))
    cells = compare(summarize(rows))
    assert [(c.dataset, c.measure, c.verdict) for c in cells] == [
        ("polblogs", "auc", "agrees"), ("polblogs", "dp", "agrees"),
        ("ml100k", "auc", "differs"), ("ml100k", "rb", "differs"),
    ]  # fmt: skip
    assert cells[0].ours == pytest.approx((0.882, 0.01))
    assert cells[0].paper == published()["polblogs", "cne", "dp", "auc"]
    assert "--as-published" in cells[2].reason
    assert count_verdicts(cells) == {"agree": 2, "better": 0, "differ": 2, "total": 4}
    assert json.dumps(cells[0].to_dict(), allow_nan=False)
    points = figure2(summarize(rows))
    assert [(p["dataset"], p["layer"]) for p in points] == [
        ("polblogs", "ours"), ("polblogs", "paper"), ("ml100k", "ours"), ("ml100k", "paper"),
    ]  # fmt: skip
    assert points[0]["auc"] == pytest.approx(0.882)
    assert points[1]["eo"] == published()["polblogs", "cne", "dp", "eo"].mean
    times = run_times(summarize(rows), {("polblogs", "cne", "dp", None): 1.5})
    assert (times[0].seconds, times[0].alone, times[0].paper) == (3.0, 1.5, 574.0)


def test_the_authors_prior_is_told_apart():
    ours = row("ml100k", "cne", "none", auc=0.93)
    theirs = Row.from_dict(
        ours.to_dict() | {"settings": ours.settings | {"options": {"sides": False}}}
    )
    cells = compare(summarize([ours, theirs]))
    assert [(c.as_published, c.verdict) for c in cells] == [(False, "differs"), (True, "differs")]
    assert "--as-published" in cells[0].reason
    assert cells[1].reason == "not explained"
    assert [row_label(cell) for cell in cells] == ["none", "none, authors' prior"]
    (names, rows) = comparison_tables(cells)["ml100k"]
    assert (names, len(rows)) == (["auc"], 2)


def test_every_published_number_is_in_the_package():
    with (FOLDER / "results.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    strengths = {float(each["strength"]) for each in rows if each["criterion"] == "adversary"}
    found = sum(len(published(strength)) for strength in (0, *strengths))
    assert found == len(rows) == 246
    assert len(published_seconds()) == 45
    assert all(key in published() for key in KNOWN)


def test_the_papers_fits_are_all_of_its_rows_with_its_settings():
    fits = paper_fits(["polblogs"], 2)
    rows = {key[1:3] for key in published() if key[0] == "polblogs" and key[1] in MODELS}
    assert {(f.parameters["model"], f.parameters.get("criterion", "none")) for f in fits} == rows
    assert len({fit.id for fit in fits}) == len(fits)
    for fit in fits:
        assert fit.parameters["pairs"] == "sampled"
        assert fit.parameters.get("gamma", 100) == 100
        assert ("rb" in fit.measures) == ("criterion" not in fit.parameters)
    assert [fit.parameters["seed"] for fit in fits] == sorted(
        fit.parameters["seed"] for fit in fits
    )
    assert not any("options" in fit.parameters for fit in paper_fits(["polblogs"], 1, True))
    strengths = [f.parameters["strength"] for f in fits if f.parameters["model"] == "cfc"]
    assert sorted(strengths) == [0, 0, 10, 10, 100, 100, 1000, 1000]
    assert not any("strength" in f.parameters for f in fits if f.parameters["model"] != "cfc")


def test_rows_of_cfc_are_compared_with_those_of_their_strength():
    rows = [row("polblogs", "cfc", "none", strength=s, auc=0.9, rb=0.9) for s in (0.0, 10.0)]
    cells = compare(summarize(rows))
    assert [(c.strength, c.measure, c.paper.mean) for c in cells] == [
        (0.0, "auc", 0.938), (0.0, "rb", 0.977), (10.0, "auc", 0.920), (10.0, "rb", 0.940),
    ]  # fmt: skip
    assert [c.verdict for c in cells] == ["differs", "differs", "agrees", "agrees"]


def test_ids_of_the_papers_fits_stay_what_they_were():
    """Files of rows, docs/reproduction among them, are found again by these."""
    wanted = {"none": "4e55e63ce649f3b4", "dp": "4f7003cedba1d7a7", "eo": "f46bb46e6904a674"}
    fits = paper_fits(["polblogs"], 1, models=["maxent"])
    assert {fit.parameters.get("criterion", "none"): fit.id for fit in fits} == wanted


def test_what_tune_finds_is_a_layer_of_its_own():
    fits = paper_fits(["polblogs"], 5, models=["maxent", "debayes"])
    searches = searches_beside(fits)
    assert len(searches) == 3 * 2  # seeds, criteria
    assert len({fit.id for fit in (*fits, *searches)}) == len(fits) + len(searches)
    limits = {tuple(fit.max_gap.items()) for fit in searches}
    assert limits == {
        ((name, share * published()["polblogs", "maxent", name, name].mean),)
        for name, share in (("dp", 0.5), ("eo", 1.0))
    }
    graph = planted(scale=2)
    rows = []
    for seed in range(2):
        fit = TunedFit(DataSource("mine"), "hash", {"model": "maxent", "seed": seed},
                       ("auc", "dp", "eo"), {"dp": 0.05})  # fmt: skip
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DataSource, "graph", lambda self: graph)
            rows.append(fit.row())
    assert [row.error for row in rows] == [None, None]
    assert rows[0].id != rows[1].id
    (one,) = summarize(rows)
    assert one.method == "maxent + dp, tuned to dp ≤ 0.05"
    assert not has_paper_settings(one)
    assert run_times([one], {}) == []
    (point,) = figure2([one])
    assert point["layer"] == "tuned"
    model = lp.tune(graph, {"dp": 0.05}, "maxent", seed=0).predictor
    again = lp.evaluate(model, lp.split_links(graph, test=0.2, seed=0))
    assert (rows[0].auc, rows[0].dp) == (again.auc, again.dp)
    exact = lp.evaluate(model, lp.split_links(graph, test=0.2, seed=0), over="candidates").dp
    assert rows[0].settings["dp_over_candidates"] == exact
    assert any("tune chose maxent" in note for note in rows[0].notes)


@pytest.mark.standing
def test_polblogs_is_reproduced(capfd, tmp_path):
    args = ["reproduce", "polblogs", "--seeds", "2", "--quick", "--jobs", "2", "--json"]
    with pytest.raises(SystemExit) as done:
        main([*args, "--out", str(tmp_path / "rows.jsonl")])
    assert not done.value.code
    told = json.loads(capfd.readouterr().out)
    differ = [c for c in told["comparison"] if c["verdict"] == "differs"]
    assert [c for c in differ if c["model"] != "cfc"] == []
    assert all("is not published" in c["reason"] for c in differ)
    assert told["cells"]["total"] >= 51
    assert told["figure3"] == []
    assert all(each["alone"] is None and each["paper"] for each in told["runtimes"])
    wanted = "dataset model criterion gamma seed auc dp eo rdp rb kl fit_seconds strength"
    assert all(set(wanted.split()) <= row.keys() for row in told["rows"])
    assert {row["model"] for row in told["rows"]} >= set(REGULARIZED)
    assert len(lp.Results.read(tmp_path / "rows.jsonl")) == len(told["rows"])


def larger_rows(dataset, model, criterion, as_published=False):
    """The cells of one row of the larger data sets, one seed."""
    (fit,) = (
        fit
        for fit in paper_fits([dataset], 1, as_published)
        if (fit.parameters["model"], fit.parameters.get("criterion", "none")) == (model, criterion)
    )
    cells = compare(summarize([fit.row()]))
    assert cells
    return {cell.measure: cell for cell in cells}


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["none", "dp"])
@pytest.mark.parametrize("model", ["maxent", "gae"])
@pytest.mark.parametrize("dataset", ["ml100k", "facebook"])
def test_rows_of_the_larger_data_sets_are_the_papers(dataset, model, criterion):
    for measure, cell in larger_rows(dataset, model, criterion).items():
        assert cell.verdict != "differs" or (dataset, model, criterion, measure) in KNOWN, cell


@pytest.mark.data
@pytest.mark.slow
def test_as_published_the_prior_of_ml100k_gives_the_papers_numbers():
    assert larger_rows("ml100k", "maxent", "none")["eo"].verdict == "differs"
    cells = larger_rows("ml100k", "maxent", "none", as_published=True)
    assert {cell.verdict for cell in cells.values()} == {"agrees"}


@pytest.mark.data
def test_bipartite_data_are_fitted_with_the_authors_prior_where_asked():
    with_option = [
        fit.parameters["model"] for fit in paper_fits(["ml100k"], 1, True)
        if fit.parameters.get("options") == {"sides": False}
    ]  # fmt: skip
    assert {"maxent", "cne"} <= set(with_option)
    assert not {"gae", "dot-product"} & set(with_option)
    assert set(PAPER_DATA) == {key[0] for key in published()}


def test_a_model_that_knows_no_sides_expects_the_degrees_over_all_pairs():
    graph = planted_bipartite()
    model = lp.LinkPredictor("maxent", options={"sides": False}).fit(graph)
    every = next(lp.all_pairs(lp.Graph(graph.num_nodes, graph.links, graph.group)))
    prob = model.predict_proba(every.index)
    for node in (0, 5, graph.num_nodes - 1):
        own = (every.index == node).any(dim=1).numpy()
        assert prob[own].sum() == pytest.approx(int(graph.degree()[node]), rel=1e-6)


def test_estimates_on_samples_approach_the_exact_divergence():
    graph = planted(scale=2)
    predictor = lp.LinkPredictor("dot-product", epochs=60).fit(graph)
    found = subsample_kl(graph, predictor, sizes=(30, 300, 3000, 10**9), draws=8)
    *_, exact = found
    pairs = training_pairs(graph, 0)
    assert exact.size == len(pairs)
    p = lp.i_project(predictor.predict_logits(pairs), groups=graph.group[pairs])
    assert exact.kl == pytest.approx(float(p.kl) / len(pairs))
    assert tilted_kl(p.given, p.logits) == pytest.approx(float(p.kl), rel=1e-6)
    off = [
        sum(abs(each.kl - exact.kl) for each in found if each.size == size) / 8
        for size in (30, 300, 3000)
    ]
    assert off[0] > 3 * off[1] > 9 * off[2]
    assert all(each.bound <= exact.kl + 1e-12 for each in found)
    assert {each.size for each in found} == {30, 300, 3000, len(pairs)}


def test_an_unknown_data_set_is_one_line(capfd):
    with pytest.raises(SystemExit) as done:
        main(["reproduce", "polblog"])
    assert done.value.code == 2
    assert "unknown data set of the paper 'polblog'; did you mean 'polblogs'?" in (
        capfd.readouterr().err
    )
