import re
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
import torch

from linkparity.graph.graph import Graph
from linkparity.reading.groups import GraphWarning, number_groups

LINKS = [[0, 1], [3, 2], [1, 4], [0, 5]]
GROUP = [0, 1, 2, 2, 1, -1]


def small() -> Graph:
    return Graph(6, LINKS, GROUP, ("a", "b", "c"), attribute="letter")


def sided() -> Graph:
    """Users 0, 2, 4 of three groups and items 1, 3, 5: sides interleaved on purpose."""
    links = [[0, 1], [0, 3], [2, 5], [4, 1]]
    return Graph(6, links, [0, -1, 1, -1, 2, -1], ("a", "b", "c"), [0, 1, 0, 1, 0, 1])


def as_sets(graph: Graph) -> set[frozenset]:
    return {frozenset(link) for link in graph.links.tolist()}


def named_links(graph: Graph) -> set[frozenset]:
    return {frozenset(graph.names[node] for node in link) for link in graph.links.tolist()}


def named_groups(graph: Graph) -> dict:
    names = [*graph.group_names, None]
    return {node: names[g] for node, g in zip(graph.names, graph.group.tolist(), strict=True)}


@pytest.mark.parametrize("graph", [small(), sided()])
def test_membership_degree_and_pairs_agree_with_loops(graph):
    links = as_sets(graph)
    every = [(a, b) for a in range(6) for b in range(6) if a != b]
    told = graph.is_link(torch.tensor(every)).tolist()
    assert told == [frozenset(pair) in links for pair in every]
    assert graph.degree().tolist() == [sum(n in link for link in links) for n in range(6)]
    sides = graph.side.tolist() if graph.bipartite else None
    admissible = [p for p in combinations(range(6), 2) if not sides or sides[p[0]] != sides[p[1]]]
    assert graph.num_pairs == len(admissible)
    dense = graph.adjacency().toarray()
    assert all(dense[a, b] == (frozenset((a, b)) in links) for a, b in every)
    assert not dense.diagonal().any()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"links": [[0, 1], [1, 0]]}, "links hold [0, 1] more than once; (a, b) and (b, a) are"),
        ({"links": [[0, 1], [2, 2]]}, "links, row 1 joins node 2 to itself"),
        ({"links": [[0, 1], [2, 6]]}, "links, row 1 joins [2, 6]; nodes are 0 … 5"),
        ({"links": [[0, -1]]}, "links, row 0 joins [0, -1]"),
        ({"links": [[0, 1, 2]]}, "links must have the shape (E, 2), got (1, 3)"),
        ({"links": [[0.0, 1.0]]}, "links must be integers, got float64"),
        ({"links": [[True, False]]}, "links must be integers, got bool"),
        ({"links": [["0", "1"]]}, "links must be integers, got [['0', '1']]"),
        ({"num_nodes": 6.0}, "num_nodes must be a whole number, got 6.0"),
        ({"num_nodes": "6"}, "num_nodes must be a whole number, got '6'"),
        ({"group_names": "abc"}, "one name per group, got the text 'abc'; write ('abc',)"),
        ({"group": [0, 1, 2]}, "group must have the shape (6,), one number per node, got (3,)"),
        ({"group": [0, 1, 2, -2, 0, 0]}, "groups are −1 (none) or 0, 1, 2 …, got -2"),
        ({"group_names": ("a", "b")}, "group 2 has no name among ('a', 'b')"),
        ({"group_names": ("a", "b", "a")}, "group_names must be unique, got 'a' more than once"),
        ({"side": [0, 1, 0, 1, 0, 2]}, "side must be 0 or 1 for every node, got 2"),
        ({"side": [0, 1, 0, 1, 0, 1]}, "row 1 joins [3, 2] of sides [1, 0]; links go from side 0"),
        ({"names": ("x",)}, "6 nodes need as many names, got 1"),
        ({"names": ("u", "v", "w", "x", "y", "u")}, "names must be unique, got 'u' more than once"),
    ],
)
def test_what_no_graph_can_hold_is_refused_in_one_sentence(change, said):
    given = {"num_nodes": 6, "links": LINKS, "group": GROUP, "group_names": ("a", "b", "c")}
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        Graph(**(given | change))
    assert "\n" not in str(error.value)


