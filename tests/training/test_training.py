import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from planted import all_index, make, planted, planted_bipartite
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from linkparity import Diverged, Graph, LinkModel, i_project, load, split_links, train
from linkparity.criteria import Cells
from linkparity.models import MODELS, gae
from linkparity.models.degrees import classes
from linkparity.models.training.all_pairs.layout import AllPairs, lay_out
from linkparity.models.training.loop import Adam, Processes, choose, training_pairs
from linkparity.models.training.objective import (
    Objective,
    PairWeights,
    Settings,
    link_density,
    pair_weights,
    trained_criterion,
)
from linkparity.models.training.sampled import SampledPairs
from linkparity.projection.tensor_sums import tensor_sums

CRITERIA = ["dp", "eo", "weak-dp", "equalized-odds", "accuracy"]
GRAPHS = [planted, planted_bipartite]
ALONE = Processes()


def cases():
    for build in GRAPHS:
        for criterion in CRITERIA:
            if not (build is planted_bipartite and criterion == "weak-dp"):
                yield build, criterion


def whole_loss(model, graph, weights, criterion, gamma, target, parity=None):
    """The objective as it is written, pair by pair; ``parity`` has the weights in the cells."""
    index = all_index(graph)
    label = graph.is_link(index).long()
    weight = torch.where(label == 1, weights.link, weights.other).double()
    x = model(index)
    bce = binary_cross_entropy_with_logits(x, label.to(x.dtype), reduction="none")
    fit = (weight * bce).sum() / weight.sum()
    if parity is not None:
        weight = torch.where(label == 1, parity.link, parity.other).double()
    found = i_project(
        x, graph.group[index], criterion, labels=label, weight=weight, target=target, tol=1e-9
    )
    kl = found.kl / weight[found.cell >= 0].sum()
    return fit + gamma * kl, fit, kl


def measured(scored, criterion, gamma, target):
    objective = Objective.of(criterion, gamma, target, 0.0)
    fit = scored.fit_loss()
    parity = objective.parity(scored)
    scored.backward(gamma, parity.fit.tilt)
    return fit, parity


@pytest.mark.parametrize(("build", "criterion"), list(cases()))
@pytest.mark.parametrize(
    ("target", "few"), [("model", 0), ("model", 10**9), ("free", None), ("data", None)]
)
def test_blocks_are_the_objective_written_out(build, criterion, target, few, monkeypatch):
    if target == "data" and not trained_criterion(criterion).data_target:
        pytest.skip("no such target")
    if few is not None:  # segment by segment, or all at once
        monkeypatch.setattr("linkparity.models.training.all_pairs.batch.SMALL_SEGMENT", few)
    graph = build()
    model = make("cne", graph).double()
    weights = PairWeights(2.7, 0.4)
    total, fit, kl = whole_loss(model, graph, weights, criterion, 10.0, target)
    total.backward()
    wanted = model.z.grad.clone()
    model.z.grad = None
    scored = AllPairs(graph, weights, trained_criterion(criterion), ALONE).score(model)
    got, parity = measured(scored, criterion, 10.0, target)
    assert got == pytest.approx(fit.item(), rel=1e-7)
    assert parity.kl == pytest.approx(kl.item(), rel=1e-6, abs=1e-12)
    assert torch.allclose(model.z.grad, wanted, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("few", [0, 10**9])
@pytest.mark.parametrize("build", GRAPHS)
def test_divergence_of_a_batch_needs_no_call_before(build, few, monkeypatch):
    monkeypatch.setattr("linkparity.models.training.all_pairs.batch.SMALL_SEGMENT", few)
    graph, weights = build(), PairWeights(2.7, 0.4)
    model = make("cne", graph).double()
    wanted = whole_loss(model, graph, weights, "dp", 1.0, "model")[2].item()
    scored = AllPairs(graph, weights, trained_criterion("dp"), ALONE).score(model)
    assert Objective.of("dp", 1.0, "model", 0.0).parity(scored).kl == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("build", "criterion"), [case for case in cases() if case[1] in ("dp", "weak-dp")]
)
@pytest.mark.parametrize("parity", [None, PairWeights(3.0, 0.5), PairWeights(0.0, 1.0)])
def test_the_target_of_the_data_among_drawn_pairs_is_their_share_of_links(build, criterion, parity):
    graph = build()
    model = make("cne", graph).double()
    drawn = pair_weights(graph, 20)
    generator = torch.Generator().manual_seed(0)
    pairs = SampledPairs(graph, 20, trained_criterion(criterion), generator, ALONE, parity)
    batch = pairs.score(model, 0)
    if parity is None:
        weight = np.ones(len(batch.label))
    else:  # as often as a pair counts for each time that it is drawn
        weight = np.where(batch.label, parity.link / drawn.link, parity.other / drawn.other)
    groups = graph.group[batch.index].numpy()
    known = (groups >= 0).any(axis=1)
    weight, label = weight[known], batch.label.numpy()[known]
    share = np.average(label, weights=weight)
    goal = Objective.of(criterion, 10.0, "data", 0.0).for_graph(graph, "sampled")
    if share == 0:
        with pytest.raises(ValueError, match="a mean over no link"):
            goal.parity(batch)
        return
    found = goal.parity(batch)
    logits = model(batch.index).detach()[torch.from_numpy(known)]
    p = i_project(logits, groups[known], criterion, weight=weight, target=float(share))
    assert found.kl == pytest.approx(p.kl.item() / weight.sum(), rel=1e-5)


