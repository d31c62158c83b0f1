"""Filters that hide an attribute in embeddings, and the discriminators that look for it."""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, linear

#: Slope of the activations below 0.
SLOPE = 0.01
#: Hidden widths of a discriminator in dimensions of the embedding.
WIDTHS = (2, 1, 0.5)
#: Constants of batch normalisation.
MOMENTUM, VARIANCE_FLOOR = 0.1, 1e-5


class Linear(nn.Module):
    """A linear map with a bias, drawn uniformly within ±1/√inputs."""

    def __init__(self, inputs: int, outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        drawn = torch.rand(outputs, inputs + 1, generator=generator, dtype=torch.float32)
        drawn = (2 * drawn - 1) * inputs**-0.5
        self.weight = nn.Parameter(drawn[:, :-1].contiguous())
        self.bias = nn.Parameter(drawn[:, -1].contiguous())

    def forward(self, x: Tensor) -> Tensor:
        """``(rows, inputs)`` → ``(rows, outputs)``."""
        return linear(x, self.weight, self.bias)


class Filter(nn.Module):
    r"""A map of embeddings that is trained to lose one attribute.

    .. math:: f(e) = \mathrm{norm}\big(\ell(W_2\, \ell(W_1 e + b_1) + b_2)\big), \qquad
              \ell(x) = \max(x, 0.01 x)

    with a hidden layer of twice the dimension. norm is batch normalisation, by the running mean and
    variance unless the rows of a batch come with the number of times that each occurs in it.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, dimension: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = Linear(dimension, 2 * dimension, generator)
        self.second = Linear(2 * dimension, dimension, generator)
        self.scale = nn.Parameter(torch.ones(dimension))
        self.shift = nn.Parameter(torch.zeros(dimension))
        self.register_buffer("mean", torch.zeros(dimension))
        self.register_buffer("variance", torch.ones(dimension))

    def forward(self, x: Tensor, count: Tensor | None = None) -> Tensor:
        """``(rows, dimension)`` → the same; ``count`` is how often each row is in the batch."""
        hidden = leaky_relu(self.first(x), SLOPE)
        out = leaky_relu(self.second(hidden), SLOPE)
        if count is None:
            rate = self.scale * (self.variance + VARIANCE_FLOOR).rsqrt()
            return (out - self.mean) * rate + self.shift
        share = (count / count.sum()).to(out.dtype)
        mean = share @ out
        centred = out - mean
        variance = share @ centred.square()
        self._remember(mean.detach(), variance.detach(), int(count.sum()))
        return centred * (self.scale * (variance + VARIANCE_FLOOR).rsqrt()) + self.shift

    @torch.no_grad()
    def _remember(self, mean: Tensor, variance: Tensor, rows: int) -> None:
        self.mean.lerp_(mean, MOMENTUM)
        self.variance.lerp_(variance * (rows / max(rows - 1, 1)), MOMENTUM)


class Discriminator(nn.Module):
    """A network with three hidden layers that reads a group off a filtered embedding.

    Args:
        dimension: of the embedding.
        groups: number of groups.
        generator: of the starting values.
    """

    def __init__(self, dimension: int, groups: int, generator: torch.Generator) -> None:
        super().__init__()
        sizes = [dimension, *(max(int(width * dimension), 1) for width in WIDTHS), groups]
        self.layers = nn.ModuleList(
            Linear(inputs, outputs, generator) for inputs, outputs in pairwise(sizes)
        )

    def forward(self, x: Tensor) -> Tensor:
        """``(rows, dimension)`` → ``(rows, groups)`` logits."""
        for layer in self.layers[:-1]:
            x = leaky_relu(layer(x), SLOPE)
        out: Tensor = self.layers[-1](x)
        return out
