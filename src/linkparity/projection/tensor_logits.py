"""Logits as a tensor: sums in their own type on their device, the gradient of the divergence."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria import Cells
from linkparity.projection.chunks import in_order_of_pairs
from linkparity.projection.fit import Fit
from linkparity.projection.logits import check_logits
from linkparity.projection.tensor_sums import TensorSums, tensor_sums
from linkparity.support.errors import PlainError
from linkparity.support.tensors import tensor


class TensorLogits:
    """Logits as a tensor; see :class:`~linkparity.projection.logits.Logits`."""

    def __init__(self, logits: object) -> None:
        self.x = tensor(logits)
        self.plain = self.x.detach()
        self.bound = check_logits(self.plain)
        self.version = -1 if self.plain.is_inference() else self.plain._version

    def sums(self, cells: Cells, exact: bool) -> TensorSums:
        """Sums per cell in the type of the logits, or in float64."""
        return tensor_sums(self.plain, cells, exact)

    def in_type(self, values: np.ndarray) -> Tensor:
        """Numbers in the type of the logits, on their device."""
        return torch.as_tensor(values, dtype=self.x.dtype, device=self.x.device)

    def value(self, value: float, source: Any, fit: Fit | None, through: bool) -> Tensor:
        """The divergence as a 0-d tensor; its gradient is 0 without a source."""
        x = self.x
        kl = torch.tensor(value, dtype=torch.promote_types(x.dtype, torch.float32), device=x.device)
        if not (x.requires_grad and torch.is_grad_enabled()):
            return kl
        gradient = (
            torch.zeros_like(self.plain) if fit is None else _gradient(source, fit, x, through)
        )
        return _with_gradient(x, kl, gradient)


def _gradient(source: TensorSums, fit: Fit, x: Tensor, through: bool) -> Tensor:
    """``w (h − h_F)`` in the order of the pairs, with the path through the target if needed."""
    cells = fit.cells
    change = source.shift(fit.tilt, reuse=True)
    if through:
        sizes = torch.as_tensor(np.diff(cells.start), device=x.device)
        factor = torch.as_tensor(fit.target_gradient_factor, device=x.device)
        change = change + factor.repeat_interleave(sizes) * source.slope()
    change = change.to(x.dtype)
    return in_order_of_pairs(cells, change)


class _WithGradient(torch.autograd.Function):
    """A value whose gradient is known: nothing of the solver is kept for it."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
        ctx.save_for_backward(logits, gradient)
        return value.clone()

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        logits, gradient = ctx.saved_tensors
        found = (upstream * gradient).to(gradient.dtype)
        return (_Once.apply(found, logits) if torch.is_grad_enabled() else found), None, None  # type: ignore[no-untyped-call]


class _Once(torch.autograd.Function):
    """A gradient that has none of its own."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, logits: Tensor) -> Tensor:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[None, None]:
        raise PlainError("kl has no second derivative in the logits", caller="i_project")


def _with_gradient(logits: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
    out: Tensor = _WithGradient.apply(logits, value, gradient)  # type: ignore[no-untyped-call]
    return out
