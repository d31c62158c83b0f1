import warnings

import numpy as np
import pytest
import torch
from planted import all_index, make, planted, planted_bipartite, suited, untidy
from scipy.optimize import linprog
from sklearn.metrics import roc_auc_score

from linkparity import Graph, GraphWarning, LinkModel, split_links, train
from linkparity.experiments.model_defaults import DEFAULTS
from linkparity.models import CNE, MODELS, MaxEnt
from linkparity.models.debayes import solve_group_degrees
from linkparity.models.degrees import (
    classes,
    has_finite_solution,
    solve_classes,
    solve_degrees,
    solve_distinct_degrees,
)


@pytest.fixture(params=sorted(MODELS))
def name(request):
    return request.param


def test_defaults_that_are_told_without_torch_are_those_of_the_models(name):
    model = MODELS[name]
    assert DEFAULTS[name] == (model.dimension, model.epochs, model.lr, model.strength)


@pytest.fixture(params=[planted, planted_bipartite])
def graph(request):
    return request.param()


def test_logits_are_finite_symmetric_and_one_per_pair(name, graph):
    model = make(name, graph).eval()
    index = all_index(graph)
    logits = model(index)
    assert logits.shape == (len(index),)
    assert torch.isfinite(logits).all()
    assert torch.allclose(logits, model(index.flip(1)), atol=1e-5)
    assert model(index[:0]).shape == (0,)


def test_forward_is_the_product_of_the_factors(name, graph):
    model = make(name, graph).eval()
    if name == "flip":
        assert model.factors() is None
        return
    left, right = model.factors()
    index = all_index(graph)
    whole = (left @ right.T)[index[:, 0], index[:, 1]]
    assert torch.allclose(model(index), whole, atol=1e-4)


def test_a_seed_gives_one_model(name, graph):
    one, two, other = make(name, graph), make(name, graph), make(name, graph, seed=1)
    for a, b in zip(one.state_dict().values(), two.state_dict().values(), strict=True):
        assert a.equal(b)
    if name != "maxent":
        index = all_index(graph)
        assert not (one.eval()(index) == other.eval()(index)).any()


def test_state_survives_a_round_trip(name, graph):
    model, other = make(name, graph).eval(), make(name, graph, seed=1).eval()
    for p in model.parameters():
        p.data += 0.1
    other.load_state_dict(model.state_dict())
    index = all_index(graph)
    assert model(index).equal(other(index))


def test_learns_a_planted_graph(name, graph):
    split = split_links(suited(name, graph), seed=0)
    model = make(name, split.train)
    if name == "cfc":
        model.strength = 0.0  # adversaries leave next to nothing of so small a graph

    def score():
        with torch.no_grad():
            return roc_auc_score(split.test.label, model.eval()(split.test.index))

    before = score()
    epochs = 600 if name == "fairdrop" else None  # half of the links teach less per step
    for _ in train(model, split.train, epochs=epochs):
        pass
    assert not model.training
    solved = name == "maxent"  # when it was made
    assert score() > (0.65 if solved else before + 0.04)


def test_embeddings_have_the_dimension_asked_for(graph):
    for name in ("cne", "dot-product", "gae"):
        made = MODELS[name](graph, 5, generator=torch.Generator().manual_seed(0)).eval()
        assert made.embedding().shape == (graph.num_nodes, 5)
    assert make("maxent", graph).embedding() is None


def test_dot_product_scales_long_rows_only():
    model = make("dot-product", planted())
    with torch.no_grad():
        model.z[0] = 0.001
        model.z[1] = 3.0
    before = model.z.detach().clone()
    model.constrain()
    length = model.z.detach().norm(dim=1)
    assert length.max() <= 1 + 1e-6
    assert model.z[0].equal(before[0])
    assert length[1] == pytest.approx(1, abs=1e-6)