@pytest.mark.parametrize(("build", "criterion"), list(cases()))
def test_blocks_and_samples_agree_in_expectation(build, criterion):
    graph = build()
    negatives = 4000
    model = make("cne", graph).double()
    with torch.no_grad():
        model.z[graph.group == 1] *= 0.3
    gradients, losses = [], []
    generator = torch.Generator().manual_seed(0)
    for pairs in (
        AllPairs(graph, pair_weights(graph, negatives), trained_criterion(criterion), ALONE),
        SampledPairs(graph, negatives, trained_criterion(criterion), generator, ALONE),
    ):
        model.zero_grad()
        fit, parity = measured(pairs.score(model, 0), criterion, 5.0, "model")
        losses.append((fit, parity.kl, parity.gap))
        gradients.append(model.z.grad.clone())
    assert losses[0] == pytest.approx(losses[1], rel=0.05)
    assert (gradients[0] - gradients[1]).norm() < 0.08 * gradients[0].norm()


@pytest.mark.parametrize("build", GRAPHS)
def test_drawn_pairs_weigh_what_blocks_say(build):
    graph = build()
    pairs = SampledPairs(graph, 50, None, torch.Generator().manual_seed(0), ALONE)
    count = torch.zeros(graph.num_nodes, graph.num_nodes)
    rounds = 200
    for _ in range(rounds):
        index, label = pairs.draw(0)
        assert (index[:, 0] != index[:, 1]).all()
        assert label.equal(graph.is_link(index))
        count.index_put_(tuple(index.T), torch.ones(len(index)), accumulate=True)
    weights = pair_weights(graph, 50)
    seen = (count + count.T)[tuple(all_index(graph).T)] / rounds
    linked = graph.is_link(all_index(graph))
    for chosen, weight in ((linked, weights.link), (~linked, weights.other)):
        assert float(seen[chosen].mean()) == pytest.approx(weight, rel=0.02)
        assert float((seen[chosen] - weight).abs().max()) < 0.5 * max(weight, 0.3)


def test_weights_are_those_of_links_from_both_ends_and_partners():
    graph, sides = planted(), planted_bipartite()
    assert pair_weights(graph, 100) == pytest.approx(
        (2 + 200 / graph.num_nodes, 200 / graph.num_nodes)
    )
    targets = int(sides.side.sum())
    assert pair_weights(sides, 100) == pytest.approx((1 + 100 / targets, 100 / targets))


