"""FairDrop: which links are kept, what training sees of them, what the strength does."""

import warnings

import numpy as np
import pytest
import torch
from planted import all_index, cell_gap, make, planted, planted_bipartite, suited, untidy

from linkparity import Graph, LinkPredictor, evaluate, load, split_links, train
from linkparity.cli import main
from linkparity.models import MODELS
from linkparity.models.fairdrop import REDRAW, FairDrop
from linkparity.models.gae import GAE


def made(graph: Graph, strength: float, seed: int = 0) -> FairDrop:
    generator = torch.Generator().manual_seed(seed)
    return FairDrop(graph, 4, generator=generator, strength=strength)


def kept_links(model: FairDrop) -> set[tuple[int, int]]:
    """The links of the matrix that training convolves with."""
    dense = model.kept_spread.matrix.to_dense()
    return {(i, j) for i, j in torch.nonzero(dense.triu(1)).tolist()}


def kind_of_links(graph: Graph) -> dict[tuple[int, int], str]:
    """Each link as a person would call it."""
    found = {}
    for i, j in graph.links.sort(dim=1).values.tolist():
        one, two = int(graph.group[i]), int(graph.group[j])
        found[i, j] = "none" if min(one, two) < 0 else "same" if one == two else "mixed"
    return found


@pytest.mark.parametrize("strength", [0.0, 0.16, 0.5])
def test_mixed_links_are_kept_with_a_half_plus_delta(strength):
    graph = untidy(planted())
    kinds = kind_of_links(graph)
    model = made(graph, strength)
    draws = []
    for row in train(model, graph, epochs=30 * REDRAW, lr=0.0):
        if row.epoch % REDRAW == 1:
            draws.append(kept_links(model))
        assert kept_links(model) == draws[-1]  # the same for ten epochs
    assert len({frozenset(draw) for draw in draws}) == 30
    wanted = {"mixed": 0.5 + strength, "same": 0.5 - strength, "none": 0.5}
    for kind, chance in wanted.items():
        links = [link for link, each in kinds.items() if each == kind]
        share = np.mean([link in draw for draw in draws for link in links])
        error = (0.25 / (30 * len(links))) ** 0.5
        assert len(links) > 20
        assert abs(share - chance) <= 4 * error * (0 < chance < 1)


def test_strength_zero_never_sees_a_group():
    graph = planted()
    other = Graph(graph.num_nodes, graph.links, graph.group.roll(17))
    found = [made(each, 0.0) for each in (graph, other)]
    for each, model in zip((graph, other), found, strict=True):
        list(train(model, each, epochs=25))
    assert torch.allclose(found[0].first, found[1].first, atol=1e-4)  # sums in another order
    biased = made(graph, 0.16)
    list(train(biased, graph, epochs=25))
    assert not torch.allclose(biased.first, found[0].first, atol=1e-2)


def test_in_use_it_is_gae_on_the_whole_graph():
    graph = untidy(planted())
    model = made(graph, 0.3)
    list(train(model, graph, epochs=12))
    plain = GAE(graph, 4, generator=torch.Generator())
    plain.load_state_dict(model.state_dict())
    assert model.embedding().equal(plain.eval().embedding())
    assert not torch.allclose(model.train().embedding(), plain.train().embedding())