def test_cne_is_prior_and_distance():
    graph = planted()
    model = CNE(graph, 3, generator=torch.Generator().manual_seed(0), s1=0.5, s2=4)
    i, j = all_index(graph).T
    distance = (model.z[i] - model.z[j]).square().sum(dim=1)
    prior = solve_degrees(graph)
    wanted = prior[i] + prior[j] + torch.tensor(8.0).log() - (4 - 1 / 16) * distance
    got = model(all_index(graph)).double()
    assert torch.allclose(got, wanted.double(), atol=1e-4)
    with pytest.raises(ValueError, match="needs 0 < s1 < s2, got s1 2 and s2 1"):
        CNE(graph, 3, generator=torch.Generator(), s1=2, s2=1)


def test_gae_is_two_graph_convolutions():
    graph = planted()
    model = make("gae", graph).eval()
    dense = torch.zeros(graph.num_nodes, graph.num_nodes, dtype=torch.float64)
    dense[graph.links[:, 0], graph.links[:, 1]] = 1
    dense += dense.T.clone() + torch.eye(graph.num_nodes)
    scale = dense.sum(dim=1).rsqrt()
    smooth = scale[:, None] * dense * scale
    hidden = (smooth @ model.first.double()).relu()
    wanted = smooth @ (hidden @ model.second.double())
    assert torch.allclose(model.embedding().double(), wanted, atol=1e-5)


def test_gae_takes_features():
    graph = planted()
    features = torch.randn(graph.num_nodes, 7, generator=torch.Generator().manual_seed(0))
    model = MODELS["gae"](graph, 4, generator=torch.Generator().manual_seed(0), features=features)
    assert model.first.shape == (7, 16)
    assert model(all_index(graph)).isfinite().all()


def expected_degrees(graph: Graph, a: torch.Tensor) -> torch.Tensor:
    index = all_index(graph)
    prob = torch.sigmoid(a[index[:, 0]] + a[index[:, 1]])
    degree = torch.zeros(graph.num_nodes, dtype=torch.float64)
    return degree.index_add_(0, index[:, 0], prob).index_add_(0, index[:, 1], prob)


@pytest.mark.parametrize("seed", range(3))
def test_maxent_expects_the_observed_degrees(seed):
    for graph in (planted(seed), planted_bipartite(seed)):
        a = solve_degrees(graph)
        assert (expected_degrees(graph, a) - graph.degree()).abs().max() < 1e-4


def test_maxent_on_polblogs_in_a_few_numbers():
    from linkparity import load

    graph = load("polblogs")
    assert len(classes(graph).size) == len(torch.unique(graph.degree()))
    assert (expected_degrees(graph, solve_degrees(graph)) - graph.degree()).abs().max() < 1e-6


def test_degrees_that_no_finite_parameter_has_are_pulled_inside_and_counted():
    star = Graph(6, [[0, 1], [0, 2], [0, 3], [0, 4]], [0, 1, 2, 0, 1, 2])
    with pytest.warns(GraphWarning, match="1 nodes without a link and 0 linked to every other"):
        a = solve_degrees(star)
    assert torch.isfinite(a).all()
    assert expected_degrees(star, a)[5] == pytest.approx(0.5, abs=1e-4)
    full = Graph(4, [[0, 1], [0, 2], [0, 3], [1, 2]], [0, 1, 2, 0])
    with pytest.warns(GraphWarning, match="0 nodes without a link and 1 linked to every other"):
        a = solve_degrees(full)
    assert torch.isfinite(a).all()
    assert expected_degrees(full, a)[0] == pytest.approx(2.5, abs=1e-4)


