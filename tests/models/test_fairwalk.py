"""DeepWalk and Fairwalk: the walks, the skip-gram loss, the decoder."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch
from planted import all_index, cell_gap, make, planted, planted_bipartite, untidy

from linkparity import Graph, LinkPredictor, train
from linkparity.cli import main
from linkparity.models import DeepWalk, Fairwalk
from linkparity.models.fairwalk import Walker
from linkparity.models.skip_gram import Corpus, SkipGram, fit_skip_gram, window_counts

#: Node 0 has three neighbours of group 1, two of group 2, one of its own and one without.
STAR = Graph(
    9,
    [[0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [0, 6], [0, 7], [1, 2], [4, 6]],
    [0, 1, 1, 1, 2, 2, 0, -1, 1],
)


def next_steps(walker, node, count=12):
    """How often each neighbour follows ``node``, over all equally likely random numbers."""
    draws = torch.tensor(list(product(range(count), repeat=2))).T
    nodes = walker.step(torch.full((count**2,), node), draws).tolist()
    return {node: times / count**2 for node, times in Counter(nodes).items()}


def test_groups_of_the_neighbours_are_equally_likely_and_neighbours_within_them():
    wanted = {1: 1 / 12, 2: 1 / 12, 3: 1 / 12, 4: 1 / 8, 5: 1 / 8, 6: 1 / 4, 7: 1 / 4}
    walker = Walker(STAR, STAR.group)
    assert next_steps(walker, 0) == pytest.approx(wanted)
    assert next_steps(walker, 1) == pytest.approx({0: 1 / 2, 2: 1 / 2})
    assert next_steps(walker, 7) == {0: 1.0}


def test_next_steps_on_a_random_graph_are_those_of_the_definition():
    for graph in (untidy(planted()), untidy(planted_bipartite())):
        near = [set() for _ in range(graph.num_nodes)]
        for i, j in graph.links.tolist():
            near[i].add(j)
            near[j].add(i)
        balanced, plain = Walker(graph, graph.group), Walker(graph, torch.zeros_like(graph.group))
        for node in (node for node in range(0, graph.num_nodes, 9) if near[node]):
            groups = Counter(int(graph.group[j]) for j in near[node])
            wanted = {j: 1 / len(groups) / groups[int(graph.group[j])] for j in near[node]}
            count = math.lcm(len(groups), *groups.values(), len(near[node]))
            if count < 400:
                assert next_steps(balanced, node, count) == pytest.approx(wanted)
                even = dict.fromkeys(near[node], 1 / len(near[node]))
                assert next_steps(plain, node, count) == pytest.approx(even)


def test_walks_follow_links_from_every_node_that_has_one():
    graph = untidy(planted())
    walks = Walker(graph, graph.group).walk(3, 12, torch.Generator().manual_seed(0))
    linked = torch.nonzero(graph.degree())[:, 0]
    assert walks.shape == (12, 3 * len(linked))
    assert walks[0].view(3, -1).equal(linked.expand(3, -1))
    steps = torch.stack([walks[:-1].reshape(-1), walks[1:].reshape(-1)], dim=1)
    assert graph.is_link(steps).all()


def test_frequencies_of_long_walks_meet_the_probabilities():
    walks = Walker(STAR, STAR.group).walk(200, 200, torch.Generator().manual_seed(0))
    after = walks[1:][walks[:-1] == 0]
    found = torch.bincount(after, minlength=9) / len(after)
    wanted = torch.tensor([0, 1 / 12, 1 / 12, 1 / 12, 1 / 8, 1 / 8, 1 / 4, 1 / 4, 0])
    assert (found - wanted).abs().max() < 4 * (0.25 / len(after)) ** 0.5


def test_where_neighbours_share_a_group_fairwalk_is_deepwalk():
    """Two bipartite parts: groups 0 and 1 link to each other, and so do 2 and 3."""
    sides = planted_bipartite()
    half = sides.num_nodes
    links = torch.cat([sides.links, sides.links + half])
    graph = Graph(2 * half, links, torch.cat([sides.side, sides.side + 2]))
    models = make("deepwalk", graph), make("fairwalk", graph)
    rows = [list(train(model, graph, epochs=5)) for model in models]
    assert [row.loss for row in rows[0]] == [row.loss for row in rows[1]]
    assert models[0].z.equal(models[1].z)
    mixed = planted()
    models = make("deepwalk", mixed), make("fairwalk", mixed)
    for model in models:
        list(train(model, mixed, epochs=1))
    assert not models[0].z.equal(models[1].z)


@pytest.mark.parametrize("window", [1, 3, 30])
def test_window_counts_are_those_of_a_loop(window):
    walks = torch.randint(6, (9, 4), generator=torch.Generator().manual_seed(0))
    wanted = np.zeros((6, 6))
    for walk in walks.T.tolist():
        for reach in range(1, window + 1):  # each as likely as the others
            for t, node in enumerate(walk):
                for s in range(max(0, t - reach), min(len(walk), t + reach + 1)):
                    wanted[node, walk[s]] += (s != t) / window
    assert np.allclose(window_counts(walks, 6, window), wanted, atol=1e-5)


def small_skip_gram():
    walks = torch.randint(7, (20, 6), generator=torch.Generator().manual_seed(1))
    corpus = Corpus(window=4, negatives=3, power=0.5, subsample=0.05)
    return walks, corpus, SkipGram.of(walks, 9, corpus)


def test_counts_are_subsampled_and_noise_follows_them():
    walks, _, found = small_skip_gram()
    seen = Counter(walks.reshape(-1).tolist())
    share = {v: times / walks.numel() for v, times in seen.items()}
    kept = [
        min(1.0, (0.05 / share[v]) ** 0.5 + 0.05 / share[v]) if v in share else 0 for v in range(9)
    ]
    count = window_counts(walks, 9, 4) * torch.tensor(kept)[:, None] * torch.tensor(kept)
    assert torch.allclose(found.count, count / count.sum(), atol=1e-6)
    assert torch.allclose(found.centre, 3 * found.count.sum(dim=1))
    root = torch.tensor([seen[v] ** 0.5 for v in range(9)])
    assert torch.allclose(found.noise, root / root.sum())
    assert found.noise[7:].tolist() == [0, 0]


def test_loss_is_skip_gram_with_expected_negatives_and_so_is_its_gradient():
    _, corpus, rough = small_skip_gram()
    count = rough.count.double()
    exact = SkipGram(count, corpus.negatives * count.sum(dim=1), rough.noise.double())
    generator = torch.Generator().manual_seed(2)
    z, c = torch.randn(2, 9, 4, generator=generator, dtype=torch.float64)
    z.requires_grad_(), c.requires_grad_()

    def loss(z, c):
        total = torch.zeros((), dtype=torch.float64)
        for u in range(9):
            for v in range(9):
                near = torch.log(torch.sigmoid(z[u] @ c[v]))
                far = [torch.log(torch.sigmoid(-z[u] @ c[n])) for n in range(9)]
                expected = sum(q * each for q, each in zip(exact.noise, far, strict=True))
                total = total - exact.count[u, v] * (near + corpus.negatives * expected)
        return total

    assert exact.loss(z.detach(), c.detach()) == pytest.approx(loss(z, c).item(), rel=1e-12)
    wanted = torch.autograd.grad(loss(z, c), (z, c))
    found = exact.gradients(z.detach(), c.detach())
    for one, other in zip(found, wanted, strict=True):
        assert torch.allclose(one, other, rtol=1e-10, atol=1e-14)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z, c):
            ctx.save_for_backward(z, c)
            return torch.tensor(exact.loss(z, c), dtype=torch.float64)

        @staticmethod
        def backward(ctx, by):
            return tuple(by * each for each in exact.gradients(*ctx.saved_tensors))

    assert torch.autograd.gradcheck(Loss.apply, (z, c))


def test_rows_of_logits_in_pieces_add_up(monkeypatch):
    from linkparity.models import skip_gram

    _, _, whole = small_skip_gram()
    z, c = torch.randn(2, 9, 4, generator=torch.Generator().manual_seed(3))
    one = whole.loss(z, c), *whole.gradients(z, c)
    monkeypatch.setattr(skip_gram, "ROWS", 2)
    two = whole.loss(z, c), *whole.gradients(z, c)
    assert one[0] == pytest.approx(two[0], rel=1e-6)
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(one[1:], two[1:], strict=True))


def test_skip_gram_starts_from_even_chances_and_learns():
    graph = planted()
    walks = Walker(graph, graph.group).walk(20, 80, torch.Generator().manual_seed(5))
    skip_gram = SkipGram.of(walks, graph.num_nodes, Corpus())
    z = make("fairwalk", graph).z
    context = torch.zeros_like(z)
    assert skip_gram.loss(z, context) == pytest.approx(6 * math.log(2), rel=1e-5)
    fit_skip_gram(skip_gram, z, context)
    assert skip_gram.loss(z, context) < 0.7 * 6 * math.log(2)


@pytest.mark.parametrize("name", ["deepwalk", "fairwalk"])
@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
def test_logits_are_those_of_a_logistic_regression_on_products(name, make_graph):
    graph = untidy(make_graph())
    predictor = LinkPredictor(name, epochs=10).fit(graph)
    model, index = predictor.model_, all_index(graph)
    i, j = index.T
    products = (model.z[i] * model.z[j] / model.z.square().mean(dim=0)).double()
    wanted = products @ model.weight.detach().double() + model.bias.item()
    assert torch.allclose(torch.from_numpy(predictor.predict_logits(index)), wanted, atol=1e-4)
    lonely = graph.degree() == 0
    assert model.z[lonely].norm(dim=1).max() < 0.1 * model.z[~lonely].norm(dim=1).mean()


@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
def test_regularizer_and_projection_close_the_gap(make_graph):
    graph = untidy(make_graph())
    gaps = [
        cell_gap(LinkPredictor("fairwalk", "dp", pairs="all", **asked).fit(graph), graph)
        for asked in ({"gamma": 0}, {"gamma": 300}, {"gamma": 0, "postprocess": "i-projection"})
    ]
    assert gaps[1] < 0.5 * gaps[0]
    assert gaps[2] < 1e-6


def test_embeddings_stay_what_the_walks_made_them():
    graph = planted()
    plain, held = (LinkPredictor("fairwalk", asked).fit(graph) for asked in (None, "dp"))
    assert np.array_equal(plain.embedding_, held.embedding_)
    assert not torch.equal(plain.model_.weight, held.model_.weight)
    untrained = LinkPredictor("fairwalk", epochs=0).fit(graph)
    assert np.abs(untrained.embedding_).max() <= 0.5 / 128


def test_a_graph_without_links_has_nothing_to_walk():
    graph = Graph(6, torch.empty(0, 2), [0, 1, 2, 0, 1, 2])
    predictor = LinkPredictor("fairwalk", epochs=3).fit(graph)
    assert np.isfinite(predictor.predict_logits(all_index(graph))).all()


def test_settings_are_the_published_ones():
    assert Fairwalk.corpus == DeepWalk.corpus == Corpus(20, 80, 10, 5, 0.75, 1e-3)
    assert Fairwalk.dimension == 128


def test_it_has_no_strength(capsys):
    for name in ("deepwalk", "fairwalk"):
        with pytest.raises(SystemExit, match="2"):
            main(["train", "polbooks", "--model", name, "--strength", "1"])
        said = capsys.readouterr().err
        assert f"--strength does not apply to the model '{name}'" in said
        assert said.count("\n") == 1


def test_too_many_nodes_for_the_matrix_of_counts_are_one_line(monkeypatch):
    from linkparity.models import skip_gram

    monkeypatch.setattr(skip_gram, "MOST_NODES", 100)
    with pytest.raises(ValueError, match="counts every pair of nodes, and 146 nodes are more"):
        LinkPredictor("deepwalk").fit(planted())
