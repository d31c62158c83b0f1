"""Training on links and random partners: for large graphs, and for any model."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.criteria import Cells, Criterion
from linkparity.criteria.constrained_group_pairs import possible_kinds
from linkparity.graph.graph import Graph
from linkparity.models.training.objective import PairWeights, pair_weights, push_back, widen
from linkparity.projection.chunks import placed
from linkparity.projection.sums import Sums
from linkparity.projection.tensor_sums import tensor_sums
from linkparity.support.randomness import random_order

if TYPE_CHECKING:
    from linkparity.models import LinkModel
    from linkparity.models.training.loop import Processes

#: Nodes per batch; their links and partners are one step of training.
BATCH = 10_000
#: Pairs whose vectors are gathered at a time.
PIECE = 1 << 16
#: Up to this many pairs a table says which are links.
TABLE = 1 << 27


class SampledPairs:
    """Every link from both ends, and random partners of every node, drawn anew each time.

    A partner may happen to be linked, and is labelled so; a node never is its own partner. In a
    bipartite graph the nodes of side 0 draw partners from side 1, and a link counts once.

    Args:
        graph: whose pairs.
        negatives: partners per node.
        criterion: that sorts pairs into cells, or None.
        generator: source of randomness.
        processes: the processes that share the pairs; each draws all and keeps its part.
        parity: weight of a link and of any other pair in the cells; as often as it is drawn where
            not given. A drawn pair then counts for its weight ÷ the number of times that it is
            drawn in expectation, so that sums per cell are those of the whole graph on average.
        batch: nodes per batch, at most; :data:`BATCH` by default.
    """

    def __init__(
        self,
        graph: Graph,
        negatives: int,
        criterion: Criterion | None,
        generator: torch.Generator,
        processes: "Processes",
        parity: PairWeights | None = None,
        batch: int | None = None,
    ) -> None:
        self.num_nodes, self.negatives = graph.num_nodes, negatives
        self.generator, self.processes = generator, processes
        self.group = graph.group
        ends = graph.links if graph.bipartite else torch.cat([graph.links, graph.links.flip(1)])
        every = torch.arange(graph.num_nodes)
        self.rows = every if graph.side is None else every[graph.side == 0]
        self.partners = every if graph.side is None else every[graph.side == 1]
        count = max(1, -(-len(self.rows) // (batch or BATCH)))
        if count > 1:  # nodes often come group by group, and a batch must meet all groups
            self.rows = self.rows[random_order(len(self.rows), generator)]
        #: Batches of nearly equal size: where each begins among the rows.
        self.bounds = [len(self.rows) * b // count for b in range(count + 1)]
        place = torch.empty(graph.num_nodes, dtype=torch.int64)
        place[self.rows] = torch.arange(len(self.rows))
        self.ends = 1 if graph.bipartite else 2
        #: Place of the row × num_nodes + partner, of every link from both ends, and sorted.
        self.link_codes = place[ends[:, 0]] * graph.num_nodes + ends[:, 1]
        self.codes = torch.sort(self.link_codes).values
        #: Those of links that are left out of the fit.
        self.left_out: Tensor | None = None
        self.table = None
        if graph.num_nodes**2 <= TABLE:
            self.table = torch.zeros(graph.num_nodes**2, dtype=torch.bool)
            self.table[self.codes] = True
        self.kinds = None
        if criterion is not None:
            drawn = pair_weights(graph, negatives)
            weights = drawn if parity is None else parity
            each = (weights.other / drawn.other, weights.link / drawn.link)
            self.kinds = _Kinds(graph, criterion, each)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def draw(self, batch: int) -> tuple[Tensor, Tensor]:
        """``(P, 2)`` pairs of one batch of nodes and ``(P,)`` whether they are links."""
        first, last = self.bounds[batch : batch + 2]
        ends = torch.tensor([first, last]) * self.num_nodes
        begin, end = torch.searchsorted(self.codes, ends).tolist()
        linked = self.codes[begin:end]
        place = torch.arange(first, last).repeat_interleave(self.negatives)
        drawn = torch.randint(len(self.partners), (len(place),), generator=self.generator)
        other = self.partners[drawn]
        code = (place * self.num_nodes + other)[self.rows[place] != other]
        label = torch.cat([torch.ones(len(linked), dtype=torch.bool), self._is_link(code, linked)])
        code = torch.cat([linked, code])
        if self.left_out is not None:
            kept = ~torch.isin(code, self.left_out)
            code, label = code[kept], label[kept]
        if self.processes.size > 1:
            mine = slice(self.processes.rank, None, self.processes.size)
            code, label = code[mine], label[mine]
        row = torch.div(code, self.num_nodes, rounding_mode="floor")
        return torch.stack([self.rows[row], code - row * self.num_nodes], dim=1), label

    def keep_links(self, kept: Tensor) -> None:
        """Leave the links where ``kept (E,)`` is False out of the pairs."""
        self.left_out = self.link_codes[~kept.repeat(self.ends)]

    def _is_link(self, code: Tensor, linked: Tensor) -> Tensor:
        if self.table is not None:
            return self.table[code]
        if not len(linked):
            return torch.zeros(len(code), dtype=torch.bool)
        at = torch.searchsorted(linked, code).clamp_(max=len(linked) - 1)
        return linked[at] == code

    def score(self, model: "LinkModel", batch: int) -> "SampledBatch":
        """The model's logits on freshly drawn pairs."""
        index, label = self.draw(batch)
        cells = None if self.kinds is None else self.kinds.sort(self.group[index], label)
        return SampledBatch(model, index, label, cells, self.processes)