def decided_pairs(graph: Graph, degree: np.ndarray) -> bool:
    """By a linear program: whether no probabilities strictly inside (0, 1) give these degrees."""
    index = all_index(graph).numpy()
    eye, margin = np.eye(len(index)), np.ones((len(index), 1))
    ends = np.zeros((graph.num_nodes, len(index) + 1))
    ends[index.T, np.arange(len(index))] = 1
    best = linprog(  # the largest distance of all probabilities from 0 and 1
        np.append(np.zeros(len(index)), -1.0),
        A_ub=np.block([[-eye, margin], [eye, margin]]),
        b_ub=np.repeat([0.0, 1.0], len(index)),
        A_eq=ends,
        b_eq=degree,
        bounds=(0, 1),
    )
    return bool(best.status == 2 or -best.fun < 1e-9)


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
@pytest.mark.parametrize("bipartite", [False, True])
def test_degrees_that_decide_pairs_are_those_of_a_linear_program(bipartite):
    rng = np.random.default_rng(0)
    found = []
    for number in range(90):
        count = int(rng.integers(4, 13)) * (1 + bipartite)
        side = torch.arange(count) % 2 if bipartite else None
        empty = Graph(count, torch.empty(0, 2), torch.arange(count) % 3, side=side)
        index = all_index(empty)
        linked = rng.random(len(index)) < rng.uniform(0.2, 0.8)
        if number % 2:  # two kinds of nodes: one linked to its like, one not
            kind = (torch.arange(count) // 2 % 2)[index].sum(dim=1).numpy()
            linked = np.where(kind == 1, linked, kind == 2)
        graph = Graph(count, index[linked], empty.group, side=side)
        asked = classes(graph)
        found.append(not has_finite_solution(asked))
        assert found[-1] == decided_pairs(graph, asked.degree[asked.of]), graph.links
    assert sum(found) > 5


def test_degrees_that_decide_pairs_are_said_to():
    path = Graph(4, [[0, 1], [1, 2], [2, 3]], [0, 1, 2, 0])  # every other one links 1 and 2
    with pytest.warns(GraphWarning, match="maxent: the degrees decide some pairs: every graph"):
        a = solve_degrees(path)
    assert torch.allclose(expected_degrees(path, a), path.degree().double(), atol=1e-8)
    prob = torch.sigmoid(a[:, None] + a)
    assert prob[1, 2] > 1 - 1e-7
    assert prob[0, 3] < 1e-7
    blocks = Graph(12, [[0, 1], [1, 2], [2, 3]], [0] * 4 + [1] * 4 + [2] * 4)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        solve_group_degrees(blocks)
    told = str(said[-1].message)
    assert told.startswith("debayes: the degrees of 1 of 6 pairs of groups decide some pairs")


def test_degrees_that_are_not_reached_are_said_to_be_off(monkeypatch):
    monkeypatch.setattr("linkparity.models.degrees.MAX_STEPS", 2)
    graph = planted()
    with pytest.warns(GraphWarning, match="after 2 steps expected degrees are up to") as said:
        a = solve_degrees(graph)
    off = float((expected_degrees(graph, a) - graph.degree()).abs().max())
    assert f"up to {off:.1e} links from" in str(said[0].message)


def test_sides_stay_in_balance_when_degrees_are_pulled():
    side = [0, 0, 0, 1, 1, 1, 1]
    links = [[0, 3], [0, 4], [0, 5], [0, 6], [1, 3]]
    graph = Graph(7, links, [0, 1, 2, -1, -1, -1, -1], side=side)
    with pytest.warns(
        GraphWarning,
        match="and 1 linked to every other.*leave such nodes out",
    ):
        a = solve_degrees(graph)
    got = expected_degrees(graph, a)
    assert torch.isfinite(a).all()
    assert torch.allclose(got[:3], torch.tensor([3.5, 1.0, 0.5], dtype=torch.float64), atol=1e-4)
    assert torch.allclose(got[3:], torch.tensor([2.0, 1, 1, 1], dtype=torch.float64), atol=1e-4)


def test_maxent_has_one_number_per_node():
    with pytest.raises(ValueError, match="dimension must be 1 for MaxEnt, which has one"):
        MaxEnt(planted(), 3)


def test_an_unknown_model_gets_a_hint():
    with pytest.raises(KeyError, match="did you mean 'dot-product'"):
        MODELS["dotproduct"]


def test_a_model_without_logits_says_what_is_missing():
    with pytest.raises(NotImplementedError, match=r"define factors\(\), or forward"):
        LinkModel()(torch.zeros(1, 2).long())


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
def test_classes_of_one_degree_are_solved_as_one(make_graph):
    graph = untidy(make_graph())
    found = classes(graph, torch.arange(graph.num_nodes))
    assert len(found.size) == graph.num_nodes
    alone, merged = (solve(found) for solve in (solve_classes, solve_distinct_degrees))
    logits = [(a[:, None] + a)[found.pairs > 0] for a in (alone, merged)]
    assert logits[0] == pytest.approx(logits[1], abs=1e-7)
