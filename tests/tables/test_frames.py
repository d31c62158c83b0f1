"""Tables in memory and streams of Arrow batches: every kind gives the same and comes back."""

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
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


def test_scores_of_half_precision(case, known):
    scores, people = case
    halves = scores.assign(score=scores.score.astype("float16"))
    assert lp.audit(halves, "kind", people).dp == pytest.approx(known[0].dp, abs=1e-3)
    fair = lp.project(halves, "kind", people)
    assert fair.score.dtype == "float16"
    assert np.allclose(by_pair(fair), known[1], atol=2e-3)


class Batches:
    """Like an Ibis table: batches, and nothing else."""

    def __init__(self, table):
        self.table = table

    def to_pyarrow_batches(self):
        return self.table.to_reader(max_chunksize=50)


class Stream:
    """Like the reader of an ADBC driver: a stream of Arrow batches, and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


CONNECTION = duckdb.connect()
STREAMS = {
    "batches": Batches,
    "stream": Stream,
    "reader that is read once": lambda table: table.to_reader(),
    "relation": CONNECTION.from_arrow,
    "table": lambda table: table,
}


def as_arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


@pytest.mark.parametrize("kind", STREAMS)
def test_streams_give_the_same_and_come_back_as_arrow(case, known, kind):
    scores, people = map(as_arrow, case)
    scores = scores.append_column("note", pa.array([[i] for i in range(len(scores))]))
    made = STREAMS[kind]
    found = lp.audit(made(scores), "kind", made(people))
    assert found.values == pytest.approx(known[0].values, abs=1e-12)
    fair = lp.project(made(scores), "kind", made(people))
    assert isinstance(fair, pa.Table)
    assert fair.column_names == [*scores.column_names, "fair_score"]
    assert fair.drop(["fair_score"]).to_pylist() == scores.to_pylist()
    assert np.allclose(by_pair(fair.to_pandas()), known[1], atol=1e-12)
    changed = lp.project(made(scores), "kind", made(people), unknown="drop", duplicates="first")
    assert changed.equals(fair)


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_graphs_of_streams_are_those_of_frames(case, kind):
    scores, people = case
    links = scores.loc[scores.label == 1, ["source", "target"]]
    graph = lp.Graph.from_frames(links, people, "kind")
    made = STREAMS[kind]
    other = lp.Graph.from_frames(made(as_arrow(links)), made(as_arrow(people)), "kind")
    assert other.names == graph.names
    assert other.links.equal(graph.links)
    assert other.group.equal(graph.group)
    odd = people.assign(kind=people.kind.where(people.index != 1, None))
    with pytest.raises(ValueError, match=r"nodes: row 2, column 'kind': node .* has no kind"):
        lp.Graph.from_frames(made(as_arrow(links)), made(as_arrow(odd)), "kind")


ODD = {
    "null": pa.null(), "nanoseconds": pa.timestamp("ns", "UTC"), "duration": pa.duration("s"),
    "interval": pa.month_day_nano_interval(), "view": pa.list_view(pa.int8()), "uuid": pa.uuid(),
    "half within": pa.struct([("a", pa.float16())]), "wide": pa.decimal256(70, 2),
    "runs": pa.run_end_encoded(pa.int32(), pa.int64()),
}  # fmt: skip
VALUES = {
    "nanoseconds": 3, "duration": 3, "interval": (1, 2, 3), "view": [1], "uuid": b"0" * 16,
    "half within": {"a": np.float16(1)}, "wide": 10**60, "runs": 7,
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
def test_a_stream_keeps_columns_that_duckdb_would_change(case, known, kind):
    scores, people = map(as_arrow, case)
    values = [VALUES.get(kind)] * len(scores)
    column = pa.array(values, pa.int64() if kind == "runs" else ODD[kind])
    column = pa.compute.run_end_encode(column) if kind == "runs" else column
    scores = scores.append_column("odd", pa.chunked_array([column]))
    fair = lp.project(Stream(scores), "kind", people)
    assert fair.drop(["fair_score"]).schema == scores.schema
    assert fair["odd"].to_pylist() == scores["odd"].to_pylist()
    assert np.allclose(by_pair(fair.to_pandas()), known[1], atol=1e-12)
    dropped = lp.project(Stream(scores), "kind", people.slice(1), unknown="drop")
    assert 0 < len(dropped) < len(scores)


@pytest.mark.parametrize("function", [lp.audit, lp.project])
def test_an_error_of_a_stream_reaches_the_caller(case, function):
    scores, people = map(as_arrow, case)

    def batches():
        yield scores.to_batches()[0][:50]
        raise ValueError("connection lost")

    reader = pa.RecordBatchReader.from_batches(scores.schema, batches())
    with pytest.raises(pa.ArrowException, match="connection lost") as caught:
        function(reader, "kind", people)
    assert "arrow_scan" not in str(caught.value)


def test_a_column_is_no_table(case):
    scores, people = case
    for column in (scores.score, pl.from_pandas(scores)["score"], as_arrow(scores)["score"]):
        with pytest.raises(TypeError, match="scores must be a table such as a pandas or polars"):
            lp.audit(column, "kind", people)


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_whole_numbers_of_any_size_are_ids():
    ids = [2**63, 2**70, 5]
    people = pd.DataFrame({"node": pd.Series(ids, dtype=object), "g": list("aab")})
    pairs = pd.DataFrame({"source": [ids[0], ids[1]], "target": [ids[2], ids[0]]}, dtype=object)
    found = lp.audit(pairs.assign(score=[0.1, 0.4]), "g", people)
    assert found.groups == {"a": 2, "b": 1}
    assert lp.Graph.from_frames(pairs, people, "g").names == tuple(ids)


def test_a_relation_in_random_order_keeps_scores_and_rows_together(case, known):
    scores, people = case
    con = duckdb.connect()
    con.register("scores", scores)
    fair = lp.project(con.sql("SELECT * FROM scores ORDER BY random()"), "kind", people)
    assert np.allclose(by_pair(fair.to_pandas()), known[1], atol=1e-12)


def test_rows_of_a_stream_are_named(case):
    scores, people = case
    for frame, said in (
        (scores.assign(score=2.0), "scores: row 1, column 'score': holds 2.0, which is not a prob"),
        (pd.concat([scores, scores[:3]]), r"row 781, .* repeats row 1 \(3 repeated rows\)"),
        (scores.assign(_lp_row=1), "names that begin with '_lp_'"),
        (scores.assign(Score=1), "columns 'score' and 'Score' differ only in upper and lower"),
    ):
        with pytest.raises(ValueError, match=said):
            lp.audit(Batches(as_arrow(frame)), "kind", people)


def test_streams_of_types_that_duckdb_does_not_take(case, known):
    scores, people = case
    numbers = np.arange(len(scores))
    table = as_arrow(scores).append_column("half", pa.array(numbers, pa.float16()))
    table = table.append_column("exact", pa.array(numbers).cast(pa.decimal256(50, 2)))
    fair = lp.project(Stream(table), "kind", people)
    assert np.allclose(by_pair(fair.to_pandas()), known[1], atol=1e-12)
    assert fair.drop(["fair_score"]).equals(table)


def test_dictionary_columns_are_plain_values(case, known):
    scores, people = map(as_arrow, case)
    for name in ("source", "target"):
        place = scores.column_names.index(name)
        scores = scores.set_column(place, name, scores[name].dictionary_encode())
    people = people.set_column(1, "kind", people["kind"].dictionary_encode())
    halves = pa.concat_tables([scores[:300], scores[300:]])
    for given in (scores, halves, Stream(scores), scores.to_pandas()):
        assert lp.audit(given, "kind", people).dp == pytest.approx(known[0].dp)


def test_a_pandas_index_is_no_column_and_comes_back(case, known):
    scores, people = case
    odd = scores.set_index(
        [pd.Index(scores.source, name="who"), pd.interval_range(0, len(scores), name="span")]
    )
    fair = lp.project(odd, "kind", people)
    assert fair.index.equals(odd.index)
    assert list(fair.columns) == [*scores.columns, "fair_score"]
    assert np.allclose(by_pair(fair), known[1])
    with pytest.raises(ValueError, match="no column 'source'"):
        lp.audit(scores.set_index("source"), "kind", people)


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
    twice = pa.table([[1], [2]], names=["source", "source"])
    with pytest.raises(ValueError, match=r"^scores: column 'source' occurs twice"):
        lp.audit(twice, "group")
