"""MaxEnt: the model of highest entropy whose expected degrees are the observed ones."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from linkparity.graph.graph import Graph
from linkparity.models.base import LinkModel
from linkparity.models.degrees import solve_degrees
from linkparity.models.maxent_solver import solve_maxent
from linkparity.models.training.objective import Epoch, Objective, Settings
from linkparity.support.errors import InputError


class MaxEnt(LinkModel):
    r"""A number per node: how readily it links.

    .. math:: x_{ij} = a_i + a_j, \qquad \sum_j \sigma(a_i + a_j) = d_i

    Solved when it is made; there is nothing random about it, and no embedding. Nodes without a
    link, or linked to every other, are taken half a link inside, with a warning that counts them.
    With ``sides=False`` it is fitted to every pair of nodes, also of one side of a bipartite graph,
    as in the authors' code.
    """

    dimension = 1
    pairs = "all"  # with candidates, nodes of one degree have a parameter each

    def __init__(
        self,
        graph: Graph,
        dimension: int = 1,
        *,
        generator: torch.Generator | None = None,
        sides: bool = True,
    ) -> None:
        super().__init__()
        if dimension != 1:
            problem = f"must be 1 for MaxEnt, which has one number per node, got {dimension}"
            raise InputError(problem, argument="dimension", caller="MaxEnt")
        self.sides = sides
        self.a = nn.Parameter(solve_degrees(self._known(graph)))

    def _known(self, graph: Graph) -> Graph:
        """The graph, without its sides if so asked."""
        return graph if self.sides else Graph(graph.num_nodes, graph.links, graph.group)

    def factors(self) -> tuple[Tensor, Tensor]:
        """``(n, 2)``: the number and one, one and the number."""
        one = torch.ones_like(self.a)
        return torch.stack([self.a, one], dim=1), torch.stack([one, self.a], dim=1)

    def steps(self, graph: Graph, objective: Objective, settings: Settings) -> Iterator[Epoch]:
        """Newton's method on the regularized loss; nothing to do when plain.

        Parity is about all pairs; with ``pairs="candidates"`` about those that are no links.
        """
        self.eval()
        known = self._known(graph)
        regularizer = objective.for_graph(known, "all").regularizer
        if regularizer is None:
            return
        links = settings.pairs != "candidates" or regularizer.criterion.needs_labels
        if not links and objective.gamma == 0:
            return  # one parameter per node would have the same solution
        for epoch, a in solve_maxent(known, regularizer, objective.gamma, links):
            self.a.data = a.to(self.a.dtype)
            yield epoch
