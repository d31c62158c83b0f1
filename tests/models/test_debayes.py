"""DeBayes: its prior of training, what it is with one group, its loss."""

import warnings

import numpy as np
import pytest
import torch
from planted import all_index, make, planted, planted_bipartite
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

from linkparity import Graph, GraphWarning, LinkPredictor, i_project, load, split_links, train
from linkparity.cli import main
from linkparity.models import CNE, DeBayes
from linkparity.models.debayes import block_classes, solve_group_degrees
from linkparity.models.training.objective import pair_weights

pytestmark = pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")


def with_untidy_nodes(graph: Graph) -> Graph:
    """Some nodes without a group, and two without a link."""
    group = torch.cat([graph.group, torch.tensor([0, 2])])
    group[::7] = -1
    side = None if graph.side is None else torch.cat([graph.side, torch.tensor([0, 1])])
    return Graph(graph.num_nodes + 2, graph.links, group, graph.group_names, side)


GRAPHS = {
    "planted": planted,
    "bipartite": planted_bipartite,
    "untidy": lambda: with_untidy_nodes(planted(1)),
    "untidy bipartite": lambda: with_untidy_nodes(planted_bipartite(1)),
    "polblogs": lambda: split_links(load("polblogs"), seed=0).train,
}


def degrees_to_groups(graph, prior):
    """Expected, observed and possible degree of each node to each group, pair by pair."""
    values = torch.unique(graph.group).tolist()
    place = torch.tensor([values.index(g) for g in graph.group.tolist()])
    i, j = all_index(graph).T
    prob = torch.sigmoid(prior[i, place[j]] + prior[j, place[i]])
    found = torch.zeros(3, graph.num_nodes, len(values), dtype=torch.float64)
    for one, other in ((i, j), (j, i)):
        for k, value in enumerate((prob, graph.is_link(torch.stack([i, j], 1)), prob * 0 + 1)):
            found[k].index_put_((one, place[other]), value.double(), accumulate=True)
    return found


@pytest.mark.parametrize("name", GRAPHS)
def test_training_prior_expects_the_degree_to_each_group(name):
    graph = GRAPHS[name]()
    prior = solve_group_degrees(graph)
    assert torch.isfinite(prior).all()
    expected, observed, possible = degrees_to_groups(graph, prior)
    regular = (observed > 0) & (observed < possible)
    assert regular.sum() > graph.num_nodes / 2
    off = (expected - observed).abs()
    assert off[regular].max() < 1e-6
    assert off[possible > 0].max() <= 0.5 + 1e-6


def test_degrees_within_a_group_are_half_a_link_inside():
    links = [[0, 1], [0, 2], [0, 3], [1, 2], [5, 6], [6, 7], [0, 5], [3, 7]]
    graph = Graph(9, links, [0, 0, 0, 0, 0, 1, 1, 1, 2])
    said = "debayes: 15 times a node has no link to a group, and 1 times all of them"
    with pytest.warns(GraphWarning, match=said):
        prior = solve_group_degrees(graph)
    expected, observed, _ = degrees_to_groups(graph, prior)
    assert observed[4, 0] == 0
    assert expected[4, 0] == pytest.approx(0.5, abs=1e-6)
    assert observed[6, 1] == 2
    assert expected[6, 1] == pytest.approx(1.5, abs=1e-6)


def test_what_one_side_of_a_block_gains_the_other_does():
    side = np.repeat([0, 1], [4, 3])
    for degree, wanted in (
        ([0, 0, 2, 1, 0, 2, 1], [0.25, 0.25, 2, 1, 0.5, 2, 1]),
        ([0, 3, 2, 1, 2, 2, 2], [0.5, 2.5, 2, 1, 2, 2, 2]),
        ([0, 0, 0, 2, 1, 1, 0], [1 / 6, 1 / 6, 1 / 6, 2, 1, 1, 0.5]),
        ([0, 2, 2, 1, 2, 2, 1], [3e-7, 2, 2, 1, 2, 2, 1]),
        ([3, 2, 2, 1, 3, 3, 2], [3 - 3e-7, 2, 2, 1, 3, 3, 2]),
    ):
        found = block_classes(np.array(degree), side, True)
        asked = found.degree[found.of]
        assert asked == pytest.approx(wanted, abs=1e-6)
        assert asked[:4].sum() == pytest.approx(asked[4:].sum(), abs=1e-12)


def test_with_one_group_it_is_cne():
    for graph in (planted(), planted_bipartite()):
        one = Graph(graph.num_nodes, graph.links, torch.zeros_like(graph.group), side=graph.side)
        model, plain = make("debayes", one), make("cne", one)
        rows = [list(train(each, one, epochs=50)) for each in (model, plain)]
        assert rows[0][-1].loss == rows[1][-1].loss
        index = all_index(one)
        assert model(index).equal(plain(index))


def test_prior_of_training_and_of_use():
    graph = planted()
    model, plain = make("debayes", graph), make("cne", graph)
    i, j = all_index(graph).T
    distance = (model.z[i] - model.z[j]).square().sum(dim=1)
    prior = model.group_prior[i, graph.group[j]] + model.group_prior[j, graph.group[i]]
    wanted = prior + np.log(16) - (1 - 1 / 256) * distance
    assert torch.allclose(model.train()(all_index(graph)).double(), wanted, atol=1e-4)
    assert model.eval()(all_index(graph)).equal(plain.eval()(all_index(graph)))


