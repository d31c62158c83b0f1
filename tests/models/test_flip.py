"""FLIP: its plain form, the steps of its players, what the strength does."""

import copy

import numpy as np
import pytest
import torch
from planted import all_index, cell_gap, make, planted, planted_bipartite, untidy
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid

from linkparity import Graph, LinkPredictor, evaluate, load, split_links, train
from linkparity.cli import main
from linkparity.models import MODELS
from linkparity.models.flip import BATCHES, PREDICTOR_WEIGHT, Flip, _EmbeddingBatch, _Players
from linkparity.models.prediction.modularity import modularity
from linkparity.models.skip_gram import Corpus
from linkparity.models.training import Adam, Objective, Settings


def made(graph: Graph, strength: float = 0.1, **options) -> Flip:
    generator = torch.Generator().manual_seed(0)
    return Flip(graph, 6, generator=generator, strength=strength, **options)


def network(player, a, b):
    """One order, as in the paper: the two vectors joined, a hidden layer, an output."""
    joined = torch.cat([a, b], dim=1) @ player.hidden + player.hidden_bias
    return torch.where(joined > 0, joined, 0.2 * joined) @ player.out + player.out_bias


def test_logits_are_a_network_on_both_orders():
    graph = planted()
    model = made(graph)
    for p in model.parameters():
        p.data += 0.3 * torch.randn(p.shape, generator=torch.Generator().manual_seed(1))
    index = all_index(graph)
    a, b = model.u[index[:, 0]], model.u[index[:, 1]]
    wanted = (network(model.predictor, a, b) + network(model.predictor, b, a))[:, 0] / 2
    assert torch.allclose(model(index), wanted, atol=1e-5)
    assert model.factors() is None


def reference_losses(model, players, index, label, group):
    """The losses of adversary, predictor and embeddings on drawn pairs, pair by pair sums."""
    u, c, loss = model.u, model.context, players.skip_gram
    a, b = u[index[:, 0]], u[index[:, 1]]
    first, second = group[index].T
    known = (first >= 0) & (second >= 0)
    guess = (network(model.adversary, a, b) + network(model.adversary, b, a)) / 2
    log = torch.log_softmax(guess, dim=1)  # column 1 is "different groups"
    right = torch.where(first == second, log[:, 0], log[:, 1])
    adversary = -right[known].mean()
    x = (network(model.predictor, a, b) + network(model.predictor, b, a))[:, 0] / 2
    predictor = binary_cross_entropy_with_logits(x, label.to(x.dtype))
    near, far = loss.count * logsigmoid(u @ c.T), torch.outer(loss.centre, loss.noise)
    walks = -(near + far * logsigmoid(-(u @ c.T))).sum()
    return adversary, predictor, walks


@pytest.mark.parametrize("strength", [0.0, 0.3])
def test_steps_of_the_players_are_those_of_the_equations(strength):
    """Adversary, then predictor, then embeddings: an oracle by autograd."""
    graph = untidy(planted())
    model = made(graph, strength).train()
    settings = Settings(generator=torch.Generator().manual_seed(3))
    players = _Players(model, graph, Objective(), settings)
    oracle = copy.deepcopy(model)
    steps = [
        Adam(oracle.adversary.parameters(), 0.01),
        Adam(oracle.predictor.parameters(), 0.01),
        Adam([oracle.u, oracle.context], 0.01),
    ]
    ours = Adam(model.parameters(), 0.01)
    for number in range(4):
        model.zero_grad()
        batch = players.score(model, number)
        batch.fit_loss()
        batch.backward(0.0, None)
        ours.step()
        for turn, step in enumerate(steps):
            oracle.zero_grad()
            losses = reference_losses(oracle, players, batch.index, batch.label, graph.group)
            adversary, predictor, walks = losses
            whole = (1 - strength) * walks - strength * adversary + PREDICTOR_WEIGHT * predictor
            (adversary, predictor, whole)[turn].backward()
            if strength or turn:
                step.step()
        for one, two in zip(model.parameters(), oracle.parameters(), strict=True):
            assert torch.allclose(one, two, atol=2e-4)
    moved = not model.adversary.hidden.equal(made(graph, strength).adversary.hidden)
    assert moved == bool(strength)


def test_gradient_of_the_embeddings_loss_with_a_regularizer():
    graph = untidy(planted())
    model = made(graph, 0.3).double().train()
    for p in model.parameters():
        p.data += 0.5 * torch.randn(p.shape, generator=torch.Generator().manual_seed(2)).double()
    objective = Objective.of("dp", 3.0, 0.2, 0.0)
    players = _Players(model, graph, objective, Settings(generator=torch.Generator()))
    players.skip_gram = type(players.skip_gram)(
        *(part.double() for part in vars(players.skip_gram).values())
    )
    batch = players.score(model, 0)
    batch.fit_loss()
    batch.backward(3.0, objective.parity(batch).fit.tilt)
    assert all(p.grad is None for p in model.predictor.parameters())
    for p in (model.u, model.context):
        direction = torch.randn(p.shape, generator=torch.Generator().manual_seed(0)).double()
        slope, ends = float((p.grad * direction).sum()), []
        for sign in (1, -1):
            p.data += sign * 1e-6 * direction
            with torch.no_grad():
                losses = reference_losses(model, players, batch.index, batch.label, graph.group)
                adversary, predictor, walks = (float(each) for each in losses)
                kl = (
                    Objective.of("dp", 3.0, 0.2, 0.0)
                    .parity(_EmbeddingBatch(players, model, batch))
                    .kl
                )
            ends.append(0.7 * walks - 0.3 * adversary + PREDICTOR_WEIGHT * predictor + 3.0 * kl)
            p.data -= sign * 1e-6 * direction
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(slope, rel=1e-3, abs=1e-7)