def test_a_graph_is_frozen_and_empty_graphs_are_graphs():
    with pytest.raises(AttributeError):
        small().num_nodes = 3
    empty = Graph(3, [], [0, 1, 2])
    assert empty.num_links == 0
    assert empty.is_link(torch.tensor([[0, 1]])).tolist() == [False]
    assert empty.group_names == ("0", "1", "2")
    assert repr(sided()) == "Graph(6 nodes, 4 links, bipartite, group: a 1, b 1, c 1, none 3)"


def test_a_graph_does_not_change_with_what_it_was_made_from():
    links, group, side = (
        torch.tensor([[0, 1], [2, 1]]),
        np.array([0, 1, 2]),
        torch.tensor([0, 1, 0]),
    )
    graph = Graph(np.int64(3), links, group, side=side)
    links[0, 0], group[0], side[0] = 2, 2, 1
    assert graph.links.tolist() == [[0, 1], [2, 1]]
    assert graph.group.tolist() == [0, 1, 2]
    assert graph.side.tolist() == [0, 1, 0]
    assert type(graph.num_nodes) is int
    group.flags.writeable = False
    assert Graph(3, [], group).group.tolist() == [2, 1, 2]


def test_names_may_recur_on_the_other_side_only():
    graph = Graph(3, [[0, 1], [0, 2]], [0, -1, -1], ("a",), [0, 1, 1], (7, 7, 8))
    assert graph.names == (7, 7, 8)


def test_subgraph_keeps_links_between_kept_nodes():
    kept = small().subgraph(torch.tensor([True, True, False, True, True, False]))
    assert kept.links.tolist() == [[0, 1], [1, 3]]
    assert kept.group.tolist() == [0, 1, 2, 1]


FRAMES = ["pandas", "polars", "polars-lazy", "pyarrow"]


def table(kind: str, columns: dict):
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(columns)
    if kind == "pyarrow":
        return pytest.importorskip("pyarrow").table(columns)
    frame = pytest.importorskip("polars").DataFrame(columns)
    return frame.lazy() if kind == "polars-lazy" else frame


@pytest.mark.parametrize("kind", FRAMES)
def test_tables_of_any_library_give_the_same_graph(kind):
    links = table(kind, {"when": [1, 2, 3], "target": ["v", "w", "x"], "source": ["u", "v", "w"]})
    nodes = table(kind, {"age": ["old", "mid", "new", "mid"], "node": ["x", "w", "v", "u"]})
    graph = Graph.from_frames(links, nodes, "age")
    assert graph.names == ("x", "w", "v", "u")
    assert named_links(graph) == {frozenset("uv"), frozenset("vw"), frozenset("wx")}
    assert named_groups(graph) == {"x": "old", "w": "mid", "v": "new", "u": "mid"}
    assert graph.group_names == ("mid", "new", "old")
    assert graph.attribute == "age"


def test_first_columns_serve_when_the_usual_names_are_missing():
    links = table("pandas", {"from": [10, 20], "to": [20, 30], "since": [0, 0]})
    nodes = table("pandas", {"id": [10, 20, 30, 40], "sex": ["f", "m", "x", "f"]})
    graph = Graph.from_frames(links, nodes, "sex")
    assert graph.names == (10, 20, 30, 40)
    assert graph.links.tolist() == [[0, 1], [1, 2]]
    assert graph.degree().tolist() == [1, 2, 1, 0]


def test_several_columns_are_crossed():
    links = table("pandas", {"source": [1, 2], "target": [2, 3]})
    nodes = table("pandas", {"node": [1, 2, 3], "sex": ["f", "m", "f"], "age": [30.0, 30.0, 40.0]})
    graph = Graph.from_frames(links, nodes, ["sex", "age"])
    assert named_groups(graph) == {1: "f & 30", 2: "m & 30", 3: "f & 40"}
    assert graph.attribute == "sex & age"


