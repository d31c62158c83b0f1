"""CFC: filters, discriminators, the losses between them, and what becomes unreadable."""

import json
import math

import numpy as np
import pandas as pd
import pytest
import torch
from planted import all_index, cell_gap, make, planted, planted_bipartite, untidy
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from linkparity import Graph, LinkPredictor, train
from linkparity.cli import main
from linkparity.models import CFC, MODELS, adversarial
from linkparity.models.adversarial import AdversarialTraining, corrupt, margin_loss
from linkparity.models.cfc import attribute_groups
from linkparity.models.filters import Discriminator, Filter
from linkparity.models.training.objective import Objective, Settings
from linkparity.models.training.sampled import SampledPairs

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*learned nothing"),  # an adversary may leave nothing
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
SMALL = {"dimension": 16}


def built(graph, dimension=6, seed=0, **options) -> CFC:
    return CFC(graph, dimension, generator=torch.Generator().manual_seed(seed), **options)


def probe(embedding, group) -> float:
    """Held-out AUC of the better of two fresh classifiers."""
    group = np.asarray(group)
    known = group >= 0
    found = []
    for reader in (
        LogisticRegression(C=0.1),
        MLPClassifier((32,), max_iter=150, random_state=0),
    ):
        chance = cross_val_predict(
            make_pipeline(StandardScaler(), reader), embedding[known], group[known], cv=4,
            method="predict_proba",
        )  # fmt: skip
        wanted = chance[:, 1] if chance.shape[1] == 2 else chance
        found.append(roc_auc_score(group[known], wanted, multi_class="ovr"))
    return max(found)


@pytest.mark.parametrize(
    ("make_graph", "ends"), [(planted, "one"), (planted, "both"), (planted_bipartite, "one")]
)
def test_a_fresh_probe_does_no_better_than_chance(make_graph, ends):
    graph, options = make_graph(), {"ends": ends}
    plain = LinkPredictor("cfc", strength=0, options=options, **SMALL).fit(graph)
    assert probe(plain.embedding_, graph.group) > 0.9
    found = [
        LinkPredictor("cfc", strength=1000, seed=seed, options=options, **SMALL).fit(graph)
        for seed in range(2)
    ]
    assert np.mean([probe(each.embedding_, graph.group) for each in found]) < 0.58


def two_attributes(graph):
    """The groups, and another attribute that links know nothing of but the filters must learn."""
    return {"party": graph.group, "taste": ["a" if g == 1 else "b" for g in graph.group.tolist()]}


def test_filters_compose():
    graph = planted()
    options = {"attributes": two_attributes(graph)}
    predictor = LinkPredictor("cfc", strength=1000, options=options, **SMALL).fit(graph)
    model = predictor.model_
    with torch.no_grad():
        each = [model.filtered(name) for name in ("party", "taste")]
        assert torch.allclose(model.embedding(), (each[0] + each[1]) / 2, atol=1e-6)
        assert model.filtered("taste", "party").allclose(model.embedding(), atol=1e-6)
        assert model.filtered().equal(model.u)
    for name in ("party", "taste"):
        assert probe(predictor.embedding_, model.groups[name]) < 0.65
    assert not torch.allclose(each[0], each[1], atol=1e-3)


def test_every_subset_of_attributes_is_drawn_in_training(monkeypatch):
    graph, drawn = planted(), []
    model = built(graph, strength=1.0, attributes=two_attributes(graph), batch=200)
    real = CFC.scored

    def scored(self, pairs, names):
        drawn.append(tuple(names))
        return real(self, pairs, names)

    monkeypatch.setattr(CFC, "scored", scored)
    list(train(model, graph, epochs=10))
    assert set(drawn) == {("party",), ("taste",), ("party", "taste")}


def test_strength_zero_has_no_adversary(monkeypatch):
    graph = planted()
    other = Graph(graph.num_nodes, graph.links, graph.group.roll(17))
    monkeypatch.delattr(adversarial, "Discriminator")  # so that building one fails
    found = [LinkPredictor("cfc", strength=0, epochs=5, **SMALL).fit(g) for g in (graph, other)]
    assert (found[0].embedding_ == found[1].embedding_).all()
    assert not any(row.extra for row in found[0].history_)
    with pytest.raises(NameError):
        LinkPredictor("cfc", epochs=1, **SMALL).fit(graph)


