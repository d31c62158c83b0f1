"""Tilts after training: over all candidates, block by block."""

import numpy as np
import pytest
import torch

import linkparity as lp
from linkparity.models import LinkModel
from linkparity.models.prediction import postprocess


class Fixed(LinkModel):
    """Inner products of vectors that are given, and higher logits for one group."""

    def __init__(self, graph, dimension=2, *, generator):
        super().__init__()
        z = torch.randn(graph.num_nodes, dimension, generator=generator)
        z[graph.group == 0, 0] += 1.0
        self.z = torch.nn.Parameter(torch.cat([z, torch.ones(len(z), 1)], dim=1))

    def factors(self):
        return self.z, self.z * torch.tensor([1.0, 1.0, -2.0])


def sparse_graph(nodes, seed=0):
    """A graph of three groups with few links."""
    draw = np.random.default_rng(seed)
    first, second = np.sort(draw.integers(0, nodes, (2 * nodes, 2)), axis=1).T
    links = np.unique(np.stack([first, second], axis=1)[first < second], axis=0)
    return lp.Graph(nodes, links, draw.choice(3, nodes, p=[0.6, 0.3, 0.1]))


def tilts(graph, **params):
    """The tilts of the fixed model, and the model."""
    predictor = lp.LinkPredictor(Fixed, postprocess="i-projection", **params)
    model = Fixed(graph, generator=torch.Generator().manual_seed(0))
    return predictor.fit_tilts(model, graph), model


def means(graph, model, table):
    """Mean of σ(x + t) by pair of groups over every pair that is no link, by a dense matrix."""
    left, right = (factor.detach().double().numpy() for factor in model.factors())
    group, linked = graph.group.numpy(), graph.adjacency().tocsr()
    total, count = np.zeros((2, 3, 3))
    for g in range(3):
        for low in range(0, graph.num_nodes, 500):
            rows = low + np.flatnonzero(group[low : low + 500] == g)
            columns = np.arange(low + 1, graph.num_nodes)
            if not len(rows):
                continue
            p = 1 / (1 + np.exp(-left[rows] @ right[columns].T - table[g][group[columns]]))
            used = (columns > rows[:, None]) & (linked[rows][:, columns].toarray() == 0)
            for h in range(3):
                here = used[:, group[columns] == h]
                at = (min(g, h), max(g, h))
                total[at] += p[:, group[columns] == h][here].sum()
                count[at] += here.sum()
    upper = np.triu_indices(3)
    return total[upper] / count[upper], int(count.sum())


@pytest.mark.slow
def test_the_gap_of_more_than_two_to_the_24_candidates_is_within_its_limit():
    graph = sparse_graph(5900)
    found, model = tilts(graph, criterion="dp", tolerance=0.005)
    after, count = means(graph, model, found.table.numpy())
    assert count == graph.num_pairs - graph.num_links > 1 << 24
    assert found.table.abs().max() > 0.1
    assert np.ptp(after) == pytest.approx(0.01, abs=1e-7)
    assert np.ptp(after) <= 0.01 + 1e-7


@pytest.mark.parametrize("criterion", ["dp", "weak-dp", "equalized-odds", "accuracy"])
def test_candidates_that_are_scored_anew_in_each_pass_give_the_same_tilts(criterion, monkeypatch):
    graph = sparse_graph(150)
    params = {"criterion": criterion, "pairs": "all"}
    known, _ = tilts(graph, **params)
    monkeypatch.setattr("linkparity.pairs.candidates.KEPT", 100)
    monkeypatch.setattr("linkparity.pairs.candidates.BLOCK", 1000)
    monkeypatch.setattr("linkparity.pairs.candidates.CHUNK", 64)
    found, _ = tilts(sparse_graph(150), **params)
    assert float((found.table - known.table).abs().max()) < 1e-9


def test_above_a_bound_tilts_come_from_a_sample(monkeypatch):
    graph = sparse_graph(400)
    whole, _ = tilts(graph, criterion="dp")
    monkeypatch.setattr(postprocess, "MAX_PAIRS", 20_000)
    drawn, _ = tilts(graph, criterion="dp")
    assert float((drawn.table - whole.table).abs().max()) < 0.2
    assert not torch.equal(drawn.table, whole.table)


def test_without_a_constrained_pair_nothing_is_tilted():
    graph = sparse_graph(100)
    none = graph.links[:0]
    predictor = lp.LinkPredictor(Fixed, "eo", postprocess="i-projection")
    model = Fixed(graph, generator=torch.Generator().manual_seed(0))
    assert not predictor.fit_tilts(model, graph, none).table.any()


def test_logits_that_are_no_numbers_are_refused():
    graph = sparse_graph(100)
    model = Fixed(graph, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        model.z[7] = torch.nan
    predictor = lp.LinkPredictor(Fixed, "dp", postprocess="i-projection")
    with pytest.raises(ValueError, match="logits must be finite, got nan"):
        predictor.fit_tilts(model, graph)
