"""Pairs without scores: numbered ends, rows in use, and all faults at once."""

import datetime
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkparity as lp
from linkparity.experiments.graph_files import GraphFiles, read_graph
from linkparity.reading.columns import Columns, ReadOptions
from linkparity.reading.duckdb import Duck, Input
from linkparity.reading.faults import Faults
from linkparity.reading.groups import UntidyPolicy
from linkparity.reading.known_pairs import read_known_pairs
from linkparity.reading.links import check_known, names_of, read_links
from linkparity.support.errors import InputError
from linkparity.support.files import Workspace


@contextmanager
def opened(**tables):
    """DuckDB with tables in memory."""
    with Workspace() as workspace, Duck(workspace) as duck:
        yield (
            duck,
            *(
                duck.register(pa.table(columns), name, Input(name, "", tuple(columns), {}))
                for name, columns in tables.items()
            ),
        )


LINKS = {"source": ["b", "a", None, "d", "c", "a"], "target": ["a", "x", "b", "d", "b", "b"]}
NODES = {"node": ["c", "b", "a", "b"], "kind": ["u", "v", None, "v"]}


def read(options, links=LINKS, nodes=NODES):
    with opened(links=links, nodes=nodes) as (duck, pairs, known):
        faults, columns = Faults(), Columns("source", "target", node="node")
        found = read_links(duck, pairs, known, columns, options, faults)
        check_known(found, options, faults)
        names = names_of(found, lambda table, column, rows: duck.values(
            {"links": pairs, "nodes": known}[table], column, rows
        ))  # fmt: skip
        return found.ends.T.tolist(), found.row.tolist(), found.group.tolist(), names, faults.found


def test_listed_nodes_come_first_and_faulty_rows_are_out_of_use():
    ends, rows, group, names, faults = read(ReadOptions(("kind",), node="node"))
    assert names[:3] == ["c", "b", "a"]
    assert {names[a] + names[b] for a, b in ends} == {"ba", "ax", "cb"}
    assert rows == [0, 1, 4]
    assert group[:3] == [0, 1, -1]
    assert [str(each).split(";")[0] for each in faults] == [
        "links: row 3, column 'source': the id is missing",
        "links: row 4, column 'target': node 'd' is paired with itself",
        "links: row 6, column 'source': the pair ('a', 'b') repeats row 1",
        "nodes: row 3, column 'kind': node 'a' has no kind",
        "links: row 2, column 'target': node 'x' is not in nodes",
    ]


def test_policies_drop_rows_without_a_fault():
    policy = UntidyPolicy("group", "first", "drop")
    _, rows, _, _, faults = read(ReadOptions(("kind",), untidy=policy), LINKS | {
        "source": ["b", "a", "c", "d", "c", "a"],
    })  # fmt: skip
    assert rows == [0, 1, 2]
    assert [each.message.where.split(":")[0] for each in faults] == ["nodes", "links"]


def test_many_faults_have_one_fix():
    faults = Faults(("{unknown=drop}", "{self_loops=drop}"))
    faults.raise_any()
    for number in range(3):
        faults.add(InputError(f"is wrong in way {number}", "do this", where=f"t: row {number}"))
    said = "t: row 0: is wrong in way 0; do this; also t: row 1: is wrong in way 1; do this; also"
    with pytest.raises(InputError, match=said):
        faults.raise_any()
    faults.add(InputError("is worse", "do that", where="t: row 9"))
    with pytest.raises(InputError, match=r"use unknown='drop' or self_loops='drop'$"):
        faults.raise_any()


IDS = {
    "text": lambda i: f"n{i}",
    "numbers": lambda i: 3 * i,
    "numbers as text": lambda i: str(3 * i),
    "dates": lambda i: datetime.date(2024, 1, 1) + datetime.timedelta(days=i),
}


def expected(pairs, listed, kinds, bipartite):
    """Names by side, links and groups, id by id."""
    sources, targets = [a for a, _ in pairs], [b for _, b in pairs]
    if not bipartite:
        sides = [[*dict.fromkeys([*listed, *sources, *targets])]]
    else:
        both = set(sources) & set(targets)
        right = [] if both else [each for each in listed if each in targets]
        left = [each for each in listed if each not in right]
        sides = [[*dict.fromkeys([*left, *sources])], [*dict.fromkeys([*right, *targets])]]
    names = [name for side in sides for name in side]
    number = [{name: i for i, name in enumerate(sides[0])}] * 2
    group = [kinds.get(name) for name in sides[0]]
    if bipartite:
        shift = len(sides[0])
        number[1] = {name: i + shift for i, name in enumerate(sides[1])}
        group += [None if both else kinds.get(name) for name in sides[1]]
    links = {(number[0][a], number[1][b]) for a, b in pairs if bipartite or a != b}
    return names, {tuple(sorted(link)) for link in links}, group


def without_repeats(pairs, bipartite):
    """Each pair once, in either order where there is one kind of nodes, without self-loops."""
    if bipartite:
        return [*dict.fromkeys(pairs)]
    first = {frozenset(pair): pair for pair in reversed(pairs)}
    return [
        pair for pair in dict.fromkeys(pairs) if first[frozenset(pair)] == pair and len({*pair}) > 1
    ]


