r"""Graphs drawn from a model whose link probabilities, and so whose gaps, are known.

.. math:: P(i \sim j) = 1 - \exp(-\theta_i \theta_j\, r_{g_i g_j})

independently for every pair, with a strength θ per node (mean 1 in each group) and a rate r per
pair of groups. Strengths take few distinct values, so means over all pairs of two groups are
short sums, at any size.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from linkparity.checks import simple_links
from linkparity.graph import Graph

LEVELS = 32


@dataclass(frozen=True, eq=False)
class BlockTruth:
    """The model behind a :class:`BlockGraph`.

    Attributes:
        group: ``(n,)`` int64.
        strength: ``(n,)`` float64, how readily each node links; mean 1 in every group.
        rate: ``(S, S)`` float64, symmetric.
    """

    group: Tensor
    strength: Tensor
    rate: Tensor

    def logits(self, index: Tensor) -> Tensor:
        """``(P, 2)`` pairs → ``(P,)`` true logits of being linked, log(exp(θθr) − 1)."""
        return torch.log(torch.expm1(self._intensity(index)))

    def probability(self, index: Tensor) -> Tensor:
        """``(P, 2)`` pairs → ``(P,)`` true probabilities of being linked."""
        return -torch.expm1(-self._intensity(index))

    def _intensity(self, index: Tensor) -> Tensor:
        index = torch.as_tensor(index)
        strength, group = self.strength[index], self.group[index]
        return strength.prod(dim=1) * self.rate[group[:, 0], group[:, 1]]

    def means(self) -> Tensor:
        """``(S, S)`` mean true probability over all pairs of two groups, nan where no pair is."""
        size = len(self.rate)
        mean = torch.full((size, size), torch.nan, dtype=torch.float64)
        levels = [
            torch.unique(self.strength[self.group == g], return_counts=True) for g in range(size)
        ]
        for g in range(size):
            for h in range(g, size):
                (a, count_a), (b, count_b) = levels[g], levels[h]
                pairs = count_a[:, None] * count_b[None, :]
                if g == h:
                    pairs = pairs - torch.diag(count_a)  # ordered pairs of distinct nodes
                if int(pairs.sum()):
                    linked = -torch.expm1(-a[:, None] * b[None, :] * self.rate[g, h])
                    mean[g, h] = mean[h, g] = (pairs * linked).sum() / pairs.sum()
        return mean

    @property
    def dp(self) -> float:
        """Largest difference between two group pairs' mean true probabilities."""
        mean = self.means()
        mean = mean[~mean.isnan()]
        return float(mean.max() - mean.min())


@dataclass(frozen=True, eq=False, repr=False)
class BlockGraph(Graph):
    """A :class:`~linkparity.Graph` that knows the model it was drawn from, as ``truth``."""

    truth: BlockTruth = field(kw_only=True)


def block_model(
    sizes: Sequence[int] = (400, 300, 300),
    degree: float = 10.0,
    homophily: float = 4.0,
    spread: float = 0.5,
    seed: int = 0,
) -> BlockGraph:
    """Draw a graph with groups of the given ``sizes``; its true gaps are ``graph.truth.dp``.

    Args:
        sizes: nodes per group.
        degree: links per node on average, were no pair drawn twice; a little under it, in fact.
        homophily: rate within groups ÷ rate between them; 1 makes groups alike, 0 forbids links
            within.
        spread: standard deviation of the log of the strengths; 0 makes nodes of a group alike.
        seed: of the generator.

    >>> graph = block_model(sizes=(30, 20, 10), degree=4, homophily=1, spread=0)
    >>> graph.truth.dp
    0.0
    """
    _check(sizes, degree, homophily, spread)
    generator = np.random.default_rng(seed)
    counts = np.array(sizes, dtype=np.int64)
    group = np.repeat(np.arange(len(counts)), counts)
    strength = np.concatenate([_strengths(int(n), spread) for n in counts])
    shuffled = generator.permutation(len(group))
    group, strength = group[shuffled], strength[shuffled]
    rate = _rates(strength, group, len(counts), degree, homophily)
    truth = BlockTruth(*(torch.from_numpy(value) for value in (group, strength, rate)))
    return BlockGraph(
        len(group),
        _draw(group, strength, rate, generator),
        truth.group,
        tuple(str(g) for g in range(len(counts))),
        truth=truth,
    )


def _check(sizes: Sequence[int], degree: float, homophily: float, spread: float) -> None:
    if len(sizes) == 0 or min(sizes) < 1 or sum(sizes) < 2:
        raise ValueError(
            f"block_model: sizes must be positive and sum to at least 2, got {tuple(sizes)}; "
            "for example (400, 300, 300)"
        )
    if not (degree > 0 and np.isfinite(degree)):
        raise ValueError(f"block_model: degree must be positive and finite, got {degree!r}")
    if not (homophily >= 0 and np.isfinite(homophily)) or (homophily == 0 and len(sizes) == 1):
        raise ValueError(
            f"block_model: homophily must be finite and 0 or more, got {homophily!r} for "
            f"{len(sizes)} groups; 1 makes groups alike"
        )
    if not (spread >= 0 and np.isfinite(spread)):
        raise ValueError(f"block_model: spread must be finite and 0 or more, got {spread!r}")


def _strengths(count: int, spread: float) -> np.ndarray:
    """``(count,)`` quantiles of a log-normal at LEVELS points, each taken equally often, mean 1."""
    from scipy.special import ndtri

    level = np.arange(count) * LEVELS // count if count > LEVELS else np.arange(count)
    steps = level.max() + 1
    strength: np.ndarray = np.exp(spread * ndtri((np.arange(steps) + 0.5) / steps))[level]
    strength /= strength.mean()
    return strength


def _rates(
    strength: np.ndarray, group: np.ndarray, size: int, degree: float, homophily: float
) -> np.ndarray:
    rate = np.ones((size, size))
    np.fill_diagonal(rate, homophily)
    total = np.bincount(group, weights=strength, minlength=size)
    square = np.bincount(group, weights=strength**2, minlength=size)
    pairs = (total @ rate @ total - np.diag(rate) @ square) / 2  # Σ over i < j of θθr
    if pairs <= 0:
        raise ValueError("block_model: these sizes leave no pair to link; take larger groups")
    scaled: np.ndarray = rate * (degree * len(group) / 2 / pairs)
    return scaled


def _draw(
    group: np.ndarray, strength: np.ndarray, rate: np.ndarray, generator: np.random.Generator
) -> Tensor:
    """Links, each pair drawn a Poisson number of times and kept once.

    A Poisson number of throws, each at two nodes in proportion to their strengths, is for every
    pair a Poisson number of its own; throws at one node twice are no pair.
    """
    nodes = [np.flatnonzero(group == g) for g in range(len(rate))]
    steps = [np.cumsum(strength[mine]) for mine in nodes]
    thrown = []
    for g in range(len(rate)):
        for h in range(g, len(rate)):
            mean = rate[g, h] * steps[g][-1] * steps[h][-1] / (2 if g == h else 1)
            count = generator.poisson(mean)
            ends = [
                mine[np.searchsorted(step[:-1], generator.random(count) * step[-1], side="right")]
                for mine, step in ((nodes[g], steps[g]), (nodes[h], steps[h]))
            ]
            thrown.append(np.stack(ends, axis=1))
    links, _ = simple_links(torch.from_numpy(np.concatenate(thrown)), len(group))
    return links
