"""FairAdj: its plain form, the matrix it learns, means of cells without pairs, what it reaches."""

import copy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from planted import all_index, cell_gap, planted, planted_bipartite, untidy
from torch.nn.functional import binary_cross_entropy_with_logits

from linkparity import Graph, LinkPredictor, evaluate, load, split_links, train
from linkparity.cli import main
from linkparity.models import MODELS, own_losses
from linkparity.models.fairadj import CellMeans, FairAdj
from linkparity.models.learned_adjacency import Support
from linkparity.models.training import Adam, Objective, Settings


def made(graph: Graph, **options) -> FairAdj:
    return FairAdj(graph, 4, generator=torch.Generator().manual_seed(0), **options)


def dense_adjacency(graph: Graph) -> torch.Tensor:
    dense = torch.eye(graph.num_nodes, dtype=torch.float64)
    dense[graph.links[:, 0], graph.links[:, 1]] = 1
    return dense.maximum(dense.T)


def to_dense(model: FairAdj, values: torch.Tensor) -> torch.Tensor:
    size = len(model.support.start) - 1
    dense = torch.zeros(size, size, dtype=values.dtype)
    return dense.index_put((model.support.row, model.support.column), values)


def vgae_loss(spread, weights, noise, target):
    """As in the papers, with dense matrices over all n² entries."""
    hidden = (spread @ weights[0]).relu()
    mean, log = spread @ hidden @ weights[1], spread @ hidden @ weights[2]
    z, n = mean + noise * log.exp(), len(spread)
    positive = target.sum()
    weight = (n**2 - positive) / positive
    norm = n**2 / (2 * (n**2 - positive))
    fit = norm * binary_cross_entropy_with_logits(z @ z.T, target, pos_weight=weight)
    prior = (1 + 2 * log - mean**2 - (2 * log).exp()).sum(dim=1).mean()
    return fit - 0.5 / n * prior


def test_strength_zero_is_a_vgae():
    graph = untidy(planted())
    model = made(graph, strength=0)
    generator = torch.Generator()
    generator.set_state(model.generator.get_state())
    target = dense_adjacency(graph)
    spread = target / target.sum(dim=1, keepdim=True)
    weights = [p.detach().double().requires_grad_() for p in model.parameters()]
    optimizer = Adam(weights, 0.01)
    rows = list(train(model, graph, epochs=60))
    for row in rows:
        noise = torch.randn(graph.num_nodes, 4, generator=generator).double()
        loss = vgae_loss(spread, weights, noise, target)
        assert row.fit == pytest.approx(loss.item(), rel=1e-4)
        for p, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True):
            p.grad = gradient
        optimizer.step()
    mean = spread @ (spread @ weights[0]).relu() @ weights[1]
    assert torch.allclose(model.embedding().double(), mean, atol=5e-3)
    assert model.adjacency.equal(model.support.even())


@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
def test_rows_sum_to_one_on_the_links_of_the_graph(make_graph):
    graph = untidy(make_graph())
    model = made(graph, step=5.0)
    known = dense_adjacency(graph)
    assert torch.allclose(to_dense(model, model.adjacency).double(), known / known.sum(1)[:, None])
    list(train(model, graph, epochs=120))
    learned = to_dense(model, model.adjacency).double()
    assert (learned[known == 0] == 0).all()
    assert (learned >= 0).all()
    assert torch.allclose(learned.sum(dim=1), torch.ones(graph.num_nodes).double(), atol=1e-6)
    assert not torch.allclose(learned, known / known.sum(1)[:, None], atol=1e-3)
    assert int(learned[-1, -1]) == 1  # an isolated node has its loop