def test_training_has_the_gradient_of_the_loss_on_the_kept_links():
    """Written anew with dense matrices and autograd, dropout left out."""
    graph = untidy(planted())
    model = made(graph, 0.25)
    first = [p.detach().double().requires_grad_() for p in model.parameters()]
    masks = []

    def rand(*shape, generator=None, dtype=None, real=torch.rand):
        drawn = real(*shape, generator=generator, dtype=dtype)
        masks.append(drawn)
        return torch.ones_like(drawn) if len(masks) > 1 else drawn  # nothing hidden is dropped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "rand", rand)
        row = next(train(model, graph, negatives=30))
    dense = torch.zeros(graph.num_nodes, graph.num_nodes, dtype=torch.float64)
    for i, j in kept_links(model):
        dense[i, j] = dense[j, i] = 1
    loops = dense + torch.eye(graph.num_nodes)
    spread = loops / (loops.sum(dim=0).sqrt() * loops.sum(dim=1, keepdim=True).sqrt())
    z = spread @ (2 * (spread @ first[0]).relu()) @ first[1]
    index = all_index(graph)
    dropped = graph.is_link(index) & (dense[index[:, 0], index[:, 1]] == 0)
    i, j = index[~dropped].T  # a dropped link is neither a link nor another pair
    x, y = (z @ z.T)[i, j], dense[i, j]
    weight = 2 * y + 60 / graph.num_nodes
    each = torch.nn.functional.binary_cross_entropy_with_logits(x, y, reduction="none")
    loss = (weight * each).sum() / weight.sum()
    assert row.fit == pytest.approx(loss.item(), rel=1e-5)
    for p, gradient in zip(model.parameters(), torch.autograd.grad(loss, first), strict=True):
        assert torch.allclose(p.grad.double(), gradient, rtol=1e-3, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*learned nothing")  # half of few links
@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
def test_regularizer_and_projection_close_the_gap(make_graph):
    graph = untidy(suited("fairdrop", make_graph()))
    gaps = [
        cell_gap(LinkPredictor("fairdrop", "dp", pairs="all", **asked).fit(graph), graph)
        for asked in ({"gamma": 0}, {"gamma": 300}, {"gamma": 0, "postprocess": "i-projection"})
    ]
    assert gaps[1] < 0.5 * gaps[0]
    assert gaps[2] < 1e-6


def test_gamma_zero_is_no_regularizer():
    graph = planted()
    plain, measured = (make("fairdrop", graph) for _ in range(2))
    list(train(plain, graph, epochs=12))
    rows = list(train(measured, graph, "dp", 0.0, epochs=12))
    assert torch.allclose(plain.first, measured.first, atol=1e-6)
    assert rows[-1].kl > 0


def test_a_graph_without_a_link_between_known_groups_is_one_line(capsys):
    graph = planted_bipartite()
    with pytest.raises(ValueError, match="needs links whose two ends have a group") as error:
        LinkPredictor("fairdrop").fit(graph)
    assert "take a strength of 0" in str(error.value)
    assert "\n" not in str(error.value)
    assert LinkPredictor("fairdrop", strength=0, epochs=3).fit(graph).history_
    empty = Graph(6, torch.empty(0, 2), [0, 1, 2, 0, 1, 2])
    assert np.isfinite(LinkPredictor("fairdrop", epochs=3).fit(empty).embedding_).all()
    with pytest.raises(SystemExit, match="2"):
        main(["train", "polbooks", "--model", "fairdrop", "--strength", "0.7"])
    said = capsys.readouterr().err
    assert "--strength must lie between 0 and 0.5 for fairdrop, got 0.7" in said
    assert said.count("\n") == 1


def test_the_default_is_the_published_strength():
    assert MODELS["fairdrop"].strength == 0.16
    assert make("fairdrop", planted()).strength == 0.16


@pytest.mark.slow
def test_parity_gap_on_polblogs_falls_with_the_strength():
    gaps = np.zeros((2, 3))
    for seed in range(2):
        split = split_links(load("polblogs"), seed=seed)
        for k, strength in enumerate((0.0, 0.3, 0.45)):
            predictor = LinkPredictor("fairdrop", strength=strength, seed=seed).fit(split.train)
            gaps[seed, k] = evaluate(predictor, split, confidence=None).dp
    assert (np.diff(gaps.mean(axis=0)) < 0).all()


def test_a_graph_whose_links_are_all_dropped_is_trained():
    for seed in range(4):
        triangle = Graph(3, [(0, 1), (1, 2), (0, 2)], [0, 0, 1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = LinkPredictor("fairdrop", seed=seed, epochs=3).fit(triangle)
        assert np.isfinite(found.predict_logits([[0, 1]])).all()
