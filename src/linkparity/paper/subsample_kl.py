"""Figure 3 of the paper: the divergence to parity, with tilts fitted on a sample of the pairs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.graph.graph import Graph
from linkparity.models.prediction import LinkPredictor
from linkparity.projection import i_project
from linkparity.support.randomness import stream

#: Random partners per node among the pairs, as in the paper.
PARTNERS = 100
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000)


@dataclass(frozen=True)
class SampledKL:
    """The divergence over all pairs, in nats per pair, with tilts of one sample.

    Attributes:
        size: Pairs in the sample; all of them in the last one.
        draw: Number of the sample.
        kl: KL(h_F ‖ h) of the tilted model, what the paper draws.
        bound: The dual value of the same tilts, which never exceeds the exact divergence.
    """

    size: int
    draw: int
    kl: float
    bound: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def subsample_kl(
    graph: Graph, predictor: LinkPredictor, sizes: Sequence[int] = SIZES, draws: int = 10
) -> list[SampledKL]:
    """Estimates by sample size, several samples each, then the exact divergence.

    Args:
        graph: What the predictor was trained on.
        predictor: A trained model.
        sizes: Sizes of the samples; those of all pairs and above are left out.
        draws: Samples of each size.
    """
    pairs = training_pairs(graph, predictor.seed)
    logits = torch.from_numpy(predictor.predict_logits(pairs))
    groups = graph.group[pairs]
    found = []
    for size in (each for each in sizes if each < len(pairs)):
        for draw in range(draws):
            generator = stream(predictor.seed, f"sample {size} {draw}")
            p = i_project(logits, groups=groups, sample_size=size, generator=generator)
            kl, bound = tilted_kl(logits, p.logits), float(p.kl)
            found.append(SampledKL(size, draw, kl / len(pairs), bound / len(pairs)))
    exact = float(i_project(logits, groups=groups).kl) / len(pairs)
    return [*found, SampledKL(len(pairs), 0, exact, exact)]


def training_pairs(graph: Graph, seed: int) -> Tensor:
    """``(P, 2)`` every link, and non-links of each node with about 100 random partners."""
    generator = stream(seed, "partners")
    first = torch.arange(graph.num_nodes).repeat_interleave(PARTNERS)
    second = torch.randint(graph.num_nodes, first.shape, generator=generator)
    drawn = torch.stack([first, second], dim=1)[first != second]
    if graph.side is not None:
        drawn = drawn[graph.side[drawn[:, 0]] < graph.side[drawn[:, 1]]]
    return torch.cat([graph.links, drawn[~graph.is_link(drawn)]])


def tilted_kl(logits: Tensor, tilted: Tensor) -> float:
    r"""Sum over pairs of the divergence between two Bernoulli distributions.

    .. math:: \sum_k \sigma(y_k)(y_k - x_k) - \mathrm{softplus}(y_k) + \mathrm{softplus}(x_k)
    """
    terms = torch.sigmoid(tilted) * (tilted - logits) - softplus(tilted) + softplus(logits)
    return float(terms.sum())
