"""Candidates, the pairs that are no link of a graph: numbered once, scored block by block."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch

from linkparity.criteria.constrained_group_pairs import possible_pairs
from linkparity.graph.graph import Graph
from linkparity.graph.pairs import PairSpace
from linkparity.pairs.arrays import ArrayPairs, Columns
from linkparity.pairs.source import CHUNK, Chunk, Kinds, Nodes, PairSource

#: Candidates that are scored at once.
BLOCK = 1 << 20
#: Up to so many candidates, their nodes and logits are kept; of more, each pass computes them.
KEPT = 10_000_000

Predict = Callable[[np.ndarray], np.ndarray]


class Block(NamedTuple):
    """Some candidates, ``(n,)`` each: code of the groups of the ends, first node, second node."""

    code: np.ndarray
    first: np.ndarray
    second: np.ndarray


class Candidates:
    """Every candidate of a graph, in the order of :class:`~linkparity.graph.pairs.PairSpace`.

    Args:
        graph: whose links are no candidates.

    Attributes:
        size: how many there are.
        nodes: those of the graph.
        groups: ``(R, 2)`` groups of the two ends, −1 for none, by their code.
    """

    def __init__(self, graph: Graph) -> None:
        self.space = PairSpace(graph)
        self.size = self.space.num_nonlinks
        group = graph.group.numpy()
        self.nodes = Nodes(graph.num_nodes, group)
        self.groups = possible_pairs(graph.group, graph.side).numpy()
        first, second = (np.unique(end) for end in self.groups.T)
        kind = np.min_scalar_type(len(self.groups))
        self._row = (np.searchsorted(first, group) * len(second)).astype(kind)
        self._column = np.searchsorted(second, group).astype(kind)

    def block(self, low: int, high: int) -> Block:
        """The candidates from number ``low`` to before ``high``."""
        first, second = self.space.nonlink(torch.arange(low, high)).int().T.contiguous().numpy()
        return Block(self._row[first] + self._column[second], first, second)

    def code(self, index: np.ndarray) -> np.ndarray:
        """``(P,)`` code of the groups of pairs ``(P, 2)``."""
        return np.asarray(self._row[index[:, 0]] + self._column[index[:, 1]])

    @cached_property
    def counts(self) -> np.ndarray:
        """``(R,)`` number of candidates of each code."""
        found = np.zeros(len(self.groups), dtype=np.int64)
        for low, high in _ranges(self.size, CHUNK):
            found += np.bincount(self.some(low, high).code, minlength=len(found))
        return found

    @cached_property
    def columns(self) -> Block:
        """All candidates."""
        kinds = (self._row.dtype, np.int32, np.int32)
        found = Block(*(np.empty(self.size, dtype=kind) for kind in kinds))
        for low, high in _ranges(self.size, CHUNK):
            for column, part in zip(found, self.block(low, high), strict=True):
                column[low:high] = part
        return found

    def some(self, low: int, high: int) -> Block:
        """As :meth:`block`, from the columns where these are kept."""
        if self.size > KEPT:
            return self.block(low, high)
        return Block(*(column[low:high] for column in self.columns))

    def ranks(self, links: torch.Tensor) -> np.ndarray:
        """``(E, 2)`` candidates → ``(E,)`` their numbers, ascending."""
        number = self.space.number(links)
        found = number - torch.searchsorted(self.space.links, number)
        return np.asarray(found.sort().values.numpy())


#: The candidates of the last graph, while it is in use.
_LAST: WeakKeyDictionary[Graph, Candidates] = WeakKeyDictionary()


def candidates_of(graph: Graph) -> Candidates:
    """The candidates of a graph, numbered once for all models that are judged one after another."""
    found = _LAST.get(graph)
    if found is None:
        _LAST.clear()
        found = _LAST[graph] = Candidates(graph)
    return found


class CandidatePairs(PairSource):
    """Candidates as a model scores them, anew in each pass.

    Args:
        candidates: which pairs.
        predict: ``(P, 2)`` pairs → ``(P,)`` logits.
        kinds: the kinds of rows.
        kind: ``(R,)`` kind of a candidate that is no link, by the code of its groups; that of a
            link is the next.
        linked: numbers of the candidates that are links, ascending.
    """

    def __init__(
        self,
        candidates: Candidates,
        predict: Predict,
        kinds: Kinds,
        kind: np.ndarray,
        linked: np.ndarray | None = None,
    ) -> None:
        super().__init__(kinds, candidates.size, candidates.nodes)
        self.candidates, self.predict = candidates, predict
        self.kind = kind.astype(np.min_scalar_type(len(kinds)))
        self.linked = np.empty(0, dtype=np.int64) if linked is None else linked

    def chunks(self) -> Iterator[Chunk]:
        """All candidates, some at a time."""
        for low, high in _ranges(self.size, BLOCK):
            block = self.candidates.some(low, high)
            kind, score = self._kinds(block.code, low), self._scores(block)
            for begin, end in _ranges(high - low, CHUNK):
                part = slice(begin, end)
                ends = block.first[part], block.second[part]
                yield Chunk(kind[part], score[part], True, None, None, *ends)

    def kept(self) -> ArrayPairs:
        """The same rows with logits that are computed once."""
        columns = self.candidates.columns
        kind, score = np.empty(self.size, dtype=self.kind.dtype), np.empty(self.size)
        begin = 0
        for chunk in self.chunks():
            end = begin + len(chunk)
            kind[begin:end], score[begin:end] = chunk.kind, chunk.score
            begin = end
        rows = Columns(kind, score, True, first=columns.first, second=columns.second)
        return ArrayPairs(rows, self.kinds, self.nodes)

    def _kinds(self, code: np.ndarray, begin: int) -> np.ndarray:
        kind: np.ndarray = self.kind[code]
        low, high = np.searchsorted(self.linked, [begin, begin + len(code)])
        kind[self.linked[low:high] - begin] += 1
        return kind

    def _scores(self, block: Block) -> np.ndarray:
        index = np.stack([block.first, block.second], axis=1, dtype=np.int64)
        return np.asarray(self.predict(index), dtype=np.float64)


def score_candidates(
    candidates: Candidates,
    predict: Predict,
    kinds: Kinds,
    kind: np.ndarray,
    linked: np.ndarray | None = None,
) -> PairSource:
    """:class:`CandidatePairs`, with logits that are computed once unless there are too many."""
    found = CandidatePairs(candidates, predict, kinds, kind, linked)
    return found if candidates.size > KEPT else found.kept()


def _ranges(size: int, step: int) -> Iterator[tuple[int, int]]:
    """Ranges of at most ``step`` numbers that make up 0 … size − 1."""
    return ((low, min(low + step, size)) for low in range(0, size, step))
