"""Measure a model on every candidate: the pairs that are no training link.

The gap of the scores that one would deploy; not an estimate from held-out pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch

from linkparity.graph.candidates import candidate_pairs, stratified_candidates
from linkparity.graph.graph import Graph
from linkparity.graph.split import Split
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.support.arrays import expit
from linkparity.support.randomness import stream

#: Candidates that are all measured; of more, a sample is.
MAX_PAIRS = 10_000_000
#: Sample of a pair of groups to begin with, and the standard error that its mean is to have.
PILOT = 20_000
STANDARD_ERROR = 0.0005

Predict = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class ScoredCandidates:
    """Candidates with their logits.

    Attributes:
        index: ``(P, 2)`` nodes.
        logits: ``(P,)`` float64.
        weight: ``(P,)`` how many candidates each represents.
        count: number of candidates of the graph.
        standard_error: largest standard error of the mean of a pair of groups; 0 for all pairs.
    """

    index: np.ndarray
    logits: np.ndarray
    weight: np.ndarray
    count: int
    standard_error: float = 0.0


def score_candidates(
    predict: Predict, graph: Graph, seed: int, most: int | None = None
) -> tuple[ScoredCandidates, ScoredCandidates]:
    """Score all candidates, or two samples of them: one by pair of groups, and a uniform one.

    Means per pair of groups need the first, ranks of all pairs the second; without a sample both
    are the same. In the first, the standard error of every mean is at most 0.0005 where ``most``
    pairs allow it.

    Args:
        predict: ``(P, 2)`` pairs → ``(P,)`` logits.
        graph: the graph trained on.
        seed: of the samples.
        most: number of candidates that are all scored, and the size of a sample; 10⁷ by default.
    """
    count = graph.num_pairs - graph.num_links
    most = MAX_PAIRS if most is None else most
    index = candidate_pairs(graph, most, stream(seed, "candidates")).numpy()
    uniform = ScoredCandidates(
        index, predict(index), np.full(len(index), count / max(len(index), 1)), count
    )
    return (uniform if len(index) == count else _stratified(predict, graph, seed, most)), uniform


def _stratified(predict: Predict, graph: Graph, seed: int, most: int) -> ScoredCandidates:
    strata = sum(1 for _ in stratified_candidates(graph, 1, stream(seed, "strata")))
    share = max(1, most // strata)
    index, logits, weight, errors = [], [], [], []
    draws = stratified_candidates(graph, share, stream(seed, "strata"))
    for drawn, number in draws:
        pairs = drawn.numpy()
        some = min(PILOT, len(pairs))
        found = predict(pairs[:some])
        needed = int(np.ceil((expit(found).std() / STANDARD_ERROR) ** 2))
        if needed > some:
            found = np.concatenate([found, predict(pairs[some:needed])])
        size = len(found)
        index.append(pairs[:size])
        logits.append(found)
        weight.append(np.full(size, number / size))
        errors.append(expit(found).std() * np.sqrt((1 - size / number) / size))
    return ScoredCandidates(
        np.concatenate(index), np.concatenate(logits), np.concatenate(weight),
        graph.num_pairs - graph.num_links, float(max(errors)),
    )  # fmt: skip


def sample_notes(means: ScoredPairs) -> list[str]:
    """What to say of candidates that are a sample; nothing of all of them."""
    count = float(means.weight.sum())
    if len(means.prob) >= count - 0.5:
        return []
    code, prob = means.code[means.in_cells], means.prob[means.in_cells]
    number = np.bincount(code).clip(1)
    mean = np.bincount(code, prob) / number
    error = np.sqrt(np.bincount(code, (prob - mean[code]) ** 2)) / number
    return [
        f"dp and kl are over a sample of {len(means.prob):,} of {count:,.0f} candidates, and so "
        "are the counts of pairs; the standard error of the mean of a pair of groups is at most "
        f"{error.max():.1g}."
    ]


def on_candidates(predict: Predict, split: Split, test: ScoredPairs) -> dict[str, ScoredPairs]:
    """The candidates of the training graph as scored pairs: ``"means"``, ``"ranks"``, ``"links"``.

    Held-out links are their only links. All three are the same unless they are samples: one by pair
    of groups, a uniform one, and the latter with every held-out link. The first has every held-out
    link too, as one pair of many. Everything else is as in ``test``.
    """
    graph = split.train
    links = split.test.index[split.test.label == 1]
    held_out = Graph(graph.num_nodes, links, graph.group, side=graph.side)

    def scored(found: ScoredCandidates) -> ScoredPairs:
        index = torch.from_numpy(found.index)
        return replace(
            test, logits=found.logits, prob=expit(found.logits), rank=found.logits,
            groups=graph.pair_groups(index).numpy(), weight=found.weight,
            label=held_out.is_link(index).double().numpy(),
            nodes=None if test.nodes is None else found.index,
        )  # fmt: skip

    means, ranks = score_candidates(predict, graph, test.seed)
    if ranks is means:
        return dict.fromkeys(("means", "ranks", "links"), scored(means))
    known = links.numpy(), predict(links.numpy())
    return {
        "means": scored(_with_links(means, held_out, *known)),
        "ranks": scored(ranks),
        "links": scored(_with_links(ranks, held_out, *known)),
    }


def _with_links(
    found: ScoredCandidates, held_out: Graph, links: np.ndarray, logits: np.ndarray
) -> ScoredCandidates:
    """A sample with every link once; its other pairs represent what is left of theirs."""
    other = ~held_out.is_link(torch.from_numpy(found.index)).numpy()
    kind, link_kind = (_group_pair(held_out, index) for index in (found.index, links))
    count = int(max(kind.max(initial=0), link_kind.max(initial=0))) + 1
    left = np.bincount(kind, found.weight, count) - np.bincount(link_kind, minlength=count)
    each = left / np.bincount(kind[other], minlength=count).clip(1)
    return replace(
        found,
        index=np.concatenate([links, found.index[other]]),
        logits=np.concatenate([logits, found.logits[other]]),
        weight=np.concatenate([np.ones(len(links)), each[kind[other]]]),
    )


def _group_pair(graph: Graph, index: np.ndarray) -> np.ndarray:
    """Number of the pair of groups of each pair; in a bipartite graph, an ordered one."""
    ends = graph.group.numpy()[index]
    ends = np.sort(ends, axis=1) if graph.side is None else ends
    found: np.ndarray = (ends + 1) @ [graph.num_groups + 1, 1]
    return found