def test_large_graphs_are_drawn_in_batches(monkeypatch):
    monkeypatch.setattr("linkparity.models.training.sampled.BATCH", 40)
    monkeypatch.setattr("linkparity.models.training.sampled.TABLE", 10)
    for graph in (planted(), planted_bipartite()):
        pairs = SampledPairs(graph, 3, None, torch.Generator().manual_seed(0), ALONE)
        assert len(pairs) == -(-len(pairs.rows) // 40)
        parts = [pairs.draw(b) for b in range(len(pairs))]
        index, label = (torch.cat(part) for part in zip(*parts, strict=True))
        assert label.equal(graph.is_link(index))
        linked = {tuple(pair) for pair in index[label].tolist()}
        both = graph.links.tolist() + ([] if graph.bipartite else graph.links.flip(1).tolist())
        assert {tuple(pair) for pair in both} <= linked


@pytest.mark.parametrize("name", ["cne", "dot-product", "gae", "maxent"])
@pytest.mark.parametrize("method", ["blocks", "samples"])
def test_the_whole_loss_has_the_gradient_it_claims(name, method):
    """Central differences of fit + γ KL against what is pushed into the parameters."""
    graph = planted()
    model = make(name, graph).eval().double()
    if name == "gae":
        model.spread.matrix = model.spread.matrix.double()
    gamma, chosen = 3.0, trained_criterion("dp")

    def score():
        generator = torch.Generator().manual_seed(1)
        if method == "blocks":
            return AllPairs(graph, pair_weights(graph, 10), chosen, ALONE).score(model)
        return SampledPairs(graph, 10, chosen, generator, ALONE).score(model, 0)

    measured(score(), "dp", gamma, 0.2)
    generator = torch.Generator().manual_seed(0)
    for p in model.parameters():
        direction = torch.randn(p.shape, generator=generator, dtype=torch.float64)
        slope = float((p.grad * direction).sum())
        ends = []
        for sign in (1, -1):
            p.data += sign * 1e-5 * direction
            scored = score()
            fit, parity = scored.fit_loss(), Objective.of(chosen, gamma, 0.2, 0.0).parity(scored)
            ends.append(fit + gamma * parity.kl)
            p.data -= sign * 1e-5 * direction
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(slope, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("name", ["cne", "dot-product", "gae"])
@pytest.mark.parametrize("method", ["blocks", "samples"])
def test_gamma_zero_is_no_regularizer(name, method):
    graph = planted()
    found = []
    for criterion in (None, "dp"):
        model = make(name, graph)
        generator = torch.Generator().manual_seed(3)
        model.generator = torch.Generator().manual_seed(4)
        rows = list(
            train(model, graph, criterion, 0.0, epochs=5, method=method, generator=generator)
        )
        found.append([p.detach().clone() for p in model.parameters()])
    assert all(a.equal(b) for a, b in zip(*found, strict=True))
    assert rows[-1].kl > 0
    assert rows[-1].loss == rows[-1].fit


@pytest.mark.parametrize("criterion", ["dp", "eo"])
@pytest.mark.parametrize("name", ["cne", "dot-product", "gae", "maxent"])
def test_divergence_and_gap_fall_as_gamma_grows(name, criterion):
    graph = planted()
    rows = []
    for gamma in (0.0, 3.0, 100.0):
        *_, last = train(make(name, graph), graph, criterion, gamma)
        rows.append(last)
    for before, after in pairwise(rows):
        assert after.kl < before.kl
        assert after.gap < before.gap
        assert after.fit > before.fit - 1e-3


def maxent_loss(a, graph, asked, criterion, gamma, target, pairs="all"):
    index = all_index(graph)
    x = a[index[:, 0]] + a[index[:, 1]]
    label = graph.is_link(index).long()
    weight = 1.0 - label if pairs == "candidates" else torch.ones(len(x))
    p = i_project(
        x, graph.group[index], criterion, labels=label, weight=weight.double(), target=target,
        through_target=True,
    )  # fmt: skip
    fit = (softplus(x).sum() - asked @ a) / len(x)
    return fit + gamma * p.kl / weight[p.cell >= 0].sum()


@pytest.mark.parametrize(("build", "criterion"), list(cases()))
@pytest.mark.parametrize("target", ["model", "free", 0.2])
@pytest.mark.parametrize("pairs", ["all", "candidates"])
def test_regularized_maxent_is_solved(build, criterion, target, pairs):
    if trained_criterion(criterion).needs_labels and pairs == "candidates":
        pytest.skip("all pairs then")
    graph = build()
    graph = graph.subgraph(graph.degree() > 0)
    model = make("maxent", graph)
    plain = model.a.detach().clone()
    target = (0.1, 0.7) if criterion == "equalized-odds" and target == 0.2 else target
    rows = list(train(model, graph, criterion, 20.0, target=target, pairs=pairs))
    a = model.a.detach().clone().requires_grad_()
    asked = torch.from_numpy(classes(graph).degree[classes(graph).of])
    loss = maxent_loss(a, graph, asked, criterion, 20.0, target, pairs)
    loss.backward()
    assert a.grad.abs().max() < 1e-8
    assert rows[-1].loss == pytest.approx(loss.item(), rel=1e-8)
    assert loss.item() < float(maxent_loss(plain, graph, asked, criterion, 20.0, target, pairs))
    assert len(rows) < 30


def test_regularized_maxent_shares_numbers_between_nodes_alike():
    graph = planted(scale=3)
    model = make("maxent", graph)
    list(train(model, graph, "dp"))
    key = (graph.group * 1000 + graph.degree()).tolist()
    assert len(set(zip(key, model.a.tolist(), strict=True))) == len(set(key))


class Table(LinkModel):
    """A model of one's own, without factors: one free number per pair of a small graph."""

    def __init__(self, graph, dimension=1, *, generator):
        super().__init__()
        self.n = graph.num_nodes
        self.table = torch.nn.Parameter(torch.zeros(self.n * self.n))

    def forward(self, index):
        i, j = index.min(dim=1).values, index.max(dim=1).values
        return self.table[i * self.n + j]


def test_a_model_of_ones_own_without_factors_is_trained_on_samples():
    graph = planted()
    model = Table(graph, generator=torch.Generator())
    assert choose(model, graph, Settings()) == "samples"
    rows = list(train(model, graph, "dp", 10.0, epochs=60, lr=0.2))
    assert rows[-1].loss < 0.7 * rows[0].loss
    with torch.no_grad():
        x = model(all_index(graph))
    linked = graph.is_link(all_index(graph))
    assert x[linked].mean() > x[~linked].mean() + 1


PAIRS = {"all": PairWeights(1.0, 1.0), "candidates": PairWeights(0.0, 1.0)}


def weights_of(pairs, criterion):
    """What a link and another pair count in the cells."""
    return PAIRS["all" if trained_criterion(criterion).needs_labels else pairs]


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize(("build", "criterion"), list(cases()))
def test_pairs_say_what_counts_in_the_cells(build, criterion, pairs):
    graph = build()
    model = make("cne", graph).double()
    weights, parity = pair_weights(graph, 100), weights_of(pairs, criterion)
    total, fit, kl = whole_loss(model, graph, weights, criterion, 10.0, "model", parity)
    total.backward()
    wanted = model.z.grad.clone()
    model.z.grad = None
    objective = Objective.of(criterion, 10.0, "model", 0.0)
    settings = Settings(pairs=pairs, method="blocks")
    scored = training_pairs(model, graph, objective, settings).score(model, 0)
    got, found = measured(scored, criterion, 10.0, "model")
    assert got == pytest.approx(fit.item(), rel=1e-7)
    assert found.kl == pytest.approx(kl.item(), rel=1e-6, abs=1e-12)
    assert torch.allclose(model.z.grad, wanted, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize(("build", "criterion"), list(cases()))
@pytest.mark.parametrize("batch", [40, 10_000])
def test_sums_over_drawn_pairs_are_those_of_the_graph_on_average(
    build, criterion, pairs, batch, monkeypatch
):
    monkeypatch.setattr("linkparity.models.training.sampled.BATCH", batch)
    graph, chosen = build(), trained_criterion(criterion)
    model = make("cne", graph).double()
    index = all_index(graph)
    label = graph.is_link(index)
    parity, drawn = weights_of(pairs, criterion), pair_weights(graph, 20)
    weight = torch.where(label, parity.link, parity.other)
    cells = Cells.prepare(graph.group[index], chosen, label.long(), weight.double())
    tilt = np.linspace(-1.0, 1.0, len(cells.mass))
    exact = np.stack(tensor_sums(model(index).detach(), cells)(tilt))
    sampled = SampledPairs(graph, 20, chosen, torch.Generator().manual_seed(0), ALONE, parity)
    unit = max(parity.other / drawn.other, parity.link / drawn.link)
    sums = []
    for _ in range(150):
        parts = [sampled.score(model, b) for b in range(len(sampled))]
        by_key = {}
        for part in parts:
            found = np.stack(part(_matched(tilt, cells, part.cells)))
            for key, value in zip(map(tuple, part.cells.layout.key), found.T, strict=True):
                by_key[key] = by_key.get(key, 0) + unit * value
        sums.append([by_key.get(tuple(key), np.zeros(3)) for key in cells.layout.key])
    sums = np.array(sums)
    error = sums.std(axis=0) / np.sqrt(len(sums))
    assert (np.abs(sums.mean(axis=0) - exact.T) <= 4.5 * error + 1e-6 * exact.T).all()


def _matched(tilt, cells, other):
    """Tilts of the cells of another layout, by key."""
    known = dict(zip(map(tuple, cells.layout.key), tilt, strict=True))
    return np.array([known.get(tuple(key), 0.0) for key in other.layout.key])


@pytest.mark.parametrize("pairs", ["candidates", "all", "sampled"])
def test_pairs_work_without_factors_and_where_blocks_are_too_large(pairs, monkeypatch):
    graph = planted()
    model = Table(graph, generator=torch.Generator())
    rows = list(train(model, graph, "dp", 10.0, pairs=pairs, epochs=5, lr=0.2))
    assert rows[-1].loss < rows[0].loss
    monkeypatch.setattr("linkparity.models.training.loop.MAX_PAIRS", 100)
    assert choose(make("cne", graph), graph, Settings(pairs=pairs)) == "samples"
    with pytest.raises(ValueError, match="method 'blocks' needs a model with factors and at most"):
        train(make("cne", graph), graph, method="blocks")


@pytest.mark.parametrize("method", ["blocks", "samples"])
@pytest.mark.parametrize("name", ["cne", "dot-product"])
def test_candidates_close_the_gap_on_candidates(name, method):
    """More than training on all pairs does, whose links are no candidates."""
    graph = planted()
    index = all_index(graph)
    index = index[~graph.is_link(index)]
    groups = graph.group[index]
    gaps = []
    for pairs in ("sampled", "candidates"):
        model = make(name, graph)
        list(train(model, graph, "dp", 100.0, pairs=pairs, method=method))
        prob = torch.sigmoid(model(index).detach().double())
        code = groups.min(dim=1).values * 3 + groups.max(dim=1).values
        means = [float(prob[code == c].mean()) for c in torch.unique(code)]
        gaps.append(max(means) - min(means))
    assert gaps[1] < 0.5 * gaps[0]


@pytest.mark.parametrize("pairs", ["candidates", "all"])
@pytest.mark.parametrize("name", ["cne", "maxent"])
def test_the_target_of_the_data_is_the_density_of_links(name, pairs):
    graph = planted_bipartite()
    found = []
    for target in ("data", graph.num_links / graph.num_pairs):
        model = make(name, graph)
        *_, last = train(model, graph, "dp", 10.0, target=target, pairs=pairs, epochs=5)
        found.append(last[1:5])
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    group = torch.tensor([0, 0, 1, 1, 2, -1, -1])
    odd = Graph(7, [[0, 1], [0, 2], [4, 5], [5, 6]], group)
    index = all_index(odd)
    constrained = (odd.group[index] >= 0).any(dim=1)
    wanted = float(odd.is_link(index)[constrained].float().mean())
    assert link_density(odd, trained_criterion("dp")) == pytest.approx(wanted)


def test_training_that_diverges_says_so():
    graph = planted()
    model = make("cne", graph)
    with torch.no_grad():
        model.z[0] = math.nan
    with pytest.raises(Diverged, match="the loss is nan in epoch 1; take a smaller lr than"):
        list(train(model, graph))


def test_leaving_the_loop_leaves_a_usable_model():
    graph = planted()
    model = make("gae", graph)
    for row in train(model, graph, epochs=50):
        if row.epoch == 3:
            break
    assert not model.training
    assert torch.isfinite(model(all_index(graph))).all()


def test_patience_ends_training():
    graph = planted()
    rows = list(train(make("gae", graph), graph, epochs=400, patience=3))
    assert len(rows) < 400
    assert min(row.loss for row in rows) == rows[-4].loss


def test_criteria_of_given_pairs_are_refused():
    with pytest.raises(ValueError, match="criterion 'churn' belongs to given pairs"):
        train(make("cne", planted()), planted(), "churn")
    with pytest.raises(ValueError, match=r"gamma must lie between 0 and 1e.30, got -1"):
        train(make("cne", planted()), planted(), "dp", -1)


def test_maxent_with_links_refuses_a_large_graph(monkeypatch):
    monkeypatch.setattr("linkparity.models.maxent_solver.MAX_NODES", 100)
    with pytest.raises(ValueError, match="nodes are more than 100; use 'dp' or 'weak-dp'"):
        list(train(make("maxent", planted()), planted(), "eo"))


def test_tilts_survive_many_groups_and_pairs_without_one():
    generator = torch.Generator().manual_seed(0)
    graph = planted()
    group = torch.randint(-1, 6, (graph.num_nodes,), generator=generator)
    graph = Graph(graph.num_nodes, graph.links, group)
    for method in ("blocks", "samples"):
        rows = list(train(make("cne", graph), graph, "dp", 100.0, epochs=20, method=method))
        assert np.isfinite([row.kl for row in rows]).all()


def many_groups(count=120, nodes=300):
    """A ring, and links at random between ``count`` groups, the higher ones more often."""
    generator = torch.Generator().manual_seed(0)
    drawn = nodes * torch.rand(6 * nodes, 2, generator=generator).sqrt()
    ring = torch.stack([torch.arange(nodes), torch.arange(nodes).roll(1)], dim=1)
    links = torch.cat([drawn.long(), ring]).sort(dim=1).values
    links = torch.unique(links[links[:, 0] != links[:, 1]], dim=0)
    return Graph(nodes, links, torch.arange(nodes) * count // nodes)


@pytest.mark.parametrize("method", ["blocks", "samples"])
def test_a_hundred_groups_train(method):
    graph = many_groups()
    rows = list(train(make("cne", graph), graph, "dp", 10.0, epochs=2, method=method))
    assert np.isfinite(rows).all()
    assert rows[1].loss < rows[0].loss
    assert 0 < rows[1].kl < 1


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_blocks_of_a_hundred_groups_are_the_objective_written_out(scale):
    graph = many_groups()
    model = make("dot-product", graph)
    with torch.no_grad():
        for part in model.parameters():
            part.mul_(scale)
    model.double()
    weights = PairWeights(2.7, 0.4)
    total, fit, kl = whole_loss(model, graph, weights, "dp", 10.0, "model")
    total.backward()
    wanted = [part.grad.clone() for part in model.parameters()]
    model.zero_grad()
    got, parity = measured(
        AllPairs(graph, weights, trained_criterion("dp"), ALONE).score(model), "dp", 10.0, "model"
    )
    assert (got, parity.kl) == pytest.approx((fit.item(), kl.item()), rel=1e-5)
    for part, gradient in zip(model.parameters(), wanted, strict=True):
        assert torch.allclose(part.grad, gradient, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("build", [planted, planted_bipartite, many_groups])
def test_every_link_lies_in_its_place(build, parts):
    graph = build()
    found = []
    for part in range(parts):
        blocks = lay_out(graph, part, parts)
        owner = torch.full((blocks.size, 2), -1)
        for tile in blocks.tiles:
            rows, columns = blocks.rows[tile.rows], blocks.columns[tile.columns]
            owner[tile.begin : tile.end] = torch.cartesian_prod(rows, columns)
        found.append(owner[blocks.link])
    links = torch.cat(found)
    assert len(links) == graph.num_links
    assert graph.is_link(links).all()
    assert len(torch.unique(links.sort(dim=1).values, dim=0)) == graph.num_links


def test_maxent_of_a_hundred_groups(monkeypatch):
    graph = many_groups()
    model = make("maxent", graph)
    rows = list(train(model, graph, "dp", 10.0))
    assert rows[-1].loss < rows[0].loss
    monkeypatch.setattr("linkparity.models.maxent_solver.MAX_ENTRIES", 1000)
    with pytest.raises(ValueError, match=r"maxent: 7,\d+ constraints on .* merge groups"):
        list(train(make("maxent", graph), graph, "dp"))


def test_the_faster_way_is_chosen():
    graph = many_groups()
    assert choose(make("cne", graph), graph, Settings()) == "samples"
    graph = split_links(load("polblogs")).train
    assert choose(make("dot-product", graph), graph, Settings()) == "blocks"
    wide = Graph(40_000, [[0, 1]], torch.zeros(40_000).long())
    narrow = MODELS["dot-product"](wide, 2, generator=torch.Generator().manual_seed(0))
    assert choose(narrow, wide, Settings()) == "samples"


@pytest.mark.parametrize("criterion", ["dp", "eo", "accuracy"])
def test_a_group_whose_pairs_are_all_links(criterion):
    planted_ = planted()
    group = planted_.group.clone()
    group[:2], group[2] = 3, 4
    links = torch.unique(torch.cat([planted_.links, torch.tensor([[0, 1]])]), dim=0)
    graph = Graph(planted_.num_nodes, links, group)
    model = make("cne", graph)
    rows = list(train(model, graph, criterion, 10.0, epochs=10, method="blocks"))
    assert all(np.isfinite(row.loss) for row in rows)
    assert bool(model.z.isfinite().all())


@pytest.mark.parametrize("method", ["blocks", "samples"])
def test_a_target_far_from_the_model_is_reached(method):
    graph = planted()
    rows = train(make("cne", graph), graph, "accuracy", 10.0, target=0.1, method=method)
    rows = list(rows)
    assert rows[-1].loss < 0.7 * rows[0].loss


def test_methods_that_cannot_be_are_refused():
    graph = planted()
    model = make("cne", graph)
    with pytest.raises(ValueError, match="method must be 'blocks' or 'samples', got 'bogus'"):
        train(model, graph, method="bogus")
    with pytest.raises(ValueError, match="pairs must be one of 'candidates', 'all', 'sampled'"):
        train(model, graph, pairs="some")


def sorted_bipartite(sources=90, targets=20):
    """Sources stored group by group, targets without a group."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], sources // 3)
    chance = np.array([0.5, 0.2, 0.1])[group]
    links = np.argwhere(rng.random((sources, targets)) < chance[:, None])
    links[:, 1] += sources
    side = np.repeat([0, 1], [sources, targets])
    return Graph(sources + targets, links, np.append(group, [-1] * targets), side=side)


def test_batches_meet_all_groups_however_nodes_are_stored(monkeypatch):
    monkeypatch.setattr("linkparity.models.training.sampled.BATCH", 30)
    graph = sorted_bipartite()

    def trained(criterion):
        model = make("cne", graph)
        sampled = {"method": "samples", "pairs": "sampled"}
        rows = list(train(model, graph, criterion, 100.0, epochs=60, **sampled))
        index = all_index(graph)
        prob, group = torch.sigmoid(model(index).detach()), graph.group[index[:, 0]]
        means = [float(prob[group == g].mean()) for g in range(3)]
        return rows, max(means) - min(means)

    rows, gap = trained("dp")
    assert all(np.isfinite(row.gap) and row.kl > 0 for row in rows)
    assert gap < 0.3 * trained(None)[1]


def test_batches_are_of_nearly_equal_size_and_hold_every_link_once(monkeypatch):
    monkeypatch.setattr("linkparity.models.training.sampled.BATCH", 100)
    graph = planted()
    pairs = SampledPairs(graph, 3, None, torch.Generator(), Processes.here())
    drawn = [pairs.draw(b) for b in range(len(pairs))]
    assert len(drawn) == 2
    nodes = [torch.unique(index[:, 0]) for index, _ in drawn]
    assert [len(each) for each in nodes] == [73, 73]
    index = torch.cat([index[: int((graph.degree()[mine]).sum())] for (index, _), mine in
                       zip(drawn, nodes, strict=True)])  # fmt: skip
    wanted = torch.cat([graph.links, graph.links.flip(1)])
    assert sorted(index.tolist()) == sorted(wanted.tolist())
    for each, label in drawn:
        assert torch.equal(graph.is_link(each), label)


@pytest.mark.parametrize("criterion", ["dp", "eo", "equalized-odds"])
def test_a_batch_without_a_constrained_pair_trains_on(criterion):
    plain = planted()
    bare = Graph(6, np.empty((0, 2), dtype=int), [0, 1, 2, 0, 1, 2])
    none = Graph(plain.num_nodes, plain.links, [-1] * plain.num_nodes)
    for graph in (bare, none):
        rows = list(train(make("cne", graph), graph, criterion, epochs=2, method="samples"))
        assert all(np.isfinite(row.loss) for row in rows)


def test_a_slight_divergence_keeps_its_digits():
    graph = planted()
    model = make("dot-product", graph)
    with torch.no_grad():
        model.z.mul_(0.03)
    row = next(train(model, graph, "dp", 1.0, method="blocks"))
    with torch.no_grad():
        model = make("dot-product", graph)
        model.z.mul_(0.03)
        index = all_index(graph)
        label = graph.is_link(index)
        link, other = pair_weights(graph, 100)
        weight = torch.where(label, link, other).double()
        found = i_project(
            model(index).double(), graph.group[index], "dp", weight=weight, target="model"
        )
    exact = float(found.kl) / float(weight.sum())
    assert exact < 1e-6
    assert row.kl == pytest.approx(exact, rel=1e-3)


def test_the_papers_settings():
    chosen = {name: (m.dimension, m.lr, m.epochs) for name, m in MODELS.items()}
    assert chosen["dot-product"] == (128, 0.01, 100)
    assert chosen["cne"] == (8, 0.1, 200)
    assert chosen["gae"] == (16, 0.01, 100)
    assert gae.DROPOUT == 0.5
    model = make("cne", planted())
    assert model.shift == pytest.approx(np.log(16))
    assert model.rate == pytest.approx(1 - 1 / 256)


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_adam_is_that_of_torch(dtype, amsgrad):
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(7, 3, generator=generator, dtype=dtype)
    ours, theirs, still = (start.clone().requires_grad_() for _ in range(3))
    both = [
        Adam([ours, still], 0.1, amsgrad=amsgrad),
        torch.optim.Adam([theirs], lr=0.1, amsgrad=amsgrad),
    ]
    for step in range(20):
        for p in (ours, theirs):
            p.grad = (p.detach() ** 3 + step) * 1e3 ** (step % 3 - 1)
        for optimizer in both:
            optimizer.step()
        assert torch.equal(ours, theirs)
    assert torch.equal(still, start)
