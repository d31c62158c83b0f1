r"""Skip-gram with negative sampling over a corpus of walks, with every draw in expectation.

.. math:: \mathcal{L} = -\frac{1}{\sum C} \sum_{u,v} \Big[ C_{uv} \log \sigma(z_u \cdot c_v)
          + k\, C_u\, q_v \log \sigma(-z_u \cdot c_v) \Big], \qquad C_u = \sum_v C_{uv}

:math:`C_{uv}` is how often v is expected in the window of u. One step over this matrix has the
expected gradient of a pass over the whole corpus, and on some thousand nodes costs far less.
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.models.training.loop import Adam
from linkparity.support.errors import InputError

#: Nodes whose matrix of counts is held in memory.
MOST_NODES = 12_000
#: Rows of logits that are computed at a time.
ROWS = 256
#: Steps of Adam, and their size: more of them fit the walks better, and links that are held out of
#: the training graph worse.
STEPS, STEP_SIZE = 50, 0.03


@dataclass(frozen=True)
class Corpus:
    """How walks become pairs of a node and its context.

    Attributes:
        walks: from each node.
        length: nodes of a walk.
        window: contexts are at most so far away; the distance allowed is uniform in 1 … window.
        negatives: k, random contexts per pair.
        power: random contexts are drawn in proportion to the count of a node to this power.
        subsample: t; an occurrence of a node of frequency f is kept with √(t/f) + t/f, at most 1.
    """

    walks: int = 20
    length: int = 80
    window: int = 10
    negatives: int = 5
    power: float = 0.75
    subsample: float = 1e-3


def check_node_count(count: int) -> None:
    """Refuse more nodes than a matrix of counts can have, before any walk."""
    if count > MOST_NODES:
        problem = f"skip-gram counts every pair of nodes, and {count:,} nodes are more than "
        raise InputError(f"{problem}{MOST_NODES:,}", "use another model")


@dataclass(frozen=True, eq=False)
class SkipGram:
    """The loss of embeddings and context vectors.

    Attributes:
        count: ``(n, n)`` C, how often a node is in the window of another; divided by its sum.
        centre: ``(n,)`` k times the sums of its rows.
        noise: ``(n,)`` q, the distribution of the negative samples.
    """

    count: Tensor
    centre: Tensor
    noise: Tensor

    @classmethod
    def of(cls, walks: Tensor, num_nodes: int, corpus: Corpus) -> Self:
        """The loss of ``(length, W)`` walks."""
        seen = torch.bincount(walks.reshape(-1), minlength=num_nodes).double()
        count = window_counts(walks, num_nodes, corpus.window)
        ratio = corpus.subsample * seen.sum() / torch.where(seen > 0, seen, torch.inf)
        kept = torch.minimum(ratio.sqrt() + ratio, torch.ones_like(ratio)).float()
        count *= kept[:, None]
        count *= kept
        total = count.sum(dtype=torch.float64)
        count /= total if total > 0 else 1.0
        noise = torch.where(seen > 0, seen**corpus.power, 0.0)
        noise /= noise.sum() if total > 0 else 1.0
        return cls(count, corpus.negatives * count.sum(dim=1), noise.float())

    def loss(self, z: Tensor, c: Tensor) -> float:
        """Mean per pair of a node and its context, of ``(n, d)`` vectors."""
        total = 0.0
        for low in range(0, len(z), ROWS):
            x = z[low : low + ROWS] @ c.T
            count, weight = self._weights(low)
            total += float((weight * softplus(x) - count * x).sum(dtype=torch.float64))
        return total

    def gradients(self, z: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """Of the loss by z and by c."""
        by_z, by_c = torch.empty_like(z), torch.zeros_like(c)
        for low in range(0, len(z), ROWS):
            rows = z[low : low + ROWS]
            count, weight = self._weights(low)
            by_x = torch.sigmoid_(rows @ c.T).mul_(weight).sub_(count)
            torch.mm(by_x, c, out=by_z[low : low + ROWS])
            by_c.addmm_(by_x.T, rows)
        return by_z, by_c

    def _weights(self, low: int) -> tuple[Tensor, Tensor]:
        """Weights of a block of rows: of the links' part, and of the softplus."""
        count = self.count[low : low + ROWS]
        return count, torch.addr(count, self.centre[low : low + ROWS], self.noise)


def fit_skip_gram(skip_gram: SkipGram, z: Tensor, c: Tensor) -> None:
    """Minimise the loss over embeddings ``z`` and contexts ``c``, ``(n, d)``, in place."""
    optimizer = Adam([z, c], STEP_SIZE)
    for _ in range(STEPS):
        z.grad, c.grad = skip_gram.gradients(z, c)
        optimizer.step()
    z.grad = c.grad = None


def window_counts(walks: Tensor, num_nodes: int, window: int) -> Tensor:
    """``(n, n)`` how often a node is expected in the window of another, in walks ``(length, W)``.

    A context at distance r is inside for (window − r + 1) of ``window`` equally likely distances.

    >>> window_counts(torch.tensor([[0], [1], [2]]), 3, 2).tolist()
    [[0.0, 1.0, 0.5], [1.0, 0.0, 1.0], [0.5, 1.0, 0.0]]
    """
    count = torch.zeros(num_nodes**2)
    for r in range(1, min(window, len(walks) - 1) + 1):
        code = (walks[:-r] * num_nodes + walks[r:]).reshape(-1)
        share = (window - r + 1) / window
        count.add_(torch.bincount(code, minlength=num_nodes**2), alpha=share)
    table = count.view(num_nodes, num_nodes)
    return table + table.T
