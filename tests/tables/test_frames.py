"""Tables in memory: every kind, lazy or of any Ibis backend, gives the same and comes back."""

import duckdb
import ibis
import numpy as np
import pandas as pd
import pytest
from table_cases import make_scores

import linkparity as lp

pl = pytest.importorskip("polars")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def case():
    scores, people, _ = make_scores(40)
    return scores, people


@pytest.fixture(scope="module")
def known(case):
    scores, people = case
    return lp.audit(scores, "kind", people), by_pair(lp.project(scores, "kind", people))


def by_pair(frame):
    return frame.set_index(["source", "target"]).fair_score.sort_index()


LAZY = {
    "plain": lambda frame: frame.lazy(),
    "grouped": lambda frame: (
        frame.lazy().group_by("source", "target").agg(pl.col("score").mean(), pl.col("label").max())
    ),
    "joined": lambda frame: frame.lazy().join(
        frame.lazy().select("source", "target", again="score"), on=["source", "target"]
    ),
}


@pytest.mark.parametrize("kind", LAZY)
def test_a_lazy_frame_is_worked_out_once(case, known, kind):
    scores, people = case
    fair = lp.project(LAZY[kind](pl.from_pandas(scores)), "kind", people)
    assert isinstance(fair, pl.LazyFrame)
    assert np.allclose(by_pair(fair.collect().to_pandas()), known[1], atol=1e-12)


def test_a_relation_in_random_order_keeps_scores_and_rows_together(case, known):
    scores, people = case
    con = duckdb.connect()
    con.register("scores", scores)
    fair = lp.project(con.sql("SELECT * FROM scores ORDER BY random()"), "kind", people)
    assert isinstance(fair, duckdb.DuckDBPyRelation)
    assert np.allclose(by_pair(fair.df()), known[1], atol=1e-12)


def test_scores_of_half_precision(case, known):
    scores, people = case
    halves = scores.assign(score=scores.score.astype("float16"))
    assert lp.audit(halves, "kind", people).dp == pytest.approx(known[0].dp, abs=1e-3)
    fair = lp.project(halves, "kind", people)
    assert fair.score.dtype == "float16"
    assert np.allclose(by_pair(fair), known[1], atol=2e-3)


def backends(scores, people):
    one, other = ibis.duckdb.connect(), ibis.duckdb.connect()
    lite, polars = ibis.sqlite.connect(), ibis.polars.connect()
    table = one.create_table("s", scores)
    return {
        "one connection": (table, one.create_table("n", people)),
        "frame of nodes": (table, people),
        "lazy frame of nodes": (table, pl.from_pandas(people).lazy()),
        "two connections": (table, other.create_table("n", people)),
        "frame of scores": (scores, other.table("n")),
        "sqlite": (lite.create_table("s", scores), lite.create_table("n", people)),
        "polars": (
            polars.create_table("s", pl.from_pandas(scores)),
            polars.create_table("n", pl.from_pandas(people)),
        ),
    }


@pytest.mark.parametrize(
    "name",
    [
        "one connection", "frame of nodes", "lazy frame of nodes", "two connections",
        "frame of scores", "sqlite", "polars",
    ],
)  # fmt: skip
def test_ibis_tables_of_any_backend(case, known, name):
    table, nodes = backends(*case)[name]
    assert lp.audit(table, "kind", nodes).values == pytest.approx(known[0].values, abs=1e-9)
    fair = lp.project(table, "kind", nodes)
    if name != "frame of scores":
        assert fair.get_backend() is table.get_backend()
        fair = fair.to_pandas()
    assert np.allclose(by_pair(fair), known[1], atol=1e-9)
    assert list(fair.columns) == [*case[0].columns, "fair_score"]


def test_an_ibis_table_has_no_rows_to_name(case):
    scores, people = case
    con = ibis.duckdb.connect()
    nodes = con.create_table("n", people)
    for name, frame, said in (
        (
            "high",
            scores.assign(score=2.0),
            "column 'score': a row holds something that is not a prob",
        ),
        ("twice", pd.concat([scores, scores[:3]]), r"a pair is repeated \(3 repeated rows\)"),
        ("strange", scores.replace({"source": {"007": "x"}}), "a node is not in nodes"),
        ("own", scores.assign(_lp_row=1), "names that begin with '_lp_'"),
    ):
        with pytest.raises(ValueError, match=said):
            lp.audit(con.create_table(name, frame), "kind", nodes)
    torn = con.create_table("torn", pd.concat([people, people[:1].assign(kind="zz")]))
    table = con.create_table("s", scores)
    with pytest.raises(ValueError, match="'red' and 'zz'; keep one"):
        lp.audit(table, "kind", torn)
    found = lp.audit(con.table("twice"), "kind", nodes, duplicates="first")
    assert found.dropped == {"duplicates": 3}


def test_columns_that_are_not_read_may_hold_anything(case, known):
    scores, people = case
    odd = scores.assign(extra=[[1, "x"][i % 2] for i in range(len(scores))], z=1 + 2j)
    fair = lp.project(odd, "kind", people.assign(extra=[object()] * len(people)))
    assert np.allclose(by_pair(fair), known[1])
    assert fair.extra.tolist() == odd.extra.tolist()


def test_values_of_several_types_read_as_text(case, known):
    scores, people = case
    coded = people.assign(kind=[{"red": 1, "green": "two", "blue": 3.5}[k] for k in people.kind])
    found = lp.audit(scores, "kind", coded)
    assert sorted(found.groups) == ["1", "3.5", "two"]
    assert found.dp == pytest.approx(known[0].dp)
    number = {node: i if i % 2 else str(i) for i, node in enumerate(people.node)}
    mixed = scores.assign(source=scores.source.map(number), target=scores.target.map(number))
    fair = lp.project(mixed, "kind", people.assign(node=people.node.map(number)))
    assert np.allclose(fair.fair_score, lp.project(scores, "kind", people).fair_score)
    assert fair.source.tolist() == mixed.source.tolist()


