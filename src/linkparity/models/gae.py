"""GAE: a graph auto-encoder, two graph convolutions and a dot product."""

import warnings
from typing import Any

import torch
from torch import Tensor, nn

from linkparity.graph.graph import Graph
from linkparity.models.base import LinkModel
from linkparity.support.errors import InputError
from linkparity.support.tensors import tensor

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
        features: object = None,
    ) -> None:
        super().__init__()
        self.features = None if features is None else checked_features(features, graph)
        width = graph.num_nodes if self.features is None else self.features.shape[1]
        self.first = glorot(width, hidden, generator)
        self.second = glorot(hidden, dimension, generator)
        self.spread = SparseMatrix(normalised_adjacency(graph))
        self.generator = generator

    def factors(self) -> tuple[Tensor, Tensor]:
        """The embeddings, twice."""
        z = self.embedding()
        return z, z

    def embedding(self) -> Tensor:
        """``(n, dimension)``."""
        return self.embed(self.spread)

    def embed(self, spread: "SparseMatrix") -> Tensor:
        """``(n, dimension)`` embeddings by the convolutions with a matrix."""
        given = self.first if self.features is None else self.features @ self.first
        hidden = spread(given).relu()
        if self.training:
            drawn = torch.rand(hidden.shape, generator=self.generator, dtype=torch.float32)
            kept = drawn >= DROPOUT
            hidden = hidden * (kept / (1 - DROPOUT))
        return spread(hidden @ self.second)


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


class SparseMatrix:
    """A symmetric sparse matrix to multiply by; a copy shares it, since it never changes."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix

    def __deepcopy__(self, memo: object) -> "SparseMatrix":
        return self

    def __call__(self, dense: Tensor) -> Tensor:
        """``matrix @ dense``."""
        out: Tensor = _Product.apply(self.matrix, dense)  # type: ignore[no-untyped-call]
        return out


class _Product(torch.autograd.Function):
    """A symmetric sparse matrix times a dense one: the gradient is the same product."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, dense: Tensor) -> Tensor:
        ctx.matrix = matrix
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        return None, ctx.matrix @ gradient


def glorot(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    """``(rows, columns)`` uniform numbers of the variance 2 ÷ (rows + columns)."""
    bound = (6 / (rows + columns)) ** 0.5
    drawn = torch.rand(rows, columns, generator=generator, dtype=torch.float32)
    return nn.Parameter((drawn * 2 - 1) * bound)


def checked_features(features: object, graph: Graph) -> Tensor:
    """``(n, F)`` finite numbers of the nodes, or an error."""
    found = tensor(features).float()
    if found.ndim != 2 or len(found) != graph.num_nodes:
        shape = tuple(found.shape)
        problem = f"must give features of the shape ({graph.num_nodes}, F), one row per node, got "
        raise InputError(f"{problem}{shape}", argument="options")
    if not found.isfinite().all():
        node = int((~found.isfinite()).any(dim=1).nonzero()[0])
        problem = f"must give finite features, and node {node} has others"
        raise InputError(problem, argument="options")
    return found
