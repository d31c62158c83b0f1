r"""Random graphs with known link probabilities, and therefore known gaps.

.. math:: P(i \sim j) = 1 - \exp(-\theta_i \theta_j\, r_{g_i g_j})

independently for every pair, with a strength θ per node (mean 1 in each group) and a rate r per
pair of groups. Strengths have few distinct values, so that means over all pairs of two groups are
short sums at any size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.graph.validation import simple_links
from linkparity.support.errors import InputError

#: Number of distinct strengths in a group.
LEVELS = 32
CALLER = "block_model"


@dataclass(frozen=True, eq=False)
class BlockTruth:
    """The model behind a :class:`BlockGraph`.

    Attributes:
        group: ``(n,)`` int64.
        strength: ``(n,)`` float64, tendency of each node to link; mean 1 in every group.
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
        """``(S, S)`` mean true probability over all pairs of two groups, nan without a pair."""
        return self._means(0)

    def link_means(self) -> Tensor:
        """``(S, S)`` the expected mean over links: each pair weighs its own probability."""
        return self._means(1)

    def _means(self, power: int) -> Tensor:
        mean = torch.full(self.rate.shape, torch.nan, dtype=torch.float64)
        for g, h, pairs, product in _blocks(self.strength, self.group, len(self.rate)):
            prob = -torch.expm1(-product * self.rate[g, h])
            weight = pairs * prob**power
            if float(weight.sum()):
                mean[g, h] = mean[h, g] = (weight * prob).sum() / weight.sum()
        return mean

    @property
    def dp(self) -> float:
        """Largest difference between the means of two group pairs; nan if there is only one."""
        return _gap(self.means())

    @property
    def eo(self) -> float:
        """The same for the expected means over links; ``rdp`` has no such short sum."""
        return _gap(self.link_means())


@dataclass(frozen=True, eq=False, repr=False)
class BlockGraph(Graph):
    """A :class:`~linkparity.Graph` with the model that it was drawn from, as ``truth``."""

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
        degree: expected mean number of links per node.
        homophily: rate within groups ÷ rate between groups; 1 for equal rates, 0 for no links
            within groups.
        spread: standard deviation of the log of the strengths; 0 for equal strengths.
        seed: random seed.

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
    groups, strengths = torch.from_numpy(group), torch.from_numpy(strength)
    rate = _rates(strengths, groups, len(counts), degree, homophily)
    truth = BlockTruth(groups, strengths, rate)
    return BlockGraph(
        len(group),
        _draw(group, strength, rate.numpy(), generator),
        truth.group,
        tuple(str(g) for g in range(len(counts))),
        truth=truth,
    )


def _check(sizes: Sequence[int], degree: float, homophily: float, spread: float) -> None:
    counts = np.array(sizes)
    whole = counts.ndim == 1 and counts.dtype.kind in "iu"
    if not whole or counts.min() < 1 or counts.sum() < 2:
        problem = "must be one positive number per group and sum to at least 2, got"
        fix = "for example (400, 300, 300)"
        raise InputError(f"{problem} {sizes!r}", fix, argument="sizes", caller=CALLER)
    if not (degree > 0 and np.isfinite(degree)):
        problem = f"must be positive and finite, got {degree!r}"
        raise InputError(problem, argument="degree", caller=CALLER)
    if not (homophily >= 0 and np.isfinite(homophily)) or (homophily == 0 and len(sizes) == 1):
        problem = f"must be finite and at least 0, got {homophily!r} for {len(sizes)} groups"
        raise InputError(problem, "1 is no homophily", argument="homophily", caller=CALLER)
    if not (spread >= 0 and np.isfinite(spread)):
        problem = f"must be finite and at least 0, got {spread!r}"
        raise InputError(problem, argument="spread", caller=CALLER)


def _gap(mean: Tensor) -> float:
    upper = mean[tuple(torch.triu_indices(*mean.shape))]
    known = upper[~upper.isnan()]
    return float(known.max() - known.min()) if len(known) > 1 else float("nan")


def _strengths(count: int, spread: float) -> np.ndarray:
    """``(count,)`` quantiles of a log-normal at LEVELS points, each taken equally often, mean 1."""
    from scipy.special import ndtri

    level = np.arange(count) * LEVELS // count if count > LEVELS else np.arange(count)
    steps = level.max() + 1
    strength: np.ndarray = np.exp(spread * ndtri((np.arange(steps) + 0.5) / steps))[level]
    strength /= strength.mean()
    return strength


def _blocks(
    strength: Tensor, group: Tensor, size: int
) -> Iterator[tuple[int, int, Tensor, Tensor]]:
    """Two groups, number of pairs of any two of their strengths, and the products of these."""
    levels = [torch.unique(strength[group == g], return_counts=True) for g in range(size)]
    for g, (a, count_a) in enumerate(levels):
        for h, (b, count_b) in enumerate(levels[g:], start=g):
            pairs = count_a[:, None].double() * count_b
            if g == h:
                pairs = (pairs - torch.diag(count_a)) / 2
            yield g, h, pairs, a[:, None] * b


def _rates(strength: Tensor, group: Tensor, size: int, degree: float, homophily: float) -> Tensor:
    """``(S, S)`` rates under which ``degree`` links per node are expected."""
    from scipy.optimize import brentq

    rate = torch.ones(size, size, dtype=torch.float64).fill_diagonal_(homophily)
    blocks = [
        (pairs, product * rate[g, h]) for g, h, pairs, product in _blocks(strength, group, size)
    ]
    limit = 2 * sum(float(pairs[each > 0].sum()) for pairs, each in blocks) / len(group)
    if degree >= limit:
        problem = f"must be below {limit:g} for groups of these sizes, got {degree!r}"
        fix = "use larger groups or a smaller degree"
        raise InputError(problem, fix, argument="degree", caller=CALLER)

    def missing(scale: float) -> float:
        links = sum(float((pairs * -torch.expm1(-each * scale)).sum()) for pairs, each in blocks)
        return 2 * links / len(group) - degree

    # The scale if no pair were drawn twice, which is a lower bound.
    low = degree * len(group) / 2 / sum(float((pairs * each).sum()) for pairs, each in blocks)
    high = 2 * low
    while missing(high) < 0:
        high *= 2
    return rate * float(brentq(missing, low / 2, high, xtol=low * 1e-12, rtol=1e-12))


def _draw(
    group: np.ndarray, strength: np.ndarray, rate: np.ndarray, generator: np.random.Generator
) -> Tensor:
    """Draw each pair a Poisson number of times and keep it once.

    A Poisson number of draws of two nodes, each in proportion to its strength, gives every pair an
    independent Poisson number of draws; a draw of one node twice is discarded.
    """
    nodes = [np.flatnonzero(group == g) for g in range(len(rate))]
    steps = [np.cumsum(strength[mine]) for mine in nodes]
    drawn = []
    for g in range(len(rate)):
        for h in range(g, len(rate)):
            mean = rate[g, h] * steps[g][-1] * steps[h][-1] / (2 if g == h else 1)
            count = generator.poisson(mean)
            ends = [
                mine[np.searchsorted(step[:-1], generator.random(count) * step[-1], side="right")]
                for mine, step in ((nodes[g], steps[g]), (nodes[h], steps[h]))
            ]
            drawn.append(np.stack(ends, axis=1))
    links, _ = simple_links(torch.from_numpy(np.concatenate(drawn)), len(group))
    return links