@given(st.integers(0, 10**6), st.sampled_from([0.01, 1.0, 100.0]))
def test_projection_is_that_of_a_root_finder(seed, scale):
    graph = planted_bipartite()
    support = Support.of(graph)
    values = scale * torch.randn(
        len(support.row), generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    found = support.project(values).numpy()
    for row in range(0, graph.num_nodes, 13):
        mine = values[support.row == row].numpy()
        low, high = mine.min() - 1.0, mine.max()
        for _ in range(200):  # Σ max(v − τ, 0) falls with τ
            middle = (low + high) / 2
            low, high = (middle, high) if np.maximum(mine - middle, 0).sum() > 1 else (low, middle)
        wanted = np.maximum(mine - low, 0)
        assert np.allclose(found[(support.row == row).numpy()], wanted, atol=1e-9 * (1 + scale))


@pytest.mark.parametrize("cells", ["dp", "weak-dp", None])
@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
def test_cell_means_are_those_of_all_pairs(make_graph, cells):
    graph = untidy(make_graph())
    z = torch.randn(graph.num_nodes, 3, generator=torch.Generator().manual_seed(0)).double()
    index = all_index(graph)
    x = (z[index[:, 0]] * z[index[:, 1]]).sum(dim=1)
    groups = graph.group[index].sort(dim=1).values.tolist()
    both = any(low >= 0 for low, _ in groups)
    wanted: dict = {}
    for (low, high), value in zip(groups, x.tolist(), strict=True):
        if cells == "dp" or (cells is None and not both):
            key = None if high < 0 else (low, high)
        else:
            key = None if low < 0 else low == high
        if key is not None:
            wanted.setdefault(key, []).append(value)
    means = [np.mean(values) for values in wanted.values()]
    found = CellMeans(graph, cells)
    assert sorted(found.means(z).tolist()) == pytest.approx(sorted(means))
    squares = [(a - b) ** 2 for k, a in enumerate(means) for b in means[:k]]
    assert float(found.difference(z)) == pytest.approx(np.mean(squares))


@pytest.mark.parametrize("cells", ["dp", "weak-dp"])
def test_gradient_by_the_matrix(cells):
    graph = untidy(planted())
    model = made(graph).double()
    means = CellMeans(graph, cells)
    start = model.adjacency.clone().requires_grad_()

    def difference(values):
        hidden = model.support.multiply(values, 20 * model.first.detach()).relu()
        return means.difference(model.support.multiply(values, hidden @ model.mean.detach()))

    assert torch.autograd.gradcheck(difference, start, fast_mode=True)
    dense = to_dense(model, start)
    z = dense @ (dense @ (20 * model.first.detach())).relu() @ model.mean.detach()
    (wanted,) = torch.autograd.grad(means.difference(z), start)
    (found,) = torch.autograd.grad(difference(start), start)
    assert torch.allclose(found, wanted, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
def test_gradient_of_the_whole_loss(make_graph):
    """Central differences of fit + γ KL, with the same draw of z each time."""
    graph = untidy(make_graph())
    model = made(graph).double().train()
    model.first.data[:, ::2] = model.first.data[:, ::2].abs()  # no number of H near relu's kink
    model.first.data[:, 1::2] = -model.first.data[:, 1::2].abs()
    objective = Objective.of("dp", 3.0, 0.2, 0.0)
    pairs = own_losses.VariationalPairs(graph, objective, Settings(), model.draw)

    def score():
        model.generator = torch.Generator().manual_seed(1)
        return pairs.score(model)

    batch = score()
    batch.fit_loss()
    batch.backward(3.0, objective.parity(batch).fit.tilt)
    for p in model.parameters():
        direction = torch.randn(p.shape, generator=torch.Generator().manual_seed(0)).double()
        ends = []
        for sign in (1, -1):
            p.data += sign * 1e-5 * direction
            batch = score()
            fit, other = batch.fit_loss(), Objective.of("dp", 3.0, 0.2, 0.0)
            ends.append(fit + 3.0 * other.parity(batch).kl)
            p.data -= sign * 1e-5 * direction
        slope = float((p.grad * direction).sum())
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(slope, rel=1e-4, abs=1e-8)


def test_steps_on_the_matrix_lower_the_difference_and_leave_the_weights():
    graph = planted()
    model = made(graph)
    rows = list(train(model, graph, epochs=49))
    weights = copy.deepcopy(list(model.parameters()))
    means = CellMeans(graph, "dp")
    before = means.difference(model.embedding())
    model.learn_adjacency(means)
    assert means.difference(model.embedding()) < before
    assert all(p.equal(q) for p, q in zip(model.parameters(), weights, strict=True))
    assert len(rows) == 49


def test_the_last_steps_are_on_the_matrix():
    graph = planted()
    rows = [list(train(made(graph), graph, epochs=count)) for count in (50, 60)]
    short, long = made(graph), made(graph)
    for _ in train(short, graph, epochs=10):
        pass
    assert not short.adjacency.equal(long.adjacency)
    plain = list(train(made(graph, strength=0), graph, epochs=60))
    assert [row.loss for row in rows[1][:50]] == [row.loss for row in plain[:50]]
    assert rows[1][50].loss != plain[50].loss


@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
def test_regularizer_and_projection_close_the_gap(make_graph):
    graph = untidy(make_graph())
    gaps = [
        cell_gap(LinkPredictor("fairadj", "dp", pairs="all", epochs=100, **asked).fit(graph), graph)
        for asked in (
            {"gamma": 0, "strength": 0},
            {"gamma": 0},
            {"gamma": 300, "strength": 0},
            {"gamma": 0, "postprocess": "i-projection"},
        )
    ]
    assert gaps[1] < gaps[0]
    assert gaps[2] < 0.5 * gaps[0]
    assert gaps[3] < 1e-6


def test_features_take_the_place_of_the_identity():
    graph = planted()
    features = torch.randn(graph.num_nodes, 7, generator=torch.Generator().manual_seed(0))
    model = made(graph, features=features)
    assert model.first.shape == (7, 32)
    list(train(model, graph, epochs=3))
    spread = to_dense(model, model.adjacency)
    wanted = spread @ (spread @ features @ model.first).relu() @ model.mean
    assert torch.allclose(model.embedding(), wanted, atol=1e-5)


def test_graphs_without_links_have_nothing_to_learn():
    empty = Graph(6, torch.empty(0, 2), [0, 1, 2, 0, 1, 2])
    assert np.isfinite(LinkPredictor("fairadj", epochs=3).fit(empty).embedding_).all()


@pytest.mark.filterwarnings("ignore:.*learned nothing")  # in one epoch
@pytest.mark.parametrize("name", ["fairadj", "flip"])
@pytest.mark.parametrize("group", [0, -1])
def test_graphs_with_nothing_to_compare_are_refused_unless_the_strength_is_0(name, group):
    graph = planted()
    alone = Graph(graph.num_nodes, graph.links, torch.full_like(graph.group, group))
    with pytest.raises(ValueError, match=f"{name}: compares pairs of different groups, and this"):
        LinkPredictor(name, epochs=1).fit(alone)
    fitted = LinkPredictor(name, epochs=1, strength=0).fit(alone)
    assert np.isfinite(fitted.embedding_).all()


@pytest.mark.filterwarnings("ignore:.*learned nothing")  # of so few links
@pytest.mark.parametrize(("name", "strength"), [("fairadj", 200), ("flip", 0.5)])
def test_sides_with_groups_of_their_own_are_compared_by_pair_of_groups(name, strength):
    """Every pair is between groups, so that within and between tell nothing apart."""
    rng = np.random.default_rng(0)
    near = rng.random((20, 15)) < np.where(np.add.outer(range(20), range(15)) % 2, 0.15, 0.5)
    links = np.argwhere(near) + np.array([0, 20])
    group = [i % 2 for i in range(20)] + [2 + j % 2 for j in range(15)]
    graph = Graph(35, links, group, side=[0] * 20 + [1] * 15)
    default, plain, by_pair = (
        LinkPredictor(name, strength=each, options=cells).fit(graph)
        for each, cells in ((strength, None), (0, None), (strength, {"cells": "dp"}))
    )
    found = [each.predict_logits(links) for each in (default, plain, by_pair)]
    np.testing.assert_array_equal(found[0], found[2])
    assert np.abs(found[0] - found[1]).max() > 0.01


def test_what_it_cannot_do_is_one_line(capsys, monkeypatch):
    with pytest.raises(SystemExit, match="2"):
        main(["train", "polbooks", "--model", "fairadj", "--strength", "2.5"])
    said = capsys.readouterr().err
    assert "--strength must be a whole number of steps up to 10,000 for fairadj, got 2.5" in said
    assert said.count("\n") == 1
    with pytest.raises(ValueError, match="options must give cells 'dp' or 'weak-dp', got 'eo'"):
        LinkPredictor("fairadj", options={"cells": "eo"}).fit(planted())
    monkeypatch.setattr(own_losses, "MAX_PAIRS", 1000)
    with pytest.raises(ValueError, match="compares all pairs of nodes, and 10,585 are more"):
        LinkPredictor("fairadj").fit(planted())
    assert MODELS["fairadj"].strength == 20


@pytest.mark.slow
def test_gap_within_and_between_on_polblogs_falls_with_the_steps():
    split = split_links(load("polblogs"), seed=0)
    found = [
        evaluate(LinkPredictor("fairadj", "weak-dp", 0, strength=steps).fit(split.train), split)
        for steps in (0, 5, 20)
    ]
    assert found[0].dp > found[1].dp > found[2].dp
    assert found[0].dp > 2 * found[2].dp
    assert found[2].auc > 0.8


@pytest.mark.filterwarnings("ignore:.*learned nothing")
@pytest.mark.parametrize("stop", [7, 60])
def test_steps_on_the_matrix_come_last_however_training_ends(stop):
    graph = planted()
    during = []

    def interrupt(row):
        during.append(row.extra["difference"])
        if row.epoch == stop:
            raise KeyboardInterrupt

    asked = {"dimension": 4, "seed": 0, "options": {"step": 1e5}}
    with pytest.warns(match=f"stopped after {stop} epochs"):
        left = LinkPredictor("fairadj", **asked).fit(graph, on_epoch=interrupt)
    whole = LinkPredictor("fairadj", epochs=stop, **asked).fit(graph)
    assert left.model_.adjacency.equal(whole.model_.adjacency)
    assert left.model_.first.equal(whole.model_.first)
    difference = float(CellMeans(graph, None).difference(whole.model_.embedding().detach()))
    assert difference < 0.5 * during[-1]  # as it was before the last steps
    for predictor in (left, whole):
        assert predictor.history_[-1].extra["difference"] == pytest.approx(difference, rel=1e-6)


def test_pairs_that_have_no_known_groups_or_do_not_exist_are_in_no_cell():
    some = untidy(planted())
    kept = Graph(some.num_nodes, some.links, some.group, some.group_names, unknown_kept=True)
    assert len(CellMeans(kept, "dp").mass) == 6
    assert len(CellMeans(some, "dp").mass) == 9
    for graph, outputs in ((kept, 6), (some, 9)):
        flip = MODELS["flip"](graph, 4, generator=torch.Generator(), cells="dp")
        assert flip.adversary.out.shape[1] == outputs
    ring = torch.stack([torch.arange(20), (torch.arange(20) + 1) % 20], dim=1)
    alone = Graph(20, ring, torch.arange(20))
    assert len(CellMeans(alone, None).mass) == 190
    assert MODELS["flip"](alone, 4, generator=torch.Generator()).adversary.out.shape[1] == 190
    with pytest.raises(ValueError, match="fewer than two kinds"):
        MODELS["flip"](Graph(2, [[0, 1]], [0, 1]), 4, generator=torch.Generator())