def test_a_column_named_by_a_number_is_let_be(case, known):
    scores, people = case
    odd = scores.rename(columns={"label": 0})
    assert lp.audit(odd, "kind", people).dp == pytest.approx(known[0].dp)
    assert list(lp.project(odd, "kind", people).columns) == [*odd.columns, "fair_score"]
    with pytest.raises(ValueError, match="no column 'Kind'; did you mean 'kind'"):
        lp.audit(odd, "Kind", people.rename(columns={"node": 1}))


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_ids_of_two_types_are_one_where_they_read_alike():
    frame = pd.DataFrame(
        {
            "source": [1, 2, 3, 1], "target": [2, 3, 4, 4], "score": [0.1, 0.2, 0.3, 0.4],
            "source_g": ["a", "b", "c", "a"], "target_g": ["b", "c", "b", "b"],
        }
    )  # fmt: skip
    plain = lp.audit(frame, "g")
    for other in (frame.astype({"source": float}), frame.astype({"target": str})):
        found = lp.audit(other, "g")
        assert found.groups == plain.groups == {"a": 1, "b": 2, "c": 1}
        assert found.values == pytest.approx(plain.values, nan_ok=True)
    again = pd.concat([frame, pd.DataFrame([(2, 1, 0.9, "b", "a")], columns=frame.columns)])
    with pytest.raises(ValueError, match=r"the pair \(2.0, 1\) repeats row 1"):
        lp.audit(again.astype({"source": float}), "g")
    nodes = pd.DataFrame({"node": [1.0, 2.0, 3.0, 4.0], "g": list("abcb")})
    named = lp.audit(frame[["source", "target", "score"]], "g", nodes)
    assert named.groups == plain.groups


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_sides_with_the_same_ids_and_groups_of_their_own():
    rng = np.random.default_rng(0)
    pairs = [(i, j) for i in range(12) for j in range(9)]
    frame = pd.DataFrame(pairs, columns=["source", "target"])
    frame["score"] = rng.random(len(frame))
    frame["source_g"] = [f"user {i % 3}" for i in frame.source]
    frame["target_g"] = [f"item {j % 3}" for j in frame.target]
    found = lp.audit(frame, "g", bipartite=True)
    assert sum(found.groups.values()) == 12 + 9
    means = frame.groupby(["source_g", "target_g"]).score.mean()
    assert found.dp == pytest.approx(means.max() - means.min())
    with pytest.raises(ValueError, match=r"node \d+ has two groups in this table"):
        lp.audit(frame, "g", directed=True, self_loops="drop")
    torn = frame.copy()
    torn.loc[20, "target_g"] = "item 7"
    with pytest.raises(ValueError, match=f"column 'target': node {torn.target[20]} has two"):
        lp.audit(torn, "g", bipartite=True)


def test_groups_are_single_values(case):
    scores, people = case
    with pytest.raises(ValueError, match="column 'kind' holds lists or records, which cannot be"):
        lp.audit(scores, "kind", people.assign(kind=[[1]] * len(people)))
    far = people.assign(kind=[np.inf, 1.0, 2.0, -1.0] * 10)
    assert list(lp.audit(scores, "kind", far).groups) == ["-1", "1", "2", "inf"]


def test_many_groups_give_the_measures_in_memory():
    rng = np.random.default_rng(0)
    nodes = pd.DataFrame({"node": range(240), "g": np.arange(240) % 60})
    i, j = np.triu_indices(240, 1)
    frame = pd.DataFrame({"source": i, "target": j, "score": rng.random(len(i))})
    found = lp.audit(frame, "g", nodes, confidence=None)
    known = lp.score_pairs(
        prob=frame.score, groups=np.stack([i % 60, j % 60], axis=1), confidence=None
    )
    assert len(found.cells) == 60 * 61 // 2
    for name in ("dp", "rdp", "kl"):
        assert found.values[name] == pytest.approx(known.values[name], abs=1e-9)


@pytest.mark.parametrize(
    "asked", [{"target": 0.3}, {"tolerance": 0.1}, {"criterion": "eo"}], ids=str
)
def test_saved_tilts_are_used_as_they_are(case, tmp_path, asked):
    scores, people = case
    lp.project(scores, "kind", people, save_tilts=tmp_path / "t.json")
    with pytest.raises(ValueError, match=r"t.json: .*; leave out (target|criterion)="):
        lp.project(scores, "kind", people, apply=tmp_path / "t.json", **asked)


def test_columns_of_one_name_and_durations():
    seconds = {node: 1 + place // 2 for place, node in enumerate("abcdef")}
    pairs = ["ac", "bd", "ce", "df", "ea", "fb"]
    table = pd.DataFrame({
        "source": [pair[0] for pair in pairs],
        "target": [pair[1] for pair in pairs],
        "score": np.linspace(0.1, 0.6, 6),
        "source_group": pd.to_timedelta([seconds[pair[0]] for pair in pairs], unit="s"),
        "target_group": pd.to_timedelta([seconds[pair[1]] for pair in pairs], unit="s"),
    })  # fmt: skip
    assert len(lp.audit(table, "group").cells) == 3
    table.columns = [*table.columns[:4], "source_group"]
    with pytest.raises(ValueError, match="column 'source_group' occurs twice"):
        lp.audit(table, "group")