class _Kinds:
    """The cell of every pair of groups and label, the same in every batch and process.

    Args:
        graph: whose pairs.
        criterion: that sorts them.
        weight: of a drawn pair that is no link, and of a drawn link; cells leave out a weight of 0.
    """

    def __init__(self, graph: Graph, criterion: Criterion, weight: tuple[float, float]) -> None:
        pairs, label = possible_kinds(graph.group, graph.side)
        self.cells = Cells.prepare(pairs, criterion, label)
        self.width = graph.num_groups + 1
        dtype = torch.int16 if len(self.cells.mass) < 2**15 else torch.int32
        self.table = torch.full((2 * self.width**2,), -1, dtype=dtype)
        self.table[self._kind(pairs, label)] = torch.from_numpy(self.cells.code).to(dtype)
        for kind, part in zip(weight, self.table.view(2, -1), strict=True):
            if kind == 0:
                part.fill_(-1)
        self.weight = torch.tensor(weight) / max(weight)
        self.equal = bool(((self.weight == 0) | (self.weight == 1)).all())

    def _kind(self, groups: Tensor, label: Tensor) -> Tensor:
        return (label * self.width + groups[:, 0] + 1) * self.width + groups[:, 1] + 1

    def sort(self, groups: Tensor, label: Tensor) -> Cells:
        """The cells of pairs with these groups and labels, their weights relative to the larger."""
        code = self.table[self._kind(groups, label.long())]
        sizes = torch.bincount(code.long() + 1, minlength=len(self.cells.mass) + 1).numpy()
        order = np.argsort(code.numpy(), kind="stable")[sizes[0] :]
        weight = None
        if not self.equal:
            weight = self.weight[label[torch.from_numpy(order)].long()].numpy()
        linked = torch.bincount(code[label].long() + 1, minlength=len(sizes)).numpy()[1:]
        other, link = self.weight.double().tolist()
        return replace(
            self.cells,
            code=code.numpy(),
            order=order,
            start=np.concatenate([[0], np.cumsum(sizes[1:])]),
            weight=weight,
            mass=other * (sizes[1:] - linked) + link * linked,
            label_mass=link * linked if self.cells.criterion.data_target else None,
        )


