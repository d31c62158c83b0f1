"""CNE: conditional network embedding, degrees as a prior and distances as evidence."""

import math

import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.models.base import LinkModel, standard_normal
from linkparity.models.degrees import solve_degrees
from linkparity.support.errors import InputError


class CNE(LinkModel):
    r"""Links are near, and what the degrees explain needs no embedding.

    .. math:: x_{ij} = a_i + a_j + \log\frac{s_2}{s_1}
              - \Big(\frac{1}{s_1^2} - \frac{1}{s_2^2}\Big) \|z_i - z_j\|^2

    with a the parameters of :class:`~linkparity.models.maxent.MaxEnt` on the same graph, fixed. The
    squared distance is opened up, so that the logits are inner products of dimension + 2 numbers.
    With ``sides=False`` the parameters are fitted to every pair of nodes, also of one side of a
    bipartite graph, as in the authors' code.
    """

    dimension = 8
    lr = 0.1
    epochs = 200
    prior: Tensor

    def __init__(
        self,
        graph: Graph,
        dimension: int = 8,
        *,
        generator: torch.Generator,
        s1: float = 1.0,
        s2: float = 16.0,
        sides: bool = True,
    ) -> None:
        super().__init__()
        if not 0 < s1 < s2:
            raise InputError(f"needs 0 < s1 < s2, got s1 {s1:g} and s2 {s2:g}", where="CNE")
        self.z = standard_normal(graph.num_nodes, dimension, generator)
        known = graph if sides else Graph(graph.num_nodes, graph.links, graph.group)
        self.register_buffer("prior", solve_degrees(known).float())
        self.shift = math.log(s2 / s1)
        self.rate = s1**-2 - s2**-2

    def factors(self) -> tuple[Tensor, Tensor]:
        """``(n, dimension + 2)``: twice the embedding, the node's own part, one."""
        own = (self.prior + self.shift / 2 - self.rate * self.z.square().sum(dim=1))[:, None]
        one = torch.ones_like(own)
        left = torch.cat([2 * self.rate * self.z, own, one], dim=1)
        return left, torch.cat([self.z, one, own], dim=1)

    def embedding(self) -> Tensor:
        """``(n, dimension)``."""
        return self.z