def check_graph(graph, pairs, nodes, kinds, bipartite):
    names, links, group = expected(pairs, nodes, kinds, bipartite)
    assert [str(name) for name in graph.names] == [str(name) for name in names]
    assert {tuple(sorted(link)) for link in graph.links.tolist()} == links
    for number, value in zip(graph.group.tolist(), group, strict=True):
        name = None if number < 0 else graph.group_names[number]
        assert name == value or (value is None and name == "unknown")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=15),
    st.lists(st.integers(0, 9), min_size=3, max_size=10, unique=True),
    st.sampled_from(sorted(IDS)),
    st.booleans(),
    st.booleans(),
)
@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_nodes_are_numbered_as_a_person_would(tmp_path_factory, pairs, listed, kind, apart, two):
    """``apart`` targets have ids of their own; ``two`` kinds of nodes."""
    make = IDS[kind]
    links = [(make(a), make(b + 20 * apart)) for a, b in pairs]
    nodes = [make(each if i % 2 else each + 20 * apart) for i, each in enumerate(listed)]
    if not {each for link in links for each in link} & set(nodes):
        nodes.append(links[0][0])
    kinds = {node: "xyz"[i % 3] for i, node in enumerate(nodes)}
    described = pd.DataFrame({"node": nodes, "kind": [kinds[node] for node in nodes]})
    frame = pd.DataFrame(links, columns=["source", "target"])
    graph = lp.Graph.from_frames(frame, described, "kind", unknown="group", bipartite=two)
    check_graph(graph, links, nodes, kinds, two)
    assert type(graph.names[0]) is type(nodes[0])
    once = without_repeats(links, two)
    if not {each for link in once for each in link} & set(nodes):
        return
    here = tmp_path_factory.mktemp("files")
    files = GraphFiles(
        str(here / "l.parquet"), str(here / "n.parquet"), ("kind",), bipartite=two,
        policy=UntidyPolicy("group", "first", "drop"),
    )  # fmt: skip
    frame.to_parquet(files.links)
    described.to_parquet(files.nodes)
    check_graph(read_graph(files), once, nodes, kinds, two)


def known_pairs(source, target, side=None, unknown="drop", loops="drop"):
    names = ["a", "b", 3.0, "d"]
    with opened(pairs={"source": source, "target": target}) as (duck, pairs):
        options = ReadOptions((), untidy=UntidyPolicy(unknown, self_loops=loops))
        side = None if side is None else np.array(side)
        table = read_known_pairs(duck, pairs, Columns("source", "target"), options, names, side)
        rows = slice(None) if table.used is None else table.used
        return np.stack([table.first, table.second], axis=1)[rows].tolist()


def test_pairs_of_known_nodes_keep_their_numbers_and_may_repeat():
    assert known_pairs(["a", "b", "a", "3"], ["b", "d", "b", "a"]) == [
        [0, 1], [1, 3], [0, 1], [2, 0],
    ]  # fmt: skip
    assert known_pairs([3, 3.0], [3.0, 4.0]) == []
    assert known_pairs(["a", "z", "b"], ["d", "d", "b"]) == [[0, 3]]
    assert known_pairs(["a", "d"], ["d", "a"], side=[0, 0, 1, 1]) == [[0, 3]]


def test_all_faults_of_pairs_are_named_at_once():
    source, target = ["a", "z", "b", "zz", None], ["b", "a", "b", "d", "a"]
    with pytest.raises(InputError) as caught:
        known_pairs(source, target, unknown="error", loops="error")
    for said in (
        "pairs: row 5, column 'source': the id is missing; fill it in or leave the row out; also",
        "pairs: row 3, column 'target': node 'b' is paired with itself; leave such rows out with",
        "pairs: row 2, column 'source': node 'z' was not trained on (2 such rows); write ids",
    ):
        assert said in str(caught.value)
    assert "bipartite" not in str(caught.value)
    with pytest.raises(InputError, match="'d' was trained on as a target, not as a source; put"):
        known_pairs(["d"], ["a"], side=[0, 0, 1, 1], unknown="error")


def test_all_faults_of_scores_are_named_at_once():
    scores = pd.DataFrame(
        {
            "source": ["a", "b", None, "c"],
            "target": ["b", "b", "a", "d"],
            "score": [0.5, 0.1, 0.2, 2],
        }
    )
    nodes = pd.DataFrame({"node": ["a", "b", "c", "a"], "kind": ["x", "y", "z", "y"]})
    with pytest.raises(InputError) as caught:
        lp.audit(scores, "kind", nodes)
    said = str(caught.value)
    assert said.startswith("nodes: row 1, column 'node': node 'a' is listed twice with two groups")
    for part in (
        "also scores: row 3, column 'source': the id is missing;",
        "also scores: row 4, column 'score': holds 2.0, which is not a probability in [0, 1];",
        "also scores: row 2, column 'target': node 'b' is paired with itself;",
    ):
        assert part in said