def test_losses_have_the_gradients_of_autograd():
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(3, 9, generator=generator, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(margin_loss, (drawn[0], drawn[1]))
    model = Filter(3, generator).double()
    count = torch.tensor([1, 4, 2, 7, 1, 1, 3, 1, 2])
    rows = drawn.T.detach().contiguous().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: model(x, count), rows)
    reader = Discriminator(3, 3, generator).double()
    label = torch.arange(9) % 3
    loss = nn.functional.cross_entropy
    assert torch.autograd.gradcheck(lambda x: loss(reader(x), label), rows)


def test_a_filter_normalises_as_torch_does_on_repeated_rows():
    generator = torch.Generator().manual_seed(0)
    model, norm = Filter(5, generator), nn.BatchNorm1d(5)
    with torch.no_grad():
        model.scale.uniform_(generator=generator)
        model.shift.uniform_(generator=generator)
        norm.weight.copy_(model.scale)
        norm.bias.copy_(model.shift)

    def before(x):
        hidden = nn.functional.leaky_relu(x @ model.first.weight.T + model.first.bias)
        return nn.functional.leaky_relu(hidden @ model.second.weight.T + model.second.bias)

    for _ in range(3):
        x = torch.randn(7, 5, generator=generator)
        count = torch.tensor([1, 3, 2, 5, 1, 1, 4])
        wanted = norm(before(x.repeat_interleave(count, dim=0)))
        got = model(x, count).repeat_interleave(count, dim=0)
        assert torch.allclose(got, wanted, atol=1e-5)
    assert torch.allclose(model(x), norm.eval()(before(x)), atol=1e-5)


@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
@pytest.mark.parametrize("ends", ["one", "both"])
def test_a_step_has_the_gradient_of_the_loss_written_anew(monkeypatch, make_graph, ends):
    graph = untidy(make_graph())
    monkeypatch.setattr(adversarial, "READ_ENDS", 10**6)
    model = built(graph, strength=7.0, ends=ends)
    seen = []

    def kept(links, *given, real=corrupt):
        seen[:] = [links, real(links, *given)]
        return seen[1]

    monkeypatch.setattr(adversarial, "corrupt", kept)
    settings = Settings(lr=0.0, generator=torch.Generator().manual_seed(1))
    training = AdversarialTraining(model, graph, Objective(), settings)
    loss, measured, *_ = training.epoch(1)
    (layers,) = (each.layers for each in training.discriminators.values())
    u = model.u.detach().double().requires_grad_()
    v = u if model.v is None else model.v.detach().double().requires_grad_()
    net = model.filters[0].double()

    def hide(x):
        out = nn.functional.leaky_relu(net.first(x), 0.01)
        out = nn.functional.leaky_relu(net.second(out), 0.01)
        return (out - out.mean(dim=0)) / (out.var(dim=0, correction=0) + 1e-5).sqrt()

    pairs = torch.cat(seen)
    if model.both:
        left, right = hide(u[pairs.T.flatten()]).chunk(2)
    else:
        left, right = hide(u[pairs[:, 0]]), v[pairs[:, 1]]
    x = (left * right).sum(dim=1)
    count = len(seen[0])
    fit = (1 - x[:count] + x[count:]).clamp(min=0).mean()
    shown = torch.cat([left[:count], right[:count]]) if model.both else left[:count]
    node = seen[0].T.flatten() if model.both else seen[0][:, 0]
    read = shown
    for layer in layers[:-1]:
        read = nn.functional.leaky_relu(read @ layer.weight.double().T + layer.bias, 0.01)
    read = read @ layers[-1].weight.double().T + layers[-1].bias
    known = graph.group[node] >= 0
    adversary = nn.functional.cross_entropy(read[known], graph.group[node][known])
    assert measured == pytest.approx(fit.item(), rel=1e-4)
    assert training.adversary == pytest.approx(adversary.item(), rel=1e-4)
    assert loss == pytest.approx((fit - 7 * adversary).item(), rel=1e-4)
    (wanted,) = torch.autograd.grad(fit - 7 * adversary, u)
    assert wanted.abs().max() > 1e-4
    assert torch.allclose(model.u.grad.double(), wanted, rtol=1e-3, atol=1e-5)