@pytest.mark.parametrize("kind", FRAMES)
def test_unknown_values_are_counted_and_never_merged(kind):
    links = table(kind, {"source": [1, 2, 3, 4], "target": [2, 3, 4, 5]})
    nodes = table(kind, {"node": [1, 2, 3, 4], "age": ["a", None, "b", "c"]})
    said = "^nodes: row 2, column 'age': node 2 has no age; fill it in, .* also links: row 4, "
    with pytest.raises(ValueError, match=f"{said}column 'target': node 5 is not in nodes; write"):
        Graph.from_frames(links, nodes, "age")
    with pytest.warns(GraphWarning, match="2 of 5 nodes have no known group and form the group"):
        apart = Graph.from_frames(links, nodes, "age", unknown="group")
    assert named_groups(apart) == {1: "a", 2: "unknown", 3: "b", 4: "c", 5: "unknown"}
    with pytest.warns(GraphWarning, match="2 of 5 nodes have no known group and are left out"):
        less = Graph.from_frames(links, nodes, "age", unknown="drop")
    assert less.names == (1, 3, 4)
    assert named_links(less) == {frozenset((3, 4))}


def test_minus_one_in_a_column_is_unknown_and_not_a_group_called_so():
    links = table("pandas", {"source": [1, 2, 3], "target": [2, 3, 4]})
    nodes = table("pandas", {"node": [1, 2, 3, 4], "age": [-1, 30, 40, 50]})
    with pytest.raises(ValueError, match="row 1, column 'age': node 1 has no age; fill it in"):
        Graph.from_frames(links, nodes, "age")
    with pytest.warns(GraphWarning, match="1 of 4 nodes have no known group and form the group"):
        graph = Graph.from_frames(links, nodes, "age", unknown="group")
    assert named_groups(graph) == {1: "unknown", 2: "30", 3: "40", 4: "50"}


def test_a_value_called_unknown_is_not_mixed_with_missing_ones():
    with pytest.raises(ValueError, match="a group named 'unknown' exists already"):
        number_groups(["unknown", None, "a", "b"], "group", "here")
    with pytest.raises(ValueError, match="unknown must be 'error', 'group', 'drop' or 'keep', got"):
        number_groups(["a", "b", "c"], "merge", "here")
    with pytest.raises(ValueError, match="the values 1 and '1' would be two groups of one name"):
        number_groups([1, "1", "a"], "group", "here")
    with pytest.raises(ValueError, match="the values True and 1 would be two groups of one name"):
        number_groups([True, 1, "a"], "group", "here")
    with pytest.raises(
        ValueError, match=r"values \('f', 0\) and \('f', False\) would be two groups"
    ):
        number_groups([("f", 0), ("f", False), ("g", 2)], "group", "here")
    assert number_groups([1, 1.0, 2], "error", "here").names == ("1", "2")
    with pytest.raises(ValueError, match="none of the 3 nodes has a known group"):
        number_groups([None, float("nan"), " "], "group", "here")


def test_bipartite_tables_whose_ids_overlap_describe_the_sources():
    links = table("pandas", {"source": [1, 1, 2, 3], "target": [1, 2, 2, 9]})
    users = table("pandas", {"node": [3, 2, 1], "age": ["c", "b", "a"]})
    graph = Graph.from_frames(links, users, "age", bipartite=True)
    assert graph.names == (3, 2, 1, 1, 2, 9)
    assert graph.side.tolist() == [0, 0, 0, 1, 1, 1]
    assert graph.group.tolist() == [2, 1, 0, -1, -1, -1]
    told = {(graph.names[a], graph.names[b]) for a, b in graph.links.tolist()}
    assert told == {(1, 1), (1, 2), (2, 2), (3, 9)}


def test_bipartite_tables_may_describe_both_sides():
    links = table("pandas", {"source": ["u", "v", "w"], "target": ["i", "i", "j"]})
    nodes = table("pandas", {"node": ["u", "i", "v", "w"], "kind": ["a", "b", "c", "a"]})
    with pytest.raises(ValueError, match="row 3, column 'target': node 'j' is not in nodes"):
        Graph.from_frames(links, nodes, "kind", bipartite=True)
    with pytest.warns(GraphWarning, match="1 of 5 nodes"):
        graph = Graph.from_frames(links, nodes, "kind", bipartite=True, unknown="drop")
    assert graph.names == ("u", "v", "w", "i")
    assert graph.side.tolist() == [0, 0, 0, 1]


