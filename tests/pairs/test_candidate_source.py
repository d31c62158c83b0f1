"""Candidates as a source of scored pairs, against a loop over every pair of nodes."""

import gc
import weakref

import numpy as np
import pytest
import torch
from graph_strategies import admissible, graphs, linked
from hypothesis import given
from hypothesis import strategies as st

import linkparity as lp
from linkparity.criteria.group_pairs import unordered_pairs
from linkparity.metrics.evaluation import measure, scored_sets
from linkparity.pairs import candidates as module
from linkparity.pairs.arrays import ArrayPairs
from linkparity.pairs.candidates import CandidatePairs, Candidates, candidates_of
from linkparity.pairs.source import Kinds
from linkparity.pairs.totals import TiltedSums, Totals
from linkparity.support.arrays import expit


def logits_of(pairs):
    """Any function of the two nodes."""
    a, b = np.asarray(pairs, dtype=np.float64).T
    return np.sin(a * b + a + b) * 3 - 1


def kinds_of(candidates):
    """Kinds of three groups and none, and the kind of each code, by a loop."""
    key = [tuple(pair) for pair in unordered_pairs(3).tolist()] + [(g, -1) for g in range(3)]
    names = {tuple(sorted(pair)): number for number, pair in enumerate(key)}
    codes = [names.get(tuple(sorted(pair)), -1) for pair in candidates.groups.tolist()]
    return Kinds.all(np.array(key), 2), 2 * (np.array(codes) + 1)


def by_hand(graph, held_out):
    """Node, node, groups, label and logit of every pair that is no link."""
    links = linked(graph)
    group = graph.group.tolist()
    return {
        (i, j, tuple(sorted((group[i], group[j]))), {i, j} in held_out, logits_of([(i, j)])[0])
        for i, j in admissible(graph)
        if {i, j} not in links
    }


@st.composite
def cases(draw):
    """A graph, and which of its candidates are held-out links."""
    graph = draw(graphs())
    free = [pair for pair in admissible(graph) if frozenset(pair) not in linked(graph)]
    held_out = draw(st.lists(st.sampled_from(free), unique=True)) if free else []
    return graph, held_out


@given(cases(), st.integers(1, 7), st.integers(1, 5), st.booleans())
def test_every_candidate_comes_once_with_its_groups_label_and_logit(case, block, chunk, kept):
    graph, held_out = case
    candidates = Candidates(graph)
    kinds, kind = kinds_of(candidates)
    links = candidates.ranks(torch.tensor(held_out, dtype=torch.int64).view(-1, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        patch.setattr(module, "CHUNK", chunk)
        patch.setattr(module, "KEPT", 10**7 if kept else -1)
        source = CandidatePairs(candidates, logits_of, kinds, kind, links)
        chunks = list(source.chunks())
    if not chunks:
        assert candidates.size == 0
        return
    assert max(len(each) for each in chunks) <= chunk
    columns = [
        np.concatenate([getattr(c, n) for c in chunks]) for n in ("first", "second", "score")
    ]
    every = np.concatenate([c.kind for c in chunks])
    groups = [tuple(sorted(pair)) for pair in kinds.groups[every].tolist()]
    rows = list(zip(*columns[:2], groups, kinds.label[every] == 1, columns[2], strict=True))
    assert len(rows) == len(set(rows)) == source.size
    assert set(rows) == by_hand(graph, {frozenset(pair) for pair in held_out})
    same = source.kept()
    assert isinstance(same, ArrayPairs)
    assert same.columns.score.tolist() == columns[2].tolist()
    assert same.columns.kind.tolist() == every.tolist()
    code = candidates.code(np.stack(columns[:2], axis=1))
    assert np.bincount(code, minlength=len(kind)).tolist() == candidates.counts.tolist()


@pytest.mark.parametrize("bipartite", [False, True])
def test_blocks_of_any_size_give_the_same_sums(monkeypatch, bipartite):
    graph = lp.datasets.block_model(sizes=(30, 25, 20), degree=6, seed=0)
    side = torch.arange(75) % 2
    across = graph.links[side[graph.links].sum(dim=1) == 1]
    if bipartite:
        across = across.gather(1, side[across].argsort(dim=1))
        graph = lp.Graph(75, across, graph.group, side=side)
    candidates = Candidates(graph)
    kinds, kind = kinds_of(candidates)
    tilt = np.linspace(-1, 1, len(kinds))
    index = torch.tensor([p for p in admissible(graph) if frozenset(p) not in linked(graph)])
    code = np.sort(graph.group.numpy()[index], axis=1)
    logits = logits_of(index)
    wanted = np.zeros((2, len(kinds)))
    for (a, b), x in zip(code.tolist(), logits, strict=True):
        at = next(k for k in range(2, len(kinds), 2) if sorted(kinds.groups[k]) == [a, b])
        wanted[:, at] += 1, expit(x + tilt[at])
    for block, chunk, kept in (
        (1 << 20, 1 << 16, 10**7),
        (64, 10, -1),
        (97, 97, 10**7),
        (7, 3, -1),
    ):
        monkeypatch.setattr(module, "BLOCK", block)
        monkeypatch.setattr(module, "CHUNK", chunk)
        monkeypatch.setattr(module, "KEPT", kept)
        source = CandidatePairs(candidates, logits_of, kinds, kind)
        totals, sums = Totals(kinds), TiltedSums(tilt)
        source.run(totals, sums)
        assert totals.plain.count.tolist() == wanted[0].tolist()
        assert sums.sums[0] == pytest.approx(wanted[1], rel=1e-12)


class Formula:
    """A model by formula."""

    def predict_logits(self, pairs):
        return logits_of(pairs)


def test_pairs_of_an_unknown_group_are_in_no_cell():
    graph = lp.datasets.block_model(sizes=(30, 25, 20), degree=10, seed=0)
    group = torch.where(torch.arange(75) % 5 == 0, -1, graph.group)
    for kept in (False, True):
        known = lp.Graph(75, graph.links, group, unknown_kept=kept)
        split = lp.split_links(known, seed=0)
        found = measure(scored_sets(Formula(), split, None, over="candidates"), ["dp"])
        sums = {}
        for i, j in admissible(known):
            ends = tuple(sorted((int(group[i]), int(group[j]))))
            out = ends[0] < 0 and (kept or ends[1] < 0)
            if frozenset((i, j)) not in linked(split.train) and not out:
                sums.setdefault(ends, []).append(expit(logits_of([(i, j)]))[0])
        means = [np.mean(each) for each in sums.values()]
        assert found.dp == pytest.approx(max(means) - min(means), abs=1e-12)
        assert sum(cell.pairs for cell in found.cells) == sum(map(len, sums.values()))


def test_a_graph_is_numbered_once_while_it_is_in_use():
    graph = lp.datasets.block_model(sizes=(10, 10, 10), degree=4, seed=0)
    first = candidates_of(graph)
    assert candidates_of(graph) is first
    other = lp.datasets.block_model(sizes=(10, 10, 10), degree=4, seed=1)
    assert candidates_of(other) is not first
    alive = weakref.ref(candidates_of(other))
    del other
    gc.collect()
    assert alive() is None