def test_discriminators_learn_what_nothing_hides():
    graph = planted()
    rows = list(train(built(graph, 16, strength=1e-9), graph, epochs=60))
    assert rows[-1].extra["adversary"] < 0.5 * rows[0].extra["adversary"]


@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
def test_one_end_of_a_corrupted_link_is_another_node(make_graph):
    graph = make_graph()
    links = graph.links.repeat(50, 1)
    found = corrupt(links, graph, torch.Generator().manual_seed(0))
    half = len(links) // 2
    assert found[:half, 1].equal(links[:half, 1])
    assert found[half:, 0].equal(links[half:, 0])
    assert (found[:, 0] != found[:, 1]).all()
    drawn = torch.bincount(found[half:, 1], minlength=graph.num_nodes).double()
    if graph.side is not None:
        assert (graph.side[found] == graph.side[links]).all()
        assert (drawn[graph.side == 0] == 0).all()
        drawn = drawn[graph.side == 1]
    mean = drawn.mean()
    assert (drawn - mean).abs().max() < 6 * mean.sqrt()


GRAPHS = {
    "planted": planted,
    "untidy": lambda: untidy(planted()),
    "untidy bipartite": lambda: untidy(planted_bipartite()),
    "groups on the other side": lambda: turned(planted_bipartite()),
    "no link": lambda: Graph(6, torch.empty(0, 2), [0, 1, 2, 0, 1, 2]),
}


def turned(graph: Graph) -> Graph:
    links = graph.links.flip(1)
    return Graph(graph.num_nodes, links, graph.group, graph.group_names, 1 - graph.side)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("ends", ["one", "both"])
def test_graphs_of_every_kind(name, ends):
    graph = GRAPHS[name]()
    fits = [
        LinkPredictor("cfc", strength=10, epochs=4, options={"ends": ends}, **SMALL).fit(graph)
        for _ in range(2)
    ]
    assert np.isfinite(fits[0].embedding_).all()
    pairs = all_index(graph)
    assert (fits[0].predict_logits(pairs) == fits[1].predict_logits(pairs)).all()


def test_the_side_with_groups_is_filtered():
    for graph in (planted_bipartite(), turned(planted_bipartite())):
        model = built(graph).eval()
        assert model.filtered_nodes[:, 0].equal(graph.group >= 0)
        assert model.v is None
        assert model.embedding()[graph.group < 0].equal(model.u[graph.group < 0])
    assert built(planted()).v is not None
    assert built(planted(), ends="both").v is None


def test_nodes_without_a_group_are_never_shown(monkeypatch):
    graph, shown = untidy(planted()), []

    def cross_entropy(logits, label, real=nn.functional.cross_entropy):
        shown.append(label)
        return real(logits, label)

    monkeypatch.setattr(adversarial, "cross_entropy", cross_entropy)
    list(train(built(graph, strength=1.0), graph, epochs=2))
    assert (torch.cat(shown) >= 0).all()
    assert len(shown[0]) == adversarial.READ_ENDS


@pytest.mark.parametrize("make_graph", [planted, planted_bipartite])
def test_regularizer_and_projection_close_the_gap(make_graph):
    graph = untidy(make_graph())
    gaps = [
        cell_gap(
            LinkPredictor("cfc", "dp", strength=0, pairs="all", **SMALL, **asked).fit(graph), graph
        )
        for asked in ({"gamma": 0}, {"gamma": 300}, {"gamma": 0, "postprocess": "i-projection"})
    ]
    assert gaps[1] < 0.5 * gaps[0]
    assert gaps[2] < 1e-6


def test_history_has_the_parts_of_the_loss():
    graph = planted()
    rows = list(train(built(graph, strength=3.0), graph, "dp", 5.0, epochs=3))
    for row in rows:
        assert row.loss == pytest.approx(row.fit - 3 * row.extra["adversary"] + 5 * row.kl)
        assert row.gap > 0
    assert math.isnan(next(train(built(graph), graph)).kl)