def test_bipartite_tables_that_leave_the_side_to_guess_say_so():
    links = table("pandas", {"source": ["u", "v", "w", "i"], "target": ["i", "j", "i", "j"]})
    nodes = table("pandas", {"node": ["u", "v", "w", "i", "j"], "kind": list("abcde")})
    said = r"1 ids are a source and a target at once \('i'\).* 1 ids that are only targets \('j'\)"
    with pytest.warns(GraphWarning, match=said):
        graph = Graph.from_frames(links, nodes, "kind", bipartite=True)
    assert graph.names == ("u", "v", "w", "i", "j", "i", "j")
    links = table("pandas", {"source": ["u", "v"], "target": ["i", "i"]})
    nodes = table("pandas", {"node": ["u", "v", "i", "j", "k"], "kind": list("abcde")})
    with pytest.warns(GraphWarning, match=r"2 nodes have no link \('j', 'k'\) and are taken"):
        graph = Graph.from_frames(links, nodes, "kind", bipartite=True)
    assert graph.side.tolist() == [0, 0, 0, 0, 1]


def test_tables_without_a_header_are_read_by_position():
    pd = pytest.importorskip("pandas")
    nodes = pd.DataFrame([[1, "a"], [2, "b"], [3, "c"]])
    graph = Graph.from_frames(pd.DataFrame([[1, 2], [2, 3]]), nodes, 1)
    assert graph.links.tolist() == [[0, 1], [1, 2]]
    assert graph.group_names == ("a", "b", "c")
    assert graph.attribute == "1"
    with pytest.raises(ValueError, match="nodes has no column 'age'; columns: 0, 1"):
        Graph.from_frames(pd.DataFrame([[1, 2]]), nodes, "age")
    with pytest.raises(ValueError, match="links needs columns source and target, got 0"):
        Graph.from_frames(pd.DataFrame([[1], [2]]))


def test_repeats_and_self_loops_of_a_table_are_counted():
    links = table("pandas", {"source": [1, 2, 1, 3], "target": [2, 1, 2, 3]})
    with pytest.warns(GraphWarning, match="1 self-loops left out, 2 repeated links merged"):
        graph = Graph.from_frames(links)
    assert graph.num_nodes == 3
    assert graph.links.tolist() == [[0, 1]]
    assert graph.group.tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("links", "nodes", "sensitive", "said"),
    [
        ({"a": [1]}, None, None, "links needs columns source and target, got a"),
        (
            {"weight": [5], "source": [1], "dest": [2]},
            None,
            None,
            "Graph.from_frames: links has no column 'target'; call the columns source and target, "
            "or put them first under two other names; columns: weight, source, dest",
        ),
        ({"weight": [5], "Source": [1], "dest": [2]}, None, None, "links has no column 'target'; "),
        ({"TARGET": [5], "who": [1]}, None, None, "links has no column 'source'; call the columns"),
        (
            {"Source": [5], "SOURCE": [1]},
            None,
            None,
            "columns 'Source' and 'SOURCE' differ only in",
        ),
        ({"targets": [1], "target": [2]}, None, None, "has no column 'source'; call the columns"),
        ({"a": [1], "b": [2]}, {"age": [1]}, "age", "nodes has no column of ids beside 'age'"),
        ({"a": [1], "b": [2]}, {}, None, "nodes has no column of ids; add one"),
        ({"a": [1], "b": [None]}, None, None, "links: row 1, column 'b': the id is missing;"),
        ({"a": [1.5, 2.5], "b": [0.5, float("nan")]}, None, None, "row 2, column 'b': the id is"),
        ({"a": ["x", "y"], "b": ["y", ""]}, None, None, "row 2, column 'b': the id is missing"),
        ({"a": [1], "b": [2]}, {"node": [1]}, [], "sensitive names no column, got []; name"),
        ({"a": [1], "b": [2]}, None, "age", "sensitive='age' names a column of nodes"),
        ({"a": [1], "b": [2]}, {"node": [1], "age": [1]}, "ago", "did you mean 'age'? columns:"),
        (
            {"a": [1], "b": [2]},
            {"node": [1, 1], "age": [1, 2]},
            "age",
            "nodes: row 1, column 'node': node 1 is listed twice with two groups, '1' and '2'",
        ),
        ({"a": [1], "b": [2]}, {"node": ["1"], "age": [1]}, "age", "node 2 is not in nodes"),
        ({"a": [1], "b": [2]}, {"node": ["x"]}, None, "hold 1 where nodes hold 'x'"),
    ],
)
def test_tables_that_cannot_be_read_say_which_column_and_row(links, nodes, sensitive, said):
    nodes = None if nodes is None else table("pandas", nodes)
    with pytest.raises(ValueError, match=re.escape(said)):
        Graph.from_frames(table("pandas", links), nodes, sensitive)


