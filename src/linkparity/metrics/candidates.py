"""Measure a model on every candidate: the pairs that are no training link.

The gap of the scores that one would deploy; not an estimate from held-out pairs.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from linkparity.criteria.constrained_group_pairs import known_group_pairs
from linkparity.graph.candidate_samples import stratified_candidates
from linkparity.graph.graph import Graph
from linkparity.graph.pairs import PairSpace, sample_nonlinks
from linkparity.graph.split import Split
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.pairs.arrays import ArrayPairs, array_pairs, listed_pairs, nodes_of
from linkparity.pairs.candidates import KEPT, Predict, candidates_of, score_candidates
from linkparity.pairs.source import Kinds, Nodes, PairSource
from linkparity.reading.groups import NO_GROUP
from linkparity.support.arrays import expit
from linkparity.support.randomness import stream

#: Candidates that are all measured; of more, a sample is.
MAX_PAIRS = KEPT
#: Sample of a pair of groups to begin with, and the standard error that its mean is to have.
PILOT = 20_000
STANDARD_ERROR = 0.0005


@dataclass(frozen=True, eq=False)
class SampledCandidates:
    """Some candidates with their logits.

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


def sample_candidates(
    predict: Predict, graph: Graph, seed: int, most: int
) -> tuple[SampledCandidates, SampledCandidates]:
    """Score two samples of the candidates: one by pair of groups, and a uniform one.

    Means per pair of groups need the first, ranks of all pairs the second. In the first, the
    standard error of every mean is at most 0.0005 where ``most`` pairs allow it.

    Args:
        predict: ``(P, 2)`` pairs → ``(P,)`` logits.
        graph: the graph trained on.
        seed: of the samples.
        most: size of a sample.
    """
    count = graph.num_pairs - graph.num_links
    index = sample_nonlinks(PairSpace(graph), most, stream(seed, "candidates")).numpy()
    uniform = SampledCandidates(index, predict(index), np.full(most, count / most), count)
    return _stratified(predict, graph, seed, most), uniform


def _stratified(predict: Predict, graph: Graph, seed: int, most: int) -> SampledCandidates:
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
    return SampledCandidates(
        np.concatenate(index), np.concatenate(logits), np.concatenate(weight),
        graph.num_pairs - graph.num_links, float(max(errors)),
    )  # fmt: skip


def graph_pairs(
    graph: Graph,
    index: np.ndarray,
    score: np.ndarray,
    logits: bool,
    label: np.ndarray,
    weight: np.ndarray,
    distinct: bool = False,
) -> ArrayPairs:
    """Scored pairs ``index (P, 2)`` of a graph; ``distinct`` where none occurs twice."""
    at = torch.from_numpy(index)
    kept = getattr(graph, "unknown_kept", False)
    groups = (graph.pair_groups(at) if kept else graph.group[at]).numpy()
    nodes = Nodes(len(graph.group), graph.group.numpy())
    if not distinct:
        first, second = index.T
        known = nodes_of(nodes.count, first, second, groups)
        nodes = replace(nodes, twice=known.twice, loops=known.loops)
    return array_pairs(score, groups, logits, label, weight, tuple(graph.group_names), index, nodes)


def sample_notes(means: ScoredPairs) -> list[str]:
    """What to say of candidates that are a sample; nothing of all of them."""
    totals = means.totals
    count = float(totals.weighted.count.sum())
    if totals.rows >= count - 0.5:
        return []
    pairs = means.source.kinds.of_pair
    number, square, first = (
        pairs.T @ each
        for each in (
            totals.plain.count,
            totals.plain.square + totals.plain.count * totals.plain.mean**2,
            totals.plain.count * totals.plain.mean,
        )
    )
    number = number.clip(1)
    error = np.sqrt(np.maximum(square - first**2 / number, 0.0)) / number
    return [
        f"dp and kl are over a sample of {totals.rows:,} of {count:,.0f} candidates, and so "
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
    if graph.num_pairs - graph.num_links <= MAX_PAIRS:
        scored = replace(test, source=_all_candidates(predict, graph, held_out), known={})
        return dict.fromkeys(("means", "ranks", "links"), scored)

    def sampled(found: SampledCandidates) -> ScoredPairs:
        label = held_out.is_link(torch.from_numpy(found.index)).double().numpy()
        source = graph_pairs(
            graph, found.index, found.logits, True, label, found.weight, distinct=True
        )
        return replace(test, source=source, known={})

    means, ranks = sample_candidates(predict, graph, test.seed, MAX_PAIRS)
    known = links.numpy(), predict(links.numpy())
    return {
        "means": sampled(_with_links(means, held_out, *known)),
        "ranks": sampled(ranks),
        "links": sampled(_with_links(ranks, held_out, *known)),
    }


def _all_candidates(predict: Predict, graph: Graph, held_out: Graph) -> PairSource:
    """Every candidate of a graph, with its logit, and whether it is a held-out link."""
    candidates = candidates_of(graph)
    first, second = candidates.groups.T
    groups = candidates.groups
    if graph.unknown_kept:
        known = known_group_pairs(graph)[first, second]
        groups = np.where(known[:, None], groups, NO_GROUP)
    used = candidates.counts > 0
    key, pair = listed_pairs(groups[used])
    kind = np.zeros(len(groups), dtype=np.int64)
    kind[used] = 2 * (pair + 1)
    links = held_out.links[~graph.is_link(held_out.links)]
    kinds = Kinds.all(key, 2, tuple(graph.group_names))
    return score_candidates(candidates, predict, kinds, kind, candidates.ranks(links))


def _with_links(
    found: SampledCandidates, held_out: Graph, links: np.ndarray, logits: np.ndarray
) -> SampledCandidates:
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