@pytest.mark.parametrize("ends", ["one", "both"])
def test_save_and_load(tmp_path, ends):
    graph = untidy(planted())
    options = {"attributes": two_attributes(graph), "ends": ends, "batch": 300}
    predictor = LinkPredictor("cfc", strength=5, epochs=3, options=options, **SMALL).fit(graph)
    predictor.save(tmp_path / "run")
    again = LinkPredictor.load(tmp_path / "run")
    pairs = all_index(graph)
    assert (again.predict_logits(pairs) == predictor.predict_logits(pairs)).all()
    assert again.strength == 5
    assert again.model_.groups["taste"].equal(predictor.model_.groups["taste"])
    assert again.history_[-1].extra == predictor.history_[-1].extra


def test_parameters():
    assert MODELS["cfc"].strength == 100
    model = make("cfc", planted())
    assert (model.strength, model.u.shape[1], model.batch) == (100, 128, 4096)
    assert LinkPredictor("cfc", strength=10).get_params()["strength"] == 10


def test_what_cannot_be_done_is_one_line(tmp_path, capsys):
    graph = planted()
    bare = Graph(graph.num_nodes, graph.links, torch.full_like(graph.group, -1))
    with pytest.raises(ValueError, match="needs nodes with a group, and this graph has none"):
        LinkPredictor("cfc").fit(bare)
    assert LinkPredictor("cfc", strength=0, epochs=1).fit(bare).history_
    for options, said in (
        ({"ends": "left"}, "options must give ends 'one' or 'both', got 'left'"),
        ({"batch": 0}, "options must give batch a whole number > 0, got 0"),
        ({"attributes": {}}, "attributes must map names to one value per node"),
        ({"attributes": {"sex": ["m", "f"]}}, "must give 'sex' 146 values, one per node, got 2"),
        ({"attributes": {"sex": 3}}, "must give 'sex' one value per node, got 3"),
        ({"attributes": {"sex": "m" * 146}}, "must give 'sex' one value per node, got 'mm"),
        ({"attributes": {"sex": [None] * 146}}, "must give 'sex' a value for some node"),
    ):
        with pytest.raises(ValueError, match=said):
            LinkPredictor("cfc", options=options).fit(graph)
    with pytest.raises(SystemExit, match="2"):
        main(["train", "polbooks", "--model", "cfc", "--strength", "-1"])
    said = capsys.readouterr().err
    assert "--strength" in said
    assert said.count("\n") == 1


def test_columns_of_a_frame_with_unknown_values_are_saved(tmp_path):
    graph = planted()
    frame = pd.DataFrame({"age": [1.0, float("nan")] * (graph.num_nodes // 2)})
    options = {"attributes": {"age": frame["age"]}}
    predictor = LinkPredictor("cfc", epochs=1, options=options).fit(graph)
    predictor.save(tmp_path / "run")
    again = LinkPredictor.load(tmp_path / "run")
    assert again.options["attributes"]["age"][:2] == [1.0, None]
    assert again.model_.groups["age"].equal(predictor.model_.groups["age"])
    with pytest.raises(ValueError, match="unknown attribute 'nope'; use one of age"):
        again.model_.filtered("nope")


def test_the_command_has_a_strength(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["train", "polbooks", "--model", "cfc", "--strength", "0", "--epochs", "5", "--json"])
    row = json.loads(capsys.readouterr().out)
    assert (row["model"], row["criterion"]) == ("cfc", "none")


def test_values_become_groups():
    graph = Graph(5, [[0, 1]], [0, 1, 2, -1, 0], attribute="party")
    assert list(attribute_groups(graph, None)) == ["party"]
    found = attribute_groups(graph, {"age": np.array([30, 20, -1, 20, 40])})
    assert found["age"].tolist() == [1, 0, -1, 0, 2]


def test_steps_take_the_batches_of_drawn_pairs_in_turn(monkeypatch):
    graph, scored = planted(), []
    monkeypatch.setattr("linkparity.models.training.sampled.BATCH", 60)

    def score(pairs, model, batch, real=SampledPairs.score):
        scored.append((batch, len(pairs)))
        return real(pairs, model, batch)

    monkeypatch.setattr(SampledPairs, "score", score)
    model = built(graph, strength=0.0, batch=-(-graph.num_links // 5))
    list(train(model, graph, "dp", 5.0, epochs=1, method="samples"))
    assert scored == [(step % 3, 3) for step in range(5)]