def test_the_usual_names_count_in_any_case():
    links = table("pandas", {"weight": [5], "Target": ["b"], "Source": ["a"]})
    nodes = table("pandas", {"age": [3, 4], "NODE": ["b", "a"]})
    graph = Graph.from_frames(links, nodes, "age", bipartite=True)
    assert [graph.names[i] for i in graph.links[0]] == ["a", "b"]


def test_a_list_is_no_table():
    with pytest.raises(TypeError, match="links must be a table such as a pandas or polars"):
        Graph.from_frames([[1, 2]])


def test_networkx_graphs_lose_directions_and_keep_names():
    nx = pytest.importorskip("networkx")
    source = nx.DiGraph([("x", "y"), ("y", "x"), ("z", "y"), ("z", "z")])
    nx.set_node_attributes(source, {"x": "a", "y": "b", "z": "c"}, "party")
    with pytest.warns(GraphWarning, match="1 self-loops left out"):
        graph = Graph.from_networkx(source, "party")
    assert named_links(graph) == {frozenset("xy"), frozenset("yz")}
    assert named_groups(graph) == {"x": "a", "y": "b", "z": "c"}


def test_networkx_attributes_that_no_node_has_are_named():
    nx = pytest.importorskip("networkx")
    source = nx.Graph([("x", "y"), ("y", "z")])
    nx.set_node_attributes(source, {"x": "a", "y": "b", "z": "c"}, "party")
    with pytest.raises(ValueError, match=r"'prty'; did you mean 'party'\? they have: party"):
        Graph.from_networkx(source, "prty")
    with pytest.raises(ValueError, match=r"no node has the attribute \['party', 'age'\]"):
        Graph.from_networkx(source, ["party", "age"])


def test_networkx_sides_are_read_and_checked():
    nx = pytest.importorskip("networkx")
    source = nx.Graph([("i", "u"), ("v", "i"), ("w", "j")])
    nx.set_node_attributes(source, {n: int(n in "ij") for n in source}, "bipartite")
    nx.set_node_attributes(source, {"u": "a", "v": "b", "w": "c"}, "age")
    graph = Graph.from_networkx(source, "age", bipartite=True)
    told = {(graph.names[a], graph.names[b]) for a, b in graph.links.tolist()}
    assert told == {("u", "i"), ("v", "i"), ("w", "j")}
    assert named_groups(graph) == {"u": "a", "v": "b", "w": "c", "i": None, "j": None}
    del source.nodes["w"]["bipartite"]
    with pytest.raises(ValueError, match="node 'w' has bipartite=None"):
        Graph.from_networkx(source, "age", bipartite=True)


def test_scipy_matrices_are_read_as_adjacency_or_as_sources_by_targets():
    graph = Graph.from_scipy(small().adjacency(), GROUP, group_names=("a", "b", "c"))
    assert as_sets(graph) == as_sets(small())
    assert graph.group.tolist() == GROUP
    from scipy.sparse import coo_matrix

    wide = coo_matrix((np.array([1.0, 5.0, 0.0]), ([0, 2, 1], [1, 0, 0])), shape=(3, 2))
    graph = Graph.from_scipy(wide, ["x", "y", "z"], bipartite=True)
    assert graph.links.tolist() == [[0, 4], [2, 3]]
    assert graph.group.tolist() == [0, 1, 2, -1, -1]
    with pytest.raises(ValueError, match="an adjacency matrix is square, got 3 × 2; pass bipar"):
        Graph.from_scipy(wide)
    with pytest.raises(ValueError, match="one value for each of 5 nodes, got the shape"):
        Graph.from_scipy(wide, [0, 1], bipartite=True)