class SampledBatch:
    """Drawn pairs with their logits at one step; each weighs 1 in the fit.

    Args:
        model: whose logits.
        index: ``(P, 2)`` pairs.
        label: ``(P,)`` bool.
        cells: the cells of the pairs of this process, or None.
        processes: the processes that share the pairs.
    """

    def __init__(
        self,
        model: "LinkModel",
        index: Tensor,
        label: Tensor,
        cells: Cells | None,
        processes: "Processes",
    ) -> None:
        self.index, self.label, self.processes = index, label, processes
        self.history = model.factors()
        if self.history is None:
            self.logits = model(index)
            self.x = widen(self.logits.detach())
        else:
            left, right = self.history
            self.x = pair_products(widen(left.detach()), widen(right.detach()), index)
        largest = float(self.x.abs().max()) if len(self.x) else 0.0
        size, *rest = _shared(processes, len(index), largest)
        self.total, self.bound = max(size, 1.0), rest[0] + 1.0
        self.cells = self.source = None
        if cells is not None:
            self.source = tensor_sums(self.x, cells)
            self.local = cells
            mass, linked = cells.mass, cells.label_mass
            self.cells = replace(
                cells,
                mass=processes.add(mass),
                label_mass=None if linked is None else processes.add(linked),
            )

    def fit_loss(self) -> float:
        """Mean of the cross-entropy."""
        loss = float(softplus(self.x).sum(dtype=torch.float64))
        loss -= float(self.x[self.label].sum(dtype=torch.float64))
        return float(self.processes.add(np.array([loss]))[0]) / self.total

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums per cell at ``tilt (M,)``."""
        assert self.source is not None
        sums = self.source(tilt)
        return sums if self.processes.size == 1 else Sums(*self.processes.add(np.stack(sums)))

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        """``(M,)`` KL-divergence per cell in nats at ``tilt (M,)``."""
        assert self.source is not None
        return self.processes.add(self.source.divergence(tilt))

    def backward(self, gamma: float, tilt: np.ndarray | None, fit: float = 1.0) -> None:
        """Add the gradient of ``fit`` · fit + γ · divergence to the model's parameters."""
        gradient = torch.sigmoid(self.x)
        gradient[self.label] -= 1
        gradient *= fit / self.total
        if tilt is not None and gamma != 0:
            assert self.source is not None
            assert self.cells is not None
            change = self.source.shift(tilt) * (gamma / self.cells.total)
            order, _ = placed(self.local, gradient.device)
            assert order is not None
            gradient.index_add_(0, order, change.to(gradient.dtype))
        if self.history is None:
            self.logits.backward(gradient.to(self.logits.dtype))
            return
        left, right = self.history
        ends = pair_gradients(widen(left.detach()), widen(right.detach()), self.index, gradient)
        push_back(self.history, ends)


def _shared(processes: "Processes", count: int, largest: float) -> tuple[float, float]:
    """How many pairs there are in all processes, and a bound on all their logits."""
    if processes.size == 1:
        return float(count), largest
    both = processes.add(np.array([count, largest]))
    return float(both[0]), float(both[1])


def pair_products(left: Tensor, right: Tensor, index: Tensor) -> Tensor:
    """``(P,)`` inner products of left i and right j, piece by piece."""
    out = torch.empty(len(index), dtype=left.dtype)
    parts = torch.empty(2, min(PIECE, len(index)), left.shape[1], dtype=left.dtype)
    for low in range(0, len(index), PIECE):
        ends = index[low : low + PIECE].T
        both = parts[:, : ends.shape[1]]
        for factor, end, part in zip((left, right), ends, both, strict=True):
            torch.index_select(factor, 0, end, out=part)
        torch.sum(both[0].mul_(both[1]), dim=1, out=out[low : low + PIECE])
    return out


def pair_gradients(
    left: Tensor, right: Tensor, index: Tensor, gradient: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradients of both factors from those of ``(P,)`` products, as products of a sparse matrix."""
    from scipy.sparse import coo_matrix

    first, second = index.T.numpy()
    matrix = coo_matrix((gradient.numpy(), (first, second)), shape=(len(left), len(right))).tocsr()
    return (
        torch.from_numpy(matrix @ right.numpy()),
        torch.from_numpy(matrix.T @ left.numpy()),
    )
