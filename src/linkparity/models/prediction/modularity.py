r"""Modularity of predicted links, and predictions changed so that it falls.

.. math:: Q = \sum_s \Big[ \frac{L_s}{m} - \Big(\frac{D_s}{2m}\Big)^2 \Big]

with m links, :math:`L_s` of them within group s, and :math:`D_s` the sum of the degrees of its
nodes. Links with an end that has no group are left out.
"""

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria.group_pairs import occurring_pairs
from linkparity.graph.graph import Graph
from linkparity.graph.validation import pair_codes
from linkparity.models.prediction.ranking import pair_index
from linkparity.reading.groups import NO_GROUP
from linkparity.support.arrays import check_shape, real_number
from linkparity.support.errors import InputError
from linkparity.support.tensors import tensor

#: Difference of two modularities that rounding may cause.
ROUNDING = 1e-14


def modularity(graph: Graph, added: object = None) -> float:
    """Modularity of the groups of a graph, with further links ``(L, 2)`` that it does not have.

    0 is as many links within groups as their degrees let expect; nan without a link.

    >>> modularity(Graph(4, [[0, 1], [2, 3]], [0, 0, 1, 1]))
    0.5
    """
    links = graph.links
    if added is not None:
        links = torch.cat([links, _new_pairs(added, graph, "added", "modularity")])
    return _Counts.of(graph.group[links].numpy(), graph.num_groups).modularity


def lower_modularity(
    graph: Graph, pairs: object, logits: object, share: float = 0.03, threshold: float = 0.0
) -> np.ndarray:
    r"""Turn predictions over, one by one, each time where the modularity falls most.

    A pair is predicted to be a link if its logit is above the threshold. To turn over a prediction
    adds a link to the graph or takes one away, which changes the modularity by an amount that
    depends on its two groups alone. Of the predictions that lower it most, the one whose logit is
    nearest to the threshold is turned over; then the counts are those of the changed graph. It ends
    after ``share`` of the pairs, or when nothing lowers the modularity. Labels play no part.

    This is the second half of FLIP (Masrour et al. 2020), for any model.

    Args:
        graph: the training graph.
        pairs: ``(P, 2)`` candidates, none of them a link of the graph, or :class:`Pairs`.
        logits: ``(P,)`` predictions.
        share: of the candidates that are turned over at most.
        threshold: logit above which a pair is predicted to be a link.

    Returns:
        ``(P,)`` bool, the predictions.
    """
    caller = "lower_modularity"
    index = _new_pairs(pairs, graph, "pairs", caller)
    score = _numbers(logits, len(index)) - real_number(threshold, "threshold", caller)
    if not 0 <= real_number(share, "share", caller) <= 1:
        raise InputError(
            f"must lie between 0 and 1, got {share:g}", argument="share", caller=caller
        )
    predicted: np.ndarray = score > 0
    groups = graph.group[index].numpy()
    linked = np.concatenate([graph.group[graph.links].numpy(), groups[predicted]])
    counts = _Counts.of(linked, graph.num_groups)
    queues = _queues(groups, predicted, score)
    for _ in range(int(share * len(index))):
        falls = {key: counts.change(key) for key in queues}
        most = min(falls.values(), default=0.0)
        if most >= 0:
            break
        equal = [key for key, fall in falls.items() if fall <= most + ROUNDING]
        key = min(equal, key=lambda each: abs(score[queues[each][-1]]))
        position = queues[key].pop()
        predicted[position] = not predicted[position]
        counts.apply(key)
        if not queues[key]:
            del queues[key]
    return predicted


#: Two groups, and +1 for a link to be added or −1 for one to be taken away.
_Change = tuple[int, int, int]


class _Counts:
    """What the modularity depends on: links, links within groups, degrees of groups."""

    def __init__(self, links: int, within: int, degree: np.ndarray) -> None:
        self.links, self.within, self.degree = links, within, degree

    @classmethod
    def of(cls, ends: np.ndarray, size: int) -> "_Counts":
        """Of links whose ends have the groups ``(L, 2)``."""
        known = ends[(ends != NO_GROUP).all(axis=1)]
        degree = np.bincount(known.reshape(-1), minlength=size).astype(float)
        return cls(len(known), int((known[:, 0] == known[:, 1]).sum()), degree)

    @property
    def modularity(self) -> float:
        if not self.links:
            return float("nan")
        return self.within / self.links - float((self.degree**2).sum()) / (2 * self.links) ** 2

    def change(self, change: _Change) -> float:
        """How much the modularity changes with one link."""
        first, second, sign = change
        links = self.links + sign
        if not (links and self.links):
            return 0.0
        # Σ D² with D + sign at both ends, which may be one group.
        added = 2 * sign * (self.degree[first] + self.degree[second]) + 2 + 2 * (first == second)
        squares = float((self.degree**2).sum()) + added
        within = self.within + sign * (first == second)
        return float(within / links - squares / (2 * links) ** 2 - self.modularity)

    def apply(self, change: _Change) -> None:
        """Make the change."""
        first, second, sign = change
        self.links += sign
        self.within += sign * (first == second)
        np.add.at(self.degree, [first, second], sign)


def _queues(
    groups: np.ndarray, predicted: np.ndarray, score: np.ndarray
) -> dict[_Change, list[int]]:
    """Positions of the pairs by what turning them over changes, those nearest to 0 last."""
    keys, code = occurring_pairs(groups)
    order = np.argsort(-np.abs(score), kind="stable")
    found: dict[_Change, list[int]] = {}
    for number, (first, second) in enumerate(keys.tolist()):
        for sign in (1, -1):
            mine = order[(code[order] == number) & (predicted[order] == (sign < 0))]
            if second != NO_GROUP and len(mine):
                found[first, second, sign] = mine.tolist()
    return found


def _new_pairs(pairs: object, graph: Graph, argument: str, caller: str) -> Tensor:
    """``(P, 2)`` pairs of two nodes, each once and none of them a link of the graph."""
    index = pair_index(pairs, graph, argument, caller)
    codes = pair_codes(index, graph.num_nodes)
    once = torch.zeros(len(index), dtype=torch.bool)
    once[np.unique(codes.numpy(), return_index=True)[1]] = True
    wrong = {
        "joins a node to itself": index[:, 0] == index[:, 1],
        "is a link of the graph": graph.is_link(index),
        "occurs before": ~once,
    }
    for problem, found in wrong.items():
        if found.any():
            row = int(found.nonzero()[0])
            text = f"row {row}, {index[row].tolist()}, {problem}"
            raise InputError(text, "leave it out", argument=argument, caller=caller)
    return index


def _numbers(logits: object, count: int) -> np.ndarray:
    """``(count,)`` float64 that are numbers."""
    try:
        found = tensor(logits).double()
    except (TypeError, ValueError):
        problem = f"must be numbers, got {logits!r:.60}"
        raise InputError(problem, argument="logits", caller="lower_modularity") from None
    check_shape(found, count, "logits", "lower_modularity")
    if found.isnan().any():
        problem = f"must be numbers, got nan at position {int(found.isnan().nonzero()[0])}"
        raise InputError(problem, argument="logits", caller="lower_modularity")
    return np.asarray(found.numpy())