COMPLETE = np.ones((4, 4)) - np.eye(4)


def test_dense_matrices_are_read_and_names_of_groups_are_matched_with_their_values():
    graph = Graph.from_scipy(COMPLETE, ["x", "y", "z", "x"], group_names=("z", "y", "x"))
    assert graph.num_links == 6
    assert [graph.group_names[g] for g in graph.group] == ["x", "y", "z", "x"]
    assert graph.group_names == ("z", "y", "x")
    with pytest.raises(ValueError, match=r"group_names \('a', 'b', 'c'\) lack the value 'x'"):
        Graph.from_scipy(COMPLETE, ["x", "y", "z", "x"], group_names=("a", "b", "c"))
    with pytest.raises(ValueError, match="one name per group, got the text 'xyz'"):
        Graph.from_scipy(COMPLETE, ["x", "y", "z", "x"], group_names="xyz")


def test_group_numbers_of_minus_one_are_none_unless_told_otherwise():
    group = [0, -1, 2, 1]
    assert Graph.from_scipy(COMPLETE, group).group.tolist() == group
    with pytest.warns(GraphWarning, match="1 of 4 nodes have no known group and are left out"):
        assert Graph.from_scipy(COMPLETE, group, unknown="drop").group.tolist() == [0, 2, 1]
    with pytest.warns(GraphWarning, match="1 of 4 nodes have no known group and form the group"):
        apart = Graph.from_scipy(COMPLETE, group, unknown="group")
    assert apart.group.tolist() == [0, 3, 2, 1]
    assert apart.group_names == ("0", "1", "2", "unknown")
    for given in (None, group, list("abca")):
        with pytest.raises(ValueError, match="'drop' or 'keep', got 'no"):
            Graph.from_scipy(COMPLETE, given, unknown="none")
    wide = Graph.from_scipy(COMPLETE[:, :2], [0, 1, 2, 2], bipartite=True, unknown="drop")
    assert wide.group.tolist() == [0, 1, 2, 2, -1, -1]


def test_integers_that_are_no_group_numbers_are_values():
    graph = Graph.from_scipy(COMPLETE, [1990, 10**6, -1, 1980])
    assert graph.group.tolist() == [1, 2, -1, 0]
    assert graph.group_names == ("1980", "1990", "1000000")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("graph", [small(), sided()])
def test_pyg_and_back_is_the_same_graph(graph):
    pytest.importorskip("torch_geometric")
    data = graph.to_pyg()
    assert data.edge_index.shape == (2, 2 * graph.num_links)
    assert data.is_undirected()
    assert data.validate()
    back = Graph.from_pyg(data)
    assert as_sets(back) == as_sets(graph)
    assert back.group.tolist() == graph.group.tolist()
    assert back.group_names == graph.group_names
    assert back.bipartite == graph.bipartite
    assert back.attribute == graph.attribute
    data.year = torch.tensor([1990, 1980, 1980, 1990, 2000, 1990])
    assert Graph.from_pyg(data, "year").group_names == ("1980", "1990", "2000")
    data.level = torch.tensor([0, 1, 2, 0, 1, 2])
    assert Graph.from_pyg(data, "level").group_names == ("0", "1", "2")
    with pytest.raises(ValueError, match=r"data has no 'grup'; did you mean 'group'\?"):
        Graph.from_pyg(data, "grup")


def test_missing_packages_are_named_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    with pytest.raises(ImportError, match=r'needs narwhals: pip install "linkparity"'):
        Graph.from_frames(None)
    with pytest.raises(ImportError, match=r'needs torch_geometric: pip install "linkparity\[pyg\]'):
        small().to_pyg()


def test_importing_graphs_imports_nothing_heavy_besides_torch():
    heavy = "pandas sklearn networkx torch_geometric pooch narwhals rich requests"
    code = (
        "import sys, linkparity.datasets, linkparity.graph.split;"
        f"print([m for m in '{heavy}'.split() if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