@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
@pytest.mark.parametrize("gamma", [0.0, 30.0])
def test_gradient_is_that_of_the_fit_under_one_prior_and_parity_under_the_other(make_graph, gamma):
    graph = make_graph()
    model = make("debayes", graph)
    with torch.no_grad():
        model.z.mul_(0.3)
    other = make("debayes", graph)
    other.load_state_dict(model.state_dict())
    asked = {"pairs": "sampled", "method": "blocks"}
    row = next(train(model, graph, "dp", gamma, target=0.2, lr=0.0, **asked))

    index = all_index(graph)
    label = graph.is_link(index)
    link, rest = pair_weights(graph, 100)
    weight = torch.where(label, link, rest).double()
    fit = cross_entropy(other.train()(index).double(), label.double(), weight, reduction="sum")
    used = other.eval()(index).double()
    kl = i_project(used, graph.group[index], "dp", weight=weight, target=0.2).kl
    loss = (fit + gamma * kl) / weight.sum()
    loss.backward()
    assert row.loss == pytest.approx(loss.item(), rel=1e-5)
    assert torch.allclose(model.z.grad, other.z.grad, rtol=1e-3, atol=1e-6)


def test_regularizer_acts_on_the_logits_in_use():
    split = split_links(planted(), seed=0)

    def gap(**asked):
        predictor = LinkPredictor("debayes", "dp", pairs="all", **asked).fit(split.train)
        prob = predictor.predict_proba(all_index(split.train))
        code = split.train.group[all_index(split.train)].sort(dim=1).values
        mean = [prob[(code == c).all(dim=1).numpy()].mean() for c in torch.unique(code, dim=0)]
        return max(mean) - min(mean)

    # The last epochs of a fit move the gap by a factor of two, another processor by as much.
    trained = [gap(gamma=300.0, seed=seed) for seed in range(3)]
    assert sum(trained) / 3 < 0.3 * gap(gamma=0.0)
    assert gap(gamma=0.0, postprocess="i-projection") < 1e-6


def test_several_attributes_are_crossed():
    import pandas as pd

    graph = planted()
    nodes = pd.DataFrame({"node": range(graph.num_nodes), "colour": graph.group.tolist()})
    nodes["size"] = ["large" if node % 3 else "small" for node in nodes["node"]]
    links = pd.DataFrame(graph.links.numpy(), columns=["source", "target"])
    crossed = Graph.from_frames(links, nodes, ["colour", "size"])
    assert crossed.num_groups == 6
    prior = solve_group_degrees(crossed)
    expected, observed, possible = degrees_to_groups(crossed, prior)
    regular = (observed > 0) & (observed < possible)
    assert (expected - observed).abs()[regular].max() < 1e-6
    for column in range(3):  # a degree to a colour is a sum of degrees to groups
        groups = [k for k, name in enumerate(crossed.group_names) if name.startswith(str(column))]
        mine = regular[:, groups].all(dim=1)
        total = expected[:, groups].sum(dim=1) - observed[:, groups].sum(dim=1)
        assert total[mine].abs().max() < 1e-6


def test_it_has_no_strength(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["train", "polbooks", "--model", "debayes", "--strength", "1"])
    said = capsys.readouterr().err
    assert "--strength does not apply to the model 'debayes'" in said
    assert said.count("\n") == 1
    with pytest.raises(ValueError, match="strength does not apply to the model 'debayes'"):
        LinkPredictor("debayes", strength=1.0).fit(planted())
    assert DeBayes.strength is None
    assert (DeBayes.dimension, DeBayes.lr, DeBayes.epochs) == (CNE.dimension, CNE.lr, CNE.epochs)


def test_a_graph_without_a_pulled_degree_warns_of_nothing():
    links = [[i, (i + step) % 12] for i in range(12) for step in (1, 2, 3)]
    graph = Graph(12, links, [0, 1, 2] * 4)
    degree = graph.adjacency().toarray() @ np.eye(3)[graph.group.numpy()]
    full = 4 - np.eye(3)[graph.group.numpy()]
    assert ((degree > 0) & (degree < full)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve_group_degrees(graph)


def test_priors_that_do_not_know_the_sides():
    graph = planted_bipartite()
    plain = Graph(graph.num_nodes, graph.links, graph.group)
    generator = torch.Generator().manual_seed(0)
    model = DeBayes(graph, 3, generator=generator, sides=False)
    assert model.prior.equal(make("maxent", plain).a.data.float())
    assert model.group_prior.equal(make("debayes", graph).group_prior)


def test_with_one_group_it_is_cne_on_a_bipartite_graph_with_isolated_nodes():
    generator = torch.Generator().manual_seed(0)
    links = torch.stack(
        [torch.randint(16, (80,), generator=generator),
         20 + torch.randint(30, (80,), generator=generator)], dim=1,
    )  # fmt: skip
    side = torch.tensor([0] * 20 + [1] * 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        graph = Graph(50, torch.unique(links, dim=0), [0] * 50, side=side)
        fitted = [LinkPredictor(name, epochs=30).fit(graph) for name in ("cne", "debayes")]
    index = torch.cartesian_prod(torch.arange(20), torch.arange(20, 50)).numpy()
    expected, found = (each.predict_logits(index) for each in fitted)
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.filterwarnings("ignore::linkparity.GraphWarning")
def test_with_one_group_on_one_side_it_is_cne():
    links = [(0, 4), (0, 5), (1, 5), (1, 6), (2, 6), (2, 7), (3, 4), (3, 7)]
    graph = Graph(9, links, [0] * 4 + [-1] * 5, side=[0] * 4 + [1] * 5)
    index = torch.cartesian_prod(torch.arange(4), torch.arange(4, 9))
    fitted = [LinkPredictor(name, epochs=20).fit(graph) for name in ("debayes", "cne")]
    one, other = (each.predict_logits(index) for each in fitted)
    assert one == pytest.approx(other, abs=1e-4)