def test_strength_zero_has_no_adversary_and_never_sees_a_group():
    graph = planted()
    other = Graph(graph.num_nodes, graph.links, graph.group.roll(17))
    found = [made(each, 0.0) for each in (graph, other)]
    for each, model in zip((graph, other), found, strict=True):
        rows = list(train(model, each, epochs=2))
        assert {row.extra["adversary"] for row in rows} == {0.0}
    assert found[0].u.equal(found[1].u)
    assert found[0].predictor.hidden.equal(found[1].predictor.hidden)
    biased = made(graph, 0.1)
    list(train(biased, graph, epochs=2))
    assert not torch.allclose(biased.u, found[0].u, atol=1e-3)


def test_the_adversary_learns_what_it_is_shown():
    graph = planted()
    told = []
    for strength in (1e-9, 0.6):
        model = Flip(graph, 64, generator=torch.Generator().manual_seed(0), strength=strength)
        told.append([row.extra["adversary"] for row in train(model, graph, epochs=10)])
    assert told[0][-1] < 0.8 * told[0][0]
    assert told[1][-1] > told[0][-1]


def test_it_tells_pairs_of_groups_apart_where_only_one_side_has_groups():
    assert made(planted()).adversary.out.shape == (6, 2)
    assert made(planted(), cells="dp").adversary.out.shape == (6, 6)
    assert made(planted_bipartite()).adversary.out.shape == (6, 3)
    with pytest.raises(ValueError, match="options must give cells 'dp' or 'weak-dp', got 'eo'"):
        made(planted(), cells="eo")


def test_graphs_without_links_are_learned_from():
    graph = Graph(6, torch.empty(0, 2), [0, 1, 2, 0, 1, 2])
    model = made(graph)
    assert len(list(train(model, graph, epochs=1))) == 1
    assert model(all_index(graph)).isfinite().all()


@pytest.mark.filterwarnings("ignore:.*learned nothing")  # in two epochs
def test_without_an_adversary_nothing_depends_on_groups():
    graph = planted()
    none = Graph(graph.num_nodes, graph.links, torch.full_like(graph.group, -1))
    asked = {"strength": 0, "epochs": 2, "dimension": 8}
    found = [
        LinkPredictor("flip", options=options, **asked).fit(each).predict_logits(graph.links)
        for each, options in ((graph, None), (graph, {"cells": "dp"}), (none, None))
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
def test_regularizer_and_projection_close_the_gap(make_graph):
    graph = untidy(make_graph())
    asked = {"pairs": "all", "dimension": 16, "epochs": 10}
    gaps = [
        cell_gap(LinkPredictor("flip", "dp", **asked, **more).fit(graph), graph)
        for more in ({"gamma": 0}, {"gamma": 100}, {"gamma": 0, "postprocess": "i-projection"})
    ]
    assert gaps[1] < 0.7 * gaps[0]
    assert gaps[2] < 1e-6


def test_settings_and_refusals(capsys):
    assert Flip.corpus == Corpus(10, 80, 9, 5, 0.5, 1e-4)
    assert (Flip.dimension, MODELS["flip"].strength, PREDICTOR_WEIGHT) == (128, 0.1, 0.2)
    model = make("flip", planted())
    assert model.strength == 0.1
    assert model.u.abs().max() <= 1 / 128
    assert BATCHES - 1 <= len(_Players(model, planted(), Objective(), Settings())) <= BATCHES
    with pytest.raises(SystemExit, match="2"):
        main(["train", "polbooks", "--model", "flip", "--strength", "1.5"])
    said = capsys.readouterr().err
    assert "--strength must lie between 0 and 1 for flip, got 1.5" in said
    assert said.count("\n") == 1


@pytest.mark.standing
def test_modularity_of_predicted_links_on_polblogs_falls_with_the_strength():
    split = split_links(load("polblogs"), seed=0)
    levels = []
    for strength in (0.0, 0.3, 0.6):
        predictor = LinkPredictor("flip", strength=strength).fit(split.train)
        linked = predictor.predict_logits(split.test) > 0
        levels.append(modularity(split.train, split.test.index[torch.from_numpy(linked)]))
        assert evaluate(predictor, split, confidence=None).auc > 0.9
    assert levels[0] > levels[1] > levels[2]
