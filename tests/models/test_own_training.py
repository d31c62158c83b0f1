"""A model with a training of its own: an adversary with two optimizers, outside the package."""

import math
import time

import torch
from planted import planted
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from linkparity import Epoch, LinkModel, LinkPredictor
from linkparity.training import Adam


class Adversarial(LinkModel):
    """Embeddings from which a linear adversary cannot read the group."""

    dimension, epochs, lr, strength = 8, 60, 0.05, 1.0

    def __init__(self, graph, dimension=8, *, generator, strength=1.0):
        super().__init__()
        drawn = torch.randn(graph.num_nodes, dimension, generator=generator)
        self.z = torch.nn.Parameter(drawn)
        self.bias = torch.nn.Parameter(torch.zeros(()))
        self.adversary = torch.nn.Parameter(torch.zeros(dimension, graph.num_groups))
        self.strength = strength

    def forward(self, index):
        return (self.z[index[:, 0]] * self.z[index[:, 1]]).sum(dim=1) + self.bias

    def embedding(self):
        return self.z

    def steps(self, graph, objective, settings):
        begin = time.perf_counter()
        link, guess = Adam([self.z, self.bias], self.lr), Adam([self.adversary], self.lr)
        epochs = self.epochs if settings.epochs is None else settings.epochs
        draw = {"size": (graph.num_links, 2), "generator": settings.generator}
        for epoch in range(1, epochs + 1):
            index = torch.cat([graph.links, torch.randint(graph.num_nodes, **draw)])
            label = torch.arange(len(index)) < graph.num_links
            for _ in range(5):
                self.zero_grad()
                cross_entropy(self.z.detach() @ self.adversary, graph.group).backward()
                guess.step()
            self.zero_grad()
            fit = binary_cross_entropy_with_logits(self(index), label.float())
            read = cross_entropy(self.z @ self.adversary, graph.group)
            (fit - self.strength * read).backward()
            link.step()
            told = float(fit.detach()), float(read.detach())
            loss, seconds = told[0] - self.strength * told[1], time.perf_counter() - begin
            extra = {"adversary": told[1]}
            yield Epoch(epoch, loss, told[0], math.nan, math.nan, seconds, extra=extra)


def test_an_adversarial_model_brings_its_own_training(tmp_path):
    graph = planted()
    plain = LinkPredictor(Adversarial, strength=0).fit(graph)
    hidden = LinkPredictor(Adversarial, strength=3.0).fit(graph)
    assert plain.history_[-1].fit < 0.7 * plain.history_[0].fit
    assert hidden.history_[-1].extra["adversary"] > 2 * plain.history_[-1].extra["adversary"]
    assert len(hidden.history_) == 60
    hidden.save(tmp_path / "run")
    again = LinkPredictor.load(tmp_path / "run", Adversarial)
    assert again.history_[-1].extra == hidden.history_[-1].extra
    assert again.embedding_.tolist() == hidden.embedding_.tolist()
