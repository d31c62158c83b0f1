"""A row-stochastic matrix on the links of a graph, whose entries can be learned."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from linkparity.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Support:
    """Where A + I is not 0, row by row.

    Attributes:
        start: ``(n + 1,)`` where each row begins.
        row: ``(N,)`` row of each entry.
        column: ``(N,)`` column of each entry.
        turned: ``(N,)`` position of the entry with row and column exchanged.
    """

    start: Tensor
    row: Tensor
    column: Tensor
    turned: Tensor

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """Both directions of every link, and a loop at every node."""
        loops = torch.arange(graph.num_nodes).repeat(2, 1).T
        ends = torch.cat([graph.links, graph.links.flip(1), loops])
        code = torch.sort(ends[:, 0] * graph.num_nodes + ends[:, 1]).values
        row = torch.div(code, graph.num_nodes, rounding_mode="floor")
        column = code - row * graph.num_nodes
        start = torch.searchsorted(row, torch.arange(graph.num_nodes + 1))
        return cls(start, row, column, torch.searchsorted(code, column * graph.num_nodes + row))

    def __deepcopy__(self, memo: object) -> Self:
        return self  # never changes

    def even(self) -> Tensor:
        """``(N,)`` the entries of D⁻¹(A + I): those of a row are equal, and their sum is 1."""
        return (1 / self.start.diff().double())[self.row].float()

    def multiply(self, values: Tensor, dense: Tensor) -> Tensor:
        """The matrix with the entries ``values (N,)``, times ``dense (n, d)``."""
        out: Tensor = _Product.apply(self, values, dense)  # type: ignore[no-untyped-call]
        return out

    def project(self, values: Tensor) -> Tensor:
        r"""The nearest entries that are not negative and whose sum is 1 in every row.

        .. math:: \max(v_{ij} - \tau_i, 0), \qquad \sum_j \max(v_{ij} - \tau_i, 0) = 1

        Entries at or below τ are left out until those that remain are all above it (Michelot's
        algorithm); there are never fewer than one, and each pass leaves out at least one more.
        """
        size = len(self.start) - 1
        found, used = values.double(), torch.ones(len(values), dtype=torch.bool)
        while True:
            count = torch.bincount(self.row[used], minlength=size)
            total = torch.zeros(size, dtype=torch.float64)
            total.index_add_(0, self.row[used], found[used])
            shift = ((total - 1) / count)[self.row]
            still = used & (found > shift)
            if still.equal(used):
                return torch.where(used, found - shift, 0.0).to(values.dtype)
            used = still


class _Product(torch.autograd.Function):
    """A sparse matrix times a dense one; gradients by the entries and by the dense matrix."""

    @staticmethod
    def forward(ctx: Any, support: Support, values: Tensor, dense: Tensor) -> Tensor:
        ctx.support = support
        ctx.save_for_backward(values, dense)
        return _matrix(support, values) @ dense

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        values, dense = ctx.saved_tensors
        support: Support = ctx.support
        by_values = by_dense = None
        if ctx.needs_input_grad[1]:
            by_values = (gradient[support.row] * dense[support.column]).sum(dim=1)
        if ctx.needs_input_grad[2]:
            by_dense = _matrix(support, values[support.turned]) @ gradient
        return None, by_values, by_dense


def _matrix(support: Support, values: Tensor) -> Tensor:
    size = len(support.start) - 1
    with warnings.catch_warnings():  # torch calls its own format a beta
        warnings.filterwarnings("ignore", category=UserWarning)
        return torch.sparse_csr_tensor(
            support.start, support.column, values, (size, size), check_invariants=False
        )
