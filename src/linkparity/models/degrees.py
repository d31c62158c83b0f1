r"""The maximum entropy model of a graph's degrees, one parameter per class of nodes.

.. math:: \min_a \; \sum_{i<j} \mathrm{softplus}(a_i + a_j) - \sum_i d_i a_i, \qquad
          \text{so that } \sum_{j \ne i} \sigma(a_i + a_j) = d_i

Nodes of one degree (and side) have one parameter, so that Newton's method works on a matrix of
distinct degrees, however many nodes there are.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.reading.groups import GraphWarning
from linkparity.support.arrays import expit
from linkparity.support.errors import warn

MAX_STEPS = 200
#: Largest distance of an expected degree from the observed one, relative to 1 + the degree.
ACCURACY = 1e-9
#: What a warning says of degrees without a finite solution.
DECIDE_PAIRS = (
    "decide some pairs: every graph with these degrees links them, or none does. No finite "
    f"parameter gives them a probability of 1 or 0; theirs stop about {ACCURACY:.0e} short of it"
)


@dataclass(frozen=True, eq=False)
class Classes:
    """Nodes that share a parameter.

    Attributes:
        of: ``(n,)`` the class of each node.
        size: ``(K,)`` nodes of each class.
        degree: ``(K,)`` the degree that is asked of each of them.
        side: ``(K,)`` 0 or 1, all 0 when the graph is not bipartite.
        bipartite: whether pairs join two sides only.
    """

    of: np.ndarray
    size: np.ndarray
    degree: np.ndarray
    side: np.ndarray
    bipartite: bool

    @property
    def pairs(self) -> np.ndarray:
        """``(K, K)`` ordered pairs of nodes that join two classes and may be links."""
        pairs = self.size[:, None] * self.size[None, :]
        if self.bipartite:
            return np.asarray(pairs * (self.side[:, None] != self.side[None, :]))
        return np.asarray(pairs - np.diag(self.size))


def classes(graph: Graph, split: Tensor | None = None) -> Classes:
    """Nodes by degree, side, and ``split (n,)`` where given; warns of degrees no finite a has."""
    degree = graph.degree().numpy()
    side = np.zeros(graph.num_nodes, dtype=np.int64) if graph.side is None else graph.side.numpy()
    asked = _pull_inside(degree, side, graph.bipartite)
    extra = np.zeros_like(degree) if split is None else split.numpy() - int(split.min())
    found = degree_classes(degree, asked, side, graph.bipartite, extra)
    if not has_finite_solution(found):
        warn(GraphWarning, f"the degrees {DECIDE_PAIRS}", caller="maxent")
    return found


def has_finite_solution(found: Classes) -> bool:
    r"""Whether finite parameters give these degrees: every inequality on degrees is strict.

    .. math:: \sum_{i \in S} d_i - \sum_{i \in T} d_i < |\{\text{pairs } (i, j):
              i \in S, j \notin T\}| \qquad \text{for disjoint sets } S, T

    For k nodes in S, those of the largest degrees are worst, and for T all others of degrees below
    k (Erdős and Gallai; in a bipartite graph S and T are on two sides: Gale and Ryser).
    """
    if len(found.of) < 3:  # of two nodes, each has the degree that their pair has
        return True
    sides = [np.flatnonzero(found.side == s) for s in ((0, 1) if found.bipartite else (0, 0))]
    rows, columns = (
        np.sort(np.repeat(found.degree[one], found.size[one].astype(np.int64))) for one in sides
    )
    own = 0 if found.bipartite else 1  # a node is no pair with itself
    k = np.arange(1, len(rows) + own)
    below = np.minimum(np.searchsorted(columns, k), len(columns) - own * k)
    least = np.concatenate([[0.0], np.cumsum(columns)])[below]
    slack = k * (len(columns) - own - below) + least - np.cumsum(rows[::-1])[: len(k)]
    return bool((slack > 1e-9 + 1e-15 * rows.sum()).all())


def degree_classes(
    degree: np.ndarray,
    asked: np.ndarray,
    side: np.ndarray,
    bipartite: bool,
    extra: np.ndarray | int = 0,
) -> Classes:
    """Nodes by degree, side and ``extra``; ``asked (n,)`` is a function of these."""
    key = (extra * 2 + side) * (int(degree.max(initial=0)) + 1) + degree
    _, first, of, size = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    return Classes(of, size.astype(float), asked[first], side[first], bipartite)


def half_inside(degree: np.ndarray, side: np.ndarray, bipartite: bool) -> np.ndarray:
    """``(n,)`` what brings degrees of 0 and of every possible link half a link inside."""
    count = np.bincount(side, minlength=2)
    most = count[1 - side] if bipartite else np.full(len(degree), len(degree) - 1)
    return np.asarray(0.5 * ((degree == 0).astype(float) - (degree == most)))


def _pull_inside(degree: np.ndarray, side: np.ndarray, bipartite: bool) -> np.ndarray:
    """Degrees of 0 and of every possible link half a link inside, the other side making up."""
    pull = half_inside(degree, side, bipartite)
    if not pull.any():
        return degree.astype(float)
    warn(
        GraphWarning,
        f"{int((pull > 0).sum()):,} nodes without a link and {int((pull < 0).sum()):,} linked to "
        "every other have no finite parameter; their degree is taken half a link inside",
        "leave such nodes out of the graph, or read their scores as guesses",
        caller="maxent",
    )
    asked = degree + pull
    if bipartite:  # what one side gains, the other must
        count = np.bincount(side, minlength=2)
        gain = np.bincount(side, weights=pull, minlength=2)
        asked = asked + gain[1 - side] / np.maximum(count[side], 1)
    return np.asarray(asked)


def solve_degrees(graph: Graph) -> Tensor:
    """``(n,)`` float64 parameters under which expected degrees are the observed ones."""
    found = classes(graph)
    return torch.from_numpy(solve_classes(found)[found.of])


def solve_classes(found: Classes) -> np.ndarray:
    """``(K,)`` parameters of the classes: Newton, halving steps that do not lower the gradient."""
    pairs, asked = found.pairs, found.size * found.degree
    a = _start(found)
    gradient, curve = _derivatives(a, pairs, asked)
    for _ in range(MAX_STEPS):
        off = np.abs(gradient) / found.size
        if (off <= ACCURACY * (1 + found.degree)).all():
            return a
        step = _newton(gradient, curve)
        for _ in range(60):
            tried = a - step
            there = _derivatives(tried, pairs, asked)
            if there[0] @ step >= -0.5 * abs(gradient @ step):
                break
            step = step / 2
        a, (gradient, curve) = tried, there
    off = np.abs(gradient) / found.size
    warn(
        GraphWarning,
        f"after {MAX_STEPS} steps expected degrees are up to {off.max():.1e} links from the "
        "observed ones",
        caller="maxent",
    )
    return a


def solve_distinct_degrees(found: Classes) -> np.ndarray:
    """The same as :func:`solve_classes`, faster where many classes have one degree and side."""
    both = np.stack([found.degree, found.side], axis=1)
    distinct, of = np.unique(both, axis=0, return_inverse=True)
    of = of.reshape(-1)
    degree, side = distinct[:, 0], distinct[:, 1].astype(found.side.dtype)
    size = np.bincount(of, found.size, minlength=len(distinct))
    return solve_classes(Classes(of[found.of], size, degree, side, found.bipartite))[of]


def _start(found: Classes) -> np.ndarray:
    """Parameters of a sparse graph: the probability of a link proportional to both degrees."""
    total = found.size @ found.degree
    half = np.array([found.size @ (found.degree * (found.side == s)) for s in (0, 1)])
    scale = np.sqrt(half[found.side]) if found.bipartite else np.sqrt(total)
    return np.asarray(np.log(found.degree) - np.log(scale))


def _derivatives(
    a: np.ndarray, pairs: np.ndarray, asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient ``(K,)`` and the weights ``(K, K)`` that make up the Hessian."""
    prob = expit(a[:, None] + a[None, :])
    expected = pairs * prob
    return expected.sum(axis=1) - asked, expected * (1 - prob)


def _newton(gradient: np.ndarray, curve: np.ndarray) -> np.ndarray:
    """H⁻¹ g; a bipartite graph leaves one direction free, which a small ridge fixes."""
    hessian = curve + np.diag(curve.sum(axis=1))
    hessian[np.diag_indices_from(hessian)] *= 1 + 1e-13
    ridge = 1e-14 * np.trace(hessian) / len(hessian)
    hessian[np.diag_indices_from(hessian)] += ridge
    # Not numpy's solver: its threads and torch's would wait for each other on a busy machine.
    step = torch.linalg.solve(torch.from_numpy(hessian), torch.from_numpy(gradient))
    return np.asarray(step.numpy())
