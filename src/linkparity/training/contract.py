"""Whether a model keeps the contract of :class:`LinkModel`, tried on a few pairs."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from linkparity.graph.graph import Graph

if TYPE_CHECKING:
    from linkparity.models import LinkModel

#: Pairs that a model is tried on.
FEW = 8


@torch.no_grad()
def checked_factors(model: "LinkModel", graph: Graph) -> tuple[Tensor, Tensor] | None:
    """The model's factors, or None; a sentence where these or its logits are not as they should."""
    name = type(model).__name__
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise ValueError(f"{name}: has no parameter to train; make them torch.nn.Parameter")
    index = _few_pairs(graph)
    factors = model.factors()
    if factors is None:
        _check_logits(name, _tried(model, index), _tried(model, index.flip(1)), len(index))
        return None
    left, right = factors
    shape = (graph.num_nodes, left.shape[-1])
    if left.shape != shape or right.shape != shape or left.dtype != right.dtype:
        raise ValueError(
            f"{name}: factors() must give two tensors of the shape ({graph.num_nodes}, D) and of "
            f"one type, got {_told(left)} and {_told(right)}"
        )
    first, second = index.T
    there, back = left[first] * right[second], left[second] * right[first]
    _check_logits(name, there.sum(dim=1), back.sum(dim=1), len(index))
    return factors


def _few_pairs(graph: Graph) -> Tensor:
    """``(P, 2)`` pairs that may be links."""
    if graph.side is None:
        others = torch.arange(1, min(FEW, graph.num_nodes - 1) + 1)
        return torch.stack([torch.zeros_like(others), others], dim=1)
    others = torch.nonzero(graph.side == 1)[:FEW, 0]
    first = torch.nonzero(graph.side == 0)[0, 0]
    return torch.stack([first.expand_as(others), others], dim=1)


def _tried(model: "LinkModel", index: Tensor) -> object:
    """Logits without dropout, so that nothing random is drawn."""
    training = model.training
    model.eval()
    try:
        return model(index)
    finally:
        model.train(training)


def _check_logits(name: str, logits: object, turned: object, count: int) -> None:
    for found in (logits, turned):
        if not isinstance(found, Tensor) or found.shape != (count,):
            raise ValueError(
                f"{name}: forward must give one logit per pair, the shape ({count},) for {count} "
                f"pairs, got {_told(found)}"
            )
    assert isinstance(logits, Tensor)
    assert isinstance(turned, Tensor)
    if not torch.allclose(logits, turned, rtol=1e-3, atol=1e-3, equal_nan=True):
        worst = float((logits - turned).abs().max())
        raise ValueError(
            f"{name}: a link has no direction, and the logits of (i, j) and (j, i) differ by "
            f"{worst:.3g}; make them the same"
        )


def _told(found: object) -> str:
    if isinstance(found, Tensor):
        return f"{tuple(found.shape)} of {str(found.dtype).removeprefix('torch.')}"
    return type(found).__name__
