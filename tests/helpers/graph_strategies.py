"""Small graphs for property tests, and loops that say what their pairs and links are."""

from itertools import combinations, product

from hypothesis import strategies as st

from linkparity.graph.graph import Graph


def admissible(graph: Graph) -> list[tuple[int, int]]:
    """Every pair that may be a link, by loops over the nodes."""
    if graph.side is None:
        return list(combinations(range(graph.num_nodes), 2))
    left = [n for n in range(graph.num_nodes) if graph.side[n] == 0]
    right = [n for n in range(graph.num_nodes) if graph.side[n] == 1]
    return list(product(left, right))


@st.composite
def graphs(draw, most: int = 9) -> Graph:
    """Graphs of three groups and some nodes without, bipartite or not, sides interleaved."""
    n = draw(st.integers(3, most))
    side = draw(st.none() | st.lists(st.integers(0, 1), min_size=n, max_size=n))
    group = draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    bare = Graph(n, [], group, ("a", "b", "c"), side)
    pairs = admissible(bare)
    links = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    if side is None:
        links = [draw(st.permutations(link)) for link in links]
    return Graph(n, links, group, ("a", "b", "c"), side)


def linked(graph: Graph) -> set[frozenset]:
    return {frozenset(link) for link in graph.links.tolist()}
