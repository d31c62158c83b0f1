"""GAE: a graph auto-encoder, two graph convolutions and a dot product."""

import warnings
from typing import Any

import torch
from torch import Tensor, nn

from linkparity.graph import Graph
from linkparity.models.base import LinkModel

DROPOUT = 0.5


class GAE(LinkModel):
    r"""Embeddings from a graph convolutional network without bias.

    .. math:: Z = \hat A \,\mathrm{drop}(\mathrm{relu}(\hat A F W_1))\, W_2, \qquad
              x_{ij} = z_i \cdot z_j, \qquad
              \hat A = D^{-1/2} (A + I) D^{-1/2}

    F is the identity (one free row of W₁ per node) unless node features are given; drop sets half
    of the hidden numbers to 0 while training. The sensitive attribute is no feature.
    """

    dimension = 16

    def __init__(
        self,
        graph: Graph,
        dimension: int = 16,
        *,
        generator: torch.Generator,
        hidden: int = 16,
        features: Tensor | None = None,
    ) -> None:
        super().__init__()
        width = graph.num_nodes if features is None else features.shape[1]
        self.first = _glorot(width, hidden, generator)
        self.second = _glorot(hidden, dimension, generator)
        self.features = None if features is None else torch.as_tensor(features).float()
        self.spread = normalised_adjacency(graph)
        self.generator = generator

    def factors(self) -> tuple[Tensor, Tensor]:
        """The embeddings, twice."""
        z = self.embedding()
        return z, z

    def embedding(self) -> Tensor:
        """``(n, dimension)``."""
        given = self.first if self.features is None else self.features @ self.first
        hidden = spread(self.spread, given).relu()
        if self.training:
            kept = torch.rand(hidden.shape, generator=self.generator) >= DROPOUT
            hidden = hidden * (kept / (1 - DROPOUT))
        return spread(self.spread, hidden @ self.second)


def normalised_adjacency(graph: Graph) -> Tensor:
    """``(n, n)`` sparse D^−½ (A + I) D^−½, with D the degrees plus one."""
    loops = torch.arange(graph.num_nodes)
    ends = torch.cat([graph.links, graph.links.flip(1), torch.stack([loops, loops], dim=1)])
    scale = (graph.degree() + 1).double().rsqrt()
    value = (scale[ends[:, 0]] * scale[ends[:, 1]]).float()
    shape = (graph.num_nodes, graph.num_nodes)
    with warnings.catch_warnings():  # torch calls its own format a beta
        warnings.filterwarnings("ignore", category=UserWarning)
        return (
            torch.sparse_coo_tensor(ends.T, value, shape, check_invariants=False)
            .coalesce()
            .to_sparse_csr()
        )


class _Spread(torch.autograd.Function):
    """A symmetric sparse matrix times a dense one: the gradient is the same product."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, dense: Tensor) -> Tensor:
        ctx.matrix = matrix
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        return None, ctx.matrix @ gradient


def spread(matrix: Tensor, dense: Tensor) -> Tensor:
    """``matrix @ dense`` for a symmetric sparse matrix."""
    out: Tensor = _Spread.apply(matrix, dense)  # type: ignore[no-untyped-call]
    return out


def _glorot(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    bound = (6 / (rows + columns)) ** 0.5
    return nn.Parameter((torch.rand(rows, columns, generator=generator) * 2 - 1) * bound)
