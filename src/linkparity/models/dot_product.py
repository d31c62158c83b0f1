"""Dot-Product: the logit of a link is the inner product of two embeddings."""

import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.models.base import LinkModel, standard_normal


class DotProduct(LinkModel):
    r"""An embedding per node, no longer than 1.

    .. math:: x_{ij} = z_i \cdot z_j, \qquad \|z_i\| \le 1

    Probabilities stay between σ(−1) and σ(1): the model ranks pairs, and is calibrated on the
    training pairs, where links are over-represented.
    """

    dimension = 128

    def __init__(self, graph: Graph, dimension: int = 128, *, generator: torch.Generator) -> None:
        super().__init__()
        self.z = standard_normal(graph.num_nodes, dimension, generator)
        self.constrain()

    def factors(self) -> tuple[Tensor, Tensor]:
        """The embeddings, twice."""
        return self.z, self.z

    def embedding(self) -> Tensor:
        """``(n, dimension)``."""
        return self.z

    @torch.no_grad()
    def constrain(self) -> None:
        """Scale rows longer than 1 to length 1."""
        length = torch.linalg.vector_norm(self.z, dim=1, keepdim=True)
        self.z.div_(torch.where(length > 1, length, 1.0))
